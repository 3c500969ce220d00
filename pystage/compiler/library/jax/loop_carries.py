"""Carried values of JAX's loops: a pytree of arrays whose structure and types are loop-invariant.

In: the initial value and the result of the body. Out: arrays of fixed types for the `While` that inference builds, and
after it the pytree that the plain run returns. A weakly typed leaf (a Python scalar) is promoted once to the type that
the body gives it, as in JAX; a leaf that the body returns unchanged comes back as the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

import jax.numpy as jnp
from jax.tree_util import PyTreeDef, keystr, tree_flatten_with_path

from ....records import dataclass
from ...diagnostics.codes_jax import StructureDiffers, TypeDiffers
from ...hlo.ir import Function, Op, Region, Value
from ...hlo.types import DType
from ...ops import Call
from ...values.boundary import Form
from ...values.lattice import Abstract, Array
from ..context import Context, Raw
from ..rules.jax import canonical, jax_array
from .pytrees import exposed, flatten, unflatten

_WEAK = {"i": int, "f": float, "c": complex}


def array_leaf(ctx: Context, leaf: Raw, function: str) -> Array:
    """A leaf as JAX traces it: an array, weakly typed for Python scalars; typed PRNG keys stay keys."""
    if isinstance(leaf, Array) and leaf.key_impl is not None:
        return leaf
    return jax_array(ctx, leaf, function)


def same_type(a: Array, b: Array) -> bool:
    """True if JAX takes one for the other: equal but for weak types."""
    return a.type == b.type and a.key_impl == b.key_impl


def tree_text(tree: object) -> str:
    """A structure as JAX writes it, by its parts alone."""
    return str(tree).removeprefix("PyTreeDef(").removesuffix(")")


def type_text(array: Array) -> str:
    """The type of a leaf in words."""
    return f"a {array.key_impl} key" if array.key_impl else str(array.type)


def origin_of(value: Value) -> Value:
    """The value that calls return unchanged, through any number of calls; otherwise the value itself."""
    while isinstance(value.owner, Op) and isinstance(value.owner.kind, Call):
        body = _callee(value.owner).body
        inner = origin_of(body.results[value.index])
        if inner.owner is not body:
            return value
        value = value.owner.operands[inner.index]
    return value


def _callee(op: Op) -> Function:
    assert isinstance(op.kind, Call)
    return op.kind.function


def is_used(region: Region, value: Value) -> bool:
    """True if the region's results or operations need `value`; what a callee ignores is not used."""
    if value in region.results:
        return True
    for op in region.ops:
        if any(is_used(inner, value) for inner in op.regions):
            return True
        if value not in op.operands:
            continue
        if not isinstance(op.kind, Call):
            return True
        body = _callee(op).body
        if any(is_used(body, p) for p, o in zip(body.params, op.operands, strict=True) if o is value):
            return True
    return False


