"""`jax.lax`: collectives among the participants of named axes.

The axes are those that JAX has bound around the call (`jax.shard_map`, `jax.pmap`, `jax.vmap` with an axis name), and
those of the program's own maps. What JAX refuses, an axis that is not bound above all, raises what JAX raises.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .... import ops
from ....diagnostics.codes_calls import NotServed
from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BOOL, INT32
from ....ops.foreign.named_axes import CURRENT, NamedAxis, in_force
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Tuple
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import integer, is_none, jax_array
from ..pytrees import flatten, unflatten

Axes = tuple[NamedAxis, ...]


def _refuse(ctx: Context, name: str, why: str, instead: str) -> Any:
    ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))


class _Collective:
    """One call: JAX's function, its axes, and its operands, which JAX has accepted."""

    def __init__(
        self,
        ctx: Context,
        /,
        function: Callable[..., Any],
        x: Raw,
        axis_name: Raw,
        *args: Any,
        **options: Any,
    ) -> None:
        self.ctx = ctx
        self.name = f"jax.lax.{function.__name__}"
        groups = options.pop("axis_index_groups", None)
        if not is_none(groups):
            _refuse(
                ctx, f"axis_index_groups of {self.name}", "pystage has no groups", "name two axes of a mesh"
            )
        given = ctx.known(axis_name, f"the axis of {self.name}")
        self.names: tuple[Hashable, ...] = tuple(given) if isinstance(given, tuple | list) else (given,)
        self.leaves, self._tree = flatten(ctx, x)
        self._call: Callable[[Sequence[Any]], Any] = lambda leaves: function(
            jax.tree.unflatten(self._tree, leaves), given, *args, **options
        )
        self.axes = self._bound()
        self.size = 1
        for axis in self.axes:
            self.size *= axis.size
        self.checked = bool(ctx.named_axes().checked)

    def _bound(self) -> Axes:
        known = self.ctx.named_axes()
        found = [known.find(name) for name in self.names]
        if any(isinstance(name, int) for name in self.names):
            _refuse(self.ctx, self.name, "axes by number are no named axes", "take jnp.sum and its kin")
        if None in found:
            self._refuse_unbound()
        if known.checked and not known.checked.issuperset(self.names):
            why = "inside jax.shard_map that checks what varies, JAX has none over an axis of a map"
            _refuse(self.ctx, self.name, why, "use an axis of the mesh, or shard_map with check_vma=False")
        return tuple([axis for axis in found if axis is not None])

    def _refuse_unbound(self) -> None:
        """Raises what JAX raises for an axis that is not bound."""
        ctx = self.ctx
        if not ctx.is_traced() and any(CURRENT.axes.find(name) for name in self.names):
            why = "JAX has bound the axis, but traces none of the arguments of the call"
            _refuse(ctx, self.name, why, "pass what differs between participants as an argument")
        arrays = [jax_array(ctx, leaf, self.name).type for leaf in self.leaves]
        try:
            if ctx.is_traced():
                self._abstract()
            else:
                self._call([jnp.zeros(t.shape, t.dtype) for t in arrays])
        except Exception as error:
            ctx.raise_(error)
        _refuse(ctx, self.name, "the axis is not bound", "call it inside jax.shard_map")

    def _abstract(self) -> Any:
        given = [jax_array(self.ctx, leaf, self.name) for leaf in self.leaves]
        arrays = [jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak) for x in given]
        with in_force(self.ctx.named_axes().axes):
            return jax.eval_shape(self._call, arrays)

    def of_leaves(self, make: Callable[[Array], Value]) -> Abstract:
        """The result, in the structure of the operand, leaf by leaf; the exception of JAX where it refuses the call."""
        try:
            kinds = jax.tree.leaves(self._abstract())
        except Exception as error:
            self.ctx.raise_(error)
        made = []
        for leaf, kind in zip(self.leaves, kinds, strict=True):
            array = jax_array(self.ctx, leaf, self.name)
            made.append(self.ctx.jax(make(array), array.weak if self.checked else bool(kind.weak_type)))
        return unflatten(self.ctx, self._tree, made)

    def structured(self, leaves: Sequence[Abstract]) -> Abstract:
        """A result in the structure of the operand."""
        return unflatten(self.ctx, self._tree, leaves)

    def op(self, kind: HloOp, value: Value) -> Value:
        """A collective of a value that each participant has for its own."""
        return self.ctx.op(kind, self.ctx.op(ops.Vary(self.axes), value) if self.checked else value)


def _reduction(
    ctx: Context, function: Callable[..., Any], combine: HloOp, x: Raw, axis_name: Raw, groups: Raw
) -> Abstract:
    call = _Collective(ctx, function, x, axis_name, axis_index_groups=groups)
    kind = ops.AllReduce(combine, call.axes, call.checked)
    return call.of_leaves(lambda array: call.op(kind, array.value))


