"""Application of elementwise functions: NumPy's ufuncs and their twins in JAX.

In: an `ElementwiseFunction` (declared in `ufuncs.py`) and abstract operands. Out: abstract results, in the element types
of NumPy or JAX. NumPy's `out=`, `where=` and `dtype=` are supported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from .....records import dataclass
from ....ad.calculus import differentiable
from ....diagnostics.codes_types import ArgumentNotStaged, NoCast, NotNumeric
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, UINT64, DType, is_integer
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.gated import GatedNumber
from ....values.lattice import Abstract, Array, Const, NumberKind, Ref, Tuple, is_number
from ...context import Context, Raw
from ...kernels.arithmetic import select
from ...kernels.structures import MISSING, call_now, known_object
from ...rules.jax import as_dtype, is_none
from ...rules.promote import (
    SAME_KIND,
    Casting,
    LoopTypes,
    Operand,
    broadcast_shape,
    fits,
    jax_common,
    kinds_of,
    numpy_loop,
    resolve,
    result,
    shape_of,
    value_of,
)
from ...rules.split import NeedsSplit, split_operation
from ..indexing.bounded import only_where, refuse, same_number
from ..indexing.bounded_operands import elementwise, same_places
from ..indexing.stores import cast, dtype_of, returned_out, shape_text, store_through
from ..indexing.stores import shape_of as target_shape
from ..subscripts.subscripts import store_selected

DTypeMap = Callable[[DType], DType]


def same(dtype: DType) -> DType:
    """The same type."""
    return dtype


def boolean(dtype: DType) -> DType:
    """Booleans, whatever the operands are."""
    return BOOL


@dataclass(frozen=True, eq=False)
class ElementwiseFunction:
    """A function of NumPy and JAX that works element by element.

    `kernel` computes it on values of the loop's types. For JAX: `inputs` makes the computation's type of the
    operands' common one, `output` the result's type of that, and `domain` are the kinds of type it takes
    (`b` boolean, `i` signed, `u` unsigned, `f` floating, `c` complex). `strong`: for these kinds JAX's result is
    never weak.
    """

    name: str
    ufunc: np.ufunc
    kernel: Callable[..., Value | tuple[Value, ...]]
    inputs: DTypeMap = same
    output: DTypeMap = same
    domain: str = "biufc"
    comparison: bool = False
    strong: str = ""

    def jax_loop(self, ctx: Context, kinds: tuple[NumberKind, ...]) -> LoopTypes | None:
        """The loop by JAX's rules."""
        key = self, kinds
        if key not in ctx.jax_loops:
            ctx.jax_loops[key] = self._jax_loop(ctx, kinds)
        loop: LoopTypes | None = ctx.jax_loops[key]
        return loop

    def _jax_loop(self, ctx: Context, kinds: tuple[NumberKind, ...]) -> LoopTypes | None:
        dtype, weak = jax_common(ctx, kinds)
        dtype = self.inputs(dtype)
        if _kind_letter(dtype) not in self.domain:
            return None
        output = self.output(dtype)
        weak = weak and _kind_letter(dtype) not in self.strong
        return LoopTypes((dtype,) * len(kinds), (output,) * self.ufunc.nout, Form.JAX, weak)

    def loop_for(self, kinds: tuple[NumberKind, ...], wide: bool = False) -> LoopTypes | None:
        """The loop by NumPy's rules. `wide`: integers are compared with a staged Python integer, whose value
        the other type may not hold, so that all are compared as 64-bit integers."""
        loop = numpy_loop(self.ufunc, kinds)
        if loop is None or not wide or not self.comparison:
            return loop
        if not all(is_integer(k.dtype) or k.dtype == BOOL for k in kinds):
            return loop
        inputs = tuple([k.dtype if k.dtype == UINT64 else INT64 for k in kinds])
        return LoopTypes(inputs, loop.outputs, loop.form)


def staged_python_integer(operands: Sequence[Operand]) -> bool:
    """True if one of the operands is a Python integer that the program computes."""
    return any(isinstance(o, Array) and any(map(_is_python_int, kinds_of(o))) for o in operands)


