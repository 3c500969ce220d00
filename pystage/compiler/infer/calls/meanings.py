"""Meanings of callables that depend on classes and cells, and so need the engine itself."""

from __future__ import annotations

import builtins
import functools
from typing import Any

from ...library.context import Context, Raw
from ...library.kernels.structures import abstract
from ...library.registry import meaning
from ...values.lattice import NONE, Abstract, Const, Meaning, ObjectCell, Ref, Super, Tuple
from ..core.engine import Engine
from ..objects import attributes, objects

_EXCEPTION_INITS = {
    vars(cls)["__init__"]: None
    for cls in vars(builtins).values()
    if isinstance(cls, type) and issubclass(cls, BaseException) and "__init__" in vars(cls)
}
"""What an `__init__` written in Python calls: that of the built-in exceptions."""


@meaning(super)
def super_(ctx: Context, cls: Abstract, receiver: Abstract) -> Abstract:
    """`super(cls, receiver)`; the front end writes out the arguments of `super()`."""
    return Super(ctx.known(cls, "the class of super()"), receiver)


@meaning(setattr)
def setattr_(ctx: Engine, target: Abstract, name: Abstract, value: Abstract) -> Abstract:
    """`setattr(target, name, value)`."""
    attributes.setattr_(ctx, target, ctx.known(name, "the name of an attribute"), value)
    return NONE


@meaning(delattr)
def delattr_(ctx: Engine, target: Abstract, name: Abstract) -> Abstract:
    """`delattr(target, name)`."""
    attributes.delattr_(ctx, target, ctx.known(name, "the name of an attribute"))
    return NONE


@meaning(object.__setattr__, BaseException.__setattr__)
def object_setattr(engine: Engine, target: Abstract, name: Abstract, value: Abstract) -> Abstract:
    """`object.__setattr__(target, name, value)`: past the class's own `__setattr__`."""
    key = engine.known(name, "the name of an attribute")
    if not isinstance(target, Ref) or not isinstance(engine.cell(target), ObjectCell):
        raise objects.no_attribute(engine, target, key)
    objects.set_field(engine, target, key, value)
    return NONE


@meaning(object.__delattr__, BaseException.__delattr__)
def object_delattr(engine: Engine, target: Abstract, name: Abstract) -> Abstract:
    """`object.__delattr__(target, name)`: past the class's own `__delattr__`."""
    key = engine.known(name, "the name of an attribute")
    if not isinstance(target, Ref) or not isinstance(engine.cell(target), ObjectCell):
        raise objects.no_attribute(engine, target, key)
    objects.delete_field(engine, target, key)
    return NONE


@meaning(tuple.__new__)
def tuple_new(ctx: Context, cls: Abstract, iterable: Abstract, /) -> Abstract:
    """`tuple.__new__(cls, iterable)`, as a NamedTuple's own `__new__` calls it."""
    made: Any = ctx.call(Const(tuple), [iterable])
    return Tuple(made.items, ctx.known(cls, "the class of a tuple"))


@meaning(object.__getattribute__, BaseException.__getattribute__)
def object_getattribute(engine: Engine, target: Abstract, name: Abstract) -> Abstract:
    """`object.__getattribute__(target, name)`: past the class's own `__getattribute__`."""
    key = engine.known(name, "the name of an attribute")
    cell = engine.cell(target) if isinstance(target, Ref) else None
    if not isinstance(target, Ref) or not isinstance(cell, ObjectCell):
        return engine.getattr(target, key)
    return objects.plain_getattr(engine, target, cell, key, lambda: objects.no_such(engine, cell.cls, key))


@meaning(*_EXCEPTION_INITS)
def exception_init(engine: Engine, self: Raw, *args: Raw) -> Abstract:
    """`BaseException.__init__(self, *args)`: sets `args`."""
    if isinstance(self, Ref) and isinstance(engine.cell(self), ObjectCell):
        objects.set_field(engine, self, "args", Tuple(tuple([abstract(a) for a in args])))
    return NONE


@meaning(object.__init__)
def object_init(ctx: Context, target: Abstract) -> Abstract:
    """`object.__init__(self)`."""
    return NONE


@meaning(functools.wraps)
def wraps(ctx: Context, wrapped: Abstract, assigned: Raw = None, updated: Raw = None) -> Abstract:
    """`functools.wraps(wrapped)`: names and documentation, which no array program computes with."""
    return Meaning("functools.wraps", lambda inner, function: function)


@meaning(property.__get__)
def property_get(engine: Engine, target: Abstract, instance: Abstract, owner: Raw = None) -> Abstract:
    """`property.__get__(target, instance)`, as what wraps a descriptor calls it."""
    cell = target.cell if isinstance(target, Ref) else None
    held = [(path, made) for number, path, made in engine.externals.cells.values() if number == cell]
    if not held or isinstance(instance, Const):
        raise objects.no_attribute(engine, target, "__get__")
    path, made = held[0]
    return engine.call(engine.externals.value(path.attribute("fget"), made.fget), [instance])
