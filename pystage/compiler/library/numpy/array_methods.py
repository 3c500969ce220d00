"""Methods of ndarrays, NumPy scalars and `jax.Array`s.

In: the receiver and abstract arguments. Out: the method's result. A method calls the function of its name; only methods
that differ from it, or have none, are defined here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import limits
from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.types import BFLOAT16, DType, is_complex
from ...ops import BitcastConvert, Transpose
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import NONE, Abstract, Array, Const, Ref, Tuple
from ...values.views import Reshaped
from ..containers import vectors
from ..context import Context, Raw
from ..kernels.layout import in_order, keep_order
from ..kernels.python_implementations import run_program
from ..kernels.structures import abstract, new_list, new_rows, sequence_items, type_name
from ..operands.bounded_arguments import whole_of
from ..operands.casting import assigned_value
from ..operands.libraries import JAX, NUMPY, Rules, refuse_forgotten
from ..operands.nested_sequences import is_sequence
from ..rules.jax import is_jax, is_none
from ..rules.promote import python_type
from .indexing.bounded import own_copy, raveled, refuse
from .indexing.bounded_operands import elementwise, only_element
from .indexing.stores import cast, dtype_of, shape_of, store_through
from .manipulation import order_of, rank_of
from .subscripts.subscripts import array_getitem, store_selected

Methods = dict[str, Callable[..., Abstract]]

_FUNCTIONS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "cumprod", "cumsum",
    "diagonal", "dot", "max", "mean", "min", "prod", "ravel", "repeat", "round", "searchsorted",
    "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
)  # fmt: skip
"""Methods that are the function of the same name, in `np` and in `jnp`."""


def _delegated(function: Any) -> Callable[..., Abstract]:
    """The method that calls `function` with the receiver first."""

    def call(ctx: Context, /, self: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
        return ctx.call(Const(function), [self, *args], kwargs)

    call.__name__ = function.__name__
    call.__doc__ = f"`{function.__name__}`, as a method."
    return call


def _rules(value: Raw) -> Rules:
    return JAX if is_jax(value) else NUMPY


# ---------------------------------------------------------------- shapes


def _reshape(ctx: Context, /, self: Raw, *shape: Raw, **options: Raw) -> Abstract:
    """`reshape(2, 3)` or `reshape((2, 3))`."""
    wanted = shape[0] if len(shape) == 1 else Tuple(tuple(shape))
    return ctx.call(Const(jnp.reshape if is_jax(self) else np.reshape), [self, wanted], options)


def _transpose(ctx: Context, self: Raw, *axes: Raw) -> Abstract:
    """`transpose()`, `transpose(1, 0)` or `transpose((1, 0))`."""
    order = [axes[0] if len(axes) == 1 else Tuple(tuple(axes))] if axes else []
    return ctx.call(Const(jnp.transpose if is_jax(self) else np.transpose), [self, *order])


def _flatten(ctx: Context, self: Raw, order: Raw = "C") -> Abstract:
    """A copy in one axis."""
    rules = _rules(self)
    which = order_of(ctx, order, "flatten", self)
    if isinstance(self, Bounded):
        if self.rank > 1 and which == "F":
            refuse(ctx, "flatten in another order", self)
        return own_copy(ctx, self) if self.rank == 1 else raveled(ctx, self)
    operand = rules.operand(ctx, self, "flatten")
    value = operand.value
    if which == "F" and operand.rank > 1:
        value = ctx.op(Transpose(tuple(reversed(range(operand.rank)))), value)
    return rules.array(ctx, ctx.reshape(value, (value.type.size,)), operand.weak)


def _compress(ctx: Context, self: Raw, condition: Raw, axis: Raw = None, out: Raw = None) -> Abstract:
    """The receiver is the second argument of the function."""
    options = {} if is_none(out) else {"out": out}
    return ctx.call(Const(jnp.compress if is_jax(self) else np.compress), [condition, self, axis], options)


def _nonzero(ctx: Context, self: Raw) -> Abstract:
    """Where it is not zero: one array of indices for each axis."""
    return ctx.call(Const(jnp.nonzero if is_jax(self) else np.nonzero), [self])


# ---------------------------------------------------------------- types and copies


def _astype(
    ctx: Context,
    self: Raw,
    dtype: Raw,
    order: Raw = "K",
    casting: Raw = "unsafe",
    subok: Raw = True,
    copy: Raw = True,
) -> Abstract:
    """The elements in another type; `copy=False` gives an ndarray of that type itself."""
    wanted = NUMPY.dtype(ctx, dtype, "astype")
    if isinstance(self, Bounded):
        if wanted == self.type.dtype and not ctx.known(copy, "copy of astype"):
            return self
        each = functools.partial(
            _astype, ctx, dtype=dtype, order=order, casting=casting, subok=subok, copy=copy
        )
        return elementwise(ctx, "the method astype", np.copy, each, self)
    rule = ctx.known(casting, "casting of astype")
    operand = NUMPY.operand(ctx, self, "astype")
    if not np.can_cast(operand.dtype, wanted, rule):
        kinds = f"from dtype({str(operand.dtype)!r}) to dtype({str(wanted)!r})"
        ctx.raise_(TypeError(f"Cannot cast array data {kinds} according to the rule {rule!r}"))
    if not ctx.known(copy, "copy of astype") and wanted == operand.dtype and ctx.is_ndarray(self):
        return self  # type: ignore[no-any-return]
    made = NUMPY.like(ctx, operand, cast(ctx, operand.value, wanted))
    which = ctx.known(order, "the order of astype")
    if which != "F":
        keep_order(ctx, made, self)
    return in_order(ctx, made, which)


def _jax_astype(ctx: Context, self: Raw, dtype: Raw, copy: Raw = False, device: Raw = None) -> Abstract:
    """`jax.Array.astype`: never of a weak type."""
    if not is_none(device):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="astype", argument="device"))
    wanted = JAX.dtype(ctx, dtype, "astype")
    if isinstance(self, Bounded):
        each = functools.partial(_jax_astype, ctx, dtype=dtype)
        return elementwise(ctx, "the method astype", np.copy, each, self)
    return ctx.jax(cast(ctx, JAX.operand(ctx, self, "astype").value, wanted, jax=True))


def _jax_sum(ctx: Context, /, self: Raw, *args: Raw, **options: Raw) -> Abstract:
    """`jnp.sum`, but for what JAX's method forgets."""
    given = {**dict(zip(("axis", "dtype", "out", "keepdims", "initial"), args)), **options}
    refuse_forgotten(ctx, "sum", given)
    return ctx.call(Const(jnp.sum), [self, *args], options)


