"""`pystage.vmap`: stages a call of the callee's batched HLO function.

In: any callable value, abstract arguments, and the batch dimension of each. The callee is inferred for one element of the
batch, with placeholders without the batch dimension, and `batch.Batch` makes the batched function of it. Out: the
callee's result, in which every number is batched. If elements raise, the exception is that of the first.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NoReturn, cast

from ....records import dataclass
from ...ad.calculus import CalculusBuilder
from ...analysis.ranges import ANY
from ...batch.batching import Batch, NotMapped
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_differentiation import StoreInMapped
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.span import Span
from ...hlo.ir import Op, Region, Value
from ...hlo.types import INT64
from ...library.rules.jax import canonical
from ...library.rules.numbers import number_value
from ...ops import Call, Compare, Convert, Minimum, Reduce, Reshape, Select, constant
from ...ops.batching import broadcast_to_batch
from ...ops.foreign.named_axes import NamedAxis
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, ArrayCell, Cell, Const, Meaning, Ref, Tuple, is_number
from ...values.walk import N, children, keys, rebuild, values_of, with_children
from ..calls.calls import call_transformed
from ..core.engine import Engine
from ..objects.copies import Copies, opened
from ..objects.objects import completed
from ..state.merged import CONTAINERS, alone
from ..state.summaries import Summary

Axes = Any
"""The batch dimension of a number, None if it is not batched, or a structure of these like that of the value."""


@dataclass(slots=True)
class _Arguments:
    """The arguments for one element of the batch: placeholders, and the batched arrays that they stand for."""

    engine: Engine
    actual: dict[Value, Value] = field(default_factory=dict)
    batch_size: int | None = None
    is_jax: bool = False
    _made: dict[tuple[int, str], Ref] = field(default_factory=dict)  # by the caller's cell, and its axes

    def element(self, value: Abstract, axes: Axes) -> Abstract:
        """The argument for one element of the batch."""
        if axes is None or (isinstance(value, Const) and value.value is None):
            return value
        match value:
            case Tuple():
                return self._parts(value, axes)
            case Ref() if not self.engine.is_ndarray(value):
                return self._container(value, axes)
        if not isinstance(axes, int):
            self._refuse_structure()
        read = self.engine.read(value)
        if isinstance(read, Const) or not read.type.rank:
            self.engine.raise_(
                ValueError(
                    f"vmap was requested to map its argument along axis {axes}, which implies that its rank "
                    f"should be at least {abs(axes) + (axes >= 0)}, but is only 0 (its shape is ())"
                )
            )
        return self._array(read, axes)

    def _array(self, array: Array, axis: int) -> Abstract:
        shape = array.type.shape
        rank = len(shape) - (array.key_impl is not None)
        if not -rank <= axis < rank:
            self.engine.raise_(
                ValueError(
                    f"vmap was requested to map its argument along axis {axis}, which implies that its rank should "
                    f"be at least {axis + 1 if axis >= 0 else -axis}, but is only {rank} (its shape is {shape})"
                )
            )
        axis %= rank
        if self.batch_size is None:
            self.batch_size = shape[axis]
        elif self.batch_size != shape[axis]:
            self.engine.raise_(
                ValueError(
                    "vmap got inconsistent sizes for array axes to be mapped: "
                    f"{self.batch_size} and {shape[axis]} elements"
                )
            )
        others = [a for a in range(len(shape)) if a != axis]
        front = CalculusBuilder(self.engine.b).transpose(array.value, [axis, *others])
        placeholder = Value(array.type.with_shape(tuple([shape[a] for a in others])), Region(), 0)
        self.actual[placeholder] = front
        if array.form is Form.JAX:
            self.is_jax = True
            return replace(array, value=placeholder, range=ANY)
        if not others:
            return Array(placeholder, Form.SCALAR)
        return self.engine.ndarray(placeholder)

    def _container(self, ref: Ref, axes: Axes) -> Abstract:
        known = self._made.get((ref.cell, repr(axes)))
        if known is not None:
            return known
        content = opened(self.engine, ref)
        made = self._made[ref.cell, repr(axes)] = Ref(self.engine.state.cell_number())
        if content is None:
            self._refuse_structure()
        self.engine.state.set(made.cell, cast(Cell, self._parts(content, axes)))
        return made

    def _parts(self, container: N, axes: Axes) -> N:
        parts = _axes_of_parts(axes, keys(container))
        if parts is None:
            self._refuse_structure()
        return with_children(container, map(self.element, children(container), parts))

    def _refuse_structure(self) -> NoReturn:
        self.engine.raise_(
            ValueError("vmap in_axes must be an int, None, or a structure like that of the argument")
        )


def _axes_of_parts(axes: Axes, keys: Sequence[Any]) -> list[Axes] | None:
    """The axes of the parts of a structure, None if they do not fit it."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(keys)
    if isinstance(axes, tuple | list):
        return list(axes) if len(axes) == len(keys) else None
    if isinstance(axes, dict):
        return [axes[k] for k in keys] if set(axes) == set(keys) else None
    return None


