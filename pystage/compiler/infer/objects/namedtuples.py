"""Instances of NamedTuple classes: tuples with a class, whose items have names.

A subclass of the class with the fields may override anything of it, `__new__` included.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

from ...library.python.list_methods import NAMED_METHODS
from ...values.boundary import CallableMember, Path
from ...values.lattice import Abstract, Const, Tuple
from ..core.binding import refusal
from ..core.engine import Engine
from ..state import classes
from . import objects


def construct(engine: Engine, cls: Any, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]) -> Abstract:
    """`cls(*args, **kwargs)`."""
    engine.externals.note_class(cls)
    new = objects.bind_member(engine, cls, "__new__", classes.lookup_class(cls, "__new__"), None)
    made = engine.call(new, [Const(cls), *args], kwargs)
    init = classes.lookup_class(cls, "__init__")
    if init is not object.__init__ and isinstance(made, Tuple) and issubclass(made.cls, cls):
        engine.call(objects.bind_member(engine, cls, "__init__", init, made), args, kwargs)
    return made


def call_written(
    engine: Engine,
    function: types.FunctionType,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
) -> Abstract | None:
    """The call of a `__new__` that `namedtuple` wrote; None for other functions."""
    cls = args[0].value if args and isinstance(args[0], Const) else None
    owner = _owner(cls) if isinstance(cls, type) else None
    if not isinstance(cls, type) or owner is None or _member(owner, "__new__") is not function:
        return None
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        engine.raise_(refusal(signature, function.__qualname__, len(args), kwargs))
    defaults = Path(CallableMember(owner, owner.__qualname__)).attribute("_field_defaults")
    items = [
        given[name]
        if name in given
        else engine.externals.value(defaults.item(name), owner._field_defaults[name])
        for name in owner._fields
    ]
    return Tuple(tuple(items), cls)


def getattr_(engine: Engine, value: Tuple, name: str) -> Abstract | None:
    """`value.name`; None if the class has it from `namedtuple` or from `tuple`, or not at all."""
    cls: Any = value.cls
    engine.externals.note_class(cls)
    if name == "__class__":
        return Const(cls)
    raw, owner = classes.lookup_class(cls, name), _owner(cls)
    own = owner is not None and raw is vars(owner).get(name)
    if own and (name in owner._fields or name in NAMED_METHODS):
        return None
    if isinstance(raw, property):
        return engine.call(objects.class_member(engine, cls, name, raw.fget), [value])
    if not classes.found(raw) or isinstance(raw, types.MethodDescriptorType | types.WrapperDescriptorType):
        return None
    return objects.bind_member(engine, cls, name, raw, value)


def _owner(cls: Any) -> Any:
    """The class that `cls` has its fields from; None if it has none."""
    return next((c for c in cls.__mro__ if "_fields" in vars(c)), None)


def _member(cls: type, name: str) -> Any:
    raw = vars(cls).get(name)
    return getattr(raw, "__func__", raw)
