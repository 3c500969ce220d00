"""Ctrl-C ends a call within a second, whatever it is at, and the next call works.

Each program runs in a process of its own, which interrupts itself: a signal to the tests' own process would be pytest's.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

RNG = np.random.default_rng(0)

HEAD = """
import gc
import os
import signal
import sys
import threading
import time
import jax
import jax.numpy as jnp
import numpy as np
import pystage
from pystage.runtime.executables.jax_private import thread_settings


def interrupted(call, after=0.5, limit=1.0):
    '''Asserts that Ctrl-C `after` so many seconds ends the call within a second, and that all is as before.'''
    settings = thread_settings()
    sent = []
    def send():
        if isinstance(after, threading.Event):
            after.wait()
            time.sleep(0.5)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0 if isinstance(after, threading.Event) else after, send)
    timer.start()
    try:
        result = call()
    except KeyboardInterrupt:
        took = time.perf_counter() - sent[0]
        assert took < limit, took
    else:
        timer.cancel()
        raise AssertionError(f"it ended by itself: {result}")
    assert gc.isenabled()
    assert thread_settings() == settings
    assert sys.getrecursionlimit() < 20_000


def count(x):
    while x > 0:
        x += 1.0
        x -= 1e-9
    return x
"""

LOOP = """
staged = pystage.compile(count)
assert staged(-1.0) == -1.0
for _ in range(2):
    interrupted(lambda: staged(1.0))
    assert staged(-2.0) == -2.0
assert staged(np.float64(-3.0)) == -3.0
"""

FIRST_CALL = """
staged = pystage.compile(count)
from pystage.runtime.dispatch.specialisation import Specialisation
plain = Specialisation.prepare

def prepare(self, inputs):
    plain(self, inputs)
    compiled.set()

Specialisation.prepare, compiled = prepare, threading.Event()
interrupted(lambda: staged(1.0), after=compiled)
assert staged(-2.0) == -2.0
interrupted(lambda: staged(1.0))
assert staged(-2.0) == -2.0
"""

JAX_LOOP = """
staged = pystage.compile(count)
assert staged(jnp.asarray(-1.0)) == -1.0
interrupted(lambda: float(staged(jnp.asarray(1.0))))
assert staged(jnp.asarray(-2.0)) == -2.0
"""

STORES = """
def fill(out, n):
    for i in range(n):
        out[i % 10] += 1.0
    out[0] = -1.0

staged = pystage.compile(fill)
out = np.zeros(10)
staged(out, 5)
assert out.tolist() == [-1, 1, 1, 1, 1, 0, 0, 0, 0, 0]


def seconds(n):
    began = time.perf_counter()
    staged(out, n)
    return time.perf_counter() - began


trips = int(2.5 * 10**7 / min(seconds(10**7) for _ in range(3)))
interrupted(lambda: staged(out, trips))
out[:] = 7.0
time.sleep(4)
assert (out == 7.0).all(), "the interrupted run stored later"
staged(out, 0)
assert out[0] == -1.0
"""

LARGE = """
def product(x):
    y = x
    for i in range(100):
        y = y @ x / 1500
    return y

staged = pystage.compile(product)
small = staged(np.ones((3, 3)))
interrupted(lambda: staged(np.ones((1500, 1500))), after=1.5)
assert (staged(np.ones((3, 3))) == small).all()
"""

SLOW_XLA = """
from jax._src import compiler

events = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, *_, **__: events.append(name) if name.endswith("backend_compile_duration") else None
)
plain = compiler.backend_compile_and_load

compiles = threading.Event()

def slow(*args, **kwargs):
    if not events:
        compiles.set()
        time.sleep(4)
    return plain(*args, **kwargs)

compiler.backend_compile_and_load = slow
"""

XLA = """
def program(x):
    return x * 2 + 1

staged, x = pystage.compile(program), np.ones(3)
interrupted(lambda: staged(x), after=compiles)
assert (staged(x) == 3).all()
assert len(events) == 1, "it was compiled twice"
assert (staged(x) == 3).all() and (staged(np.ones(4)) == 3).all()
assert len(events) == 2
"""

LAZY_XLA = """
from pystage import lazy

x = lazy.asarray(np.ones(200_000))
lazy.sync()
events.clear()
interrupted(lambda: float((x * 2 + 1).sum()), after=compiles)
assert float((x * 2 + 1).sum()) == 600_000
assert float((x * 2 + 1).sum()) == 600_000
assert len(events) <= 2, "it was compiled for each run"
"""

INFERENCE = """
def helper(x, i):
    return np.sin(x) * i + np.cos(x)

def long(x):
    parts = {}
    for i in range(4000):
        parts["part %d" % i] = helper(x, float(i))
        x = x + parts["part %d" % i].sum()
    return x, len(parts)

pystage.config.program_limit = None
staged = pystage.compile(long)
interrupted(lambda: staged(np.ones(3)), after=1.5)

def short(x):
    return helper(x, 2.0)
np.testing.assert_allclose(pystage.compile(short)(np.ones(3)), short(np.ones(3)))
"""

IMPORT = """
from pystage.compiler.library import registry

