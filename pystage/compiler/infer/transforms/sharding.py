"""`jax.shard_map` in staged source: a call of the function that runs on every device of a mesh.

The function is inferred for one device, with placeholders for its parts of the arrays. What it uses of the program around
it is the same on all devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

import jax
from jax.sharding import AxisType, Mesh, PartitionSpec
from jax.tree_util import PyTreeDef

from ...ad.resolve_varying import resolve_varying
from ...analysis.ranges import ANY
from ...analysis.varying import Divergent
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_jax import RefusedByJax
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.builder import Builder
from ...hlo.ir import Function, Region, Value
from ...hlo.types import ShapeError
from ...library.context import Raw
from ...library.jax.loop_carries import array_leaf
from ...library.jax.pytrees import flatten, unflatten
from ...library.registry import meaning
from ...library.rules.jax import is_none
from ...ops import Call, ShardMap
from ...ops.collectives.shard_map import Spec, named_in
from ...ops.foreign.named_axes import NamedAxes, NamedAxis
from ...values.lattice import Abstract, Array, Meaning, Tuple
from ..calls.calls import call_transformed
from ..core.engine import Engine
from ..state.summaries import Summary

NAME = "jax.shard_map"


def _refuse(engine: Engine, why: str, instead: str) -> NoReturn:
    raise DiagnosticError(NotServed(span=engine.b.span, name=NAME, why=why, instead=instead))


def _misuse(engine: Engine, error: Exception) -> NoReturn:
    raise DiagnosticError(RefusedByJax(span=engine.b.span, reason=str(error))) from error


@meaning(jax.shard_map)
def shard_map(
    engine: Engine,
    f: Raw = None,
    /,
    *,
    out_specs: Raw,
    in_specs: Raw = None,
    mesh: Raw = None,
    axis_names: Raw = frozenset(),
    check_vma: Raw = True,
) -> Abstract:
    """The function on every device of a mesh, applied to parts of the arrays."""
    options = {"out_specs": out_specs, "in_specs": in_specs, "mesh": mesh}
    known = {name: engine.known(value, f"{name} of {NAME}") for name, value in options.items()}
    checked = bool(engine.known(check_vma, f"check_vma of {NAME}"))
    names = engine.known(axis_names, f"axis_names of {NAME}")
    if names and names != frozenset(getattr(known["mesh"], "axis_names", ())):
        _refuse(engine, "pystage splits over all axes of the mesh", "leave out axis_names")

    def of(function: Abstract) -> Meaning:
        def call(inner: Engine, *args: Abstract) -> Abstract:
            return _Sharded(inner, function, checked, **known).call(args)

        return Meaning(NAME, call)

    if is_none(f):
        return Meaning(NAME, lambda _, function: of(function))
    return of(f)


def _axes_of(engine: Engine, mesh: Any, checked: bool) -> NamedAxes:
    if engine.named_axes().manual:
        _refuse(engine, "it stands inside another one", "name all axes in the outer one")
    if mesh is None:
        mesh = jax.sharding.get_abstract_mesh()
        if mesh.empty:
            _misuse(engine, ValueError("The context mesh cannot be empty. Use `jax.set_mesh(mesh)`"))
        _refuse(engine, "its mesh is the one in force", "give `mesh=`")
    if not isinstance(mesh, Mesh):
        _refuse(engine, "its mesh has no devices", "give a jax.sharding.Mesh")
    if any(kind is not AxisType.Auto for kind in mesh.axis_types):
        why = "the types of the program's arrays say nothing of a mesh whose axes are explicit or manual"
        _refuse(engine, why, "make the mesh with axis_types=(jax.sharding.AxisType.Auto,)")
    axes = [NamedAxis(name, size) for name, size in mesh.shape.items()]
    return engine.axes.extended(axes, manual=True, checked=checked)


def _spec(spec: PartitionSpec) -> Spec:
    """The names of the axes of a mesh by axis of the array."""
    return tuple([() if n is None else tuple(n) if isinstance(n, tuple) else (n,) for n in spec])


class _Sharded:
    """One call: the mesh, the layouts of arguments and results, and the function."""

    def __init__(
        self, engine: Engine, function: Abstract, checked: bool, *, in_specs: Any, out_specs: Any, mesh: Any
    ) -> None:
        self._engine = engine
        self._function = function
        self._in_specs, self._out_specs, self._mesh = in_specs, out_specs, mesh
        self._axes = _axes_of(engine, mesh, checked)
        self._checked = checked
        self._tree: PyTreeDef | None = None

    def call(self, args: Sequence[Abstract]) -> Abstract:
        """The function's result, in which arrays are those of all devices together."""
        engine = self._engine
        leaves, tree = flatten(engine, Tuple(tuple(args)))
        arrays = [array_leaf(engine, leaf, NAME) for leaf in leaves]
        specs = self._layouts(arrays, tree)
        empty = ShardMap(Function("", Region()), self._mesh, self._axes, (), ())
        given: dict[Value, tuple[Value, Spec]] = {}
        parts: list[Abstract] = []
        for array, spec in zip(arrays, specs, strict=True):
            placeholder = Value(empty.part(array.type, spec), Region(), 0)
            given[placeholder] = array.value, spec
            parts.append(replace(array, value=placeholder, range=ANY))

        def one(own: Engine, *inner: Abstract) -> Abstract:
            whole = unflatten(own, tree, list(inner))
            with own.naming(self._axes):
                result = own.call(self._function, cast(Tuple, whole).items)
            found, self._tree = flatten(own, result)
            return Tuple(tuple([array_leaf(own, leaf, NAME) for leaf in found]))

        def put(summary: Summary, actual: Sequence[Value]) -> Mapping[Value, Value]:
            return self._put(summary, [given.get(v, (v, ())) for v in actual], empty)

        made = call_transformed(engine, Meaning("one device", one), parts, {}, put)
        assert self._tree is not None
        return unflatten(engine, self._tree, cast(Tuple, made).items)

    def _layouts(self, arrays: Sequence[Array], tree: PyTreeDef) -> list[Spec]:
        """How the arguments are split, which JAX checks."""
        structs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]
        run = jax.shard_map(
            lambda *_: (), mesh=self._mesh, in_specs=self._in_specs, out_specs=(), check_vma=self._checked
        )
        args = jax.tree.unflatten(tree, structs)
        try:
            jax.eval_shape(run, *args)
        except Exception as error:
            _misuse(self._engine, error)
        return self._spread(self._in_specs, tree)

    def _spread(self, specs: Any, tree: PyTreeDef) -> list[Spec]:
        """The layouts of the leaves of a structure, of which `specs` is a prefix."""
        whole = jax.tree.unflatten(tree, range(tree.num_leaves))
        try:
            spread = jax.tree.broadcast(specs, whole, is_leaf=lambda x: isinstance(x, PartitionSpec))
        except ValueError as error:
            _misuse(self._engine, error)
        found = jax.tree.leaves(spread, is_leaf=lambda x: isinstance(x, PartitionSpec))
        if not all(isinstance(spec, PartitionSpec) for spec in found):
            _refuse(self._engine, "not every layout is a PartitionSpec", "give jax.P for each")
        return [_spec(spec) for spec in found]

    def _put(
        self, summary: Summary, actual: Sequence[tuple[Value, Spec]], empty: ShardMap
    ) -> Mapping[Value, Value]:
        """Puts the function into the program, with one result for each leaf."""
        engine, old = self._engine, summary.function
        if summary.reached or summary.outer:
            _refuse(engine, "the function stores into what is outside of it", "return what it stores")
        if summary.output is not None or not summary.pure:
            _refuse(engine, "the function calls the host on each device", "print outside of it")
        if summary.error is not None or summary.raises is not None:
            _refuse(engine, "the function may raise on one device", "check what it checks outside of it")
        assert self._tree is not None
        leaves = [cast(Array, leaf).value for leaf in cast(Tuple, summary.result).items]
        laid_out = dict(zip(leaves, self._spread(self._out_specs, self._tree), strict=True))
        if len(laid_out) < len(leaves):
            _refuse(engine, "one array is returned twice", "return it once")
        body = Region(old.param_types)
        found = dict(zip(old.body.params, body.params, strict=True))
        found.update(zip(old.body.results, Builder(body).apply(Call(old), body.params).results, strict=True))
        body.results = tuple([found[v] for v in leaves])
        made = self._resolved(old.rewritten(body), [spec for _, spec in actual], list(laid_out.values()))
        ins = tuple([spec for _, spec in actual])
        kind = replace(empty, function=made, in_specs=ins, out_specs=tuple(laid_out.values()))
        try:
            results = engine.b.apply(kind, [value for value, _ in actual]).results
        except ShapeError as error:
            _misuse(engine, error)
        return dict(zip(leaves, results, strict=True))

    def _resolved(self, function: Function, ins: Sequence[Spec], outs: Sequence[Spec]) -> Function:
        """The function with cotangents summed over devices; PS651 for a varying result that is declared to be the same."""
        try:
            made, found = resolve_varying(function, [named_in(spec) for spec in ins], self._axes)
        except Divergent as error:
            raise DiagnosticError(error.diagnostic(self._engine.b.span)) from None
        for varying, spec in zip(found, outs, strict=True):
            if self._checked and varying - named_in(spec):
                names = ", ".join(sorted(map(repr, varying - named_in(spec))))
                text = f"out_specs says that a result is the same over {names}, and it varies"
                _misuse(self._engine, ValueError(text))
        return made
