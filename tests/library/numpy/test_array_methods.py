"""Every attribute and method that numbers and arrays of each kind have, against the plain objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, check
from pystage.compiler.library.context import Context
from pystage.compiler.library.numpy.array_attributes import array_attribute, set_array_attribute
from pystage.compiler.library.numpy.subscripts.subscripts import array_setitem
from pystage.compiler.values.lattice import Abstract, Const

RECEIVERS = [
    np.array(2.5),
    np.array([[3, 1], [2, 7]], np.uint8),
    np.array([True, False]),
    np.arange(6.0).reshape(2, 3).astype(np.float16),
    np.float32(1.5),
    np.bool_(True),
    np.int64(-5),
    Known(np.float32(2.5)),
    Known(np.int8(4)),
    Known(3),
    Known(2.5),
    jnp.asarray(2.0),
    jnp.asarray([[1, 2], [3, 4]]),
    jnp.ones(2, jnp.bfloat16),
    7,
    -2.5,
    True,
    3 - 1j,
]
DATA = [
    "T", "real", "imag", "shape", "dtype", "ndim", "size", "itemsize", "nbytes", "numerator",
    "denominator", "weak_type",
]  # fmt: skip
METHODS = [
    "sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "cumsum",
    "cumprod", "round", "transpose", "ravel", "flatten", "squeeze", "copy", "conj", "conjugate", "item",
    "tolist", "trace", "diagonal", "argsort", "is_integer", "bit_count", "bit_length", "view", "ptp",
]  # fmt: skip
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("clip", (0, 2)),
    ("reshape", (-1,)),
    ("reshape", ((1, -1),)),
    ("astype", (float,)),
    ("astype", ("int8",)),
    ("repeat", (2,)),
    ("take", (0,)),
    ("swapaxes", (0, -1)),
    ("dot", (2,)),
    ("std", (None,)),
    ("fill", (1,)),
]


def has(receiver: Any, name: str) -> bool:
    """True if the plain object has the attribute."""
    return hasattr(receiver.value if isinstance(receiver, Known) else receiver, name)


def attribute(name: str) -> Callable[[Context, Abstract], Abstract]:
    """The meaning of `x.name`, which must be there."""

    def staged(ctx: Context, x: Abstract) -> Abstract:
        found = array_attribute(ctx, x, name)
        assert found is not None, name
        return found

    return staged


def check_method(x: Any, name: str, *args: Any, **kwargs: Any) -> None:
    """`x.name(*args, **kwargs)`, what it returns and what it does to `x`."""

    def staged(ctx: Context, x: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return ctx.call(attribute(name)(ctx, x), args, kwargs)

    check(staged, lambda x, *a, **k: getattr(x, name)(*a, **k), x, *args, **kwargs)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("x", RECEIVERS, ids=repr)
def test_everything(x: Any) -> None:
    tried = 0
    for name in DATA:
        if has(x, name):
            check(attribute(name), lambda v, name=name: getattr(v, name), x)
            tried += 1
    for name in METHODS:
        if has(x, name):
            check_method(x, name)
            tried += 1
    for name, args in CALLS:
        if has(x, name):
            check_method(x, name, *[Known(a) for a in args])
            tried += 1
    assert tried >= 2


def test_arguments_of_reductions() -> None:
    x = np.array([[3.0, 1, 2], [9, 7, 8]])
    check_method(x, "std", ddof=Known(1))
    check_method(x, "sum", axis=Known(0), out=np.zeros(3))
    check_method(x, "mean", axis=Known((0, 1)), keepdims=Known(True))
    check_method(x, "max", initial=Known(20.0))
    check_method(x, "sum", where=x > 2)
    check_method(x, "clip", min=Known(2.0))
    check_method(x[0].copy(), "searchsorted", 1.5)
    check_method(x, "transpose", Known(None))
    check_method(jnp.asarray(x), "sort", descending=Known(True))
    check_method(jnp.asarray(x), "astype", Known(int))


def test_methods_in_place() -> None:
    x = np.array([[3.0, 1, 2], [9, 7, 8]])
    check_method(x, "sort", Known(0))
    check_method(x, "sort")
    check_method(np.array([3, 1, 2]), "partition", Known(1))
    check_method(x, "fill", np.int8(3))
    check_method(x.T, "fill", 2)


def test_imaginary_part_of_real_arrays_is_read_only() -> None:
    def staged(ctx: Context, x: Abstract) -> Abstract:
        array_setitem(ctx, attribute("imag")(ctx, x), Const(0), Const(1.0))
        return Const(None)

    def plain(x: np.ndarray) -> None:
        x.imag[0] = 1.0

    check(staged, plain, np.ones(3))


@pytest.mark.parametrize("name", ["real", "conj"])
def test_what_is_not_complex_is_its_own_real_part(name: str) -> None:
    def staged(ctx: Context, x: Abstract) -> Abstract:
        found = attribute(name)(ctx, x)
        view = found if name == "real" else ctx.call(found, [])
        array_setitem(ctx, view, Const(0), Const(5.0))
        return x

    def plain(x: np.ndarray) -> np.ndarray:
        view = x.real if name == "real" else x.conj()
        view[0] = 5.0
        return x

    check(staged, plain, np.ones(3))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", ["real", "imag"])
@pytest.mark.parametrize("new", [2.0, np.array([1.0, 2, 3]), 1j], ids=repr)
def test_parts_are_assigned(name: str, new: Any) -> None:
    def staged(ctx: Context, x: Abstract, new: Abstract) -> Abstract:
        assert set_array_attribute(ctx, x, name, new)
        return Const(None)

    def plain(x: np.ndarray, new: Any) -> None:
        setattr(x, name, new)

    check(staged, plain, np.arange(6).reshape(2, 3) * (1 + 2j), new)
    check(staged, plain, np.ones((2, 3)), new)


def test_other_attributes_are_not_assigned() -> None:
    ctx = PlainContext()
    assert not set_array_attribute(ctx, ctx.lift(np.ones(4)), "shape", ctx.lift((2, 2)))
    assert not set_array_attribute(ctx, ctx.lift(np.float64(4)), "real", ctx.lift(2.0))
