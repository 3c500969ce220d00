"""`jax.lax.scan` and `jax.lax.map`: a loop over the leading axis that stacks the results of its trips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from jax import lax
from jax.tree_util import PyTreeDef

from .....records import dataclass
from ....diagnostics.codes_jax import BadControlFlow
from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....ops import Add, Compare, DynamicSlice, DynamicUpdateSlice, Subtract
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Tuple
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import index_dtype, integer, is_none
from ..loop_carries import Carried, array_leaf, settle
from ..pytrees import flatten, unflatten
from .control import values_of


@dataclass(slots=True, eq=False)
class Stacked:
    """The stacked results of one scan: their structure including the carry, and the type of each leaf."""

    tree: PyTreeDef | None = None
    leaves: list[Array] = field(default_factory=list)

    def note(self, ctx: Context, made: Abstract, result: Abstract) -> list[Array]:
        """Records the leaves that a trip gave in `result`, a part of `made`."""
        self.tree = flatten(ctx, made)[1]
        self.leaves = [array_leaf(ctx, leaf, "jax.lax.scan") for leaf in flatten(ctx, result)[0]]
        return self.leaves

    def buffers(self, ctx: Context, length: int) -> list[Array]:
        """Zeros for `length` trips."""
        made = []
        for leaf in self.leaves:
            zero = ctx.constant(0, leaf.dtype)
            made.append(ctx.jax(ctx.broadcast(zero, (length, *leaf.shape))))
        return made

    def end(self, ctx: Context, carry: list[Abstract], values: Sequence[Value]) -> Abstract:
        """The result of the scan: the carry and the stacked results, in the structure of the body's result."""
        leaves = [
            Array(v, Form.JAX, leaf.weak, key_impl=leaf.key_impl)
            for v, leaf in zip(values, self.leaves, strict=True)
        ]
        return unflatten(ctx, self.tree, [*carry, *leaves])


@meaning(lax.scan)
def scan(
    ctx: Context,
    f: Raw,
    init: Raw,
    xs: Raw = None,
    length: Raw = None,
    reverse: Raw = False,
    unroll: Raw = 1,
) -> Abstract:
    """`carry, y = f(carry, x)` for each `x`; the last carry, and the `y`s stacked. `unroll` changes nothing."""
    return _scan(
        ctx, "jax.lax.scan", f, init, xs, length, bool(ctx.known(reverse, "reverse of jax.lax.scan"))
    )


@meaning(lax.map)
def map_(ctx: Context, f: Raw, xs: Raw, *, batch_size: Raw = None) -> Abstract:
    """`f(x)` for each `x`, stacked."""
    if not is_none(batch_size):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="jax.lax.map", argument="batch_size"))
    return _scan(ctx, "jax.lax.map", f, None, xs, None, False)


def _scan(ctx: Context, function: str, f: Raw, init: Raw, xs: Raw, length: Raw, reverse: bool) -> Abstract:
    carried = Carried.start(ctx, function, init)
    found, tree = flatten(ctx, xs)
    arrays = [array_leaf(ctx, leaf, function) for leaf in found]
    trips = _trips(ctx, function, arrays, length)
    stacked = Stacked()
    index_type = index_dtype(ctx)

    def trip(place: Value, entered: list[Array]) -> tuple[Abstract, list[Array]]:
        rows = unflatten(ctx, tree, [_row(ctx, a, place) for a in arrays])
        if function == "jax.lax.map":
            made = ctx.call(f, [rows])
            return carried.rebuilt(ctx, entered), stacked.note(ctx, made, made)
        made = ctx.call(f, [carried.rebuilt(ctx, entered), rows])
        carry, ys = _pair(ctx, made)
        return carry, stacked.note(ctx, made, ys)

    first = ctx.constant(0, index_type)
    settle(ctx, carried, lambda entered: trip(first, entered)[0], twice=True)

    def condition(state: Abstract) -> Abstract:
        return ctx.jax(ctx.op(Compare("LT"), values_of(state)[0], ctx.constant(trips, index_type)))

    def body(state: Abstract) -> Abstract:
        index, *values = values_of(state)
        entered = carried.enter(values[: len(carried.leaves)])
        place = ctx.op(Subtract(), ctx.constant(trips - 1, index_type), index) if reverse else index
        carry, ys = trip(place, entered)
        outs = carried.leave(ctx, carry, entered)
        buffers = zip(values[len(carried.leaves) :], ys, strict=True)
        stored = [ctx.jax(_stored(ctx, buffer, y, place)) for buffer, y in buffers]
        following = ctx.op(Add(), index, ctx.constant(1, index_type))
        return Tuple((ctx.jax(following), *outs, *stored))

    final: Abstract = Tuple((ctx.jax(first), *carried.leaves, *stacked.buffers(ctx, trips)))
    if trips:
        final = ctx.while_loop(condition, body, final, trips)
    values = values_of(final)[1:]
    carry = carried.end(values[: len(carried.leaves)], carried.forwarded)
    return stacked.end(ctx, carry, values[len(carried.leaves) :])


def _trips(ctx: Context, function: str, arrays: list[Array], length: Raw) -> int:
    """The number of trips: the length of the first axes, which must agree with each other and with `length`."""
    if any(not a.shape for a in arrays):
        ctx.fail(BadControlFlow(span=ctx.span, text=f"{function} goes over arrays with at least one axis"))
    lengths = {a.shape[0] for a in arrays}
    if not is_none(length):
        lengths.add(integer(ctx, length, f"the length of {function}"))
    if len(lengths) != 1:
        counts = ", ".join(map(str, sorted(lengths))) or "none"
        text = f"{function} needs one number of trips; the first axes and `length` give {counts}"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    return lengths.pop()


def _pair(ctx: Context, made: Abstract) -> tuple[Abstract, Abstract]:
    listed = ctx.iterate(made) if not isinstance(made, Array) else None
    if listed is None or len(listed) != 2:
        ctx.fail(BadControlFlow(span=ctx.span, text="the body of jax.lax.scan must return a pair (carry, y)"))
    return listed[0], listed[1]


def _row(ctx: Context, array: Array, place: Value) -> Array:
    """`array[index]`."""
    rest = array.shape[1:]
    if not array.shape[0]:  # there is no trip: the body is staged for its types only
        return Array(
            ctx.broadcast(ctx.constant(0, array.dtype), rest), Form.JAX, array.weak, key_impl=array.key_impl
        )
    starts = [place, *[ctx.constant(0, place.type.dtype)] * len(rest)]
    row = ctx.op(DynamicSlice((1, *rest)), array.value, *starts)
    return Array(ctx.reshape(row, rest), Form.JAX, array.weak, key_impl=array.key_impl)


def _stored(ctx: Context, buffer: Value, y: Array, place: Value) -> Value:
    """`buffer` with `y` at `place`."""
    starts = [place, *[ctx.constant(0, place.type.dtype)] * y.rank]
    return ctx.op(DynamicUpdateSlice(), buffer, ctx.reshape(y.value, (1, *y.shape)), *starts)
