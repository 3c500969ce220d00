"""The transfer function of each stage instruction, in one table."""

from __future__ import annotations

import builtins
import collections.abc
import importlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

from ..diagnostics.codes_calls import InternalError
from ..diagnostics.codes_control import NotIterable
from ..diagnostics.diagnostic import DiagnosticError
from ..frontend.fusion import source_name
from ..hash_order import SetHistory, changed_by, made_by, note_set
from ..hlo.types import TooLarge
from ..library.containers import row_tables, vectors
from ..library.containers.row_lists import append, extended
from ..library.kernels import row_tuples, table_keys
from ..library.kernels.python_implementations import run_program
from ..library.kernels.structures import list_length, new_rows
from ..library.numpy.indexing.bounded import length as bounded_length
from ..library.numpy.indexing.bounded import refuse
from ..library.numpy.subscripts.subscripts import array_getitem
from ..library.prelude.builtins import as_list
from ..library.prelude.itertools import sliced
from ..library.python import operators, set_methods, strings
from ..library.python.dict_methods import entry_key
from ..library.python.generators import is_suspended
from ..library.python.numbers.python_numbers import IN_PLACE_OPERATORS, PYTHON_OPERATORS, UNARY_OPERATORS
from ..library.python.structure_operators import both
from ..library.rules.classes import c_name, class_name, class_of, not_iterable
from ..stage import ir as stage
from ..values.bounded import Bounded, Extent
from ..values.gated import Gated, may_be_unassigned, where_assigned
from ..values.lattice import (
    FALSE,
    NONE,
    TRUE,
    Abstract,
    AnyList,
    Closure,
    Const,
    DictCell,
    DictView,
    ListCell,
    ObjectCell,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    SliceObject,
    TableCell,
    Tuple,
    Undef,
    VariableCell,
)
from ..values.vector import Vector
from .calls.invoke import applied, call
from .control import control_flow, handling
from .core.engine import Engine
from .diagnostics.describe import describe
from .exceptions import out_of_memory, raising
from .iteration.fusing import yield_
from .iteration.iterable_rows import are_many
from .iteration.iterators import check_iterable, elements, run_to_end
from .objects import attributes, objects
from .state.frame import Frame

# ---------------------------------------------------------------- variables


def _constant(e: Engine, i: stage.Constant) -> None:
    if isinstance(i.value, frozenset):
        note_set(i.value)
    if i.meaning is None:
        i.meaning = _literal(i.value)
    e.put(i.dst, i.meaning)


def _literal(value: object) -> Abstract:
    return Tuple(tuple([_literal(v) for v in value])) if type(value) is tuple else Const(value)


def _copy(e: Engine, i: stage.Copy) -> None:
    e.put(i.dst, e.operand(i.src))


def _load(e: Engine, i: stage.Load) -> None:
    frame: Any = e.frame
    scope = i.scope
    value: Any
    if scope is _LOCAL:
        value = e.state.slots.get((frame.id, i.name))
    elif scope is _GLOBAL:
        value = _global(e, frame, i.name)
    else:
        value = cast(VariableCell, e.state.get(frame.cells[i.name])).value
    if type(value) in _SPECIAL:
        value = _special(e, i, value)
    e.put(i.dst, value)


_LOCAL, _GLOBAL = stage.StorageClass.LOCAL, stage.StorageClass.GLOBAL
_SPECIAL = frozenset([type(None), Undef, Gated])
"""The contents of a variable that are not simply its value."""


def _special(e: Engine, i: stage.Load, value: Abstract | None) -> Abstract:
    """The value of a variable that may be unassigned, or a gated φ."""
    if i.certain and value is not None and may_be_unassigned(value):
        value = where_assigned(value)
    return e.narrowed(objects.assigned(e, value, lambda: _unassigned(e, i)))


def _unassigned(e: Engine, i: stage.Load) -> NoReturn:
    """The program raises what Python does where a variable is read that is not assigned."""
    if i.name.startswith(".") and e.errors.found:  # of the compiler, and lost to what was refused before
        raise DiagnosticError(e.errors.found[-1])
    e.current.unassigned.add(i.name)
    why = "where it is not associated with a value"
    if i.scope is _GLOBAL:
        e.raise_(NameError(f"name {i.name!r} is not defined", name=i.name))
    if i.free:
        e.raise_(NameError(f"cannot access free variable {i.name!r} {why} in enclosing scope", name=i.name))
    e.raise_(UnboundLocalError(f"cannot access local variable {source_name(i.name)!r} {why}"))


