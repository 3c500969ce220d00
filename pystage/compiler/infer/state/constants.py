"""Compile-time constants: values evaluated from the program, or demanded of the caller.

`known` is asked for a shape, an axis, an index into a list. A value whose operations lead back to constants alone is
evaluated now. One that leads back to numbers among the arguments or in the environment demands these: the call is
specialised on them. One that leads back to an induction variable asks for its loop to be unrolled. Everything else is
PS401.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from ....records import dataclass
from ... import limits
from ...diagnostics.codes_constant import KnownInTrips, NotKnown, TooManyToUnroll
from ...diagnostics.diagnostic import DiagnosticError, Note
from ...diagnostics.span import Span
from ...hlo.interpret import run_op
from ...hlo.ir import Function, Op, Region, Value
from ...ops import Call, Constant, If
from ...policy import is_own_file
from ...speculation import Declarations, Fixed, Grows
from ...stage import ir as stage
from ...values.boundary import Form, Global, Path
from ...values.bounded import Bounded
from ...values.demand import NeedsConstant
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    DictCell,
    ListCell,
    Ref,
    SetCell,
    SliceObject,
    Text,
    Tuple,
    Unknown,
)
from ...values.state import State
from ...values.walk import values_of
from .effort import Effort
from .retry import Retry, WriteOut


@dataclass(frozen=True, slots=True)
class SourceLoop:
    """The loop of the source that a rolled loop is.

    `trips` is its trip count where that is known, else `runs` is the number of the program that it is; of a `while`
    there is neither. `peeled`: its first trip stands before the rolled loop.
    """

    instruction: stage.Instr
    trips: int | None
    runs: Abstract | None
    peeled: bool

    @property
    def exact(self) -> int | None:
        """The trip count of the rolled loop unless it raises, where it is known."""
        ends_early = not isinstance(self.instruction, stage.For) or self.instruction.until is not None
        return None if ends_early or self.trips is None else self.trips - self.peeled

    @property
    def length(self) -> Abstract | None:
        """The trip count of the loop unless it raises, where the program computes it."""
        ends_early = not isinstance(self.instruction, stage.For) or self.instruction.until is not None
        return None if ends_early or self.trips is not None else self.runs


@dataclass(slots=True)
class ParameterOrigins:
    """The origins of the parameters of regions, recorded during inference.

    `names` says what the caller calls a parameter of the program. `places` maps one that is a Python or NumPy
    scalar to its argument leaf, or to its path in the environment, `environment` the latter to their values; `operands` a
    parameter of a callee to the value it was called with; `loops` the body of a rolled loop to its place in the source;
    `entries` a parameter of such a body to the numbers that its slot holds when the loop begins, if there are only such.
    `crossed` are the bodies of callees from which the latest evaluations went to the caller. `ask` gives the values of
    arguments, and `expected` does without a demand; `given` holds those that were asked for, `demands` says why.
    `evaluated` remembers what is known of values with what is given, and `at_once` of functions whether they are computed
    while compiling. Soon after the first demand inference begins again, as `effort` says.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "effort": Fixed(),
            "names": Grows("what was read of the environment stays an input"),
            "places": Grows("what was read of the environment stays an input"),
            "environment": Grows("what was read of the environment stays an input"),
            "operands": Grows("it is about parameters, each of one function"),
            "loops": Grows("it is about regions, each of one pass"),
            "entries": Grows("it is about regions, each of one pass"),
            "crossed": Grows("at worst the summary of a callee serves for no other call"),
            "ask": Fixed(),
            "expected": Fixed(),
            "given": Grows("the value of an argument is what it is"),
            "demands": Grows("at worst a call is specialised on an argument without need"),
            "evaluated": Grows("it is about values, each of which is computed once"),
            "at_once": Grows("it is about functions, which do not change"),
        }
    )

    effort: Effort
    names: dict[Value, Path] = field(default_factory=dict)
    places: dict[Value, int | Path] = field(default_factory=dict)
    environment: dict[Value, Any] = field(default_factory=dict)
    operands: dict[Value, Value] = field(default_factory=dict)
    loops: dict[Region, SourceLoop] = field(default_factory=dict)
    entries: dict[Value, tuple[Value, ...]] = field(default_factory=dict)
    crossed: set[Region] = field(default_factory=set)
    ask: Callable[[int], Any] | None = None
    expected: Callable[[int], Any] | None = None
    given: dict[Value, np.ndarray] = field(default_factory=dict)
    demands: dict[Value, NeedsConstant] = field(default_factory=dict)
    evaluated: dict[Value, Evaluated] = field(default_factory=dict)
    at_once: dict[Function, bool] = field(default_factory=dict)

    def demand(self, parameter: Value, span: Span | None, reason: str) -> None:
        """Asks for the value of a parameter in `places`; `NeedsConstant` where it cannot be had at once."""
        place = self.places[parameter]
        need = NeedsConstant(place, span, reason)
        if isinstance(place, Path):
            value = self.environment[parameter]
        else:
            value = self.ask(place) if self.ask is not None else None
        if value is None:
            raise need
        self.demands.setdefault(parameter, need)
        self.effort.begin_again_soon(self.ask_for_demands)
        self.given[parameter] = np.asarray(value)
        self.evaluated.clear()

    def ask_for_demands(self) -> None:
        """Raises `NeedsConstant` where values were demanded: inference begins again with them."""
        if self.demands:
            first, *more = self.demands.values()
            raise NeedsConstant(first.place, first.span, first.reason, tuple(more))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The outcome of evaluating a value: its elements, or the `blockers` that keep it from being known.

    `crossed`: the bodies of callees through whose parameters they lead to the caller.
    """

    array: np.ndarray | None
    blockers: tuple[Value, ...] = ()
    crossed: frozenset[Region] = frozenset()


_NOTHING_CROSSED: frozenset[Region] = frozenset()


def evaluate(origins: ParameterOrigins, value: Value) -> tuple[np.ndarray | None, list[Value]]:
    """The value, if its operations lead to constants alone; else None and the parameters they lead to."""
    found = _evaluation(origins, value)
    origins.crossed |= found.crossed
    return found.array, list(found.blockers)


def expected(origins: ParameterOrigins, value: Value) -> np.ndarray | None:
    """The value in the call at hand, where numbers of the call and of the environment decide it; it is not demanded."""
    found = _evaluation(origins, value)
    if found.array is not None or origins.expected is None:
        return found.array
    given = dict(origins.given)
    for blocker in found.blockers:
        place = origins.places.get(blocker)
        if place is None:
            return None
        number = origins.environment[blocker] if isinstance(place, Path) else origins.expected(place)
        if number is None:
            return None
        given[blocker] = np.asarray(number)
    return _evaluation(replace(origins, given=given, evaluated={}), value).array


def _evaluation(origins: ParameterOrigins, value: Value) -> Evaluated:
    """The outcome of evaluating a value, which nothing depends on yet."""
    known = origins.evaluated
    stack = [value]
    while stack:
        top = stack[-1]
        if top in known:
            stack.pop()
            continue
        missing = [v for v in _leads_to(origins, top) if v not in known]
        if missing:
            stack.extend(missing)
        else:
            known[top] = _evaluated(origins, top)
    return known[value]


def _leads_to(origins: ParameterOrigins, value: Value) -> list[Value]:
    """The values that must be evaluated before this one."""
    owner = value.owner
    if isinstance(owner, Region):
        source = None if value in origins.given else origins.operands.get(value)
        return [] if source is None else [source]
    if isinstance(owner.kind, If) and owner.operands[0] in origins.evaluated:
        chosen = _arm_result(value, origins.evaluated[owner.operands[0]].array)
        return list(owner.operands) if chosen is None else [chosen]
    return list(owner.operands)


def _evaluated(origins: ParameterOrigins, value: Value) -> Evaluated:
    """Evaluates a value whose operands are evaluated."""
    owner, known = value.owner, origins.evaluated
    if value in origins.given:
        return Evaluated(origins.given[value])
    parts = [known[v] for v in reversed(_leads_to(origins, value))]
    if isinstance(owner, Region):
        if not parts:
            return Evaluated(None, (value,))
        return Evaluated(parts[0].array, parts[0].blockers, parts[0].crossed | {owner})
    blockers = dict.fromkeys([b for part in parts for b in part.blockers])
    crossed = _NOTHING_CROSSED.union(*[part.crossed for part in parts])
    if isinstance(owner.kind, If):
        array = parts[0].array if _arm_result(value, known[owner.operands[0]].array) is not None else None
    else:
        array = _apply(origins, owner, value.index, blockers)
    return Evaluated(array, tuple(blockers)[: limits.BLOCKERS], crossed)


def _arm_result(result: Value, predicate: np.ndarray | None) -> Value | None:
    """The result of an `If` from the arm that runs, where the predicate is known."""
    assert isinstance(result.owner, Op)
    then, orelse = result.owner.regions
    return None if predicate is None else (then if predicate else orelse).results[result.index]


def _apply(origins: ParameterOrigins, op: Op, index: int, blockers: dict[Value, None]) -> np.ndarray | None:
    """The result of an operation whose operands are evaluated; what keeps it from being known goes to `blockers`."""
    operands = [origins.evaluated[v].array for v in op.operands]
    if not _at_once(origins, op):
        blockers[op.results[index]] = None
        return None
    if any(x is None for x in operands):
        return None
    if isinstance(op.kind, Constant):
        return np.asarray(op.kind.data)
    if op.results[index].type.size > 1 << 16:
        blockers[op.results[index]] = None
        return None
    return np.asarray(run_op(op, operands)[index])  # type: ignore[arg-type]


def _at_once(origins: ParameterOrigins, op: Op) -> bool:
    """Whether an operation is evaluated while compiling: none that may loop, or that has effects."""
    if isinstance(op.kind, Call):
        function = op.kind.function
        if function not in origins.at_once:
            origins.at_once[function] = all(map(functools.partial(_at_once, origins), function.body.ops))
        return origins.at_once[function]
    return not op.regions and op.kind.pure


def python_value(array: np.ndarray, form: Form) -> Any:
    """An evaluated value as the Python object of its form."""
    if form is Form.PYTHON:
        return array.item()
    if form is Form.SCALAR:
        return array[()]
    return array


def known(state: State, origins: ParameterOrigins, value: Any, what: str, span: Span | None) -> Any:
    """See `Context.known`."""

    if not isinstance(value, Abstract):
        return value
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Array):
        return _known_array(origins, value, what, span)

    def go(x: Any) -> Any:
        return x.value if type(x) is Const else known(state, origins, x, what, span)

    match value:
        case Tuple(items, cls):
            parts = [go(i) for i in items]
            return tuple(parts) if cls is tuple else cls(*parts)
        case SliceObject(start, stop, step):
            return slice(go(start), go(stop), go(step))
        case Text(function, args):
            return function(*[go(a) for a in args])
        case Ref(cell, path):
            match state.get(cell):
                case ListCell(items):
                    return [go(i) for i in items]
                case DictCell(entries):
                    return {k: go(v) for k, v in entries.items()}
                case SetCell(history=history) if history is not None:
                    return history.replay()
                case SetCell(members) if len(members) < 2:
                    return set(members)
                case ArrayCell(inner) if not path:
                    return _known_array(origins, Array(inner, Form.NDARRAY), what, span)
        case Bounded(whole):
            memory = state.get(whole.cell) if isinstance(whole, Ref) else whole
            for number in (*values_of(value), *values_of(memory)):  # loops that give them are written out
                _known_array(origins, Array(number, Form.NDARRAY), what, span)
        case Unknown(reason):
            raise DiagnosticError(reason)
    raise DiagnosticError(NotKnown(span=span, what=what))


def _known_array(origins: ParameterOrigins, value: Array, what: str, span: Span | None) -> Any:
    array, blockers = evaluate(origins, value.value)
    if array is not None:
        return python_value(array, value.form)
    if len(blockers) == limits.BLOCKERS:
        blockers = _all_blockers(origins, value.value)
    if blockers and all(b in origins.places for b in blockers):
        for blocker in blockers:
            origins.demand(blocker, span, what)
        return _known_array(origins, value, what, span)
    loops = _Blocking(origins).loops(blockers)
    if loops:
        _demand_trips(origins, loops[0], what, span)
        unroll(loops[0], known_in_every_trip(what, span), loops[1:])
    raise DiagnosticError(NotKnown(span=span, what=what, notes=_reasons(origins, value.value, blockers)))


def _all_blockers(origins: ParameterOrigins, value: Value) -> list[Value]:
    """All blockers of an evaluated value, of which `evaluate` gives the first only."""
    found: dict[Value, None] = {}
    seen, stack = {value}, [value]
    while stack:
        top = stack.pop()
        unknown = [v for v in _leads_to(origins, top) if origins.evaluated[v].array is None]
        if not unknown or (isinstance(top.owner, Op) and not _at_once(origins, top.owner)):
            found[top] = None
        new = [v for v in unknown if v not in seen]
        seen.update(new)
        stack.extend(new)
    order = {place: number for number, place in enumerate(origins.places)}
    return sorted(found, key=lambda v: order.get(v, -1))


def _reasons(origins: ParameterOrigins, value: Value, blockers: list[Value]) -> tuple[Note, ...]:
    """The origins of a value that is not known: the expression that gives it, and what that depends on."""
    crossed = value
    while isinstance(crossed.owner, Region) and crossed in origins.operands:
        crossed = origins.operands[crossed]
    notes: dict[Span | None, Note] = {}
    for each in (crossed, *blockers):
        if isinstance(each.owner, Op):
            text = "the value comes from this" if each is crossed else "it depends on this"
            text = f"{text}, which is computed at run time"
            notes.setdefault(each.owner.span, Note(text, each.owner.span, text))
    paths = [origins.names[each] for each in (crossed, *blockers) if each in origins.names]
    paths = [path for path in paths if not _is_own(path)]
    if paths:
        notes.setdefault(None, Note(f"it depends on the values of {_listed(paths)}"))
    return tuple(notes.values())


def _is_own(path: Path) -> bool:
    """True for a variable of one of pystage's own modules, whose functions are parts of programs."""
    return isinstance(path.root, Global) and is_own_file(path.root.namespace.get("__file__") or "")


