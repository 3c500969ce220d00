"""The canonical form of abstract values and of the heap they reach: what a callee can tell apart.

In: abstract values, and the state that their cells are in. Out: one flat key, in which cells and program values
are numbered in the order in which they are met. Two calls with equal keys differ only in the numbers inside
their arrays, so that what was inferred for one can be done again for the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...hlo.ir import Value
from ...hlo.types import ArrayType
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    ByPath,
    Cell,
    Closure,
    Const,
    ListCell,
    ObjectCell,
    OneOf,
    Optional,
    Ref,
    Source,
    Tuple,
)
from ..aliases.merged import distinct, is_stale

if TYPE_CHECKING:
    from ..core.engine import Engine


class Canonical:
    """The canonical form of some values, described one after the other; `cells` and `values` number what they reach."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.cells: dict[int, int] = {}
        self.values: dict[Value, int] = {}
        self.tokens: list[Any] = []
        """The key so far. What varies in length is preceded by its length."""
        self._fresh: list[int] = []
        self._merged_cells: list[int] = []
        self._at = 0  # the cell whose contents are being described

    def describe(self, x: Abstract) -> None:
        """Adds `x` and all cells that it reaches to the key."""
        self._shape(x)
        slots = self._engine.state.slots
        for cell in self._fresh:  # which grows
            self._at = cell
            self._shape(slots.get(cell))
        self._fresh.clear()
        if self._merged_cells:
            self._describe_identity()

    def _describe_identity(self) -> None:
        """Adds which of the cells are certainly different objects, where that is not what their numbers say."""
        state = self._engine.state
        for merged in self._merged_cells:
            self.tokens.append(tuple([distinct(state, state.slots.get, merged, c) for c in self.cells]))
        self._merged_cells.clear()

    def describe_code(self, code: int | Value) -> None:
        """Adds whether the program may have raised before the call; the callee gets to know the code."""
        if isinstance(code, int):
            self.tokens.append(bool(code))
        else:
            self._value(code)

    def _shape(self, x: Any) -> None:
        rule = _RULES.get(type(x))
        if rule is not None:
            rule(self, x)
        elif isinstance(x, Abstract | Cell):
            self._fields(x)
        elif isinstance(x, Value):
            self._value(x)
        elif isinstance(x, tuple):
            self.tokens += (type(x), len(x))
            for part in x:
                self._shape(part)
        elif isinstance(x, dict):
            self._entries(x)
        elif hasattr(x, "__dataclass_fields__") and not isinstance(x, type):
            self._fields(x)
        else:
            self._constant(x)

    def _fields(self, x: Any) -> None:
        cls = type(x)
        self.tokens.append(cls)
        for name in cls.__dataclass_fields__:
            part = getattr(x, name)
            if name == "cell":
                self._cell(part)
            elif name == "sources":
                self._sources(part)
            else:
                self._shape(part)

    def _entries(self, entries: dict[Any, Any]) -> None:
        self.tokens += (dict, len(entries))
        for key, part in entries.items():
            self.tokens += (type(key), key)
            self._shape(part)

    def _sources(self, sources: tuple[Source, ...]) -> None:
        """The sources of a merged cell: which they are, and whether it could be read and stored into."""
        self.tokens.append(len(sources))
        if sources:
            self._merged_cells.append(self._at)
        for source in sources:
            stale = is_stale(self._engine.state, source)
            self.tokens += (stale, self._engine.held_elsewhere(source.cell, self._at))
            self.ref(source.ref)

    def _cell(self, cell: int) -> None:
        number = self.cells.get(cell)
        if number is None:
            number = self.cells[cell] = len(self.cells)
            self._fresh.append(cell)
        self.tokens.append(number)

    def _value(self, value: Value) -> None:
        number = self.values.get(value)
        if number is None:
            number = self.values[value] = len(self.values)
            type_ = value.type
            self.tokens += (type_.dtype, type_.shape)
        self.tokens.append(number)

    def _constant(self, value: object) -> None:
        cls = type(value)
        if cls in _BY_VALUE:
            self.tokens += (cls, value)
        elif isinstance(value, float):
            self.tokens += (cls, value.hex())
        elif isinstance(value, complex):
            self.tokens += (cls, value.real.hex(), value.imag.hex())
        else:
            self._engine.externals.keep.append(value)
            self.tokens += (cls, id(value))

    def array(self, x: Array) -> None:
        """An array, with all that decides how it is promoted."""
        self._value(x.value)
        self.tokens += (Array, x.form, x.weak, x.lower, x.upper, x.key_impl)

    def by_path(self, x: ByPath) -> None:
        """A number of several kinds."""
        self.array(x)
        self.tokens += (ByPath, x.kinds, x.whole is None)
        for value in (*x.tags, *([] if x.whole is None else [x.whole])):
            self._value(value)

    def const(self, x: Const) -> None:
        """A constant."""
        self._constant(x.value)

    def ref(self, x: Ref) -> None:
        """A reference, and the view that it is."""
        self._cell(x.cell)
        self.tokens += (Ref, len(x.path))
        for view in x.path:
            self._fields(view)

    def optional(self, x: Optional) -> None:
        """What may be None."""
        self.tokens.append(Optional)
        self._shape(x.value)
        self._value(x.missing)

    def one_of(self, x: OneOf) -> None:
        """What is one of two things."""
        self.tokens.append(OneOf)
        self._shape(x.first)
        self._shape(x.second)
        self._value(x.tag)

    def closure(self, x: Closure) -> None:
        """A function made by staged code: by what it was made of, and what it shares."""
        self.tokens += (Closure, x.module, len(x.cells))
        self._constant(x.function)
        self._constant(x.namespace)
        self._shape(x.defaults)
        self._shape(x.kw_defaults)
        for variable, cell in x.cells:
            self.tokens.append(variable)
            self._cell(cell)

    def tuple(self, x: Tuple) -> None:
        """A tuple, by its items."""
        self.tokens += (Tuple, x.cls, len(x.items))
        for item in x.items:
            self._shape(item)

    def array_cell(self, x: ArrayCell) -> None:
        """The contents of an ndarray."""
        self._value(x.value)
        self.tokens.append(ArrayCell)
        self._shape(x.writable)
        self._merged(x)

    def list_cell(self, x: ListCell) -> None:
        """The contents of a list."""
        self.tokens += (ListCell, len(x.items))
        for item in x.items:
            self._shape(item)
        self._merged(x)

    def object_cell(self, x: ObjectCell) -> None:
        """The contents of an object."""
        self.tokens += (ObjectCell, x.cls)
        self._entries(x.fields)
        self._constant(x.origin)
        self._merged(x)

    def _merged(self, x: Any) -> None:
        if x.sources or type(x.which) is not int:
            self._sources(x.sources)
            self._shape(x.which)
        else:
            self.tokens += (0, int, x.which)


_BY_VALUE = frozenset([type(None), bool, int, str, bytes, ArrayType])

_RULES: dict[type, Callable[[Canonical, Any], None]] = {
    Array: Canonical.array,
    ByPath: Canonical.by_path,
    Const: Canonical.const,
    Ref: Canonical.ref,
    Tuple: Canonical.tuple,
    Optional: Canonical.optional,
    OneOf: Canonical.one_of,
    Closure: Canonical.closure,
    ArrayCell: Canonical.array_cell,
    ListCell: Canonical.list_cell,
    ObjectCell: Canonical.object_cell,
}
"""How the values and cells that are everywhere are described; all others are by their fields."""