def _global(e: Engine, frame: Frame, name: str) -> Abstract | None:
    number = e.namespaces.number(frame.namespace)
    if number is not None and (number, name) in e.state.slots:
        return cast(Abstract, e.state.get((number, name)))
    return e.externals.global_variable(frame.namespace, name)


def _assign(e: Engine, name: str, scope: stage.StorageClass, value: Abstract) -> None:
    frame = e.current
    match scope:
        case stage.StorageClass.LOCAL:
            if e.raises.bodies:
                raising.write(e, (frame.id, name), value)
            else:
                e.state.set((frame.id, name), value)
        case stage.StorageClass.CELL:
            e.write(frame.cells[name], VariableCell(value))
        case stage.StorageClass.GLOBAL:
            _assign_global(e, frame.namespace, name, value)


def _assign_global(e: Engine, namespace: dict[str, Any], name: str, value: Abstract) -> None:
    """`global name; name = value`."""
    number = e.namespaces.assigned(namespace)
    if (number, name) not in e.state.slots and name in namespace:  # what other paths leave as it is
        e.state.define((number, name), e.externals.global_variable(namespace, name) or NONE)
    raising.write(e, (number, name), value)


def _store(e: Engine, i: stage.Store) -> None:
    value = e.peek(i.src)
    if e.trail is not None:
        e.trail.bind(e.current, i, value)
    _assign(e, i.name, i.scope, value)


def _delete(e: Engine, i: stage.Delete) -> None:
    free = i.scope is stage.StorageClass.CELL and i.name in e.current.function.free
    _load(e, stage.Load(i.span, "%deleted", i.name, i.scope, free=free))
    _assign(e, i.name, i.scope, Undef(i.span))


# ---------------------------------------------------------------- attributes, items, operators


def _get_attr(e: Engine, i: stage.GetAttr) -> None:
    obj = e.get(i.obj)
    found = e.externals.library_attributes.get((id(obj.value), i.attr)) if type(obj) is Const else None
    e.put(i.dst, attributes.getattr_(e, obj, i.attr) if found is None else found)


def _set_attr(e: Engine, i: stage.SetAttr) -> None:
    attributes.setattr_(e, e.get(i.obj), i.attr, e.operand(i.src))


def _del_attr(e: Engine, i: stage.DelAttr) -> None:
    attributes.delattr_(e, e.get(i.obj), i.attr)


def _get_item(e: Engine, i: stage.GetItem) -> None:
    e.put(i.dst, attributes.getitem(e, e.get(i.obj), e.get(i.index)))


def _set_item(e: Engine, i: stage.SetItem) -> None:
    attributes.setitem(e, e.get(i.obj), e.get(i.index), e.operand(i.src))


def _del_item(e: Engine, i: stage.DelItem) -> None:
    attributes.delitem(e, e.get(i.obj), e.get(i.index))


def _unary(e: Engine, i: stage.Unary) -> None:
    value = e.operand(i.operand) if i.op in ("not", "bool") else e.get(i.operand)
    match i.op:
        case "not":
            e.put(i.dst, e.negate(value))
        case "bool":
            e.put(i.dst, e.truth(value))
        case _:
            function = UNARY_OPERATORS[i.op]
            e.put(i.dst, applied(e, function, (value,), lambda: attributes.unary(e, i.op, value)))


def _binary(e: Engine, i: stage.Binary) -> None:
    left, right = e.get(i.left), e.get(i.right)
    function = PYTHON_OPERATORS[i.op]
    try:
        made = applied(e, function, (left, right), lambda: operators.binary(e, i.op, left, right))
    except (TooLarge, MemoryError) as error:
        raise out_of_memory.raised(e, error, Const(function), [left, right]) from None
    e.put(i.dst, made)


def _inplace(e: Engine, i: stage.Inplace) -> None:
    left, right = e.get(i.left), e.get(i.right)
    function = IN_PLACE_OPERATORS[i.op]
    e.put(i.dst, applied(e, function, (left, right), lambda: attributes.inplace(e, i.op, left, right)))


