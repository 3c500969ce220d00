"""Computed places, insertion, padding and convolution against NumPy."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, check, check_call, refused

A = np.arange(24.0).reshape(2, 3, 4)
B = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize("indices", [1, -1, [0, 2], np.array([[0, -1], [1, 0]]), np.zeros(0, int)], ids=str)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(indices: Any, axis: Any) -> None:
    check_call(np.take, B, indices, axis=Known(axis))
    if not isinstance(indices, list):
        check_call(np.take, jnp.asarray(B), indices, axis=Known(axis))


def test_modes_of_take() -> None:
    for mode in ("wrap", "clip"):
        check_call(np.take, B, np.array([-7, 5, 100, 2]), mode=Known(mode))
        check_call(np.take, B, np.array([-7, 5]), axis=Known(1), mode=Known(mode))
    check_call(np.take, B, 1.5)
    check_call(np.take, B, np.array([1.5]))
    check_call(np.take, jnp.asarray(B), np.array([-7, 50]), mode=Known("clip"))
    check_call(np.take, B, np.array([0]), mode=Known("no"))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_axes(axis: int) -> None:
    x = np.random.default_rng(0).standard_normal((3, 4))
    order = np.argsort(x, axis=axis)
    check_call(np.take_along_axis, x, order, axis=Known(axis))
    check_call(np.take_along_axis, x, order[:1, :1], axis=Known(axis))
    check_call(np.put_along_axis, x, order[:1, :1], 7.5, axis=Known(axis))
    check_call(np.put_along_axis, x, order, np.arange(12.0).reshape(3, 4), axis=Known(axis))
    check_call(np.take_along_axis, x, order[0], axis=Known(axis))
    check_call(np.take_along_axis, x, np.array([5, 1]), axis=Known(None))


def test_put() -> None:
    check_call(np.put, B, [0, -1], 7)
    check_call(np.put, B, np.array([0, 5, 2]), np.array([1.5, 2.5]))
    check_call(np.put, B, np.array([0, 5, 5]), [1, 2, 3])
    check_call(np.put, B, np.array([-30, 50]), 7, mode=Known("clip"))
    check_call(np.put, 3.0, 0, 1)
    check_call(np.putmask, B, B > 5, -1)
    check_call(np.putmask, A, A > 5, -A)


def test_choose() -> None:
    which = np.array([[0, 1], [2, 0]])
    check_call(np.choose, which, [np.arange(2), 10.5, np.arange(4).reshape(2, 2)])
    check_call(np.choose, which + 7, [1, 2, 3], mode=Known("wrap"))
    check_call(np.choose, which * 9, [1, 2, 3], mode=Known("clip"))
    check_call(np.choose, 1, [1, 2, 3])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_insert_and_delete(axis: Any) -> None:
    for places in (0, -1, 2, (0, 2), slice(0, 2)):
        check_call(np.delete, B, Known(places), axis=Known(axis))
    check_call(np.delete, B, Known(50), axis=Known(axis))
    for place in (0, 1, -1, 3, 50):
        check_call(np.insert, B, Known(place), 7.5, axis=Known(axis))
    if axis is not None:
        row = np.arange(4 if axis == 0 else 3)
        check_call(np.insert, B, Known(1), row, axis=Known(axis))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("widths", [0, 1, (1, 2), ((1, 2), (0, 3)), ((5, 1), (2, 7))], ids=str)
def test_pad(mode: str, widths: Any) -> None:
    check_call(np.pad, B, Known(widths), mode=Known(mode))
    check_call(np.pad, B, Known(widths), Known(mode))
    if mode == "constant":
        check_call(np.pad, B, Known(widths), constant_values=7.5)
        check_call(np.pad, A[0], Known(widths), constant_values=(1, 2))
        check_call(np.pad, A[0], Known(widths), constant_values=((1, 2), (3, 4)))
        check_call(jnp.pad, jnp.asarray(B), Known(widths))


def test_pad_errors() -> None:
    check_call(np.pad, B, Known(-1))
    check_call(np.pad, B, Known(1.5))
    check_call(np.pad, B, Known((1, 2, 3)))
    check_call(np.pad, B, Known(1), Known("maximum"), stat_length=Known(0))
    check_call(np.pad, B, Known(1), Known("mean"), end_values=Known(0))
    check_call(np.pad, B[:0], Known(1), Known("mean"))
    refused("PS203", lambda ctx, x: ctx.call(ctx.lift(np.pad), [x, ctx.lift(Known({0: 1}))]), B)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, bool])
def test_pad_with_what_is_computed(dtype: Any) -> None:
    x = (np.arange(12).reshape(3, 4) ** 2 % 7).astype(dtype)
    widths = Known(((1, 2), (3, 0)))
    for mode in ("minimum", "maximum", "mean", "median"):
        check_call(np.pad, x, widths, Known(mode))
        check_call(np.pad, x, widths, Known(mode), stat_length=Known(((1, 2), (3, 9))))
    check_call(np.pad, x, Known(1), Known("mean"), stat_length=Known((1, 2)))
    check_call(np.pad, x, widths, Known("linear_ramp"))
    check_call(np.pad, x, Known(2), Known("linear_ramp"), end_values=Known(((5, 1), (2, 7))))
    for mode in ("reflect", "symmetric"):
        check_call(np.pad, x, Known(7), Known(mode), reflect_type=Known("odd"))
        check_call(np.pad, x[:1], widths, Known(mode), reflect_type=Known("odd"))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 4), (6, 2), (1, 1), (7, 4)], ids=str)
def test_convolve(mode: str, sizes: tuple[int, int]) -> None:
    x, y = (np.random.default_rng(0).integers(-3, 4, n) for n in sizes)
    check_call(np.convolve, x, y, Known(mode))
    check_call(np.convolve, x.astype(np.float32), y, mode=Known(mode))


@pytest.mark.parametrize("name", ["nonzero", "flatnonzero", "argwhere", "unique"])
def test_functions_of_known_arrays_are_called_now(name: str) -> None:
    known = [Known(1), Known(0), Known(1)]

    def staged(ctx: Any) -> Any:
        return ctx.call(ctx.lift(getattr(np, name)), [ctx.lift(known)])

    check(staged, lambda: getattr(np, name)([1, 0, 1]))
