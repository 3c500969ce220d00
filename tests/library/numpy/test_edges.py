"""Edges of NumPy's functions: axes that are not there, empty arrays, complex order, `out` of another type, NaN.

Each is a program that was once answered otherwise than by NumPy; compiled and interpreted, against CPython.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))
C = np.array([[1 - 2j, 1 + 2j, 3j], [np.nan + 1j, 1 + 0j, -2j]])
NAN = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 0.5]])
cases = Cases()


# ---------------------------------------------------------------- axes

AXES: dict[str, Any] = {
    "sum": lambda x: np.sum(x, axis=5),
    "twice": lambda x: np.sum(x, axis=(0, 0)),
    "float": lambda x: np.mean(x, axis=1.5),
    "method": lambda x: x.max(axis=-3),
    "argmax": lambda x: np.argmax(x, axis=2),
    "cumsum": lambda x: np.cumsum(x, axis=2),
    "concatenate": lambda x: np.concatenate([x, x], axis=3),
    "stack": lambda x: np.stack([x, x], axis=4),
    "expand_dims": lambda x: np.expand_dims(x, 5),
    "swapaxes": lambda x: np.swapaxes(x, 0, 3),
    "moveaxis": lambda x: np.moveaxis(x, (0, 0), (0, 1)),
    "transpose": lambda x: np.transpose(x, (1, 1)),
    "flip": lambda x: np.flip(x, axis=2),
    "gradient": lambda x: np.gradient(x, axis=7),
    "unwrap": lambda x: np.unwrap(x, axis=9),
    "apply_along_axis": lambda x: np.apply_along_axis(np.sum, 7, x),
    "median": lambda x: np.median(x, axis=3),
    "nanquantile": lambda x: np.nanquantile(x, 0.5, axis=(0, 4)),
    "norm": lambda x: np.linalg.norm(x, axis=4),
}


@pytest.mark.parametrize("name", AXES)
def test_axes_that_are_not_there(name: str) -> None:
    with pytest.raises(Exception) as caught:
        AXES[name](X)
    check(AXES[name], X, raises=type(caught.value))


def test_axes_that_jax_does_not_have() -> None:
    check(lambda x: jnp.sum(x, axis=5), jnp.ones(3), refused="PS205")


def test_a_refusal_inside_of_a_library_function_is_told_at_the_call() -> None:
    def program(x: Any) -> Any:
        return np.histogram(x, bins="auto")

    check(program, np.eye(3), refused="PS220")


# ---------------------------------------------------------------- order of complex numbers


@cases.each((C[:1],), (C,), (C.astype(np.complex64),), (np.array(1 - 2j),))
def complex_extrema(x: Any) -> Any:
    return np.max(x), np.min(x), np.argmax(x), np.argmin(x), np.max(x, axis=0), np.min(x, -1, keepdims=True)


@cases.each((C,), (C.astype(np.complex64),))
def complex_extrema_without_nan(x: Any) -> Any:
    return (
        np.nanmax(x),
        np.nanmin(x, axis=1),
        np.nanargmax(x),
        np.nancumsum(x),
        np.nancumprod(x),
        np.ptp(x[:1]),
    )


@cases.each((C,), (np.complex128(-0.5j),), (C.astype(np.complex64),))
def complex_truth(x: Any) -> Any:
    return np.bool_(x), np.asarray(x).astype(bool), np.where(x, 1, 2), np.any(x), np.count_nonzero(x)


# ---------------------------------------------------------------- empty arrays, no axes


@cases.each((np.array(2.5),), (np.array(3),), (np.float32(1.5),), (2.5,))
def reductions_of_one_number(x: Any) -> Any:
    whole = np.sum(x, initial=3), np.prod(x, initial=2), np.max(x, initial=7), np.min(x, initial=-7)
    return whole, np.sum(x, axis=0, initial=1), np.flip(x), np.squeeze(x), np.mean(x, axis=())


@cases.each((np.full((3, 1), -0.5),), (np.array([[-2]]),), (np.float32([[[4.0]]]),))
def reductions_over_axes_of_one_element(x: Any) -> Any:
    totals = (
        x.sum(axis=1, initial=3),
        np.prod(x, axis=-1, initial=2),
        np.sum(x, axis=1, keepdims=True, initial=1),
    )
    return totals, np.max(x, axis=1, initial=0), np.min(x, axis=1, initial=-1), np.add.reduce(x, 1, initial=5)


@cases.each((np.zeros((2, 0)),), (np.zeros((0, 3), np.float32),))
def empty_matrices(x: Any) -> Any:
    return np.linalg.pinv(x), np.linalg.matrix_rank(x), x.sum(axis=(), initial=2), np.sum(x, axis=0)


@cases.each((np.zeros(0),), (np.array([1, 2, 127], np.int8),), (np.arange(5, dtype=np.uint8) * 60,))
def integrals(y: Any) -> Any:
    return np.trapezoid(y), np.trapezoid(y, dx=2)


@cases([[1.0, 2.5, 3.0], []])
def lists(rows: Any) -> Any:
    return np.bincount(rows[1]), np.ix_(rows[1]), np.sum(rows[0])


# ---------------------------------------------------------------- memory and identity


@cases.each((np.arange(3.0),), (np.array(2.0),), (np.ones((1, 1)),))
def new_views_and_the_array_itself(x: Any) -> Any:
    return np.transpose(x), x.T, np.ascontiguousarray(x), np.float64(x) if x.ndim else 0, np.squeeze(x)


@cases(3)
def one_array_twice(n: Any) -> Any:
    return np.diag_indices(n)


# ---------------------------------------------------------------- out of another type

FLOATS = (np.float64, np.float32, np.complex128)


@cases.each(*[(X.astype(np.float32), np.zeros(4, t)) for t in FLOATS])
@cases.each(*[((X * 100).astype(np.uint8), np.zeros(4, t)) for t in (*FLOATS, np.int64, np.uint8)])
def sums_into(x: Any, out: Any) -> Any:
    return np.sum(x, axis=0, out=out)


@cases.each(*[((X * 100).astype(np.int8), np.zeros(4, t)) for t in (*FLOATS, np.int8)])
def products_into(x: Any, out: Any) -> Any:
    return np.prod(x, axis=0, out=out)


@cases.each((X.astype(np.float32), np.zeros(4)), (X, np.zeros(4)), (X.astype(int), np.zeros(4, np.float32)))
def moments_into(x: Any, out: Any) -> Any:
    np.mean(x, axis=0, out=out)
    total = out.copy()
    np.var(x, axis=0, out=out)
    return total, out, np.cumsum(x[0], out=out)


@cases(X, np.zeros(4, np.int64), refused="PS209")
def floats_into_integers(x: Any, out: Any) -> Any:
    return np.sum(x, axis=0, out=out)


# ---------------------------------------------------------------- others


@cases.each((np.int8(-3),), (np.array([1, 200], np.uint8),), (np.array([-1, 5], np.int16),), (-2.0,), (True,))
def angles(z: Any) -> Any:
    return np.angle(z), np.angle(z, deg=True)


@cases(RNG.standard_normal((2, 3, 2)))
def quantiles_over_several_axes(x: Any) -> Any:
    y = np.where(x > 1.0, np.nan, x)
    return np.nanmedian(y, axis=(0, 2)), np.nanquantile(y, [0.2, 0.7], axis=(0, -1), keepdims=True)


@cases(NAN)
def quantiles_of_lines(x: Any) -> Any:
    return np.nanquantile(x, 0.3, axis=1, keepdims=True), np.nanmedian(x, axis=-1), np.nanmedian(x)


@cases(X)
def products_of_rows(x: Any) -> Any:
    return np.linalg.multi_dot(x[:2])


@cases.each(
    *[(X[0].astype(kind), np.zeros(4, out)) for kind, out in (("f2", "f8"), ("f4", "f8"), ("f8", "f4"))]
)
def rounded_in_the_memory_of_another_type(x: Any, out: Any) -> Any:
    return np.round(x, 1, out=out), np.round(x * 100, -1, out=out.copy())


@cases(X.copy(), np.zeros((3, 0), np.int64), np.arange(3.0))
def nothing_put(x: Any, indices: Any, values: Any) -> Any:
    return np.put(x, indices, values), x


@cases(X[0], np.zeros(4))
def gradients_at_one_place(x: Any, at: Any) -> Any:
    return np.gradient(x, at), np.gradient(x, at, edge_order=2)


@cases(2, np.zeros(4), raises=ValueError)
def rounded_into_another_shape(x: Any, out: Any) -> Any:
    return np.round(x, 1, out=out)


@cases(X)
def covariances_with_a_bias_of_none(x: Any) -> Any:
    return np.cov(x, bias=None)


@cases(X, raises=RuntimeError)
def covariances_weighted_by_a_matrix(x: Any) -> Any:
    return np.cov(x, fweights=x)


@cases(X, X.copy())
def a_mask_of_none(x: Any, out: Any) -> Any:
    return np.add(x, x, where=None, out=out)


@cases(X, refused="PS220")
def bins_by_a_rule(x: Any) -> Any:
    return np.histogram(x, bins="auto")


@cases(1 + 2j, refused="PS202")
def complex_range(z: Any) -> Any:
    return np.arange(1 + 2j) + z


@cases(jnp.eye(3) * 2, 3)
def powers_of_matrices(x: Any, n: Any) -> Any:
    return jnp.linalg.matrix_power(x, n)


@cases(jnp.eye(3) * 2, jnp.arange(3), refused="PS656")
def power_by_an_array(x: Any, n: Any) -> Any:
    return jnp.linalg.matrix_power(x, n[1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_edges(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