def _copy(ctx: Context, self: Raw, order: Raw = "C") -> Abstract:
    """New memory with the same elements."""
    if isinstance(self, Bounded):
        return own_copy(ctx, self)
    rules = _rules(self)
    operand = rules.operand(ctx, self, "copy")
    made = rules.like(ctx, operand, operand.value)
    which = ctx.known(order, "the order of copy")
    if which in ("A", "K"):
        keep_order(ctx, made, self)
    elif isinstance(made, Ref):
        ctx.state.row_major.add(made.cell)
    return in_order(ctx, made, which)


def _view(ctx: Context, self: Raw, dtype: Raw = None) -> Abstract:
    """The same memory, or the same bits of an immutable value in another type of the same width."""
    if is_none(dtype):
        if not ctx.is_ndarray(self):
            return self  # type: ignore[no-any-return]
        return Ref(self.cell, (*self.path, Reshaped(shape_of(ctx, self))))
    rules, function = _rules(self), "the method view"
    if isinstance(dtype, Const) and isinstance(dtype.value, type) and issubclass(dtype.value, np.ndarray):
        instead = "compute with plain ndarrays, and view the result after the call"
        argument = f"the class {dtype.value.__name__}"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=function, argument=argument, instead=instead))
    operand, wanted = rules.operand(ctx, self, "view"), rules.dtype(ctx, dtype, "view")
    if wanted == operand.dtype:
        return _view(ctx, self)
    kinds = {wanted.kind, operand.dtype.kind}
    same = wanted.itemsize == operand.dtype.itemsize and not kinds & set("bc")
    if not same or ctx.is_ndarray(self):
        instead = f"view it before the call, and pass `x.view(np.{wanted})` in"
        argument = f"the type {wanted}"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=function, argument=argument, instead=instead))
    bits = ctx.op(BitcastConvert(wanted), operand.value)
    return rules.result(ctx, bits)


