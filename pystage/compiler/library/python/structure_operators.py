"""Operators on containers, strings and None, and identity.

In: abstract operands of which at least one is not a number. Out: the result, or None where the operator is not
defined for these types. The caller passes `equal` and `compare` for elements.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_types import IdentityNotKnown, NoSuchOperation
from ...hlo.types import BOOL
from ...ops import And, Not, Or
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber, alternatives, may_be_none, tag_of
from ...values.lattice import (
    FALSE,
    LISTS,
    NONE,
    TABLES,
    TRUE,
    Abstract,
    Array,
    Caught,
    Cell,
    ClassOf,
    Const,
    DictCell,
    DictView,
    Exc,
    Items,
    ListCell,
    ObjectCell,
    Records,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    TableCell,
    Tuple,
    is_number,
    same_constant,
)
from ...values.vector import Vector
from ...values.walk import head
from ..containers import row_lists, row_tables, vectors
from ..containers.element_equality import Equal, same_or_equal
from ..context import Context
from ..kernels import row_tuples
from ..kernels.layout import note_compared
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    MISSING,
    call_now,
    cell_of,
    is_sequence,
    items_in_list,
    known_object,
    list_items,
    new_list,
    new_rows,
    sequence_items,
    type_name,
    with_elements,
)
from ..kernels.table_keys import known_element
from ..numpy.indexing.bounded_identity import refuse_if, same_object
from ..prelude import builtins
from ..rules.classes import c_name, class_of
from ..rules.promote import shape_of, value_of
from ..rules.split import needs_split, of_one_kind
from ..rules.tables import is_dict
from . import generators, set_methods
from .dict_methods import merged, update

Compare = Callable[[str, Abstract, Abstract], Abstract]


# ---------------------------------------------------------------- arithmetic


def binary(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op right` of containers; None where Python has no such operator."""
    if op == "%" and isinstance(left, Const) and isinstance(left.value, bytes):
        return Const(left.value % ctx.known(right, "the values of string formatting"))
    if op == "+":
        return _concatenated(ctx, left, right)
    if op == "*":
        for sequence, count in ((left, right), (right, left)):
            repeated = _repeated(ctx, sequence, count)
            if repeated is not None:
                return repeated
    made = set_methods.binary(ctx, op, left, right)
    if made is not None:
        return made
    cells = [cell_of(ctx, x) for x in (left, right)]
    return merged(ctx, *cells) if op == "|" and all(map(is_dict, cells)) else None


def _concatenated(ctx: Context, left: Abstract, right: Abstract) -> Abstract | None:
    both = _vectors(ctx, left, right)
    if both is not None and not is_list(ctx, left):
        rows = vectors.concatenate(ctx, *both)
        if rows is not None:
            return row_tuples.of_items(ctx, rows)
    elif both is not None:
        cells = [cell_of(ctx, x) for x in (left, right)] if row_lists.unite(ctx, *both) else None
        held = row_lists.with_members(ctx, *([cell.items for cell in cells] if cells else both))
        more = row_lists.with_members(ctx, cell_of(ctx, right).items, cell_of(ctx, left).items)
        rows = vectors.concatenate(ctx, held, more)
        if rows is not None:
            return new_rows(ctx, rows)
    first, second = sequence_items(ctx, left), sequence_items(ctx, right)
    if first is None or second is None or is_list(ctx, left) != is_list(ctx, right):
        return None
    items = (*first, *second)
    return new_list(ctx, items) if is_list(ctx, left) else Tuple(items)


def _repeated(ctx: Context, sequence: Abstract, count: Abstract) -> Abstract | None:
    known = items_in_list(ctx, sequence)
    rows = vectors.repeat(ctx, known, count) if isinstance(known, tuple) else None
    if rows is not None:
        return new_rows(ctx, rows)
    items = sequence_items(ctx, sequence)
    text = isinstance(sequence, Const) and isinstance(sequence.value, str | bytes)
    if (items is None and not text) or isinstance(count, Ref | Tuple):
        return None
    number = _times(ctx, count)
    if number is None:
        return None
    if items is None:
        assert isinstance(sequence, Const)
        return Const(sequence.value * number)
    repeated = items * number
    return new_list(ctx, repeated) if is_list(ctx, sequence) else Tuple(repeated)


