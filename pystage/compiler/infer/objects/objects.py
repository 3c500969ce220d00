"""Attributes, classes and instances: Python's object model on abstract values.

Looks attributes up through the real MRO as `object.__getattribute__` does, without running user code:
properties and methods are called as staged functions, instances are cells.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import jax

from ...diagnostics.codes_calls import NoSuchAttribute, NotServed
from ...diagnostics.codes_mutation import CannotStore
from ...diagnostics.diagnostic import DiagnosticError
from ...library.context import Context
from ...library.kernels.structures import call_now, list_items
from ...library.registry import meaning_of
from ...library.rules.classes import c_name, is_generated
from ...library.rules.split import branch_on
from ...library.rules.tables import is_counter
from ...policy import package_of
from ...values.boundary import CallableMember, Path, PathStep
from ...values.gated import Gated, may_be_unassigned, where_assigned
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    Caught,
    Cell,
    Const,
    Exc,
    ListCell,
    Meaning,
    MemberCell,
    Method,
    ObjectCell,
    Records,
    Ref,
    RowsCell,
    Super,
    Tuple,
    Undef,
)
from ..core.engine import Engine
from ..diagnostics.describe import describe
from ..diagnostics.foreign import unsupported_class
from ..state.classes import found, lookup_class, unsupported
from .generic_functions import dispatched

_FUNCTIONS = (types.FunctionType,)


def instance_getattr(engine: Engine, ref: Ref, cell: ObjectCell, name: str) -> Abstract:
    """`instance.name`."""
    cls = cell.cls
    engine.externals.note_class(cls)
    hook = lookup_class(cls, "__getattribute__")
    missing = functools.partial(_missing, engine, ref, cls, name)
    if not isinstance(hook, types.FunctionType):
        return plain_getattr(engine, ref, cell, name, missing)

    def hooked() -> Abstract:
        return engine.call(class_member(engine, cls, "__getattribute__", hook), [ref, Const(name)])

    has_getter = found(lookup_class(cls, "__getattr__"))
    own = engine.attempt(hooked, AttributeError) if has_getter else hooked()
    return missing() if own is None else own


def _missing(engine: Engine, ref: Ref, cls: type, name: str) -> Abstract:
    """The result of the class's `__getattr__` for a missing attribute, or AttributeError."""
    getter = lookup_class(cls, "__getattr__")
    if found(getter):
        return engine.call(class_member(engine, cls, "__getattr__", getter), [ref, Const(name)])
    no_such(engine, cls, name)


def no_such(engine: Engine, cls: type, name: str) -> NoReturn:
    """Makes the program raise AttributeError."""
    engine.raise_(AttributeError(f"{c_name(cls)!r} object has no attribute {name!r}"))


def plain_getattr(
    engine: Engine, ref: Ref, cell: ObjectCell, name: str, missing: Callable[[], Abstract]
) -> Abstract:
    """`object.__getattribute__(instance, name)`, or the result of `missing` where there is no such attribute."""
    cls = cell.cls
    engine.externals.note_class(cls)
    raw = lookup_class(cls, name)
    if raw is vars(object)["__class__"]:
        return Const(cls)
    if isinstance(raw, property):
        if raw.fget is None:
            engine.raise_(AttributeError(f"property {name!r} of {cls.__name__!r} object has no getter"))
        return engine.call(class_member(engine, cls, name, raw.fget), [ref])
    if found(raw) and _written_in_python(raw, "__set__"):
        return bind_member(engine, cls, name, raw, ref)
    value = field(cell, name)
    if value is not None and type(value) not in _UNCERTAIN:
        return value

    def of_class() -> Abstract:
        if isinstance(raw, functools.cached_property):
            made = engine.call(class_member(engine, cls, name, raw.func), [ref])
            set_field(engine, ref, name, made)
            return made
        stored = stored_member(engine, cls, name, missing)
        if stored is not None:
            return stored
        if found(raw) and not isinstance(raw, types.MemberDescriptorType):
            return bind_member(engine, cls, name, raw, ref)
        return missing()

    return assigned(engine, value, of_class)