class _Result(Copies):
    """Gives every number of one element's result an array of its own, so that it can be batched."""

    def __init__(self, engine: Engine, is_jax: bool) -> None:
        super().__init__(engine.state)
        self._engine = engine
        self._is_jax = is_jax

    def leaf(self, x: Abstract) -> Abstract:
        engine = self._engine
        if isinstance(x, Const) and x.value is None:
            return x
        if isinstance(x, Bounded):
            why = "each element's result has a size of its own, which only the run knows"
            instead = "loop over the elements and append to a list, or give arrays of one size"
            raise DiagnosticError(NotServed(span=engine.b.span, name="vmap", why=why, instead=instead))
        if not is_number(x) and not engine.is_ndarray(x):
            engine.raise_(TypeError("a function that is mapped gives numbers and arrays, in any structure"))
        read = engine.number(x)
        form = read.form if isinstance(read, Array) else Form.PYTHON
        whole = number_value(engine.b, read)
        own = engine.b.op(Reshape(whole.type.shape), whole)
        if form is Form.JAX:
            return replace(cast(Array, read), value=own)
        if form is Form.PYTHON and self._is_jax:
            return Array(
                engine.b.op(Convert(canonical(own.type.dtype, engine.x64)), own), Form.JAX, weak=True
            )
        return engine.ndarray(own)

    def object(self, ref: Ref) -> Abstract:
        return self.leaf(ref) if self._engine.is_ndarray(ref) else super().object(ref)

    def contents(self, cell: int) -> Cell:
        content = completed(self._engine, self._engine.cell(Ref(cell)))
        if not isinstance(content, CONTAINERS):
            self._engine.raise_(TypeError("a function that is mapped gives numbers and arrays"))
        return content


def mapped(
    engine: Engine,
    function: Abstract,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    in_axes: Axes,
    out_axes: Axes,
    name: Hashable = None,
) -> Abstract:
    """The callee's batched results; `name`: of the axis of the batch for collectives.

    ValueError for axes that do not fit, as JAX raises it.
    """
    if isinstance(in_axes, tuple | list):
        if len(in_axes) != len(args):
            engine.raise_(
                ValueError(
                    "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional "
                    f"arguments passed to the function, but got {len(in_axes)} of them for {len(args)} arguments"
                )
            )
        axes = list(in_axes)
    else:
        axes = [in_axes] * len(args)
    given = _Arguments(engine)
    own = [given.element(a, axis) for a, axis in zip(args, axes)]
    named = {name: given.element(a, 0) for name, a in kwargs.items()}
    batch_size = given.batch_size
    if batch_size is None:
        engine.raise_(ValueError("vmap must have at least one non-None value in in_axes"))
    batch = Batch(batch_size, name=name)
    inside = engine.axes if name is None else engine.axes.extended([NamedAxis(name, batch_size)])

    def one(ctx: Engine, /, *inner: Abstract, **rest: Abstract) -> Abstract:
        with engine.naming(inside):
            return _Result(ctx, given.is_jax).of(engine.call(function, inner, rest))

    def put(summary: Summary, actual: Sequence[Value]) -> Mapping[Value, Value]:
        if summary.reached or summary.outer:
            raise DiagnosticError(StoreInMapped(span=_location_of_change(summary) or engine.b.span))
        if summary.output is not None:
            raise DiagnosticError(_not_mapped("print", engine.b.span))
        flags = tuple([v in given.actual for v in actual])
        return _apply_to_all(engine, batch, summary, [given.actual.get(v, v) for v in actual], flags)

    result = call_transformed(engine, Meaning("one element", one), own, named, put)
    return _Axes(engine).moved(result, out_axes)


def _location_of_change(summary: Summary) -> Span | None:
    """The location where a callee computed the last value that it stored."""
    changed = [
        v for content in (*summary.reached.values(), *summary.outer.values()) for v in values_of(content)
    ]
    spans = [v.owner.span for v in changed if isinstance(v.owner, Op)]
    return spans[-1] if spans else None


def _not_mapped(name: str, span: Span | None) -> NotServed:
    why = "the function runs for many inputs at once here"
    instead = "do it outside of the function"
    return NotServed(span=span, name=name, why=why, instead=instead)


