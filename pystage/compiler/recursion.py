"""How deep the stages of the compiler may recurse."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 20_000


_lock = threading.Lock()
_within: list[int] = []
"""For each compilation that is going on, in any thread, the limit when the first of them began."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """The compiler recurses with the nesting of calls and statements, and with the length of what a value is computed
    from; Python's own limit, which all threads share, is too low for it. The last that ends sets it back."""
    with _lock:
        _within.append(_within[0] if _within else sys.getrecursionlimit())
        sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES))
    try:
        yield
    finally:
        with _lock:
            before = _within.pop()
            if not _within:
                sys.setrecursionlimit(before)
