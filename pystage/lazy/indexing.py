"""Basic indices (integers, slices, `None` and `...`): views at computed offsets.

The offset of a view is an input of the program, so that a loop over the positions of an array needs one program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiler.hlo.types import MOST_AXES
from ..compiler.library.numpy.indexing.fancy_indexing import basic_views
from ..compiler.library.numpy.indexing.indices import IntegerIndex, Item, NewAxis
from ..compiler.library.numpy.indexing.slices import SliceIndex
from ..compiler.values.views import View

_BASIC = (slice, type(None), type(Ellipsis))


class Basic:
    """A basic index: its views, and whether it names one element."""

    __slots__ = ("element", "views")

    def __init__(self, views: tuple[View, ...], element: bool) -> None:
        self.views = views
        self.element = element


def basic(key: Any, shape: tuple[int, ...]) -> Basic | None:
    """The meaning of a basic index for an array of `shape`, None for another index. NumPy's IndexError."""
    plain = _plain(key)
    if plain is None:
        return _basic(key, shape)
    found = _known.get((plain, shape))
    if found is None and (found := _basic(key, shape)) is not None:
        if len(_known) >= _KNOWN:
            _known.clear()
        _known[plain, shape] = found
    return found


_known: dict[Any, Basic] = {}
_KNOWN = 10_000
"""The number of cached indices."""


def _plain(key: Any) -> Any:
    """A hashable key for an index of integers and slices; None for other parts."""
    cls = type(key)
    if cls is int:
        return key
    if isinstance(key, np.integer):
        return int(key)
    if cls is slice:
        parts = key.start, key.stop, key.step
        return parts if set(map(type, parts)) <= {int, type(None)} else None
    if cls is tuple:
        items = tuple([_plain(part) for part in key])
        return None if None in items else (cls, items)
    return None


def _basic(key: Any, shape: tuple[int, ...]) -> Basic | None:
    parts = key if type(key) is tuple else (key,)
    integers = new = 0
    for part in parts:
        if type(part) is int or isinstance(part, np.integer):
            integers += 1
        elif part is None:
            new += 1
        elif not isinstance(part, _BASIC) or (isinstance(part, slice) and not _is_plain(part)):
            return None
    axes = sum(part is not None and part is not ... for part in parts)
    many = len(shape) - integers + new > MOST_AXES
    if axes > len(shape) or many or sum(part is ... for part in parts) > 1:
        np.broadcast_to(np.False_, shape)[key]  # raises
    items: list[Item] = []
    axis = 0
    missing = len(shape) - axes
    for part in (*parts, *([] if ... in parts else [...])):
        if part is None:
            items.append(NewAxis())
        elif part is ...:
            items += [SliceIndex(0, n, 1) for n in shape[axis : axis + missing]]
            axis += missing
        elif isinstance(part, slice):
            items.append(_part(part, shape[axis]))
            axis += 1
        else:
            items.append(_front_index(int(part), axis, shape, key))
            axis += 1
    element = integers == len(parts) == len(shape)
    return Basic(basic_views(items, shape), element)


def _is_plain(part: slice) -> bool:
    return all(
        p is None or type(p) is int or isinstance(p, np.integer) for p in (part.start, part.stop, part.step)
    )


def _part(part: slice, extent: int) -> SliceIndex:
    start, stop, step = part.indices(extent)
    size = len(range(start, stop, step))
    return SliceIndex(start, size, step) if size else SliceIndex(0, 0, 1)


def _front_index(index: int, axis: int, shape: tuple[int, ...], key: Any) -> IntegerIndex:
    extent = shape[axis]
    if not -extent <= index < extent:
        np.broadcast_to(np.False_, shape)[key]  # raises
    return IntegerIndex(index % extent)