def _compare(e: Engine, i: stage.Compare) -> None:
    if i.op in ("is", "is not"):
        left, right = e.operand(i.left), e.operand(i.right)
    else:
        left, right = e.get(i.left), e.get(i.right)
    match i.op:
        case "is" | "is not":
            result = operators.is_(e, left, right)
            e.put(i.dst, e.negate(result) if i.op == "is not" else result)
        case "in" | "not in":
            result = attributes.contains(e, left, right)
            e.put(i.dst, e.negate(result) if i.op == "not in" else result)
        case _:
            function = PYTHON_OPERATORS[i.op]
            e.put(i.dst, applied(e, function, (left, right), lambda: e.compare(i.op, left, right)))


# ---------------------------------------------------------------- structure


def _spliced(e: Engine, items: tuple[stage.Item, ...]) -> list[Abstract]:
    out: list[Abstract] = []
    for item in items:
        value = e.get(item.value) if item.star else e.operand(item.value)
        if item.star:
            check_iterable(e, value, "Value after * must be an iterable, not {}")
        out.extend(listed(e, value) if item.star else [value])
    return out


def _joined_list(e: Engine, items: tuple[stage.Item, ...]) -> Ref:
    """A new list of these items, of which some are the elements of lists of computed length."""
    made = Ref(e.state.new_cell(ListCell(())))
    for item in items:
        value = e.get(item.value) if item.star else e.operand(item.value)
        longer = extended(e, made, value) if item.star else None
        if longer is not None:
            e.write(made.cell, RowsCell(longer))
            continue
        for each in listed(e, value) if item.star else [value]:
            append(e, made, each)
    return made


def listed(e: Engine, value: Abstract) -> list[Abstract]:
    """The elements of an iterable that must have a known structure."""
    found = elements(e, value)
    if found is None:
        whole = attributes.length(e, value)
        e.known(whole, "the number of elements")
        raise DiagnosticError(NotIterable(span=e.b.span, what=describe(value, e.state)))
    return found


def _is_of_rows(e: Engine, item: stage.Item) -> bool:
    """True for `*xs` of rows of which only the program knows how many there are, or of too many to list."""
    value = e.get(item.value) if item.star else None
    if value is not None:
        run_to_end(e, value)
        if are_many(e, value):
            return True
    cell = e.cell(value) if isinstance(value, Ref) else None
    if isinstance(value, DictView):
        cell = e.cell(Ref(value.cell))
    holder = value if isinstance(value, RowsTuple) else cell
    if isinstance(holder, TableCell):
        return not isinstance(holder.entries.length, int)
    return isinstance(holder, RowsTuple | RowsCell) and not isinstance(holder.items.length, int)


def _build(e: Engine, i: stage.Build) -> None:
    if i.kind is stage.Sequence.LIST and any(_is_of_rows(e, item) for item in i.items):
        e.put(i.dst, _joined_list(e, i.items))
        return
    if i.kind is stage.Sequence.TUPLE and any(_is_of_rows(e, item) for item in i.items):
        made = _joined_list(e, i.items)
        e.put(i.dst, row_tuples.of_items(e, cast(AnyList, e.state.get(made.cell)).items))
        return
    parts = [_spliced(e, (item,)) for item in i.items]
    items = [each for part in parts for each in part]
    match i.kind:
        case stage.Sequence.TUPLE:
            e.put(i.dst, Tuple(tuple(items)))
        case stage.Sequence.LIST:
            e.put(i.dst, Ref(e.state.new_cell(ListCell(tuple(items)))))
        case stage.Sequence.SET:
            if any(table_keys.is_computed_key(e, item) for item in items):
                made = Ref(e.state.new_cell(SetCell(frozenset())))
                for item in items:
                    row_tables.store_certainly(e, made, item)
                e.put(i.dst, made)
                return
            members = frozenset([table_keys.known_key(e, item, "an element of a set") for item in items])
            history = _history_of_display(e, i, parts) if i.is_ordered else None
            e.put(i.dst, Ref(e.state.new_cell(SetCell(members, history=history))))


def _history_of_display(e: Engine, i: stage.Build, parts: list[list[Abstract]]) -> SetHistory | None:
    """The history of a set of these items, whose elements are the `parts`."""
    history = made_by(set)
    for item, elements_of_item in zip(i.items, parts, strict=True):
        known = [table_keys.known_key(e, each, "an element of a set") for each in elements_of_item]
        if item.star:
            value = e.get(item.value)
            found = set_methods.known_operand(e, value) or set_methods.listed_operand(e, value, known)
            history = changed_by(set.update, history, found[1])
        else:
            history = changed_by(set.add, history, known[0])
    return history


