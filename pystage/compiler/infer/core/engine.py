"""The engine of inference: the state of one inference, and the door by which its rooms call each other.

`Engine` is the `Context` of library functions. It holds what inference knows, and reads and writes it. What needs the
rooms (calls, attributes, branches, loops, exceptions) it only declares: a room imports this module and those below
itself, and reaches the others through the engine. `Interpreter` (`infer/interpreter.py`) is the engine that is made.
"""

from __future__ import annotations

import abc
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import jax

from ....config import config
from ...analysis.intervals import Intervals
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError, Note
from ...hlo.builder import Builder
from ...hlo.ir import Function, Region, Value
from ...hlo.types import BOOL
from ...hlo.walk import callees
from ...library import everything  # noqa: F401  (declares all meanings)
from ...library.context import Context, Raw
from ...library.python import operators
from ...library.rules.by_path import KindByPath
from ...ops import Convert, Not, Rule
from ...stage import ir as stage
from ...values.boundary import Form, Owned, Path, Step
from ...values.by_path import narrowed
from ...values.generators import generator_cell
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    ByPath,
    Cell,
    Const,
    Meaning,
    OneOf,
    Optional,
    Ref,
    Slot,
    Unknown,
)
from ...values.sites import Sites
from ...values.state import State
from ..calls.summaries import Callee, Known
from ..exceptions.raises import Guard, Instance
from ..objects.externals import Externals
from ..telling.errors import Errors
from ..telling.trail import Watched, watched
from .constants import Origins, decided, demandable, is_computed, known, unroll_around
from .effort import Effort
from .frame import Frame, Scope
from .loop import Active

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
        self.externals = Externals(self.root, self.b, self.state, self.origins)
        self.sites = Sites()
        self.exposed: set[Slot] = set()
        """Cells that something that the caller has refers to."""
        self.guards: list[Guard] = []
        """Bodies of `try` that are being inferred, outermost first."""
        self.handling = 0
        """How many handlers are being inferred, those of callers included."""
        self.instances: dict[int, Instance] = {}
        """By number of the place: the exceptions that staged code has made."""
        self.frame: Frame | None = None
        self.callees: defaultdict[object, Known] = defaultdict(Known)
        self.python_callees: dict[int, tuple[Callee, dict[str, Abstract]]] = {}  # by id of the function
        self.own_functions: set[int] = set()
        """Ids of functions of the program: a call of one runs its source, whatever it is given."""
        self.special_methods: dict[tuple[type, str], Abstract] = {}  # functions in classes of the program
        self.library_attributes: dict[tuple[int, str], Abstract] = {}  # by id of the module, and the name
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
            self.trail.begin(Watched(self.root, self.scopes, self.state, self.effort))
        self.under_jax = 0
        """In how many functions of JAX inference is, of those that trace what they are given."""

    # -- the door: what the rooms do for each other, besides what a `Context` does

    @abc.abstractmethod
    def report(self, diagnostic: Diagnostic) -> Unknown:
        """Records a diagnostic with its place and the calls that led to it."""

    @abc.abstractmethod
    def run_block(self, block: stage.Block) -> None:
        """Infers instructions in order; one that cannot be staged is reported and gives `Unknown`."""

    @abc.abstractmethod
    def change_if(self, condition: Value, change: Callable[[], None]) -> None:
        """Infers what happens only under a condition of the run time."""

    # -- errors

    def mark_errors(self) -> int:
        """How many diagnostics there are."""
        return len(self.errors.found)

    def forget_errors(self, mark: int) -> None:
        """Drops what a pass found that is thrown away."""
        self.errors.forget(mark)

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

    def note_caught(self) -> None:
        """Notes for the function being inferred that it goes on after what has been raised."""
        self.catching.add(self.scopes[-1].body if self.scopes else self.root)

    def note_observed(self, slot: Slot, seen: bool) -> None:
        """Notes for the callees being inferred what they depend on."""
        for scope in self.scopes:
            scope.observed.setdefault(slot, seen)

    def has_effects(self, region: Region) -> bool:
        """True if something in a region must run even when its results are unused."""
        if not all(map(_purity, region.walk())):
            return True
        effectful = self.effectful
        return bool(effectful) and any(not effectful.isdisjoint(callees(op)) for op in region.walk())

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
            self.externals.keep.append(namespace)
            self._namespaces.setdefault(id(namespace), -len(self._namespaces) - 1)
        return self._namespaces.get(id(namespace))

    @property
    def current(self) -> Frame:
        """The frame of the function at hand."""
        assert self.frame is not None
        return self.frame

    # -- temporaries and cells

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

    def put(self, temp: stage.Temp, value: Abstract) -> None:
        """Gives a temporary of the current frame its value."""
        self.state.set((self.frame.id, temp), value)  # type: ignore[union-attr]

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

    def contents_at(self, cell: int) -> Cell:
        """What a cell holds, by its number."""
        content = self.state.get(cell)
        if isinstance(content, Unknown):
            raise DiagnosticError(content.reason)
        return cast(Cell, content)

    def held_elsewhere(self, source: int, by: int) -> bool:
        """True if `source`, which the merged cell `by` may be, has another name: one of the caller's counts."""
        return source in self.externals.initial or self.state.held_elsewhere(source, by)

    # -- what library functions use

    def checks_bounds(self) -> bool:
        path = Path(Owned(config, "pystage.config"), ((Step.ATTRIBUTE, "check_bounds"),))
        found = self.externals.value(path, config.check_bounds)
        return isinstance(found, Const) and bool(found.value)

    def captured_generator(self, generator: Any) -> Ref:
        return self.externals.generator(Path(Owned(generator, type(generator).__name__)), generator)

    def new_generator(self, cls: type, number: Value) -> Ref:
        return Ref(self.state.new_cell(generator_cell(cls, number)))

    def input_of(self, value: Array) -> Value | None:
        found = value.value
        while found in self.origins.operands:
            found = self.origins.operands[found]
        return value.value if found.owner is self.root else None

    def compare(self, op: str, left: Abstract, right: Abstract) -> Abstract:
        """`left op right`, user classes included."""
        return operators.compare(self, op, left, right)

    def constant_object(self, value: Any) -> Abstract:
        """A plain Python object as an abstract value: tuples by their items, everything else `Const`."""
        return self.externals.constant(value)

    def negate(self, value: Abstract) -> Abstract:
        """`not value`."""
        truth = self.truth(value)
        if isinstance(truth, Const):
            return Const(not truth.value)
        return Array(self.b.op(Not(), self.predicate(truth)), Form.PYTHON)

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

    def predicate(self, condition: Abstract) -> Value:
        """A staged condition as a scalar bool of the program."""
        assert isinstance(condition, Array)
        value = condition.value
        return value if value.type.dtype == BOOL else self.b.op(Convert(BOOL), value)

    def told_apart(self) -> None:
        self.objects_told_apart = True
