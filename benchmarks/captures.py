"""What captured values cost at each call: guards, numbers of the world, and large arrays.

Each program does the same work; what it captures differs, and the plain argument is the yardstick. Times are
those of one call, the least of many interleaved repetitions, in the calling thread; for the 40 MB arrays, whose
programs run in threads of XLA's, wall-clock time.
"""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import pystage

from .call_overhead import least
from .measuring import Table

COUNT = 20
MEGABYTES = 40
REPETITIONS = 15


def program(body: str, world: Mapping[str, Any]) -> Callable[..., Any]:
    """The function `f(x)` with this body in a module of its own, whose variables are `world`."""
    name = f"<captures {hash((body, *world)):x}>"
    text = f"def f(x):\n    {body}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"np": np, **world}
    exec(compile(text, name, "exec"), scope)
    made: Callable[..., Any] = scope["f"]
    return made


def sum_of(names: list[str]) -> str:
    """The body that adds these names."""
    return "return x + (" + " + ".join(names) + ")"


def small_cases() -> dict[str, Callable[[], Any]]:
    """Calls of programs on three numbers, by what they capture."""
    x = np.ones(3)
    names = [f"v{i}" for i in range(COUNT)]
    floats = {name: float(i) for i, name in enumerate(names)}
    ints = {name: i for i, name in enumerate(names)}
    calls: dict[str, Callable[[], Any]] = {}

    def add(title: str, body: str, world: Mapping[str, Any]) -> Callable[..., Any]:
        called = pystage.compile(program(body, world))
        calls[title] = lambda: called(x)
        return called

    add("nothing", "return x + 1.0", {})
    add(f"{COUNT} floats", sum_of(names), floats)
    add(f"{COUNT} ints that stay", sum_of(names), ints)
    called = add(f"{COUNT} ints that changed", sum_of(names), ints)
    called(x)
    called.target.__globals__.update({name: i + 1 for i, name in enumerate(names)})
    add("a counter that it keeps", "global n; n += 1; return x + n", {"n": 0})
    add(
        f"a tuple of {COUNT} floats", sum_of([f"t[{i}]" for i in range(COUNT)]), {"t": tuple(floats.values())}
    )
    add(f"a dict of {COUNT} floats", sum_of([f"d['{n}']" for n in names]), {"d": floats})
    add(f"{COUNT} small ndarrays", sum_of(names), {name: np.ones(3) for name in names})
    return calls


def array(aligned: bool) -> np.ndarray:
    """An ndarray of 40 MB whose memory begins at a multiple of 64 bytes, or does not."""
    size = MEGABYTES * 10**6
    memory = np.zeros(size + 128, np.uint8)
    start = -memory.ctypes.data % 64 + (0 if aligned else 8)
    return memory[start : start + size].view(np.float64)


def large_cases() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Pairs of calls that read one element in a thousand of 40 MB: as an argument, and captured."""
    cases: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}
    for title, aligned in (("aligned to 64 bytes", True), ("not aligned", False)):
        data = array(aligned)
        taken = pystage.compile(program("return x[::1000].sum()", {}))
        captured = pystage.compile(program("return data[::1000].sum() + x", {"data": data}))
        cases[title] = (lambda f=taken, d=data: f(d), lambda f=captured: f(1.0))  # type: ignore[misc]
    return cases


def milliseconds(calls: list[Callable[[], Any]]) -> list[float]:
    """The least wall-clock time of one call of each, interleaved."""
    best = [float("inf")] * len(calls)
    for call in calls:
        call()
    for _ in range(REPETITIONS):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[i] = min(best[i], (time.perf_counter() - start) * 1e3)
    return best


def measure() -> list[Table]:
    """The tables of small and of large captures."""
    small = Table(
        "Captured values",
        "One call of `x + …` on three numbers, by what the function captures, beyond the program that captures "
        "nothing; the least of many interleaved repetitions, in the calling thread.",
        ("captured", "call", "beyond none"),
    )
    calls = small_cases()
    times = least(list(calls.values()))
    for title, taken in zip(calls, times, strict=True):
        small.rows.append((title, f"{taken:.1f} µs", f"{taken - times[0]:+.1f} µs"))
    large = Table(
        f"Captured arrays of {MEGABYTES} MB",
        "One call of a program that reads every thousandth element: the array as an argument, and captured.",
        ("memory", "argument", "captured"),
    )
    for title, pair in large_cases().items():
        argument, captured = milliseconds(list(pair))
        large.rows.append((title, f"{argument:.2f} ms", f"{captured:.2f} ms"))
    return [small, large]
