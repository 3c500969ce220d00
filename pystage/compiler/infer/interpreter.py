"""The interpreter: the engine, with each operation that it declares delegated to the package that implements it.

`instructions.py` has the transfer functions of stage instructions, `attributes.py`, `objects.py` and `calls.py` those of
attributes, classes and calls; `branches.py` and `loops.py` join control flow; `entry.py` builds a whole program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

from ..analysis.variables import lost_with
from ..diagnostics.codes_control import HandlerAtRunTime
from ..diagnostics.diagnostic import Diagnostic, DiagnosticError
from ..hlo.ir import Value
from ..hlo.types import ArrayType, ShapeError, TooLarge
from ..library.context import ExceptionCase, Raw
from ..library.rules.rows import from_first, is_in_order
from ..ops.host.draw import Action, Draw
from ..stage import ir as stage
from ..values.capacity import AllocationSite, Capacity, expected_size, first_size
from ..values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    Contents,
    MemberCell,
    Ref,
    RowsCell,
    Stream,
    Unknown,
)
from ..values.state import ERROR
from ..values.vector import Vector
from ..values.views import read_path
from .aliases import coherent, element_stores, pools
from .calls import printing
from .calls.invoke import call
from .control.branches import NO_FRAME, infer_choice, infer_if
from .control.loops import infer_loop
from .core.array_conversion import read
from .core.engine import Engine
from .diagnostics.foreign import users_call
from .exceptions import out_of_memory, raising
from .instructions import HANDLERS
from .iteration.iterable_rows import gathered
from .iteration.iterators import elements
from .objects import attributes
from .objects.truth import truth
from .recovery import recover
from .reporting import report, shape_diagnostic
from .split import run_split
from .state.constants import expected
from .state.loop import Loop
from .state.merged import aliases_of, may_alias_cells


class Interpreter(Engine):
    """The engine that runs: each declared operation, delegated to the package that implements it."""

    # -- instructions

    def run_block(self, block: stage.Block) -> None:
        """Infers instructions in order; one that cannot be staged is reported and gives `Unknown`."""
        b, state, trail = self.b, self.state, self.trail
        self.effort.run(len(block))
        for instr in block:
            b.span = instr.span
            if trail is not None:
                trail.reach(self.current, instr)
            try:
                if state.gated:
                    run_split(self, instr)
                else:
                    HANDLERS[type(instr)](self, instr)
            except DiagnosticError as error:
                self._refused(instr, error.diagnostic)
            except (TooLarge, MemoryError) as error:
                self._refused(instr, out_of_memory.diagnostic_of(self, error))
            except ShapeError as error:
                self._refused(instr, shape_diagnostic(self, str(error)))

    def _refused(self, instr: stage.Instr, diagnostic: Diagnostic) -> None:
        unknown = self.report(diagnostic)
        assert self.frame is not None
        targets = getattr(instr, "dsts", None) or ([instr.dst] if hasattr(instr, "dst") else [])
        for dst in (*targets, *lost_with(instr)):
            self.state.set((self.frame.id, dst), unknown)
        if self.trail is not None:
            self.trail.refuse(self.frame, instr)
        elif not self.state.speculations:  # nothing takes the refusal back
            self.errors.certain = len(self.errors.found)
            self.effort.end_soon()
        recover(self, instr, unknown)

    def report(self, diagnostic: Diagnostic) -> Unknown:
        """Records a diagnostic with its place and the calls that led to it."""
        return report(self, diagnostic)

    # -- calls, attributes, values

    def call(
        self, function: Abstract, args: Sequence[Abstract], kwargs: Mapping[str, Abstract] = {}
    ) -> Abstract:
        found = call(self, function, args, kwargs)
        if isinstance(found, Unknown):  # what a library would make of it is no further error
            raise DiagnosticError(found.reason)
        return found

    def getattr(self, value: Abstract, name: str) -> Abstract:
        return attributes.getattr_(self, value, name)

    def overloaded(self, op: str, left: Raw, right: Raw) -> Abstract | None:
        if attributes.may_overload(left) or attributes.may_overload(right):
            return attributes.overloaded(self, op, self.constant_object(left), self.constant_object(right))
        return None

    def unary(self, op: str, x: Raw) -> Abstract:
        return attributes.unary(self, op, self.constant_object(x))

    def inplace(self, op: str, left: Raw, right: Raw) -> Abstract:
        return attributes.inplace(self, op, self.constant_object(left), self.constant_object(right))

    def read(self, value: Raw) -> Array | Const:
        return value if type(value) is Array else read(self, value)

    def truth(self, value: Raw) -> Abstract:
        return truth(self, value)

    def iterate(self, value: Abstract) -> list[Abstract] | None:
        return elements(self, value)

    def gathered(self, value: Abstract) -> Vector[Abstract] | None:
        return gathered(self, value)

    def print(self, stream: Stream, text: Abstract, flush: bool) -> None:
        printing.write_text(self, stream, text, flush)

    # -- control flow

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
        most: int | None = None,
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
            trips=most if trip_count is None else trip_count,
            certain=bool(trip_count),
        )
        infer_loop(self, loop)
        return current()

    def change_if(self, condition: Value, change: Callable[[], None]) -> None:
        """Infers what happens only under a condition of the run time."""
        infer_if(self, condition, NO_FRAME, change, lambda: None)

    # -- exceptions

    def attempt(self, call: Callable[[], Abstract], exceptions: type[BaseException]) -> Abstract | None:
        frame, span = self.frame, self.b.span
        before, first = raising.error_of(self), self.raises.sites.next
        found: list[Abstract] = []
        with self.intervals.knowing({}):
            error = raising.attempt(self, lambda: found.append(call()))
        self.frame, self.b.span = frame, span
        caught = error is not None and raising.catches(self, exceptions, error, before)
        if error is not None and not caught:
            raise error
        may = any(issubclass(cls, exceptions) for cls in self.raises.sites.classes(first))
        if may and not caught and raising.error_of(self).code is not before.code:
            what = f"{exceptions.__name__} under a condition of the run time"
            raise DiagnosticError(HandlerAtRunTime(span=span, what=what))
        if caught:
            self.state.set(ERROR, before)
        return None if caught else found[0]

    def raise_(self, exception: BaseException) -> NoReturn:
        raise raising.raise_new(self, self.callees.numpys_own(exception, self.state, self.b.span))

    def check(
        self,
        bad: Value | None,
        fallback: BaseException,
        function: Callable[..., Any],
        args: Sequence[Raw],
    ) -> None:
        raising.check(self, bad, fallback, function, args)

    def check_first(self, bad: Value, cases: Sequence[ExceptionCase]) -> None:
        raising.check_first(self, bad, cases)

    def capacity(
        self,
        initial: int,
        itemsize: int = 8,
        what: str = "what grows here",
        with_inputs: bool = False,
        share: float = 1,
    ) -> Capacity:
        site = AllocationSite(self.b.span, what, users_call(self.b.span, self.frame).span)
        extent = self.externals.extent
        made = Capacity(site, initial, itemsize, extent, share)
        if with_inputs:
            initial = first_size(initial, itemsize, made.expected if made.is_inner else expected_size(extent))
        size = max(initial, self.externals.statics.capacities.get(site, 0))
        return self.raises.note_capacity(replace(made, size=size))

    def expected(self, number: Abstract) -> int | None:
        if isinstance(number, Const):
            return int(number.value)
        found = expected(self.origins, number.value) if isinstance(number, Array) else None
        return None if found is None else int(found)

    def needs_capacity(self, capacity: Capacity, needed: Value) -> None:
        raising.needs_capacity(self, capacity, needed)

    def draw(self, action: Action, operands: Sequence[Value], type: ArrayType | None) -> Value | None:
        self.effects.draws += 1
        running = raising.is_running(self)
        watched = [] if running is None else [running]
        op = self.b.apply(Draw(action, len(operands), type, bool(watched)), (*operands, *watched))
        return op.results[0] if op.results else None

    # -- memory

    def cell(self, ref: Ref) -> Cell:
        """The contents of a cell about to be read."""
        return self._in_order(coherent.cell(self, ref))

    def settle(self, ref: Ref) -> Cell:
        return self._in_order(coherent.settle(self, ref))

    def ring(self, ref: Ref) -> Cell:
        return coherent.cell(self, ref)

    def settle_ring(self, ref: Ref) -> Cell:
        return coherent.settle(self, ref)

    def _in_order(self, content: Cell) -> Cell:
        """The contents of a cell, the rows of a vector from the first element on."""
        if not isinstance(content, RowsCell) or is_in_order(content.items):
            return content
        return replace(content, items=from_first(self.b, content.items))

    def contents(self, ref: Ref) -> Value:
        part = coherent.part_of(self, ref) if ref.path else None
        if part is not None:
            return part
        cell = self.cell(ref)
        assert isinstance(cell, ArrayCell)
        return read_path(self.b, cell.value, ref.path)

    def write(self, cell: int, content: Cell, masked: bool = False) -> None:
        if isinstance(self.state.slots.get(cell), MemberCell):
            pools.store(self, cell, cast(Contents, content))
        elif aliases_of(content):
            coherent.write_all(self, cell, content)
        else:
            raising.write(self, cell, content, masked)

    def store_mask(self, cell: int) -> Value | None:
        seen = [raising.is_observable(self, c) for c in may_alias_cells(self.state.slots.get, cell)]
        return raising.is_running(self) if any(seen) else None

    def store_to_aliases(self, cell: int, store: Callable[[Ref, Value | None], None]) -> None:
        coherent.store_to_aliases(self, cell, store)

    def same_object(self, left: Ref, right: Ref) -> Abstract | None:
        same = coherent.same_object(self, left, right)
        return None if same is None else coherent.abstract_truth(same)

    def memory_of(self, ref: Ref) -> list[tuple[Ref, Value | bool]]:
        return coherent.memory_of(self, ref)

    def vectors_of(self, container: Raw) -> list[tuple[Vector[Abstract], Value]]:
        return coherent.vectors_of(self, container) if isinstance(container, Ref) else []

    def is_of_caller(self, ref: Ref) -> bool:
        return ref.cell in self.externals.initial

    def freeze(self, ref: Ref) -> bool:
        return coherent.freeze(self, ref.cell)

    def note_element(self, array: Ref, holder: Ref, place: int | Value, key: Abstract) -> None:
        element_stores.note(self, array, holder, place, key)

    def is_element(self, array: Ref, holder: Ref, key: Abstract) -> bool:
        return element_stores.is_at(self, array, holder, key)

    def element_stores(self) -> int:
        return len(self.elements.stored)

    def store_to_element(self, cell: int) -> None:
        element_stores.store(self, cell)

    def pooled(self, objects: Sequence[Ref], pool: int | None = None) -> bool:
        return pools.pooled(self, [ref.cell for ref in objects], pool)

    def united(self, first: int, second: int) -> bool:
        return pools.united(self, first, second)

    def alias_if(self, ref: Ref, condition: Value) -> Ref:
        return coherent.alias_if(self, ref, condition)
