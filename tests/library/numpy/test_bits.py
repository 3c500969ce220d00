"""Bits of bytes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

BITS = np.array([1, 0, 1] * 7)
TABLE = np.array([[1, 0, 5], [0, 2, 0]])
BYTES = np.array([3, 1, 200], np.uint8)


@cases.each((BITS,), (BITS > 0,), (BITS[:8].astype(np.uint8),), (BITS[:0],), (np.array(1),), ([True, False],))
def packed(a: Any) -> Any:
    return np.packbits(a), np.packbits(a, bitorder="little")


@cases.each((TABLE, 0), (TABLE, 1), (TABLE, -1), (TABLE[:0], 1), (TABLE[:, :0], 1), (TABLE, None))
@cases(TABLE, 2, raises=np.exceptions.AxisError)
@cases(TABLE * 1.0, 0, raises=TypeError)
def packed_along(a: Any, axis: Any) -> Any:
    return np.packbits(a, axis)


@cases.each(
    (BYTES, None), (BYTES, 10), (BYTES, 30), (BYTES, 0), (BYTES, -3), (BYTES[:0], None), (np.uint8(3), 5)
)
@cases(BYTES, -30, raises=ValueError)
@cases(BYTES * 1.0, None, raises=TypeError)
def unpacked(a: Any, count: Any) -> Any:
    return np.unpackbits(a, count=count), np.unpackbits(a, bitorder="little")


@cases.each((BYTES[None], 0), (BYTES[None], 1), (BYTES[:, None], -1))
@cases(BYTES, 1, raises=np.exceptions.AxisError)
def unpacked_along(a: Any, axis: Any) -> Any:
    return np.unpackbits(a, axis), np.unpackbits(a, axis=axis, count=5)


@cases(BYTES, raises=ValueError)
def in_no_order(a: Any) -> Any:
    return np.packbits(a, bitorder="middle")


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function: Any, args: Any, options: Any) -> None:
    check(function, *args, **options)
