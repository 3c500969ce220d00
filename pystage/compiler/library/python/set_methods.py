"""Methods and operators of sets, on their cells. Elements are constants, or rows of the program (`row_tables.py`).

No result depends on the order of the elements of a set of rows, which follows from their hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_types import NoSuchOperation
from ...hash_order import FirstOperand, changed_by, made_by
from ...values.lattice import (
    FALSE,
    NONE,
    TRUE,
    Abstract,
    AnyTable,
    Array,
    Const,
    DictCell,
    DictView,
    Enumerate,
    Items,
    IteratorCell,
    Mapped,
    Ref,
    Reversed,
    SetCell,
    TableCell,
    Tuple,
    Zip,
)
from ...values.state import ERROR
from ...values.vector import Vector
from ..containers import row_tables, vectors
from ..containers.vectors import truth_of
from ..context import Context, Raw
from ..kernels import table_keys
from ..kernels.python_implementations import run_program
from ..kernels.structures import MISSING, abstract, cell_of, known_object, lift, new_set, type_name
from ..prelude import builtins
from ..registry import meaning
from ..rules.tables import compacted, entries_of
from . import generators
from .numbers.python_numbers import PYTHON_OPERATORS

T = TypeVar("T")

_OPERATORS = {
    "|": ("union", "update"),
    "&": ("intersection", "intersection_update"),
    "-": ("difference", "difference_update"),
    "^": ("symmetric_difference", "symmetric_difference_update"),
}
"""The operators that give a set: the method that makes a new one in the same way, and the one that changes a set."""
_MADE_BY = {made: op for op, (made, _) in _OPERATORS.items()}
_CHANGED_BY = {changed: op for op, (_, changed) in _OPERATORS.items()}
_ASKED_BY = {"issubset": "<=", "issuperset": ">="}

_CHANGING = ("add", "discard", "remove", "clear", "pop", *_CHANGED_BY)
_ASKING = (*_MADE_BY, *_ASKED_BY, "isdisjoint", "copy")


def _method(name: str) -> Callable[..., Abstract]:
    """The method of that name: of rows, or run now on a real set of the known elements."""
    single = name in _SINGLE

    def method(ctx: Context, self: Raw, /, *args: Raw) -> Abstract:
        if isinstance(self, DictView):
            self = Ref(ctx.state.new_cell(_view_contents(ctx, self)))
        cell = cell_of(ctx, self)
        if not is_set(cell):
            kind = type_name(ctx, self)
            ctx.fail(NoSuchOperation(span=ctx.span, operation=f"set.{name}", types=kind))
        if name == "update" and any(generators.is_suspended(ctx, each) for each in args):
            for each in args:
                if generators.is_suspended(ctx, each):
                    run_program(ctx, builtins.add_all, [self, each])
                else:
                    method(ctx, self, each)
            return NONE
        if not single:
            args = tuple([repeatable(ctx, each) for each in args])
        found = _of_rows(ctx, name, cast(Ref, self), list(map(abstract, args)))
        if found is not None:
            return found
        if isinstance(cell, TableCell):
            ctx.fail(NotKnown(span=ctx.span, what=f"the argument of set.{name}"))
        operands = [_known(ctx, name, self, a, single) for a in args]
        cell = cast(SetCell, ctx.settle(self))
        function = getattr(set, name)
        if name == "pop" and len(cell.items) > 1:
            if cell.history is None:
                ctx.fail(NotKnown(span=ctx.span, what="the element that comes first in a set"))
            elements = cell.history.replay()
        else:
            elements = set(cell.items)
        try:
            result = function(elements, *[known for known, _ in operands])
        except (KeyError, TypeError) as error:
            ctx.raise_(error)
        histories = [history for _, history in operands]
        if name in _CHANGING:
            is_changed = not single or len(elements) != len(cell.items)
            if is_changed:
                ctx.write(self.cell, cell.changed(elements, changed_by(function, cell.history, *histories)))
            return NONE if result is None else lift(ctx, result)
        if isinstance(result, set):
            return new_set(ctx, result, made_by(function, cell.history, *histories))
        return lift(ctx, result)

    method.__name__ = name
    method.__doc__ = f"`set.{name}`."
    return method


def _known(ctx: Context, name: str, self: Raw, value: Raw, single: bool) -> tuple[Any, Any]:
    if single:
        element = table_keys.known_element(ctx, value, f"the argument of set.{name}")
        return element, element
    what = f"the argument of set.{name}"
    found = known_operand(ctx, value, self)
    if found is None:
        items = ctx.iterate(abstract(value))
        known = (
            ctx.known(value, what) if items is None else [table_keys.known_key(ctx, i, what) for i in items]
        )
        found = listed_operand(ctx, value, known)
    return found


def repeatable(ctx: Context, iterable: Raw) -> Raw:
    """An iterable that can be gone over again: in place of an iterator the list of what it gives."""
    is_iterator = isinstance(iterable, Enumerate | Mapped | Reversed | Zip)
    if is_iterator or isinstance(cell_of(ctx, iterable), IteratorCell):
        return ctx.call(Const(list), [abstract(iterable)])
    return iterable


def known_operand(ctx: Context, value: Raw, first: Raw = None) -> tuple[Any, Any] | None:
    """A known set as an argument, and what stands for it in the history of another; None for anything else.

    `first`: the first operand, which may be the same set.
    """
    cell = cell_of(ctx, value)
    if isinstance(cell, SetCell):
        is_first = ctx.same_object(value, first) if isinstance(first, Ref) else FALSE
        if not isinstance(is_first, Const):
            return cell.items, None
        return cell.items, FirstOperand.AGAIN if is_first.value else cell.history
    is_known = isinstance(value, Const) and isinstance(value.value, set | frozenset)
    return (value.value, value.value) if is_known else None


def listed_operand(ctx: Context, value: Raw, known: Any) -> tuple[Any, Any]:
    """As `known_operand`, for another iterable of these elements; CPython makes room at once for those of a dict."""
    cell = cell_of(ctx, value)
    operand = dict.fromkeys(known) if isinstance(cell, DictCell) and cell.container is dict else known
    return operand, operand


# ---------------------------------------------------------------- sets of rows

_SINGLE: dict[str, Callable[[Context, Ref, Abstract], bool]] = {
    "add": row_tables.store,
    "discard": row_tables.discard,
    "remove": row_tables.remove,
}


def is_set(cell: object) -> bool:
    """True for the contents of a set."""
    return isinstance(cell, SetCell) or (isinstance(cell, TableCell) and cell.container is set)


def _of_rows(ctx: Context, name: str, ref: Ref, args: list[Abstract]) -> Abstract | None:
    """A method where the program computes an element; None for sets that are known."""
    if name in _SINGLE and len(args) == 1:
        return NONE if _SINGLE[name](ctx, ref, args[0]) else None
    cell = cell_of(ctx, ref)
    others = [_operand(ctx, arg) for arg in args]
    if None in others or not any(isinstance(each, TableCell) for each in (cell, *others)):
        return None
    operands = cast("list[AnyTable]", others)
    if name == "clear":
        ctx.settle(ref)
        ctx.write(ref.cell, row_tables.cleared(ctx, cell))
        return NONE
    if name == "pop":
        ctx.fail(NotKnown(span=ctx.span, what="the element that comes first in a set of computed elements"))
    if name in _CHANGED_BY:
        for other in operands:
            _change(ctx, _CHANGED_BY[name], ref, other)
        return NONE
    if name == "isdisjoint":
        return row_tables.is_disjoint(ctx, cell, operands[0])
    if name in _ASKED_BY:
        return _order(ctx, _ASKED_BY[name], cell, operands[0])
    made = row_tables.new_table(ctx, cell)
    for other in operands:
        _change(ctx, _MADE_BY[name], made, other)
    return made


def _operand(ctx: Context, value: Abstract) -> AnyTable | None:
    """The elements of a set that a method takes as an argument."""
    given = set_of(ctx, value)
    if given is not None:
        return given
    cell = cell_of(ctx, value)
    if isinstance(value, DictView) and value.kind != "values":
        return of_view(ctx, value)
    if isinstance(cell, DictCell | TableCell):
        return of_view(ctx, DictView("keys", cast(Ref, value).cell))
    made = of_elements(ctx, value)
    if made is not None:
        return cast(AnyTable, ctx.cell(made))
    items = ctx.iterate(value)
    known = items is not None and all(isinstance(item, Const) for item in items)
    return SetCell(frozenset([item.value for item in cast("list[Const]", items)])) if known else None


def of_elements(ctx: Context, iterable: Raw) -> Ref | None:
    """A new set of the elements of an iterable; None where all of them can be known."""
    cell = cell_of(ctx, iterable)
    if isinstance(cell, SetCell):
        return None
    if isinstance(cell, TableCell) and cell.container is set:
        return row_tables.new_table(ctx, cell)
    rows = ctx.gathered(abstract(iterable))
    if rows is not None:
        entries: Items = replace(rows, element=Tuple((rows.element, NONE)))
    else:
        items = ctx.iterate(abstract(iterable)) or []
        if not any(table_keys.is_computed_key(ctx, item) for item in items):
            return None
        entries = tuple([Tuple((item, NONE)) for item in items])
    made = new_set(ctx, ())
    row_tables.store_all(ctx, made, entries)
    return made


def _change(ctx: Context, op: str, ref: Ref, other: AnyTable) -> None:
    """Applies `s op= other`, where at least one set is made of rows."""
    cell = ctx.settle(ref)
    if op == "|":
        row_tables.store_all(ctx, ref, entries_of(ctx.b, other))
        return
    if op == "&":
        made = _common(ctx, cell, other)
    else:
        made = row_tables.only(ctx, cell, other, kept=False)
    if op == "^":
        others = ctx.cell(row_tables.only(ctx, other, cell, kept=False))
        row_tables.store_all(ctx, made, entries_of(ctx.b, others))
    ctx.write(ref.cell, replace(ctx.cell(made), aliases=cell.aliases, selector=cell.selector))


def _common(ctx: Context, first: AnyTable, second: AnyTable) -> Ref:
    """The intersection; objects are those of the smaller set, of the second at equal sizes."""
    longer = truth_of(
        vectors.compared(ctx, "GT", row_tables.length(ctx, second), row_tables.length(ctx, first))
    )
    made = new_set(ctx, ())

    def of(smaller: AnyTable, larger: AnyTable) -> Abstract:
        ctx.write(made.cell, ctx.cell(row_tables.only(ctx, smaller, larger, kept=True)))
        return NONE

    ctx.branch(longer, lambda: of(first, second), lambda: of(second, first))
    return made


def _order(ctx: Context, op: str, first: AnyTable, second: AnyTable) -> Abstract:
    """`first op second`: whether the elements of one are among those of the other."""
    if op in (">", ">="):
        first, second, op = second, first, op.replace(">", "<")
    part = row_tables.is_subset(ctx, first, second)
    if op == "<=":
        return part
    lengths = truth_of(
        vectors.compared(ctx, "NE", row_tables.length(ctx, first), row_tables.length(ctx, second))
    )
    return ctx.branch(part, lambda: lengths, lambda: part)


def of_view(ctx: Context, view: DictView) -> AnyTable | None:
    """The keys or items of a dict as a set; None for values, and for known items with a computed value."""
    cell = ctx.cell(Ref(view.cell))
    if isinstance(cell, TableCell):
        if view.kind == "values":
            return None
        cell = compacted(ctx.b, cell)
        rows = row_tables.view_rows(ctx, cell, view.kind)
        index = cell.index if view.kind == "keys" else None
        return TableCell(set, replace(rows, element=Tuple((rows.element, NONE))), 0, index)
    if view.kind == "keys":
        return SetCell(frozenset(cell.entries))
    items = [(key, known_object(ctx, value)) for key, value in cell.entries.items()]
    is_known = view.kind == "items" and not any(value is MISSING for _, value in items)
    return SetCell(frozenset(items)) if is_known else None


def _of_views(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op right`, a new set, where one of them is a view of a dict; None where Python has no such operator."""
    view, other = (left, right) if isinstance(left, DictView) else (right, left)
    if not isinstance(view, DictView):
        return None
    known = [_real(ctx, x) for x in (left, right)]
    if not any(x is MISSING for x in known):
        return lift(ctx, PYTHON_OPERATORS[op](*known))
    ours, theirs = [_elements(ctx, x) for x in (view, other)]
    if ours is None or theirs is None:
        return None
    if op != "&":
        first, second = (ours, theirs) if view is left else (theirs, ours)
        made = row_tables.new_table(ctx, first)
        _change(ctx, op, made, second)
        return made
    if isinstance(other, DictView):
        return _common(ctx, ours, theirs)
    if is_set(cell_of(ctx, other)):
        return _common(ctx, theirs, ours)
    return row_tables.only(ctx, theirs, ours, kept=True)


