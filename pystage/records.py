"""`dataclass`: that of the standard library for the classes here, without code that is generated at import.

`__init__`, `__eq__` and `__hash__` are written when they are first called: most of some 450 classes are never allocated by
a program, and writing all of them takes longer than compiling it. `fields`, `replace`, `is_dataclass`, `match`, `copy` and
`pickle` work as they do for any dataclass.
"""

from __future__ import annotations

import dataclasses
import inspect
import reprlib
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

_Fields = dict[str, "Field[Any]"]


def _dataclass(
    cls: Any = None,
    /,
    *,
    eq: bool = True,
    repr: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
    unsafe_hash: bool = False,
) -> Any:
    """As `dataclasses.dataclass`; annotations are texts, and no field is an `InitVar`."""

    def decorate(cls: Any) -> Any:
        fields = _fields_of(cls, kw_only)
        if slots:
            cls = _with_slots(cls, fields, frozen)
        cls.__dataclass_fields__ = fields
        cls.__dataclass_params__ = SimpleNamespace(frozen=frozen)
        own = vars(cls)
        if "__match_args__" not in own:
            cls.__match_args__ = tuple([f.name for f in fields.values() if f.init and not f.kw_only])  # type: ignore[misc]
        if "__init__" not in own:
            _write_later(cls, "__init__", lambda: _init(cls, fields, frozen, slots))
        if repr and "__repr__" not in own:
            cls.__repr__ = _repr([f.name for f in fields.values() if f.repr])
        if eq:
            explicit = own.get("__hash__") is not None or ("__hash__" in own and "__eq__" not in own)
            if "__eq__" not in own:
                _write_later(cls, "__eq__", lambda: _eq(fields))
            if not explicit and (frozen or unsafe_hash):
                _write_later(cls, "__hash__", lambda: _hash(fields))
            elif not explicit:
                cls.__hash__ = None
        if frozen:
            _freeze(cls, fields)
        return cls

    return decorate if cls is None else decorate(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


def _fields_of(cls: type, kw_only: bool) -> _Fields:
    """The fields of the bases, then those that the class declares; its defaults become class attributes."""
    fields: _Fields = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= vars(base).get("__dataclass_fields__", {})
    for name, annotation in inspect.get_annotations(cls).items():
        if annotation.startswith(("ClassVar", "typing.ClassVar")):
            continue
        given = vars(cls).get(name, MISSING)
        made = fields[name] = given if isinstance(given, Field) else field(default=given)
        made.name, made.type = name, annotation
        made.kw_only = kw_only if made.kw_only is MISSING else made.kw_only
        made._field_type = dataclasses._FIELD  # type: ignore[union-attr, attr-defined]
        if made is given and made.default is MISSING:
            delattr(cls, name)
        elif made is given:
            setattr(cls, name, made.default)
    return fields


def _with_slots(cls: Any, fields: _Fields, frozen: bool) -> Any:
    """The class anew: slots are part of how an instance is laid out."""
    inherited = {slot for base in cls.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    dropped = {*fields, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in dropped}
    body["__slots__"] = tuple([name for name in fields if name not in inherited])
    if frozen:
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _set_state)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _set_state(self: Any, state: Iterable[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


def _freeze(cls: Any, fields: _Fields) -> None:
    def refuse(self: object, name: str, verb: str) -> None:
        if type(self) is cls or name in fields:
            raise FrozenInstanceError(f"cannot {verb} field {name!r}")

    def __setattr__(self: Any, name: str, value: Any) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


def _repr(names: list[str]) -> Callable[[Any], str]:
    @reprlib.recursive_repr()
    def __repr__(self: Any) -> str:
        parts = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{type(self).__qualname__}({parts})"

    return __repr__


# Methods that are written when they are first called


def _write_later(cls: Any, name: str, write: Callable[[], Any]) -> None:
    def first(self: Any, *args: Any, **kwargs: Any) -> Any:
        if vars(cls)[name] is first:
            method = write()
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            method.__module__ = cls.__module__
            setattr(cls, name, method)
        return vars(cls)[name](self, *args, **kwargs)

    setattr(cls, name, first)


def _written(text: str, **names: Any) -> Any:
    exec(text, names)
    return names["method"]


def _init(cls: Any, fields: _Fields, frozen: bool, slots: bool) -> Any:
    names: dict[str, Any] = {"set_": object.__setattr__, "MISSING": MISSING}
    parameters: dict[bool, list[str]] = {False: [], True: ["*"]}
    body = []
    for name, made in fields.items():
        value, default = name, ""
        if made.default_factory is not MISSING:
            names[f"make_{name}"], default = made.default_factory, "=MISSING"
            value = f"make_{name}() if {name} is MISSING else {name}" if made.init else f"make_{name}()"
        elif made.default is not MISSING:
            names[f"default_{name}"], default = made.default, f"=default_{name}"
            value = name if made.init else f"default_{name}"
        if made.init:
            parameters[bool(made.kw_only)].append(name + default)
        elif not default or (not slots and value.startswith("default_")):
            continue
        body.append(f"set_(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    given = [*parameters[False], *(parameters[True] if len(parameters[True]) > 1 else [])]
    return _written(
        f"def method({', '.join(['self', *given])}):\n  " + "\n  ".join(body or ["pass"]), **names
    )


def _eq(fields: _Fields) -> Any:
    compared = [f.name for f in fields.values() if f.compare]
    mine, others = (_values(of, compared) for of in ("self", "other"))
    test = "if other.__class__ is not self.__class__:\n    return NotImplemented"
    return _written(f"def method(self, other):\n  {test}\n  return {mine} == {others}")


def _hash(fields: _Fields) -> Any:
    hashed = [f.name for f in fields.values() if (f.compare if f.hash is None else f.hash)]
    return _written(f"def method(self):\n  return hash({_values('self', hashed)})")


def _values(of: str, names: list[str]) -> str:
    return "(" + "".join([f"{of}.{name}, " for name in names]) + ")"
