"""Exceptions whose class has an `__init__` written in Python: what attributes it gives them, and what else it does.

The host makes an exception when it leaves the program, by calling its class. So inference runs the `__init__` on an object
that stands for it: to find the attributes that a handler asks for, and to refuse what changes or prints anything else,
which would not happen where the program itself catches the exception.
"""

from __future__ import annotations

import contextlib
import types
from typing import TYPE_CHECKING

from ..diagnostics.codes_control import HandlerAtRunTime
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Region
from ..values.lattice import Abstract, Exc, ObjectCell, Ref
from ..values.state import ERROR
from . import objects
from .frame import PythonRaise

if TYPE_CHECKING:
    from .engine import Engine


def made(engine: Engine, exception: Exc) -> Exc:
    """The exception, as it is made; PS308 if its `__init__` changes something else."""
    if not _is_initialised(exception):
        return exception
    with engine.state.fork() as changes, engine.b.region(Region()), engine.under_condition():
        ref = _object(engine, exception)
    slots = engine.state.slots
    lasting = [s for s in changes if s in slots and s not in (ref.cell, ERROR)]
    if any(isinstance(slot, int) or slot[0] < 0 for slot in lasting):
        what = f"an `__init__` that changes or prints something else (of `{exception.cls.__name__}`)"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    return exception


def attribute(engine: Engine, exception: Exc, name: str) -> Abstract | None:
    """An attribute that the `__init__` of the exception's class gives it; None if it gives it none."""
    if not _is_initialised(exception):
        return None
    cell = engine.state.get(_object(engine, exception).cell)
    return cell.fields.get(name) if isinstance(cell, ObjectCell) else None


def _is_initialised(exception: Exc) -> bool:
    return isinstance(objects.lookup_class(exception.cls, "__init__"), types.FunctionType)


def _object(engine: Engine, exception: Exc) -> Ref:
    """An object with the attributes that the exception has, as far as they can be inferred."""
    ref = Ref(engine.state.new_cell(ObjectCell(exception.cls, {})))
    frame, span, mark = engine.frame, engine.b.span, engine.mark_errors()
    with contextlib.suppress(DiagnosticError, PythonRaise):
        objects.initialise(engine, exception.cls, ref, exception.args, dict(exception.kwargs))
    engine.frame, engine.b.span = frame, span
    engine.forget_errors(mark)
    return ref
