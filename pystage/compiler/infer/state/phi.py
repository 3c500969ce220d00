"""φ placeholders in templates, and the φ operands that each side of a join gives for them.

A template is contents in which a `Placeholder` stands for each program value that differs between the sides.
`phi_operands` gives the values of one side, in a fixed order; `rebuild` (`values/walk.py`) replaces the placeholders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import ArrayType
from ...library.rules.numbers import is_of_kind, number_type, whole_of
from ...library.rules.rows import as_vector
from ...library.rules.tables import as_table
from ...library.rules.templates import (
    items_of_tuple,
    joined_tuples,
    row_template,
    template_of,
)
from ...ops import Compare, Convert, Select, constant
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber, alternatives, is_absent, tag_of, where_assigned
from ...values.identity import Identity
from ...values.lattice import (
    LISTS,
    TABLES,
    Abstract,
    Alias,
    Array,
    Cell,
    Const,
    ErrorCell,
    IteratorCell,
    ObjectCell,
    PoolCell,
    Records,
    Ref,
    RowsCell,
    RowsTuple,
    TableCell,
    Text,
    Tuple,
    Undef,
    Unknown,
    is_number,
    same_constant,
)
from ...values.node import TreeNode
from ...values.state import MISSING, Content
from ...values.vector import Vector
from ...values.views import View, Window, path_type, read_path
from ...values.walk import children, counterparts, head, inner, rebuild, values_of, with_children
from .merged import aliases_of

_NOWHERE = Region()
N = TypeVar("N", bound=TreeNode)


class Placeholder(Value):
    """A φ placeholder: stands in a template for the value that each side gives as its φ operand."""

    __slots__ = ()

    def __init__(self, type: ArrayType) -> None:
        super().__init__(type, _NOWHERE, 0)


def placeholder_for(value: Value) -> Value:
    return Placeholder(value.type)


def phi_operands(b: Builder, template: Content, content: Content, into: list[Value]) -> None:
    """Appends to `into` the φ operands of `content`: its values for the placeholders of `template`, in order.

    Values are converted to the placeholder's type; where `content` has nothing (a variable that is not assigned
    on this side), zeros stand in, which no certain read ever sees.
    """
    if template is content or isinstance(template, Unknown):
        return
    if content is MISSING:
        content = Undef()
    if isinstance(template, Gated):
        _gated_operands(b, template, cast(Abstract, content), into)
        return
    if isinstance(content, Undef | Unknown):
        for value in values_of(template):
            if isinstance(value, Placeholder):
                into.append(zeros(b, value.type))
        return
    if isinstance(content, Gated):
        content = where_assigned(content)
    match template:
        case Array(value=value):
            if isinstance(value, Placeholder):
                into.append(materialise(b, cast(Abstract, content), value.type))
            if type(template) is GatedNumber:
                _number_operands(b, template, cast(Abstract, content), into)
        case RowsCell(vector) if isinstance(content, LISTS):
            content = RowsCell(_like(b, vector, content.items), content.aliases, content.selector)
            _child_operands(b, template, _aligned(template, content), into)
        case RowsTuple(vector):
            items = items_of_tuple(cast(Abstract, content))
            if items is None:
                phi_operands(b, template, Undef(), into)
            else:
                _child_operands(b, vector, _like(b, vector, items), into)
        case PoolCell(Vector() as vector) if isinstance(content, PoolCell):
            if content.objects is None:
                phi_operands(b, template, Undef(), into)
            else:
                _child_operands(b, vector, _like(b, vector, content.objects), into)
        case TableCell(entries=entries, index=index, slots=slots) if isinstance(content, TABLES):
            entry = row_template(entries.element)
            content = as_table(b, content, entry, entries.capacity, index is not None, slots is not None)
            _child_operands(b, template, _aligned(template, content), into)
        case _:
            _child_operands(b, template, _aligned(template, content), into)


def _like(b: Builder, template: Vector[N], items: tuple[N, ...] | Vector[N]) -> Vector[N]:
    """Elements as the rows of a template; those of all tuples in a list were converted with this."""
    if isinstance(template.length, Value) and template.length.type.shape:
        return cast("Vector[N]", items)
    return as_vector(b, items, row_template(template.element), template.capacity)


def _child_operands(b: Builder, template: TreeNode, content: TreeNode, into: list[Value]) -> None:
    """Appends the operands of the children of the template, in order; zeros where the content has none."""
    if type(template) is not type(content):
        return
    for child, other in zip(children(template), counterparts(template, content), strict=True):
        if isinstance(child, Placeholder):
            into.append(zeros(b, child.type) if other is None else number(b, other, child.type))
        elif isinstance(child, Abstract | Cell):
            phi_operands(b, child, Undef() if other is None else other, into)
        elif isinstance(child, TreeNode) and other is None:
            into += [zeros(b, value.type) for value in values_of(child) if isinstance(value, Placeholder)]
        elif isinstance(child, TreeNode):
            _child_operands(b, child, other, into)


def _aligned(template: Content, content: Any) -> Any:
    """The content with the attributes and aliases of the template: None for an alias that it lacks.

    Of versions an error cell has those that both sides know of. A merged cell stands for what is a view on this side.
    """
    if isinstance(template, Ref) and not template.path:
        return template
    if isinstance(template, Bounded) and isinstance(content, Bounded):
        return replace(content, which=_position_among(template.objects, content))
    if isinstance(template, ErrorCell):
        return replace(content, versions=template.versions)
    if isinstance(content, IteratorCell) and content.source is None:
        return replace(content, ended=True)
    if isinstance(template, ObjectCell):
        found = {
            name: content.fields.get(name) or (content.origin(name) if content.origin else None) or Undef()
            for name in template.fields
        }
        content = replace(content, fields=found)
    aliases = aliases_of(template)
    if aliases or aliases_of(content):
        own = by_outline(content.aliases)
        content = replace(content, aliases=tuple([own.get(key) for key in by_outline(aliases)]))
    return content


def _position_among(objects: Sequence[Identity], array: Bounded) -> int | Value:
    """The position of an array among these objects; an array that a loop made if it is none of them."""
    if objects == array.objects:
        return array.which

    def position(own: Identity) -> int:
        if own in objects:
            return objects.index(own)
        return [each.covers(own) for each in objects].index(True)

    positions = [position(own) for own in array.objects]
    return (
        positions[array.which]
        if isinstance(array.which, int)
        else DeferredSelect(SELECTOR, array.which, tuple(positions))
    )


def _is_same(a: Abstract, b: Abstract) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and same_constant(a.value, b.value))


def _number_operands(b: Builder, template: GatedNumber, content: Abstract, into: list[Value]) -> None:
    """The kind of a number, and its packed value."""
    for kind, tag in zip(template.kinds, template.tags):
        if isinstance(tag, Placeholder):
            into.append(is_of_kind(b, content, kind))
    if isinstance(template.whole, Placeholder):
        into.append(whole_of(b, content))


def _gated_operands(b: Builder, template: Gated, content: Abstract, into: list[Value]) -> None:
    """The alternatives of this side, zeros for all others, and the selector."""
    if isinstance(content, Unknown):
        content = Undef()
    own = alternatives(content)
    found = dict(zip(_positions(template, content), range(len(own))))
    for position, option in enumerate(template.options):
        phi_operands(b, option, own[found[position]] if position in found else Undef(), into)
    for position, tag in enumerate(template.tags):
        if not isinstance(tag, Placeholder):
            continue
        if position in found and isinstance(content, Gated):
            into.append(tag_of(b, content, found[position]))
        else:
            into.append(constant(b, position in found))


def from_side(template: Any, content: Any) -> Any:
    """A template made of `content` alone, whose gated φs have the alternatives of those of `content`, in their order."""
    if template is content or not isinstance(template, TreeNode) or not isinstance(content, TreeNode):
        return template
    made = with_children(template, map(from_side, children(template), children(content)))
    if isinstance(made, Gated) and isinstance(content, Gated):
        return replace(made, sides=((content, tuple(range(len(content.options)))),))
    return made


def _positions(template: Gated, content: Abstract) -> Sequence[int]:
    """The positions of the alternatives of `content` among the options of a template; those without a meaning follow the
    last.
    """
    recorded = next((places for side, places in template.sides if _is_same(side, content)), None)
    if recorded is not None:
        return recorded
    only = sum(not is_absent(option) for option in template.options) == 1

    def alike(option: Abstract, each: Abstract) -> bool:
        return is_alike(option, each) or (only and not is_absent(option) and not is_absent(each))

    return positions_of(template.options, alternatives(content), alike)


def is_alike(a: Abstract, b: Abstract) -> bool:
    """True for alternatives of one kind, as far as that can be decided without the heap."""
    if is_number(a) and is_number(b):
        if isinstance(a, Const) and isinstance(b, Const):
            return True
        x, y = [
            (v.shape, v.key_impl, v.shape and (v.dtype, v.form, v.weak))
            if isinstance(v, Array)
            else ((), None, ())
            for v in (a, b)
        ]
        return x == y
    if isinstance(a, RowsTuple) or isinstance(b, RowsTuple):
        return joined_tuples(template_of(a), template_of(b)) is not None
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return a.cls is b.cls and len(a.items) == len(b.items) and all(map(is_alike, a.items, b.items))
    if isinstance(a, Const) and isinstance(b, Const):
        return same_constant(a.value, b.value)
    if isinstance(a, Text) and isinstance(b, Text):
        return formatted_alike(a, b)
    if isinstance(a, Bounded) and isinstance(b, Bounded):
        return head(a.anew()) == head(b.anew()) and all(
            e.is_like(f) for e, f in zip(a.extents, b.extents, strict=True)
        )
    if isinstance(a, Records) and isinstance(b, Records):
        return head(a) == head(b) and all(map(is_alike, a.parts, b.parts))
    return type(a) is type(b) and isinstance(a, Ref | Undef)


def formatted_alike(a: Abstract, b: Abstract) -> bool:
    """True if two strings are made by the same functions of numbers of the same kind."""
    if is_number(a) and is_number(b):
        return number_type(a) == number_type(b)
    if type(a) is not type(b):
        return False
    return isinstance(a, Const) or (head(a) == head(b) and all(map(formatted_alike, inner(a), inner(b))))


def positions_of(
    options: Sequence[Abstract], own: Sequence[Abstract], alike: Callable[[Abstract, Abstract], bool]
) -> list[int]:
    """The position of each of `own` among `options`, each at most once; those that are none follow after the last."""
    found: list[int] = []
    last = len(options)
    for each in own:
        here = (i for i, option in enumerate(options) if i not in found and alike(option, each))
        position = next(here, last)
        last += position == last
        found.append(position)
    return found


def outline(ref: Ref) -> tuple[int, tuple[View, ...]]:
    """A key, equal for references that differ at most in offsets."""
    steps = [Window((), v.sizes) if isinstance(v, Window) else v for v in ref.path]
    return ref.cell, tuple(steps)


def by_outline(aliases: Iterable[Alias]) -> dict[tuple[object, int], Alias]:
    """Aliases in order, by outline and occurrence: one may be there resolved and unresolved."""
    found: dict[tuple[object, int], Alias] = {}
    count: Counter[object] = Counter()
    for alias in aliases:
        own = outline(alias.ref)
        found[own, count[own]] = alias
        count[own] += 1
    return found


def zeros(b: Builder, type: ArrayType) -> Value:
    """An array of zeros."""
    return constant(b, np.zeros(type.shape, type.dtype))


def materialise(b: Builder, x: Abstract, type: ArrayType) -> Value:
    """A number as a program value of `type`."""
    if isinstance(x, Const):
        return constant(b, np.asarray(x.value).astype(type.dtype))
    assert isinstance(x, Array)
    return x.value if x.dtype == type.dtype else b.op(Convert(type.dtype), x.value)


def placeholders_of(content: Content) -> list[Placeholder]:
    """The placeholders of a template, in the order of `phi_operands`."""
    return [v for v in values_of(content) if isinstance(v, Placeholder)]


class Deferred(Value):
    """A φ operand that `phi_operands` computes where it is used."""

    __slots__ = ()

    def compute(self, b: Builder, computed: dict[Value, Value]) -> Value:
        """The value, as operations; `computed` are those that other operands of it were computed to."""
        raise NotImplementedError


class DeferredSelect(Deferred):
    """`options[which]`: numbers of the program, or known."""

    __slots__ = ("options", "selector")

    def __init__(self, type: ArrayType, selector: Value, options: tuple[int | Value, ...]) -> None:
        super().__init__(type, _NOWHERE, 0)
        self.selector = selector
        self.options = options

    def compute(self, b: Builder, computed: dict[Value, Value]) -> Value:
        selector = number(b, self.selector, SELECTOR, computed)
        result = number(b, self.options[0], self.type, computed)
        for position, option in enumerate(self.options[1:], 1):
            here = b.op(Compare("EQ"), selector, selector_value(b, position))
            result = b.op(Select(), here, number(b, option, self.type, computed), result)
        return result


class DeferredRead(Deferred):
    """The array at the end of a path."""

    __slots__ = ("base", "path")

    def __init__(self, base: Value, path: tuple[View, ...]) -> None:
        super().__init__(path_type(base.type, path), _NOWHERE, 0)
        self.base = base
        self.path = path

    def compute(self, b: Builder, computed: dict[Value, Value]) -> Value:
        return read_path(b, self.base, self.path)

    def mapped(self, value: Callable[[Value], Value]) -> DeferredRead:
        """The same with every program value mapped."""
        return DeferredRead(value(self.base), rebuild(Ref(0, self.path), value).path)


def number(
    b: Builder, value: int | Value, type: ArrayType, computed: dict[Value, Value] | None = None
) -> Value:
    """An integer as a value of the program, of this type. What `computed` holds is not computed again."""
    if isinstance(value, int):
        return constant(b, value, type.dtype)
    if isinstance(value, Deferred):
        found = {} if computed is None else computed
        if value not in found:
            found[value] = value.compute(b, found)
        return found[value]
    return value if value.type.dtype == type.dtype else b.op(Convert(type.dtype), value)


SELECTOR = ArrayType(np.dtype(np.int32))
START = ArrayType(np.dtype(np.int64))


def selector_value(b: Builder, selector: int | Value) -> Value:
    """The selector of an array among several objects, as a value of the program."""
    return number(b, selector, SELECTOR)


def join_selectors(a: int | Value, b: int | Value) -> int | Value:
    return a if a is b or (isinstance(a, int) and a == b) else Placeholder(SELECTOR)


def joined_path(a: tuple[View, ...], b: tuple[View, ...]) -> tuple[View, ...] | None:
    """The template of two paths that differ at most in offsets; None for others."""
    joined = [_joined_view(v, w) for v, w in zip(a, b)]
    if len(a) != len(b) or any(v is None for v in joined):
        return None
    return tuple(cast("list[View]", joined))


def _joined_view(a: View, b: View) -> View | None:
    if a == b:
        return a
    if isinstance(a, Window) and isinstance(b, Window) and a.sizes == b.sizes:
        starts = [x if x == y else Placeholder(START) for x, y in zip(a.starts, b.starts)]
        return Window(tuple(starts), a.sizes)
    return None