def short(x):
    return np.sin(x) * 2

found, place = [], registry._defined_at
def at(frame):
    found.append(frame)
    if len(found) in (100, 700):
        os.kill(os.getpid(), signal.SIGINT)
    return place(frame)

registry._defined_at = at
for _ in range(2):
    try:
        pystage.compile(short)(np.ones(3))
    except KeyboardInterrupt:
        continue
    raise AssertionError("it was not interrupted")
np.testing.assert_allclose(pystage.compile(short)(np.ones(3)), short(np.ones(3)))
assert len(found) > 700
"""

HANDLER = """
class Late(Exception):
    pass

def late(*_):
    raise Late

signal.signal(signal.SIGALRM, late)
staged = pystage.compile(count)
assert staged(-1.0) == -1.0
signal.setitimer(signal.ITIMER_REAL, 0.5)
began = time.perf_counter()
try:
    staged(1.0)
except Late:
    assert time.perf_counter() - began < 1.5
else:
    raise AssertionError
assert staged(-1.0) == -1.0
"""

THREAD = """
staged = pystage.compile(count)
found = []
thread = threading.Thread(target=lambda: found.append(staged(-4.0)))
thread.start()
thread.join()
assert found == [-4.0]
with jax.default_matmul_precision("highest"):
    assert staged(-5.0) == -5.0
"""

PROGRAMS = {
    "loop": LOOP,
    "first call": FIRST_CALL,
    "jax loop": JAX_LOOP,
    "stores": STORES,
    "xla": SLOW_XLA + XLA,
    "lazy xla": SLOW_XLA + LAZY_XLA,
    "large": LARGE,
    "inference": INFERENCE,
    "import": IMPORT,
    "handler": HANDLER,
    "thread": THREAD,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_interrupt(name: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(HEAD + textwrap.dedent(PROGRAMS[name]))
    done = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


MANY_SORTS = """
import signal
import sys
import threading
import time
import numpy as np
import pystage
from pystage.runtime.dispatch.specialisation import Specialisation


def sorts(x):
    LINES
    return x


plain = Specialisation._compile


def compile(self, *args):
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    plain(self, *args)


Specialisation._compile = compile
pystage.config.program_limit = None
staged = pystage.compile(sorts, fallback="error", tier="compiled")
"""

UNCAUGHT = """
import atexit
atexit.register(print, "ends")
staged(np.ones((12, 12)))
"""

CAUGHT = """
try:
    staged(np.ones((12, 12)))
except KeyboardInterrupt:
    sys.exit(3)
"""


@pytest.mark.parametrize("name, status", [("UNCAUGHT", -signal.SIGINT), ("CAUGHT", 3)])
def test_the_interpreter_survives_an_interrupt_of_a_compilation(
    name: str, status: int, tmp_path: Path
) -> None:
    """XLA aborts a process whose interpreter has ended while it compiles."""
    script = tmp_path / "program.py"
    lines = [f"x = np.where(x > {i}.0, np.sort(x, axis=0), np.sin(x) @ x)" for i in range(80)]
    script.write_text(MANY_SORTS.replace("LINES", "\n    ".join(lines)) + globals()[name])
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    if name == "UNCAUGHT":
        assert done.stdout == "ends\n" and done.stderr.endswith("\nKeyboardInterrupt\n")
    else:
        assert not done.stderr


def test_no_python_of_jax_runs_in_a_call_that_was_compiled() -> None:
    """Of all shapes: one whose trace was put off until the program is compiled is as quick as the first."""
    staged = pystage.compile(lambda x: x + 1)
    arrays = [np.ones(n) for n in (3, 4, 5)]
    for _ in range(2):
        for x in arrays:
            staged(x)
    seen: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call" and "jax" in frame.f_code.co_filename:
            seen.append(frame.f_code.co_qualname)

    for x in arrays:
        sys.setprofile(note)
        try:
            staged(x)
        finally:
            sys.setprofile(None)
    assert not [name for name in seen if "cache_miss" in name]


def test_every_program_is_compiled_once() -> None:
    """JAX finds what was compiled beforehand: also for programs that print, draw or give buffers back."""

    def printing(x: Any) -> Any:
        print(x)
        return x + 1

    def storing(x: Any) -> Any:
        x[0] = 2.0
        return x.sum()

    def drawing(x: Any) -> Any:
        return x + RNG.normal()

    compiled: list[str] = []

    def note(name: str, *_: Any, **__: Any) -> None:
        if name.endswith("backend_compile_duration"):
            compiled.append(name)

    jax.monitoring.register_event_duration_secs_listener(note)
    for program in (printing, storing, drawing, lambda x: x * 2):
        for donate in ((), (0,)):
            staged = pystage.compile(program, donate=donate)
            for n in (3, 4):
                jnp.ones(n)
                for kind in (np.ones, jnp.ones):
                    if program is storing and kind is jnp.ones:
                        continue
                    given = [kind(n), kind(n)]
                    compiled.clear()
                    for x in given:
                        staged(x)
                    assert len(compiled) == 1, (program, donate, n, kind)
