"""Walks over abstract values and cells: rebuilding them with other program values and other cells."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

from ..hlo.ir import Value
from .lattice import (
    Abstract,
    Array,
    ArrayCell,
    ByPath,
    Cell,
    Closure,
    Const,
    DictCell,
    ErrorCell,
    Exc,
    ListCell,
    Meaning,
    ObjectCell,
    OneOf,
    Partial,
    Picked,
    Ref,
    SetCell,
    Source,
    Text,
    Tuple,
    Undef,
    Unknown,
    Version,
)
from .views import View, Window

C = TypeVar("C", bound=Abstract | Cell)

ValueMap = Callable[[Value], Value]
CellMap = Callable[[int], int]


def same_cell(cell: int) -> int:
    """The cell map that changes nothing."""
    return cell


def _same_value(value: Value) -> Value:
    return value


def rebuild(content: C, value: ValueMap, cell: CellMap = same_cell) -> C:
    """`content` with every program value mapped by `value` and every cell number by `cell`.

    What does not change comes back as the object that it is.
    """
    rule = _RULES.get(type(content), _generic)
    rebuilt: C = content if rule is None else rule(_Rebuilding(value, cell), content)
    return rebuilt


class _Rebuilding:
    """One walk: the two maps, and the views met so far, since one view object stays one (None: each counts)."""

    __slots__ = ("cell", "value", "views")

    def __init__(self, value: ValueMap, cell: CellMap) -> None:
        self.value = value
        self.cell = cell
        self.views: dict[Ref, Ref] | None = {}

    def go(self, x: Any) -> Any:
        """`x` rebuilt."""
        rule = _RULES.get(type(x), _generic)
        return x if rule is None else rule(self, x)

    def each(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """A tuple of parts rebuilt."""
        rules = _RULES
        new = tuple([x if (rule := rules.get(type(x), _generic)) is None else rule(self, x) for x in items])
        return items if all(map(operator.is_, new, items)) else new

    def named(self, items: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        """A tuple of names and parts rebuilt."""
        return tuple([(name, self.go(part)) for name, part in items])

    def entries(self, entries: dict[Any, Any]) -> dict[Any, Any]:
        """The values of a dict rebuilt."""
        if not entries:
            return entries
        new = self.each(tuple(entries.values()))
        return dict(zip(entries, new))

    def sources(self, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        """The sources of a merged cell, with what they held as it was."""
        if not sources:
            return sources
        refs = [self.go(s.ref) for s in sources]
        return tuple([s if ref is s.ref else Source(ref, s.known) for s, ref in zip(sources, refs)])

    def which(self, which: int | Value) -> int | Value:
        """Which source a merged cell is."""
        return self.value(which) if isinstance(which, Value) else which

    def view(self, view: View) -> View:
        """One step of a path."""
        if isinstance(view, Window) and not view.static:
            return Window(
                tuple([s if isinstance(s, int) else self.value(s) for s in view.starts]), view.sizes
            )
        return view


def _array(m: _Rebuilding, x: Array) -> Array:
    new = m.value(x.value)
    if new is x.value:
        return x
    return Array(new, x.form, x.weak, x.lower, x.upper, x.key_impl)


def _by_path(m: _Rebuilding, x: ByPath) -> ByPath:
    new, tags = m.value(x.value), tuple(map(m.value, x.tags))
    whole = None if x.whole is None else m.value(x.whole)
    if new is x.value and whole is x.whole and all(map(operator.is_, tags, x.tags)):
        return x
    return replace(x, value=new, tags=tags, whole=whole)


def _ref(m: _Rebuilding, x: Ref) -> Ref:
    cell = m.cell(x.cell)
    if not x.path:
        return x if cell == x.cell else Ref(cell)
    found = None if m.views is None else m.views.get(x)
    if found is None:
        path = tuple([m.view(v) for v in x.path])
        unchanged = cell == x.cell and all(map(operator.is_, path, x.path))
        found = x if unchanged else Ref(cell, path)
        if m.views is not None:
            m.views[x] = found
    return found


def _tuple(m: _Rebuilding, x: Tuple) -> Tuple:
    items = m.each(x.items)
    return x if items is x.items else Tuple(items, x.cls)


def _closure(m: _Rebuilding, x: Closure) -> Closure:
    return replace(
        x,
        defaults=m.each(x.defaults),
        kw_defaults=m.named(x.kw_defaults),
        cells=tuple([(n, m.cell(c)) for n, c in x.cells]),
    )


def _array_cell(m: _Rebuilding, x: ArrayCell) -> ArrayCell:
    value = m.value(x.value)
    if _single(x):
        return x if value is x.value else ArrayCell(value, x.writable)
    writable = m.value(x.writable) if isinstance(x.writable, Value) else x.writable
    return ArrayCell(value, writable, m.sources(x.sources), m.which(x.which))


def _list_cell(m: _Rebuilding, x: ListCell) -> ListCell:
    items = m.each(x.items)
    if _single(x):
        return x if items is x.items else ListCell(items)
    return ListCell(items, m.sources(x.sources), m.which(x.which))


def _dict_cell(m: _Rebuilding, x: DictCell) -> DictCell:
    return DictCell(m.entries(x.entries), m.sources(x.sources), m.which(x.which))


def _object_cell(m: _Rebuilding, x: ObjectCell) -> ObjectCell:
    old = tuple(x.fields.values())
    new = m.each(old)
    if new is old and _single(x):
        return x
    fields = dict(zip(x.fields, new))
    return ObjectCell(x.cls, fields, x.origin, m.sources(x.sources), m.which(x.which))


def _set_cell(m: _Rebuilding, x: SetCell) -> SetCell:
    return x if _single(x) else SetCell(x.items, m.sources(x.sources), m.which(x.which))


def _single(x: ArrayCell | ListCell | ObjectCell | SetCell) -> bool:
    """True for a cell that stands for one object."""
    return not x.sources and x.which == 0 and not isinstance(getattr(x, "writable", True), Value)


def _generic(m: _Rebuilding, x: Any) -> Any:
    """An abstract value whose fields are program values, abstract values, tuples of them, or a `cell`."""
    changes: dict[str, object] = {}
    for name in type(x).__dataclass_fields__:
        part = new = getattr(x, name)
        if isinstance(part, Value):
            new = m.value(part)
        elif isinstance(part, Abstract):
            new = m.go(part)
        elif name == "cell":
            new = m.cell(part)
        elif type(part) is tuple and part and isinstance(part[0], Abstract):
            new = m.each(part)
        if new is not part:
            changes[name] = new
    return replace(x, **changes) if changes else x


def _partial(m: _Rebuilding, x: Partial) -> Partial:
    return Partial(m.go(x.function), m.each(x.args), m.named(x.kwargs))


def _picked(m: _Rebuilding, x: Picked) -> Text:
    return Text(x.function, m.each(x.args))


def _one_of(m: _Rebuilding, x: OneOf) -> OneOf:
    first, second, tag = m.go(x.first), m.go(x.second), m.value(x.tag)
    if first is x.first and second is x.second and tag is x.tag and not x.sides:
        return x
    return OneOf(first, second, tag, x.reason)


def _exception(m: _Rebuilding, x: Exc) -> Exc:
    return Exc(x.cls, m.each(x.args), m.named(x.kwargs), None if x.cause is None else m.go(x.cause))


def _version(m: _Rebuilding, x: Version) -> Version:
    slot = m.cell(x.slot) if isinstance(x.slot, int) else x.slot
    condition, content = m.value(x.condition), m.go(x.content)
    same = slot == x.slot and condition is x.condition and content is x.content
    return x if same else Version(slot, condition, content)


def _error_cell(m: _Rebuilding, x: ErrorCell) -> ErrorCell:
    versions = [_version(m, v) for v in x.versions]
    code = m.value(x.code) if isinstance(x.code, Value) else x.code
    return ErrorCell(code, {k: m.value(v) for k, v in x.payload.items()}, tuple(versions))


_RULES: dict[type, Callable[[_Rebuilding, Any], Any] | None] = {
    Array: _array,
    ByPath: _by_path,
    Ref: _ref,
    Tuple: _tuple,
    Closure: _closure,
    Partial: _partial,
    Exc: _exception,
    Picked: _picked,
    OneOf: _one_of,
    ErrorCell: _error_cell,
    ArrayCell: _array_cell,
    ListCell: _list_cell,
    DictCell: _dict_cell,
    ObjectCell: _object_cell,
    SetCell: _set_cell,
    Const: None,
    Meaning: None,
    Undef: None,
    Unknown: None,
}
"""How a class is rebuilt, where not by its fields; None for what has no parts."""


def values_of(content: Abstract | Cell) -> list[Value]:
    """Every program value inside, in a fixed order, as often as it is there."""
    found: list[Value] = []

    def note(value: Value) -> Value:
        found.append(value)
        return value

    walk = _Rebuilding(note, same_cell)
    walk.views = None
    walk.go(content)
    return found


def paths_to(content: Abstract | Cell, cell: int) -> set[tuple[View, ...]]:
    """The paths by which `content` refers to an array directly."""
    count = cells_of(content).count(cell)
    if not count:
        return set()
    walk = _Rebuilding(_same_value, same_cell)
    walk.go(content)
    found = [ref.path for ref in walk.views or () if ref.cell == cell]
    return {*found, ()} if len(found) < count else set(found)


def cells_of(content: Abstract | Cell) -> list[int]:
    """Every cell that `content` refers to directly, in a fixed order; sources of a merged cell do not count.

    What the caller sees where the program has raised is no reference either.
    """
    found: list[int] = []
    if isinstance(content, ErrorCell):
        return found
    if getattr(content, "sources", ()):
        content = replace(cast(ArrayCell, content), sources=())

    def note(cell: int) -> int:
        found.append(cell)
        return cell

    _Rebuilding(_same_value, note).go(content)
    return found
