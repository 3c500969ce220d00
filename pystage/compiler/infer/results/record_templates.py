"""Templates of structured ndarrays that leave a program: of their memory, and of the views on it.

What the program has as one array for each field comes out as one ndarray again: the caller's own, or a new one that the
runtime makes of the fields. Parts, elements and fields of one memory are views of one ndarray.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import field
from typing import Any, NoReturn, Protocol

from ....records import dataclass
from ...diagnostics.codes_mutation import CannotReturn
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...values.boundary import (
    Box,
    ChoiceTemplate,
    Cut,
    Form,
    OutputTemplate,
    PathTemplate,
    RecordsTemplate,
    Subscript,
    Template,
    ViewStep,
    ViewTemplate,
)
from ...values.bounded import Bounded
from ...values.lattice import Abstract, ArrayCell, Records, Ref
from ...values.node import TreeNode
from ...values.views import View, leading
from ...values.walk import nodes
from ..core.engine import Engine
from ..state.merged import aliases_of


class Leaving(Protocol):
    """Makes the templates of everything else (`exits.py`)."""

    def output(self, value: Value, form: Form) -> OutputTemplate: ...
    def own(self, ref: Ref) -> Template: ...
    def as_seen(self, ref: Ref, cell: Any) -> Template: ...
    def view_step(self, view: View) -> View | Box: ...
    def cuts(self, array: Bounded) -> tuple[Cut, ...]: ...
    def identity(self, view: Hashable) -> int: ...
    def note_view(self, ref: Ref) -> None: ...
    def may_be_visible(self, cell: Any) -> bool: ...
    def position(
        self, cell: Any, objects: dict[Ref | None, int], found: dict[int, int | Value]
    ) -> int | Value: ...


@dataclass(slots=True)
class RecordTemplates:
    """Makes the templates of the structured ndarrays of one program."""

    engine: Engine
    leaving: Leaving
    _memories: dict[int, tuple[Records, Template]] = field(default_factory=dict)
    """All of the memory of new ones, by the cells of their fields."""

    def gather(self, roots: Iterable[Any]) -> None:
        """Builds the memory of new structured ndarrays, of which the results are all or a part.

        Then that of those that may be others, as the path decides.
        """
        trees = [root for root in roots if isinstance(root, TreeNode)]
        found = {cells_of(x): x.cls for root in trees for x in nodes(root) if isinstance(x, Records)}
        groups = [c for c in sorted(found, key=len, reverse=True) if self._owner(c[0]) is None]
        merged = [cells for cells in groups if any(map(self._may_be_another, cells))]
        for cells in (*[cells for cells in groups if cells not in merged], *merged):
            new = [cell for cell in cells if cell not in self._memories]
            if new and len(new) < len(cells):
                self._refuse("parts of one new structured ndarray, which overlap in part,")
            if new:
                make = self._chosen if cells in merged else self._new
                whole = Records(found[cells], tuple(map(Ref, cells)), found[cells].dtype.itemsize)
                self._memories.update(dict.fromkeys(cells, (whole, make(whole, cells))))

    def field(self, ref: Ref) -> Template | None:
        """All of the array of a field of new records; None for any other array."""
        if ref.cell not in self._memories:
            return None
        owner, memory = self._memories[ref.cell]
        leaf = owner.leaves[cells_of(owner).index(ref.cell)]
        return ViewTemplate(memory, tuple(map(Subscript, leaf.names)), self.leaving.identity(ref))

    def template(self, value: Records) -> Template:
        """A structured ndarray: the caller's own or a new one, or a part of one; an element of one."""
        first = value.parts[0]
        steps = self._steps(value, first)
        _, memory = self._known(cells_of(value)[0])
        if isinstance(first, Ref):
            self.leaving.note_view(first)
        if value.element:
            steps.append(Subscript(()))
        return ViewTemplate(memory, tuple(steps), self.leaving.identity(_object(value))) if steps else memory

    def _steps(self, value: Records, part: Abstract) -> list[ViewStep]:
        """The path from the memory of records to those whose first field is `part` and whose fields are those of `value`."""
        whole, leaf = _whole(part), value.leaves[0]
        steps: list[ViewStep] = [
            self.leaving.view_step(leading(view, len(leaf.shape))) for view in whole.path
        ]
        if isinstance(part, Bounded):
            steps += self.leaving.cuts(part)
        owner, _ = self._known(whole.cell)
        names = owner.leaves[cells_of(owner).index(whole.cell)].names
        dtype = owner.dtype
        for name in names[: len(names) - len(leaf.names)]:
            steps.append(Subscript(name))
            dtype = dtype[name]
        if value.dtype != dtype:
            steps.append(Subscript(value.dtype.names or ()))
        return steps

    def _owner(self, cell: int) -> tuple[Records, Template] | None:
        """All records of which a cell is a field, and the template of their memory; None where that is not known."""
        known = self.engine.externals.records.get(cell)
        if known is not None:
            return known[1], PathTemplate(known[0])
        return self._memories.get(cell)

    def _known(self, cell: int) -> tuple[Records, Template]:
        found = self._owner(cell)
        if found is None:
            self._refuse("a structured ndarray that is one or another, as the path decides,")
        return found

    def _new(self, whole: Records, cells: Sequence[int]) -> Template:
        """Memory that the program has allocated."""
        parts = tuple([self.leaving.own(Ref(cell)) for cell in cells])
        return RecordsTemplate(whole.cls, parts, self.engine.state.cell_number())

    def _chosen(self, whole: Records, cells: Sequence[int]) -> Template:
        """Memory that is new, or that the caller has or gets under another name, alike for all fields."""
        contents = [self.engine.cell(Ref(cell)) for cell in cells]
        parts = [self.leaving.as_seen(Ref(cell), content) for cell, content in zip(cells, contents)]
        own = RecordsTemplate(whole.cls, tuple(parts), self.engine.state.cell_number())
        options: list[Template] = [own]
        selectors: list[int | Value] = []
        others: list[list[Ref]] = []
        for content in contents:
            objects: dict[Ref | None, int] = {None: 0}
            selectors.append(self.leaving.position(content, objects, {}))
            others.append([ref for ref in objects if ref is not None])
        selector = selectors[0]
        alike = all(x == selector if isinstance(selector, int) else isinstance(x, Value) for x in selectors)
        if not alike or len(set(map(len, others))) > 1:
            self._refuse("a structured ndarray of which some fields may be those of another one")
        for refs in zip(*others):
            (owner, memory), *further = [self._known(ref.cell) for ref in refs]
            if any(of is not owner for of, _ in further) or len({len(ref.path) for ref in refs}) > 1:
                self._refuse("a structured ndarray of which some fields may be those of another one")
            steps = self._steps(whole, refs[0])
            view = ViewTemplate(memory, tuple(steps), self.engine.state.cell_number())
            options.append(view if steps else memory)
        if isinstance(selector, int):
            return options[selector]
        return ChoiceTemplate(self.leaving.output(selector, Form.PYTHON), tuple(options))

    def _may_be_another(self, cell: int) -> bool:
        """True for a field that may be that of records which the caller has, or gets under another name."""
        content = self.engine.contents_at(cell)
        merged = isinstance(content, ArrayCell) and bool(aliases_of(content)) and content.selector != 0
        return merged and self.leaving.may_be_visible(content)

    def _refuse(self, what: str) -> NoReturn:
        raise DiagnosticError(CannotReturn(span=self.engine.b.span, what=what))


def _object(records: Records) -> Hashable:
    """Equal for two names of one structured ndarray, or one element, that is a part of another."""
    first = records.parts[0]
    identity = first.identity if isinstance(first, Ref) else None
    return records if identity is None else (records.cls, records.element, identity)


def _whole(part: Abstract) -> Ref:
    """The ndarray to whose elements a field belongs."""
    whole = part.whole if isinstance(part, Bounded) else part
    assert isinstance(whole, Ref)
    return whole


def cells_of(records: Records) -> tuple[int, ...]:
    """The cells of the memory of the fields."""
    return tuple([_whole(part).cell for part in records.parts])
