"""`bisect`: plain programs over sorted sequences, which are staged.

In: a list, a tuple or an array, and an element. Out: a place, as CPython finds it: the same elements are compared, in the
same order.
"""

from __future__ import annotations

import bisect
from typing import Any

from ..kernels.python_implementations import composed


def _end(a: Any, lo: Any, hi: Any) -> Any:
    """The end of the searched part; ValueError if it begins before the first element."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is not None:
        return hi
    if isinstance(a, dict):
        raise TypeError(f"{type(a).__name__} is not a sequence")
    return len(a)


@composed(bisect.bisect_left)
def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """The first position before which all elements are less than `x`."""
    hi = _end(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@composed(bisect.bisect_right)
def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """The last position behind which all elements are greater than `x`."""
    hi = _end(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


@composed(bisect.insort_left)
def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """Inserts `x` before equal elements."""
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


@composed(bisect.insort_right)
def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """Inserts `x` after equal elements."""
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)