def _sums(ctx: Context, call: _Collective) -> Abstract:
    for leaf in call.leaves:
        if ctx.is_ndarray(leaf) or (isinstance(leaf, Array) and leaf.form is Form.SCALAR):
            _refuse(
                ctx,
                f"{call.name} of what is NumPy's",
                "JAX gives NumPy's here",
                "convert it with jnp.asarray",
            )
    if all(_is_python_number(leaf) for leaf in call.leaves):
        times = Const(call.size)
        return call.structured([ctx.call(Const(operator.mul), [times, leaf]) for leaf in call.leaves])
    kind = ops.AllReduce(ops.Add(), call.axes, call.checked)

    def summed(array: Array) -> Value:
        numbers = ctx.op(ops.Convert(INT32), array.value) if array.dtype == BOOL else array.value
        return call.op(kind, numbers)

    return call.of_leaves(summed)


@meaning(lax.psum)
def psum(ctx: Context, x: Raw, axis_name: Raw, *, axis_index_groups: Raw = None) -> Abstract:
    """The sum over all participants; of Python numbers the product with the number of participants."""
    return _sums(ctx, _Collective(ctx, lax.psum, x, axis_name, axis_index_groups=axis_index_groups))


def _is_python_number(leaf: Abstract) -> bool:
    if isinstance(leaf, Const):
        return isinstance(leaf.value, int | float | complex) and not isinstance(leaf.value, bool)
    return isinstance(leaf, Array) and leaf.form is Form.PYTHON and leaf.dtype != BOOL


@meaning(lax.pmean)
def pmean(ctx: Context, x: Raw, axis_name: Raw, *, axis_index_groups: Raw = None) -> Abstract:
    """The mean over all participants."""
    call = _Collective(ctx, lax.psum, x, axis_name, axis_index_groups=axis_index_groups)
    leaves, _ = flatten(ctx, _sums(ctx, call))
    return call.structured([ctx.call(Const(operator.truediv), [leaf, Const(call.size)]) for leaf in leaves])


@meaning(lax.pmax)
def pmax(ctx: Context, x: Raw, axis_name: Raw, *, axis_index_groups: Raw = None) -> Abstract:
    """The maximum over all participants, element by element."""
    return _reduction(ctx, lax.pmax, ops.Maximum(), x, axis_name, axis_index_groups)


@meaning(lax.pmin)
def pmin(ctx: Context, x: Raw, axis_name: Raw, *, axis_index_groups: Raw = None) -> Abstract:
    """The minimum over all participants, element by element."""
    return _reduction(ctx, lax.pmin, ops.Minimum(), x, axis_name, axis_index_groups)


@meaning(lax.all_gather)
def all_gather(
    ctx: Context,
    x: Raw,
    axis_name: Raw,
    *,
    axis_index_groups: Raw = None,
    axis: Raw = 0,
    tiled: Raw = False,
    to: Raw = "varying",
) -> Abstract:
    """The arrays of all participants, along a new axis, or concatenated along an existing one (`tiled`)."""
    at, along = integer(ctx, axis, "the axis of jax.lax.all_gather"), bool(ctx.known(tiled, "tiled"))
    if ctx.known(to, "to of jax.lax.all_gather") != "varying":
        _refuse(ctx, "to of jax.lax.all_gather", "pystage has what varies only", "leave it out")
    options = {"axis_index_groups": axis_index_groups, "axis": at, "tiled": along}
    call = _Collective(ctx, lax.all_gather, x, axis_name, **options)

    def gathered(array: Array) -> Value:
        value = array.value
        place = at % (array.rank + (not along))
        if not along:
            value = ctx.reshape(value, (*array.shape[:place], 1, *array.shape[place:]))
        return call.op(ops.AllGather(place, call.axes), value)

    return call.of_leaves(gathered)


@meaning(lax.psum_scatter)
def psum_scatter(
    ctx: Context,
    x: Raw,
    axis_name: Raw,
    *,
    scatter_dimension: Raw = 0,
    axis_index_groups: Raw = None,
    tiled: Raw = False,
) -> Abstract:
    """Each participant's part of the sum over all of them; its axis is dropped unless `tiled`."""
    at, along = integer(ctx, scatter_dimension, "the axis of psum_scatter"), bool(ctx.known(tiled, "tiled"))
    options = {"axis_index_groups": axis_index_groups, "scatter_dimension": at, "tiled": along}
    call = _Collective(ctx, lax.psum_scatter, x, axis_name, **options)

    def scattered(array: Array) -> Value:
        made = call.op(ops.ReduceScatter(at, call.axes), array.value)
        return made if along else ctx.reshape(made, (*array.shape[:at], *array.shape[at + 1 :]))

    return call.of_leaves(scattered)


