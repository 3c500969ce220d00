"""What the instructions of control flow do: branches, loops, exceptions, context managers."""

from __future__ import annotations

from typing import cast

from ..diagnostics.codes_constant import TooManyToUnroll
from ..diagnostics.codes_control import HandlerAtRunTime, NotIterable
from ..diagnostics.diagnostic import DiagnosticError
from ..library import operators
from ..stage import ir as stage
from ..values.boundary import Form
from ..values.lattice import (
    FALSE,
    NONE,
    Abstract,
    Array,
    Const,
    Exc,
    ListCell,
    Ref,
    Undef,
)
from . import attributes, objects
from .branches import infer_if
from .constants import UNROLL_LIMIT
from .describe import describe
from .engine import Engine
from .frame import PythonRaise
from .iteration import Rolled, elements, rolled
from .loops import Loop, infer_loop

# ---------------------------------------------------------------- control flow


def if_(e: Engine, i: stage.If) -> None:
    frame = e.current
    condition = e.truth(e.get(i.cond))
    if isinstance(condition, Const):
        e.run_block(i.then if condition.value else i.orelse)
        return
    predicate = e.predicate(condition)
    infer_if(e, predicate, frame.id, lambda: e.run_block(i.then), lambda: e.run_block(i.orelse))


def while_(e: Engine, i: stage.While) -> None:
    frame = e.current

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


def for_(e: Engine, i: stage.For) -> None:
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
    frame = e.current
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
    frame = e.current
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


def return_(e: Engine, i: stage.Return) -> None:
    frame = e.current
    e.state.set((frame.id, "%return"), e.peek(i.value))


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


def raise_(e: Engine, i: stage.Raise) -> None:
    if i.exc is None:
        handled = e.current.handled
        if not handled:
            e.raise_(RuntimeError("No active exception to reraise"))
        raise PythonRaise(exception_of(e, handled[-1]), i.span)
    exception = exception_of(e, e.get(i.exc))
    if i.cause is not None:
        cause = e.get(i.cause)
        exception.__cause__ = None if cause is NONE or cause == NONE else exception_of(e, cause)
    raise PythonRaise(exception, i.span)


def try_(e: Engine, i: stage.Try) -> None:
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
        e.current.handled.append(caught)
        try:
            e.run_block(handler.body)
        finally:
            e.current.handled.pop()
        return
    raise error


_SETTINGS = ("errstate", "nullcontext", "ExtendNameStackContextManager", "StateContextManager")
"""Context managers of NumPy, JAX and Python that set what the compiler reads, for the time of the block."""


def with_(e: Engine, i: stage.With) -> None:
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
