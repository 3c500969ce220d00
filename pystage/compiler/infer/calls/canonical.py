"""The canonical form of arguments and of the heap that they reach: the key of function summaries.

In: abstract values, and the state that their cells are in. Out: one flat key, in which cells and program values are
numbered in the order of their first occurrence. Calls with equal keys differ only in the numbers inside their arrays, so
the summary of one applies to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import jax

from ....autocasting import product_type
from ... import limits
from ...hlo.ir import Op, Value
from ...hlo.types import ArrayType, is_integer
from ...ops import Constant
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.identity import SOME_OBJECT, Identity
from ...values.lattice import Abstract, Alias, Array, ArrayCell, Const, Frozen, Ref, Tuple, Unknown
from ...values.node import TreeNode
from ...values.state import References
from ...values.vector import Vector
from ...values.walk import CHILDREN, HEADS
from ..core.engine import Engine
from ..exceptions.raising import error_of
from ..state.merged import AliasIndex, Mergeable, is_out_of_date, may_be_own
from .printing import output_of


class Canonical:
    """The canonical form of some values, which are described one after the other.

    `cells`, `values` and `objects` number what they reach; `given` are the tuples among it, by `id`. `settings` are those
    that inference reads.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.cells: dict[int, int] = {}
        self.values: dict[Value, int] = {}
        self.objects: dict[Identity, int] = {}
        self.given: set[int] = set()
        precision = jax.config.jax_default_matmul_precision
        self.settings = (engine.x64, engine.axes, precision, product_type())
        self.tokens: list[Any] = []
        """The key so far. What varies in length is preceded by its length."""
        self._ranges: list[int] = []
        self._reasons: list[int] = []
        self._fresh: list[int] = []
        self._merged_cells: dict[int, None] = {}
        self._references: References | None = None
        self._at = 0  # the cell whose contents are being described

    def describe(self, x: Abstract) -> None:
        """Adds `x` and all cells that it reaches to the key."""
        before = len(self.tokens)
        self._node(x)
        slots = self._engine.state.slots
        for cell in self._fresh:  # which grows
            self._at = cell
            content = slots.get(cell)
            if content is None:
                self.tokens.append(None)
            else:
                self._node(content)
        self._fresh.clear()
        if self._merged_cells:
            self._describe_identity()
        self._engine.effort.run((len(self.tokens) - before) // limits.TOKENS_PER_STEP)

    def _describe_identity(self) -> None:
        """Adds which of the cells may be one object."""
        index = AliasIndex(self._engine.state, self.cells)
        for merged in self._merged_cells:
            found = sorted([self.cells[each] for each in index.may_alias(merged)])
            self.tokens += (len(found), *found)
        self._merged_cells.clear()

    def describe_call(self, given: Iterable[Abstract]) -> None:
        """Describes the operands of a call, and the part of the state that every callee can see."""
        engine = self._engine
        for value in (*given, *map(Ref, engine.ambient.values())):
            self.describe(value)
        for variable in engine.namespaces.written(engine.state):
            self.describe(cast(Abstract, engine.state.slots[variable]))
        self.describe_code(error_of(engine).code)
        self.describe_code(output_of(engine).token)

    def key(self, *callee: object) -> tuple[object, ...]:
        """The key of a call: what is called, the settings that inference reads, and all that was described."""
        return (*callee, *self.settings, *self.tokens)

    def covers(self, other: Canonical) -> bool:
        """True if whatever happens in a call of the `other` form may happen in one of this: it has these or narrower ranges.

        What is unknown is so whatever the reason is.
        """
        if self.settings != other.settings or self._ranges != other._ranges:
            return False
        if self._structure() != other._structure():
            return False
        ranges = [(self.tokens[place], other.tokens[place]) for place in self._ranges]
        return all(a[0] <= b[0] and b[1] <= a[1] for a, b in ranges)

    def _structure(self) -> list[Any]:
        """The key without the ranges of numbers and the reasons of what is unknown."""
        tokens = self.tokens.copy()
        for place in (*self._ranges, *self._reasons):
            tokens[place] = None
        return tokens

    def describe_code(self, code: int | Value) -> None:
        """Describes whether the program may have raised before the call; the callee gets to know the code."""
        if isinstance(code, int):
            self.tokens.append(bool(code))
        else:
            self.value(code)

    def _node(self, x: TreeNode) -> None:
        """Adds a node."""
        _RULES[type(x)](self, x)

    def tree(self, x: TreeNode) -> None:
        """Any other node: its class, its head, and its children."""
        cls, tokens = type(x), self.tokens
        tokens.append(cls)
        for part in HEADS[cls](x):
            if type(part) in _BY_VALUE:
                tokens += (type(part), part)
            else:
                self._data(part)
        for child in CHILDREN[cls](x):
            _RULES[type(child)](self, child)

    def whole(self, x: Tuple) -> None:
        """A tuple, which the callee may hand back as the object that it is."""
        self.given.add(id(x))
        self.tree(x)

    def reference(self, x: Ref) -> None:
        """A reference, and which object a view is."""
        self.tree(x)
        if x.path:
            self.identities((x.identity,))

    def _data(self, part: object) -> None:
        """Describes the head of a node; a tuple by its items."""
        if not isinstance(part, tuple):
            self._constant(part)
        elif _BY_VALUE.issuperset(types := tuple(map(type, part))):
            self.tokens += (type(part), types, part)
        else:
            self.tokens += (type(part), len(part))
            for item in part:
                self._data(item)

    def cell(self, cell: int) -> None:
        """A cell, which is described in its turn."""
        number = self.cells.get(cell)
        if number is None:
            number = self.cells[cell] = len(self.cells)
            self._fresh.append(cell)
        self.tokens.append(number)

    def value(self, value: Value) -> None:
        """Describes a program value: at its first occurrence by its type and whether the callee knows it (`is_zero`)."""
        number = self.values.get(value)
        if number is None:
            number = self.values[value] = len(self.values)
            type_ = value.type
            self.tokens += (type_.dtype, type_.shape, is_zero(value))
        self.tokens.append(number)

    def bounded(self, x: Bounded) -> None:
        """A bounded array, and the objects that it may be."""
        self.tree(x)
        self.identities(x.objects)

    def array_cell(self, x: ArrayCell) -> None:
        """The contents of an array, and which objects it may be of which lists hold copies."""
        self.tree(x)
        if x.frozen is not Frozen.NOT:
            self.identities(x.objects)

    def vector(self, x: Vector[Any]) -> None:
        """A vector, and the objects that its elements may be."""
        self.tree(x)
        self.identities(x.objects)

    def identities(self, objects: Sequence[Identity]) -> None:
        """Some objects, by number, and which of them may be one."""
        self.tokens.append(len(objects))
        for each in objects:
            if each not in self.objects:
                self.tokens += (each is SOME_OBJECT, each.of_loop, tuple(map(each.may_be, self.objects)))
            self.tokens.append(self.objects.setdefault(each, len(self.objects)))

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
        """Describes an array with all that decides its promotion. As any node, but faster: most nodes are arrays."""
        self._ranges.append(len(self.tokens) + 3)
        self.tokens += (Array, x.form, x.weak, x.range, x.key_impl)
        self.value(x.value)

    def const(self, x: Const) -> None:
        """Describes a constant; a tuple by identity, since the callee may hand it back."""
        self._constant(x.value)

    def unknown(self, x: Unknown) -> None:
        """Describes an unknown value: the callee may hand it on, and then its reason is reported."""
        self._constant(x.reason)
        self._reasons.append(len(self.tokens) - 1)

    def alias(self, x: Alias) -> None:
        """Describes an alias of a merged cell: which it is, and whether it can be read and stored into.

        The callee may know that the cell certainly is one of its aliases, and whether a trip makes it.
        """
        engine = self._engine
        if self._at not in self._merged_cells:
            self._merged_cells[self._at] = None
            merged = cast(Mergeable, engine.state.slots[self._at])
            self.tokens += (may_be_own(merged, engine.intervals), engine.state.merged.get(self._at))
        self._references = self._references or References(engine.state)
        is_named = x.cell in engine.externals.initial or self._references.elsewhere(x.cell, self._at)
        self.tokens += (is_out_of_date(engine.state, x), is_named)
        self._node(x.ref)


def is_zero(value: Value) -> bool:
    """True for the integer 0, at which arrays begin in their memory; the callee may know it."""
    op = value.owner
    if not isinstance(op, Op) or not isinstance(op.kind, Constant) or value.type.shape:
        return False
    return is_integer(value.type.dtype) and not op.kind.data


_BY_VALUE = frozenset([type(None), bool, int, str, bytes, type, ArrayType, Form])


class _CanonicalRules(dict[type, Callable[[Canonical, Any], None]]):
    """By class, how a child is described: as any node, unless a rule says otherwise."""

    def __missing__(self, cls: type) -> Callable[[Canonical, Any], None]:
        self[cls] = Canonical.tree
        return Canonical.tree


_RULES = _CanonicalRules(
    {
        Value: Canonical.value,
        int: Canonical.cell,
        Ref: Canonical.reference,
        Tuple: Canonical.whole,
        Array: Canonical.array,
        Const: Canonical.const,
        Alias: Canonical.alias,
        Bounded: Canonical.bounded,
        ArrayCell: Canonical.array_cell,
        Vector: Canonical.vector,
        Unknown: Canonical.unknown,
    }
)
"""Rules for program values, numbers of cells, and nodes whose description is not just head and children."""
