"""Manipulation functions. They give views where NumPy does."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import LazyTensor
from ..tensor import owner_of
from .data_types import INTEGER
from .operands import apply, apply_any, array, copied
from .operands import arrays as checked


def broadcast_arrays(*arrays: LazyTensor) -> list[LazyTensor]:
    """Arrays broadcast against one another."""
    for x in arrays:
        array("broadcast_arrays", x)
    return list(apply_any(np.broadcast_arrays, *arrays)) if arrays else []


def broadcast_to(x: LazyTensor, /, shape: tuple[int, ...]) -> LazyTensor:
    """`x` broadcast to a shape."""
    return apply(np.broadcast_to, array("broadcast_to", x), _lengths(shape))


def concat(arrays: Sequence[LazyTensor], /, *, axis: int | None = 0) -> LazyTensor:
    """Arrays joined along an axis that they have; flattened first, where it is None."""
    return apply(np.concatenate, _parts("concat", arrays), axis=axis)


def expand_dims(x: LazyTensor, /, axis: int) -> LazyTensor:
    """`x` with a new axis of length 1."""
    return apply(np.expand_dims, array("expand_dims", x), axis)


def flip(x: LazyTensor, /, *, axis: int | tuple[int, ...] | None = None) -> LazyTensor:
    """`x` with the order along axes turned round; along all, where none is given."""
    return apply(np.flip, array("flip", x), axis=axis)


def moveaxis(
    x: LazyTensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> LazyTensor:
    """`x` with axes moved to other places."""
    return apply(np.moveaxis, array("moveaxis", x), source, destination)


def permute_dims(x: LazyTensor, /, axes: tuple[int, ...]) -> LazyTensor:
    """`x` with its axes in another order."""
    return apply(np.transpose, array("permute_dims", x), axes)


def repeat(x: LazyTensor, repeats: int | LazyTensor, /, *, axis: int | None = None) -> LazyTensor:
    """`x` with elements repeated: each as often, or as an array says, which is computed."""
    if not isinstance(repeats, int):
        array("repeat", repeats, INTEGER)
    return apply(np.repeat, array("repeat", x), repeats, axis=axis)


def reshape(x: LazyTensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> LazyTensor:
    """The elements of `x` in another shape. ValueError for `copy=False` where they must be copied."""
    array("reshape", x)
    if copy is False:
        made = apply(np.reshape, x, _lengths(shape))
        if owner_of(made) is not owner_of(x):
            raise ValueError(f"a tensor of this layout needs a copy to get the shape {shape}")
        return made
    return apply(np.reshape, copied(x) if copy or not x._kind.ordered else x, _lengths(shape))


def roll(
    x: LazyTensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None
) -> LazyTensor:
    """`x` with elements moved along axes, and those that leave at one end entering at the other."""
    return apply(np.roll, array("roll", x), shift, axis=axis)


def squeeze(x: LazyTensor, /, axis: int | tuple[int, ...]) -> LazyTensor:
    """`x` without axes of length 1."""
    return apply(np.squeeze, array("squeeze", x), axis)


def stack(arrays: Sequence[LazyTensor], /, *, axis: int = 0) -> LazyTensor:
    """Arrays joined along a new axis."""
    return apply(np.stack, _parts("stack", arrays), axis=axis)


def tile(x: LazyTensor, repetitions: tuple[int, ...], /) -> LazyTensor:
    """`x` repeated along its axes."""
    return apply(np.tile, array("tile", x), repetitions)


def unstack(x: LazyTensor, /, *, axis: int = 0) -> tuple[LazyTensor, ...]:
    """The slices of `x` along an axis."""
    if not array("unstack", x).shape:
        raise ValueError("`unstack` takes arrays with at least one axis")
    first = moveaxis(x, axis, 0)
    return tuple([first[i, ...] for i in range(first.shape[0])])


def _parts(name: str, values: Any) -> list[LazyTensor]:
    return list(checked(name, *values))


def _lengths(shape: Any) -> tuple[int, ...]:
    """A shape with integers of Python's: a program is made for each."""
    return tuple(map(operator.index, shape)) if isinstance(shape, tuple | list) else (operator.index(shape),)
