"""Bits of bytes: `packbits` and `unpackbits`, as shifts of every eighth element."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..kernels.python_implementations import composed

_PLACES = {"b": range(7, -1, -1), "l": range(8)}


@composed(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> Any:
    """Bytes of eight elements each, a bit for each that is not zero; the last is filled up with zeros."""
    array = np.asarray(a)
    if array.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None or array.ndim == 0:
        array, axis = np.ravel(array), 0
    at = normalize_axis_index(axis, array.ndim)
    lines = np.moveaxis(array != 0, at, -1)
    n, outer = lines.shape[-1], lines.shape[:-1]
    count = (n + 7) // 8
    bits = np.zeros((*outer, count * 8), np.uint8)
    bits[..., :n] = lines
    packed = np.zeros((*outer, count), np.uint8)
    for first, place in enumerate(_PLACES[bitorder[0]]):
        packed |= bits[..., first::8] << np.uint8(place)
    return np.moveaxis(packed, -1, at)


@composed(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    """The bits of bytes, as zeros and ones; `count` of them, or without the last `-count`."""
    array = np.asarray(a)
    if array.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must begin with 'l' or 'b'")
    if axis is None or array.ndim == 0:
        array, axis = np.ravel(array), 0
    at = normalize_axis_index(axis, array.ndim)
    lines = np.moveaxis(array, at, -1)
    n, outer = lines.shape[-1] * 8, lines.shape[:-1]
    bits = np.zeros((*outer, n), np.uint8)
    for first, place in enumerate(_PLACES[bitorder[0]]):
        bits[..., first::8] = (lines >> np.uint8(place)) & np.uint8(1)
    if count is not None:
        wanted = operator.index(count)
        if wanted < -n:
            raise ValueError("-count larger than number of elements")
        if wanted < 0:
            wanted += n
        made = np.zeros((*outer, wanted), np.uint8)
        made[..., : min(wanted, n)] = bits[..., : min(wanted, n)]
        bits = made
    return np.moveaxis(bits, -1, at)
