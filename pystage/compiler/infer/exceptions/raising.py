"""Raising: the error cell, and the observable state of a program that has raised.

In: a raise site, and the condition under which it raises. Out: the error cell with the number of the site and the values
of its exception. The program goes on, with values that mean nothing; it must only not change anything that is observable
after the raise. So a store into an array of the caller's is masked (`Context.store_mask`), and of every other observable
slot the contents at the time of the raise are kept as a version of the error cell (`write`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from ....records import dataclass
from ...diagnostics.codes_control import HandlerAtRunTime, RaiseAtRunTime
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.span import Span
from ...hlo.ir import Region, Value
from ...hlo.types import INT32, ArrayType
from ...library.context import ExceptionCase
from ...library.rules.classes import class_of
from ...ops import Add, And, Compare, Or, Select, constant
from ...values.boundary import CallTemplate, ConstantTemplate, Form, Site, Template
from ...values.capacity import Capacity, CapacityExceeded
from ...values.exceptions import PayloadKey
from ...values.host_functions import caused, copied
from ...values.lattice import Abstract, Array, Caught, Cell, Const, ErrorCell, Exc, Version
from ...values.slots import Slot, is_temporary_name
from ...values.state import ERROR, NOT_YET, WITHOUT_CELLS, Content
from ...values.walk import cells_of, values_of
from ..core.engine import Engine
from ..results.exits import Exit
from ..state.frame import PythonRaise
from ..state.phi import zeros
from ..state.raises import Instance, TryBody


def error_of(engine: Engine) -> ErrorCell:
    """The present error cell."""
    return cast(ErrorCell, engine.state.slots[ERROR])


def number(engine: Engine, value: int) -> Value:
    """A code as a value of the program."""
    return constant(engine.b, value, INT32)


def code_value(engine: Engine, code: int | Value) -> Value:
    """The code of an error cell as a value of the program."""
    return number(engine, code) if isinstance(code, int) else code


def has_raised(engine: Engine) -> Value | None:
    """Whether the program has raised, as a bool of the program; None if it certainly has not."""
    code = error_of(engine).code
    if isinstance(code, int) and not code:
        return None
    return engine.b.op(Compare("NE"), code_value(engine, code), number(engine, 0))


def is_running(engine: Engine) -> Value | None:
    """Whether the program has not raised, as a bool of the program; None if it certainly has not."""
    code = error_of(engine).code
    if isinstance(code, int) and not code:
        return None
    return engine.b.op(Compare("EQ"), code_value(engine, code), number(engine, 0))


def chain_of(engine: Engine, inside: bool = False) -> tuple[Span, ...]:
    """The locations of the calls that led here, innermost first; `inside`: into what is called here."""
    found: list[Span] = []
    frame = engine.frame
    if inside and frame is not None:
        assert engine.b.span is not None
        found.append(engine.b.span)
    while frame is not None and frame.caller is not None:
        assert frame.call is not None
        found.append(frame.call)
        frame = frame.caller
    return tuple(found)


# ---------------------------------------------------------------- raising


@dataclass(frozen=True, slots=True)
class Raising:
    """A raise of an exception of class `cls`, if `bad` holds (None: in all other cases).

    `exception` makes the template of a call that raises it, or gives it; `fallback` is raised if it does neither.
    `instance`: the exception itself, where staged code has made it. `again`: it is the one that is being handled.
    """

    cls: type[BaseException]
    exception: Callable[[Exit], Template]
    bad: Value | None = None
    fallback: BaseException | None = None
    instance: Abstract | None = None
    again: bool = False


def record(engine: Engine, cases: Sequence[Raising], bad: Value | None = None) -> None:
    """Records that the program has raised here, by the first of the cases, if `bad` holds (None: certainly), unless it has
    before.
    """
    cell = error_of(engine)
    if isinstance(cell.code, int) and cell.code:
        return
    b = engine.b
    site, payload = _choice(engine, cases)
    free = is_running(engine)
    code: int | Value
    if free is not None:
        hit = free if bad is None else b.op(And(), free, bad)
        code = b.op(Select(), hit, code_value(engine, site), code_value(engine, cell.code))
        payload = merged_payload(engine, free, payload, cell.payload)
    else:
        code = site if bad is None else b.op(Select(), bad, code_value(engine, site), number(engine, 0))
        payload = {**cell.payload, **payload}
    engine.state.set(ERROR, ErrorCell(code, payload, cell.versions))


def _choice(engine: Engine, cases: Sequence[Raising]) -> tuple[int | Value, dict[PayloadKey, Value]]:
    """The number of the first case whose condition holds, and the values for its message."""
    site: int | Value = 0
    payload: dict[PayloadKey, Value] = {}
    for case in reversed(cases):
        leaving = Exit(engine)
        template = case.exception(leaving)
        keys = keys_of(leaving.results)
        place = Site(
            case.cls, template, keys, engine.b.span, chain_of(engine), case.fallback, again=case.again
        )
        own = engine.raises.sites.add(place)
        if case.instance is not None:
            engine.raises.instances[own] = Instance(case.instance, tuple(leaving.results), keys)
        values = dict(zip(keys, leaving.results, strict=True))
        if case.bad is None or not site:
            site, payload = own, values
        else:
            site = engine.b.op(Select(), case.bad, number(engine, own), code_value(engine, site))
            payload = merged_payload(engine, case.bad, values, payload)
    return site, payload


def merged_payload(
    engine: Engine, free: Value, new: dict[PayloadKey, Value], old: dict[PayloadKey, Value]
) -> dict[PayloadKey, Value]:
    """The values for messages: the new ones under `free`, that is, where the program has not raised before."""
    payload = {**old, **new}
    for key in new.keys() & old.keys():
        if new[key] is not old[key]:
            payload[key] = engine.b.op(Select(), free, new[key], old[key])
    return dict(sorted(payload.items(), key=lambda item: _order(item[0])))


@functools.lru_cache(maxsize=4096)
def _order(key: PayloadKey) -> str:
    """A text to sort payloads by."""
    return str(key)


def keys_of(values: Sequence[Value]) -> tuple[PayloadKey, ...]:
    """The keys of the n-th value of each type."""
    counts: dict[object, int] = {}
    keys: list[PayloadKey] = []
    for value in values:
        position = counts[value.type] = counts.get(value.type, -1) + 1
        keys.append((value.type, position))
    return tuple(keys)


def exception_template(leaving: Exit, exception: Abstract) -> Template:
    """The template of an exception, which the runtime makes; PS304 where it cannot."""
    try:
        return leaving.template(exception)
    except DiagnosticError as error:
        text = exception.cls.__name__ if isinstance(exception, Exc) else "the exception"
        reason = RaiseAtRunTime(span=leaving.engine.b.span, exception=text, why=error.diagnostic.headline)
        raise DiagnosticError(reason) from None


def call_template(function: Callable[..., Any], args: Sequence[Any]) -> Callable[[Exit], Template]:
    """The template of `function(*args)`, of abstract values and plain objects."""

    def make(leaving: Exit) -> Template:
        return CallTemplate(
            function, tuple([leaving.template(leaving.engine.constant_object(a)) for a in args])
        )

    return make


def check(
    engine: Engine,
    bad: Value | None,
    fallback: BaseException,
    function: Callable[..., Any],
    args: Sequence[Any],
) -> None:
    """See `Context.check`."""
    if bad is not None and engine.intervals.decides(bad) is False:
        return
    if bad is None:
        raise raise_called(engine, fallback, function, args)
    record(engine, [Raising(type(fallback), call_template(function, args), None, fallback)], bad)


def raise_called(
    engine: Engine, fallback: BaseException, function: Callable[..., Any], args: Sequence[Any]
) -> PythonRaise:
    """Makes the program raise what `function(*args)` raises; gives what to raise, as `raise_now` does."""
    before = error_of(engine).code
    record(engine, [Raising(type(fallback), call_template(function, args), None, fallback)])
    return PythonRaise(None, engine.state.depth, before)


def check_first(engine: Engine, bad: Value, cases: Sequence[ExceptionCase]) -> None:
    """See `Context.check_first`."""
    if engine.intervals.decides(bad) is not False:
        made = [
            Raising(type(c.fallback), call_template(c.function, c.args), c.bad, c.fallback) for c in cases
        ]
        record(engine, made, bad)


def needs_capacity(engine: Engine, capacity: Capacity, needed: Value) -> None:
    """See `Context.needs_capacity`."""
    size = constant(engine.b, capacity.size, needed.type.dtype)
    outgrown = engine.b.op(Compare("GT"), needed, size)
    if engine.intervals.decides(outgrown) is False:
        return

    def template(leaving: Exit) -> Template:
        return CallTemplate(
            CapacityExceeded, (ConstantTemplate(capacity), leaving.template(Array(needed, Form.PYTHON)))
        )

    record(engine, [Raising(CapacityExceeded, template)], outgrown)


def raise_now(engine: Engine, exception: Abstract) -> PythonRaise:
    """Makes the program raise `exception` here; gives what to raise in inference to leave what cannot run any more."""
    before = error_of(engine).code
    if isinstance(exception, Caught):
        _record_again(engine, exception)
        return PythonRaise(exception if exception.exception else None, engine.state.depth, before)
    (cls,) = class_of(engine, exception)
    made = Raising(cls, lambda leaving: exception_template(leaving, exception), instance=exception)
    record(engine, [made])
    return PythonRaise(exception, engine.state.depth, before)


def raise_new(engine: Engine, exception: BaseException) -> PythonRaise:
    """Makes the program raise a new exception of the library each time; gives what to raise, as `raise_now` does."""
    if engine.trail is not None and engine.frame is not None:
        engine.trail.note_operands(engine.frame)
    before, instance = error_of(engine).code, Const(exception)
    made = Raising(
        type(exception),
        lambda leaving: CallTemplate(copied, (ConstantTemplate(exception),)),
        instance=instance,
    )
    record(engine, [made])
    return PythonRaise(instance, engine.state.depth, before)


def raise_from(engine: Engine, caught: Caught, cause: Abstract) -> PythonRaise:
    """Makes the program raise a caught exception again, from `cause`; PS308 if its class is one of several."""
    if len(caught.classes) != 1:
        what = "`raise … from …` of an exception whose class depends on the path"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    (cls,), own = caught.classes, caught.exception
    instance = replace(own, cause=cause) if isinstance(own, Exc) else None

    def template(leaving: Exit) -> Template:
        parts = exception_template(leaving, caught), exception_template(leaving, cause)
        return CallTemplate(caused, parts, (), engine.state.cell_number())

    before = error_of(engine).code
    record(engine, [Raising(cls, template, instance=instance, again=True)])
    return PythonRaise(instance, engine.state.depth, before)


def _record_again(engine: Engine, caught: Caught) -> None:
    """Records that the program raises a caught exception again, unless it has raised before."""
    cell = error_of(engine)
    if isinstance(cell.code, int) and cell.code:
        return
    code, *values = [cast(Array, v).value for v in caught.values]
    payload = dict(zip(caught.remake.keys, values, strict=True))
    free = is_running(engine)
    if free is not None:
        code = engine.b.op(Select(), free, code, code_value(engine, cell.code))
        payload = merged_payload(engine, free, payload, cell.payload)
    else:
        payload = {**cell.payload, **payload}
    engine.state.set(ERROR, ErrorCell(code, payload, cell.versions))


def attempt(engine: Engine, run: Callable[[], object]) -> PythonRaise | None:
    """Infers something; gives the exception by which it certainly ends, which the error cell then holds."""
    try:
        run()
    except PythonRaise as error:
        if error.depth != engine.state.depth:  # it was raised where nothing of what was inferred stays
            return raise_again(engine, error)
        return error
    return None


def catches(engine: Engine, exceptions: type[BaseException], error: PythonRaise, before: ErrorCell) -> bool:
    """True if a handler of these classes certainly catches what is raised; the code was that of `before`."""
    if error.exception is None or error.before is not before.code:
        return False
    return issubclass(class_of(engine, error.exception)[0], exceptions)


def raise_again(engine: Engine, error: PythonRaise) -> PythonRaise:
    """Raises the same exception here, if it is known."""
    exception = error.exception
    if exception is None or values_of(exception):
        name = exception.cls.__name__ if isinstance(exception, Exc) else "an exception"
        why = "it leaves a function that JAX traces"
        raise DiagnosticError(RaiseAtRunTime(span=engine.b.span, exception=name, why=why))
    return raise_now(engine, exception)


# ---------------------------------------------------------------- what is seen after a raise


def _is_outside(engine: Engine, slot: Slot) -> bool:
    """True if the caller sees the contents of `slot`."""
    if isinstance(slot, tuple):
        return slot[0] < 0
    return slot in engine.externals.initial or slot in engine.raises.exposed


def is_observable(engine: Engine, slot: Slot) -> bool:
    """True if the caller or a handler sees the contents of `slot` after the program has raised."""
    bodies = engine.raises.bodies
    if isinstance(slot, tuple):
        frame, name = slot
        return frame < 0 or (any(body.frame == frame for body in bodies) and not is_temporary_name(name))
    outside = _is_outside(engine, slot)
    engine.callees.note_observed(slot, outside, bodies)
    return outside or any(slot in body.cells for body in bodies)


@contextmanager
def guarding(engine: Engine) -> Iterator[None]:
    """Infers the body of a `try`; what holds only while it has not raised does not hold after it."""
    cells: set[Slot] = {slot for slot in engine.state.slots if isinstance(slot, int) and slot > 0}
    engine.raises.bodies.append(TryBody(engine.current.id, cells))
    try:
        with engine.intervals.knowing({}):
            yield
    finally:
        engine.raises.bodies.pop()


def write(engine: Engine, slot: Slot, content: Content, masked: bool = False) -> None:
    """Changes what is no array: a list, an attribute, a shared variable. `masked`: it is the same after a raise."""
    state = engine.state
    if not is_observable(engine, slot):
        state.set(slot, content)
        return
    expose(engine, slot, content)
    condition = None if masked else has_raised(engine)
    if condition is not None:
        cell = error_of(engine)
        if not any(v.slot == slot and v.condition is condition for v in cell.versions):
            version = Version(slot, condition, state.slots.get(slot, NOT_YET))
            state.set(ERROR, replace(cell, versions=(*cell.versions, version)))
    state.set(slot, content)


def expose(engine: Engine, slot: Slot, content: Content) -> None:
    """Marks what `content` reaches as visible to all who see `slot`."""
    if isinstance(content, Abstract | Cell) and cells_of(content):
        seen = engine.raises.exposed if _is_outside(engine, slot) else engine.raises.bodies[-1].cells
        seen.update(engine.state.reachable([content]))


def expose_all(engine: Engine, slots: Iterable[Slot]) -> None:
    """Marks what joined `slots` refer to as visible to all who see them: it may be merged cells, which are new."""
    for slot in slots:
        content = engine.state.slots[slot]
        if type(content) not in WITHOUT_CELLS and is_observable(engine, slot):
            expose(engine, slot, content)


def merge_error(engine: Engine, left: ErrorCell, shift: int) -> None:
    """Merges the error of a callee, which was given the error before it and left `left`.

    `shift` is added to the numbers of the callee's own places.
    """
    b, before = engine.b, error_of(engine)
    free = is_running(engine)
    code, payload = left.code, left.payload
    if shift and isinstance(code, int):
        code += shift if code else 0
    elif shift:
        raised = b.op(Compare("NE"), code_value(engine, code), number(engine, 0))
        own = raised if free is None else b.op(And(), free, raised)
        moved = b.op(Add(), code_value(engine, code), number(engine, shift))
        code = b.op(Select(), own, moved, code_value(engine, code))
    if free is not None:
        payload = merged_payload(engine, free, payload, before.payload)
    else:
        payload = {**before.payload, **payload}
    engine.state.set(ERROR, ErrorCell(code, payload, (*before.versions, *left.versions)))


# ---------------------------------------------------------------- loops


def carry_error(
    engine: Engine, cond: Region, body: Region, tested: ErrorCell, end: ErrorCell, initial: list[Value]
) -> list[PayloadKey] | None:
    """Makes a finished loop stop once the program has raised, and carry the error if it can raise itself.

    `tested` and `end` are the error cell after the test and after the body, which begin without an error;
    `initial` gets what is carried. Gives the keys of the carried payload, None if nothing is carried.
    """
    b, before = engine.b, error_of(engine)
    if end.code == 0 and tested.code == 0:
        running = is_running(engine)
        if running is not None:
            with b.region(cond):
                cond.results = (b.op(And(), running, cond.results[0]),)
        return None
    keys = sorted(before.payload.keys() | end.payload.keys(), key=str)
    code = cond.add_param(ArrayType(INT32))
    body.add_param(code.type)
    with b.region(cond):
        # What the test raises, the body raises again: it begins with the same test.
        goes_on = cond.results[0]
        if tested.code != 0:
            failed = b.op(Compare("NE"), code_value(engine, tested.code), number(engine, 0))
            goes_on = b.op(Or(), failed, goes_on)
        running = b.op(Compare("EQ"), code, number(engine, 0))
        cond.results = (b.op(And(), running, goes_on),)
    given = [cond.add_param(type) and body.add_param(type) for type, _ in keys]
    with b.region(body):
        values = [end.payload.get(key, param) for key, param in zip(keys, given, strict=True)]
        body.results = (*body.results, code_value(engine, end.code), *values)
    initial.append(code_value(engine, before.code))
    initial += [before.payload.get(key) or zeros(b, key[0]) for key in keys]
    return keys