def _build_dict(e: Engine, i: stage.BuildDict) -> None:
    entries: dict[Any, Abstract] = {}
    if any(_is_computed_entry(e, key, value) for key, value in i.entries):
        made = Ref(e.state.new_cell(DictCell({})))
        for key, value in i.entries:
            if key is not None:
                row_tables.store_certainly(e, made, e.operand(key), e.operand(value))
            else:
                e.call(e.getattr(made, "update"), [e.get(value)])
        e.put(i.dst, made)
        return
    for key, value in i.entries:
        if key is not None:
            entries[entry_key(e, e.get(key), e.operand(value))] = e.operand(value)
            continue
        mapping = e.get(value)
        cell = e.cell(mapping) if isinstance(mapping, Ref) else None
        if not isinstance(cell, DictCell):
            e.raise_(TypeError(f"{class_name(e, mapping)!r} object is not a mapping"))
        entries.update(cell.entries)
    e.put(i.dst, Ref(e.state.new_cell(DictCell(entries))))


def _is_computed_entry(e: Engine, key: str | None, value: str) -> bool:
    """True for an entry with a computed key, and for the entries of a dict with such, or of another mapping."""
    if key is not None:
        return table_keys.is_computed_key(e, e.operand(key))
    mapping = e.get(value)
    cell = e.cell(mapping) if isinstance(mapping, Ref) else None
    return isinstance(cell, TableCell) or (isinstance(cell, ObjectCell) and hasattr(cell.cls, "keys"))


def _build_slice(e: Engine, i: stage.BuildSlice) -> None:
    parts = [NONE if t is None else e.get(t) for t in (i.start, i.stop, i.step)]
    e.put(i.dst, SliceObject(*parts))


def _append(e: Engine, i: stage.Append) -> None:
    target = cast(Ref, e.get(i.target))
    match e.state.get(target.cell):
        case ListCell() | RowsCell():
            append(e, target, e.operand(i.value))
        case SetCell() | TableCell(container=builtins.set) if row_tables.store(e, target, e.operand(i.value)):
            pass
        case DictCell() | TableCell() if i.key is not None and row_tables.store(
            e, target, e.operand(i.key), e.operand(i.value)
        ):
            pass
        case SetCell(members) as known:
            element = table_keys.known_key(e, e.get(i.value), "an element of a set")
            e.write(
                target.cell, known.changed(members | {element}, changed_by(set.add, known.history, element))
            )
        case DictCell(entries):
            value = e.operand(i.value)
            key = entry_key(e, e.get(cast(str, i.key)), value)
            e.write(target.cell, DictCell({**entries, key: value}))
        case TableCell():
            row_tables.refuse_key(e, e.operand(i.value if i.key is None else i.key))


def _format(e: Engine, i: stage.Format) -> None:
    spec = Const("") if i.spec is None else e.get(i.spec)
    e.put(i.dst, strings.format_(e, e.get(i.value), i.conversion, spec))


def _join(e: Engine, i: stage.JoinStrings) -> None:
    e.put(i.dst, strings.join(e, [e.get(p) for p in i.parts]))


def _unpack(e: Engine, i: stage.Unpack) -> None:
    value = e.get(i.src)
    check_iterable(e, value, "cannot unpack non-iterable {} object")
    count = len(i.dsts)
    if isinstance(value, Bounded) and isinstance(value.axes[0], Extent):
        _unpack_bounded(e, i, value)
        return
    if i.star is None and is_suspended(e, value):
        value = run_program(e, as_list, [run_program(e, sliced, [value, 0, count + 1, 1])])
    rows = row_tuples.rows_of_numbers(e, value)
    if rows is not None:
        _unpack_rows(e, i, rows)
        return
    items = listed(e, value)
    if i.star is None:
        if len(items) < count:
            e.raise_(ValueError(f"not enough values to unpack (expected {count}, got {len(items)})"))
        if len(items) > count:
            e.raise_(ValueError(f"too many values to unpack (expected {count})"))
        for dst, item in zip(i.dsts, items):
            e.put(dst, item)
        return
    if len(items) < count - 1:
        e.raise_(ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(items)})"))
    after = count - i.star - 1
    for dst, item in zip(i.dsts[: i.star], items):
        e.put(dst, item)
    e.put(i.dsts[i.star], Ref(e.state.new_cell(ListCell(tuple(items[i.star : len(items) - after])))))
    for dst, item in zip(i.dsts[i.star + 1 :], items[len(items) - after :]):
        e.put(dst, item)