def _kind_letter(dtype: DType) -> str:
    return "f" if dtype.kind == "V" else dtype.kind


def _is_python_int(kind: NumberKind) -> bool:
    return kind.form is Form.PYTHON and kind.dtype == INT64


# ---------------------------------------------------------------- applying


def compute(
    ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand], loop: LoopTypes
) -> tuple[Value, ...]:
    """The values of the results, in the loop's types."""
    shape = broadcast_shape(ctx, function.name, *[shape_of(o) for o in operands])
    values = [
        _broadcast(ctx, value_of(ctx, operand, dtype, loop.form), shape)
        for operand, dtype in zip(operands, loop.inputs, strict=True)
    ]
    made = function.kernel(ctx, loop.form, *values)
    results = made if isinstance(made, tuple) else (made,)
    return tuple([cast(ctx, r, dtype) for r, dtype in zip(results, loop.outputs, strict=True)])


def _broadcast(ctx: Context, value: Value, shape: tuple[int, ...]) -> Value:
    """An operand in the shape of the result; derivatives are sums over the elements that count."""
    if value.type.shape == shape:
        return value
    made = ctx.broadcast(value, shape)
    if ctx.members is None or not differentiable(value.type):
        return made
    members = ctx.members(shape)
    return made if members is None else only_where(ctx, members, made)


def apply_loop(
    ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand], loop: LoopTypes
) -> Abstract:
    """The results as the objects that the loop's form gives; several are a tuple."""
    values = compute(ctx, function, operands, loop)
    made = tuple([result(ctx, v, loop) for v in values])
    return made[0] if len(made) == 1 else Tuple(made)


def apply_numpy(ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand]) -> Abstract:
    """The ufunc on numbers and arrays."""
    try:
        return _apply_numpy(ctx, function, operands)
    except NeedsSplit as error:
        asked = error
    return split_operation(ctx, asked, lambda: apply_numpy(ctx, function, [ctx.number(o) for o in operands]))


def _apply_numpy(ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand]) -> Abstract:
    decided = known_comparison(ctx, function, operands)
    if decided is not None:
        return decided
    wide = staged_python_integer(operands)
    loop = resolve(ctx, function.name, operands, lambda kinds: function.loop_for(kinds, wide))
    return apply_loop(ctx, function, operands, loop)


def apply_jax(ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand]) -> Abstract:
    """The function of `jax.numpy` on numbers and arrays."""
    loop = resolve(ctx, function.name, operands, lambda kinds: function.jax_loop(ctx, kinds))
    return apply_loop(ctx, function, operands, loop)


def known_comparison(
    ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand]
) -> Abstract | None:
    """A comparison with a known Python integer that the other operand's type does not hold."""
    if not function.comparison:
        return None
    for number, other in (tuple(operands), tuple(operands)[::-1]):
        if not (isinstance(number, Const) and type(number.value) is int and isinstance(other, Array)):
            continue
        if isinstance(other, GatedNumber) or not is_integer(other.dtype) or other.form is Form.PYTHON:
            continue
        if not fits(number.value, other.dtype):
            sample = Const(other.dtype.type(0))
            sides = (number, sample) if number is operands[0] else (sample, number)
            flag = function.ufunc(*[s.value for s in sides])
            return ctx.new(ctx.broadcast(ctx.constant(bool(flag), BOOL), other.shape))
    return None


# ---------------------------------------------------------------- as meanings


