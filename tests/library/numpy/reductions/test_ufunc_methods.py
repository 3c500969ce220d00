"""Methods of ufuncs, compiled and interpreted, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))
V = np.arange(4.0) + 0.5
AT = np.array([0, 2, 0, 1])
cases = Cases()
add_up = np.add.reduce


@cases.each((X,), ((X * 10).astype(np.int8),), (X > 0,))
def usual_reductions(x: Any) -> Any:
    return np.add.reduce(x), np.add.reduce(x, axis=1), np.multiply.reduce(x, 0, initial=2), add_up(x, axis=-1)


@cases.each((X,), ((X * 10).astype(np.uint8),))
def extrema(x: Any) -> Any:
    return np.maximum.reduce(x, axis=None, keepdims=True), np.minimum.reduce(x), np.logical_and.reduce(x)


@cases.each((X,), ((X * 10).astype(np.int8) | 1,))
def folds(x: Any) -> Any:
    return (
        np.subtract.reduce(x),
        np.divide.reduce(x, axis=1),
        np.hypot.reduce(x, axis=-1),
        np.subtract.reduce(x, 1, keepdims=True),
    )


@cases.each(((X * 10).astype(np.int16),), (X > 0,), ((X * X * 10).astype(np.uint8),))
def bits(x: Any) -> Any:
    return (
        np.bitwise_xor.reduce(x),
        np.bitwise_and.reduce(x, axis=0),
        np.bitwise_or.reduce(x, axis=None),
        np.bitwise_and.reduce(x, axis=1, keepdims=True),
        np.bitwise_or.reduce(x, axis=0, where=x != x[0, 0]),
        np.logical_xor.reduce(x),
    )


@cases.each((X,), ((X * 10).astype(np.int8),))
def accumulations(x: Any) -> Any:
    return (
        np.add.accumulate(x),
        np.maximum.accumulate(x, axis=1),
        np.subtract.accumulate(x),
        np.multiply.accumulate(x, axis=-1),
    )


@cases.each((X, V), (X.astype(np.float32), np.arange(3)))
def outer_products(x: Any, v: Any) -> Any:
    return np.add.outer(x, v), np.multiply.outer(v, 2), np.less.outer(v, v), np.power.outer([1, 2, 3], v)


@cases.each((np.zeros(4), AT, V), (np.arange(4), AT, V), (np.arange(4, dtype=np.float32), AT, V))
def at_places(a: Any, i: Any, v: Any) -> None:
    np.add.at(a, i, v)
    np.subtract.at(a, i, 2)
    np.maximum.at(a, i, v * 2)
    np.multiply.at(a, i, 3)
    np.add.at(a, [0, 0, 1], 2)


@cases(np.ones((4, 4)), AT, V)
def at_several_axes(a: Any, i: Any, v: Any) -> None:
    np.divide.at(a, i, 2.0)
    np.add.at(a, (i, i), v)
    np.add.at(a, (slice(None), i), v)  # type: ignore[arg-type]
    np.negative.at(a, (i, i))
    np.add.at(a, 1, 2.0)
    np.add.at(a, (slice(0, 2), 1), 3.0)  # type: ignore[arg-type]
    np.power.at(a[1:], (i[:2], i[2:]), 2)


@cases(X, X > 0)
def at_a_mask(a: Any, mask: Any) -> None:
    np.add.at(a, mask, 2.0)


@cases(V)
def without_elements(v: Any) -> Any:
    return np.add.reduce(v[:0]), np.subtract.accumulate(v[:0])


@cases(V, raises=ValueError)
def nothing_to_fold(v: Any) -> Any:
    return np.subtract.reduce(v[:0])


@cases.each((V, [0, 2]), (V, [2, 0, 1, 1]), (V, []))
@cases(V, [1, 9], raises=IndexError)
@cases(V, [1, -1], raises=IndexError)
def reduceat(v: Any, places: Any) -> Any:
    return np.add.reduceat(v, places), np.maximum.reduceat(v, places), np.logical_or.reduceat(v > 1, places)


@cases(V, refused="PS604")
def reduceat_of_rows(v: Any) -> Any:
    return np.add.reduceat(v[None], [0])


@cases(V, refused="PS203")
def reduceat_of_fractions(v: Any) -> Any:
    return np.add.reduceat(v, [0.5])


@cases(V, refused="PS203")
def fold_into(v: Any) -> Any:
    return np.subtract.reduce(v, dtype=np.float32)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_ufunc_methods(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