def _times(ctx: Context, count: Abstract) -> int | None:
    """How often `count` repeats a sequence, which must be known; None for what is no number."""
    if isinstance(count, GatedNumber):
        count = of_one_kind(ctx, count, "how often a sequence is repeated")
    (cls, *_) = class_of(ctx, count) if is_number(count) else (int,)
    if not hasattr(cls, "__index__"):
        ctx.raise_(TypeError(f"can't multiply sequence by non-int of type {c_name(cls)!r}"))
    number = ctx.known(count, "how often a sequence is repeated")
    return operator.index(number) if hasattr(number, "__index__") else None


def inplace(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op= right` where the left object itself changes; None where it is rebound."""
    if not isinstance(left, Ref):
        return None
    new: Cell | None = None
    if op == "+" and isinstance(ctx.settle(left), LISTS) and generators.is_suspended(ctx, right):
        run_program(ctx, builtins.extend, [left, right])
        return left
    match ctx.settle(left):
        case (ListCell() | RowsCell()) as cell if op == "+":
            rows = row_lists.extended(ctx, left, right)
            if rows is not None:
                new = with_elements(ctx.settle(left), rows)
            else:
                added = ctx.iterate(right)
                items = None if added is None else (*list_items(ctx, cell.items), *added)
                new = None if items is None else with_elements(cell, items)
        case (ListCell() | RowsCell()) as cell if op == "*" and not isinstance(right, Ref | Tuple):
            count = _times(ctx, right)
            new = None if count is None else with_elements(cell, list_items(ctx, cell.items) * count)
        case SetCell() | TableCell() if set_methods.inplace(ctx, op, left, right):
            return left
        case (DictCell() | TableCell()) as cell if op == "|" and is_dict(cell):
            update(ctx, left, right)
            return left
    if new is None:
        return None
    ctx.write(left.cell, new)
    return left


def is_list(ctx: Context, value: Abstract) -> bool:
    """True for a list."""
    if isinstance(value, Const):
        return isinstance(value.value, list)
    return isinstance(cell_of(ctx, value), LISTS)


# ---------------------------------------------------------------- comparison


def compare(ctx: Context, op: str, left: Abstract, right: Abstract, element: Compare) -> Abstract | None:
    """`left op right`; `element` compares what is inside. None where Python has no such order."""
    if op == "!=":
        same = compare(ctx, "==", left, right, element)
        return None if same is None else negation(ctx, same)
    if op == "==":
        return _equal(ctx, left, right, element)
    found = set_methods.compare(ctx, op, left, right)
    if found is not None:
        return found
    both = _vectors(ctx, left, right)
    if both is not None:
        found = row_lists.ordered(
            ctx, op, *both, lambda x, y: _truth(ctx, element("==", x, y)), functools.partial(element, op)
        )
        if found is not None:
            return found
    first, second = sequence_items(ctx, left), sequence_items(ctx, right)
    if first is None or second is None or is_list(ctx, left) != is_list(ctx, right):
        return None
    return _lexicographic(ctx, op, first, second, element)


def _lexicographic(
    ctx: Context, op: str, first: Sequence[Abstract], second: Sequence[Abstract], element: Compare
) -> Abstract:
    """Python's order of sequences: that of the first elements that are neither one object nor equal."""
    if not first or not second:
        return Const(_decides(op, len(first), len(second)))
    same = same_or_equal(ctx, first[0], second[0], lambda x, y: _truth(ctx, element("==", x, y)))
    rest = functools.partial(_lexicographic, ctx, op, first[1:], second[1:], element)
    return _chosen(ctx, same, rest, lambda: element(op, first[0], second[0]), (*first, *second))


def _decides(op: str, first: int, second: int) -> bool:
    return {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}[op]


def _equal(ctx: Context, left: Abstract, right: Abstract, element: Compare) -> Abstract | None:
    if left is right:
        return TRUE
    _refuse_exceptions(ctx, left, right)
    for one, other in ((left, right), (right, left)):
        if ctx.is_ndarray(one) or (_is_numpy_scalar(one) and type(known_object(ctx, other)) in (str, bytes)):
            if hasattr(known_object(ctx, other), "__array_wrap__"):  # a class of NumPy's
                return None
            return ctx.new(ctx.broadcast(ctx.constant(False, BOOL), shape_of(ctx.read(one))))
    found = set_methods.compare(ctx, "==", left, right)
    if found is not None:
        return found
    if _are_items(left) and _are_items(right):
        assert isinstance(left, DictView) and isinstance(right, DictView)
        return _equal_dicts(ctx, ctx.cell(Ref(left.cell)), ctx.cell(Ref(right.cell)), element)
    for view, other in ((left, right), (right, left)):
        given = set_methods.set_of(ctx, other) if _are_items(view) else None
        if given is not None and not row_tables.is_empty(given):
            ctx.fail(NotKnown(span=ctx.span, what="the items of a dict that are compared with a set"))
    pair = _vectors(ctx, left, right)
    if pair is not None:
        same = row_lists.equal(ctx, *pair, lambda x, y: _truth(ctx, element("==", x, y)))
        if same is not None:
            return same
    both = is_sequence(ctx, left) and is_sequence(ctx, right)
    if both and is_list(ctx, left) != is_list(ctx, right):
        return FALSE
    first, second = [sequence_items(ctx, x) if both else None for x in (left, right)]
    if first is not None and second is not None:
        if is_list(ctx, left) != is_list(ctx, right) or len(first) != len(second):
            return FALSE
        return _all_equal(ctx, first, second, element)
    cells = [cell_of(ctx, x) for x in (left, right)]
    if all(map(is_dict, cells)):
        return _equal_dicts(ctx, cells[0], cells[1], element)
    match cells:
        case [ObjectCell(cls=a), ObjectCell(cls=b)] if a is b and is_dataclass(a):
            names = [f.name for f in fields(a) if f.compare]
            sides = [[ctx.getattr(x, n) for n in names] for x in (left, right)]
            return _all_equal(ctx, sides[0], sides[1], element)
        case [ObjectCell(), ObjectCell()]:
            assert isinstance(left, Ref) and isinstance(right, Ref)
            return _same_reference(ctx, left, right)
    known = [known_object(ctx, x) for x in (left, right)]
    if MISSING not in known:
        return Const(bool(known[0] == known[1]))
    for one in known:
        if one is not MISSING and type(one).__eq__ not in _EQUAL_TO_THEIR_KIND:
            why = "its class compares with other classes"
            name = f"the operator == of {type_name(ctx, left)} and {type_name(ctx, right)}"
            ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead="compare what they hold"))
    return FALSE


_EQUAL_TO_THEIR_KIND: set[Any] = {
    cls.__eq__
    for cls in (object, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, range, slice)
}
"""The comparisons of what equals no container of another kind; that of a `mappingproxy` may say that it equals a dict."""


def _is_numpy_scalar(value: Abstract) -> bool:
    return isinstance(value, Array) and value.form is Form.SCALAR


def _vectors(ctx: Context, left: Abstract, right: Abstract) -> tuple[Items, Items] | None:
    """The elements of two tuples, or two lists, at least one of them of computed length; None for others."""
    tuples = row_tuples.items_of_tuples(left, right)
    first, second = tuples or (items_in_list(ctx, left), items_in_list(ctx, right))
    if first is None or second is None:
        return None
    return (first, second) if isinstance(first, Vector) or isinstance(second, Vector) else None


def _are_items(value: Abstract) -> bool:
    """True for `d.items()`."""
    return isinstance(value, DictView) and value.kind == "items"


def _equal_dicts(ctx: Context, first: Any, second: Any, element: Compare) -> Abstract | None:
    """Whether two dicts have equal entries."""
    if isinstance(first, TableCell) or isinstance(second, TableCell):
        return row_tables.equal(ctx, first, second, lambda x, y: _truth(ctx, element("==", x, y)))
    if first.entries.keys() != second.entries.keys():
        return FALSE
    values = [second.entries[key] for key in first.entries]
    return _all_equal(ctx, list(first.entries.values()), values, element)


def _all_equal(
    ctx: Context, first: Sequence[Abstract], second: Sequence[Abstract], element: Compare
) -> Abstract:
    if not first:
        return TRUE
    same = same_or_equal(ctx, first[0], second[0], lambda x, y: _truth(ctx, element("==", x, y)))
    rest = functools.partial(_all_equal, ctx, first[1:], second[1:], element)
    return _chosen(ctx, same, rest, lambda: FALSE, (*first, *second))


def contains(ctx: Context, item: Abstract, container: Abstract, equal: Equal) -> Abstract:
    """`item in container` for structure; keys of dicts and elements of sets must be known."""
    cell = set_methods.set_of(ctx, container) or cell_of(ctx, container)
    if isinstance(container, DictView) and container.kind == "keys":
        return contains(ctx, item, Ref(container.cell), equal)
    if isinstance(container, DictView) and isinstance(ctx.cell(Ref(container.cell)), TableCell):
        return _in_view(ctx, item, container, equal)
    table = row_tables.contains(ctx, cell, item) if isinstance(cell, TABLES) else None
    if table is not None:
        return table
    if isinstance(cell, TableCell):
        ctx.fail(NotKnown(span=ctx.span, what="what is looked up in a set or dict"))
    if isinstance(cell, SetCell | DictCell):
        known = cell.items if isinstance(cell, SetCell) else cell.entries
        looked_up = known_element(ctx, item, "what is looked up in a set or dict")
        return call_now(ctx, operator.contains, known, looked_up)
    if isinstance(container, Const) and isinstance(container.value, str | bytes | range):
        return Const(ctx.known(item, "what is looked up in a string") in container.value)
    holder = container if isinstance(container, RowsTuple) else cell
    if isinstance(holder, RowsTuple | RowsCell):
        found = vectors.find(ctx, holder.items, item, lambda x, y: _truth(ctx, equal(x, y)))
        return vectors.is_place_found(ctx, found)
    items = ctx.iterate(container)
    if items is None:
        operation = "the operator in"
        types = type_name(ctx, container)
        ctx.fail(NoSuchOperation(span=ctx.span, operation=operation, types=types))
    return _holds(ctx, item, items, equal)


def _in_view(ctx: Context, item: Abstract, view: DictView, equal: Equal) -> Abstract:
    """`item in view` of the values or items of a dict with computed keys."""
    table = ctx.cell(Ref(view.cell))
    if view.kind == "values":
        rows = row_tables.view_rows(ctx, table, "values")
        found = vectors.find(ctx, rows, item, lambda x, y: _truth(ctx, equal(x, y)))
        return vectors.is_place_found(ctx, found)
    if not isinstance(item, Tuple) or len(item.items) != 2:
        return FALSE
    key, value = item.items
    looked_up = row_tables.lookup(ctx, table, key)
    if looked_up is None:
        ctx.fail(NotKnown(span=ctx.span, what="what is looked up in a set or dict"))
    is_there, place, _ = looked_up
    held = row_tables.value_at(ctx, table, place)
    return ctx.branch(vectors.truth_of(is_there), lambda: _truth(ctx, equal(held, value)), lambda: FALSE)


def _holds(ctx: Context, item: Abstract, items: Sequence[Abstract], equal: Equal) -> Abstract:
    """Whether one of the items is the object `item` or equal to it: the first that is decides."""
    if not items:
        return FALSE
    same = same_or_equal(ctx, items[0], item, lambda x, y: _truth(ctx, equal(x, y)))
    rest = functools.partial(_holds, ctx, item, items[1:], equal)
    return _chosen(ctx, same, lambda: TRUE, rest, (item, *items))


# ---------------------------------------------------------------- identity


def is_(
    ctx: Context, left: Abstract, right: Abstract, equal: Callable[[Abstract, Abstract], Abstract]
) -> Abstract:
    """`left is right`: of objects by the cells, of classes with one object for each value by the value.

    Numbers and `jax.Array`s that the program computes are no objects; two of them are one object if they are
    one value of inference, and are certainly two if their classes differ. PS210 for all others.
    """
    if isinstance(left, Ref) and isinstance(right, Ref):
        note_compared(ctx, left, right)
    if left is right:
        return TRUE
    for value, other in ((left, right), (right, left)):
        if (
            isinstance(value, Gated)
            and isinstance(other, Const)
            and other.value is None
            and may_be_none(value)
        ):
            return Array(tag_of(ctx.b, value, alternatives(value).index(NONE)), Form.PYTHON)
        if isinstance(value, Gated):
            raise needs_split(value)
    if isinstance(left, Const) and isinstance(right, Const):
        if not same_constant(left.value, right.value):
            return FALSE
        if not _is_value(left.value):
            return TRUE
        what = f"two equal objects of class {c_name(type(left.value))}"
        ctx.fail(IdentityNotKnown(span=ctx.span, what=what, immutable=True))
    if isinstance(left, Ref) and isinstance(right, Ref):
        return _same_reference(ctx, left, right)
    if isinstance(left, Bounded) and isinstance(right, Bounded):
        return _same_bounded(ctx, left, right)
    if isinstance(left, Records) and isinstance(right, Records):
        return _same_records(ctx, left, right)
    _refuse_exceptions(ctx, left, right)
    both_tuples = isinstance(left, Tuple) and isinstance(right, Tuple) and head(left) == head(right)
    if (
        both_tuples or row_tuples.items_of_tuples(left, right) is not None
    ):  # one of them may be an element of a list of rows
        ctx.fail(IdentityNotKnown(span=ctx.span, what="two tuples", immutable=True))
    classes = [class_of(ctx, x) if isinstance(x, Array | Const) else [] for x in (left, right)]
    if not set(classes[0]) & set(classes[1]):
        return FALSE
    if len(classes[0]) == len(classes[1]) == 1 and _is_singleton(left, right, classes[0][0]):
        return ctx.truth(equal(left, right))
    what = f"two objects of class {c_name(classes[0][0])}"
    ctx.fail(IdentityNotKnown(span=ctx.span, what=what, immutable=True))


def _same_records(ctx: Context, left: Records, right: Records) -> Abstract:
    """Whether two structured ndarrays are one: by the memory of a field of each. Views and elements are not known apart."""
    first, second = left.parts[0], right.parts[0]
    known = isinstance(first, Ref) and isinstance(second, Ref) and not (first.path or second.path)
    if known and not (left.element or right.element):
        assert isinstance(first, Ref) and isinstance(second, Ref)
        return _same_reference(ctx, first, second)
    ctx.fail(IdentityNotKnown(span=ctx.span, what="two structured arrays"))


def _refuse_exceptions(ctx: Context, left: Abstract, right: Abstract) -> None:
    """Raises PS210 for exceptions, and for the class of one where that depends on the path."""
    if isinstance(left, ClassOf) or isinstance(right, ClassOf):
        ctx.fail(IdentityNotKnown(span=ctx.span, what="the class of an exception and another"))
    if isinstance(left, Exc | Caught) and isinstance(right, Exc | Caught):
        ctx.fail(IdentityNotKnown(span=ctx.span, what="two exceptions"))


_SMALL_INTEGERS = range(-5, 257)
"""The integers of which CPython has one object each."""


def _is_value(known: Any) -> bool:
    """True for a constant of which there may be several equal objects: CPython shares some numbers and strings only."""
    if type(known) is int:
        return known not in _SMALL_INTEGERS
    if type(known) in (str, bytes):
        return len(known) > 1 or not known.isascii()
    return isinstance(known, np.generic | float | complex | range | frozenset) and type(known) is not np.bool_


def _is_singleton(left: Abstract, right: Abstract, cls: type) -> bool:
    """True if equal values of this class, one of which may be known, are the same object in CPython."""
    known = [x.value for x in (left, right) if isinstance(x, Const)]
    return cls in (bool, np.bool_) or (cls is int and bool(known) and known[0] in _SMALL_INTEGERS)


def _same_bounded(ctx: Context, left: Bounded, right: Bounded) -> Abstract:
    """Whether two bounded arrays are one object; the run ends (PS210) where loops have left it open."""
    same, doubt = same_object(ctx, left, right)
    refuse_if(ctx, doubt)
    return Const(same) if isinstance(same, bool) else ctx.python(same)


def _same_reference(ctx: Context, left: Ref, right: Ref) -> Abstract:
    same = ctx.same_object(left, right)
    if same is None:
        ctx.fail(IdentityNotKnown(span=ctx.span, what="objects that depend on the path taken"))
    ctx.depends_on_identity()
    return same


# ---------------------------------------------------------------- booleans


def _truth(ctx: Context, value: Abstract) -> Abstract:
    """A comparison's result as a boolean."""
    if isinstance(value, Const) and isinstance(value.value, bool | np.bool_):
        return Const(bool(value.value))
    return ctx.truth(value)


def _chosen(
    ctx: Context,
    condition: Abstract,
    then: Callable[[], Abstract],
    orelse: Callable[[], Abstract],
    compared: Sequence[Abstract],
) -> Abstract:
    """The alternative that `condition` selects. Both are computed if they only compare numbers."""
    if isinstance(condition, Const):
        return then() if condition.value else orelse()
    if not all(map(_is_ordered, compared)):
        return ctx.branch(condition, then, orelse)
    yes, no = then(), orelse()
    if _is_python(yes) and _is_python(no):
        if isinstance(yes, Const):
            if isinstance(no, Const) and no.value is yes.value:
                return yes
            decides = condition if yes.value else negation(ctx, condition)
            return both(ctx, decides, no, either=bool(yes.value))
        return both(ctx, both(ctx, condition, yes), both(ctx, negation(ctx, condition), no), either=True)
    return ctx.branch(condition, lambda: yes, lambda: no)


def _is_python(truth: Abstract) -> bool:
    """True for a boolean of Python's own."""
    if isinstance(truth, Const):
        return isinstance(truth.value, bool)
    return type(truth) is Array and truth.form is Form.PYTHON


def _is_ordered(x: Abstract) -> bool:
    """True for a number that can be compared with any other."""
    if isinstance(x, Const):
        return is_number(x) and not isinstance(x.value, complex | np.complexfloating)
    return isinstance(x, Array) and not x.rank and x.dtype.kind != "c"


def both(ctx: Context, x: Abstract, y: Abstract, either: bool = False) -> Abstract:
    """`x and y`, or `x or y`, of two booleans that are both evaluated."""
    for known, other in ((x, y), (y, x)):
        if isinstance(known, Const):
            decides = bool(known.value) is either
            return known if decides else other
    values = [value_of(ctx, ctx.read(v), BOOL, Form.PYTHON) for v in (x, y)]
    return ctx.python(ctx.op(Or() if either else And(), *values))


def negation(ctx: Context, x: Abstract) -> Abstract:
    """`not x` of a boolean, or of an array of booleans."""
    if isinstance(x, Const):
        return Const(not x.value)
    operand = ctx.read(x)
    assert isinstance(operand, Array)
    value = ctx.op(Not(), operand.value)
    return ctx.ndarray(value) if operand.form is Form.NDARRAY else Array(value, operand.form)