def _unpack_rows(e: Engine, i: stage.Unpack, rows: Vector[Abstract]) -> None:
    """Unpacks a list or a tuple of computed length."""

    def rest(part: SliceObject) -> Ref:
        return new_rows(e, vectors.slice_of(e, rows, part))

    def element(place: int) -> Abstract:
        return vectors.get(e, rows, place if place >= 0 else vectors.added(e, rows.length, place))

    _unpack_computed(e, i, list_length(rows), element, rest)


def _unpack_bounded(e: Engine, i: stage.Unpack, array: Bounded) -> None:
    """Unpacks an array whose first axis has a computed size."""

    def rest(part: SliceObject) -> Ref:
        rows = vectors.of_array(e, array_getitem(e, array, part))
        if rows is None:
            refuse(e, "a starred name for the rows of an array", array)
        return new_rows(e, rows)

    _unpack_computed(e, i, bounded_length(e, array), lambda at: array_getitem(e, array, Const(at)), rest)


def _unpack_computed(
    e: Engine,
    i: stage.Unpack,
    length: Abstract,
    element: Callable[[int], Abstract],
    rest: Callable[[SliceObject], Abstract],
) -> None:
    """Unpacks a value of computed length: the program raises where the length is another one.

    `element` gives what stands at a place, counted from the end where that is negative, and `rest` the list of a part.
    """
    count, star = len(i.dsts), i.star
    own = vectors.int_of(length)
    if star is None:
        bad = vectors.compared(e, "NE", own, count)
        vectors.check(e, bad, ValueError(), row_tuples.unpack, [length, Const(count)])
        for place, dst in enumerate(i.dsts):
            e.put(dst, element(place))
        return
    bad = vectors.compared(e, "LT", own, count - 1)
    vectors.check(e, bad, ValueError(), row_tuples.unpack_with_rest, [length, Const(count - 1)])
    after = count - star - 1
    for place, dst in enumerate(i.dsts[:star]):
        e.put(dst, element(place))
    e.put(i.dsts[star], rest(SliceObject(Const(star), Const(-after) if after else NONE, NONE)))
    for place, dst in enumerate(i.dsts[star + 1 :], -after):
        e.put(dst, element(place))


def _make_function(e: Engine, i: stage.MakeFunction) -> None:
    frame = e.current
    cells = tuple([(name, frame.cells[name]) for name in sorted(i.function.free)])
    e.put(
        i.dst,
        Closure(
            i.function,
            frame.namespace,
            frame.module,
            tuple([e.operand(d) for d in i.defaults]),
            tuple([(n, e.operand(d)) for n, d in i.kw_defaults]),
            cells,
        ),
    )


def _import(e: Engine, i: stage.Import) -> None:
    package = e.current.namespace.get("__package__") or ""
    name = "." * i.level + i.module
    try:
        module = importlib.import_module(name, package) if i.level else importlib.import_module(name)
    except ImportError as error:
        e.raise_(error)
    if i.attr:
        e.put(i.dst, attributes.module_attribute(e, module, i.attr))
    else:  # `import a.b` binds the package `a`
        e.put(i.dst, Const(sys.modules[i.module.partition(".")[0]]))


_SEQUENCE, _MAPPING, _MATCHES_ITSELF = 1 << 5, 1 << 6, 1 << 22
"""The bits of `type.__flags__` by which CPython knows what patterns take for a sequence and for a mapping (PEP 634), and
the classes whose one positional pattern is for the whole object."""
_ABSTRACT = {stage.Test.SEQUENCE: collections.abc.Sequence, stage.Test.MAPPING: collections.abc.Mapping}


def _match_test(e: Engine, i: stage.MatchTest) -> None:
    subject = e.get(i.subject)
    if i.test is stage.Test.CLASS:
        e.put(i.dst, e.call(Const(isinstance), [subject, e.get(i.args[0])]))
        return
    bit = _SEQUENCE if i.test is stage.Test.SEQUENCE else _MAPPING
    result: Abstract = TRUE
    classes = class_of(e, subject)
    if not any(cls.__flags__ & bit for cls in classes):
        for cls in classes:
            e.is_subclass(cls, _ABSTRACT[i.test])  # a class that is registered gets the bit
        result = FALSE
    elif i.test is stage.Test.SEQUENCE:
        result = e.compare(">=" if i.at_least else "==", e.call(Const(len), [subject]), Const(i.count))
    else:
        for key in i.args:
            result = both(e, result, attributes.contains(e, e.get(key), subject))
    e.put(i.dst, result)


