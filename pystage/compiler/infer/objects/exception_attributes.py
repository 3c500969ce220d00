"""Attributes of exceptions: `args`, and what a handler reads of a caught exception."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from ...diagnostics.codes_control import HandlerAtRunTime
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...library.context import Context, Raw
from ...library.kernels.structures import abstract
from ...library.python.class_tests import is_among
from ...library.python.strings import is_string, str_, text
from ...library.rules.split import split_value
from ...values.gated import Gated
from ...values.lattice import NONE, Abstract, Array, Caught, ClassOf, Const, Exc, Meaning, Tuple, Unknown
from ...values.walk import cells_of, rebuild
from ..core.engine import Engine
from ..exceptions.notes import add_note
from ..state import classes
from . import initialisation


def exception_attribute(engine: Engine, value: Exc | Caught, name: str) -> Abstract:
    """`exception.name`; PS308 for all but what `BaseException` itself keeps of the arguments."""
    made = value.exception if isinstance(value, Caught) else value
    initialised = isinstance(made, Exc) and initialisation.is_initialised(made)
    found: Abstract | None = arguments_of(engine, value) if name == "args" and not initialised else None
    if found is None and name == "__class__":
        classes = value.classes if isinstance(value, Caught) else {value.cls}
        found = Const(next(iter(classes))) if len(classes) == 1 else None
    if found is None and name == "__cause__":
        found = _cause_of(value)
    if found is None and name == "add_note" and isinstance(value, Caught):
        found = Meaning(name, lambda ctx, note: add_note(engine, value, abstract(note)))
    if found is None and name in _FIRST_ARGUMENT:
        found = _first_argument(engine, value, name)
    if found is None and isinstance(made, Exc):
        found = initialisation.attribute(engine, made, name)
    elif found is None and isinstance(value, Caught):
        found = _by_site(engine, value, name)
    if found is None:
        what = f"`{name}` of an exception that the program has raised"
        raise DiagnosticError(HandlerAtRunTime(span=engine.b.span, what=what))
    return found


_FIRST_ARGUMENT = {"value": StopIteration, "code": SystemExit}


def _first_argument(engine: Engine, value: Exc | Caught, name: str) -> Abstract | None:
    """`StopIteration.value` and `SystemExit.code`: the first argument, or None."""
    classes = value.classes if isinstance(value, Caught) else {value.cls}
    own = getattr(_FIRST_ARGUMENT[name], name)
    if any(getattr(cls, name, None) is not own for cls in classes):
        return None
    found = arguments_of(engine, value)
    if found is not None:
        return found.items[0] if found.items else NONE
    raised = _raised_by(engine, value) if isinstance(value, Caught) else []
    return NONE if raised and all(isinstance(r, BaseException) and not r.args for r in raised) else None


def _by_site(engine: Engine, caught: Caught, name: str) -> Abstract | None:
    """An attribute of an exception from one of several sites, all of which are known to make it."""
    origins = sorted({origin for _, origin, _ in caught.sites})
    made = {origin: instance_at(engine, caught, origin) for origin in origins}
    exceptions = {origin: e for origin, e in made.items() if isinstance(e, Exc)}
    if len(exceptions) != len(made):
        return None
    raw = [classes.lookup_class(e.cls, name) for e in exceptions.values()]
    if name != "args" and all(map(initialisation.is_function, raw)):

        def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
            given, named = list(map(abstract, args)), {k: abstract(v) for k, v in kwargs.items()}
            return _split(
                engine,
                caught,
                exceptions,
                lambda e: engine.call(exception_attribute(engine, e, name), given, named),
            )

        return Meaning(name, call)
    return _split(engine, caught, exceptions, lambda e: exception_attribute(engine, e, name))


def _split(
    engine: Engine, caught: Caught, exceptions: Mapping[int, Exc], part: Callable[[Exc], Abstract]
) -> Abstract:
    """`part` of the raised exception, split over these sites."""
    *origins, last = sorted(exceptions)
    if not origins:
        return part(exceptions[last])
    code = caught.values[0]
    assert isinstance(code, Array)

    def raised_at(origin: int) -> Value:
        return is_among(engine, code.value, sorted(number for number, o, _ in caught.sites if o == origin))

    options = tuple([exceptions[origin] for origin in (*origins, last)])
    gated = Gated(options, tuple(map(raised_at, origins)))
    found = split_value(engine, gated, lambda exception: part(cast(Exc, exception)))
    if isinstance(found, Unknown):
        raise DiagnosticError(found.reason)
    return engine.narrowed(found)


def instance_at(engine: Engine, caught: Caught, origin: int) -> Abstract | None:
    """The exception that staged code made at a site, of the current values; None if it refers to objects."""
    made = engine.raises.instances.get(origin)
    if made is None or cells_of(made.exception):
        return None
    payload = dict(zip(caught.remake.keys, caught.values[1:], strict=True))
    given = {v: payload[k].value for v, k in zip(made.values, made.keys, strict=True)}  # type: ignore[attr-defined]
    return rebuild(made.exception, lambda v: given.get(v, v))


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
    """What the sites of a caught exception raise: an instance, or several of the same class and shape."""
    found: list[object] = []
    for _, origin, _ in caught.sites:
        made = engine.raises.instances.get(origin)
        found.append(made.exception if made is not None else engine.raises.sites.at(origin).fallback)
    return found


def _is_message(exception: object) -> bool:
    """True for an exception whose one argument is the string that `str` gives."""
    if isinstance(exception, Exc):
        args, cls = exception.args, exception.cls
        plain = cls.__str__ is BaseException.__str__ and not initialisation.is_initialised(exception)
        return plain and len(args) == 1 and is_string(args[0])
    if isinstance(exception, BaseException):
        message = len(exception.args) == 1 and isinstance(exception.args[0], str)
        return message and type(exception).__str__ is BaseException.__str__
    return False