_MOST_NAMES = 4
"""The number of places above which arguments and variables are named in place of their parts."""


def _listed(paths: Sequence[Path]) -> str:
    """Places of the environment in words, those that were found first before others."""
    names = list(dict.fromkeys([f"`{path}`" for path in paths]))
    if len(names) > _MOST_NAMES:
        names = list(dict.fromkeys([f"`{path.root.name}`" for path in paths]))
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES:] = [f"{len(names) - _MOST_NAMES} more"]
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _demand_trips(origins: ParameterOrigins, loop: SourceLoop, what: str, span: Span | None) -> None:
    """Restarts inference with the demanded numbers of the call, the trip count of `loop` among them.

    What is known of the ranges of its variables then may suffice, so that it need not be unrolled.
    """
    if loop.trips is None and isinstance(loop.runs, Array):
        _known_array(origins, loop.runs, what, span)
    origins.ask_for_demands()


def unroll(loop: SourceLoop, why: Note, others: Sequence[SourceLoop] = ()) -> NoReturn:
    """Restarts inference with `loop` and `others` unrolled, for the reason `why`; PS402 where `loop` has too many trips."""
    if loop.trips is not None and loop.trips > limits.UNROLLED_TRIPS:
        span = loop.instruction.span
        raise DiagnosticError(
            TooManyToUnroll(span=span, notes=(why,), trips=loop.trips, limit=limits.UNROLLED_TRIPS)
        )
    few = tuple([each.instruction for each in others if (each.trips or 0) <= limits.UNROLLED_TRIPS])
    raise Retry(WriteOut(loop.instruction, why, others=few))


