"""Stores into attributes of user classes: such an attribute is a variable of the program, as a module's global is."""

from __future__ import annotations

from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...library.python.strings import is_open_string
from ...policy import package_of
from ...values.lattice import Abstract, Array, Const, ObjectCell, Ref, Tuple
from ..core.engine import Engine
from ..exceptions import raising
from ..state.classes import found, lookup_class
from .objects import class_member

_VALUES = (bool, int, float, complex, str, bytes, type(None))


def store(engine: Engine, cls: type, name: str, value: Abstract) -> None:
    """`cls.name = value`; PS503 for what is no plain value, and where no plain value stood in the class itself."""
    raw = vars(cls).get(name, lookup_class(cls, name))
    plain = (
        type(cls).__setattr__ is type.__setattr__ and not name.startswith("__") and not package_of(cls).fixed
    )
    inherited = found(raw) and name not in vars(cls)
    if not plain or inherited or _binds(type(raw)) or not _is_plain(engine, value):
        what = f"the attribute {name!r} of the class {cls.__name__}"
        raise DiagnosticError(CannotStore(span=engine.b.span, what=what))
    engine.externals.note_class(cls)
    slot = engine.namespaces.assigned(cls), name
    if slot not in engine.state.slots and found(raw):  # what other paths leave as it is
        engine.state.define(slot, class_member(engine, cls, name, raw))
    raising.write(engine, slot, value)


def _binds(kind: type) -> bool:
    """True if an attribute of this type defines its own reading or storing (a descriptor)."""
    return any(hasattr(kind, name) for name in ("__get__", "__set__", "__delete__"))


def _is_plain(engine: Engine, value: Abstract) -> bool:
    """True if a value is read alike through the class and through an instance."""
    if isinstance(value, Ref):
        content = engine.state.get(value.cell)
        return not (isinstance(content, ObjectCell) and _binds(content.cls))
    return (
        isinstance(value, Array | Tuple)
        or is_open_string(value)
        or (isinstance(value, Const) and type(value.value) in _VALUES)
    )
