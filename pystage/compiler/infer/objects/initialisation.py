"""Exceptions whose class has an `__init__` written in Python: the attributes that it sets, and its other effects.

The host constructs an exception when it leaves the program, by calling its class. So inference runs the `__init__` on a
stand-in object: to find the attributes that a handler reads, to raise what it raises, and to refuse side effects, which
would not happen where the program itself catches the exception. Each read runs it again, so attributes that are objects,
which would be new ones each time, are refused too.
"""

from __future__ import annotations

import types
from dataclasses import replace

from ...diagnostics.codes_control import HandlerAtRunTime
from ...diagnostics.diagnostic import DiagnosticError
from ...values.lattice import Abstract, Exc, ObjectCell, Ref, Tuple
from ...values.state import ERROR
from ...values.walk import cells_of
from ..core.engine import Engine
from ..exceptions.raising import error_of
from ..state import classes
from ..state.frame import PythonRaise
from ..state.speculate import SpeculationBlock, speculate
from . import objects


def initialised(engine: Engine, exception: Exc) -> Exc:
    """The exception as it is constructed; raises what its `__init__` raises, and PS308 if that changes something else."""
    if not is_initialised(exception):
        return exception
    with speculate(engine) as trial:
        before = error_of(engine).code
        ended = _ends(engine, exception, _instance(engine, exception), trial)
        raised = ended is PythonRaise or error_of(engine).code is not before
        changed = [slot for slot in engine.state.changed() if slot != ERROR]
    if any(isinstance(slot, int) or slot[0] < 0 for slot in changed):
        what = f"an `__init__` that changes or prints something else (of `{exception.cls.__name__}`)"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    if raised:
        _initialise(engine, exception, _instance(engine, exception))
    return exception


def attribute(engine: Engine, exception: Exc, name: str) -> Abstract | None:
    """An attribute that the construction of the exception, or its class, gives it; None if it is not known.

    An object that the exception has is made only once, so it is refused; what the class gives sees an object that must
    not change.
    """
    if _environment_changed(engine):
        return None
    ref = _object(engine, exception)
    if ref is None:
        return None
    cell = engine.state.get(ref.cell)
    assert isinstance(cell, ObjectCell)
    found = cell.fields.get(name)
    if found is not None:
        return None if cells_of(found) else found
    if not of_class(exception.cls, name) or any(cells_of(v) for v in cell.fields.values()):
        return None
    engine.state.set(ref.cell, replace(cell, frozen=True))
    return objects.instance_getattr(engine, ref, cell, name)


def of_class(cls: type[BaseException], name: str) -> bool:
    """True if a class written in Python gives the attribute: a method, a property, a constant."""
    raw = classes.lookup_class(cls, name)
    return classes.found(raw) and (
        is_function(raw) or isinstance(raw, property) or not hasattr(raw, "__get__")
    )


def is_function(raw: object) -> bool:
    """True for what a class defines as a method of whatever kind."""
    return isinstance(raw, types.FunctionType | classmethod | staticmethod)


def _environment_changed(engine: Engine) -> bool:
    """True if the program has changed what it captured: its `__init__` may have read what was there before."""
    initial, slots = engine.externals.initial, engine.state.slots
    changed = any(slots.get(cell) is not initial[cell][1] for cell in engine.externals.captured)
    return changed or bool(engine.namespaces.written(engine.state))


def is_initialised(exception: Exc) -> bool:
    """True if the exception's class has an `__init__` written in Python."""
    return isinstance(classes.lookup_class(exception.cls, "__init__"), types.FunctionType)


def _object(engine: Engine, exception: Exc) -> Ref | None:
    """An object with the attributes that the exception has; None where not all of them can be inferred."""
    if not is_initialised(exception):
        return _instance(engine, exception)
    with speculate(engine) as trial:
        ref = _instance(engine, exception)
        if _ends(engine, exception, ref, trial) is None:
            trial.commit()
            return ref
    return None


def _ends(engine: Engine, exception: Exc, ref: Ref, trial: SpeculationBlock) -> type[Exception] | None:
    """How the `__init__` ends on an object: by an exception, by something that is not staged, or (None) normally."""
    ended: type[Exception] | None = None
    try:
        _initialise(engine, exception, ref)
    except (PythonRaise, DiagnosticError) as error:
        ended = type(error)
    return DiagnosticError if trial.refused else ended


def _instance(engine: Engine, exception: Exc) -> Ref:
    """What `__new__` gives: `args`, which `BaseException.__init__` sets again."""
    return Ref(engine.state.new_cell(ObjectCell(exception.cls, {"args": Tuple(exception.args)})))


def _initialise(engine: Engine, exception: Exc, ref: Ref) -> None:
    objects.initialise(engine, exception.cls, ref, exception.args, dict(exception.kwargs))
