"""`error.add_note(…)` in the handler of `error`: raises the handled exception again, with the note.

The host constructs an exception when it leaves the program. So a note is a raise site of its own, at which the caught
exception is constructed and the note added. What is raised afterwards has that one as its context.
"""

from __future__ import annotations

from ...diagnostics.codes_control import HandlerAtRunTime
from ...diagnostics.diagnostic import DiagnosticError
from ...library.python.strings import is_string
from ...values.boundary import CallTemplate, Form, Site
from ...values.exceptions import ExceptionBuilder
from ...values.host_functions import noted
from ...values.lattice import NONE, Abstract, Array, Caught, Cell, ErrorCell
from ...values.sites import contexts
from ...values.state import ERROR
from ...values.walk import values_of
from ..core.engine import Engine
from ..results.exits import Exit
from ..state.raises import Instance
from .raising import chain_of, error_of, exception_template, keys_of, number


def add_note(engine: Engine, caught: Caught, note: Abstract) -> Abstract:
    """Adds a note to the exception being handled; PS308 in a branch, and for exceptions of several classes."""
    frame = engine.current
    handled = frame.handled[-1] if frame.handled else None
    here = isinstance(handled, Caught) and _code(handled) is _code(caught)
    if not here or frame.depths[-1] != engine.state.depth or len(caught.classes) != 1 or not is_string(note):
        what = "`add_note` elsewhere than in the handler itself, or of an exception of several classes,"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    made = _with_note(engine, caught, note)
    _replace(engine, caught, made)
    frame.handled = (*frame.handled[:-1], made)
    return NONE


def _with_note(engine: Engine, caught: Caught, note: Abstract) -> Caught:
    """The exception with the note, which is being handled from here on."""
    leaving = Exit(engine)
    template = CallTemplate(noted, (exception_template(leaving, caught), leaving.template(note)))
    keys = keys_of(leaving.results)
    (cls,) = caught.classes
    own = engine.raises.sites.add(Site(cls, template, keys, engine.b.span, chain_of(engine), again=True))
    if caught.exception is not None:
        engine.raises.instances[own] = Instance(caught.exception, tuple(leaving.results), keys)
    cell = error_of(engine)
    payload = {**contexts(cell.payload), **dict(zip(keys, leaving.results, strict=True))}
    code = number(engine, own)
    handled = engine.raises.sites.handle(tuple(payload))
    held = {key: payload[given] for given, key in handled.values}
    engine.state.set(
        ERROR, ErrorCell(cell.code, {**cell.payload, **held, handled.number: code}, cell.versions)
    )
    engine.current.noted += ((engine.raises.sites.next, handled),)
    values = [Array(value, Form.NDARRAY) for value in payload.values()]
    remake = ExceptionBuilder(tuple(payload), engine.raises.sites.find)
    return Caught(remake, (Array(code, Form.PYTHON), *values), frozenset([(own, own, cls)]), caught.exception)


def _replace(engine: Engine, caught: Caught, made: Caught) -> None:
    """All variables that hold the exception hold the one with the note; PS308 if something else does."""
    code = _code(caught)
    for slot, content in list(engine.state.slots.items()):
        if slot == ERROR or not isinstance(content, Abstract | Cell):
            continue
        if isinstance(content, Caught) and _code(content) is code:
            engine.state.set(slot, made)
        elif any(value is code for value in values_of(content)):
            what = "`add_note` of an exception that a container holds"
            raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))


def _code(caught: Caught) -> object:
    """The number of the site, by which exceptions are distinguished."""
    code = caught.values[0]
    assert isinstance(code, Array)
    return code.value
