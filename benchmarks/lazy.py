"""Lazy tensors against plain NumPy, JAX run op by op, and staged functions: recording, a training step, a word model.

All run the same source, with `jax.numpy` in the place of `numpy` for JAX. Times are medians of interleaved runs.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import wordseg
from sklearn.datasets import load_digits

import pystage
from pystage import lazy

from .measuring import Table, in_turn, no_collection

OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "`x * 1.01`": lambda np, x, y: x * 1.01,
    "`x + y`": lambda np, x, y: x + y,
    "`np.exp(x)`": lambda np, x, y: np.exp(x),
    "`x.sum()`": lambda np, x, y: x.sum(),
    "`x[1:]`": lambda np, x, y: x[1:],
    "`x.T`": lambda np, x, y: x.T,
}
CALLS = 200
"""So many are recorded in a row: fewer than bring a barrier about."""
LENGTHS = (4, 8, 14)


def recording(count: int) -> Table:
    """What it costs to say one operation on small arrays, of which the lazy ones compute nothing."""
    table = Table(
        "Lazy tensors: recording an operation",
        f"An operation on float64 arrays of 3×4, µs: median of {count} interleaved runs of {CALLS} calls. What is recorded "
        "here is never computed. The goal: at most 5 µs, and less than JAX takes.",
        ("", "NumPy", "JAX, op by op", "recorded", "of JAX"),
    )
    plain = np.ones((3, 4)), np.full((3, 4), 2.0)
    with jax.enable_x64(True):
        on_device = jnp.asarray(plain[0]), jnp.asarray(plain[1])
        recorded = lazy.asarray(plain[0]), lazy.asarray(plain[1])
        for name, operation in OPERATIONS.items():
            times: list[tuple[float, ...]] = []
            with no_collection():
                for _ in range(count):
                    lazy.sync()
                    cases = ((np, *plain), (jnp, *on_device), (np, *recorded))
                    times.append(tuple([_each(operation, *case) for case in cases]))
            medians = [statistics.median(column) * 1e6 for column in zip(*times, strict=True)]
            ratio = statistics.median([row[2] / row[1] for row in times])
            table.rows.append((name, *[f"{t:.2f}" for t in medians], f"{ratio:.2f}"))
    return table


def _each(operation: Callable[[Any, Any, Any], Any], module: Any, x: Any, y: Any) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        operation(module, x, y)
    return (time.perf_counter() - began) / CALLS


# ---------------------------------------------------------------- a training step


def training_step(np: Any) -> Callable[..., Any]:
    """A step of gradient descent on a network with one hidden layer, its gradient written by hand."""

    def step(weights: Any, images: Any, wanted: Any) -> Any:
        w, b, v, c = weights
        hidden = np.tanh(images @ w + b)
        scores = hidden @ v + c
        scores = scores - np.max(scores, axis=1, keepdims=True)
        chances = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)
        loss = -np.mean(np.sum(wanted * np.log(chances), axis=1))
        slope = (chances - wanted) / len(images)
        back = (slope @ v.T) * (1 - hidden * hidden)
        slopes = images.T @ back, np.sum(back, axis=0), hidden.T @ slope, np.sum(slope, axis=0)
        return [x - 0.5 * s for x, s in zip(weights, slopes)], loss

    return step


def digits() -> tuple[list[Any], Any, Any]:
    """Weights, a batch of 64 images and their labels, one of ten each; float32."""
    data = load_digits()
    rng = np.random.default_rng(0)
    images = (data.data[:64] / 16).astype(np.float32)
    wanted = np.eye(10, dtype=np.float32)[data.target[:64]]
    shapes = (64, 128), (128,), (128, 10), (10,)
    return [(rng.standard_normal(s) / 8).astype(np.float32) for s in shapes], images, wanted


WAYS = ("NumPy", "JAX, op by op", "lazy", "lazy, replayed", "staged")


def training(count: int) -> Table:
    """A training step on the digits, in each way; the loss is looked at after every step."""
    weights, images, wanted = digits()
    staged = pystage.compile(training_step(np), fallback="error")

    def runner(step: Callable[..., Any], place: Callable[[Any], Any]) -> Callable[[], Any]:
        state = [place(w) for w in weights]
        given = place(images), place(wanted)

        def run() -> float:
            nonlocal state
            state, loss = step(state, *given)
            return float(loss)

        return run

    runs = [
        runner(training_step(np), np.copy),
        runner(training_step(jnp), jnp.asarray),
        runner(training_step(np), lazy.asarray),
        runner(lazy.step(training_step(np)), lazy.asarray),
        runner(staged, np.copy),
    ]
    first = [_seconds(run) for run in runs]
    _until_compiled(runs[2])
    times = in_turn(runs, count)
    table = Table(
        "Lazy tensors: a training step",
        "A network of 64, 128 and 10 on 64 of the digits, gradient and update written by hand in NumPy; the loss is looked "
        f"at after every step. Medians of {count} interleaved steps. In the first step JAX and the staged function compile; "
        "lazy tensors are interpreted until that has cost what compiling would, and then measured.",
        ("", "first step", "a step", "of JAX, op by op"),
    )
    for name, once, each in zip(WAYS, first, times, strict=True):
        table.rows.append((name, f"{once * 1e3:.0f} ms", f"{each * 1e6:.0f} µs", f"{each / times[1]:.2f}"))
    return table


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _until_compiled(run: Callable[[], Any]) -> None:
    """Runs what works on lazy tensors until three times in a row all was found compiled."""
    settled = 0
    while settled < 3:
        lazy.reset_metrics()
        run()
        found = lazy.metrics()
        settled = 0 if found.compiles or found.interpreted else settled + 1


# ---------------------------------------------------------------- the segmental word model


def model_over(module: Any, impossible: Callable[[int], Any]) -> ModuleType:
    """`examples/wordseg.py` over another module than `numpy`, with another memory for its sums."""
    spec = importlib.util.find_spec("wordseg")
    assert spec is not None and spec.loader is not None
    made: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.np, made.impossible = module, impossible
    return made  # type: ignore[no-any-return]


def word_model(count: int) -> Table:
    """The log-likelihood of a text and its gradient, in each way."""
    table = Table(
        "Lazy tensors: the segmental word model",
        "`examples/wordseg.py`: the log-likelihood of a text over all its segmentations, by an LSTM of 64 in nested "
        f"loops, and its gradient. Medians of {count} interleaved runs; JAX runs op by op, the gradient by "
        "`jax.value_and_grad`. Of lazy tensors the first run, and runs when all is compiled. The goals: lazy at most 0.5 "
        "of JAX, staged at most 0.1.",
        (
            "characters",
            "NumPy",
            "JAX, op by op",
            "lazy",
            "staged",
            "lazy / JAX",
            "staged / JAX",
            "lazy, first",
        ),
    )
    by_jax = model_over(jnp, lambda n: [jnp.float32(-1e30)] * n)
    lazily = model_over(np, lambda n: lazy.asarray(wordseg.impossible(n)))
    staged = pystage.compile(wordseg.log_likelihood, fallback="error")
    ours, theirs = pystage.value_and_grad(wordseg.log_likelihood), jax.value_and_grad(by_jax.log_likelihood)
    recorded_gradient = pystage.value_and_grad(lazily.log_likelihood)
    for length in LENGTHS:
        weights, codes = wordseg.start(length)
        placed = {k: jnp.asarray(v) for k, v in weights.items()}
        owned = {k: lazy.asarray(v) for k, v in weights.items()}

        def on_lazy_tensors(owned: Any = owned, codes: Any = codes) -> float:
            return float(lazily.log_likelihood(owned, codes))

        first = _seconds(on_lazy_tensors)
        _until_compiled(on_lazy_tensors)
        runs: list[Callable[[], Any]] = [
            lambda w=weights, c=codes: wordseg.log_likelihood(w, c),
            lambda w=placed, c=codes: by_jax.log_likelihood(w, c),
            on_lazy_tensors,
            lambda w=weights, c=codes: staged(w, c),
        ]
        np.testing.assert_allclose([float(run()) for run in runs], float(runs[0]()), rtol=1e-4)
        plain, eager, recorded, compiled = in_turn(runs, count)
        row = (f"{length}", *[f"{t * 1e3:.2f} ms" for t in (plain, eager, recorded, compiled)])
        table.rows.append((*row, f"{recorded / eager:.2f}", f"{compiled / eager:.3f}", f"{first:.1f} s"))

        def gradient_of_lazy_tensors(owned: Any = owned, codes: Any = codes) -> Any:
            value, slopes = recorded_gradient(owned, codes)
            lazy.sync(wait=True)
            return value, slopes

        first = _seconds(gradient_of_lazy_tensors)
        _until_compiled(gradient_of_lazy_tensors)
        runs = [
            lambda w=placed, c=codes: theirs(w, c),
            gradient_of_lazy_tensors,
            lambda w=weights, c=codes: ours(w, c),
        ]
        (wanted, slope_wanted), *others = [run() for run in runs]
        for value, slope in others:
            np.testing.assert_allclose(float(value), wanted, rtol=1e-4)
            np.testing.assert_allclose(
                np.asarray(slope["spell"]), slope_wanted["spell"], rtol=1e-3, atol=1e-4
            )
        eager, recorded, compiled = in_turn(runs, max(count // 2, 3))
        row = (f"{length}, with gradient", "", *[f"{t * 1e3:.2f} ms" for t in (eager, recorded, compiled)])
        table.rows.append((*row, f"{recorded / eager:.2f}", f"{compiled / eager:.3f}", f"{first:.1f} s"))
    return table


# ---------------------------------------------------------------- memory

PARTS, ELEMENTS = 16, 1 << 22
"""A model of so many arrays of so many elements: 256 MiB in float32."""


def update_memory() -> Table:
    """How much memory it takes to take a step of gradient descent, beyond the weights and the slopes."""
    table = Table(
        "Lazy tensors: memory of an update",
        f"`w -= 0.1 * g` for {PARTS} arrays of {ELEMENTS * 4 >> 20} MiB: the greatest resident memory during the update, "
        "beyond what the weights and the slopes had taken before, in copies of the weights. JAX: `w = w - 0.1 * g`. The "
        "goal: no second copy.",
        ("", "first update", "second update"),
    )
    names = ("NumPy", np.copy), ("JAX, op by op", jnp.array), ("lazy", lazy.asarray)
    for name, place in names:
        weights = [place(np.ones(ELEMENTS, np.float32)) for _ in range(PARTS)]
        slopes = [place(np.ones(ELEMENTS, np.float32)) for _ in range(PARTS)]
        jax.block_until_ready([w for w in weights if isinstance(w, jax.Array)])
        extra = [_peak(functools.partial(_update, weights, slopes)) for _ in range(2)]
        table.rows.append((name, *[f"{e / (PARTS * ELEMENTS * 4):.2f}" for e in extra]))
        del weights, slopes
    return table


def _update(weights: list[Any], slopes: list[Any]) -> None:
    for i, slope in enumerate(slopes):
        weights[i] -= 0.1 * slope
    lazy.sync(wait=True)
    jax.block_until_ready([w for w in weights if isinstance(w, jax.Array)])


def _peak(run: Callable[[], Any]) -> int:
    """By how many bytes the greatest resident memory during a run passes that before it (Linux)."""
    lazy.sync(wait=True)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    run()
    return _resident("VmHWM") - before


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def measure(count: int = 15) -> list[Table]:
    """The tables of lazy tensors, of `count` interleaved runs each."""
    return [recording(count), training(count), word_model(count), update_memory()]
