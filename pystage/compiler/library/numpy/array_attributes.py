"""Attributes and methods of arrays and numbers.

In: the receiver (an ndarray, a NumPy or Python scalar, a `jax.Array`, constant or staged) and an attribute's name. Out:
the attribute's value, or a bound method. Most methods call the function of the same name in `np` or `jnp`, which is
looked up at the call.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_calls import NoSuchAttribute
from ...hlo.types import DType, is_complex
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import GatedNumber, narrow_number, number_of_kind
from ...values.lattice import Abstract, Array, ArrayCell, Const, Meaning, Method, Ref, Tuple
from ...values.views import Permuted, RealOrImaginary
from ..context import Context, Raw
from ..jax.at import At, AtIndex, at_attribute
from ..jax.random import key_attribute
from ..kernels.structures import abstract, lift
from ..operands.libraries import MISSING, NUMPY, plain, with_views
from ..operands.nested_sequences import nested
from ..python.numbers.number_methods import python_attribute, scalar_attribute
from ..rules.split import of_one_kind
from .array_methods import JAX_METHODS, NUMPY_METHODS
from .indexing.bounded import bounded, bounded_attribute
from .indexing.stores import dtype_of, shape_of, store_through
from .subscripts.flat import flat_assign, new_flat

_NO_VALUES = frozenset({"data", "ctypes", "flags", "base"})
"""Attributes that show memory, which a program does not have."""


def array_attribute(ctx: Context, value: Abstract, name: str) -> Abstract | None:
    """`value.name` for an array or a number; None where there is no such attribute, or it is not staged."""
    match value:
        case Bounded():
            return _attribute_of_bounded(ctx, value, name)
        case AtIndex():
            return at_attribute(value, name)
        case Const(value=known):
            return _known_attribute(ctx, value, known, name)
        case GatedNumber():
            return _attribute_of_gated(ctx, value, name)
        case Array(key_impl=str()):
            return key_attribute(ctx, value, name)
        case Array(form=Form.PYTHON):
            return python_attribute(ctx, value, name)
        case Array(form=Form.JAX):
            return _jax_attribute(ctx, value, name)
        case Array():
            found = scalar_attribute(ctx, value, name)
            return _numpy_attribute(ctx, value, name) if found is None else found
        case Ref() if ctx.is_ndarray(value):
            return _numpy_attribute(ctx, value, name)
    return None


def set_array_attribute(ctx: Context, value: Abstract, name: str, new: Abstract) -> bool:
    """`value.name = new` for the real and imaginary part and `flat` of an ndarray; False for any other attribute."""
    if name == "flat" and isinstance(value, Ref) and ctx.is_ndarray(value):
        flat_assign(ctx, value, new)
        return True
    if name not in ("real", "imag") or not isinstance(value, Ref) or not ctx.is_ndarray(value):
        return False
    dtype = dtype_of(ctx, value)
    if name == "imag" and not is_complex(dtype):
        ctx.raise_(TypeError("array does not have imaginary part to set"))
    target = part_of(ctx, value, dtype, name == "imag")
    assert isinstance(target, Ref)
    if not (isinstance(new, Ref) and new.cell == target.cell and new.path == target.path):
        store_through(ctx, target, nested(ctx, NUMPY, new, f"the {name} part").value)
    return True


# ---------------------------------------------------------------- by kind of receiver


def _numpy_attribute(ctx: Context, value: Array | Ref, name: str) -> Abstract | None:
    """An attribute of an ndarray or a staged NumPy scalar."""
    if isinstance(value, Ref):
        shape, dtype = shape_of(ctx, value), dtype_of(ctx, value)
    else:
        shape, dtype = value.shape, value.dtype
    found = _described(name, shape, dtype)
    if found is not None:
        return found
    match name:
        case "T":
            return with_views(ctx, NUMPY, value, [Permuted(tuple(reversed(range(len(shape)))))], "T")
        case "mT":
            return _matrix_transposed(ctx, value, len(shape))
        case "real" | "imag":
            return part_of(ctx, value, dtype, name == "imag")
        case "device":
            return Const("cpu")
        case "flat" if isinstance(value, Ref):
            return new_flat(ctx, value)
    method = _method(NUMPY_METHODS, value, name)
    if method is None and name.startswith("__") and hasattr(np.ndarray, name) and hasattr(operator, name):
        return Method(Const(getattr(operator, name)), value)
    if method is None and hasattr(np.ndarray, name) and not name.startswith("__"):
        ctx.fail(NoSuchAttribute(span=ctx.span, what="an ndarray", attribute=name))
    return method


def _jax_attribute(ctx: Context, value: Array, name: str) -> Abstract | None:
    """An attribute of a `jax.Array`."""
    found = _described(name, value.shape, value.dtype)
    if found is not None:
        return found
    match name:
        case "T":
            return ctx.call(Const(jnp.transpose), [value])
        case "mT":
            return ctx.call(Const(jnp.matrix_transpose), [value])
        case "real" | "imag":
            return ctx.call(Const(jnp.real if name == "real" else jnp.imag), [value])
        case "at":
            return At(value)
        case "weak_type":
            return Const(value.weak)
        case "flat":
            text = "JAX Arrays do not implement the arr.flat property: consider arr.flatten() instead."
            ctx.raise_(NotImplementedError(text))
    return _method(JAX_METHODS, value, name)


def _known_attribute(ctx: Context, receiver: Const, known: Any, name: str) -> Abstract | None:
    """An attribute of a number that is known now."""
    if not isinstance(known, bool | int | float | complex | np.generic) or name in _NO_VALUES:
        return None
    if name.startswith("__") or not hasattr(known, name):
        return None
    found = getattr(known, name)
    if not callable(found):
        return lift(ctx, found)
    return Method(Meaning(name, _known_method(name)), receiver)


@functools.cache
def _known_method(name: str) -> Callable[..., Abstract]:
    """A method of known numbers: called now if the arguments are known too."""

    def call(ctx: Context, /, self: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
        known = [plain(ctx, a) for a in (*args, *kwargs.values())]
        if any(k is MISSING for k in known):
            staged = NUMPY_METHODS.get(name) if isinstance(self.value, np.generic) else None
            if staged is not None:
                return staged(ctx, self, *args, **kwargs)
            known = [ctx.known(a, f"an argument of {name}") for a in (*args, *kwargs.values())]
        positional, named = known[: len(args)], dict(zip(kwargs, known[len(args) :]))
        try:
            with np.errstate(all="ignore"):
                return lift(ctx, getattr(self.value, name)(*positional, **named))
        except (TypeError, ValueError, IndexError, OverflowError, ArithmeticError) as error:
            ctx.raise_(error)

    return call


def _attribute_of_bounded(ctx: Context, value: Bounded, name: str) -> Abstract | None:
    """An attribute of a bounded array."""
    found = bounded_attribute(ctx, value, name)
    if found is not None:
        return found
    if name in ("real", "imag"):
        return _part_of_bounded(ctx, value, name)
    if name == "at" and value.form is Form.JAX:
        return At(value)
    return _method(JAX_METHODS if value.form is Form.JAX else NUMPY_METHODS, value, name)


def _part_of_bounded(ctx: Context, value: Bounded, name: str) -> Abstract:
    """`.real` and `.imag` of a bounded array: those of the whole."""
    whole = array_attribute(ctx, value.whole, name)
    assert isinstance(whole, Ref | Array)
    return value if whole is value.whole else bounded(ctx, whole, value.extents)


def _attribute_of_gated(ctx: Context, value: GatedNumber, name: str) -> Abstract | None:
    """An attribute of a number of several kinds; a method that all of them have splits when it is called."""
    found = narrow_number(ctx.b, ctx.intervals, value)
    if isinstance(found, GatedNumber):
        each = [array_attribute(ctx, number_of_kind(ctx.b, found, i), name) for i in range(len(found.kinds))]
        if all(isinstance(attribute, Method) for attribute in each):
            return Method(Meaning(name, functools.partial(_call_of_gated, name)), value)
    return array_attribute(ctx, of_one_kind(ctx, value, f".{name}"), name)


def _call_of_gated(name: str, ctx: Context, receiver: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
    given = [abstract(a) for a in args]
    named = {key: abstract(a) for key, a in kwargs.items()}
    return ctx.call(ctx.getattr(ctx.read(receiver), name), given, named)


def _method(methods: dict[str, Callable[..., Abstract]], receiver: Abstract, name: str) -> Abstract | None:
    found = methods.get(name)
    return None if found is None else Method(Meaning(name, found), receiver)


# ---------------------------------------------------------------- attributes


def _described(name: str, shape: tuple[int, ...], dtype: DType) -> Abstract | None:
    """An attribute that type and shape determine."""
    size = int(np.prod(shape, dtype=np.int64))
    match name:
        case "shape":
            return Tuple(tuple([Const(n) for n in shape]))
        case "dtype":
            return Const(dtype)
        case "ndim":
            return Const(len(shape))
        case "size":
            return Const(size)
        case "itemsize":
            return Const(dtype.itemsize)
        case "nbytes":
            return Const(size * dtype.itemsize)
    return None


def _matrix_transposed(ctx: Context, value: Array | Ref, rank: int) -> Abstract:
    if rank < 2:
        ctx.raise_(ValueError("matrix transpose with ndim < 2 is undefined"))
    order = (*range(rank - 2), rank - 1, rank - 2)
    return with_views(ctx, NUMPY, value, [Permuted(order)], "mT")


def part_of(ctx: Context, value: Array | Ref, dtype: DType, imaginary: bool) -> Abstract:
    """`.real` and `.imag`: views of complex arrays; of others the array itself, and read-only zeros."""
    if is_complex(dtype):
        return with_views(ctx, NUMPY, value, [RealOrImaginary(imaginary)], "real")
    if not imaginary:
        return value
    if isinstance(value, Array):
        return ctx.new(ctx.constant(0, dtype))
    zeros = ctx.broadcast(ctx.constant(0, dtype), shape_of(ctx, value))
    return Ref(ctx.state.new_cell(ArrayCell(zeros, writable=False)))
