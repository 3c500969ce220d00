"""Methods that `dataclasses` generates for a class, and which have no source.

In: such a function and the arguments of a call. Each works on the fields of the class that it was generated for, also for
an instance of a subclass.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ...values.boundary import CallableMember, Path
from ...values.lattice import NONE, Abstract, Const, MemberCell, ObjectCell, Ref, Super, Tuple
from ..core.binding import refusal
from ..core.engine import Engine
from ..state import classes
from . import attributes, objects

_COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def call_written(
    engine: Engine,
    function: types.FunctionType,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
) -> Abstract | None:
    """Calls a method that `dataclasses` generated (not `__repr__` and `__hash__`); None for other functions."""
    receiver = args[0] if args else None
    cell = engine.state.get(receiver.cell) if isinstance(receiver, Ref) else None
    if not isinstance(receiver, Ref) or not isinstance(cell, ObjectCell | MemberCell) or cell.cls is None:
        return None
    name = function.__name__
    owner = next((c for c in cell.cls.__mro__ if vars(c).get(name) is function), None)
    if owner is None or not dataclasses.is_dataclass(owner):
        return None
    if name == "__init__":
        return _init(engine, owner, function, receiver, args, kwargs)
    if name in _COMPARISONS and len(args) == 2:
        return _compared(engine, owner, cell.cls, name, args)
    if name in ("__setattr__", "__delattr__"):
        return _frozen(engine, owner, cell.cls, name, receiver, args[1:])
    return None


def _init(
    engine: Engine,
    owner: Any,
    function: types.FunctionType,
    receiver: Ref,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
) -> Abstract:
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        engine.raise_(refusal(signature, function.__qualname__, len(args), kwargs))
    fields = Path(CallableMember(owner, owner.__qualname__)).attribute("__dataclass_fields__")
    post: list[Abstract] = []
    for name, field in {**owner.__dataclass_fields__}.items():
        kind = field._field_type.name
        in_slot = isinstance(vars(owner).get(name), types.MemberDescriptorType)
        if kind == "_FIELD_CLASSVAR":
            continue
        if name in given:
            value = given[name]
        elif field.default_factory is not dataclasses.MISSING:
            value = engine.call(engine.constant_object(field.default_factory), [])
        elif field.default is dataclasses.MISSING or not (field.init or in_slot):
            continue  # read from the class, or not there
        elif isinstance(field.default, int | float):  # a part of the generated `__init__`
            value = Const(field.default)
        else:
            value = engine.externals.value(fields.item(name).attribute("default"), field.default)
        if kind == "_FIELD_INITVAR":
            post.append(value)
        elif owner.__dataclass_params__.frozen:
            objects.set_field(engine, receiver, name, value)
        else:
            attributes.setattr_(engine, receiver, name, value)
    if classes.found(classes.lookup_class(owner, "__post_init__")):
        engine.call(engine.getattr(receiver, "__post_init__"), post)
    return NONE


def _compared(engine: Engine, owner: Any, cls: type, name: str, args: Sequence[Abstract]) -> Abstract:
    """The fields of two instances of one class, compared as tuples."""
    other = args[1]
    if not isinstance(other, Ref) or getattr(engine.state.get(other.cell), "cls", None) is not cls:
        return Const(NotImplemented)
    compared = [f.name for f in dataclasses.fields(owner) if f.compare]
    sides = [Tuple(tuple([engine.getattr(side, n) for n in compared])) for side in args]
    return engine.compare(_COMPARISONS[name], *sides)


def _frozen(
    engine: Engine, owner: Any, cls: type, name: str, receiver: Ref, args: Sequence[Abstract]
) -> Abstract:
    """A store into a frozen instance, or `del`: only a class that inherits has attributes that are not frozen."""
    attribute = cast(Const, args[0]).value
    if cls is owner or attribute in [f.name for f in dataclasses.fields(owner)]:
        verb = "assign to" if name == "__setattr__" else "delete"
        engine.raise_(dataclasses.FrozenInstanceError(f"cannot {verb} field {attribute!r}"))
    return engine.call(engine.getattr(Super(owner, receiver), name), args)
