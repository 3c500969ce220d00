"""The trail of an inference, for `explain`: the last event of each line; recorded only where it is wanted.

Passes over the body of a loop, and whole inferences, are repeated: the last one counts, as it does in the program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, fields
from types import FunctionType

from ....records import dataclass
from ...diagnostics.diagnostic import Note
from ...diagnostics.span import Span
from ...hlo.ir import Function, Region
from ...hlo.walk import functions
from ...ops.foreign.jax_call import JaxCall
from ...stage import ir as stage
from ...stage.walk import walk
from ...values.gated import Gated
from ...values.lattice import Abstract, Array, ArrayCell, Ref, VariableCell
from ...values.slots import Slot
from ...values.state import State
from ..state.effort import Effort
from ..state.frame import CalleeScope, Frame
from .describe import short_type
from .provenance import assigned_before

FileLine = tuple[str, int]
"""A file and a line."""


@dataclass(slots=True)
class LoopSeen:
    """A loop of the source, and the spans in it.

    `trips`: the trip count of an unrolled loop; None for a rolled one.
    """

    place: FileLine
    inside: frozenset[FileLine]
    trips: int | None


@dataclass(frozen=True, slots=True)
class Watched:
    """What a trail reads of an inference: its program, the open callees, the state, the effort."""

    root: Region
    scopes: Sequence[CalleeScope]
    state: State
    effort: Effort


@dataclass(slots=True)
class Trail:
    """What was last inferred of the functions of a program, by line."""

    functions: dict[stage.Function, None] = field(default_factory=dict)
    """The inferred functions, in the order of their first calls."""
    defined: dict[stage.Function, FunctionType] = field(default_factory=dict)
    """The Python functions that were called, by their stage IR."""
    reached: set[FileLine] = field(default_factory=set)
    """The locations of instructions that ran."""
    computed: set[FileLine] = field(default_factory=set)
    """The locations of instructions that work on values of the run."""
    refused: set[FileLine] = field(default_factory=set)
    """The locations of instructions that are refused, by themselves or because of earlier ones."""
    _times: dict[stage.Instr, int] = field(default_factory=dict)
    """The last run of each instruction, numbered among all runs."""
    _bound: defaultdict[FileLine, dict[tuple[str, int], tuple[Region, str]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """By line: for a name and a frame, the function of the program and the bound value."""
    _runs: int = 0
    _last: stage.Instr | None = None
    """The instruction that began last."""
    _operands: dict[Span, tuple[stage.Function, list[tuple[stage.Temp, str]]]] = field(default_factory=dict)
    """By the location of an instruction that raises or is refused: its function, and its operands."""
    _watched: Watched | None = None

    def begin(self, watched: Watched) -> None:
        """Notes that inference begins, perhaps again."""
        self.functions.clear()
        self.defined.clear()
        self.reached.clear()
        self.refused.clear()
        self.computed.clear()
        self._times.clear()
        self._bound.clear()
        self._operands.clear()
        self._watched = watched

    def define(self, function: stage.Function, by: FunctionType) -> None:
        """Notes a call of a Python function."""
        self.defined[function] = by

    def enter(self, frame: Frame) -> None:
        """Notes a function whose parameters are bound."""
        state = self._inference.state
        function, slots = frame.function, state.slots
        self.functions.setdefault(function)
        place = (function.span.file, function.span.line)
        for name in function.params.names():
            value = slots.get((frame.id, name))
            if value is None and name in frame.cells:
                cell = slots.get(frame.cells[name])
                value = cell.value if isinstance(cell, VariableCell) else None
            if value is not None:
                self._bind(place, name, frame, value)  # type: ignore[arg-type]

    def reach(self, frame: Frame, instr: stage.Instr) -> None:
        """Notes an instruction that runs. The `Return` at the end of a function stands for all of its `return`s."""
        self._runs += 1
        self._times[instr] = self._runs
        self._last = instr
        if isinstance(instr, stage.Return):
            return
        place = (instr.span.file, instr.span.line)
        self.reached.add(place)
        if place not in self.computed and (
            (frame.undecided and isinstance(instr, stage.Raise))
            or (isinstance(instr, stage.Store) and instr.scope is stage.StorageClass.GLOBAL)
            or any(_is_computed(self._inference.state, (frame.id, name)) for name in _read_by(instr))
        ):
            self.computed.add(place)

    def was_run_in(self, outer: stage.Instr, inner: stage.Instr) -> bool:
        """True if an instruction ran since the last begin of `outer`, which holds it."""
        return self._times.get(inner, 0) > self._times[outer]

    def refuse(self, frame: Frame, instr: stage.Instr) -> None:
        """Notes an instruction that cannot be staged."""
        self.note_operands(frame)
        self.refused.add((instr.span.file, instr.span.line))

    def note_operands(self, frame: Frame) -> None:
        """Notes the operands of the current instruction, which raises or is refused."""
        instr, state = self._last, self._inference.state
        if instr is None:
            return
        found = [(temp, state.slots.get((frame.id, temp))) for temp in _operands_of(instr)]
        told = [(temp, short_type(value, state)) for temp, value in found if isinstance(value, Abstract)]
        self._operands[instr.span] = frame.function, told

    def bind(self, frame: Frame, instr: stage.Store, value: Abstract) -> None:
        """Notes a variable that is bound; variables without a name in the source are left out."""
        if instr.name.isidentifier():
            place = (instr.span.file, instr.span.line)
            self._bind(place, instr.name, frame, value)

    def _bind(self, place: FileLine, name: str, frame: Frame, value: Abstract) -> None:
        now = self._inference
        body = now.scopes[-1].body if now.scopes else now.root
        self._bound[place][name, frame.id] = body, short_type(value, now.state)

    @property
    def _inference(self) -> Watched:
        assert self._watched is not None
        return self._watched

    # -- what there is to tell at the end

    def names(self) -> dict[FileLine, dict[str, list[str]]]:
        """By line, what each name is bound to there; several where the program has several functions of one source."""
        live = {function.body for function in self._functions()}
        found: dict[FileLine, dict[str, list[str]]] = {}
        for place, bound in self._bound.items():
            of_line: dict[str, list[str]] = {}
            for name in dict.fromkeys([name for name, _ in bound]):
                made = [item for (n, _), item in bound.items() if n == name]
                kept = [what for body, what in made if body in live] or [what for _, what in made]
                of_line[name] = list(dict.fromkeys(kept))
            found[place] = of_line
        return found

    def operands(self, span: Span | None) -> tuple[Note, ...]:
        """The operands of the instruction at `span`, which raises or is refused, and where each was assigned."""
        if span is None or span not in self._operands:
            return ()
        function, told = self._operands[span]
        makers = {made.dst: made for made in walk(function.body) if hasattr(made, "dst")}
        notes: list[Note] = []
        for temp, what in told:
            maker = makers.get(temp)
            if maker is None or maker.span == span:
                continue
            notes.append(Note(f"this is {what}", maker.span, what))
            if isinstance(maker, stage.Load):
                before = assigned_before(function, maker, maker.name)
                if before is not None:
                    how = "an argument" if before.line == function.span.line else "assigned here"
                    text = f"{maker.name!r} is {how}"
                    notes.append(Note(text, before, text))
        return tuple(dict.fromkeys(notes))

    def operations(self) -> dict[FileLine, tuple[int, int]]:
        """By line: how many operations the program has of it, and how many of these are calls that JAX traces."""
        found: defaultdict[FileLine, list[int]] = defaultdict(lambda: [0, 0])
        for function in self._functions():
            for op in function.body.walk():
                if op.span is not None:
                    counts = found[op.span.file, op.span.line]
                    counts[0] += 1
                    counts[1] += isinstance(op.kind, JaxCall)
        return {place: (total, by_jax) for place, (total, by_jax) in found.items()}

    def loops(self) -> list[LoopSeen]:
        """The loops that ran."""
        done = [] if self._watched is None else self._watched.effort.loops()
        return [
            LoopSeen(_line_of(loop), frozenset(map(_line_of, walk([loop]))), times if written else None)
            for loop, written, times in done
        ]

    def _functions(self) -> list[Function]:
        return [] if self._watched is None else functions(Function("", self._watched.root))


def _line_of(instr: stage.Instr) -> FileLine:
    return instr.span.file, instr.span.line


def _read_by(instr: stage.Instr) -> Iterator[str]:
    """The variables and temporaries that an instruction reads."""
    if isinstance(instr, stage.Load):
        yield instr.name
    for each in fields(instr):
        value = getattr(instr, each.name)
        if each.name != "dst" and isinstance(value, str) and stage.is_temp(value):
            yield value


def _operands_of(instr: stage.Instr) -> list[stage.Temp]:
    """The operands of an operator, and the arguments of a call."""
    match instr:
        case stage.Binary(left=left, right=right) | stage.Inplace(left=left, right=right):
            return [left, right]
        case stage.Call(args=args):
            return [arg.value for arg in args]
        case _:
            return []


def _is_computed(state: State, slot: Slot) -> bool:
    value = state.slots.get(slot)
    if isinstance(value, Ref):
        return isinstance(state.slots.get(value.cell), ArrayCell)
    return isinstance(value, Array | Gated)


_watching: ContextVar[Trail | None] = ContextVar("pystage trail", default=None)


@contextmanager
def watching(trail: Trail) -> Iterator[None]:
    """A `with` block that records what is inferred in it, in this thread."""
    token = _watching.set(trail)
    try:
        yield
    finally:
        _watching.reset(token)


def watched() -> Trail | None:
    """The trail that records inferences that begin now, or None."""
    return _watching.get()
