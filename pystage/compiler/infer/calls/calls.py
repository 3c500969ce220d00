"""Calls of user functions: a body is inferred once (`callee_inference.py`), and its effects are applied at each call.

A callee is inferred on a fork of the state in which every program value that its arguments reach is a
parameter. What it did (its result, the cells it changed or made) is remembered under a canonical form of
the function and of the heap that its arguments and captures reach; a later call with the same form becomes
one more `Call` of the same HLO function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import cast

from ... import limits
from ...analysis.variables import assigned_outside, calls_of_itself, may_change_objects
from ...diagnostics.codes_calls import EndlessRecursion, NotServed
from ...diagnostics.codes_syntax import GeneratorFunction
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...hlo.ir import Function as HloFunction
from ...hlo.ir import Op, Region, Value
from ...hlo.walk import callees, functions
from ...library.rules.classes import not_iterable
from ...ops import Call, Constant
from ...ops.host.draw import Draw
from ...stage import ir as stage
from ...stage.walk import walk
from ...values.identity import SOME_OBJECT, Identity
from ...values.lattice import (
    NONE,
    Abstract,
    Closure,
    IteratorCell,
    PoolCell,
    Ref,
    Suspended,
    Undef,
    Unknown,
    VariableCell,
)
from ...values.slots import Hidden, Purpose, Slot
from ...values.state import OUTPUT, Content, new_pool
from ...values.walk import Renewed, rebuild
from ..aliases.element_stores import note_store
from ..core.engine import Engine
from ..core.induction_ranges import assume_ranges
from ..exceptions.raising import chain_of, error_of, expose, is_observable, merge_error
from ..objects.objects import require_own_trace
from ..state.callees import Callee
from ..state.effort import Exhausted
from ..state.frame import Endless, Frame, PythonRaise
from ..state.merged import MERGEABLE, aliases_of, assume_alias, stamp_versions
from ..state.summaries import Summary
from .callee_inference import Activation, CalleeInference
from .canonical import Canonical
from .printing import refuse_under_jax


def call_function(engine: Engine, callee: Callee, bound: Mapping[str, Abstract]) -> Abstract:
    """Calls a user function with its parameters bound, by a summary in the table or by inference."""
    if engine.frame is None:  # the program itself: nothing calls it again
        try:
            result = run_body(engine, callee, bound)
        except Endless as found:
            raise DiagnosticError(found.refused) from None
        # What is wrong with the result of the whole program is told at its `return`.
        engine.b.span = callee.function.body[-1].span
        return result
    canonical = Canonical(engine)
    canonical.describe_call([*bound.values(), *map(Ref, callee.cells.values())])
    known = engine.callees.summaries[canonical.key(callee.identity)]
    if known.endless is not None:
        raise _given_up(engine, callee, canonical, known.endless)
    for summary in known.summaries:
        if _is_applicable(engine, summary, canonical):
            return _apply(engine, summary, canonical, first=False)
    open_calls: list[Canonical] = engine.callees.open_calls[callee.identity]
    _refuse_endless(engine, callee, next(filter(canonical.covers, open_calls), None), canonical)
    activation = Activation(
        callee.function.name, callee.function.span, lambda bound: run_body(engine, callee, bound)
    )
    inference = CalleeInference(engine, canonical)
    open_calls.append(canonical)
    try:
        with _bounded_recursion(engine, callee, bound), _counted(engine, callee):
            summary, memoise = inference.infer(activation, bound)
    except Endless as found:
        if found.function is not callee.function or any(_open(engine, callee)):
            raise
        known.endless = found.refused
    finally:
        open_calls.pop()
    if known.endless is not None:
        raise _given_up(engine, callee, canonical, known.endless)
    if memoise:
        known.summaries.append(summary)
    return _apply(engine, summary, canonical, first=True)


def suspended(engine: Engine, function: Closure, bound: Mapping[str, Abstract]) -> Abstract:
    """The result of a call of a generator function: an iterator, of which nothing has run."""
    if engine.frame is None:
        first = next(i for i in walk(function.function.body) if isinstance(i, stage.Yield))
        why = "only loops of the staged function go over one"
        raise DiagnosticError(GeneratorFunction(span=first.span, why=why))
    source = bound.get(".0")  # of a generator expression
    name = None if source is None else not_iterable(engine, source)
    if name is not None:
        engine.raise_(TypeError(f"{name!r} object is not iterable"))
    return Ref(engine.state.new_cell(IteratorCell(Suspended(function, tuple(bound.items())))))


def _open(engine: Engine, callee: Callee) -> Iterator[Frame]:
    """The open frames in which a function is being inferred, innermost first."""
    return (frame for frame in engine.open_frames() if frame.function is callee.function)


def _refuse_endless(engine: Engine, callee: Callee, covered: Canonical | None, canonical: Canonical) -> None:
    """Raises PS602 for a call that is open already, `Endless` for one that is wider than an open one, or too deep."""
    limit = limits.RECURSION_DEPTH
    undecided = [frame for frame in _open(engine, callee) if frame.undecided]
    wider = covered is not None and covered.tokens != canonical.tokens
    if len(undecided) >= limits.UNDECIDED_RECURSION or wider:
        _demand_depth(engine, undecided)
        if len(undecided) >= 8 * limits.UNDECIDED_RECURSION:
            limit = engine.callees.depth
    if wider or (engine.callees.depth >= limit and covered is None and any(_open(engine, callee))):
        raise _endless(engine, callee)
    if covered is not None:
        raise DiagnosticError(_refusal(engine, callee))


def _given_up(engine: Engine, callee: Callee, canonical: Canonical, reason: Diagnostic) -> DiagnosticError:
    """The exception for a call whose recursion is given up: what the callee may have changed is unknown behind it."""
    state, variables = engine.state, [callee.cells[name] for name in assigned_outside(callee.function)]
    for cell in canonical.cells if variables or may_change_objects(callee.function) else ():
        content = state.slots.get(cell)
        if cell in variables:
            state.set(cell, VariableCell(Unknown(reason)))
        elif isinstance(content, MERGEABLE):
            state.set(cell, Unknown(reason))
    return DiagnosticError(reason)


def _counted(engine: Engine, callee: Callee) -> AbstractContextManager[None]:
    """A `with` block that counts the cost of a function that calls itself."""
    return (
        engine.effort.recursion(callee.function, engine.b.span)
        if any(_open(engine, callee))
        else nullcontext()
    )


@contextmanager
def _bounded_recursion(engine: Engine, callee: Callee, bound: Mapping[str, Abstract]) -> Iterator[None]:
    """A `with` block that limits the cost of a function that first calls itself under an unknown condition.

    So it is where it first gets one of several objects, of which only the run knows which.
    """
    frames = list(_open(engine, callee))
    undecided = [frame for frame in frames if frame.undecided]
    chosen = [_is_chosen(engine, given) for given in (bound, *[frame.arguments for frame in frames])]
    first_chosen = chosen[0] and not any(chosen[1:]) and not undecided
    if not frames or not (first_chosen or undecided == frames[:1]):
        yield
        return
    span, effort, given_up = engine.b.span, engine.effort, engine.callees.given_up
    again = callee.function in given_up
    steps = limits.UNDECIDED_RECURSION_STEPS_AGAIN if again else limits.UNDECIDED_RECURSION_STEPS
    try:
        with effort.at_most(steps):
            yield
    except Exhausted:
        effort.run(0)  # which is raised again where it is the limit of the program
        given_up.add(callee.function)
        engine.b.span = span
        _demand_depth(engine, undecided)
        raise _endless(engine, callee) from None


def _is_chosen(engine: Engine, given: Mapping[str, Abstract]) -> bool:
    """True where an argument is one of several objects, of which only the run knows which."""
    slots = engine.state.slots
    return any(isinstance(each, Ref) and bool(aliases_of(slots.get(each.cell))) for each in given.values())


def _demand_depth(engine: Engine, undecided: Sequence[Frame]) -> None:
    """Demands the arguments that determine the depth of a recursion."""
    for condition in [c for frame in undecided for c in frame.undecided]:
        if engine.can_be_known(condition):
            engine.known(condition, "how deep this recursion goes")
    engine.origins.ask_for_demands()


def _endless(engine: Engine, callee: Callee) -> Endless:
    return Endless(callee.function, engine.report(_refusal(engine, callee)).reason)


def _refusal(engine: Engine, callee: Callee) -> EndlessRecursion:
    function = callee.function
    calls = calls_of_itself(function)
    return EndlessRecursion(span=engine.b.span, name=function.name, limit=limits.RECURSION_DEPTH, calls=calls)


Transform = Callable[[Summary, Sequence[Value]], Mapping[Value, Value]]
"""Puts a transformed callee's function into the program. It gets the callee's effects and the values of its function's
parameters at this call, and gives the values of the program for the function's results, and for parameters that differ."""


