"""Attributes of exceptions: `args`, and what handlers ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics.codes_control import HandlerAtRunTime
from ..diagnostics.diagnostic import DiagnosticError
from ..library.strings import is_string, str_, text
from ..values.lattice import NONE, Abstract, Caught, ClassOf, Const, Exc, Tuple
from . import made_exceptions

if TYPE_CHECKING:
    from .engine import Engine


def exception_attribute(engine: Engine, value: Exc | Caught, name: str) -> Abstract:
    """`exception.name`; PS308 for all but what `BaseException` itself keeps of the arguments."""
    made = value.exception if isinstance(value, Caught) else value
    initialised = isinstance(made, Exc) and made_exceptions.is_initialised(made)
    found: Abstract | None = arguments_of(engine, value) if name == "args" and not initialised else None
    if found is None and name == "__class__":
        classes = value.classes if isinstance(value, Caught) else {value.cls}
        found = Const(next(iter(classes))) if len(classes) == 1 else None
    if found is None and name == "__cause__":
        found = _cause_of(value)
    if found is None and isinstance(made, Exc) and initialised:
        found = made_exceptions.attribute(engine, made, name)
    if found is None:
        what = f"`{name}` of an exception that the program has raised"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    return found


def _cause_of(value: Exc | Caught) -> Abstract | None:
    """The `__cause__` of an exception that staged code has certainly made."""
    made = value.exception if isinstance(value, Caught) else value
    if not isinstance(made, Exc):
        return None
    return NONE if made.cause is None else made.cause


def class_attribute(engine: Engine, value: ClassOf, name: str) -> Abstract:
    """`type(exception).name`, where the class is one of several: its names."""
    if name in ("__name__", "__qualname__", "__module__"):
        return text(engine, _name_of_class, Const(name), value.caught)
    what = f"`{name}` of the class of an exception that the program has raised"
    raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))


def _name_of_class(name: str, exception: BaseException) -> str:
    return str(getattr(type(exception), name))


def arguments_of(engine: Engine, value: Exc | Caught) -> Tuple | None:
    """The arguments of an exception, if they are known in number."""
    exception = value.exception if isinstance(value, Caught) else value
    if isinstance(exception, Exc):
        return Tuple(exception.args)
    if isinstance(exception, Const) and isinstance(exception.value, BaseException):
        return engine.constant_object(exception.value.args)  # type: ignore[return-value]
    if isinstance(value, Caught) and all(map(_is_message, _raised_by(engine, value))):
        return Tuple((str_(engine, value),))
    return None


def _raised_by(engine: Engine, caught: Caught) -> list[object]:
    """What the places raise that a caught exception may come from: an instance, or one of the same class and shape."""
    found: list[object] = []
    for _, origin, _ in caught.places:
        made = engine.instances.get(origin)
        found.append(made.exception if made is not None else engine.sites.at(origin).fallback)
    return found


def _is_message(exception: object) -> bool:
    """True for an exception whose one argument is the string that `str` gives."""
    if isinstance(exception, Exc):
        args, cls = exception.args, exception.cls
        plain = cls.__str__ is BaseException.__str__ and not made_exceptions.is_initialised(exception)
        return plain and len(args) == 1 and is_string(args[0])
    if isinstance(exception, BaseException):
        message = len(exception.args) == 1 and isinstance(exception.args[0], str)
        return message and type(exception).__str__ is BaseException.__str__
    return False