_UNCERTAIN = (Undef, Gated)
"""The contents of an attribute that are not simply its value."""


def assigned(engine: Engine, value: Abstract | None, missing: Callable[[], Abstract]) -> Abstract:
    """A variable or an attribute; where the path has not assigned it, the result of `missing`."""
    if value is None or isinstance(value, Undef):
        return missing()
    if not isinstance(value, Gated) or not may_be_unassigned(value):
        return value
    return branch_on(engine, value, 0, missing, lambda: where_assigned(value))


def completed(ctx: Context, content: Cell) -> Cell:
    """The contents of a cell; of an object of the environment with all of its attributes, unread ones too.

    Of a list of rows they are its elements, one by one.
    """
    if isinstance(content, RowsCell):
        return ListCell(list_items(ctx, content.items), content.aliases, content.selector)
    if not isinstance(content, ObjectCell) or content.origin is None:
        return content
    fields = dict(content.fields)
    for name in content.origin.names:
        found = content.origin(name) if name not in fields else None
        if found is not None:
            fields[name] = found
    return replace(content, fields=fields, origin=None)


def field(cell: ObjectCell, name: str) -> Abstract | None:
    """The instance's own attribute, if it has it."""
    own = cell.fields.get(name)
    if own is None and cell.origin is not None:
        own = cell.origin(name)
    return own


def stored_member(engine: Engine, cls: type, name: str, missing: Callable[[], Abstract]) -> Abstract | None:
    """The value that the program stored as an attribute of a class (`class_stores.py`), or None."""
    if engine.namespaces.owners:
        for base in cls.__mro__:
            slot = engine.namespaces.number(base), name
            if slot in engine.state.slots:
                return assigned(engine, engine.state.get(slot), missing)
            if name in base.__dict__:
                break
    return None


def bind_member(engine: Engine, cls: type, name: str, raw: Any, receiver: Abstract | None) -> Abstract:
    """The result of reading a class attribute through an instance (`receiver`) or through the class."""
    compiled = hasattr(raw, "__pystage_function__")
    descriptor = getattr(raw, "__wrapped__", raw) if compiled else raw
    if isinstance(descriptor, staticmethod):
        return class_member(engine, cls, name, raw if compiled else raw.__func__)
    if isinstance(raw, types.ClassMethodDescriptorType):  # of a class of C, which nobody changes
        return Const(getattr(cls, name))
    if isinstance(descriptor, classmethod):
        return Method(class_member(engine, cls, name, raw if compiled else raw.__func__), Const(cls))
    if receiver is not None and (isinstance(raw, _FUNCTIONS) or compiled):
        return Method(class_member(engine, cls, name, raw), receiver)
    if isinstance(raw, functools.singledispatchmethod):
        return _generic_method(engine, cls, name, raw, receiver)
    if isinstance(raw, functools.partialmethod):
        raise DiagnosticError(NoSuchAttribute(span=engine.b.span, what=cls.__qualname__, attribute=name))
    if receiver is not None and isinstance(raw, types.WrapperDescriptorType | types.MethodDescriptorType):
        return Method(Const(raw), receiver)
    if receiver is not None and isinstance(raw, types.GetSetDescriptorType):
        raise DiagnosticError(NoSuchAttribute(span=engine.b.span, what=cls.__qualname__, attribute=name))
    member = class_member(engine, cls, name, raw)
    getter = special_method(engine, member, "__get__") if _written_in_python(raw, "__get__") else None
    return member if getter is None else engine.call(getter, [receiver or NONE, Const(cls)])