def _view_contents(ctx: Context, view: DictView) -> AnyTable:
    """The keys or items of a dict as a set."""
    found = of_view(ctx, view)
    if found is None:
        ctx.fail(NotKnown(span=ctx.span, what=f"the {view.kind} of a dict as a set"))
    return found


def _real(ctx: Context, value: Abstract) -> Any:
    """A fully known view of a dict, set or list as a Python object; MISSING for others."""
    cell = cell_of(ctx, Ref(value.cell) if isinstance(value, DictView) else value)
    if isinstance(value, DictView) and isinstance(cell, DictCell) and value.kind != "values":
        if value.kind == "keys":
            return dict.fromkeys(cell.entries).keys()
        entries = {key: known_object(ctx, each) for key, each in cell.entries.items()}
        return MISSING if any(each is MISSING for each in entries.values()) else entries.items()
    if isinstance(cell, SetCell):
        return ctx.known(value, "the order of a set")
    items = None if isinstance(value, DictView) or isinstance(cell, TableCell) else ctx.iterate(value)
    found = [known_object(ctx, item) for item in items or ()]
    return MISSING if items is None or any(item is MISSING for item in found) else found


def _elements(ctx: Context, value: Abstract) -> AnyTable | None:
    return of_view(ctx, value) if isinstance(value, DictView) else _operand(ctx, value)