def call_transformed(
    engine: Engine,
    function: Abstract,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    transform: Transform,
    may_draw: bool = False,
) -> Abstract:
    """Calls any callable value as an HLO function of its own, after `transform` has changed that function."""
    summary, canonical = transformed(engine, function, args, kwargs, may_draw)
    return apply_transformed(engine, summary, canonical, transform)


def transformed(
    engine: Engine,
    function: Abstract,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    may_draw: bool = False,
) -> tuple[Summary, Canonical]:
    """Infers a call of any callable value as an HLO function, and gives it with its operands; applies nothing.

    The function must not draw (PS606), as the transformed program may run it again, or not at all; `may_draw`: it
    may, and `require_drawn_once` holds of what is made of it.
    """
    activation = Activation("transformed", engine.b.span, lambda bound: _call_bound(engine, bound, len(args)))
    bound = {"": function, **{str(i): a for i, a in enumerate(args)}, **kwargs}
    canonical = Canonical(engine)
    canonical.describe_call(bound.values())
    summary, _ = CalleeInference(engine, canonical).infer(activation, bound)
    if not may_draw:
        require_drawn_once(summary.function, ())
    return summary, canonical


def require_drawn_once(old: HloFunction, made: Sequence[HloFunction]) -> None:
    """Raises PS606 unless the transformed function draws exactly as often as the original."""
    first = next((o for f in functions(old) for o in f.body.walk() if isinstance(o.kind, Draw)), None)
    if first is not None and sum(_draws(f.body) for f in made) != _draws(old.body):
        assert isinstance(first.kind, Draw)
        name, why = first.kind.action.name, "the function that draws is transformed here"
        instead = "draw outside of the function and pass the numbers in"
        raise DiagnosticError(NotServed(span=first.span, name=name, why=why, instead=instead))


