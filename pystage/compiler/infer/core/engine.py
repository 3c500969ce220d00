"""The engine of inference: the state, the builder, and what every instruction does to them.

`Engine` is the `Context` of library functions. `instructions.py` says what each stage instruction means,
`attributes.py`, `objects.py` and `calls.py` what attributes, classes and calls do, `branches.py` and `loops.py` how
control flow is joined; `entry.py` builds a whole program.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, cast

import jax

from ....config import config
from ...analysis.intervals import Intervals
from ...diagnostics.codes_control import HandlerAtRunTime
from ...diagnostics.codes_mutation import UncertainAlias
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError, Note
from ...hlo.builder import Builder
from ...hlo.ir import Function, Region, Value
from ...hlo.types import BOOL, ArrayType, ShapeError
from ...hlo.walk import callees
from ...library import everything  # noqa: F401  (declares all meanings)
from ...library.context import Case, Context, Raw
from ...library.python import operators
from ...library.rules.by_path import KindByPath
from ...ops import Convert, Not, Rule
from ...ops.draw import Action, Draw
from ...stage import ir as stage
from ...values.boundary import CellVariable, Form, Owned, Path, Step
from ...values.by_path import narrowed
from ...values.generators import generator_cell
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    ArrayCell,
    ByPath,
    Cell,
    Const,
    DictCell,
    ListCell,
    Meaning,
    OneOf,
    Optional,
    Ref,
    Slot,
    Stream,
    Tuple,
    Unknown,
)
from ...values.sites import Sites
from ...values.state import ERROR, State
from ...values.views import read_path
from ..aliases import coherent
from ..aliases.merged import RIVAL, Mergeable, possible, sources_of
from ..calls import printing
from ..calls.calls import Callee, Known
from ..calls.invoke import call, closure_variable, is_opaque
from ..exceptions import raising
from ..iteration.iterators import elements
from ..objects import attributes
from ..objects.externals import Externals
from ..telling.behind import look_behind
from ..telling.describe import describe
from ..telling.reporting import Errors, report, shape_diagnostic
from ..telling.trail import watched
from .assigned import lost_with
from .branches import NO_FRAME, infer_choice, infer_if
from .by_kind import run_by_kind
from .constants import Origins, decided, demandable, is_computed, known, unroll_around
from .effort import Effort
from .frame import Frame, Scope
from .loop import Active, Loop
from .loops import infer_loop
from .reading import read
from .truth import truth

_purity = operator.attrgetter("kind.pure")
_BY_PATH = frozenset([Optional, ByPath, OneOf])
"""What may be one thing or another, as the path says that the program takes."""
_NOT_IN_NAMES = re.compile(r"\W")


class Engine(Context):
    """One inference of one program."""

    def __init__(self, x64: bool, unrolled: Mapping[stage.Instr, Note | None], before: int = 0) -> None:
        self.root = Region()
        self.b = Builder(self.root)
        self.effort = Effort(self.b, config.program_limit, before)
        self.state = State()
        self.state.step = self.effort.run
        self.intervals = Intervals(self.effort.run)
        self.x64 = x64
        self.jax_loops = {}
        self.drawn = False
        """True once the program has drawn random numbers."""
        self.unrolled = unrolled
        """Loops that are written out since inference began again, and what made them be."""
        self.errors = Errors()
        self.origins = Origins()
        self.externals = Externals(self)
        self.sites = Sites()
        self.exposed: set[Slot] = set()
        """Cells that something that the caller has refers to."""
        self.guards: list[raising.Guard] = []
        """Bodies of `try` that are being inferred, outermost first."""
        self.handling = 0
        """How many handlers are being inferred, those of callers included."""
        self.instances: dict[int, raising.Instance] = {}
        """By number of the place: the exceptions that staged code has made."""
        self.frame: Frame | None = None
        self.callees: defaultdict[object, Known] = defaultdict(Known)
        self.python_callees: dict[int, tuple[Callee, dict[str, Abstract]]] = {}  # by id of the function
        self.own_functions: set[int] = set()
        """Ids of functions of the program: a call of one runs its source, whatever it is given."""
        self.special_methods: dict[tuple[type, str], Abstract] = {}  # functions in classes of the program
        self.library_attributes: dict[tuple[int, str], Abstract] = {}  # by id of the module, and the name
        self.keep: list[Any] = []  # objects whose identity is part of a key
        self.body_passes: dict[stage.Instr, int] = {}
        self.kinds_told = 0
        """How often something is done for each kind that a number may be of."""
        self.widened: set[stage.Instr] = set()
        """Loops of which a variable has another type after the first trip than before it."""
        self.active_loops: list[Active] = []
        self._names: dict[str, int] = {}
        self.scopes: list[Scope] = []
        self._namespaces: dict[int, int] = {}
        self.global_names: dict[int, dict[str, Any] | type] = {}
        self.closure_cells: dict[int, tuple[int, Any]] = {}
        self.objects_told_apart = False
        self.pulled_rules: dict[int, tuple[Meaning, Meaning]] = {}
        """By id of a `jax.custom_jvp` object of the program: the rules for reverse mode that its rule comes to."""
        self.constructing: set[int] = set()
        """Cells of objects that take attributes only until they are made."""
        self.modules: int | None = None
        """The cell of the Linen modules at work, outermost first; None before any was."""
        self.rules: dict[object, Rule] = {}
        """Rules of `pystage.custom_vjp` that are being made, by what tells calls apart."""
        self.effectful: set[Function] = set()
        """Functions in which something must run even when their results are unused."""
        self.catching: set[Region] = set()
        """Bodies of functions with a `try` that may catch something at run time."""
        self.trail = watched()
        if self.trail is not None:
            self.trail.begin(self)
        self.under_jax = 0
        """In how many functions of JAX inference is, of those that trace what they are given."""

    # -- errors

    def mark_errors(self) -> int:
        """How many diagnostics there are."""
        return len(self.errors.found)

    def forget_errors(self, mark: int) -> None:
        """Drops what a pass found that is thrown away."""
        self.errors.forget(mark)

    def report(self, diagnostic: Diagnostic) -> Unknown:
        """Records a diagnostic with its place and the calls that led to it."""
        return report(self, diagnostic)

    def attempt(self, call: Callable[[], Abstract], exceptions: type[BaseException]) -> Abstract | None:
        frame, span = self.frame, self.b.span
        before, first = raising.error_of(self), self.sites.next
        found: list[Abstract] = []
        with self.intervals.knowing({}):
            error = raising.attempt(self, lambda: found.append(call()))
        self.frame, self.b.span = frame, span
        caught = error is not None and raising.catches(self, exceptions, error, before)
        if error is not None and not caught:
            raise error
        may = any(issubclass(cls, exceptions) for cls in self.sites.classes(first))
        if may and not caught and raising.error_of(self).code is not before.code:
            what = f"{exceptions.__name__} under a condition of the run time"
            raise DiagnosticError(HandlerAtRunTime(span=span, what=what))
        if caught:
            self.state.set(ERROR, before)
        return None if caught else found[0]

    def raise_(self, exception: BaseException) -> NoReturn:
        raise raising.raise_new(self, exception)

    def check(
        self,
        bad: Value | None,
        fallback: BaseException,
        function: Callable[..., Any],
        args: Sequence[Raw],
    ) -> None:
        raising.check(self, bad, fallback, function, args)

    def check_first(self, bad: Value, cases: Sequence[Case]) -> None:
        raising.check_first(self, bad, cases)

    def checks_bounds(self) -> bool:
        path = Path(Owned(config, "pystage.config"), ((Step.ATTRIBUTE, "check_bounds"),))
        found = self.externals.value(path, config.check_bounds)
        return isinstance(found, Const) and bool(found.value)

    def write(self, cell: int, content: Cell) -> None:
        if sources_of(content):
            coherent.write_all(self, cell, content)
        else:
            raising.write(self, cell, content)

    def spread(self, cell: int, store: Callable[[Ref, Value | None], None]) -> None:
        coherent.spread(self, cell, store)

    def same_object(self, left: Ref, right: Ref) -> Abstract | None:
        same = coherent.same_object(self, left, right)
        return None if same is None else coherent.abstract_truth(same)

    def memory_of(self, ref: Ref) -> list[tuple[Ref, Value | bool]]:
        return coherent.memory_of(self, ref)

    def alias(self, ref: Ref, condition: Value) -> Ref:
        return coherent.alias(self, ref, condition)

    def change_if(self, condition: Value, change: Callable[[], None]) -> None:
        """Infers what happens only under a condition of the run time."""
        infer_if(self, condition, NO_FRAME, change, lambda: None)

    def store_mask(self, cell: int) -> Value | None:
        seen = [raising.is_observable(self, c) for c in possible(self.state.slots.get, cell)]
        return raising.is_running(self) if any(seen) else None

    def draw(self, action: Action, operands: Sequence[Value], type: ArrayType | None) -> Value | None:
        self.drawn = True
        running = raising.is_running(self)
        watched = [] if running is None else [running]
        op = self.b.apply(Draw(action, len(operands), type, bool(watched)), (*operands, *watched))
        return op.results[0] if op.results else None

    def has_effects(self, region: Region) -> bool:
        """True if something in a region must run even when its results are unused."""
        if not all(map(_purity, region.walk())):
            return True
        effectful = self.effectful
        return bool(effectful) and any(not effectful.isdisjoint(callees(op)) for op in region.walk())

    def print(self, stream: Stream, text: Abstract, flush: bool) -> None:
        printing.write_text(self, stream, text, flush)

    def captured_generator(self, generator: Any) -> Ref:
        return self.externals.generator(Path(Owned(generator, type(generator).__name__)), generator)

    def new_generator(self, cls: type, number: Value) -> Ref:
        return Ref(self.state.new_cell(generator_cell(cls, number)))

    def input_of(self, value: Array) -> Value | None:
        found = value.value
        while found in self.origins.operands:
            found = self.origins.operands[found]
        return value.value if found.owner is self.root else None

    def note_caught(self) -> None:
        """Notes for the function being inferred that it goes on after what has been raised."""
        self.catching.add(self.scopes[-1].body if self.scopes else self.root)

    def note_observed(self, slot: Slot, seen: bool) -> None:
        """Notes for the callees being inferred what they depend on."""
        for scope in self.scopes:
            scope.observed.setdefault(slot, seen)

    # -- scopes

    @contextmanager
    def settings(self) -> Iterator[None]:
        """Reads the user's settings anew, inside a context manager that changes them."""
        outer = self.x64, self.jax_loops
        self.x64, self.jax_loops = bool(jax.config.jax_enable_x64), {}
        try:
            yield
        finally:
            self.x64, self.jax_loops = outer

    @contextmanager
    def under_condition(self) -> Iterator[None]:
        """What is inferred here may not run; afterwards the builder stands where it stood."""
        span, frame = self.b.span, self.frame
        try:
            with self.intervals.knowing({}):
                yield
        finally:
            self.b.span, self.frame = span, frame

    def inside_callee(self, body: Region) -> Scope:
        """Inferring the function whose body is `body`, in a `with` block."""
        return Scope(body, self.scopes)

    @property
    def depth(self) -> int:
        """How many callees are being inferred."""
        return len(self.scopes)

    def fresh_name(self, name: str) -> str:
        """A name for a private function."""
        name = _NOT_IN_NAMES.sub("_", name).strip("_") or "lambda"
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name}_{count}" if count else name

    def written_globals(self) -> list[tuple[int, str]]:
        """The variables of modules and the attributes of classes that the program has assigned."""
        if not self._namespaces:
            return []
        return [s for s in self.state.slots if isinstance(s, tuple) and s[0] < 0]

    def namespace_number(self, namespace: dict[str, Any] | type, create: bool = False) -> int | None:
        """The frame number under which assigned variables of a module, or of a class, stand; None if none was assigned."""
        if create:
            self.keep.append(namespace)
            self._namespaces.setdefault(id(namespace), -len(self._namespaces) - 1)
        return self._namespaces.get(id(namespace))

    # -- running

    @property
    def current(self) -> Frame:
        """The frame of the function at hand."""
        assert self.frame is not None
        return self.frame

    def run_frame(self, frame: Frame) -> Abstract:
        """Infers the body of a function; its result."""
        outer, self.frame = self.frame, frame
        if self.trail is not None:
            self.trail.enter(self, frame)
        try:
            self.run_block(frame.function.body)
            return self.result_of(frame)
        finally:
            self.frame = outer

    def result_of(self, frame: Frame) -> Abstract:
        """What the `Return` at the end of the body left."""
        return cast(Abstract, self.state.slots.get((frame.id, "%return"), NONE))

    def run_block(self, block: stage.Block) -> None:
        """Infers instructions in order; one that cannot be staged is reported and gives `Unknown`."""
        handlers = self.handlers
        b, state, trail = self.b, self.state, self.trail
        self.effort.run(len(block))
        for instr in block:
            b.span = instr.span
            if trail is not None:
                trail.reach(self, instr)
            try:
                if state.by_path:
                    run_by_kind(self, instr)
                else:
                    handlers[type(instr)](self, instr)
            except DiagnosticError as error:
                self._refused(instr, error.diagnostic)
            except ShapeError as error:
                self._refused(instr, shape_diagnostic(self, str(error)))

    handlers: dict[type[stage.Instr], Callable[[Any, Any], None]] = {}
    """What each kind of instruction does; filled by `instructions.py`."""

    def _refused(self, instr: stage.Instr, diagnostic: Diagnostic) -> None:
        unknown = self.report(diagnostic)
        assert self.frame is not None
        targets = getattr(instr, "dsts", None) or ([instr.dst] if hasattr(instr, "dst") else [])
        for dst in (*targets, *lost_with(instr)):
            self.state.set((self.frame.id, dst), unknown)
        if self.trail is not None:
            self.trail.refuse(instr)
            look_behind(self, instr, unknown)

    def peek(self, temp: stage.Temp) -> Abstract:
        """The value of a temporary, known or not; what was refused before gave it none."""
        value: Any = self.state.slots.get((self.frame.id, temp))  # type: ignore[union-attr]
        return Unknown(self.errors.found[-1]) if value is None else value

    def get(self, temp: stage.Temp) -> Abstract:
        """The value of a temporary of the current frame, of which it is known whether it is None."""
        value = self.state.slots.get((self.frame.id, temp))  # type: ignore[union-attr]
        if value is None or type(value) is Unknown:
            raise DiagnosticError(self.errors.found[-1] if value is None else value.reason)
        return self.certain(value) if type(value) in _BY_PATH else value  # type: ignore[return-value, arg-type]

    def held(self, temp: stage.Temp) -> Abstract:
        """The value of a temporary of the current frame; it may be None on some paths."""
        value = self.state.slots.get((self.frame.id, temp))  # type: ignore[union-attr]
        if value is None or type(value) is Unknown:
            raise DiagnosticError(self.errors.found[-1] if value is None else value.reason)
        return self.narrowed(value) if type(value) in _BY_PATH else value  # type: ignore[return-value, arg-type]

    def narrowed(self, value: Abstract) -> Abstract:
        """What may be None, where it is known here whether it is; a number, where it is known of which kind."""
        if isinstance(value, ByPath | OneOf):
            return narrowed(self.b, self.intervals, value)
        if not isinstance(value, Optional):
            return value
        missing = self.intervals.decides(value.missing)
        return value if missing is None else NONE if missing else value.value

    def certain(self, value: Abstract) -> Abstract:
        """`value`, of which it must be known here whether it is None."""
        found = self.narrowed(value)
        if isinstance(found, Optional | OneOf):
            raise KindByPath(found.reason, found)
        return found

    def put(self, temp: stage.Temp, value: Abstract) -> None:
        """Gives a temporary of the current frame its value."""
        self.state.set((self.frame.id, temp), value)  # type: ignore[union-attr]

    # -- cells

    def contents_of(self, ref: Ref) -> Cell:
        """What a cell holds, where its paths have a common meaning."""
        return self.contents_at(ref.cell)

    def contents_at(self, cell: int) -> Cell:
        """What a cell holds, by its number."""
        content = self.state.get(cell)
        if isinstance(content, Unknown):
            raise DiagnosticError(content.reason)
        return cast(Cell, content)

    def settle(self, ref: Ref) -> Cell:
        """The contents of a cell about to be changed.

        A merged cell without another name for what it may be is an object of its own from now on. PS501 where
        nothing tells which of several objects it is.
        """
        cell = self.contents_of(ref)
        if not sources_of(cell):
            return cell
        cell = cast(Mergeable, coherent.refreshed(self, ref.cell))
        held = [s for s in cell.sources if self.held_elsewhere(s.cell, ref.cell)]
        if any(s.known is RIVAL for s in held):
            what = describe(Ref(ref.cell), self.state).partition(" of ")[0]
            raise DiagnosticError(UncertainAlias(span=self.b.span, what=what))
        if not held and not any(coherent.is_rearranged(self, s) for s in cell.sources):
            cell = replace(cell, sources=(), which=0)
            self.state.set(ref.cell, cell)
        return cell

    def held_elsewhere(self, source: int, by: int) -> bool:
        """True if `source`, which the merged cell `by` may be, has another name: one of the caller's counts."""
        return source in self.externals.initial or self.state.held_elsewhere(source, by)

    def cell(self, ref: Ref) -> Cell:
        """The contents of a cell about to be read."""
        cell = self.contents_of(ref)
        return coherent.refreshed(self, ref.cell) if sources_of(cell) else cell

    def contents(self, ref: Ref) -> Value:
        cell = self.cell(ref)
        assert isinstance(cell, ArrayCell)
        return read_path(self.b, cell.value, ref.path)

    # -- what library functions use

    def read(self, value: Raw) -> Array | Const:
        return value if type(value) is Array else read(self, value)

    def call(
        self, function: Abstract, args: Sequence[Abstract], kwargs: Mapping[str, Abstract] = {}
    ) -> Abstract:
        found = call(self, function, args, kwargs)
        if isinstance(found, Unknown):  # what a library would make of it is no further error
            raise DiagnosticError(found.reason)
        return found

    def getattr(self, value: Abstract, name: str) -> Abstract:
        return attributes.getattr_(self, value, name)

    def compare(self, op: str, left: Abstract, right: Abstract) -> Abstract:
        """`left op right`, user classes included."""
        return operators.compare(self, op, left, right)

    def overloaded(self, op: str, left: Raw, right: Raw) -> Abstract | None:
        if attributes.may_overload(left) or attributes.may_overload(right):
            return attributes.overloaded(self, op, self.constant_object(left), self.constant_object(right))
        return None

    def constant_object(self, value: Any) -> Abstract:
        """A plain Python object as an abstract value: tuples by their items, everything else `Const`."""
        if isinstance(value, Abstract):
            return value
        if type(value) is tuple:
            return Tuple(tuple([self.constant_object(v) for v in value]))
        if type(value) is list:
            return Ref(self.state.new_cell(ListCell(tuple([self.constant_object(v) for v in value]))))
        self.keep.append(value)
        return Const(value)

    def negate(self, value: Abstract) -> Abstract:
        """`not value`."""
        truth = self.truth(value)
        if isinstance(truth, Const):
            return Const(not truth.value)
        return Array(self.b.op(Not(), self.predicate(truth)), Form.PYTHON)

    def module_attribute(self, module: Any, name: str) -> Abstract:
        return attributes.module_attribute(self, module, name)

    def assign_global(self, namespace: dict[str, Any], name: str, value: Abstract) -> None:
        """`global name; name = value`."""
        number = self.namespace_number(namespace, create=True)
        assert number is not None
        self.global_names[number] = namespace
        if (number, name) not in self.state.slots and name in namespace:  # what other paths leave as it is
            self.state.define((number, name), self.externals.global_variable(namespace, name) or NONE)
        raising.write(self, (number, name), value)

    def closure_cell(self, name: str, cell: Any) -> int:
        """The heap cell of a real closure cell."""
        found = self.closure_cells.get(id(cell))
        if found is None:
            number = self.state.cell_number()
            found = self.closure_cells[id(cell)] = (number, cell)
            content = closure_variable(self, name, cell)
            self.state.define(number, content)
            self.externals.define(number, Path(CellVariable(cell, name)), content)
        return found[0]

    def new_list(self, items: Sequence[Abstract]) -> Ref:
        """A new list."""
        return Ref(self.state.new_cell(ListCell(tuple(items))))

    def new_dict(self, entries: Mapping[Any, Abstract]) -> Ref:
        """A new dict."""
        return Ref(self.state.new_cell(DictCell(dict(entries))))

    def tell_kind(self) -> None:
        self.kinds_told += 1

    def known(self, value: Raw, what: str) -> Any:
        if type(value) is Const:
            return value.value
        before = self.origins.crossings
        result = known(self.state, self.origins, value, what, self.b.span)
        self._note_crossings(before)
        return result

    def is_computed(self, value: Array) -> bool:
        before = self.origins.crossings
        result = is_computed(self.origins, value)
        self._note_crossings(before)
        return result

    def _note_crossings(self, before: int) -> None:
        """What was found out depends on the callers of what is being inferred, if it led there."""
        if self.origins.crossings != before:
            for scope in self.scopes:
                scope.crossed = True

    def can_be_known(self, value: Raw) -> bool:
        if isinstance(value, Array):
            return demandable(self.origins, value)
        return isinstance(value, Const) or not isinstance(value, Abstract)

    def unroll_around(self, value: Abstract) -> None:
        """Begins again with the loop around written out that decides `value`, if there is one."""
        if isinstance(value, Array):
            unroll_around(self.origins, value)

    def decided(self, value: Abstract, what: str) -> Abstract:
        """`value`, known now where only numbers of the world decide it and inputs would not do."""
        if self.externals.told.decide and isinstance(value, Array):
            return decided(self.origins, value, what, self.b.span)
        return value

    def truth(self, value: Raw) -> Abstract:
        return truth(self, value)

    def predicate(self, condition: Abstract) -> Value:
        """A staged condition as a scalar bool of the program."""
        assert isinstance(condition, Array)
        value = condition.value
        return value if value.type.dtype == BOOL else self.b.op(Convert(BOOL), value)

    def branch(
        self, condition: Abstract, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
    ) -> Abstract:
        truth = self.truth(condition)
        if isinstance(truth, Const):
            return then() if truth.value else orelse()
        return infer_choice(self, self.predicate(truth), then, orelse)

    def while_loop(
        self,
        condition: Callable[[Abstract], Abstract],
        body: Callable[[Abstract], Abstract],
        initial: Abstract,
        trip_count: int | None = None,
    ) -> Abstract:
        frame = self.state.new_frame()
        slot = (frame, "carried")
        self.state.set(slot, initial)

        def current() -> Abstract:
            return cast(Abstract, self.state.get(slot))

        loop = Loop(
            test=lambda: condition(current()),
            body=lambda: self.state.set(slot, body(current())),
            frame=frame,
            trips=trip_count,
            certain=bool(trip_count),
        )
        infer_loop(self, loop)
        return current()

    def iterate(self, value: Abstract) -> list[Abstract] | None:
        return elements(self, value)

    def told_apart(self) -> None:
        self.objects_told_apart = True

    def is_opaque(self, obj: Any) -> bool:
        """True for objects of the world that are constants: functions of libraries, and the like."""
        return is_opaque(obj)