def set_of(ctx: Context, value: Abstract) -> AnyTable | None:
    """The contents of a set, or of a constant one; None for anything else."""
    if isinstance(value, Const) and isinstance(value.value, set | frozenset):
        return SetCell(frozenset(value.value))
    cell = cell_of(ctx, value)
    return cast(AnyTable, cell) if is_set(cell) else None


def _are_sets(ctx: Context, left: Abstract, right: Abstract) -> bool:
    return set_of(ctx, left) is not None and set_of(ctx, right) is not None


def binary(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op right`, a new set; None where Python has no such operator of sets."""
    if op not in _OPERATORS:
        return None
    if not _are_sets(ctx, left, right):
        return _of_views(ctx, op, left, right)
    if isinstance(left, Ref):
        return _METHODS[_OPERATORS[op][0]](ctx, left, right)
    operands = known_operand(ctx, left), known_operand(ctx, right)
    history = made_by(PYTHON_OPERATORS[op], *[None if found is None else found[1] for found in operands])
    if history is None:
        ctx.fail(NotKnown(span=ctx.span, what="the order of a set in an operation of a frozenset"))
    return lift(ctx, history.replay())


def inplace(ctx: Context, op: str, left: Ref, right: Abstract) -> bool:
    """`left op= right`; False where one of them is no set."""
    if op not in _OPERATORS or not _are_sets(ctx, left, right):
        return False
    _METHODS[_OPERATORS[op][1]](ctx, left, right)
    return True


def compare(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left == right`, `left <= right` and the like of sets and views of dicts; None for anything else."""
    found = [of_view(ctx, x) if isinstance(x, DictView) else set_of(ctx, x) for x in (left, right)]
    first, second = found
    if first is None or second is None:
        return None
    if isinstance(first, SetCell) and isinstance(second, SetCell):
        return Const(PYTHON_OPERATORS[op](first.items, second.items))
    if op == "==":
        return row_tables.equal(ctx, first, second, lambda x, y: TRUE)
    return _order(ctx, op, first, second)


def in_any_order(ctx: Context, iterable: Raw) -> Raw:
    """The iterable, for what does not depend on the order of elements of which no two are equal, nor compare with none."""
    cell = cell_of(ctx, iterable)
    if not isinstance(cell, SetCell) or cell.in_order() is not None:
        return iterable
    are_ordered = all(type(x) is int for x in cell.items) or all(type(x) is str for x in cell.items)
    return Tuple(tuple(map(Const, sorted(cell.items)))) if are_ordered else iterable


def gathered(
    ctx: Context, iterable: Raw, any_order: bool = True, only_integers: bool = False
) -> Vector[Abstract] | None:
    """As `Context.gathered`, where the order does not matter: if `only_integers`, of integers."""
    cell = cell_of(ctx, iterable)
    if any_order and isinstance(cell, TableCell) and cell.container is set:
        rows = row_tables.view_rows(ctx, cell, "keys")
        exact = isinstance(rows.element, Array) and rows.element.dtype.kind in "biu"
        if exact or not only_integers:
            return rows
    return ctx.gathered(abstract(iterable))


def without_effects(ctx: Context, run: Callable[[], T]) -> T:
    """The result of `run` on the elements of a set in any order; PS401 where it has effects."""
    slots = ctx.state.slots
    before = {slot: content for slot, content in slots.items() if isinstance(slot, int) and slot != ERROR}
    result = run()
    if any(slots.get(slot) is not content for slot, content in before.items()):
        ctx.fail(NotKnown(span=ctx.span, what="the order of a set of computed elements"))
    return result


_METHODS = {name: _method(name) for name in (*_CHANGING, *_ASKING)}

for _name, _meaning in _METHODS.items():
    meaning(vars(set)[_name])(_meaning)