def _generic_method(engine: Engine, cls: type, name: str, raw: Any, receiver: Abstract | None) -> Abstract:
    """A method of `functools.singledispatchmethod`, which chooses by the class of its first argument."""
    engine.externals.member(cls, name, raw)

    def call(engine: Engine, first: Abstract, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        found = dispatched(engine, raw.dispatcher.dispatch, engine.call(Const(type), [first]))
        return engine.call(bind_member(engine, cls, name, found, receiver), [first, *args], kwargs)

    return Meaning(name, call)


def _written_in_python(descriptor: Any, name: str) -> bool:
    """True if the class of what stands in a class has this method, as a function of the user."""
    return isinstance(lookup_class(type(descriptor), name), types.FunctionType)


def class_member(engine: Engine, cls: type, name: str, raw: Any) -> Abstract:
    """A class attribute as a value of the environment, under a guard."""
    if isinstance(raw, _FUNCTIONS) or hasattr(raw, "__pystage_function__"):
        engine.externals.member(cls, name, raw)
        engine.externals.keep.append(raw)
        return Const(raw)
    path = Path(CallableMember(cls, cls.__qualname__)).attribute(name)
    if _written_in_python(raw, "__get__"):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        path = Path(CallableMember(owner, owner.__qualname__), ((PathStep.MEMBER, name),))
    return engine.externals.value(path, raw)


def class_getattr(engine: Engine, cls: type, name: str) -> Abstract:
    """`cls.name` for a class of the user or of the library."""
    engine.externals.note_class(cls)
    if name in ("__name__", "__qualname__", "__module__", "__doc__", "__mro__", "__bases__"):
        return Const(getattr(cls, name))

    def missing() -> NoReturn:
        engine.raise_(AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}"))

    stored = stored_member(engine, cls, name, missing)
    if stored is not None:
        return stored
    raw = lookup_class(cls, name)
    if not found(raw):
        if hasattr(cls, name):
            path = Path(CallableMember(cls, cls.__qualname__)).attribute(name)
            return engine.externals.value(path, getattr(cls, name))
        missing()
    if issubclass(cls, enum.Enum) or package_of(cls).fixed:
        return Const(getattr(cls, name))
    if name == "__dataclass_fields__":
        return Const(raw)
    return bind_member(engine, cls, name, raw, None)


def super_getattr(engine: Engine, value: Super, name: str) -> Abstract:
    """`super().name`."""
    receiver = value.receiver
    if isinstance(receiver, Ref):
        cls = written_in_python(engine.state.get(receiver.cell))
        assert cls is not None
    elif isinstance(receiver, Const) and isinstance(receiver.value, type):
        cls = receiver.value
    else:
        assert isinstance(receiver, Tuple)
        cls = receiver.cls
    engine.externals.note_class(cls)
    raw = lookup_class(cls, name, value.cls)
    if not found(raw):
        engine.raise_(AttributeError(f"'super' object has no attribute {name!r}"))
    if isinstance(raw, property):
        return engine.call(class_member(engine, cls, name, raw.fget), [receiver])
    return bind_member(engine, cls, name, raw, receiver)


def set_field(engine: Engine, ref: Ref, name: str, value: Abstract) -> None:
    """`object.__setattr__(instance, name, value)`."""
    cell = engine.settle(ref)
    assert isinstance(cell, ObjectCell)
    if cell.frozen:
        raise DiagnosticError(CannotStore(span=engine.b.span, what=f"the attribute {name!r} of an exception"))
    require_own_trace(engine, ref.cell, cell)
    engine.write(ref.cell, dataclasses.replace(cell, fields={**cell.fields, name: value}))


def require_own_trace(engine: Engine, number: int, changed: object) -> None:
    """PS606 for a change of an object that its library lets nobody change in the trace of JAX's that inference is in."""
    traces = engine.callees.traces
    if traces and number <= traces[-1] and isinstance(changed, ObjectCell):
        for cls in changed.cls.__mro__:
            if f"{cls.__module__}.{cls.__qualname__}" in package_of(cls).of_one_trace:
                why = "it was made outside of the function that JAX traces, and its library raises"
                name = f"a store into a {changed.cls.__name__}"
                instead = "return the new value, or copy the object in the function"
                raise DiagnosticError(NotServed(span=engine.b.span, name=name, why=why, instead=instead))


def instance_setattr(engine: Engine, ref: Ref, cell: ObjectCell, name: str, value: Abstract) -> None:
    """`instance.name = value`."""
    cls = cell.cls
    engine.externals.note_class(cls)
    setter = lookup_class(cls, "__setattr__")
    if setter is not object.__setattr__:
        engine.call(class_member(engine, cls, "__setattr__", setter), [ref, Const(name), value])
        return
    raw = lookup_class(cls, name)
    if isinstance(raw, property):
        if raw.fset is None:
            engine.raise_(AttributeError(f"property {name!r} of {cls.__name__!r} object has no setter"))
        engine.call(class_member(engine, cls, name, raw.fset), [ref, value])
        return
    setter = found(raw) and _written_in_python(raw, "__set__")
    method = special_method(engine, class_member(engine, cls, name, raw), "__set__") if setter else None
    if method is not None:
        engine.call(method, [ref, value])
        return
    plain = isinstance(raw, types.MemberDescriptorType | functools.cached_property)
    if found(raw) and hasattr(raw, "__set__") and not plain:
        raise DiagnosticError(CannotStore(span=engine.b.span, what=f"the descriptor {name!r}"))
    if not has_dict(cls) and not isinstance(raw, types.MemberDescriptorType):
        no_such(engine, cls, name)
    set_field(engine, ref, name, value)


def instance_delattr(engine: Engine, ref: Ref, cell: ObjectCell, name: str) -> None:
    """`del instance.name`."""
    cls = cell.cls
    engine.externals.note_class(cls)
    deleter = lookup_class(cls, "__delattr__")
    if deleter is not object.__delattr__:
        engine.call(class_member(engine, cls, "__delattr__", deleter), [ref, Const(name)])
        return
    raw = lookup_class(cls, name)
    if isinstance(raw, property) and raw.fdel is not None:
        engine.call(class_member(engine, cls, name, raw.fdel), [ref])
        return
    if isinstance(raw, property):
        engine.raise_(AttributeError(f"property {name!r} of {cls.__name__!r} object has no deleter"))
    delete_field(engine, ref, name)


def delete_field(engine: Engine, ref: Ref, name: str) -> None:
    """`object.__delattr__(instance, name)`."""
    cell = engine.cell(ref)
    assert isinstance(cell, ObjectCell)

    def missing() -> NoReturn:
        if isinstance(lookup_class(cell.cls, name), types.MemberDescriptorType):
            engine.raise_(AttributeError(name))
        no_such(engine, cell.cls, name)

    assigned(engine, field(cell, name), missing)
    set_field(engine, ref, name, Undef(engine.b.span))


def has_dict(cls: type) -> bool:
    """True if instances take any attribute."""
    return cls.__dictoffset__ != 0


def construct(
    engine: Engine, cls: type, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> Abstract:
    """`cls(*args, **kwargs)` for a class of the user."""
    if issubclass(cls, BaseException):
        return Exc(cls, tuple(args), tuple(kwargs.items()))
    if issubclass(cls, enum.Enum):
        value = engine.known(args[0], f"the value of {cls.__name__}")
        try:
            return Const(cls(value))
        except ValueError as error:
            engine.raise_(error)
    maker = type(cls).__call__
    if meaning_of(maker) is not None:
        return engine.call(Const(maker), [Const(cls), *args], kwargs)
    why = unsupported(cls)
    if why:
        raise DiagnosticError(unsupported_class(cls, why, engine.b.span))
    ref = Ref(engine.state.new_cell(ObjectCell(cls, {})))
    initialise(engine, cls, ref, args, kwargs)
    return ref


def initialise(
    engine: Engine, cls: type, ref: Ref, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> None:
    """`cls.__init__(instance, *args, **kwargs)` for a new instance."""
    init = lookup_class(cls, "__init__")
    engine.externals.member(cls, "__init__", init)
    if init is object.__init__:
        if args or kwargs:
            engine.raise_(TypeError(f"{cls.__name__}() takes no arguments"))
    else:
        engine.call(class_member(engine, cls, "__init__", init), [ref, *args], kwargs)


def written_in_python(content: object) -> type | None:
    """The class of an object whose methods may be written in Python; None for those of C."""
    if isinstance(content, ObjectCell | MemberCell):
        return content.cls
    return Counter if is_counter(content) else None


def special_method(engine: Engine, value: Abstract, name: str) -> Abstract | None:
    """The special method `name` bound to an instance of a user class, or None."""
    if isinstance(value, Ref):
        cls = written_in_python(engine.state.get(value.cell))
        if cls is not None:
            key = cls, name
            if key in engine.externals.special_methods:
                return Method(engine.externals.special_methods[key], value)
            engine.externals.note_class(cls)
            raw = lookup_class(cls, name)
            if cls is Counter and not isinstance(raw, types.FunctionType):
                return None  # a method of dict
            if found(raw) and raw is not None and raw is not getattr(object, name, None):
                bound = bind_member(engine, cls, name, raw, value)
                if isinstance(raw, types.FunctionType) and isinstance(bound, Method):
                    engine.externals.special_methods[key] = bound.function
                return bound
    if isinstance(value, Tuple) and value.cls is not tuple:
        engine.externals.note_class(value.cls)
        raw = lookup_class(value.cls, name)
        if found(raw) and isinstance(raw, types.FunctionType) and not is_generated(raw):
            return bind_member(engine, value.cls, name, raw, value)
    if isinstance(value, Const) and isinstance(value.value, enum.Enum):
        cls = type(value.value)
        engine.externals.note_class(cls)
        raw = lookup_class(cls, name)
        if isinstance(raw, types.FunctionType) and raw.__module__ == "enum":
            return Meaning(name, functools.partial(_of_enum, method=raw, member=value.value))
        if isinstance(raw, types.FunctionType):
            return bind_member(engine, cls, name, raw, value)
    if isinstance(value, Exc | Caught):
        classes = value.classes if isinstance(value, Caught) else {value.cls}
        if any(isinstance(lookup_class(each, name), types.FunctionType) for each in classes):
            return engine.getattr(value, name)
    return None


def _of_enum(ctx: Context, *others: Abstract, method: types.FunctionType, member: enum.Enum) -> Abstract:
    """A special method that Python's `enum` defines (`IntFlag.__or__`), called for a member."""
    known = [ctx.known(x, f"an operand of {type(member).__name__}") for x in others]
    return call_now(ctx, method, member, *known)


def class_of_value(engine: Engine, value: Abstract) -> type | None:
    """The class of a value whose instances take no new attributes; None for others."""
    if isinstance(value, Super | Meaning | Method) or not isinstance(
        value, Array | Ref | Records | Tuple | Const
    ):
        return None
    if isinstance(value, Const):
        return (
            type(value.value) if isinstance(value.value, int | float | complex | str | bytes | None) else None
        )
    found = engine.call(Const(type), [value])
    return found.value if isinstance(found, Const) and isinstance(found.value, type) else None


@functools.cache
def _class_of_arrays() -> type:
    """The class of JAX's arrays, which has more than the abstract `jax.Array` says."""
    with jax.core.eval_context():
        return type(jax.numpy.zeros(()))


def no_attribute(engine: Engine, value: Abstract, name: str) -> DiagnosticError:
    """PS603 for `value.name`; the program raises AttributeError where the class has no such attribute."""
    found = class_of_value(engine, value)
    has = _class_of_arrays() if found is jax.Array else found
    if found is not None and not hasattr(has, name):
        engine.raise_(AttributeError(f"{c_name(found)!r} object has no attribute {name!r}"))
    return DiagnosticError(
        NoSuchAttribute(span=engine.b.span, what=describe(value, engine.state), attribute=name)
    )
