"""Creation of arrays: `zeros`, `full`, `arange`, `array` and their kin.

Shapes and element types must be constants, values need not be. `np.array` copies; `np.asarray` of an ndarray returns
that ndarray.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import limits, ops
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_types import ArgumentNotStaged, DTypeNotStaged, NoSuchOperation
from ...hlo.ir import Value
from ...hlo.types import INT64, MOST_AXES, SHORT_NAMES, ArrayType, DType, is_complex, is_integer
from ...values.bounded import Bounded
from ...values.lattice import NONE, Abstract, Array, Const, NumberKind, Ref, Tuple
from ...values.views import Reshaped
from ..containers.sequences import as_array_argument
from ..context import Context, Raw
from ..kernels.exact_numbers import multiples
from ..kernels.layout import (
    in_order,
    is_contiguous,
    is_doubtful,
    keep_order,
    keeps_order,
    note_copy,
    note_given_back,
    note_possible_copy,
)
from ..kernels.structures import abstract, known_object
from ..operands.bounded_arguments import decided, is_bounded
from ..operands.casting import array_value, filling_value
from ..operands.known_calls import is_computed
from ..operands.libraries import ArrayArgument, Rules, twins, with_views
from ..operands.nested_sequences import array_argument, is_sequence, nested
from ..operands.rows_as_arrays import arrays_of_rows
from ..python.operators import binary
from ..registry import meaning
from ..rules.jax import axis_of, canonical, integer, is_none
from ..rules.promote import kinds_of, numpy_common
from .bounded_shapes import lies_in_order
from .indexing.bounded import first_elements, refuse
from .indexing.computed_shapes import bound_of, computed_shape, size_of
from .indexing.stores import cast, dtype_of, fit, stored_value
from .subscripts.flat import flat_of
from .subscripts.subscripts import array_getitem


def known_shape(ctx: Context, raw: Raw, function: str) -> tuple[int, ...]:
    """A shape argument: an integer or a sequence of them; ValueError for negative ones."""
    given = ctx.known(raw, f"the shape of {function}")
    try:
        shape = tuple([operator.index(n) for n in given]) if np.ndim(given) else (operator.index(given),)
    except (TypeError, ValueError) as error:
        ctx.raise_(TypeError(str(error)))
    if any(n < 0 for n in shape):
        ctx.raise_(ValueError("negative dimensions are not allowed"))
    return shape


def filled(ctx: Context, number: object, shape: tuple[int, ...], dtype: DType) -> Value:
    """An array of one number."""
    return ctx.broadcast(ctx.constant(number, dtype), shape)


def order_argument(ctx: Context, rules: Rules, order: Raw, function: str) -> str | None:
    """The order in memory that is asked for: C, F, A, K or None. A `jax.Array` has none."""
    given = ctx.known(order, f"the order of {function}")
    if given not in (None, "C", "K", "A", "F") or (given == "F" and rules.is_jax):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=function, argument="order"))
    return given  # type: ignore[no-any-return]


def type_argument(ctx: Context, rules: Rules, dtype: Raw, function: str, default: DType) -> DType:
    """A dtype argument, or the default where it is None."""
    return default if is_none(dtype) else rules.dtype(ctx, dtype, function)


def _constant_array(
    number: object, name: str, ctx: Context, rules: Rules, shape: Raw, dtype: Raw, order: Raw
) -> Abstract:
    which = order_argument(ctx, rules, order, name)
    wanted = type_argument(ctx, rules, dtype, name, rules.default_float(ctx))
    computed = computed_shape(ctx, shape, name)
    if computed is not None:
        return computed.of(ctx, rules.array(ctx, filled(ctx, number, computed.extents, wanted)))
    made = rules.array(ctx, filled(ctx, number, known_shape(ctx, shape, name), wanted))
    return in_order(ctx, made, which)


@twins(np.zeros, jnp.zeros, delegates=False)
def zeros(ctx: Context, rules: Rules, shape: Raw, dtype: Raw = None, order: Raw = "C") -> Abstract:
    """An array of zeros."""
    return _constant_array(0, "zeros", ctx, rules, shape, dtype, order)


@twins(np.ones, jnp.ones, delegates=False)
def ones(ctx: Context, rules: Rules, shape: Raw, dtype: Raw = None, order: Raw = "C") -> Abstract:
    """An array of ones."""
    return _constant_array(1, "ones", ctx, rules, shape, dtype, order)


@twins(np.empty, jnp.empty, delegates=False)
def empty(ctx: Context, rules: Rules, shape: Raw, dtype: Raw = None, order: Raw = "C") -> Abstract:
    """An array of unspecified elements, here zeros."""
    return _constant_array(0, "empty", ctx, rules, shape, dtype, order)


@meaning(np.ndarray)
def ndarray(
    ctx: Context,
    shape: Raw,
    dtype: Raw = float,
    buffer: Raw = None,
    offset: Raw = 0,
    strides: Raw = None,
    order: Raw = None,
) -> Abstract:
    """A new array of unspecified elements, as of `np.empty`; not one over memory that there is."""
    if not (is_none(buffer) and is_none(strides) and ctx.known(offset, "the offset of np.ndarray") == 0):
        ctx.fail(
            ArgumentNotStaged(span=ctx.span, function="np.ndarray", argument="buffer, offset or strides")
        )
    return ctx.call(Const(np.empty), [abstract(a) for a in (shape, dtype, "C" if is_none(order) else order)])


@twins(np.full, jnp.full, delegates=False)
def full(
    ctx: Context, rules: Rules, shape: Raw, fill_value: Raw, dtype: Raw = None, order: Raw = "C"
) -> Abstract:
    """An array of one value, or of an array broadcast to the shape."""
    which = order_argument(ctx, rules, order, "full")
    fill = array_argument(ctx, rules, fill_value, "full")
    wanted = type_argument(ctx, rules, dtype, "full", fill.dtype)
    computed = computed_shape(ctx, shape, "full") if not fill.rank else None
    if computed is not None:
        made = _filled_with(ctx, rules, computed.extents, fill_value, fill, wanted, is_none(dtype))
        return computed.of(ctx, made)
    extents = known_shape(ctx, shape, "full")
    made = _filled_with(ctx, rules, extents, fill_value, fill, wanted, is_none(dtype))
    return in_order(ctx, made, which)


def _filled_with(
    ctx: Context,
    rules: Rules,
    shape: tuple[int, ...],
    raw: Raw,
    fill: ArrayArgument,
    dtype: DType,
    keeps_weak: bool,
) -> Abstract:
    value = fill.value
    if value.type.dtype != dtype:
        if is_sequence(ctx, raw):
            value = cast(ctx, value, dtype, rules.is_jax)
        elif rules.is_jax:
            value = stored_value(ctx, raw, dtype, "fill_value", jax=True)
        else:
            value = filling_value(ctx, ctx.read(raw), dtype, "fill_value")
    own = value.type.shape
    if not rules.is_jax:
        return rules.array(ctx, fit(ctx, value, shape))
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(own[::-1], shape[::-1])):
        texts = [str(s).replace(", ", ",") for s in (own, shape)]
        text = f"could not broadcast input array from shape {texts[0]} into shape {texts[1]}"
        ctx.raise_(ValueError(text))
    return rules.array(ctx, ctx.broadcast(value, shape), fill.weak and keeps_weak)


def _like(
    ctx: Context, rules: Rules, a: Raw, dtype: Raw, shape: Raw, function: str
) -> tuple[tuple[int, ...], DType, bool]:
    """Shape, element type and weak type of an array like `a`."""
    given = rules.operand(ctx, a, function)
    wanted = type_argument(ctx, rules, dtype, function, given.dtype)
    extent = given.shape if is_none(shape) else known_shape(ctx, shape, function)
    return extent, wanted, given.weak and is_none(dtype)


def _ordered(
    ctx: Context, rules: Rules, a: Raw, value: Value, weak: bool, order: str | None = "K"
) -> Abstract:
    """A new array, which NumPy stores in an order: A and K are that of `a`."""
    made = in_order(ctx, rules.array(ctx, value, weak), order)
    if order != "F":
        keep_order(ctx, made, a)
    return made


def _declare_like(name: str, number: int, what: str) -> None:
    """Declares `zeros_like` or `ones_like`."""

    def call(
        ctx: Context,
        rules: Rules,
        a: Raw,
        dtype: Raw = None,
        order: Raw = "K",
        subok: Raw = True,
        shape: Raw = None,
    ) -> Abstract:
        which = order_argument(ctx, rules, order, name)
        extent, wanted, weak = _like(ctx, rules, a, dtype, shape, name)
        return _ordered(ctx, rules, a, filled(ctx, number, extent, wanted), weak, which)

    call.__name__, call.__doc__ = name, what
    twins(getattr(np, name), getattr(jnp, name), delegates=False)(call)


_declare_like("zeros_like", 0, "Zeros of the shape and element type of `a`.")
_declare_like("ones_like", 1, "Ones of the shape and element type of `a`.")


@twins(np.empty_like, jnp.empty_like, delegates=False)
def empty_like(
    ctx: Context,
    rules: Rules,
    prototype: Raw,
    dtype: Raw = None,
    order: Raw = "K",
    subok: Raw = True,
    shape: Raw = None,
) -> Abstract:
    """An array like `prototype` of unspecified elements, here zeros."""
    which = order_argument(ctx, rules, order, "empty_like")
    extent, wanted, weak = _like(ctx, rules, prototype, dtype, shape, "empty_like")
    return _ordered(ctx, rules, prototype, filled(ctx, 0, extent, wanted), weak, which)


@twins(np.full_like, jnp.full_like, delegates=False)
def full_like(
    ctx: Context,
    rules: Rules,
    a: Raw,
    fill_value: Raw,
    dtype: Raw = None,
    order: Raw = "K",
    subok: Raw = True,
    shape: Raw = None,
) -> Abstract:
    """One value in the shape and element type of `a`."""
    which = order_argument(ctx, rules, order, "full_like")
    extent, wanted, weak = _like(ctx, rules, a, dtype, shape, "full_like")
    fill = array_argument(ctx, rules, fill_value, "full_like")
    made = _filled_with(ctx, rules, extent, fill_value, fill, wanted, False)
    return _ordered(ctx, rules, a, rules.operand(ctx, made, "full_like").value, weak, which)


# ---------------------------------------------------------------- copies


def _order_and_rank(ctx: Context, value: Value, ndmin: Raw) -> Value:
    """Axes of one element in front, up to `ndmin` axes."""
    missing = integer(ctx, ndmin, "ndmin") - value.type.rank
    return ctx.reshape(value, (*([1] * max(missing, 0)), *value.type.shape))


def converted(ctx: Context, rules: Rules, raw: Raw, dtype: Raw, function: str) -> tuple[Value, bool]:
    """`raw` (a nested sequence too) as an array of the element type asked for, and its weak type."""
    if is_none(dtype):
        given = nested(ctx, rules, raw, function)
        return given.value, given.weak and not is_sequence(ctx, raw)
    wanted = rules.dtype(ctx, dtype, function)
    if not rules.is_jax:
        return array_value(ctx, raw, wanted, function), False
    read = raw if is_sequence(ctx, raw) else ctx.read(raw)
    if isinstance(read, Const):
        return stored_value(ctx, read, wanted, function, jax=True), False
    return cast(ctx, nested(ctx, rules, raw, function).value, wanted, rules.is_jax), False


@twins(np.array, jnp.array, delegates=False)
def array(
    ctx: Context,
    rules: Rules,
    object: Raw,
    dtype: Raw = None,
    *,
    copy: Raw = True,
    order: Raw = "K",
    subok: Raw = False,
    ndmin: Raw = 0,
    ndmax: Raw = None,
) -> Abstract:
    """A new array of numbers, nested sequences or another array."""
    which = order_argument(ctx, rules, order, "array")
    if not rules.is_jax and _copies(ctx, copy, "array"):
        object = as_array_argument(ctx, object)
    object = _as_one(ctx, rules, object, dtype)
    if not is_none(ndmax):
        most = integer(ctx, ndmax, "ndmax of array")
        if not 0 <= most <= MOST_AXES:
            ctx.raise_(ValueError(f"ndmax must be in the range [0, NPY_MAXDIMS ({MOST_AXES})] "))
        rank = object.rank if isinstance(object, Bounded) else nested(ctx, rules, object, "array").rank
        if rank > most:
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="array", argument="a smaller `ndmax`"))
    if _copies(ctx, copy, "array") is not True:
        return _shared(ctx, rules, object, dtype, copy, "array", which, ndmin)
    if isinstance(object, Bounded):
        return _copied(ctx, rules, object, dtype, which, ndmin)
    value, weak = converted(ctx, rules, object, dtype, "array")
    return in_order(ctx, rules.array(ctx, _order_and_rank(ctx, value, ndmin), weak), which)


_NO_COPY = """Unable to avoid copy while creating an array as requested.
If using `np.array(obj, copy=False)` replace it with `np.asarray(obj)` to allow a copy when needed (no behavior change in \
NumPy 1.x).
For more details, see https://numpy.org/devdocs/numpy_2_0_migration_guide.html#adapting-to-changes-in-the-copy-keyword."""