def _draws(region: Region) -> int:
    """How many draws a region holds, those of functions once for each call."""
    found = 0
    for op in region.walk():
        found += isinstance(op.kind, Draw)
        found += sum(_draws(f.body) for f in callees(op))
    return found


def apply_transformed(
    engine: Engine,
    summary: Summary,
    canonical: Canonical,
    transform: Transform,
) -> Abstract:
    """Applies the effects that `transformed` found, with the function that `transform` makes of the callee's."""
    return _apply(engine, summary, canonical, first=True, put=lambda actual: transform(summary, actual))


def put_transformed(
    engine: Engine, summary: Summary, made: HloFunction, operands: Sequence[Value]
) -> Sequence[Value]:
    """Replaces a callee's function by the transformed one, which runs each time if the callee must, and draws once."""
    require_drawn_once(summary.function, (made,))
    if not summary.pure:
        engine.effects.functions.add(made)
    return engine.b.apply(Call(made), operands, pure=summary.pure).results


def _call_bound(engine: Engine, bound: Mapping[str, Abstract], count: int) -> Abstract:
    function, *values = bound.values()
    return engine.call(function, values[:count], dict(zip(list(bound)[1 + count :], values[count:])))


def _is_applicable(engine: Engine, summary: Summary, canonical: Canonical) -> bool:
    """True if a summary of another call holds for this one."""
    slots = engine.state.slots
    if not all(slots.get(c) is content for c, content in summary.depends):
        return False
    given = list(canonical.values) if summary.computed else []
    if not all(engine.is_value_computed(given[position]) for position in summary.computed):
        return False
    if not summary.observed:
        return True
    positions = list(canonical.cells)
    return all(is_observable(engine, positions[p]) == seen for p, seen in summary.observed.items())