def call_numpy(
    ctx: Context,
    function: ElementwiseFunction,
    args: Sequence[Raw],
    out: Raw,
    where: Raw,
    dtype: Raw,
    casting: Casting = SAME_KIND,
) -> Abstract:
    """A call of the ufunc: on known numbers it runs now.

    Stricter rules of casting than `same_kind` have been asked of NumPy itself; where that was not possible they are refused.
    """
    if wants_arrays(out):
        return arrays_of(ctx, call_numpy(ctx, function, args, None, where, dtype, casting))
    if casting not in (SAME_KIND, "unsafe") and any(isinstance(a, Bounded) for a in args):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.{function.name}", argument="casting"))
    if without_options(out, where, dtype):
        known = [known_object(ctx, a) for a in args]
        if not any(k is MISSING for k in known):
            return call_now(ctx, function.ufunc, *known)
        if any(isinstance(a, Bounded) for a in args):
            whole = functools.partial(call_numpy, ctx, function, out=out, where=where, dtype=dtype)
            return elementwise(ctx, f"np.{function.name}", function.ufunc, lambda *x: whole(x), *args)
        return apply_numpy(ctx, function, [ctx.number(a) for a in args])
    target = out.items[0] if isinstance(out, Tuple) and len(out.items) == 1 else out
    if isinstance(target, Bounded) and without_options(where, dtype):
        return _into_bounded(ctx, function, args, target)
    operands = [ctx.read(a) for a in args]
    loop = _loop_with_dtype(ctx, function, operands, dtype, casting)
    if _default(out):
        if not _default(where):
            name = f"np.{function.name}"
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="where without out"))
        return apply_loop(ctx, function, operands, loop)
    return _into(ctx, function, operands, loop, out, where, casting)


def wants_arrays(out: Raw) -> bool:
    """True for `out=...`, which asks for arrays in place of numbers."""
    return isinstance(out, Const) and out.value is Ellipsis


def arrays_of(ctx: Context, made: Abstract) -> Abstract:
    """The results of a ufunc as arrays."""
    results = made.items if isinstance(made, Tuple) else (made,)
    arrays = tuple([r if isinstance(r, Bounded) else ctx.call(Const(np.asarray), [r]) for r in results])
    return arrays[0] if len(arrays) == 1 else Tuple(arrays)


def _into_bounded(
    ctx: Context, function: ElementwiseFunction, args: Sequence[Raw], target: Bounded
) -> Abstract:
    """The result stored into a bounded array that certainly has its size."""
    name = f"np.{function.name}"
    made = call_numpy(ctx, function, args, None, True, None)
    if isinstance(made, Bounded) or shape_of(ctx.read(made)):
        alike = isinstance(made, Bounded) and len(made.axes) == len(target.axes)
        sizes = zip(made.axes, target.axes) if isinstance(made, Bounded) else ()
        if not alike or not all(_has_size(ctx, own, wanted) for own, wanted in sizes):
            refuse(ctx, f"{name} into an array that may have another size", target)
    number = made if isinstance(made, Bounded) else ctx.read(made)
    dtype = np.asarray(number.value).dtype if isinstance(number, Const) else number.type.dtype
    if not np.can_cast(dtype, target.type.dtype, "same_kind"):
        ctx.fail(NoCast(span=ctx.span, operation=name, source=str(dtype), target=str(target.type.dtype)))
    store_selected(ctx, target, made)
    return target


def _has_size(ctx: Context, own: Extent | int, wanted: Extent | int) -> bool:
    """True if two axes certainly have as many elements."""
    if isinstance(own, int) or isinstance(wanted, int):
        return own == wanted
    return same_places(ctx, own, wanted) or (own.size is not None and same_number(ctx, own.size, wanted.size))


def without_options(*options: Raw) -> bool:
    """True where a ufunc is called with none of its options."""
    return all(map(_default, options))


def _default(option: Raw) -> bool:
    value = option.value if isinstance(option, Const) else option
    return value is None or value is True


def _loop_with_dtype(
    ctx: Context, function: ElementwiseFunction, operands: Sequence[Operand], dtype: Raw, casting: Casting
) -> LoopTypes:
    if _default(dtype):
        return resolve(ctx, function.name, operands, function.loop_for)
    wanted = as_dtype(ctx.known(dtype, f"the dtype of np.{function.name}"))

    def rule(kinds: tuple[NumberKind, ...]) -> LoopTypes | None:
        loop = numpy_loop(function.ufunc, kinds, wanted, casting)
        fitting = loop is not None and all(
            np.can_cast(k.dtype, d, casting) or k.form is Form.PYTHON for k, d in zip(kinds, loop.inputs)
        )
        return loop if fitting else None

    return resolve(ctx, function.name, operands, rule)