def _copies(ctx: Context, copy: Raw, function: str) -> bool | None:
    """Whether the result of `np.array` is a copy; None: where one is needed. Any object is taken by its truth."""
    given = ctx.known(copy, f"copy of {function}")
    if isinstance(given, str):
        ctx.raise_(ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead."))
    return None if given is None or given is np._CopyMode.IF_NEEDED else bool(given)


def _as_one(ctx: Context, rules: Rules, raw: Raw, dtype: Raw) -> Raw:
    """A sequence of bounded arrays, or one of computed length, as one array; anything else as it is."""
    if rules.is_jax:
        raw = arrays_of_rows(ctx, raw, jnp.array, not is_none(dtype), rules)
    raw = decided(ctx, raw)
    if isinstance(raw, Bounded) or not is_bounded(ctx, raw):
        return raw
    return ctx.call(Const(rules.module.stack), [abstract(raw)])


def _copied(ctx: Context, rules: Rules, a: Bounded, dtype: Raw, order: str | None, ndmin: Raw) -> Abstract:
    """A new array of the elements of a bounded array."""
    if order == "F" and a.rank > 1:
        refuse(ctx, f"{rules.name}.array in another order", a)
    converts = not is_none(dtype) and (a.weak or rules.dtype(ctx, dtype, "array") != a.type.dtype)
    name, args = ("astype", [abstract(dtype)]) if converts else ("copy", [])
    made = ctx.call(ctx.getattr(a, name), args)
    missing = integer(ctx, ndmin, "ndmin") - a.rank
    return array_getitem(ctx, made, Tuple((*[NONE] * missing, Const(...)))) if missing > 0 else made


def _contiguous(ctx: Context, a: Ref | Bounded, order: str) -> Abstract:
    """An ndarray itself where its elements lie in an order, C or F, else a copy."""
    if isinstance(a, Bounded):
        if a.rank > 1 and order == "F":
            refuse(ctx, "an array in another order", a)
        if lies_in_order(ctx, a):
            return a
        made = ctx.call(ctx.getattr(a, "copy"), [])
        assert isinstance(a.whole, Ref) and isinstance(made, Bounded)
        note_possible_copy(ctx, a.whole, made.whole)
        return made
    shared = is_contiguous(ctx, a, order)
    if shared is False or is_doubtful(ctx, a):
        made = in_order(ctx, ctx.ndarray(ctx.contents(a)), order)
        note_copy(ctx, a, made)
        return made
    note_given_back(ctx, a)
    return a if shared is True else ctx.alias_if(a, shared)


def _is_another_object(ctx: Context, dtype: Raw, own: DType) -> bool:
    """True for an `np.dtype` that equals the array's, and is a copy of it: NumPy makes a view."""
    known = known_object(ctx, dtype)
    return isinstance(known, np.dtype) and known is not np.dtype(own.type)


def _shared(
    ctx: Context,
    rules: Rules,
    a: Raw,
    dtype: Raw,
    copy: Raw,
    function: str,
    order: str | None,
    ndmin: Raw = 0,
) -> Abstract:
    """The ndarray itself where nothing needs to be converted, else a new array."""
    wanted = _copies(ctx, copy, function)
    a = _as_one(ctx, rules, a, dtype)
    if isinstance(a, Bounded) and rules.is_jax and is_none(dtype):
        return a
    if not rules.is_jax and flat_of(ctx, a) is not None:
        why = "whether it is a copy, and may be stored to, depends on how the array lies in memory"
        instead = "make a copy, `x.flat.copy()`, or a view, `x.reshape(-1)`"
        name = f"np.{function} of x.flat"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    if not rules.is_jax and wanted is not True and (isinstance(a, Bounded) or ctx.is_ndarray(a)):
        own = a.type.dtype if isinstance(a, Bounded) else dtype_of(ctx, a)
        same = is_none(dtype) or rules.dtype(ctx, dtype, function) == own
        if same and _is_another_object(ctx, dtype, own):
            why = "whether it is the array itself depends on which object the element type is"
            name, instead = f"np.{function} with an equal `np.dtype`", f"write `np.{own}`"
            ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
        if same and integer(ctx, ndmin, "ndmin") == 0:
            ordered = a if order in ("C", "F") and isinstance(a, Ref | Bounded) else None
            if wanted is None and ordered is not None:
                return _contiguous(ctx, ordered, str(order))
            if isinstance(ordered, Bounded):
                refuse(ctx, f"np.{function} without a copy in this order", ordered)
            if ordered is None or keeps_order(ctx, ordered, str(order)):
                return a  # type: ignore[no-any-return]
    if wanted is False:
        ctx.raise_(ValueError(_NO_COPY))
    if isinstance(a, Bounded):
        return _copied(ctx, rules, a, dtype, order, ndmin)
    value, weak = converted(ctx, rules, a, dtype, function)
    return _ordered(ctx, rules, a, _order_and_rank(ctx, value, ndmin), weak, order)


@twins(np.asarray, jnp.asarray, delegates=False)
def asarray(
    ctx: Context, rules: Rules, a: Raw, dtype: Raw = None, order: Raw = None, *, copy: Raw = None
) -> Abstract:
    """`a` as an array: an ndarray of the right element type is given back as it is."""
    return _shared(ctx, rules, a, dtype, copy, "asarray", order_argument(ctx, rules, order, "asarray"))


@twins(np.asanyarray, None, delegates=False)
def asanyarray(
    ctx: Context, rules: Rules, a: Raw, dtype: Raw = None, order: Raw = None, *, copy: Raw = None
) -> Abstract:
    """As `asarray`: there are no subclasses."""
    return _shared(ctx, rules, a, dtype, copy, "asanyarray", order_argument(ctx, rules, order, "asanyarray"))


@twins(np.ascontiguousarray, None, delegates=False)
def ascontiguousarray(ctx: Context, rules: Rules, a: Raw, dtype: Raw = None) -> Abstract:
    """`a` in row-major order, with at least one axis."""
    made = _shared(ctx, rules, a, dtype, None, "ascontiguousarray", "C")
    if isinstance(made, Bounded):
        return made
    if rules.operand(ctx, made, "ascontiguousarray").rank:
        return made
    return with_views(ctx, rules, made, (Reshaped((1,)),), "ascontiguousarray")


@twins(np.asfortranarray, None, delegates=False)
def asfortranarray(ctx: Context, rules: Rules, a: Raw, dtype: Raw = None) -> Abstract:
    """`a` in column-major order, with at least one axis."""
    made = _shared(ctx, rules, a, dtype, None, "asfortranarray", "F")
    if isinstance(made, Bounded):
        return made
    if rules.operand(ctx, made, "asfortranarray").rank:
        return made
    return with_views(ctx, rules, made, (Reshaped((1,)),), "asfortranarray")


@twins(np.copy, jnp.copy, delegates=False)
def copy(ctx: Context, rules: Rules, a: Raw, order: Raw = "K", subok: Raw = False) -> Abstract:
    """A new array of the same elements."""
    which = order_argument(ctx, rules, order, "copy")
    given = array_argument(ctx, rules, a, "copy")
    return _ordered(ctx, rules, a, given.value, given.weak, which)


# ---------------------------------------------------------------- ranges


@twins(np.arange, jnp.arange, delegates=False)
def arange(
    ctx: Context, rules: Rules, start: Raw, stop: Raw = None, step: Raw = None, dtype: Raw = None
) -> Abstract:
    """`start, start + step, …` before `stop`; all three are known, or integers of the program."""
    computed = _computed_range(ctx, rules, start, stop, step, dtype)
    if computed is not None:
        return computed
    first, last, by = [ctx.known(v, "a bound of arange, and so its size,") for v in (start, stop, step)]
    if last is None:
        first, last = 0, first
    by = 1 if by is None else by
    if any(isinstance(v, complex | np.complexfloating) for v in (first, last, by)):
        ctx.fail(NoSuchOperation(span=ctx.span, operation="arange", types="complex"))
    try:
        zeros = [type(v)(0) if isinstance(v, float | np.floating) else v * 0 for v in (first, last, by)]
        found = np.arange(zeros[0], zeros[1], zeros[2] + 1).dtype
    except (TypeError, ValueError) as error:
        ctx.raise_(error)
    default = canonical(found, ctx.x64) if rules.is_jax else found
    wanted = type_argument(ctx, rules, dtype, "arange", default)
    if wanted not in SHORT_NAMES:
        ctx.fail(DTypeNotStaged(span=ctx.span, what="arange", dtype=str(wanted)))
    if by == 0:
        ctx.raise_(ZeroDivisionError("division by zero"))
    wraps = rules.is_jax and is_integer(wanted)
    try:
        size = _length(first, last, by)
        if size and not wraps:  # of the first two numbers NumPy asks that the type holds them
            np.arange(first, last if size == 1 else first + 2 * by, by, dtype=wanted)
        if size <= limits.CONSTANT_ELEMENTS:
            numbers = np.arange(first, last, by, dtype=None if wraps else wanted)
            return rules.array(ctx, ctx.constant(numbers.astype(wanted), wanted))
    except (OverflowError, ValueError) as error:
        ctx.raise_(error)
    distance = (first + by) - first if found.kind == "f" else by  # as NumPy rounds it
    positions = ctx.op(ops.Iota(ArrayType(wanted, (size,)), 0))
    if distance != 1:
        positions = ctx.op(ops.Multiply(), positions, filled(ctx, distance, (size,), wanted))
    if first != 0:
        positions = ctx.op(ops.Add(), positions, filled(ctx, first, (size,), wanted))
    return rules.array(ctx, positions)


def _computed_range(
    ctx: Context, rules: Rules, start: Raw, stop: Raw, step: Raw, dtype: Raw
) -> Abstract | None:
    """As `arange`, of integers that only the run knows; None of others."""
    given = [abstract(x) for x in (start, stop, step)]
    if all(isinstance(x, Const) or (isinstance(x, Array) and ctx.can_be_known(x)) for x in given):
        return None
    numbers = [Const(None) if is_none(x) else ctx.read(x) for x in given]
    if not all(is_integer(x.dtype) if isinstance(x, Array) else _is_int(x.value) for x in numbers):
        return None
    first, last, by = numbers
    if is_none(last):
        first, last = Const(0), first
    if is_none(by):
        by = Const(1)
    found = ctx.call(Const(range), [first, last, by])
    count = ctx.call(Const(len), [found])
    if not isinstance(count, Array):
        return None
    kinds = numpy_common(tuple([k for x in numbers if not is_none(x) for k in kinds_of(x)]))
    default = canonical(kinds, ctx.x64) if rules.is_jax else kinds
    wanted = type_argument(ctx, rules, dtype, "arange", default)
    made = ctx.call(Const(jnp.arange if rules.is_jax else np.arange), [Const(bound_of(ctx, count, "arange"))])
    assert isinstance(made, Ref | Array)
    positions: Abstract = first_elements(ctx, made, {0: size_of(ctx, count)})
    for op, number in (("*", by), ("+", first)):
        if not (isinstance(number, Const) and number.value == (op == "*")):
            positions = binary(ctx, op, positions, number)
    return ctx.call(ctx.getattr(positions, "astype"), [Const(wanted)])


def _is_int(value: object) -> bool:
    return value is None or (isinstance(value, int | np.integer) and not isinstance(value, bool))


def _length(first: Any, last: Any, by: Any) -> int:
    """The length of `np.arange`; raises ValueError and OverflowError as it does."""
    parts: float = (last - first) / by
    if not math.isfinite(parts) or parts >= 2**63:
        return len(np.arange(first, last, by))
    if parts == 0 and last != first:  # too small for a float, or a step without end
        return 0 if math.copysign(1.0, parts) < 0 else 1
    return max(math.ceil(parts), 0)


@twins(np.linspace, None, delegates=False, fold=True)
def linspace(
    ctx: Context,
    rules: Rules,
    start: Raw,
    stop: Raw,
    num: Raw = 50,
    endpoint: Raw = True,
    retstep: Raw = False,
    dtype: Raw = None,
    axis: Raw = 0,
) -> Abstract:
    """`num` numbers at equal distances; the ends may be staged and may be arrays."""
    size, count = _samples(ctx, num)
    closed = bool(ctx.known(endpoint, "endpoint of linspace"))
    ends = [array_argument(ctx, rules, e, "linspace") for e in (start, stop)]
    real = rules.inexact(ctx, numpy_common(tuple([NumberKind(e.dtype, e.form) for e in ends])))
    wanted = type_argument(ctx, rules, dtype, "linspace", real)
    shape = np.broadcast_shapes(*[e.shape for e in ends])
    first, last = [ctx.broadcast(ctx.convert(e.value, real), shape) for e in ends]
    width, whole = ctx.op(ops.Subtract(), last, first), (count, *shape)
    parts = (
        size - closed if isinstance(size, int) else ctx.op(ops.Subtract(), size, ctx.constant(closed, INT64))
    )
    if isinstance(parts, int):
        step = ctx.op(ops.Divide(), width, filled(ctx, parts or np.nan, shape, real))
        by = step if parts else width
        positions = ctx.constant(np.arange(count).reshape(-1, *[1] * len(shape)), real)
    else:
        least = ctx.op(ops.Maximum(), parts, ctx.constant(1, INT64))
        step = by = ctx.op(ops.Divide(), width, ctx.broadcast(ctx.convert(least, real), shape))
        positions = ctx.op(ops.Iota(ArrayType(real, whole), 0))
    value = multiples(ctx, ctx.broadcast(by, whole), ctx.broadcast(positions, whole), count)
    value = ctx.op(ops.Add(), value, ctx.broadcast(first, whole))
    if closed and count > 1:
        value = _with_last(ctx, value, parts, last)
    if wanted.kind in "iu" and not is_complex(real):
        value = ctx.op(ops.Floor(), value)
    result = rules.array(ctx, _moved(ctx, cast(ctx, value, wanted), axis))
    if not isinstance(size, int):
        assert isinstance(result, Ref | Array)
        result = first_elements(ctx, result, {axis_of(ctx, axis, len(whole), "linspace"): size})
    if not ctx.known(retstep, "retstep of linspace"):
        return result
    if not isinstance(size, int):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.linspace", argument="retstep here"))
    if not rules.is_jax and size <= closed:
        return Tuple((result, Const(np.nan)))
    return Tuple((result, rules.result(ctx, step)))


def _samples(ctx: Context, num: Raw) -> tuple[int | Value, int]:
    """The number of samples of `np.linspace`, and a bound of it; ValueError where it is negative."""
    if not is_computed(ctx, num):
        count = integer(ctx, num, "num of linspace")
        if count < 0:
            ctx.raise_(ValueError(f"Number of samples, {count}, must be non-negative."))
        return count, count
    number = ctx.read(num)
    if not isinstance(number, Array) or not is_integer(number.dtype):
        ctx.raise_(TypeError("'float' object cannot be interpreted as an integer"))
    size = ctx.convert(number.value, INT64)
    if ctx.range_of(number)[0] < 0:
        negative = ctx.op(ops.Compare("LT"), size, ctx.constant(0, INT64))
        ctx.check(negative, ValueError(), _refuse_samples, [number])
    return size, bound_of(ctx, number, "np.linspace")


def _refuse_samples(num: int) -> None:
    np.linspace(0, 1, num)


def _with_last(ctx: Context, value: Value, place: int | Value, last: Value) -> Value:
    """`value` with the exact end in its row at this place, unless that is the first; a known one is the last."""
    shape = value.type.shape
    if isinstance(place, int):
        kept = ctx.op(ops.Slice((0,) * len(shape), (shape[0] - 1, *shape[1:]), (1,) * len(shape)), value)
        return ctx.op(ops.Concatenate(0), kept, ctx.reshape(last, (1, *shape[1:])))
    at = ctx.op(ops.Compare("EQ"), ctx.op(ops.Iota(ArrayType(INT64, shape), 0)), ctx.broadcast(place, shape))
    several = ctx.broadcast(ctx.op(ops.Compare("GT"), place, ctx.constant(0, INT64)), shape)
    return ctx.op(ops.Select(), ctx.op(ops.And(), at, several), ctx.broadcast(last, shape), value)


def _moved(ctx: Context, value: Value, axis: Raw) -> Value:
    """The first axis moved to `axis`."""
    at = axis_of(ctx, axis, value.type.rank, "linspace")
    order = list(range(1, value.type.rank))
    order.insert(at, 0)
    return value if at == 0 else ctx.op(ops.Transpose(tuple(order)), value)
