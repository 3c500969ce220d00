"""Fingerprints of functions, classes and other objects that a program was specialised on by identity.

In: an object of the process. Out: a text that is equal in another process where the object has the same code: of a
function that of its bytecode with its lines, of a class those of its methods, its names and its bases. What belongs to
Python, NumPy, JAX or a package that the compiler knows is named alone: their versions are part of every key.
`NotEncodable` for what may differ in ways that no text says.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import types
from typing import Any

import numpy as np

from ...compiler.policy import is_library_file
from .encoding import NotEncodable, is_own, is_users

_HOLDERS = (property, staticmethod, classmethod, functools.cached_property)
_CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range, type(NotImplemented))
_WRAPPERS = ("__func__", "fget", "fset", "fdel", "func", "__wrapped__")
_DESCRIPTORS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodWrapperType,
    np.ufunc,
)


def wrapped(value: Any) -> list[Any]:
    """The functions inside of a property, a static method and the like, and of a function that wraps another."""
    if isinstance(value, _HOLDERS):
        return [part for name in _WRAPPERS if (part := getattr(value, name, None)) is not None]
    if isinstance(value, types.FunctionType):
        return [value.__dict__["__wrapped__"]] if "__wrapped__" in value.__dict__ else []
    return []


class Fingerprints:
    """The fingerprints at one moment: objects may change, so they are not kept."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._kept: list[Any] = []

    def of(self, value: Any) -> str:
        """The fingerprint of an object. `NotEncodable` if it has none."""
        found = self._known.get(id(value))
        if found is None:
            self._known[id(value)] = "open"
            self._kept.append(value)
            try:
                found = self._found(value)
            except BaseException:
                del self._known[id(value)]
                raise
            if len(found) > 80:
                found = hashlib.sha256(found.encode()).hexdigest()
            self._known[id(value)] = found
        return found

    def all(self, values: Any) -> str:
        """One text for several objects."""
        return ",".join([self.of(value) for value in values])

    def _found(self, value: Any) -> str:
        cls = type(value)
        if cls in _CONSTANTS:
            return f"{cls.__name__} {value!r}"
        if cls in (tuple, list):
            return f"{cls.__name__}({self.all(value)})"
        if cls in (set, frozenset):
            return f"{cls.__name__}({','.join(sorted([self.of(x) for x in value]))})"
        if cls is dict:
            return f"dict({self.all([x for item in value.items() for x in item])})"
        if cls is slice:
            return f"slice({self.all([value.start, value.stop, value.step])})"
        if isinstance(value, np.dtype):
            return f"dtype {value!r} {value.str}"
        if isinstance(value, np.generic):
            return f"number {value.dtype} {value.tobytes().hex()}"
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, enum.Enum):
            return f"enum {self.of(cls)}.{value.name}"
        if isinstance(value, types.GenericAlias):
            return f"alias {self.of(value.__origin__)}[{self.all(value.__args__)}]"
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, functools.partial):
            return f"partial({self.all([value.func, value.args, value.keywords])})"
        if isinstance(value, _DESCRIPTORS):
            return f"{cls.__name__} {_place(value)}"
        if isinstance(value, _HOLDERS):
            return f"{cls.__name__}({self.all(wrapped(value))})"
        if isinstance(value, dataclasses.Field):
            return self._field(value)
        if cls.__name__ == "CompiledFunction" and is_own(cls) and value.transformed is None:
            return f"compiled {self.of(value.__pystage_function__)}"
        if not is_users(value) and getattr(value, "__qualname__", None):
            return f"object {_place(value)}"
        raise NotEncodable(f"an object of the class {cls.__module__}.{cls.__qualname__}")

    def _code(self, code: types.CodeType) -> str:
        constants = [self._constant(constant) for constant in code.co_consts]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        place = (code.co_filename, code.co_qualname, code.co_firstlineno)
        tables = (code.co_code, code.co_linetable, code.co_exceptiontable)
        text = repr((constants, names, counts, place, tables))
        return "code " + hashlib.sha256(text.encode()).hexdigest()

    def _constant(self, constant: Any) -> str:
        return self.of(constant)

    def _function(self, function: types.FunctionType) -> str:
        code = function.__code__
        text = f"function {_place(function)} {self.of(code)}({self.all(wrapped(function))})"
        if is_library_file(code.co_filename):  # nobody reads its variables through guards
            cells = [cell.cell_contents for cell in function.__closure__ or ()]
            text += self.all([cells, function.__defaults__, function.__kwdefaults__])
        return text

    def _class(self, cls: type) -> str:
        place = f"class {_place(cls)}"
        if not is_users(cls):
            return place
        members = [f"{name}={self._member(value)}" for name, value in sorted(vars(cls).items())]
        return f"{place}({self.all(cls.__bases__)}){self.of(type(cls))}[{','.join(members)}]"

    def _member(self, value: Any) -> str:
        """The fingerprint of a member of a class; other kinds of members have guards of their own where they are read."""
        if isinstance(value, (types.FunctionType, *_HOLDERS)) or type(value) in _CONSTANTS:
            return self.of(value)
        if isinstance(value, dict) and all(isinstance(x, dataclasses.Field) for x in value.values()):
            return self.of(dict(value))
        return _place(type(value))

    def _field(self, field: dataclasses.Field[Any]) -> str:
        default = "" if field.default is dataclasses.MISSING else self._member(field.default)
        make = "" if field.default_factory is dataclasses.MISSING else self.of(field.default_factory)
        flags = (field.init, field.repr, field.hash, field.compare, field.kw_only)
        return f"field {field.name} {default} {make} {flags}"


def _place(value: Any) -> str:
    module = getattr(value, "__module__", None) or getattr(
        getattr(value, "__objclass__", None), "__module__", ""
    )
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    return f"{module}.{name}"