def _apply(
    engine: Engine,
    summary: Summary,
    canonical: Canonical,
    first: bool,
    put: Callable[[Sequence[Value]], Mapping[Value, Value]] | None = None,
) -> Abstract:
    """Applies the effects of a callee to the values and cells of this call; `first` is the call that it was inferred for.

    `put` puts the function into the program, where that is not a plain call: it gets the values of the parameters, and
    says which values of the program those of the callee are.
    """
    state = engine.state
    if summary.splits:
        engine.note_split()
    body = summary.function.body
    actual = [*canonical.values, *summary.free]
    mapping: dict[Value, Value] = dict(zip(body.params, actual, strict=True))
    if put is not None:
        mapping.update(put(actual))
    elif body.results or not summary.pure:
        results = engine.b.apply(Call(summary.function), actual, pure=summary.pure).results
        mapping.update(zip(body.results, results, strict=True))
        numbers = [(v, v.owner) for v in body.results if not v.type.rank and isinstance(v.owner, Op)]
        mapping.update({v: engine.b.op(o.kind) for v, o in numbers if isinstance(o.kind, Constant)})
    cells = dict(zip(summary.parameters, canonical.cells, strict=True))
    for cell, made in summary.made.items():
        cells[cell] = new_pool(state) if isinstance(made, PoolCell) else state.cell_number()

    objects: dict[Identity, Identity] = dict(zip(summary.objects, canonical.objects, strict=True))
    objects[SOME_OBJECT] = SOME_OBJECT
    of_loops = Identity(of_loop=True)

    def value(v: Value) -> Value:
        return mapping.get(v, v)

    def cell_of(c: int) -> int:
        return cells.get(c, c)

    renewed = None if first else Renewed(canonical.given)
    views: dict[Identity, Identity] = {}

    def object_of(each: Identity) -> Identity:
        if each not in objects:
            of = tuple(map(object_of, each.elements))
            if each.parts:
                objects[each] = Identity.any_of(map(object_of, each.parts))
            elif each.of_loop:
                objects[each] = of_loops.at(each.site, of)
            else:
                objects[each] = Identity(each.site, elements=of)
        return objects[each]

    def view_of(each: Identity) -> Identity:
        """The view of this call, which is one that it was given or a new one."""
        if first or each in objects:
            return each if first else objects[each]
        if each not in views:
            may_be = each.parts or ((each,) if each.of_loop else ())
            views[each] = Identity.one_of(map(object_of, may_be)) if may_be else Identity(each.site)
        return views[each]

    if summary.reached or summary.outer or summary.made:
        _change(
            engine,
            summary,
            list(canonical.cells),
            cells,
            lambda content: rebuild(content, value, cell_of, object_of, view_of, renewed),
        )
    for type in summary.elements:
        note_store(engine, type, {*canonical.cells, *cells.values()})
    for position, when in summary.laid_out.items():
        state.rely_on_layout([list(canonical.cells)[position]], when)
    if summary.output is not None:
        refuse_under_jax(engine, engine.b.span)
        state.set(OUTPUT, rebuild(summary.output, value))
    before = error_of(engine).code
    if summary.error is not None:
        shift = 0 if first else engine.raises.sites.repeat(*summary.sites, chain_of(engine, inside=True))
        merge_error(engine, rebuild(summary.error, value, cell_of), shift)
    result = rebuild(summary.result, value, cell_of, object_of, view_of, renewed)
    of_loops.end()
    assume_ranges(engine, result)
    if summary.raises is not None:
        raise PythonRaise(result if summary.raises.exception is not None else None, state.depth, before)
    return result


def _change(
    engine: Engine,
    summary: Summary,
    positions: Sequence[int],
    cells: Mapping[int, int],
    here: Callable[[Content], Content],
) -> None:
    """Applies changes of a callee to the state: `here` maps its values to those of this call, `cells` its cells."""
    state = engine.state
    for position, content in summary.reached.items():
        require_own_trace(engine, positions[position], content)
        state.set(positions[position], here(content))
    for slot, outer in summary.outer.items():
        state.set(slot, here(outer))
    for cell, content in summary.made.items():
        state.set(cells[cell], here(content))
        assume_alias(engine.intervals, content, state.slots[cells[cell]])
    merged = [cells[c] for c, content in summary.made.items() if aliases_of(content)]
    state.merged.update(dict.fromkeys(merged, bool(engine.loops.active)))
    stamp_versions(state, [*[cells[c] for c in summary.made], *[positions[p] for p in summary.reached]])
    written: list[Slot] = [*[positions[p] for p in summary.reached], *summary.outer]
    for slot in written:
        if is_observable(engine, slot):
            expose(engine, slot, state.slots[slot])


def run_body(engine: Engine, callee: Callee, arguments: Mapping[str, Abstract]) -> Abstract:
    """Runs a function's body in a new frame and returns its result."""
    function = callee.function
    frame = Frame(
        engine.state.new_frame(),
        function,
        callee.namespace,
        callee.module,
        dict(callee.cells),
        engine.b.span,
        engine.frame,
        arguments=arguments,
    )
    for name in function.cells:
        frame.cells[name] = engine.state.new_cell(VariableCell(arguments.get(name, Undef())))
    for name, value in arguments.items():
        if name not in function.cells:
            engine.state.set((frame.id, name), value)
    return _run_frame(engine, frame)


def _run_frame(engine: Engine, frame: Frame) -> Abstract:
    outer, engine.frame = engine.frame, frame
    if engine.trail is not None:
        engine.trail.enter(frame)
    try:
        engine.run_block(frame.function.body)
        return cast(Abstract, engine.state.slots.get((frame.id, Hidden(Purpose.RESULT)), NONE))
    finally:
        engine.frame = outer