def _conjugate(ctx: Context, /, self: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
    """The conjugate; NumPy returns what is not complex itself."""
    if not is_jax(self) and not args and not kwargs:
        whole = whole_of(self)
        dtype = dtype_of(ctx, whole) if ctx.is_ndarray(whole) else whole.dtype
        if not is_complex(dtype) and dtype != BFLOAT16:
            return self  # type: ignore[no-any-return]
    return ctx.call(Const(jnp.conjugate if is_jax(self) else np.conjugate), [self, *args], kwargs)


def _choose(ctx: Context, self: Raw, *choices: Raw, out: Raw = None, mode: Raw = "raise") -> Abstract:
    """`choose(choices)` or `choose(first, second, …)`."""
    listed = choices[0] if len(choices) == 1 else Tuple(tuple(map(abstract, choices)))
    options = {"out": abstract(out), "mode": abstract(mode)}
    return ctx.call(Const(np.choose), [abstract(self), abstract(listed)], options)


def _clip(
    ctx: Context, self: Raw, min: Raw = None, max: Raw = None, out: Raw = None, *, casting: Raw = "same_kind"
) -> Abstract:
    """`clip(min, max)`, either of which may be left out."""
    limits = [abstract(min), abstract(max)]
    options = {"out": abstract(out), "casting": abstract(casting)}
    return ctx.call(Const(np.clip), [abstract(self), *limits], options)


# ---------------------------------------------------------------- in place


def _put(ctx: Context, self: Raw, indices: Raw, values: Raw, mode: Raw = "raise") -> Abstract:
    """Stores `values` at flat indices."""
    options = {"mode": abstract(mode)}
    return ctx.call(Const(np.put), [abstract(self), abstract(indices), abstract(values)], options)


def _stored(ctx: Context, self: Raw, new: Raw, memory: str = "assignment destination") -> Abstract:
    """Stores an array of the same shape and element type, or the number that all elements become."""
    if isinstance(self, Bounded):
        store_selected(ctx, self, new)
    else:
        assert isinstance(self, Ref)
        store_through(ctx, self, NUMPY.operand(ctx, new, "a method").value, memory=memory)
    return NONE


def _fill(ctx: Context, self: Raw, value: Raw) -> Abstract:
    """All elements are `value`; a NumPy scalar stays what it is, as in NumPy."""
    if not ctx.is_ndarray(whole_of(self)):
        return NONE
    dtype = dtype_of(ctx, whole_of(self))
    return _stored(
        ctx, self, ctx.new(assigned_value(ctx, _filling(ctx, value, dtype), dtype, "the filling value"))
    )


def _filling(ctx: Context, value: Raw, dtype: DType) -> Raw:
    """The value to fill an array of `dtype` with; raises what NumPy raises where it is no single number."""
    if is_sequence(ctx, value):
        name = type_name(ctx, value)
        if dtype.kind == "b":
            return ctx.truth(value)
        if dtype.kind in "iu":
            wanted = "int() argument must be a string, a bytes-like object or a real number"
            ctx.raise_(TypeError(f"{wanted}, not '{name}'"))
        if dtype.kind == "c":
            ctx.raise_(TypeError(f"must be real number, not {name}"))
        ctx.raise_(ValueError("setting an array element with a sequence."))
    read = ctx.read(value)
    if isinstance(read, Array) and read.shape and (dtype.kind != "b" or math.prod(read.shape) != 1):
        if dtype.kind == "c":
            ctx.raise_(TypeError("only 0-dimensional arrays can be converted to Python scalars"))
        ctx.raise_(ValueError("setting an array element with a sequence."))
    return value


def _sort(ctx: Context, /, self: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
    """Sorts the memory of an ndarray."""
    made = ctx.call(Const(np.sort), [self, *args], kwargs)
    return _stored(ctx, self, made, "sort array")


def _partition(ctx: Context, /, self: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
    """Brings the memory of an ndarray into an order in which the `kth` element is in its place."""
    made = ctx.call(Const(np.partition), [self, *args], kwargs)
    return _stored(ctx, self, made, "partition array")


# ---------------------------------------------------------------- Python objects


def _to_python(ctx: Context, element: Abstract) -> Abstract:
    """A scalar as the Python number that it is."""
    read = ctx.read(element)
    kind = type(read.value.item()) if isinstance(read, Const) else python_type(read.dtype)
    return ctx.call(Const(kind), [element])


def _item(ctx: Context, self: Raw, *args: Raw) -> Abstract:
    """One element as a Python number: the only one, that at a flat index, or that at an index of all axes."""
    index = (sequence_items(ctx, args[0]) if len(args) == 1 else None) or args
    if isinstance(self, Bounded):
        if not index:
            return _to_python(ctx, ctx.new(only_element(ctx, self, _the_item).value))
        if len(index) not in (1, self.rank):
            ctx.raise_(ValueError("incorrect number of indices for array"))
        array = raveled(ctx, self) if len(index) == 1 else self
        return _to_python(ctx, array_getitem(ctx, array, Tuple(tuple([abstract(i) for i in index]))))
    rules = _rules(self)
    operand = rules.operand(ctx, self, "item")
    size = operand.value.type.size
    if not index:
        if size != 1:
            ctx.raise_(ValueError("can only convert an array of size 1 to a Python scalar"))
        return _to_python(ctx, rules.result(ctx, ctx.reshape(operand.value, ())))
    flat = operand.value if len(index) > 1 else ctx.reshape(operand.value, (size,))
    if len(index) not in (1, operand.rank):
        ctx.raise_(ValueError("incorrect number of indices for array"))
    return _to_python(ctx, array_getitem(ctx, NUMPY.array(ctx, flat), Tuple(tuple(index))))


def _the_item(array: Any) -> object:
    return array.item()


def _tolist(ctx: Context, self: Raw) -> Abstract:
    """Nested lists of Python numbers; a number for an array without axes."""
    rules = _rules(self)
    rank = rank_of(ctx, rules, self, "tolist")
    rows = vectors.of_array(ctx, self, Form.PYTHON) if rank == 1 else None
    if rows is not None:
        return new_rows(ctx, rows)
    if isinstance(self, Bounded) and rank > 1:
        return run_program(ctx, nested_lists, (self,))
    operand = rules.operand(ctx, self, "tolist")
    if operand.value.type.size > limits.LISTED_ARRAY_ELEMENTS:
        if operand.rank > 1:
            return run_program(ctx, nested_lists, (self,))
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="tolist", argument="array: it has many elements"))
    array = rules.array(ctx, operand.value)
    if not operand.rank:
        return _to_python(ctx, array)
    return _nested(ctx, array, operand.shape, ())


def nested_lists(a: Any) -> Any:
    """The lists of the rows of an array, in a list."""
    return [row.tolist() for row in a]


def _nested(ctx: Context, array: Abstract, shape: tuple[int, ...], index: tuple[int, ...]) -> Abstract:
    if not shape:
        return _to_python(ctx, array_getitem(ctx, array, Tuple(tuple([Const(i) for i in index]))))
    return new_list(ctx, [_nested(ctx, array, shape[1:], (*index, i)) for i in range(shape[0])])


def _itself(ctx: Context, self: Raw) -> Abstract:
    """`block_until_ready` and the like: the array itself."""
    return self  # type: ignore[no-any-return]


# ---------------------------------------------------------------- the tables

_COMMON: Methods = {
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "compress": _compress,
    "nonzero": _nonzero,
    "copy": _copy,
    "view": _view,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "item": _item,
    "tolist": _tolist,
}

NUMPY_METHODS: Methods = {
    **{name: _delegated(getattr(np, name)) for name in _FUNCTIONS},
    **_COMMON,
    "astype": _astype,
    "choose": _choose,
    "clip": _clip,
    "fill": _fill,
    "partition": _partition,
    "put": _put,
    "sort": _sort,
}
"""The methods of ndarrays and of NumPy scalars."""

JAX_METHODS: Methods = {
    **{name: _delegated(getattr(jnp, name)) for name in (*_FUNCTIONS, "choose", "clip", "ptp", "sort")},
    **_COMMON,
    "astype": _jax_astype,
    "sum": _jax_sum,
    "block_until_ready": _itself,
}
"""The methods of `jax.Array`s."""
