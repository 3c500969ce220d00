"""Compilation beside the program: calls run plainly meanwhile, and nobody can tell from what they do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jax._src import compilation_cache

import pystage
from pystage.runtime import tiers
from pystage.runtime.dispatch.specialisation import Specialisation
from pystage.runtime.function import CompiledFunction

from .test_tiers import WHOLE, X, halves, outcomes_of, programs

STEP = 2.0
FACTORS = {1: 2.0}


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """What XLA waits for in a thread; compiling pays after the first call."""
    opened = threading.Event()
    compile: Any = Specialisation._in_account

    def waits(self: Any, *args: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            assert opened.wait(60)
        compile(self, *args)

    monkeypatch.delenv("PYSTAGE_TIER", raising=False)
    monkeypatch.setattr(pystage.config, "fallback", "lazy")
    monkeypatch.setattr(Specialisation, "_in_account", waits)
    monkeypatch.setattr(tiers, "WORTH", float("inf"))
    monkeypatch.setattr(tiers, "SOON", 0.0)
    monkeypatch.setattr(tiers.Tiers, "price", 0.0)
    monkeypatch.setattr(tiers.Tiers, "least_deposit", 0.0)
    monkeypatch.setattr(tiers.Tiers, "budget", lambda self, kind, args: float("inf"))
    monkeypatch.setattr(tiers.Tiers, "pays", lambda self, kind, args: kind.plain_calls > 0)
    monkeypatch.setattr(tiers.Tiers, "is_long", lambda self, kind, args: False)
    yield opened
    opened.set()


def compiled_up_to(function: CompiledFunction[..., Any], gate: threading.Event) -> None:
    """Waits until XLA has compiled what it is at."""
    gate.set()
    if function.tiers.job is not None:
        function.tiers.job.wait()


def test_what_is_compiled_beside_is_kept_for_other_processes(
    gate: threading.Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pystage.config, "cache_dir", tmp_path / "kept")
    compiled = pystage.compile(halves)
    for _ in range(2):
        assert compiled(X) == halves(X)
    compiled_up_to(compiled, gate)
    assert compiled(X) == halves(X) and programs(compiled) == 1
    assert list(tmp_path.glob("kept/*/executables/*"))
    cache = compilation_cache._cache, compilation_cache._cache_initialized
    assert cache == (None, False)  # the user may still give JAX a folder


@pytest.mark.parametrize("at", [2, 4])
@pytest.mark.parametrize(("function", "arguments"), WHOLE, ids=lambda each: getattr(each, "__name__", ""))
def test_the_change_of_tier_is_not_seen(
    function: Callable[..., Any],
    arguments: Callable[[], tuple[Any, ...]],
    at: int,
    capsys: pytest.CaptureFixture[str],
    gate: threading.Event,
) -> None:
    plain = outcomes_of(function, arguments(), capsys)
    compiled = pystage.compile(function)
    calls = iter(range(100))

    def call(*args: Any) -> Any:
        if next(calls) == at:
            compiled_up_to(compiled, gate)
        return compiled(*args)

    found = outcomes_of(call, arguments(), capsys)
    kept = function.__name__ != "changes"  # an argument that grows needs another program each time
    assert (sum(kind.plain_calls for kind in compiled.tiers.all_kinds) == at) == kept
    assert repr(found[-1]) == repr(plain[-1])
    assert all(str(a) == str(b) for a, b in zip(found, plain, strict=True)), (found, plain)


def scaled(x: np.ndarray) -> np.ndarray:
    return x * STEP + FACTORS[1]


def test_values_that_change_meanwhile_are_seen(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = pystage.compile(scaled)
    x = np.arange(4.0)
    for _ in range(2):
        assert compiled(x).tolist() == scaled(x).tolist()
    assert compiled.tiers.job is not None
    monkeypatch.setattr(sys.modules[__name__], "STEP", 3.0)
    monkeypatch.setitem(FACTORS, 1, 5.0)
    x.shape = (2, 2)
    compiled_up_to(compiled, gate)
    for _ in range(4):
        assert compiled(x).tolist() == scaled(x).tolist() == (x * 3.0 + 5.0).tolist()
    compiled_up_to(compiled, gate)
    assert compiled(x).tolist() == (x * 3.0 + 5.0).tolist()


def advances(state: dict[str, Any], x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * state["n"]
        x[i] += 1.0
    state["n"] += 1
    return total


def test_threads_call_while_it_is_compiled(gate: threading.Event) -> None:
    compiled = pystage.compile(advances)

    def run(function: Callable[..., Any], found: list[Any]) -> None:
        state, x = {"n": 0}, X.copy()
        for i in range(40):
            found.append(function(state, x))
            if i == 20:
                gate.set()
        found.append((state, x.tolist()))

    plain: list[Any] = []
    run(advances, plain)
    gate.clear()
    results: list[list[Any]] = [[], [], []]
    threads = [threading.Thread(target=run, args=(compiled, found)) for found in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [plain] * 3
    assert programs(compiled) == 1


def test_what_xla_does_not_compile_runs_plainly(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Any, *args: Any) -> None:
        raise RuntimeError("no registers left")

    monkeypatch.setattr(Specialisation, "_in_account", fails)
    compiled = pystage.compile(halves)
    for _ in range(2):
        compiled(X)
    compiled_up_to(compiled, gate)
    with pytest.warns(pystage.FallbackWarning, match="no registers left"):
        assert compiled(X) == halves(X)
    assert compiled(X) == halves(X)
    assert programs(compiled) == 1


PROCESS = """
import os, sys, time, threading
import numpy as np, pystage
from pystage.runtime import tiers
tiers.Tiers.price = tiers.Tiers.least_deposit = 0.0
tiers.Tiers.budget = lambda self, kind, args: float("inf")
tiers.Tiers.is_long = lambda self, kind, args: False

@pystage.compile
def sums(x):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * np.sort(x)[i]
    return total

x = np.zeros(20)
print(sums(x), sums(x), flush=True)
assert sums.tiers.job is not None
at_once = pystage.compile(lambda x: x.sum(), tier="compiled")
at_once(x)
child = os.fork()
if not child:
    print(sums(x), sums(np.zeros(30)), at_once(x), at_once(np.zeros(3)), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_and_the_end_of_the_interpreter_while_it_is_compiled(tmp_path: Path) -> None:
    path = tmp_path / "sums.py"
    path.write_text(PROCESS)
    command = [sys.executable, str(path)]
    environment = {name: value for name, value in os.environ.items() if name != "PYSTAGE_TIER"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "0.0 0.0\n0.0 0.0 0.0 0.0\n"), done.stderr
    assert done.stderr.count("a call of `<lambda>` runs as plain Python: this process was forked") == 1
