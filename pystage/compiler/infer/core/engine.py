"""The engine: the state of one inference, and the interface by which its packages call each other.

`Engine` is the `Context` of library functions, and reads and writes the state. What the packages around it do (calls,
attributes, branches, loops, exceptions) it only declares: a package imports this module and those below itself, and
reaches the others through the engine. `Interpreter` (`infer/interpreter.py`) is the class that is instantiated.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, cast

import jax

from ....config import config
from ...analysis.intervals import Intervals
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...diagnostics.span import Span
from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import BOOL
from ...library import declarations  # noqa: F401  (declares all meanings)
from ...library.context import Context, Raw
from ...library.kernels.structures import list_items
from ...library.python import operators
from ...library.python.strings import is_string
from ...library.rules.split import needs_split, of_one_kind
from ...ops import Convert, Not
from ...ops.foreign.named_axes import CURRENT, NO_AXES, NamedAxes
from ...speculation import Balanced, Current, Declarations, Fixed, Grows, Nested
from ...stage import ir as stage
from ...values.boundary import CallableMember, Form, GuardKind, Path, PathStep
from ...values.demand import LoopDecisions
from ...values.gated import Gated, GatedNumber, narrow
from ...values.generators import generator_cell
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    Ref,
    RowsCell,
    RowsTuple,
    Unknown,
)
from ...values.state import References, State
from ..diagnostics.errors import Errors
from ..diagnostics.trail import Watched, watched
from ..state.callees import Callees
from ..state.constants import (
    ParameterOrigins,
    decided,
    demandable,
    is_computed,
    is_computed_inside,
    is_of_environment,
    is_unrollable,
    known,
    known_in_every_trip,
    loop_around,
    unroll_around,
)
from ..state.custom_rules import CustomRules
from ..state.effects import Effects
from ..state.effort import Effort
from ..state.elements import Elements
from ..state.frame import Frame
from ..state.loop import Loops
from ..state.namespaces import Namespaces
from ..state.raises import Raises
from ..state.retry import Retry, StatesInProgram
from ..state.speculate import Speculation
from .externals import Externals

_SPECIAL = frozenset([type(None), Unknown, Gated, GatedNumber])
"""The contents of a temporary that are not simply its value."""


class Engine(Context):
    """One inference of one program."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "root": Fixed(
                "what is built into it is the builder's, and its parameters are inputs, which stay"
            ),
            "b": Nested(),
            "effort": Nested(),
            "state": Nested(),
            "intervals": Nested(),
            "x64": Balanced(),
            "axes": Balanced(),
            "jax_loops": Balanced(
                "between changes of the settings it remembers which loops of JAX there are"
            ),
            "compressed": Grows("its keys are values that nobody has any more"),
            "members": Balanced(),
            "errors": Nested(),
            "origins": Nested(),
            "externals": Nested(),
            "namespaces": Nested(),
            "raises": Nested(),
            "frame": Current(),
            "callees": Nested(),
            "effects": Nested(),
            "loops": Nested(),
            "custom_rules": Nested(),
            "elements": Nested(),
            "splits": Grows("it is compared with what it was"),
            "constructing": Balanced(),
            "ambient": Grows(
                "its cells are there from the beginning of the program on, as `State.define` says"
            ),
            "trail": Grows("it says what was looked at, and what was last found of it"),
            "speculation": Fixed(),
        }
    )

    def __init__(
        self,
        x64: bool,
        decisions: LoopDecisions,
        before: int = 0,
    ) -> None:
        self.root = Region()
        self.b = Builder(self.root)
        self.effort = Effort(self.b, config.program_limit, before)
        self.state = State()
        self.state.step = self.effort.run
        self.intervals = Intervals(self.effort.run)
        self.x64 = x64
        self.axes = NO_AXES
        self.jax_loops = {}
        self.compressed = {}
        self.members = None
        self.errors = Errors()
        self.origins = ParameterOrigins(self.effort)
        self.externals = Externals(self.root, self.b, self.state, self.origins)
        self.namespaces = Namespaces()
        self.raises = Raises()
        self.frame: Frame | None = None
        self.callees = Callees()
        self.effects = Effects()
        self.loops = Loops(decisions)
        self.custom_rules = CustomRules()
        self.elements = Elements()
        self.splits = 0
        """The number of splits over alternatives of a gated φ."""
        self.constructing: set[int] = set()
        """Cells of objects under construction, which take attributes only until then."""
        self.ambient: dict[str, int] = {}
        """By name, the cells of state that libraries keep outside of objects; a part of the key of each call."""
        self.trail = watched()
        if self.trail is not None:
            self.trail.begin(Watched(self.root, self.callees.open, self.state, self.effort))
        self.speculation = Speculation(self, self.errors)

    # -- the door: what the rooms do for each other, besides what a `Context` does

    @abc.abstractmethod
    def report(self, diagnostic: Diagnostic) -> Unknown:
        """Records a diagnostic with its place and the calls that led to it."""

    @abc.abstractmethod
    def run_block(self, block: stage.Block) -> None:
        """Infers instructions in order; one that cannot be staged is reported and gives `Unknown`."""

    @abc.abstractmethod
    def change_if(self, condition: Value, change: Callable[[], None]) -> None:
        """Infers what happens only under a condition that the run decides."""

    # -- scopes

    @contextmanager
    def settings(self) -> Iterator[None]:
        """Reads the user's settings again, inside of a context manager that changes them."""
        outer = self.x64, self.jax_loops
        self.x64, self.jax_loops = bool(jax.config.jax_enable_x64), {}
        try:
            yield
        finally:
            self.x64, self.jax_loops = outer

    @contextmanager
    def naming(self, axes: NamedAxes) -> Iterator[None]:
        """A `with` block in which these named axes are bound."""
        outer, self.axes = self.axes, axes
        try:
            yield
        finally:
            self.axes = outer

    @contextmanager
    def under_condition(self) -> Iterator[None]:
        """Infers what may not run; afterwards the builder is back at its position."""
        span, frame = self.b.span, self.frame
        try:
            with self.intervals.knowing({}):
                yield
        finally:
            self.b.span, self.frame = span, frame

    def release(self) -> None:
        """Breaks the reference cycles of the engine, which the cyclic collector would otherwise have to find."""
        vars(self).clear()

    @property
    def current(self) -> Frame:
        """The frame of the function at hand."""
        assert self.frame is not None
        return self.frame

    def open_frames(self) -> Iterator[Frame]:
        """The frames of the functions that are being inferred, innermost first."""
        frame = self.frame
        while frame is not None:
            yield frame
            frame = frame.caller

    def peek(self, temp: stage.Temp) -> Abstract:
        """The value of a temporary, known or not; what was refused before gave it none."""
        value: Any = self.state.slots.get((self.frame.id, temp))  # type: ignore[union-attr]
        return Unknown(self.errors.found[-1]) if value is None else value

    def get(self, temp: stage.Temp) -> Abstract:
        """The value of a temporary of the current frame, without alternatives."""
        value: Any = self.state.slots.get((self.frame.id, temp))  # type: ignore[union-attr]
        return self.certain(self._staged(value)) if type(value) in _SPECIAL else value

    def operand(self, temp: stage.Temp) -> Abstract:
        """The value of a temporary of the current frame, which may be a gated φ."""
        value: Any = self.state.slots.get((self.frame.id, temp))  # type: ignore[union-attr]
        return self.narrowed(self._staged(value)) if type(value) in _SPECIAL else value

    def _staged(self, value: Abstract | None) -> Abstract:
        """The contents of a temporary; raises the diagnostic of what was refused, which has no value."""
        if value is None or isinstance(value, Unknown):
            raise DiagnosticError(self.errors.found[-1] if value is None else value.reason)
        return value

    def put(self, temp: stage.Temp, value: Abstract) -> None:
        """Gives a temporary of the current frame its value."""
        self.state.set((self.frame.id, temp), value)  # type: ignore[union-attr]

    def narrowed(self, value: Abstract) -> Abstract:
        """`value` without the alternatives that are impossible here."""
        return narrow(self.b, self.intervals, value)

    def certain(self, value: Abstract) -> Abstract:
        """`value` if it certainly is one alternative here, else `NeedsSplit`; one of several strings is a string."""
        found = self.narrowed(value)
        if isinstance(found, Gated) and not is_string(found):
            raise needs_split(found)
        return found

    def contents_at(self, cell: int) -> Cell:
        """What a cell holds, by its number."""
        content = self.state.get(cell)
        if isinstance(content, Unknown):
            raise DiagnosticError(content.reason)
        return cast(Cell, content)

    def referenced_elsewhere(self, sources: Iterable[int], by: int) -> set[int]:
        """The `sources` of the merged cell `by` that have another name; an object of the caller's has one."""
        references = References(self.state)
        return {s for s in sources if s in self.externals.initial or references.elsewhere(s, by)}

    # -- what library functions use

    def is_repeated(self) -> bool:
        return bool(self.loops.active)

    def can_grow(self) -> bool:
        return not self.externals.statics.traced

    def checks_bounds(self) -> bool:
        path = Path(CallableMember(config, "pystage.config"), ((PathStep.ATTRIBUTE, "check_bounds"),))
        found = self.externals.value(path, config.check_bounds)
        return isinstance(found, Const) and bool(found.value)

    def captured_generator(self, generator: Any) -> Ref:
        return self.externals.generator(Path(CallableMember(generator, type(generator).__name__)), generator)

    def new_generator(self, cls: type, number: Value) -> Ref:
        return Ref(self.state.new_cell(generator_cell(cls, number)))

    def keep_state(self, number: Value, why: str) -> None:
        generators = self.externals.generators
        found = generators.key_of(number, self.origins.operands)
        if found is not None and generators.new({found[0]: why}):
            raise Retry(StatesInProgram({found[0]: why}))

    def leave_states(self) -> NoReturn:
        raise Retry(StatesInProgram(dict.fromkeys(self.externals.generators.in_program)))

    def keeps_state(self) -> bool:
        return self.externals.generators.keeps(self.b.span) is not None

    def input_of(self, value: Array) -> Value | None:
        found = value.value
        while found in self.origins.operands:
            found = self.origins.operands[found]
        return value.value if found.owner is self.root else None

    def compare(self, op: str, left: Abstract, right: Abstract) -> Abstract:
        """`left op right`, user classes included."""
        return operators.compare(self, op, left, right)

    def constant_object(self, value: Any) -> Abstract:
        """A plain Python object as an abstract value: tuples and lists by their items, everything else `Const`."""
        return self.externals.constant(value)

    def negate(self, value: Abstract) -> Abstract:
        """`not value`."""
        truth = self.truth(value)
        if isinstance(truth, Const):
            return Const(not truth.value)
        return Array(self.b.op(Not(), self.predicate(truth)), Form.PYTHON)

    def note_split(self) -> None:
        self.splits += 1

    def known(self, value: Raw, what: str) -> Any:
        if type(value) is Const:
            return value.value
        if type(value) is Gated:
            value = self.narrowed(value)
            if isinstance(value, Gated):
                raise needs_split(value)
        if isinstance(value, GatedNumber):
            value = of_one_kind(self, value, what)
        if isinstance(value, RowsTuple):
            return tuple([self.known(item, what) for item in list_items(self, value.items)])
        cell = self.state.slots.get(value.cell) if type(value) is Ref else None
        if isinstance(cell, RowsCell):
            return [self.known(item, what) for item in list_items(self, cell.items)]
        if isinstance(cell, ArrayCell) and cast(Ref, value).path:
            value = replace(cast(Array, self.read(value)), form=Form.NDARRAY)
        self.origins.crossed.clear()
        result = known(self.state, self.origins, value, what, self.b.span)
        for scope in self.callees.crossed(self.origins.crossed):
            scope.crossed = True
        return result

    def is_computed(self, value: Array) -> bool:
        return self.is_value_computed(value.value)

    def is_value_computed(self, value: Value) -> bool:
        """`is_computed` of a value of the program."""
        self.origins.crossed.clear()
        result = is_computed(self.origins, value)
        for scope in self.callees.crossed(self.origins.crossed):
            scope.crossed |= not (
                result and is_computed_inside(self.origins, value, scope.body, scope.computed)
            )
        return result

    def can_be_unrolled(self, value: Array) -> bool:
        return is_unrollable(self.origins, value, self.loops.by_place)

    def leave_rolled(self, value: Array, what: str) -> None:
        loop = loop_around(self.origins, value)
        if loop is not None:
            self.loops.alternatives[loop] = known_in_every_trip(what, self.b.span)

    def can_be_known(self, value: Raw) -> bool:
        if isinstance(value, Array):
            return demandable(self.origins, value)
        return isinstance(value, Const) or not isinstance(value, Abstract)

    def unroll_around(self, value: Abstract, what: str, span: Span | None) -> None:
        """Restarts inference with the loop around unrolled that decides `value`, if there is one."""
        if isinstance(value, Array):
            unroll_around(self.origins, value, what, span)

    def decided(self, value: Abstract, what: str) -> Abstract:
        """`value`, known now where only numbers of the environment decide it and inputs would not do."""
        statics = self.externals.statics
        if not isinstance(value, Array):
            return value
        if statics.decide:
            return decided(self.origins, value, what, self.b.span)
        statics.may_decide = statics.may_decide or is_of_environment(self.origins, value)
        return value

    def predicate(self, condition: Abstract) -> Value:
        """A staged condition as a scalar bool of the program."""
        assert isinstance(condition, Array)
        value = condition.value
        return value if value.type.dtype == BOOL else self.b.op(Convert(BOOL), value)

    def named_axes(self) -> NamedAxes:
        path = Path(CallableMember(CURRENT, "JAX's named axes"), ((PathStep.ATTRIBUTE, "axes"),))
        self.externals.guard(GuardKind.IS, path, CURRENT.axes)
        return self.axes

    def is_traced(self) -> bool:
        return self.externals.statics.traced

    def depends_on_identity(self) -> None:
        self.externals.depends_on_identity = True

    def is_subclass(self, cls: type, wanted: Any) -> bool:
        return self.externals.is_subclass(cls, wanted)