def unrollable(origins: ParameterOrigins, loop: SourceLoop) -> SourceLoop | None:
    """The loop to write out first so that `loop` can be: itself, or one around it that decides its trip count."""
    return _Blocking(origins).unrollable(loop)


def _blocking_loop(origins: ParameterOrigins, blockers: list[Value]) -> SourceLoop | None:
    """The loop to unroll first so that values that depend on these are known; None where that does not help."""
    return next(iter(_Blocking(origins).loops(blockers)), None)


class _Blocking:
    """One search for the loop that keeps values from being known; it visits each parameter of the loops around once."""

    def __init__(self, origins: ParameterOrigins) -> None:
        self._origins = origins
        self._computed: dict[Value, bool] = {}

    def unrollable(self, loop: SourceLoop) -> SourceLoop | None:
        """See above."""
        if loop.trips is not None or isinstance(loop.instruction, stage.While):
            return loop
        if not isinstance(loop.runs, Array):
            return None
        array, blockers = evaluate(self._origins, loop.runs.value)
        if array is not None or all(b in self._origins.places for b in blockers):
            return loop
        return next(iter(self.loops(blockers)), None)

    def loops(self, blockers: list[Value]) -> list[SourceLoop]:
        """The loops to write out, for each of these a first one; none where that does not serve."""
        found: list[SourceLoop] = []
        for blocker in blockers:
            if blocker in self._origins.places:
                continue
            source = None if self._is_computed_on_entry(blocker) else _loop_of(self._origins, blocker)
            first = None if source is None else self.unrollable(source)
            if first is None:
                return []
            found.append(first)
        return found

    def _is_computed_on_entry(self, parameter: Value) -> bool:
        """True for a carried value that is not known in the first trip either, however the loops are unrolled."""
        if parameter not in self._computed:
            origins = self._origins
            numbers = origins.entries.get(parameter, ())
            self._computed[parameter] = bool(numbers) and all(
                array is None and not all(b in origins.places for b in blockers) and not self.loops(blockers)
                for array, blockers in [evaluate(origins, number) for number in numbers]
            )
        return self._computed[parameter]


