"""What each stage instruction does: one small function for each kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, cast

from ..diagnostics.codes_calls import InternalError
from ..diagnostics.codes_constant import TooManyToUnroll
from ..diagnostics.codes_control import HandlerAtRunTime, MaybeNotAssigned, NotAssigned, NotIterable
from ..diagnostics.diagnostic import DiagnosticError, Note
from ..library import operators
from ..stage import ir as stage
from ..values.boundary import Form
from ..values.lattice import (
    FALSE,
    NONE,
    Abstract,
    Array,
    Closure,
    Const,
    DictCell,
    Exc,
    ListCell,
    MaybeUndef,
    Ref,
    SetCell,
    Slice,
    Tuple,
    Undef,
    VariableCell,
)
from . import attributes, objects
from .branches import infer_if
from .constants import UNROLL_LIMIT
from .describe import describe
from .engine import Engine
from .frame import Frame, PythonRaise
from .iteration import Rolled, elements, rolled
from .loops import Loop, infer_loop


def _frame(e: Engine) -> Frame:
    assert e.frame is not None
    return e.frame


# ---------------------------------------------------------------- variables


def _constant(e: Engine, i: stage.Constant) -> None:
    e.put(i.dst, Const(i.value))


def _copy(e: Engine, i: stage.Copy) -> None:
    e.put(i.dst, e.get(i.src))


def _load(e: Engine, i: stage.Load) -> None:
    frame = _frame(e)
    value: Abstract | None
    match i.scope:
        case stage.Scope.LOCAL:
            value = cast("Abstract | None", e.state.slots.get((frame.id, i.name)))
        case stage.Scope.CELL:
            value = cast(VariableCell, e.state.get(frame.cells[i.name])).value
        case stage.Scope.GLOBAL:
            value = _global(e, frame, i.name)
    if value is None or isinstance(value, Undef):
        raise DiagnosticError(NotAssigned(span=i.span, name=i.name))
    if isinstance(value, MaybeUndef):
        if not i.certain and value.runs is not None:
            e.known(value.runs, f"whether the loop assigns {i.name!r}")
        if not i.certain:
            note = Note("not on every path through this is it assigned", value.span)
            raise DiagnosticError(MaybeNotAssigned(span=i.span, name=i.name, notes=(note,)))
        value = value.value
    e.put(i.dst, value)


def _global(e: Engine, frame: Frame, name: str) -> Abstract | None:
    number = e.namespace_number(frame.namespace)
    if number is not None and (number, name) in e.state.slots:
        return cast(Abstract, e.state.get((number, name)))
    return e.externals.global_variable(frame.namespace, name)


def _assign(e: Engine, name: str, scope: stage.Scope, value: Abstract) -> None:
    frame = _frame(e)
    match scope:
        case stage.Scope.LOCAL:
            e.state.set((frame.id, name), value)
        case stage.Scope.CELL:
            e.state.set(frame.cells[name], VariableCell(value))
        case stage.Scope.GLOBAL:
            e.assign_global(frame.namespace, name, value)


def _store(e: Engine, i: stage.Store) -> None:
    _assign(e, i.name, i.scope, cast(Abstract, e.state.slots[(_frame(e).id, i.src)]))


def _delete(e: Engine, i: stage.Delete) -> None:
    _load(e, stage.Load(i.span, "%deleted", i.name, i.scope))
    _assign(e, i.name, i.scope, Undef(i.span))


# ---------------------------------------------------------------- attributes, items, operators


def _get_attr(e: Engine, i: stage.GetAttr) -> None:
    e.put(i.dst, e.getattr(e.get(i.obj), i.attr))


def _set_attr(e: Engine, i: stage.SetAttr) -> None:
    attributes.setattr_(e, e.get(i.obj), i.attr, e.get(i.src))


def _del_attr(e: Engine, i: stage.DelAttr) -> None:
    attributes.delattr_(e, e.get(i.obj), i.attr)


def _get_item(e: Engine, i: stage.GetItem) -> None:
    e.put(i.dst, attributes.getitem(e, e.get(i.obj), e.get(i.index)))


def _set_item(e: Engine, i: stage.SetItem) -> None:
    attributes.setitem(e, e.get(i.obj), e.get(i.index), e.get(i.src))


def _del_item(e: Engine, i: stage.DelItem) -> None:
    attributes.delitem(e, e.get(i.obj), e.get(i.index))


def _unary(e: Engine, i: stage.Unary) -> None:
    value = e.get(i.operand)
    e.put(i.dst, e.negate(value) if i.op == "not" else attributes.unary(e, i.op, value))


def _binary(e: Engine, i: stage.Binary) -> None:
    e.put(i.dst, operators.binary(e, i.op, e.get(i.left), e.get(i.right)))


def _inplace(e: Engine, i: stage.Inplace) -> None:
    e.put(i.dst, attributes.inplace(e, i.op, e.get(i.left), e.get(i.right)))


def _compare(e: Engine, i: stage.Compare) -> None:
    left, right = e.get(i.left), e.get(i.right)
    match i.op:
        case "is" | "is not":
            result = operators.is_(e, left, right)
            e.put(i.dst, e.negate(result) if i.op == "is not" else result)
        case "in" | "not in":
            result = attributes.contains(e, left, right)
            e.put(i.dst, e.negate(result) if i.op == "not in" else result)
        case _:
            e.put(i.dst, e.compare(i.op, left, right))


# ---------------------------------------------------------------- structure


def _spliced(e: Engine, items: tuple[stage.Item, ...]) -> list[Abstract]:
    out: list[Abstract] = []
    for item in items:
        value = e.get(item.value)
        out.extend(listed(e, value) if item.star else [value])
    return out


def listed(e: Engine, value: Abstract) -> list[Abstract]:
    """The elements of an iterable that must have a known structure."""
    found = elements(e, value)
    if found is None:
        whole = attributes.length(e, value)
        e.known(whole, "the number of elements")
        raise DiagnosticError(NotIterable(span=e.b.span, what=describe(value, e.state)))
    return found


def _build(e: Engine, i: stage.Build) -> None:
    items = _spliced(e, i.items)
    match i.kind:
        case stage.Sequence.TUPLE:
            e.put(i.dst, Tuple(tuple(items)))
        case stage.Sequence.LIST:
            e.put(i.dst, e.new_list(items))
        case stage.Sequence.SET:
            members = frozenset([e.known(item, "an element of a set") for item in items])
            e.put(i.dst, Ref(e.state.new_cell(SetCell(members))))


def _build_dict(e: Engine, i: stage.BuildDict) -> None:
    entries: dict[Any, Abstract] = {}
    for key, value in i.entries:
        if key is not None:
            entries[e.known(e.get(key), "a dict key")] = e.get(value)
            continue
        mapping = e.get(value)
        cell = e.cell(mapping) if isinstance(mapping, Ref) else None
        if not isinstance(cell, DictCell):
            e.raise_(TypeError(f"{describe(mapping, e.state)!r} object is not a mapping"))
        entries.update(cell.entries)
    e.put(i.dst, e.new_dict(entries))


def _build_slice(e: Engine, i: stage.BuildSlice) -> None:
    parts = [NONE if t is None else e.get(t) for t in (i.start, i.stop, i.step)]
    e.put(i.dst, Slice(*parts))


def _append(e: Engine, i: stage.Append) -> None:
    target = cast(Ref, e.get(i.target))
    match e.state.get(target.cell):
        case ListCell(items):
            e.state.set(target.cell, ListCell((*items, e.get(i.value))))
        case SetCell(members):
            e.state.set(target.cell, SetCell(members | {e.known(e.get(i.value), "an element of a set")}))
        case DictCell(entries):
            key = e.known(e.get(cast(str, i.key)), "a dict key")
            e.state.set(target.cell, DictCell({**entries, key: e.get(i.value)}))


def _format(e: Engine, i: stage.Format) -> None:
    value = e.known(e.get(i.value), "a value in an f-string")
    spec = "" if i.spec is None else e.known(e.get(i.spec), "a format specification")
    converters: dict[str, Callable[[Any], Any]] = {"": lambda v: v, "r": repr, "s": str, "a": ascii}
    e.put(i.dst, Const(format(converters[i.conversion](value), spec)))


def _join(e: Engine, i: stage.Join) -> None:
    e.put(i.dst, Const("".join([e.known(e.get(p), "a part of an f-string") for p in i.parts])))


def _unpack(e: Engine, i: stage.Unpack) -> None:
    value = e.get(i.src)
    items = listed(e, value)
    count = len(i.dsts)
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
    e.put(i.dsts[i.star], e.new_list(items[i.star : len(items) - after]))
    for dst, item in zip(i.dsts[i.star + 1 :], items[len(items) - after :]):
        e.put(dst, item)


def _make_function(e: Engine, i: stage.MakeFunction) -> None:
    frame = _frame(e)
    cells = tuple([(name, frame.cells[name]) for name in sorted(i.function.free)])
    e.put(
        i.dst,
        Closure(
            i.function,
            frame.namespace,
            frame.module,
            tuple([e.get(d) for d in i.defaults]),
            tuple([(n, e.get(d)) for n, d in i.kw_defaults]),
            cells,
        ),
    )


def _import(e: Engine, i: stage.Import) -> None:
    package = _frame(e).namespace.get("__package__") or ""
    name = "." * i.level + i.module
    try:
        module = importlib.import_module(name, package) if i.level else importlib.import_module(name)
    except ImportError as error:
        e.raise_(error)
    if i.attr:
        e.put(i.dst, e.module_attribute(module, i.attr))
    else:
        e.put(i.dst, Const(module))


def _match_test(e: Engine, i: stage.MatchTest) -> None:
    subject = e.get(i.subject)
    match i.test:
        case stage.Test.CLASS:
            result = e.call(Const(isinstance), [subject, e.get(i.args[0])])
        case stage.Test.SEQUENCE:
            cell = e.state.get(subject.cell) if isinstance(subject, Ref) else None
            items = elements(e, subject) if isinstance(subject, Tuple) or isinstance(cell, ListCell) else None
            fits = items is not None and (len(items) >= i.count if i.at_least else len(items) == i.count)
            result = Const(fits)
        case stage.Test.MAPPING:
            cell = e.cell(subject) if isinstance(subject, Ref) else None
            keys = [e.known(e.get(k), "a key of a pattern") for k in i.args]
            result = Const(isinstance(cell, DictCell) and all(k in cell.entries for k in keys))
    e.put(i.dst, result)


def _match_args(e: Engine, i: stage.MatchArgs) -> None:
    cls = e.known(e.get(i.cls), "the class of a pattern")
    if (
        cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
        and i.position == 0
    ):
        e.put(i.dst, e.get(i.subject))
        return
    names = getattr(cls, "__match_args__", ())
    if i.position >= len(names):
        e.raise_(
            TypeError(
                f"{cls.__name__}() accepts {len(names)} positional sub-patterns ({i.position + 1} given)"
            )
        )
    e.put(i.dst, e.getattr(e.get(i.subject), names[i.position]))


# ---------------------------------------------------------------- calls


def _call(e: Engine, i: stage.Call) -> None:
    function = e.get(i.func)
    args: list[Abstract] = []
    kwargs: dict[str, Abstract] = {}
    for arg in i.args:
        value = e.get(arg.value)
        match arg.kind:
            case stage.ArgKind.POSITIONAL:
                args.append(value)
            case stage.ArgKind.STAR:
                args.extend(listed(e, value))
            case stage.ArgKind.KEYWORD:
                kwargs[arg.name] = value
            case stage.ArgKind.DOUBLE_STAR:
                cell = e.cell(value) if isinstance(value, Ref) else None
                if not isinstance(cell, DictCell):
                    e.raise_(
                        TypeError(f"argument after ** must be a mapping, not {describe(value, e.state)}")
                    )
                kwargs.update(cell.entries)
    e.put(i.dst, e.call(function, args, kwargs))
    e.b.span = i.span


# ---------------------------------------------------------------- control flow


def _if(e: Engine, i: stage.If) -> None:
    frame = _frame(e)
    condition = e.truth(e.get(i.cond))
    if isinstance(condition, Const):
        e.run_block(i.then if condition.value else i.orelse)
        return
    predicate = e.predicate(condition)
    infer_if(e, predicate, frame.id, lambda: e.run_block(i.then), lambda: e.run_block(i.orelse))


def _while(e: Engine, i: stage.While) -> None:
    frame = _frame(e)

    def test() -> Abstract:
        e.run_block(i.test)
        return e.get(i.cond)

    def body() -> None:
        e.body_passes[i] = e.body_passes.get(i, 0) + 1
        e.run_block(i.body)

    if i in e.unrolled:
        for _ in range(UNROLL_LIMIT):
            condition = e.truth(test())
            if not isinstance(condition, Const):
                break
            if not condition.value:
                return
            body()
        raise DiagnosticError(TooManyToUnroll(span=i.span, trips=UNROLL_LIMIT + 1, limit=UNROLL_LIMIT))
    infer_loop(e, Loop(test, body, frame.id, instruction=i, trips=None))


def _for(e: Engine, i: stage.For) -> None:
    iterable = e.get(i.iterable)
    method = objects.special_method(e, iterable, "__iter__")
    if method is not None:
        iterable = e.call(method, [])
    parts = None if i in e.unrolled else rolled(e, iterable)
    if parts is None:
        _unrolled_for(e, i, iterable)
    else:
        _rolled_for(e, i, parts)


def _rolled_for(e: Engine, i: stage.For, parts: Rolled) -> None:
    frame = _frame(e)
    length = parts.length
    trips = length.value if isinstance(length, Const) else None
    if trips == 0:
        return
    counter = (frame.id, f".index{id(i)}")
    outer = e.state.slots.get(counter)
    e.state.set(counter, Const(0))

    def test() -> Abstract:
        position = cast(Abstract, e.state.get(counter))
        more = operators.compare(e, "<", position, length)
        if i.until is None:
            return more
        flag = cast(Abstract, e.state.get((frame.id, i.until)))
        if isinstance(flag, Const):
            return FALSE if flag.value else more
        if isinstance(more, Const):
            return e.negate(flag) if more.value else FALSE
        return operators.binary(e, "&", more, e.negate(flag))

    def body() -> None:
        e.body_passes[i] = e.body_passes.get(i, 0) + 1
        position = cast(Abstract, e.state.get(counter))
        if isinstance(position, Array):
            position = Array(position.value, Form.PYTHON, lower=0, upper=None if trips is None else trips - 1)
        e.put(i.target, parts.element(position))
        e.run_block(i.body)
        e.state.set(counter, operators.binary(e, "+", position, Const(1)))

    infer_loop(e, Loop(test, body, frame.id, instruction=i, trips=trips, certain=bool(trips), runs=length))
    e.state.set(counter, cast(Abstract, outer) if outer is not None else Undef())


def _unrolled_for(e: Engine, i: stage.For, iterable: Abstract) -> None:
    frame = _frame(e)
    is_list = isinstance(iterable, Ref) and isinstance(e.state.get(iterable.cell), ListCell)
    found = elements(e, iterable)
    if found is None:
        whole = attributes.length(e, iterable)
        e.known(whole, "the number of trips of this loop")
        raise DiagnosticError(NotIterable(span=i.span, what=describe(iterable, e.state)))
    if len(found) > UNROLL_LIMIT:
        raise DiagnosticError(TooManyToUnroll(span=i.span, trips=len(found), limit=UNROLL_LIMIT))

    def trip(item: Abstract) -> None:
        e.b.span = i.span
        e.put(i.target, item)
        e.run_block(i.body)

    position = 0
    while position < len(found):
        flag = cast(Abstract, e.state.get((frame.id, i.until))) if i.until is not None else FALSE
        item = found[position]
        position += 1
        if isinstance(flag, Const):
            if flag.value:
                return
            trip(item)
        else:
            going = e.predicate(e.negate(flag))
            infer_if(e, going, frame.id, lambda: trip(item), lambda: None)  # noqa: B023 (run at once)
        if is_list:
            cell = e.state.get(cast(Ref, iterable).cell)
            found = list(cell.items) if isinstance(cell, ListCell) else found


def _return(e: Engine, i: stage.Return) -> None:
    frame = _frame(e)
    e.state.set((frame.id, "%return"), cast(Abstract, e.state.slots[(frame.id, i.value)]))


# ---------------------------------------------------------------- exceptions


def exception_of(e: Engine, value: Abstract) -> BaseException:
    """The exception that `raise value` raises."""
    if isinstance(value, Const) and isinstance(value.value, type) and issubclass(value.value, BaseException):
        return value.value()
    if isinstance(value, Const) and isinstance(value.value, BaseException):
        return value.value
    if isinstance(value, Exc):
        return value.cls(*[e.known(a, "an argument of an exception") for a in value.args])
    e.raise_(TypeError("exceptions must derive from BaseException"))


def _raise(e: Engine, i: stage.Raise) -> None:
    if i.exc is None:
        handled = _frame(e).handled
        if not handled:
            e.raise_(RuntimeError("No active exception to reraise"))
        raise PythonRaise(exception_of(e, handled[-1]), i.span)
    exception = exception_of(e, e.get(i.exc))
    if i.cause is not None:
        cause = e.get(i.cause)
        exception.__cause__ = None if cause is NONE or cause == NONE else exception_of(e, cause)
    raise PythonRaise(exception, i.span)


def _try(e: Engine, i: stage.Try) -> None:
    frame = e.frame
    depth = e.b.depth
    try:
        try:
            e.run_block(i.body)
        except PythonRaise as error:
            if e.b.depth != depth:
                raise
            e.frame = frame
            _handle(e, i, error)
        else:
            e.run_block(i.orelse)
    except PythonRaise:
        e.frame = frame
        e.run_block(i.final)
        raise
    e.run_block(i.final)


def _handle(e: Engine, i: stage.Try, error: PythonRaise) -> None:
    for handler in i.handlers:
        e.run_block(handler.test)
        if handler.kind is not None:
            kinds = e.known(e.get(handler.kind), "the exception that is caught")
            if not isinstance(error.exception, kinds):
                continue
        caught = Exc(type(error.exception), tuple([e.constant_object(a) for a in error.exception.args]))
        e.put(handler.target, caught)
        _frame(e).handled.append(caught)
        try:
            e.run_block(handler.body)
        finally:
            _frame(e).handled.pop()
        return
    raise error


_SETTINGS = ("errstate", "nullcontext", "ExtendNameStackContextManager", "StateContextManager")
"""Context managers of NumPy, JAX and Python that set what the compiler reads, for the time of the block."""


def _with(e: Engine, i: stage.With) -> None:
    manager = e.get(i.manager)
    enter = objects.special_method(e, manager, "__enter__")
    leave = objects.special_method(e, manager, "__exit__")
    if enter is not None and leave is not None:
        e.put(i.entered, e.call(enter, []))
        try:
            e.run_block(i.body)
        except PythonRaise as error:
            caught = Exc(type(error.exception), tuple([e.constant_object(a) for a in error.exception.args]))
            swallowed = e.truth(e.call(leave, [Const(type(error.exception)), caught, NONE]))
            if not isinstance(swallowed, Const) or not swallowed.value:
                raise
            return
        e.call(leave, [NONE, NONE, NONE])
        return
    if isinstance(manager, Const) and type(manager.value).__qualname__ in _SETTINGS:
        with manager.value as entered, e.settings():
            e.put(i.entered, e.constant_object(entered))
            e.run_block(i.body)
        return
    raise DiagnosticError(HandlerAtRunTime(span=i.span, what=f"`with` on {describe(manager, e.state)}"))


def _not_after_jumps(e: Engine, i: stage.Instr) -> None:
    raise DiagnosticError(InternalError(span=i.span, text=f"{type(i).__name__} is left after jumps.py"))


Engine.handlers = {
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
    stage.Join: _join,
    stage.Unpack: _unpack,
    stage.MakeFunction: _make_function,
    stage.Import: _import,
    stage.MatchTest: _match_test,
    stage.MatchArgs: _match_args,
    stage.If: _if,
    stage.While: _while,
    stage.For: _for,
    stage.Return: _return,
    stage.Raise: _raise,
    stage.Try: _try,
    stage.With: _with,
    stage.Break: _not_after_jumps,
    stage.Continue: _not_after_jumps,
}
