"""`functools`: functions of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ..kernels.python_implementations import composed


def reduced(function: Callable[[Any, Any], Any], iterable: Iterable[Any], *initial: Any) -> Any:
    """`functools.reduce(function, iterable, *initial)` of what gives its elements in turn."""
    total, is_empty = (initial[0], False) if initial else (None, True)
    for value in iterable:
        total = value if is_empty else function(total, value)
        is_empty = False
    if is_empty:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


class Compared:
    """The result of the key function: it is less than another where the comparison says so."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0


@composed(functools.cmp_to_key)
def cmp_to_key(mycmp: Any) -> Any:
    """The key by which `sorted` orders as a comparison function says."""
    return functools.partial(Compared, mycmp)