def _loop_of(origins: ParameterOrigins, value: Value) -> SourceLoop | None:
    """The loop whose trips, or whose results, a value belongs to."""
    regions = [value.owner] if isinstance(value.owner, Region) else value.owner.regions
    return next((origins.loops[region] for region in regions if region in origins.loops), None)


def demandable(origins: ParameterOrigins, value: Array) -> bool:
    """True if `value` is known now, or once numbers of the call or of the environment are demanded."""
    array, blockers = evaluate(origins, value.value)
    return array is not None or all(b in origins.places for b in blockers)


def is_decidable(origins: ParameterOrigins, value: Array) -> bool:
    """True if `value` is known now, after demands, or after unrolling loops around."""
    return (
        demandable(origins, value) or _blocking_loop(origins, evaluate(origins, value.value)[1]) is not None
    )


def unroll_around(origins: ParameterOrigins, value: Array, what: str, span: Span | None) -> None:
    """Restarts inference with the loop around unrolled that decides `value`, if there is one; `what` describes the value."""
    loop = loop_around(origins, value)
    if loop is not None:
        raise Retry(WriteOut(loop, known_in_every_trip(what, span)))


def loop_around(origins: ParameterOrigins, value: Array) -> stage.Instr | None:
    """The loop that can be unrolled so that `value` is known in its trips, if there is one."""
    loop = _blocking_loop(origins, evaluate(origins, value.value)[1])
    return loop.instruction if loop is not None and (loop.trips or 0) <= limits.UNROLLED_TRIPS else None