def _match_args(e: Engine, i: stage.MatchArgs) -> None:
    cls = e.known(e.get(i.cls), "the class of a pattern")
    names = getattr(cls, "__match_args__", ())
    if i.position == 0 and not hasattr(cls, "__match_args__") and cls.__flags__ & _MATCHES_ITSELF:
        e.put(i.dst, e.get(i.subject))
        return
    if i.position >= len(names):
        e.raise_(
            TypeError(
                f"{c_name(cls)}() accepts {len(names)} positional sub-patterns ({i.position + 1} given)"
            )
        )
    e.put(i.dst, e.getattr(e.get(i.subject), names[i.position]))


# ---------------------------------------------------------------- calls


def _called(function: Abstract) -> str:
    """The name of a function of a module as CPython's messages about its arguments have it."""
    module: str | None
    name: str | None
    if isinstance(function, Closure):
        module, name = function.module, function.function.qualname
    else:
        called = function.value if isinstance(function, Const) else None
        module, name = getattr(called, "__module__", None), getattr(called, "__qualname__", None)
    if name is None:
        return ""
    return f"{name}() " if module in (None, "", "builtins") else f"{module}.{name}() "


_POSITIONAL, _KEYWORD, _STAR = stage.ArgKind.POSITIONAL, stage.ArgKind.KEYWORD, stage.ArgKind.STAR


def _call(e: Engine, i: stage.Call) -> None:
    function = e.get(i.func)
    args: list[Abstract] = []
    kwargs: dict[str, Abstract] = {}
    for arg in i.args:
        value = e.operand(arg.value)
        kind = arg.kind
        if kind is _POSITIONAL:
            args.append(value)
        elif kind is _KEYWORD:
            kwargs[arg.name] = value
        elif kind is _STAR:
            name = not_iterable(e, value := e.certain(value))
            if name is not None:
                e.raise_(TypeError(f"{_called(function)}argument after * must be an iterable, not {name}"))
            args.extend(listed(e, value))
        else:
            cell = e.cell(value) if isinstance(value := e.certain(value), Ref) else None
            entries = cell.entries if isinstance(cell, DictCell) else {}
            if isinstance(cell, TableCell) or not all(isinstance(key, str) for key in entries):
                e.raise_(TypeError("keywords must be strings"))
            if not isinstance(cell, DictCell):
                e.raise_(
                    TypeError(
                        f"{_called(function)}argument after ** must be a mapping, not {class_name(e, value)}"
                    )
                )
            kwargs.update(cell.entries)
    try:
        made = call(e, function, args, kwargs)
    except (TooLarge, MemoryError) as error:
        raise out_of_memory.raised(e, error, function, args, kwargs) from None
    e.put(i.dst, made)
    e.b.span = i.span


def _not_after_jumps(e: Engine, i: stage.Instr) -> None:
    raise DiagnosticError(InternalError(span=i.span, text=f"{type(i).__name__} is left after jumps.py"))


HANDLERS: dict[type[stage.Instr], Callable[[Any, Any], None]] = {
    stage.Constant: _constant,
    stage.Copy: _copy,
    stage.Load: _load,
    stage.Store: _store,
    stage.Delete: _delete,
    stage.GetAttr: _get_attr,
    stage.SetAttr: _set_attr,
    stage.DelAttr: _del_attr,
    stage.GetItem: _get_item,
    stage.SetItem: _set_item,
    stage.DelItem: _del_item,
    stage.Call: _call,
    stage.Unary: _unary,
    stage.Binary: _binary,
    stage.Inplace: _inplace,
    stage.Compare: _compare,
    stage.Build: _build,
    stage.BuildDict: _build_dict,
    stage.BuildSlice: _build_slice,
    stage.Append: _append,
    stage.Format: _format,
    stage.JoinStrings: _join,
    stage.Unpack: _unpack,
    stage.MakeFunction: _make_function,
    stage.Import: _import,
    stage.MatchTest: _match_test,
    stage.MatchArgs: _match_args,
    stage.If: control_flow.if_,
    stage.While: control_flow.while_,
    stage.For: control_flow.for_,
    stage.Yield: yield_,
    stage.Return: control_flow.return_,
    stage.Raise: control_flow.raise_,
    stage.Try: handling.try_,
    stage.With: handling.with_,
    stage.Break: _not_after_jumps,
    stage.Continue: _not_after_jumps,
}
"""The transfer function of each kind of instruction."""
