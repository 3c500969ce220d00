"""Walks over abstract values and cells: rebuilding them with other program values and other cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar, cast

from ..hlo.ir import Value
from .lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Closure,
    Const,
    DictCell,
    DictView,
    Enumerate,
    Exc,
    IteratorCell,
    ListCell,
    Mapped,
    MaybeUndef,
    Meaning,
    Method,
    ObjectCell,
    Partial,
    Range,
    Ref,
    Reversed,
    SetCell,
    Slice,
    Super,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
    Zip,
)
from .views import View, Window

C = TypeVar("C", bound=Abstract | Cell)

ValueMap = Callable[[Value], Value]
CellMap = Callable[[int], int]


def same_cell(cell: int) -> int:
    """The cell map that changes nothing."""
    return cell


def rebuild(content: C, value: ValueMap, cell: CellMap = same_cell) -> C:
    """`content` with every program value mapped by `value` and every cell number by `cell`."""
    views: dict[Ref, Ref] = {}
    return cast(C, _rebuild(content, value, cell, views))


def _rebuild(x: Abstract | Cell, value: ValueMap, cell: CellMap, views: dict[Ref, Ref]) -> Abstract | Cell:
    def go(part: Abstract) -> Abstract:
        return cast(Abstract, _rebuild(part, value, cell, views))

    match x:
        case Array():
            new = value(x.value)
            return x if new is x.value else replace(x, value=new)
        case Ref():
            if not x.path:
                return Ref(cell(x.cell))
            if x not in views:  # one view object stays one
                views[x] = Ref(cell(x.cell), tuple([_view(v, value) for v in x.path]))
            return views[x]
        case Tuple():
            return Tuple(tuple([go(i) for i in x.items]), x.cls)
        case Slice():
            return Slice(go(x.start), go(x.stop), go(x.step))
        case Range():
            return Range(go(x.start), go(x.stop), go(x.step))
        case Enumerate():
            return Enumerate(go(x.inner), go(x.start))
        case Zip():
            return Zip(tuple([go(i) for i in x.inners]), x.strict)
        case Reversed():
            return Reversed(go(x.inner))
        case Mapped():
            return Mapped(go(x.function), tuple([go(i) for i in x.inners]))
        case DictView():
            return DictView(x.kind, cell(x.cell))
        case Closure():
            return replace(
                x,
                defaults=tuple([go(d) for d in x.defaults]),
                kw_defaults=tuple([(n, go(d)) for n, d in x.kw_defaults]),
                cells=tuple([(n, cell(c)) for n, c in x.cells]),
            )
        case Method():
            return Method(go(x.function), go(x.receiver))
        case Partial():
            return Partial(
                go(x.function), tuple([go(a) for a in x.args]), tuple([(n, go(a)) for n, a in x.kwargs])
            )
        case Super():
            return Super(x.cls, go(x.receiver))
        case Exc():
            return Exc(x.cls, tuple([go(a) for a in x.args]))
        case MaybeUndef():
            return MaybeUndef(go(x.value), x.span, None if x.runs is None else go(x.runs))
        case ArrayCell():
            array = value(x.value)
            return replace(x, value=array, sources=_sources(x.sources, cell), which=_which(x.which, value))
        case ListCell():
            items = tuple([go(i) for i in x.items])
            return replace(x, items=items, sources=_sources(x.sources, cell), which=_which(x.which, value))
        case DictCell():
            entries = {k: go(v) for k, v in x.entries.items()}
            return replace(
                x, entries=entries, sources=_sources(x.sources, cell), which=_which(x.which, value)
            )
        case ObjectCell():
            fields = {k: go(v) for k, v in x.fields.items()}
            return replace(x, fields=fields, sources=_sources(x.sources, cell), which=_which(x.which, value))
        case SetCell():
            return replace(x, sources=_sources(x.sources, cell), which=_which(x.which, value))
        case VariableCell():
            return VariableCell(go(x.value))
        case IteratorCell():
            return IteratorCell(tuple([go(i) for i in x.rest]))
        case Const() | Meaning() | Undef() | Unknown():
            return x
        case _:
            return _generic(x, value, cell, views)


def _generic(x: Abstract | Cell, value: ValueMap, cell: CellMap, views: dict[Ref, Ref]) -> Abstract | Cell:
    """An abstract value of the library's own: its fields of program and abstract values."""
    changes: dict[str, object] = {}
    for name in type(x).__dataclass_fields__:  # type: ignore[union-attr]
        part = getattr(x, name)
        if isinstance(part, Value):
            changes[name] = value(part)
        elif isinstance(part, Abstract):
            changes[name] = _rebuild(part, value, cell, views)
    return replace(x, **changes) if changes else x  # type: ignore[type-var]


def _which(which: int | Value | None, value: ValueMap) -> int | Value | None:
    return value(which) if isinstance(which, Value) else which


def _sources(sources: tuple[tuple[int, Cell], ...], cell: CellMap) -> tuple[tuple[int, Cell], ...]:
    return sources if cell is same_cell else tuple([(cell(c), k) for c, k in sources])


def _view(view: View, value: ValueMap) -> View:
    if isinstance(view, Window) and not view.static:
        return Window(tuple([s if isinstance(s, int) else value(s) for s in view.starts]), view.sizes)
    return view


def values_of(content: Abstract | Cell) -> list[Value]:
    """Every program value inside, in a fixed order."""
    found: list[Value] = []

    def note(value: Value) -> Value:
        found.append(value)
        return value

    _rebuild(content, note, same_cell, {})
    return found


def cells_of(content: Abstract | Cell) -> list[int]:
    """Every cell that `content` refers to directly, in a fixed order; sources of a merged cell do not count."""
    found: list[int] = []
    if getattr(content, "sources", ()):
        content = replace(cast(ArrayCell, content), sources=())

    def note(cell: int) -> int:
        found.append(cell)
        return cell

    _rebuild(content, lambda v: v, note, {})
    return found