@dataclass(slots=True, eq=False)
class Carried:
    """The carried pytree of one loop.

    `given` are its leaves as the program gave them, `leaves` as JAX takes them; `weak` and `forwarded` say
    of each, after a body was inferred, whether it comes out weakly typed, and whether it comes out as it is.
    """

    function: str
    tree: PyTreeDef
    names: list[str]
    given: list[Abstract]
    leaves: list[Array]
    weak: list[bool] = field(default_factory=list)
    forwarded: list[bool] = field(default_factory=list)

    @classmethod
    def start(cls, ctx: Context, function: str, initial: Raw) -> Carried:
        """The carried value before the first trip."""
        structure = exposed(ctx, initial)
        paths = tree_flatten_with_path(structure)[0]
        given, tree = flatten(ctx, initial)
        leaves = [array_leaf(ctx, leaf, function) for leaf in given]
        names = [f"the carried value{keystr(path)}" for path, _ in paths]
        return cls(function, tree, names, given, leaves, [a.weak for a in leaves], [False] * len(leaves))

    def enter(self, values: Sequence[Value]) -> list[Array]:
        """The leaves at the beginning of a trip."""
        return [
            Array(v, Form.JAX, a.weak, key_impl=a.key_impl) for v, a in zip(values, self.leaves, strict=True)
        ]

    def rebuilt(self, ctx: Context, leaves: Sequence[Abstract]) -> Abstract:
        """The pytree with these leaves."""
        return unflatten(ctx, self.tree, leaves)

    def leave(self, ctx: Context, result: Abstract, entered: Sequence[Array]) -> list[Array]:
        """The leaves at the end of a trip that began with `entered`; PS653, PS654 where they differ in kind."""
        outs = self._outs(ctx, result, entered)
        for name, leaf, out in zip(self.names, self.leaves, outs, strict=True):
            if not same_type(leaf, out):
                ctx.fail(
                    TypeDiffers(
                        span=ctx.span,
                        function=self.function,
                        leaf=name,
                        first=type_text(leaf),
                        where="the initial value",
                        second=type_text(out),
                        other="the result of the body",
                    )
                )
        return outs

    def _outs(self, ctx: Context, result: Abstract, entered: Sequence[Array]) -> list[Array]:
        found, tree = flatten(ctx, result)
        if tree != self.tree:
            ctx.fail(
                StructureDiffers(
                    span=ctx.span,
                    function=self.function,
                    first="the initial value",
                    second="the result of the body",
                    structures=f"{tree_text(self.tree)} and {tree_text(tree)}",
                )
            )
        outs = [array_leaf(ctx, leaf, self.function) for leaf in found]
        self.weak = [out.weak for out in outs]
        pairs = zip(outs, entered, strict=True)
        self.forwarded = [origin_of(out.value) is begin.value for out, begin in pairs]
        return outs

    def promotions(self, ctx: Context, result: Abstract, entered: Sequence[Array]) -> dict[int, DType]:
        """The types that a body made of weakly typed leaves, by their indices, where they are others."""
        outs = self._outs(ctx, result, entered)
        return {
            i: _promoted(ctx, leaf, out)
            for i, (leaf, out) in enumerate(zip(self.leaves, outs, strict=True))
            if leaf.weak and not same_type(leaf, out) and out.key_impl is None
        }

    def promote(self, ctx: Context, dtypes: dict[int, DType]) -> None:
        """Gives leaves, by their indices, other types."""
        for i, dtype in dtypes.items():
            self.leaves[i] = ctx.jax(ctx.convert(self.leaves[i].value, dtype))

    def end(self, values: Sequence[Value], kept: Sequence[bool]) -> list[Abstract]:
        """The leaves after the loop; `kept`: those that come back as the objects that they were."""
        made = zip(values, self.leaves, self.weak, self.given, kept, strict=True)
        return [
            given if keep else Array(v, Form.JAX, weak, key_impl=a.key_impl)
            for v, a, weak, given, keep in made
        ]


def _promoted(ctx: Context, leaf: Array, out: Array) -> DType:
    """The type of a weak leaf joined with what the body made of it."""
    kind = leaf.dtype.kind
    other = _WEAK[out.dtype.kind] if out.weak and out.dtype.kind in _WEAK else out.dtype
    return canonical(jnp.result_type(_WEAK.get(kind, leaf.dtype), other), ctx.x64)


def settle(ctx: Context, carried: Carried, step: Callable[[list[Array]], Abstract], twice: bool) -> None:
    """Infers one trip in a speculation, for the types that weakly typed leaves take.

    `twice`: once more if there are any, for what else `step` notes.
    """
    promotions = _peeled_trip(ctx, carried, step)
    carried.promote(ctx, promotions)
    if promotions and twice:
        _peeled_trip(ctx, carried, step)


def _peeled_trip(ctx: Context, carried: Carried, step: Callable[[list[Array]], Abstract]) -> dict[int, DType]:
    """The types that one trip, in a region that is thrown away, makes of weakly typed leaves."""
    region = Region(tuple([a.type for a in carried.leaves]))
    with ctx.state.fork(), ctx.b.region(region):
        entered = carried.enter(region.params)
        return carried.promotions(ctx, step(entered), entered)
