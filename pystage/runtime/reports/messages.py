"""Messages of pystage, by topic: through the logger `pystage`, and on stderr for interactive users.

`PYSTAGE_LOG` names the topics for stderr, separated by commas. Without it, stderr gets what a user at a terminal or in
Jupyter must know, and nothing elsewhere. The logger gets everything (INFO).
"""

from __future__ import annotations

import enum
import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from ...compiler.diagnostics.span import place
from ...compiler.hlo.walk import functions
from ...compiler.pipeline import Staged
from ...deferred import deferred


class Topic(enum.Enum):
    """The topic of a message."""

    COMPILES = "compiles"
    FALLBACKS = "fallbacks"
    BARRIERS = "barriers"
    CACHE = "cache"
    PHASES = "phases"


def is_requested(topic: Topic) -> bool:
    """True if the user has asked for messages of this topic."""
    return topic.value in [name.strip() for name in os.environ.get("PYSTAGE_LOG", "").split(",")]


def is_heard(topic: Topic) -> bool:
    """True if messages of a topic reach somebody."""
    return is_requested(topic) or logging.getLogger("pystage").isEnabledFor(logging.INFO)


def tell(topic: Topic, text: str, *, urgent: bool = False) -> None:
    """Emits the text; if `urgent`, on a terminal without being asked too."""
    logging.getLogger("pystage").info(text)
    stream = sys.stderr
    if stream is not None and (is_requested(topic) or (urgent and _is_seen(stream))):
        print(f"pystage: {text}", file=stream, flush=True)


def _is_seen(stream: TextIO) -> bool:
    """True if somebody sees the output: a terminal, and the output of a cell in Jupyter."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel.")


SECONDS = 3.0
"""A compilation that takes longer says so."""
_PAUSE = 0.25
_IDLE = 10.0


class Compilation:
    """One compilation in progress, as a `with` block: its stage is reported when it takes long, and then its end."""

    def __init__(self, name: str, at: str, staged: Staged | None = None) -> None:
        self._name, self._at, self._staged = name, at, staged
        self._began = self._entered = self._left = 0.0
        self._told = False
        self._stop: Callable[[], None] | None = None

    def __enter__(self) -> None:
        self._began = self._entered = now = time.perf_counter()
        before: Compilation | None = getattr(_thread, "latest", None)
        if before is not None and before._name == self._name and now - before._left < 1.0:
            self._began, self._told = before._began, before._told  # the next step of the same
        _thread.latest = self
        _watch(self)

    def give(self, staged: Staged) -> Staged:
        """Notes the result of inference, for the report."""
        self._staged = staged
        return staged

    def __exit__(self, *exception: object) -> None:
        with _lock:
            _running.pop(id(self), None)
            stop, self._stop = self._stop, None
        if stop is not None:
            stop()
        self._left = time.perf_counter()
        self.look()
        seconds = self._left - self._entered
        if is_requested(Topic.PHASES):
            tell(Topic.PHASES, f"`{self._name}`: {self._at} {seconds:.3f} s" + self._counts())
        self._staged = None
        if self._told and seconds > SECONDS / 10:
            tell(Topic.COMPILES, f"{self._at} of `{self._name}` took {seconds:.1f} s")

    def _counts(self) -> str:
        """The number of steps of inference, and the size of the program."""
        if self._staged is None:
            return ""
        steps = f", {self._staged.program.steps:,} steps" if self._at == "inference" else ""
        return steps + _size(self._staged)

    def look(self) -> None:
        """Reports that it takes long, if it does."""
        if time.perf_counter() - self._began > SECONDS:
            self._tell_start()

    def show(self) -> None:
        """Shows on a terminal how long it has been running, once that was reported."""
        stream = sys.stderr
        if not self._told or stream is None or not stream.isatty():
            return
        with _lock:  # one of them at a time, and none that has ended
            if id(self) in _running and not any(each._stop for each in _running.values()):
                began = time.perf_counter() - self._entered
                self._stop = _show_progress(f"{self._at} of `{self._name}`", began, stream)

    def _tell_start(self) -> None:
        if not self._told:
            self._told = True
            text = f"`{self._name}` has been compiling for over {SECONDS:.0f} s, in {self._at}"
            if self._staged is not None:
                text += _size(self._staged)
            tell(Topic.COMPILES, text, urgent=True)


def _size(staged: Staged) -> str:
    """The size of a program, and the line that most of it comes from."""
    lines = Counter(
        [
            (op.span.file, op.span.line) if op.span is not None else None
            for function in functions(staged.function)
            for op in function.body.walk()
        ]
    )
    total = lines.total()
    text = f": {total:,} operations"
    lines.pop(None, None)
    if not lines:
        return text
    (file, line), most = max(lines.items(), key=lambda item: item[1])  # type: ignore[misc]
    return f"{text}, {most:,} of them from {place(file, line)}"


_show_progress = deferred("pystage.runtime.reports.progress", "begin")
_thread = threading.local()
_running: dict[int, Compilation] = {}
_lock = threading.Lock()
_watching = False


def _watch(compilation: Compilation) -> None:
    """Has it checked at intervals, by a thread that ends after some seconds without a compilation."""
    global _watching
    _running[id(compilation)] = compilation
    with _lock:
        if _watching:
            return
        _watching = True
    threading.Thread(target=_look_at_all, name="pystage messages", daemon=True).start()


def _look_at_all() -> None:
    global _watching
    last = time.perf_counter()
    while True:
        time.sleep(_PAUSE)
        found = list(_running.values())
        for compilation in found:
            compilation.look()
            compilation.show()
        now = time.perf_counter()
        last = now if found else last
        with _lock:
            if not _running and now - last > _IDLE:
                _watching = False
                return


if hasattr(os, "register_at_fork"):

    def _forked() -> None:
        global _watching
        _watching = False
        _running.clear()

    os.register_at_fork(after_in_child=_forked)
