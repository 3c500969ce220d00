"""`jax.lax.cond`, `switch`, `while_loop` and `fori_loop`, whose functions are staged as user code.

As under a JAX trace, every leaf of their arguments is an array. Branches must return one structure with one type per
leaf, and loop bodies must preserve the carry. Inference builds the branch or the loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from jax import lax
from jax.tree_util import PyTreeDef, keystr, tree_flatten_with_path, tree_unflatten

from ....diagnostics.codes_jax import BadControlFlow, StructureDiffers, TypeDiffers
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT32, is_integer, is_unsigned
from ....ops import Add, Compare
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Tuple
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import index_dtype, items, jax_array
from ..loop_carries import Carried, array_leaf, is_used, same_type, settle, tree_text, type_text
from ..pytrees import flatten, unflatten
from .elementwise import like

MISSING: Any = inspect.signature(lax.cond).parameters["operand"].default
"""JAX's default for a keyword `operand` that was left out; `switch` has the same object."""


def as_arrays(ctx: Context, value: Raw, function: str) -> Abstract:
    """A pytree with every leaf an array, as a function under a trace of JAX's gets it."""
    leaves, tree = flatten(ctx, value)
    return unflatten(ctx, tree, [array_leaf(ctx, leaf, function) for leaf in leaves])


def _operands(ctx: Context, operands: Sequence[Raw], operand: Raw, function: str) -> list[Abstract]:
    if operand is not MISSING:
        if operands:
            text = f"{function} takes operands either one by one or as the keyword `operand`"
            ctx.fail(BadControlFlow(span=ctx.span, text=text))
        operands = (operand,)
    return [as_arrays(ctx, each, function) for each in operands]


# ---------------------------------------------------------------- branches


class Outcome:
    """The results of the branches of one `cond` or `switch`; the first one determines structure and types."""

    def __init__(self, function: str, names: Sequence[str]) -> None:
        self.function = function
        self.names = names
        self.tree: PyTreeDef | None = None
        self.types: list[Array] = []
        self.weak: dict[int, list[bool]] = {}

    def note(self, ctx: Context, branch: int, result: Abstract) -> Abstract:
        """The leaves that a branch gave, as a tuple of strongly typed arrays."""
        leaves, tree = flatten(ctx, result)
        arrays = [array_leaf(ctx, leaf, self.function) for leaf in leaves]
        if self.tree is None:
            self.tree, self.types, self.first = tree, arrays, branch
        if tree != self.tree:
            ctx.fail(
                StructureDiffers(
                    span=ctx.span,
                    function=self.function,
                    first=self.names[self.first],
                    second=self.names[branch],
                    structures=f"{tree_text(self.tree)} and {tree_text(tree)}",
                )
            )
        paths = tree_flatten_with_path(tree_unflatten(tree, arrays))[0]
        for (path, array), expected in zip(paths, self.types, strict=True):
            if not same_type(array, expected):
                ctx.fail(
                    TypeDiffers(
                        span=ctx.span,
                        function=self.function,
                        leaf=f"the result{keystr(path)}",
                        first=type_text(expected),
                        where=self.names[self.first],
                        second=type_text(array),
                        other=self.names[branch],
                    )
                )
        self.weak[branch] = [a.weak for a in arrays]
        return Tuple(tuple([Array(a.value, Form.JAX, key_impl=a.key_impl) for a in arrays]))

    def result(self, ctx: Context, joined: Abstract, weak_of: int) -> Abstract:
        """The value of the whole; weak types are those of branch `weak_of`."""
        assert isinstance(joined, Tuple)
        assert self.tree is not None
        leaves = []
        for item, weak in zip(joined.items, self.weak[weak_of], strict=True):
            assert isinstance(item, Array)
            leaves.append(Array(item.value, Form.JAX, weak, key_impl=item.key_impl))
        return unflatten(ctx, self.tree, leaves)


@meaning(lax.cond)
def cond(
    ctx: Context, pred: Raw, true_fun: Raw, false_fun: Raw, *operands: Raw, operand: Raw = MISSING
) -> Abstract:
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; only that one runs."""
    given = _operands(ctx, operands, operand, "jax.lax.cond")
    predicate = _predicate(ctx, pred)
    outcome = Outcome("jax.lax.cond", ["false_fun", "true_fun"])
    joined = ctx.branch(
        predicate,
        lambda: outcome.note(ctx, 1, ctx.call(true_fun, given)),
        lambda: outcome.note(ctx, 0, ctx.call(false_fun, given)),
    )
    return outcome.result(ctx, joined, 0)


def _predicate(ctx: Context, pred: Raw) -> Array:
    """A scalar as a condition: a number counts as true unless it is 0."""
    array = jax_array(ctx, pred, "jax.lax.cond")
    if array.shape:
        text = f"the predicate of jax.lax.cond must be a scalar, not {array.type}"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    if array.dtype == BOOL:
        return array
    return ctx.jax(ctx.op(Compare("NE"), array.value, like(ctx, array, 0)))


@meaning(lax.switch)
def switch(ctx: Context, index: Raw, branches: Raw, *operands: Raw, operand: Raw = MISSING) -> Abstract:
    """`branches[index](*operands)`, the index clamped into range; only that one runs."""
    functions = items(ctx, branches, "jax.lax.switch")
    array = jax_array(ctx, index, "jax.lax.switch")
    if array.shape or not is_integer(array.dtype) or not functions:
        text = f"jax.lax.switch needs branches and a scalar integer to choose one, not {array.type}"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    if len(functions) == 1:
        return ctx.call(functions[0], list(operands) if operand is MISSING else [operand])
    given = _operands(ctx, operands, operand, "jax.lax.switch")
    outcome = Outcome("jax.lax.switch", [f"branch {i}" for i in range(len(functions))])
    place = ctx.convert(array.value, INT32)

    def choose(low: int, high: int) -> Abstract:
        if high - low == 1:
            return outcome.note(ctx, low, ctx.call(functions[low], given))
        middle = (low + high) // 2
        below = ctx.jax(ctx.op(Compare("LT"), place, ctx.constant(middle, INT32)))
        return ctx.branch(below, lambda: choose(low, middle), lambda: choose(middle, high))

    return outcome.result(ctx, choose(0, len(functions)), 0)


# ---------------------------------------------------------------- loops


def values_of(state: Abstract) -> list[Value]:
    """The values of a loop's state, a tuple of arrays."""
    assert isinstance(state, Tuple)
    values = []
    for item in state.items:
        assert isinstance(item, Array)
        values.append(item.value)
    return values