def _apply_to_all(
    engine: Engine, batch: Batch, summary: Summary, actual: Sequence[Value], flags: tuple[bool, ...]
) -> Mapping[Value, Value]:
    """Stages a call of the batched function; it raises what the first element that raises does."""
    function, body = summary.function, summary.function.body
    stand_in: dict[Value, Value] = {}
    given = dict(zip(body.params, zip(actual, flags, strict=True), strict=True))
    if not batch.batch_size:
        _forget_error(engine, summary)
    if summary.error is not None:
        raised = dict.fromkeys(v for v in values_of(summary.error) if v in body.results or v in given)
        stand_in = {v: Value(v.type, Region(), 0) for v in raised}
        code = summary.error.code
        summary.error = rebuild(summary.error, lambda v: stand_in.get(v, v), lambda c: c)
    try:
        made = batch.function(function, flags)
    except NotMapped as problem:
        raise DiagnosticError(_not_mapped(str(problem), problem.span)) from None
    results = engine.b.apply(Call(made), actual, pure=summary.pure).results
    batched = batch.results(function, flags)
    c = CalculusBuilder(engine.b)
    by = dict(zip(body.results, zip(results, batched), strict=True))
    first = constant(engine.b, 0, INT64)  # where all raise alike
    known = {**given, **by}
    if stand_in and isinstance(code, Value) and known[code][1]:
        first = _first_raised(engine, known[code][0], batch.batch_size)
    found = dict(zip(body.params, actual, strict=True))
    for old, (value, flag) in by.items():
        found[old] = broadcast_to_batch(c, value, flag, batch.batch_size, old.type.shape)
    for old, placeholder in stand_in.items():
        value, flag = known[old]
        if flag:
            shape = old.type.shape
            zero = constant(engine.b, 0, INT64)
            value = c.reshape(c.dynamic_slice(value, [first, *[zero] * len(shape)], (1, *shape)), shape)
        found[placeholder] = value
    return found


def _forget_error(engine: Engine, summary: Summary) -> None:
    """An empty batch raises nothing; a function that always raises has no result to batch."""
    if summary.raises is not None:
        why, instead = "the function always raises and the batch is empty", "map over at least one element"
        raise DiagnosticError(NotServed(span=engine.b.span, name="vmap", why=why, instead=instead))
    summary.error = None


def _first_raised(engine: Engine, codes: Value, batch_size: int) -> Value:
    """The first element whose error code is not 0; the first of all if there is none."""
    b, c = engine.b, CalculusBuilder(engine.b)
    raised = b.op(Compare("NE"), codes, c.zeros(codes.type))
    places = c.iota(INT64, (batch_size,), 0)
    found = c.filled(places.type, batch_size)
    end = constant(b, batch_size, INT64)
    least = b.op(Reduce(Minimum(), (0,)), b.op(Select(), raised, places, found), end)
    none = b.op(Compare("GE"), least, end)
    return b.op(Select(), none, constant(b, 0, INT64), least)


class _Axes:
    """Moves the batch dimension of a result to `out_axes`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._done: set[int] = set()

    def moved(self, value: Abstract, axes: Axes) -> Abstract:
        """The result with its batch dimension at `axes`."""
        engine = self._engine
        match value:
            case Tuple():
                return self._parts(value, axes)
            case Array():
                return replace(value, value=self._transposed(value.value, axes))
            case Ref(cell) if cell not in self._done:
                self._done.add(cell)
                content = engine.state.get(cell)
                if isinstance(content, ArrayCell):
                    engine.state.set(cell, replace(content, value=self._transposed(content.value, axes)))
                elif isinstance(content, CONTAINERS):
                    engine.state.set(cell, self._parts(alone(content), axes))
        return value

    def _parts(self, container: N, axes: Axes) -> N:
        parts = _axes_of_parts(axes, keys(container))
        if parts is None:
            self._engine.raise_(
                ValueError("vmap out_axes must be an int, or a structure like that of the result")
            )
        return with_children(container, map(self.moved, children(container), parts))

    def _transposed(self, value: Value, axis: Axes) -> Value:
        rank = value.type.rank
        if axis is None:
            raise DiagnosticError(_not_mapped("None in out_axes of a result", self._engine.b.span))
        if not isinstance(axis, int) or not -rank <= axis < rank:
            self._engine.raise_(ValueError(f"vmap out_axes is {axis} for a result with {rank} axes"))
        others = list(range(1, rank))
        others.insert(axis % rank, 0)
        return CalculusBuilder(self._engine.b).transpose(value, others)
