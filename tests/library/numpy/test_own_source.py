"""Functions staged from NumPy's own source, and what such programs need of the language, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check
from numpy._core._multiarray_umath import _array_converter  # type: ignore[import-not-found]

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 5))
SQUARE = RNG.standard_normal((2, 3, 3))
cases = Cases()


@cases.each((SQUARE,), (RNG.integers(-2, 3, (2, 3, 3)).astype(np.int32),))
def powers_of_matrices(x: Any) -> Any:
    return [np.linalg.matrix_power(x, n) for n in (0, 1, 2, 3, 4, 5, 10)]


@cases(SQUARE)
def inverse_powers_of_matrices(x: Any) -> Any:
    return np.linalg.matrix_power(x, -2)


@cases.each((X[0],), (X[:2],), raises=np.linalg.LinAlgError)
def powers_of_what_is_not_square(x: Any) -> Any:
    return np.linalg.matrix_power(x, 2)


@cases.each(
    (X, 2.0), (X, np.ones((4, 5))), (X[0], np.arange(3)), (np.ones((0, 2)), np.arange(3.0)), ([1, 2, 3], 2)
)
def polynomials(p: Any, x: Any) -> Any:
    return np.polyval(p, x)


@cases(np.float64(2.0), raises=TypeError)
def a_polynomial_of_a_number(p: Any) -> Any:
    return np.polyval(p, np.ones(3))


@cases(X, [1, 2, 1, 0])
def quotients_of_polynomials(x: Any, by: Any) -> Any:
    return np.polydiv(x[0], x[1, :3]), np.polydiv(by, [1, 1])


@cases(X)
def series_of_polynomials(x: Any) -> Any:
    return np.polynomial.polynomial.polyval(x, [1, 2, 3]), np.polynomial.chebyshev.chebval(x, [1, 2, 3])


@cases.each((X[0],), (np.abs(X[0]),), (np.float64(-3.0),), (-2,))
def real_or_complex_by_the_values(x: Any) -> Any:
    return np.emath.sqrt(x), np.emath.log(x)


@cases(X)
def open_grids(x: Any) -> Any:
    return x[np.ix_([0, 2], np.array([1, 3, 0]))], np.ix_(np.array([True, False]), [0, 2])


@cases(
    np.array([1 + 2j, -3 - 1j], np.complex64), np.array([1.5, -2.0], np.float32), np.array([0.0, 0.5, -1.5])
)
def angles_and_sinc(z: Any, x: Any, y: Any) -> Any:
    return (
        np.angle(z),
        np.angle(x),
        np.angle(z, True),
        np.angle(z, deg=True),
        np.sinc(y),
        np.sinc(x),
        np.sinc([0, 1]),
    )


@cases(1, X, np.float32(2))
def converters(n: Any, x: Any, scalar: Any) -> Any:
    one, some = _array_converter(n, scalar), _array_converter(n, x)
    return (
        (one.as_arrays(), one.as_arrays(pyscalars="preserve"), one.result_type(), one.scalar_input),
        (
            some.as_arrays(),
            some.result_type(),
            some.result_type(np.int8),
            some.result_type(ensure_inexact=True),
            some.wrap(np.asarray(n)),
        ),
        (one.wrap(np.asarray(n)), one.wrap(np.asarray(n), to_scalar=False), some[0]),
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_warnings_of_numpy_are_not_given() -> None:
    check(lambda x: np.cov(x, ddof=9), X)


# ---------------------------------------------------------------- what such programs need


@cases.each((X, 0), (X, 1), (SQUARE, -2))
def axes_that_a_filter_leaves(x: Any, axis: int) -> Any:
    axis %= x.ndim
    order = [n for n in range(x.ndim) if n != axis]
    order.insert(0, axis)
    rest = []
    for n in range(x.ndim):
        if n != axis:
            rest.append(n)
    return x.transpose(order), np.transpose(x, [*rest, axis]), x.sum(axis=tuple(rest))


@cases(X)
def axes_and_shapes_in_arrays(x: Any) -> Any:
    order, shape = np.arange(x.ndim), np.ones(x.ndim, int)
    order[0], order[1] = order[1], order[0]
    shape[0] = -1
    return (
        np.transpose(x, order),
        x.transpose(order[::-1]),
        x.reshape(shape),
        np.zeros(shape * 2 + 2),
        np.ones(order + 1),
    )


@cases(X)
def values_that_say_nothing(x: Any) -> Any:
    return (
        (np.argmax(x, axis=1, keepdims=np._NoValue), np.sum(x, 0, None, None, np._NoValue)),  # type: ignore[call-overload]
        (
            np.zeros_like(x, device="cpu"),
            np.ones(2, device=None, like=None),
            np.broadcast_to(x[0], (2, 5), subok=True),
        ),
    )


@cases(X, np.arange(5))
def operators_by_their_names(x: Any, y: Any) -> Any:
    return x.__truediv__(y + 1), x.__lt__(0.5), x.__neg__()


@cases(X)
def classes_of_dtypes(x: Any) -> Any:
    return (
        np.subtract(x, 1, dtype=type(x.dtype)),
        np.zeros(2, np.dtypes.Float32DType),
        x.astype(np.dtypes.Int8DType),
    )


@pytest.mark.parametrize("function, args, options", cases.params)
def test_own_source(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
