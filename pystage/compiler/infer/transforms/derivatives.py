"""`pystage.grad` and its relatives: stage calls of transformed HLO functions.

In: any callable value and abstract arguments. Every floating-point number in the differentiated arguments becomes a
placeholder, and so a parameter of the inferred HLO function; the transformed function is called with the numbers
themselves. Out: the callee's result and effects as of a plain call, and derivatives in the structure of the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

import numpy as np

from ....records import dataclass
from ...ad.calculus import CalculusBuilder, differentiable
from ...ad.forward import ForwardMode
from ...ad.reverse import ReverseMode
from ...ad.strip_io import strip_io
from ...analysis.ranges import ANY
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_differentiation import NoDerivative, NoSuchArgument
from ...diagnostics.codes_mutation import UncertainAlias
from ...diagnostics.diagnostic import DiagnosticError, Note
from ...diagnostics.span import Span
from ...hlo.calculus import NotDifferentiable
from ...hlo.ir import Region, Value
from ...library.numpy.subscripts import structured
from ...library.rules.numbers import number_value
from ...ops import constant
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, ArrayCell, Cell, Const, Records, Ref, Tuple, Undef
from ...values.node import TreeNode
from ...values.slots import Hidden, Purpose, Slot
from ...values.walk import cells_of, children, keys, map_children, rebuild, values_of
from ..calls.calls import call_transformed, put_transformed
from ..core.engine import Engine
from ..diagnostics.describe import describe
from ..diagnostics.foreign import called_at
from ..diagnostics.provenance import is_library
from ..objects.copies import Copies, class_of, opened
from ..objects.objects import completed
from ..state.merged import CONTAINERS, aliases_of, stamp_versions
from ..state.summaries import Summary

Arguments = Sequence[Abstract]
Named = Mapping[str, Abstract]


class Leaves(Copies):
    """The numbers to differentiate by: a placeholder for each, and the value that it stands for.

    Objects of the caller's become objects of the call's own (`fresh`: their cells, with the caller's), so that an
    array that is given twice is two arguments.
    """

    def __init__(self, engine: Engine, serves_bounded: bool) -> None:
        super().__init__(engine.state)
        self.engine = engine
        self.serves_bounded = serves_bounded
        """False where arrays of bounded extent are refused."""
        self.copied: set[int] = set()
        """The cells with copies of what views and bounded arrays of the caller's have: nothing may be stored into them."""
        self.actual: dict[Value, Value] = {}
        self.fresh: dict[int, int] = {}
        self.before: dict[int, Cell] = {}
        """The contents of the call's own objects before it."""

    def argument(self, value: Abstract) -> Abstract:
        """One argument with a placeholder for every number that has a derivative."""
        self.made = {}
        lifted = self.of(value)
        for cell, own in self.made.items():
            self.fresh[own.cell] = cell
            self.before[own.cell] = self.engine.state.get(own.cell)
        return lifted

    def leaf(self, x: Abstract) -> Abstract:
        match x:
            case Array():
                return replace(x, value=self._placeholder(x.value))
            case Const(float() | complex() | np.inexact() as number):
                form = Form.SCALAR if isinstance(number, np.inexact) else Form.PYTHON
                return Array(self._placeholder(constant(self.engine.b, number)), form)
            case Records(parts=parts, element=element):
                if element or not all(isinstance(part, Ref) and not part.path for part in parts):
                    structured.refuse(self.engine, "a derivative by a part", "give a copy of it: `.copy()`")
                return map_children(x, self.of)
            case Bounded(whole=whole):
                if not self.serves_bounded:
                    _refuse_bounded(self.engine)
                own = self._copy(whole) if isinstance(whole, Ref) else self.leaf(whole)
                return replace(x.anew(), whole=cast(Ref | Array, own))
        return x

    def object(self, ref: Ref) -> Abstract:
        if ref.path:  # a view is differentiated by as an array of its own
            return self._copy(ref)
        return super().object(ref)

    def _copy(self, ref: Ref) -> Abstract:
        made = self.engine.ndarray(self.engine.contents(ref))
        if isinstance(made, Ref):
            self.copied.add(made.cell)
        return self.of(made)

    def contents(self, cell: int) -> Cell:
        return completed(self.engine, self.engine.cell(Ref(cell)))

    def array(self, content: ArrayCell) -> ArrayCell:
        return replace(content, value=self._placeholder(content.value))

    def _placeholder(self, value: Value) -> Value:
        if not differentiable(value.type):
            return value
        made = Value(value.type, Region(), 0)
        self.actual[made] = value
        return made

    def write_back(self, others: Sequence[Abstract], before: Mapping[int, Cell]) -> None:
        """Applies the changes of the call to the caller's objects; PS501 where others name them too."""
        state = self.engine.state
        shared = {**state.reachable(others), **dict.fromkeys(self.engine.externals.captured)}
        written: set[int] = set()
        for number, original in self.fresh.items():
            changed = state.get(number) is not self.before[number]
            moved = state.get(original) is not before[original]
            uncertain = bool(aliases_of(before[original]))
            lost = original in self.copied
            if (changed and (original in shared or original in written or uncertain or lost)) or moved:
                what = describe(Ref(original), state).partition(" of ")[0]
                raise DiagnosticError(UncertainAlias(span=self.engine.b.span, what=what))
            if changed:
                written.add(original)
        for number, original in self.fresh.items():
            if original in written:
                state.set(original, rebuild(state.get(number), self.number, self.owner))

    def hand_over(self, results: Sequence[Abstract]) -> None:
        """Replaces the call's own objects by the caller's in all that results, arguments and environment reach.

        So too in merged cells, which one of those may be.
        """
        state = self.engine.state
        variables = self.engine.namespaces.written(self.engine.state)
        captured = [*self.fresh.values(), *self.engine.externals.captured]
        values = [cast(Abstract, state.get(variable)) for variable in variables]
        reached = state.reachable([*results, *values, *map(Ref, captured)])
        slots: list[Slot] = [*reached, *[c for c in state.merged if c in state.slots], *variables]
        found = [slot for slot in slots if self._names_own(state.get(slot))]
        for slot in dict.fromkeys(found):
            state.set(slot, rebuild(state.get(slot), self.number, self.owner))
        stamp_versions(state, [slot for slot in found if isinstance(slot, int)])

    def _names_own(self, content: Any) -> bool:
        """Whether something refers to an object of the call's own, or holds a placeholder."""
        named = [*cells_of(content), *[s.cell for s in aliases_of(content)]]
        return any(c in self.fresh for c in named) or any(v in self.actual for v in values_of(content))

    def number(self, value: Value) -> Value:
        """The value of a placeholder; any other value is itself."""
        return self.actual.get(value, value)

    def owner(self, cell: int) -> int:
        """The caller's cell for one of the call's own; any other cell is itself."""
        return self.fresh.get(cell, cell)


class Filled(Copies):
    """The structure of lifted arguments before the call (`contents`), with numbers in place of placeholders."""

    def __init__(
        self,
        engine: Engine,
        contents: Mapping[int, Cell],
        by: Mapping[Value, Value],
        serves_bounded: bool = False,
    ) -> None:
        super().__init__(engine.state)
        self._engine = engine
        self._contents = contents
        self._by = by
        self._serves_bounded = serves_bounded

    def leaf(self, x: Abstract) -> Abstract:
        if isinstance(x, Records):
            return map_children(x, self.of)
        if isinstance(x, Bounded):
            if not self._serves_bounded:
                _refuse_bounded(self._engine)
            return replace(x.anew(), whole=cast(Ref | Array, self.of(x.whole)))
        found = self._by.get(x.value) if isinstance(x, Array) else None
        return x if found is None else replace(cast(Array, x), value=found, range=ANY)

    def contents(self, cell: int) -> Cell:
        return self._contents[cell]

    def array(self, content: ArrayCell) -> ArrayCell:
        return ArrayCell(self._by.get(content.value, content.value))


@dataclass(slots=True)
class Lifted:
    """A call whose numbers are placeholders: its arguments, and the numbers to differentiate by."""

    args: list[Abstract]
    chosen: list[Abstract]
    leaves: Leaves

    def filled(self, by: Mapping[Value, Value]) -> list[Abstract]:
        """The structures of the arguments to differentiate by, of new objects, with other numbers for the placeholders."""
        made = Filled(self.leaves.engine, self.leaves.before, by, self.leaves.serves_bounded)
        return [made.of(x) for x in self.chosen]


def _refuse_bounded(engine: Engine) -> NoReturn:
    why = "only the run knows the size of an array among the arguments or results"
    instead = "use `grad` or `value_and_grad`, which serve it as an argument"
    raise DiagnosticError(NotServed(span=engine.b.span, name="this derivative", why=why, instead=instead))


def lifted(engine: Engine, args: Arguments, positions: Sequence[int], serves_bounded: bool = False) -> Lifted:
    """Lifts some arguments. `serves_bounded`: bounded arrays too, which are refused otherwise."""
    leaves = Leaves(engine, serves_bounded)
    given = list(args)
    for position in positions:
        given[position] = leaves.argument(given[position])
    return Lifted(given, [given[p] for p in positions], leaves)


def _no_derivative(error: NotDifferentiable, span: Span | None) -> NoDerivative:
    """The diagnostic at the operation, with the call of the derivative, or at that alone."""
    if error.at is None or error.at == span:
        return NoDerivative(span=span, what=str(error))
    text, what = "the derivative is called here", str(error)
    written = called_at(error.at)
    if _OPCODE.fullmatch(what) and written is not None and not is_library(error.at):
        what = f"`{written}`"
    notes = () if is_library(span) else (Note(text, span, text),)
    return NoDerivative(span=error.at, what=what, notes=notes)


_OPCODE = re.compile("`[a-z_]+`")
"""The opcode of an operation of the program, for which the source has a name of its own."""


Put = Callable[[Summary, list[Value], dict[Value, Value]], Sequence[Value]]
"""Puts the derivative of a callee into the program: it gets the values of the parameters, and the parameters by
placeholder, and gives the values of the callee's results."""


def call_lifted(engine: Engine, function: Abstract, call: Lifted, kwargs: Named, put: Put) -> Abstract:
    """Calls a function with lifted arguments: `put` gets the parameters' values with and without placeholders."""

    def transform(summary: Summary, actual: Sequence[Value]) -> Mapping[Value, Value]:
        body = summary.function.body
        parameters = dict(zip(actual, body.params, strict=True))
        by_leaf = {leaf: parameters[leaf] for leaf in call.leaves.actual if leaf in parameters}
        numbers = [call.leaves.number(v) for v in actual]
        if summary.raises is not None:
            results = put_transformed(engine, summary, summary.function, numbers)
        else:
            try:
                results = put(summary, numbers, by_leaf)
            except NotDifferentiable as error:
                raise DiagnosticError(_no_derivative(error, engine.b.span)) from None
        return {
            **dict(zip(body.params, numbers, strict=True)),
            **dict(zip(body.results, results, strict=True)),
        }

    leaves = call.leaves
    before = {cell: engine.state.get(cell) for cell in leaves.fresh.values()}
    names = (engine.state.new_frame(), Hidden(Purpose.ARGUMENTS))
    engine.state.set(names, Tuple(tuple(map(Ref, leaves.fresh))))  # the caller's own names for them
    result = call_transformed(engine, function, call.args, kwargs, transform, may_draw=True)
    engine.state.set(names, Undef())
    others = [a for a in (*call.args, *kwargs.values()) if not any(a is c for c in call.chosen)]
    leaves.write_back([function, *others], before)
    result = rebuild(result, leaves.number, leaves.owner)
    leaves.hand_over([result])
    return result


def scalar_result(engine: Engine, summary: Summary, has_aux: bool) -> Value | None:
    """The value to differentiate, in the callee's own terms; None for one that nothing depends on."""
    result = summary.result
    if has_aux:
        if not isinstance(result, Tuple) or len(result.items) != 2:
            engine.raise_(
                TypeError("Expected a two-element tuple (value, aux) from a function with has_aux=True")
            )
        result = result.items[0]
    if isinstance(result, Const) and isinstance(result.value, float | np.floating):
        return None
    value = result.value if isinstance(result, Array) else None
    if isinstance(result, Ref):
        cell = summary.made.get(result.cell)
        value = cell.value if isinstance(cell, ArrayCell) and not result.path else None
    if isinstance(result, Const) and isinstance(result.value, int | np.integer):
        engine.raise_(TypeError(f"grad requires real-valued outputs, but got {type(result.value).__name__}."))
    if value is None:
        engine.raise_(TypeError("Gradient only defined for scalar-output functions. Output was no number."))
    if value.type.shape:
        engine.raise_(
            TypeError(
                f"Gradient only defined for scalar-output functions. Output had shape: {value.type.shape}."
            )
        )
    if value.type.dtype.kind not in "fV":
        engine.raise_(TypeError(f"grad requires real-valued outputs, but got {value.type.dtype}."))
    return value


def value_and_gradients(
    engine: Engine,
    function: Abstract,
    args: Arguments,
    kwargs: Named,
    positions: Sequence[int],
    has_aux: bool,
) -> tuple[Abstract, list[Abstract]]:
    """The callee's result, and its gradients by the arguments at `positions`."""
    for position in positions:
        if not 0 <= position < len(args):
            raise DiagnosticError(NoSuchArgument(span=engine.b.span, argument=str(position), count=len(args)))
        _require_real(engine, args[position])
    gradients: dict[Value, Value] = {}

    def put(summary: Summary, actual: list[Value], by_leaf: dict[Value, Value]) -> Sequence[Value]:
        body = summary.function.body
        output = scalar_result(engine, summary, has_aux)
        c = CalculusBuilder(engine.b)
        if output is None:
            gradients.update((leaf, c.zeros(leaf.type)) for leaf in by_leaf)
            return put_transformed(engine, summary, summary.function, actual)
        if output not in body.results:  # it is a parameter
            gradients.update(
                (leaf, c.filled(leaf.type, 1) if param is output else c.zeros(leaf.type))
                for leaf, param in by_leaf.items()
            )
            return put_transformed(engine, summary, summary.function, actual)
        wanted = set(by_leaf.values())
        made = ReverseMode(bool(engine.axes.checked)).function(
            summary.function,
            tuple([p in wanted for p in body.params]),
            tuple([r is output for r in body.results]),
        )
        results = put_transformed(engine, summary, made, [*actual, c.filled(output.type, 1)])
        count = len(body.results)
        found = dict(zip([p for p in body.params if p in wanted], results[count:], strict=True))
        gradients.update((leaf, found[param]) for leaf, param in by_leaf.items())
        return results[:count]

    call = lifted(engine, args, positions, serves_bounded=True)
    result = call_lifted(engine, function, call, kwargs, put)
    c = CalculusBuilder(engine.b)
    by = {leaf: gradients[leaf] if leaf in gradients else c.zeros(leaf.type) for leaf in call.leaves.actual}
    return result, call.filled(by)


def _require_real(engine: Engine, value: Abstract) -> None:
    """A number to differentiate by is real or complex, as in JAX."""
    if isinstance(value, Array | Ref) or (
        isinstance(value, Const) and isinstance(value.value, int | np.integer)
    ):
        read = engine.read(value) if not isinstance(value, Ref) or _is_array(engine, value) else None
        if isinstance(read, Array) and not differentiable(read.type):
            engine.raise_(TypeError(f"grad requires real- or complex-valued inputs, but got {read.dtype}."))
        if isinstance(read, Const) and not isinstance(read.value, float | complex | np.inexact):
            engine.raise_(
                TypeError(
                    f"grad requires real- or complex-valued inputs, but got {type(read.value).__name__}."
                )
            )


def _is_array(engine: Engine, ref: Ref) -> bool:
    return isinstance(engine.state.get(ref.cell), ArrayCell)


def directional(
    engine: Engine, function: Abstract, primals: Arguments, tangents: Arguments, again: bool = False
) -> tuple[Abstract, Abstract]:
    """The callee's result, and its derivative along the tangents, which have the structure of the primals.

    `again`: the same call has run before, and has printed what it prints.
    """
    call = lifted(engine, primals, range(len(primals)))
    given = _matched(engine, call, tangents)
    moved: dict[Value, Value] = {}

    def put(summary: Summary, actual: list[Value], by_leaf: dict[Value, Value]) -> Sequence[Value]:
        body = summary.function.body
        leaf_of = {param: leaf for leaf, param in by_leaf.items()}
        leaf_params.update(by_leaf)
        mask = tuple([p in leaf_of for p in body.params])
        forward, function = (
            ForwardMode(bool(engine.axes.checked)),
            strip_io(summary.function) if again else summary.function,
        )
        made = forward.function(function, mask)
        directions = [given[leaf_of[p]] for p in body.params if p in leaf_of]
        results = put_transformed(engine, summary, made, [*actual, *directions])
        count = len(body.results)
        flags = forward.results(function, mask)
        varied = [r for r, flag in zip(body.results, flags, strict=True) if flag]
        moved.update(zip(varied, results[count:], strict=True))
        outer.update([*zip(body.params, actual, strict=True), *zip(body.results, results)])
        inner.append(summary)
        return results[:count]

    inner: list[Summary] = []
    outer: dict[Value, Value] = {}  # by the callee's values, those of the program
    leaf_params: dict[Value, Value] = {}
    result = call_lifted(engine, function, call, {}, put)
    (summary,) = inner
    c = CalculusBuilder(engine.b)

    for leaf, param in leaf_params.items():
        moved.setdefault(param, given[leaf])

    def tangent(v: Value) -> Value:
        return moved[v] if v in moved else c.zeros(v.type) if differentiable(v.type) else outer.get(v, v)

    by = {v: tangent(v) for v in _all_values(summary)}
    return result, Filled(engine, {**summary.made, **_reached(summary)}, by).of(summary.result)


def _reached(summary: Summary) -> dict[int, Cell]:
    """The contents that the callee stored into the cells of its arguments, by the callee's cell numbers."""
    cells = {position: cell for cell, position in summary.parameters.items()}
    return {cells[position]: content for position, content in summary.reached.items()}


def _all_values(summary: Summary) -> list[Value]:
    contents: list[Abstract | Cell] = [summary.result, *summary.made.values(), *summary.reached.values()]
    return [v for content in contents for v in values_of(content)]


def _matched(engine: Engine, call: Lifted, tangents: Arguments) -> dict[Value, Value]:
    """By placeholder, the number that stands at its place in the tangents. TypeError if the structures differ."""
    found: dict[Value, Value] = {}

    def match(primal: Abstract, tangent: Abstract) -> None:
        ours: TreeNode | None = primal
        if isinstance(primal, Records):
            structured.refuse(engine, "a tangent", "write the function of its fields")
        if isinstance(primal, Ref):
            ours = call.leaves.before.get(primal.cell)
        if isinstance(ours, Array | ArrayCell):
            if ours.value in call.leaves.actual:
                _same_type(engine, found, ours.value, tangent)
        elif isinstance(ours, (Tuple, *CONTAINERS)):
            theirs = opened(engine, tangent)
            same = theirs is not None and class_of(ours) is class_of(theirs)
            at = dict(zip(keys(theirs), children(theirs))) if same and theirs is not None else {}
            if not same or set(keys(ours)) != set(at):
                engine.raise_(TypeError("primal and tangent arguments must have the same structure"))
            for key, part in zip(keys(ours), children(ours)):
                match(part, at[key])

    if len(tangents) != len(call.chosen):
        engine.raise_(TypeError(f"{len(call.chosen)} primals need as many tangents, not {len(tangents)}"))
    for primal, tangent in zip(call.chosen, tangents):
        match(primal, tangent)
    c = CalculusBuilder(engine.b)
    return {leaf: found[leaf] if leaf in found else c.zeros(leaf.type) for leaf in call.leaves.actual}


def _same_type(engine: Engine, found: dict[Value, Value], leaf: Value, tangent: Abstract) -> None:
    read = engine.read(tangent)
    value = number_value(engine.b, read)
    if value.type.shape != leaf.type.shape:
        engine.raise_(
            TypeError(
                f"primal and tangent must have equal shapes, not {leaf.type.shape} and {value.type.shape}"
            )
        )
    found[leaf] = CalculusBuilder(engine.b).convert(value, leaf.type.dtype)
