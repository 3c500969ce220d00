"""How deep the stages of the compiler may recurse."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 20_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """The compiler recurses with the nesting of calls and statements, and with the length of what a value is computed
    from; Python's own limit is too low for it."""
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, FRAMES))
        yield
    finally:
        sys.setrecursionlimit(limit)
