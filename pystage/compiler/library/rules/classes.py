"""The Python class of an abstract value, for `type` and `isinstance`."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import types
from typing import Any, cast

import jax
import numpy as np

from ...hlo.types import DType
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Caught,
    Closure,
    Const,
    Count,
    DictCell,
    DictView,
    Enumerate,
    Exc,
    FlatIterator,
    IteratorCell,
    ListCell,
    Mapped,
    Meaning,
    Method,
    Partial,
    Range,
    Records,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    SetCell,
    SliceObject,
    Suspended,
    TableCell,
    Text,
    Tuple,
    Zip,
)
from ..context import Context, Raw
from .promote import python_type
from .sequences import SEQUENCES
from .split import needs_split, of_one_kind

_FIXED: dict[type, type] = {
    SliceObject: slice,
    Range: range,
    Enumerate: enumerate,
    Zip: zip,
    Reversed: reversed,
    Mapped: map,
    Closure: types.FunctionType,
    Method: types.MethodType,
    Partial: functools.partial,
    Meaning: types.BuiltinFunctionType,
    ListCell: list,
    RowsCell: list,
    RowsTuple: tuple,
    SetCell: set,
    ArrayCell: np.ndarray,
    IteratorCell: type(iter(())),
    Text: str,
}
_VIEWS: dict[str, type] = {"keys": type({}.keys()), "values": type({}.values()), "items": type({}.items())}


def class_of(ctx: Context, value: Raw) -> list[type]:
    """The class of a value; several for a caught exception."""
    match value:
        case Const(value=known):
            return [type(known)]
        case GatedNumber():
            return class_of(ctx, of_one_kind(ctx, value, "the class of a number"))
        case Array(key_impl=str()):
            return [_key_class()]
        case Array():
            return [scalar_class(value.dtype, value.form)]
        case Bounded():
            return [scalar_class(value.type.dtype, value.form)]
        case Records(cls=cls, element=element):
            return [cls.dtype.type if element else cls.array]
        case Tuple(cls=cls) | Exc(cls=cls):
            return [cls]
        case Caught():
            return sorted(value.classes, key=lambda c: c.__qualname__)
        case DictView(kind=kind):
            return [_VIEWS[kind]]
        case Ref():
            content = ctx.cell(value)
            if isinstance(content, IteratorCell) and isinstance(content.source, FlatIterator):
                return [np.flatiter]
            if isinstance(content, IteratorCell) and isinstance(content.source, Count):
                return [itertools.count]
            if isinstance(content, IteratorCell) and isinstance(content.source, Suspended):
                return [types.GeneratorType]
            if isinstance(content, TableCell | DictCell):
                return [content.container]
            return [cast(type, _FIXED.get(type(content)) or content.cls)]
        case Gated(options=options):
            first, *others = [class_of(ctx, option) for option in options]
            if any(other != first for other in others):
                raise needs_split(value)
            return first
        case Abstract():
            return [_FIXED[type(value)]]
        case _:
            return [type(value)]


def scalar_class(dtype: DType, form: Form) -> type:
    """The class of a number or array of this kind."""
    match form:
        case Form.PYTHON:
            return python_type(dtype)
        case Form.SCALAR:
            return cast(type, dtype.type)
        case Form.NDARRAY:
            return np.ndarray
        case Form.JAX:
            return jax_array_class()


@functools.cache
def jax_array_class() -> type:
    """The concrete class of `jax.Array`s: `jax.Array` itself is an abstract one."""
    with jax.ensure_compile_time_eval():
        return type(jax.device_put(np.zeros(())))


@functools.cache
def _key_class() -> type:
    """The class of typed PRNG keys."""
    with jax.ensure_compile_time_eval():
        return type(jax.random.key(0))


_IN_C = (*SEQUENCES, collections.defaultdict, collections.OrderedDict)


def c_name(cls: type) -> str:
    """The name of a class in CPython's own messages: those written in C are qualified by their module."""
    in_c = cls in _IN_C or issubclass(cls, np.generic | np.ndarray | jax.Array | itertools.count)
    return f"{cls.__module__}.{cls.__name__}" if in_c else cls.__name__


def class_name(ctx: Context, value: Raw) -> str:
    """The name of the class of a value in CPython's own messages."""
    return c_name(class_of(ctx, value)[0])


def not_iterable(ctx: Context, value: Raw) -> str | None:
    """The name of the class of a value that is certainly no iterable; None for all others."""
    if isinstance(value, Abstract) and not isinstance(value, Const | Array | Ref | Closure | Method):
        return None
    (cls, *others) = class_of(ctx, value)
    jax_array = isinstance(value, Array) and value.form is Form.JAX
    if others or jax_array or hasattr(cls, "__iter__") or hasattr(cls, "__getitem__"):
        return None if not (isinstance(value, Array) and value.form is Form.SCALAR) else c_name(cls)
    return c_name(cls)


def is_generated(function: Any) -> bool:
    """True for a method that `dataclasses` generated."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return code is not None and code.co_filename == "<string>"