@meaning(lax.all_to_all)
def all_to_all(
    ctx: Context,
    x: Raw,
    axis_name: Raw,
    split_axis: Raw,
    concat_axis: Raw,
    *,
    axis_index_groups: Raw = None,
    tiled: Raw = False,
) -> Abstract:
    """Each participant sends a part along one axis to each, and gets what they send along another."""
    split, concat = [integer(ctx, a, "an axis of all_to_all") for a in (split_axis, concat_axis)]
    along = bool(ctx.known(tiled, "tiled of jax.lax.all_to_all"))
    options = {"axis_index_groups": axis_index_groups, "tiled": along}
    call = _Collective(ctx, lax.all_to_all, x, axis_name, split, concat, **options)

    def exchanged(array: Array) -> Value:
        if along or split == concat:
            return call.op(ops.AllToAll(split, concat, call.axes), array.value)
        # The axis that appears is there with one element before, that which disappears with one element after.
        appears = concat + 1 if split < concat else concat
        leaves = split if split < concat else split + 1
        shape = list(array.shape)
        shape.insert(appears, 1)
        made = call.op(ops.AllToAll(leaves, appears, call.axes), ctx.reshape(array.value, tuple(shape)))
        kept = list(made.type.shape)
        del kept[leaves]
        return ctx.reshape(made, tuple(kept))

    return call.of_leaves(exchanged)


@meaning(lax.pswapaxes)
def pswapaxes(ctx: Context, x: Raw, axis_name: Raw, axis: Raw, *, axis_index_groups: Raw = None) -> Abstract:
    """`all_to_all` along one axis."""
    return all_to_all(ctx, x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


@meaning(lax.ppermute)
def ppermute(ctx: Context, x: Raw, axis_name: Raw, perm: Raw) -> Abstract:
    """The array of another participant, by pairs of who sends and who gets; zeros for who gets none."""
    pairs = tuple([tuple(pair) for pair in ctx.known(perm, "perm of jax.lax.ppermute")])
    call = _Collective(ctx, lax.ppermute, x, axis_name, pairs)
    kind = ops.CollectivePermute(pairs, call.axes)
    return call.of_leaves(lambda array: call.op(kind, array.value))


@meaning(lax.pshuffle)
def pshuffle(ctx: Context, x: Raw, axis_name: Raw, perm: Raw) -> Abstract:
    """The arrays of other participants; `perm` gives the source of each."""
    sources = list(ctx.known(perm, "perm of jax.lax.pshuffle"))
    if set(sources) != set(range(len(sources))):
        ctx.raise_(ValueError(f"`perm` does not represent a permutation: {sources}"))
    return ppermute(ctx, x, axis_name, Const(tuple(zip(sources, range(len(sources))))))


def _of_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an axis as one that also takes an operand without leaves."""
    return functools.wraps(function)(lambda _, axis_name: function(axis_name))


@meaning(lax.axis_index)
def axis_index(ctx: Context, axis_name: Raw) -> Abstract:
    """The index of this participant along an axis, or along several in row-major order."""
    given = ctx.known(axis_name, "the axis of jax.lax.axis_index")
    call = _Collective(ctx, _of_axis(lax.axis_index), Tuple(()), axis_name)
    if not isinstance(given, tuple | list):
        return ctx.jax(ctx.op(ops.AxisIndex(call.axes)))
    index, inner = ops.constant(ctx.b, 0, INT32), 1
    for axis in reversed(call.axes):
        place = ctx.op(ops.Multiply(), ctx.op(ops.AxisIndex((axis,))), ops.constant(ctx.b, inner, INT32))
        index, inner = ctx.op(ops.Add(), index, place), inner * axis.size
    return ctx.jax(index)


@meaning(lax.axis_size)
def axis_size(ctx: Context, axis_name: Raw) -> Abstract:
    """The number of participants of an axis."""
    return Const(_Collective(ctx, _of_axis(lax.axis_size), Tuple(()), axis_name).size)


@meaning(lax.pcast)
def pcast(ctx: Context, x: Raw, axis_name: Raw, *, to: Raw) -> Abstract:
    """The same array, as one that varies over the axis: its cotangent is each participant's own."""
    if ctx.known(to, "to of jax.lax.pcast") != "varying":
        _refuse(
            ctx, "to of jax.lax.pcast", "pystage has `varying` only", "cast outside of the staged function"
        )
    call = _Collective(ctx, functools.wraps(lax.pcast)(lambda tree, _: tree), x, axis_name)
    if not ctx.named_axes().manual.issuperset(call.names):
        _refuse(ctx, call.name, "it is about axes of a mesh", "leave it out")
    return call.of_leaves(lambda array: call.op(ops.Vary(call.axes), array.value))