@meaning(lax.while_loop)
def while_loop(ctx: Context, cond_fun: Raw, body_fun: Raw, init_val: Raw) -> Abstract:
    """`while cond_fun(val): val = body_fun(val)`."""
    carried = Carried.start(ctx, "jax.lax.while_loop", init_val)

    def step(arrays: list[Array]) -> Abstract:
        return ctx.call(body_fun, [carried.rebuilt(ctx, arrays)])

    if any(a.weak for a in carried.leaves):
        settle(ctx, carried, step, twice=False)
    used = [False] * len(carried.leaves)

    def condition(state: Abstract) -> Abstract:
        arrays = carried.enter(values_of(state))
        holds = _scalar_bool(ctx, ctx.call(cond_fun, [carried.rebuilt(ctx, arrays)]))
        for i, array in enumerate(arrays):
            used[i] |= holds.value is array.value or is_used(ctx.b.current, array.value)
        return holds

    def body(state: Abstract) -> Abstract:
        arrays = carried.enter(values_of(state))
        return Tuple(tuple(carried.leave(ctx, step(arrays), arrays)))

    final = ctx.while_loop(condition, body, Tuple(tuple(carried.leaves)))
    kept = [f and not u for f, u in zip(carried.forwarded, used, strict=True)]
    return carried.rebuilt(ctx, carried.end(values_of(final), kept))


def _scalar_bool(ctx: Context, made: Abstract) -> Array:
    leaves, _ = flatten(ctx, made)
    array = jax_array(ctx, leaves[0], "jax.lax.while_loop") if len(leaves) == 1 else None
    if array is None or array.shape or array.dtype != BOOL:
        what = "a structure" if array is None else str(array.type)
        text = f"cond_fun of jax.lax.while_loop must return one boolean, not {what}"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    return array


@meaning(lax.fori_loop)
def fori_loop(
    ctx: Context, lower: Raw, upper: Raw, body_fun: Raw, init_val: Raw, *, unroll: Raw = None
) -> Abstract:
    """`for i in range(lower, upper): val = body_fun(i, val)`. `unroll` changes no result."""
    first, last = _bounds(ctx, lower, upper)
    trips = None
    if isinstance(lower, Const | int) and isinstance(upper, Const | int):
        trips = max(_plain(upper) - _plain(lower), 0)
    carried = Carried.start(ctx, "jax.lax.fori_loop", init_val)

    def trip(index: Value, arrays: list[Array]) -> Abstract:
        counter = Array(index, Form.JAX, True, (ctx.range_of(first)[0], ctx.range_of(last)[1] - 1))
        return ctx.call(body_fun, [counter, carried.rebuilt(ctx, arrays)])

    if any(a.weak for a in carried.leaves):
        settle(ctx, carried, lambda arrays: trip(first.value, arrays), twice=False)

    def condition(state: Abstract) -> Abstract:
        return ctx.jax(ctx.op(Compare("LT"), values_of(state)[0], last.value))

    def body(state: Abstract) -> Abstract:
        index, *values = values_of(state)
        arrays = carried.enter(values)
        outs = carried.leave(ctx, trip(index, arrays), arrays)
        following = ctx.op(Add(), index, ctx.constant(1, index.type.dtype))
        return Tuple((ctx.jax(following), *outs))

    final = ctx.while_loop(condition, body, Tuple((ctx.jax(first.value), *carried.leaves)), trips)
    return carried.rebuilt(ctx, carried.end(values_of(final)[1:], carried.forwarded))


def _plain(bound: Raw) -> int:
    return int(bound.value if isinstance(bound, Const) else bound)


def _bounds(ctx: Context, lower: Raw, upper: Raw) -> tuple[Array, Array]:
    """The bounds in the type of JAX's counter; PS655 where JAX refuses the pair."""
    first, last = jax_array(ctx, lower, "jax.lax.fori_loop"), jax_array(ctx, upper, "jax.lax.fori_loop")
    signed = all(is_integer(a.dtype) and not is_unsigned(a.dtype) for a in (first, last))
    fits = first.dtype == last.dtype or (signed and first.weak != last.weak)
    if first.shape or last.shape or not fits or not is_integer(first.dtype):
        text = f"jax.lax.fori_loop counts between integers of one type, not {first.type} and {last.type}"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    dtype = index_dtype(ctx)
    return ctx.jax(ctx.convert(first.value, dtype), True), ctx.jax(ctx.convert(last.value, dtype), True)