def known_in_every_trip(what: str, span: Span | None) -> Note:
    """The reason for which a loop is unrolled."""
    return KnownInTrips(f"{what} must be known in every trip", span)


def is_unrollable(origins: ParameterOrigins, value: Array, by_place: Mapping[stage.Instr, bool]) -> bool:
    """True if `value` is known once a loop around with few trips is unrolled, other than a loop over positions."""
    loop = _blocking_loop(origins, evaluate(origins, value.value)[1])
    if loop is None or by_place.get(loop.instruction):
        return False
    return (loop.trips or 0) < limits.WRITTEN_OUT_TRIPS


def is_computed(origins: ParameterOrigins, value: Value) -> bool:
    """True for a value that the program computes: neither known, nor once integers of the call are demanded."""
    array, blockers = evaluate(origins, value)
    return array is None and not all(_is_whole_place(origins, b) for b in blockers)


def _is_whole_place(origins: ParameterOrigins, parameter: Value) -> bool:
    return parameter in origins.places and parameter.type.dtype.kind in "iub"


def is_computed_inside(
    origins: ParameterOrigins, value: Value, body: Region, known: dict[Value, bool]
) -> bool:
    """True if `value` is computed wherever the callee of this `body` is called with parameters that are.

    `known` remembers the answers, also of which parameters that is said. Where a caller may decide which arm of an `If`
    gives the value, the answer is False.
    """
    seen, stack = {value: None}, [value]
    while stack:
        top = stack.pop()
        found = known.get(top)
        if found is None:
            leads, found = _leads_inside(origins, top, body)
            if found:
                known[top] = True
            new = [v for v in leads if v not in seen]
            seen.update(dict.fromkeys(new))
            stack += new
        if found:
            known[value] = True
            return True
    known.update(dict.fromkeys(seen, False))
    return False


def _leads_inside(origins: ParameterOrigins, value: Value, body: Region) -> tuple[Sequence[Value], bool]:
    """What decides whether a value is computed, and True if it is."""
    owner = value.owner
    if isinstance(owner, Region):
        source = origins.operands.get(value)
        if owner is body:
            return (), source is not None and is_computed(origins, source)
        if source is not None:
            return (source,), False
        return (), value not in origins.given and not _is_whole_place(origins, value)
    if isinstance(owner.kind, If):
        return owner.operands[:1], False
    return owner.operands, not _at_once(origins, owner)


def decided(origins: ParameterOrigins, value: Array, what: str, span: Span | None) -> Abstract:
    """`value`, as a constant where only numbers of the environment decide it: these are demanded."""
    evaluate(origins, value.value)
    return Const(_known_array(origins, value, what, span)) if is_of_environment(origins, value) else value


def is_of_environment(origins: ParameterOrigins, value: Array) -> bool:
    """True if `value` is known now, or only numbers of the environment decide it."""
    found = _evaluation(origins, value.value)
    blockers = found.blockers
    return found.array is not None or (bool(blockers) and all(b in origins.environment for b in blockers))
