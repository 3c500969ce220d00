"""Exceptions whose class has an `__init__` written in Python: what attributes it gives them, and what else it does.

The host makes an exception when it leaves the program, by calling its class. So inference runs the `__init__` on an object
that stands for it: to find the attributes that a handler asks for, to raise what it raises, and to refuse what changes
or prints anything else, which would not happen where the program itself catches the exception. Each question runs it
again, so attributes that are objects, which it would make anew, are refused too.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from ..diagnostics.codes_control import HandlerAtRunTime
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Region
from ..values.lattice import Abstract, Exc, ObjectCell, Ref, Tuple
from ..values.state import ERROR
from ..values.traverse import cells_of
from . import objects
from .frame import PythonRaise
from .raising import error_of

if TYPE_CHECKING:
    from .engine import Engine


def made(engine: Engine, exception: Exc) -> Exc:
    """The exception, as it is made; raises what its `__init__` raises, and PS308 if that changes something else."""
    if not is_initialised(exception):
        return exception
    with engine.state.fork() as changes, engine.b.region(Region()), engine.under_condition():
        before = error_of(engine).code
        ref, raised = _object(engine, exception)
        raised = raised or error_of(engine).code is not before
    slots = engine.state.slots
    lasting = [s for s in changes if s in slots and s not in (ref.cell, ERROR)]
    if any(isinstance(slot, int) or slot[0] < 0 for slot in lasting):
        what = f"an `__init__` that changes or prints something else (of `{exception.cls.__name__}`)"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    if raised:
        _initialise(engine, exception, _instance(engine, exception))
    return exception


def attribute(engine: Engine, exception: Exc, name: str) -> Abstract | None:
    """An attribute that making the exception gives it; None if it is not known, or an object, which is made only once."""
    if _world_changed(engine):
        return None
    cell = engine.state.get(_object(engine, exception)[0].cell)
    found = cell.fields.get(name) if isinstance(cell, ObjectCell) else None
    return None if found is None or cells_of(found) else found


def _world_changed(engine: Engine) -> bool:
    """True if the program has changed what it captured: its `__init__` may have read what was there before."""
    initial, slots = engine.externals.initial, engine.state.slots
    changed = any(slots.get(cell) is not initial[cell][1] for cell in engine.externals.captured)
    return changed or bool(engine.written_globals())


def is_initialised(exception: Exc) -> bool:
    """True if the exception's class has an `__init__` written in Python."""
    return isinstance(objects.lookup_class(exception.cls, "__init__"), types.FunctionType)


def _object(engine: Engine, exception: Exc) -> tuple[Ref, bool]:
    """An object with the attributes that the exception has, as far as they can be inferred; whether making it raises."""
    frame, span, mark = engine.frame, engine.b.span, engine.mark_errors()
    raised = False
    ref = _instance(engine, exception)
    try:
        _initialise(engine, exception, ref)
    except PythonRaise:
        raised = True
    except DiagnosticError:
        pass
    engine.frame, engine.b.span = frame, span
    engine.forget_errors(mark)
    return ref, raised


def _instance(engine: Engine, exception: Exc) -> Ref:
    """What `__new__` gives: `args`, which `BaseException.__init__` sets again."""
    return Ref(engine.state.new_cell(ObjectCell(exception.cls, {"args": Tuple(exception.args)})))


def _initialise(engine: Engine, exception: Exc, ref: Ref) -> None:
    objects.initialise(engine, exception.cls, ref, exception.args, dict(exception.kwargs))