def _into(
    ctx: Context,
    function: ElementwiseFunction,
    operands: Sequence[Operand],
    loop: LoopTypes,
    out: Raw,
    where: Raw,
    casting: Casting,
) -> Abstract:
    """The result stored into `out`, where `where` holds; of several results those for which there is an array."""
    if isinstance(out, Tuple) and len(out.items) == len(loop.outputs) > 1:
        return _into_each(ctx, function, operands, loop, out.items, where, casting)
    target = out.items[0] if isinstance(out, Tuple) and len(out.items) == 1 else out
    name = f"np.{function.name}"
    if not isinstance(target, Ref) or not ctx.is_ndarray(target) or len(loop.outputs) != 1:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="out"))
    (value,) = compute(ctx, function, operands, loop)
    mask = None if _default(where) else ctx.read(where)
    store_result(ctx, target, value, name, mask, casting)
    return target


def _into_each(
    ctx: Context,
    function: ElementwiseFunction,
    operands: Sequence[Operand],
    loop: LoopTypes,
    targets: Sequence[Abstract],
    where: Raw,
    casting: Casting,
) -> Abstract:
    """Stores several results into their targets, all of which must have the result's shape."""
    name = f"np.{function.name}"
    arrays = [t for t in targets if isinstance(t, Ref) and ctx.is_ndarray(t)]
    values = compute(ctx, function, operands, loop)
    fit = all(target_shape(ctx, array) == values[0].type.shape for array in arrays)
    if not fit or not _default(where) or not all(is_none(t) or t in arrays for t in targets):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="out"))
    made: list[Abstract] = []
    for target, value in zip(targets, values, strict=True):
        if isinstance(target, Ref):
            store_result(ctx, target, value, name, casting=casting)
        made.append(target if isinstance(target, Ref) else result(ctx, value, loop))
    return Tuple(tuple(made))


def result_into(
    ctx: Context, out: Raw, value: Value, name: str, casting: Casting = SAME_KIND, owner: Raw = None
) -> Abstract:
    """An elementwise result: a new array, or the `out` argument, into which it is stored; see `returned_out`."""
    if is_none(out):
        return ctx.new(value)
    if not ctx.is_ndarray(out):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="out"))
    store_result(ctx, out, value, name, casting=casting)
    return returned_out(ctx, out, owner)


def store_result(
    ctx: Context,
    target: Ref,
    value: Value,
    name: str,
    mask: Operand | None = None,
    casting: Casting = SAME_KIND,
) -> None:
    """An elementwise result into an ndarray's memory: broadcast to its shape, cast by the rule `casting`."""
    dtype = dtype_of(ctx, target)
    if not np.can_cast(value.type.dtype, dtype, casting):
        ctx.fail(NoCast(span=ctx.span, operation=name, source=str(value.type.dtype), target=str(dtype)))
    shape = target_shape(ctx, target)
    masks = [] if mask is None else [shape_of(mask)]
    wide = broadcast_shape(ctx, name, shape, value.type.shape, *masks)
    if wide != shape:
        texts = shape_text(shape), shape_text(wide)
        text = f"non-broadcastable output operand with shape {texts[0]} doesn't match the broadcast shape {texts[1]}"
        ctx.raise_(ValueError(text))
    value = ctx.broadcast(cast(ctx, value, dtype), shape)
    if mask is not None:
        condition = ctx.broadcast(value_of(ctx, mask, BOOL), shape)
        value = select(ctx, condition, value, ctx.contents(target))
    store_through(ctx, target, value, memory="output array")


def jax_operands(ctx: Context, name: str, args: Sequence[Raw]) -> list[Operand]:
    """The operands of a `jax.numpy` function, which takes numbers and arrays, and no lists."""
    for arg in args:
        if isinstance(arg, Abstract) and not is_number(arg) and not ctx.is_ndarray(arg):
            kind = type(arg.value).__name__ if isinstance(arg, Const) else "a sequence"
            ctx.fail(NotNumeric(span=ctx.span, what=f"jnp.{name}", kind=kind))
    return [ctx.read(a) for a in args]
