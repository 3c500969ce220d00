"""Runs long calls in a worker thread, so that the user can interrupt them.

Python delivers signals to the main thread, between two instructions: not while it waits in XLA, which runs small programs
and compiles in the calling thread. So the main thread hands a long call to a worker and waits for a lock, which a signal
interrupts at once. The worker then runs to its end, and its result is dropped. What is compiled while the program goes on is
handed to a worker too. CPython unwinds the stack of a thread that asks for the GIL after the interpreter has ended, and XLA
aborts a process in which that happens. So the interpreter waits for compilations before it ends, and an interrupt that
nobody catches ends the process without ending the interpreter.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from ...autocasting import autocast, product_type
from .jax_private import is_tracing, thread_settings

_Lock = threading.Lock


class Job:
    """One call in a worker."""

    __slots__ = (
        "_args",
        "_done",
        "_error",
        "_function",
        "_products",
        "_result",
        "_settings",
        "_x64",
        "ends",
        "refused",
        "seconds",
    )

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], *, ends: bool = False) -> None:
        self._function, self._args = function, args
        self.ends = ends
        """True if it ends by itself, as a compilation does: the interpreter waits for it."""
        self._settings = thread_settings()
        self._x64 = jax.config.jax_enable_x64
        self._products = product_type()
        self._result: Any = None
        self._error: BaseException | None = None
        self._done = _Lock()
        self._done.acquire()
        self.refused = False
        """True if the worker has not called it: JAX would not mean the same in a thread of other settings."""
        self.seconds = 0.0
        """How long it took."""
        _unfinished.add(self)
        worker = _idle.pop() if _idle else _Worker()
        worker.begin(self)

    @property
    def done(self) -> bool:
        """True if the worker has finished the call."""
        return not self._done.locked()

    @property
    def error(self) -> BaseException | None:
        """The exception of the call."""
        return self._error

    def perform(self) -> None:
        """Runs the call, in the worker."""
        began = time.perf_counter()
        try:
            with jax.enable_x64(self._x64), autocast(self._products):
                if thread_settings() == self._settings:
                    self._result = self._function(*self._args)
                else:
                    self.refused = True
        except BaseException as error:
            self._error = error
        finally:
            self._function, self._args, self._settings = _nothing, (), None
            self.seconds = time.perf_counter() - began
            _unfinished.discard(self)

    def end(self) -> None:
        """Lets whoever waits for the call continue."""
        self._done.release()

    def wait(self) -> None:
        """Waits for the call, until a signal handler raises."""
        with self._done:
            pass

    def result(self) -> Any:
        """Waits for the call, until a signal handler raises; gives its result, or raises its exception."""
        with self._done:
            if self._error is not None:
                raise self._error
            return self._result


class _Worker:
    """A thread that runs one call after the other."""

    __slots__ = ("_begin", "_job")

    def __init__(self) -> None:
        self._begin = _Lock()
        self._begin.acquire()
        self._job: Job | None = None
        threading.Thread(target=self._work, name="pystage", daemon=True).start()

    def begin(self, job: Job) -> None:
        """Lets the thread run a call."""
        self._job = job
        self._begin.release()

    def _work(self) -> None:
        while True:
            self._begin.acquire()
            job, self._job = self._job, None
            assert job is not None
            job.perform()
            _idle.append(self)
            job.end()
            del job


_idle: list[_Worker] = []
"""Workers that wait for a call."""


def _forget_threads() -> None:
    """Forgets the workers after a fork, which has no other threads."""
    _idle.clear()
    _unfinished.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


_unfinished: set[Job] = set()
"""Calls that a worker is at, also those that nobody waits for."""


def beside(function: Callable[..., Any], *args: Any) -> Job:
    """Runs `function(*args)` in a worker, while the program continues. It must end: the interpreter waits for it at exit."""
    return Job(function, args, ends=True)


@atexit.register
def _end_workers() -> None:
    if not _unfinished:
        return
    if getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1"):
        atexit.unregister(_end_workers)
        atexit._run_exitfuncs()
        _leave()
    try:
        for job in list(_unfinished):
            if job.ends:
                job.wait()
    except KeyboardInterrupt:
        _leave()


def _leave() -> None:
    """Ends the process as CPython does after an interrupt, without ending the interpreter."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)


def _nothing() -> None:
    pass


def can_interrupt() -> bool:
    """True in the main thread, the only one that a signal interrupts, unless JAX is tracing around the call."""
    return threading.current_thread() is threading.main_thread() and not is_tracing()


def interruptible(function: Callable[..., Any], *args: Any) -> Any:
    """Runs `function(*args)` so that an exception of a signal handler ends the wait at once.

    `function` must end, and be content with any thread; where an interrupt would not arrive anyway, it runs in this one.
    """
    if not can_interrupt():
        return function(*args)
    job = beside(function, *args)
    result = job.result()
    return function(*args) if job.refused else result


def wait_for(value: jax.Array) -> float:
    """Waits for a result in Python, where a signal ends the wait; gives the seconds that it took.

    The pauses grow with the time that has passed, to a thirtieth of it: shorter than what follows a long program.
    """
    if value.is_ready():
        return 0.0
    if not can_interrupt():
        value.block_until_ready()
        return 0.0
    began = time.perf_counter()
    passed = 0.0
    while not value.is_ready():
        time.sleep(min(passed / 30, 0.01))
        passed = time.perf_counter() - began
    return passed
