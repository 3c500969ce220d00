"""Attributes and methods of arrays, scalars and numbers against the plain objects."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, check, refused
from pystage.compiler.library.context import Context
from pystage.compiler.library.numpy.array_attributes import array_attribute
from pystage.compiler.library.numpy.subscripts.subscripts import array_getitem, array_setitem
from pystage.compiler.values.lattice import Abstract, Const, Ref

A = np.arange(24.0).reshape(2, 3, 4)
N = np.arange(6, dtype=np.int32).reshape(2, 3)
Z = (np.arange(6) * (1 + 2j)).astype(np.complex64).reshape(2, 3)


def check_attribute(x: Any, name: str) -> None:
    """`x.name`."""
    check(lambda ctx, x: found(ctx, x, name), lambda x: getattr(x, name), x)


def found(ctx: Context, x: Abstract, name: str) -> Abstract:
    """The attribute, which must be there."""
    made = array_attribute(ctx, x, name)
    assert made is not None, name
    return made


def check_method(x: Any, name: str, *args: Any, **kwargs: Any) -> None:
    """`x.name(*args, **kwargs)`, and what it did to `x`."""

    def staged(ctx: Context, x: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return ctx.call(found(ctx, x, name), args, kwargs)

    check(staged, lambda x, *a, **k: getattr(x, name)(*a, **k), x, *args, **kwargs)


RECEIVERS = [
    A,
    N,
    Z,
    np.array(2.5),
    np.float32(1.5),
    np.int8(3),
    np.complex64(1 + 2j),
    jnp.arange(6.0).reshape(2, 3),
]


@pytest.mark.parametrize("x", RECEIVERS, ids=lambda x: f"{type(x).__name__}{x.shape}")
@pytest.mark.parametrize(
    "name", ["shape", "dtype", "ndim", "size", "T", "real", "imag", "itemsize", "nbytes"]
)
def test_data(name: str, x: Any) -> None:
    check_attribute(x, name)


def test_matrix_transpose() -> None:
    check_attribute(A, "mT")
    check_attribute(jnp.asarray(N), "mT")


@pytest.mark.parametrize("x", [2, 2.5, True, 1 + 2j, np.float64(3.0), -7], ids=repr)
@pytest.mark.parametrize("known", [True, False])
def test_numbers(x: Any, known: bool) -> None:
    given = Known(x) if known else x
    for name in ("real", "imag", "numerator", "denominator"):
        if hasattr(x, name):
            check(lambda ctx, v, n=name: found(ctx, v, n), lambda v, n=name: getattr(v, n), given)
    for name in ("conjugate", "is_integer", "bit_length", "bit_count"):
        if hasattr(x, name):
            check(
                lambda ctx, v, n=name: ctx.call(found(ctx, v, n), []),
                lambda v, n=name: getattr(v, n)(),
                given,
            )


def test_what_is_not_there() -> None:
    for x in (A, 2, np.float32(1), jnp.ones(2)):
        check_missing(x)


def check_missing(x: Any) -> None:
    """No attribute of that name."""
    ctx = PlainContext()
    assert array_attribute(ctx, ctx.lift(x), "no_such_attribute") is None


@pytest.mark.parametrize("x", [A, N, jnp.arange(6.0).reshape(2, 3)], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "max",
        "min",
        "any",
        "all",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
    ],
)
def test_reductions(name: str, x: Any) -> None:
    check_method(x, name)
    check_method(x, name, Known(0))
    check_method(x, name, axis=Known(-1))
    if "cum" not in name:
        check_method(x, name, axis=Known(1), keepdims=Known(True))


@pytest.mark.parametrize("x", [A, jnp.arange(24.0).reshape(2, 3, 4)], ids=lambda x: type(x).__name__)
def test_rearranging(x: Any) -> None:
    check_method(x, "reshape", Known(4), Known(6))
    check_method(x, "reshape", Known((4, -1)))
    check_method(x, "reshape", Known(-1))
    check_method(x, "reshape", Known(4), Known(6), order=Known("F"))
    check_method(x, "reshape", Known(5), Known(5))
    check_method(x, "transpose")
    check_method(x, "transpose", Known(1), Known(0), Known(2))
    check_method(x, "transpose", Known((1, 0, 2)))
    for name in ("ravel", "flatten", "squeeze", "copy", "tolist"):
        check_method(x, name)
    check_method(x, "flatten", Known("F"))
    check_method(x, "swapaxes", Known(0), Known(1))
    check_method(x, "repeat", Known(2), axis=Known(0))
    check_method(x, "diagonal")
    check_method(x, "trace")
    check_method(x, "dot", x[0].T)
    check_method(x, "take", np.array([0, 1]))
    check_method(x, "argsort")


@pytest.mark.parametrize("dtype", [int, "float32", np.complex64, bool, np.uint8])
def test_astype(dtype: Any) -> None:
    for x in (N, A, np.float64(2.5), np.array(2.5), jnp.arange(4.0)):
        check_method(x, "astype", Known(dtype))
    check_method(N, "astype", Known(np.int32), copy=Known(False))
    check_method(A, "astype", Known(np.int8), casting=Known("safe"))


def test_items() -> None:
    for x in (
        np.array(2.5),
        np.array([[3]], np.uint8),
        np.float32(1.5),
        np.bool_(True),
        np.complex64(1j),
        jnp.ones(1),
    ):
        check_method(x, "item")
        check_method(x, "tolist")
    check_method(A, "item")
    check_method(A, "item", Known(5))
    check_method(A, "item", Known(0), Known(1), Known(2))
    check_method(A, "item", Known((0, 1, 2)))
    check_method(A, "item", 5)


def test_in_place() -> None:
    for value in (7, 2.5, np.float32(1.5)):
        check_method(A, "fill", value)
        check_method(N, "fill", value)
    check_method(np.array([3.0, 1, 2]), "sort")
    check_method(np.array([[3.0, 1, 2], [9, 8, 7]]), "sort", axis=Known(0))
    check_method(jnp.array([3.0, 1, 2]), "sort")
    check_method(A, "put", np.array([0, -1]), 7.0)


def test_parts_of_complex_arrays_are_views() -> None:
    def staged(ctx: Context, x: Abstract) -> Abstract:
        array_setitem(ctx, found(ctx, x, "real"), Const(0), Const(5.0))
        array_setitem(ctx, array_getitem(ctx, found(ctx, x, "imag"), Const(1)), Const(2), Const(-1.5))
        return Const(None)

    def plain(x: Any) -> None:
        x.real[0] = 5.0
        x.imag[1][2] = -1.5

    check(staged, plain, Z)


def test_views() -> None:
    def staged(ctx: Context, x: Abstract) -> Abstract:
        flat = ctx.call(found(ctx, found(ctx, x, "T"), "reshape"), [Const(-1)])
        array_setitem(ctx, flat, Const(0), Const(100.0))
        copied = ctx.call(found(ctx, x, "flatten"), [])
        array_setitem(ctx, copied, Const(1), Const(200.0))
        view = ctx.call(found(ctx, x, "view"), [])
        assert isinstance(view, Ref)
        array_setitem(ctx, view, Const(0), Const(300.0))
        return flat

    def plain(x: Any) -> Any:
        flat = x.T.reshape(-1)
        flat[0] = 100.0
        x.flatten()[1] = 200.0
        x.view()[0] = 300.0
        return flat

    check(staged, plain, A)


def test_jax_arrays_have_the_functions_of_jax_numpy() -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    for name, args in (("clip", (1.0, 3.0)), ("round", ()), ("conj", ()), ("ptp", ()), ("nonzero", ())):
        if name != "nonzero":
            check_method(x, name, *args)
    check_method(x, "block_until_ready")
    check(
        lambda ctx, x: ctx.call(
            found(ctx, array_getitem(ctx, found(ctx, x, "at"), Const(0)), "add"), [Const(2.0)]
        ),
        lambda x: x.at[0].add(2.0),
        x,
    )


def test_masked_elements() -> None:
    def masked(name: str, call: bool = False) -> Any:
        def staged(ctx: Context, x: Abstract, m: Abstract) -> Abstract:
            made = found(ctx, array_getitem(ctx, x, m), name)
            return ctx.call(made, []) if call else made

        return staged

    for name in ("size", "ndim", "dtype", "shape"):
        check(masked(name), lambda x, m, n=name: getattr(x[m], n), A, A > 5)
    for name in ("sum", "mean", "max", "any", "std"):
        check(masked(name, True), lambda x, m, n=name: getattr(x[m], n)(), A, A > 5)


def test_refused() -> None:
    refused("PS603", lambda ctx, x: found(ctx, x, "tobytes"), A)
    refused("PS203", lambda ctx, x: ctx.call(found(ctx, x, "view"), [Const(np.int64)]), A)
