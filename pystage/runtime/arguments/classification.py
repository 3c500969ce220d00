"""Argument classification: by its exact type, an argument is a leaf of some kind or a container to flatten.

Containers and plain objects are flattened into keys and values; everything else is a leaf. A dynamic leaf is an input of
the compiled program, a static one is part of its signature. No user code runs here, and there is no registry: the rules
live as long as the compiled function that uses them.
"""

from __future__ import annotations

import collections
import enum
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ...compiler.hlo.types import SHORT_NAMES
from ...compiler.library.jax.registry import is_static_node
from ...compiler.library.rules.sequences import SEQUENCES
from ...compiler.policy import is_of_jax
from ...compiler.values.boundary import FACTORY
from ...compiler.values.generators import GENERATORS
from ...compiler.values.instances import slots_of
from ...compiler.values.memory import RecordClass, is_structured, record_class, why_not
from ..outcomes import HasLazy, Lazy
from .columns import Column

Opened = tuple[tuple[Any, ...], Sequence[Any]]
Opener = Callable[[Any], Opened]
"""From a container or an object to its keys and its values."""


class LeafKind(enum.Enum):
    """The kind of a leaf."""

    JAX = "jax.Array"
    TRACER = "a value of a JAX transformation around the call"
    NDARRAY = "ndarray"
    SCALAR = "numpy scalar"
    NUMBER = "int, float or complex"
    COLUMN = "numbers of the elements of a list or tuple"
    STATIC = "known while compiling"
    ABSTRACT = "a description of an array"
    UNSUPPORTED = "unsupported"


Rule = LeafKind | Opener

BY_VALUE: frozenset[type] = frozenset({str, bytes, bool, type(None)})
"""Static leaves that are compared by value; others by identity, unless they are `by_equality`."""


def by_equality(cls: type) -> bool:
    """True for a class of JAX's whose instances define equality but no hash: states of traces."""
    return cls.__hash__ is None and is_of_jax(cls)


_STATIC: tuple[type, ...] = (
    str,
    bytes,
    bool,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    type,
    enum.Enum,
    np.dtype,
    np.ufunc,
    types.FunctionType,
    types.BuiltinFunctionType,
    type(np.random.Generator.normal),  # a function written in Cython
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ModuleType,
    types.GenericAlias,
    types.UnionType,
)
_SCALARS = frozenset([dtype.type for dtype in SHORT_NAMES])  # np.longlong is none: int64 has another class
_NUMBERS = frozenset({int, float, complex})
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement (or by a C module that asks for it)
_POINTER = np.dtype(np.intp).itemsize


class AbstractArgument:
    """Base class of abstract arguments of `lower`: a form, a type, no value."""

    __slots__ = ()


def rule_of(value: Any, static_types: tuple[type, ...]) -> Rule:
    """The classification of `value` and of all objects of its type. `static_types` are further static types."""
    cls = type(value)
    if isinstance(value, Lazy):
        raise HasLazy
    if isinstance(value, jax.core.Tracer):
        return LeafKind.TRACER
    if isinstance(value, jax.Array):
        return LeafKind.JAX
    if cls is Column:
        return LeafKind.COLUMN
    if isinstance(value, np.ndarray):
        return LeafKind.NDARRAY if cls is np.ndarray else LeafKind.UNSUPPORTED
    if isinstance(value, np.generic):
        return LeafKind.SCALAR if cls in _SCALARS else LeafKind.UNSUPPORTED
    if cls in _NUMBERS:
        return LeafKind.NUMBER
    if isinstance(value, jax.ShapeDtypeStruct | AbstractArgument):
        return LeafKind.ABSTRACT
    if isinstance(value, (*_STATIC, *static_types)):
        return LeafKind.STATIC
    opener = _container(value, cls)
    if opener is not None:
        return opener
    if is_of_jax(cls):
        return LeafKind.STATIC
    if is_static_node(value):
        return LeafKind.STATIC
    if is_plain(cls):
        return _object_opener(cls)
    return LeafKind.UNSUPPORTED


LISTED = (list, tuple)
"""The classes whose instances are opened as they are: their values have no keys."""


def _container(value: Any, cls: type) -> Opener | None:
    if cls in LISTED:
        return _open_sequence
    if cls in (dict, collections.OrderedDict, collections.Counter):
        return _open_dict
    if cls is collections.defaultdict:
        return _open_defaultdict
    if cls in SEQUENCES:
        return SEQUENCES[cls].opened
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return functools.partial(_open_named, tuple(cls._fields))
    if cls is types.MethodType:
        return _open_method
    if isinstance(value, functools.partial):
        return _open_partial
    if cls is slice:
        return _open_slice
    if cls is range:
        return _open_slice
    if cls in GENERATORS:
        return _open_generator
    return None


def _open_sequence(value: Sequence[Any]) -> Opened:
    return (), value


def _open_dict(value: dict[Any, Any]) -> Opened:
    return tuple(value), tuple(value.values())


def _open_defaultdict(value: collections.defaultdict[Any, Any]) -> Opened:
    return (*value, FACTORY), (*value.values(), value.default_factory)


def _open_named(fields: tuple[str, ...], value: tuple[Any, ...]) -> Opened:
    attributes = getattr(value, "__dict__", None)
    if attributes:  # of an instance of a subclass; no program has them, and a proxy is refused
        return (*fields, "__dict__"), (*value, types.MappingProxyType(attributes))
    return fields, value


def _open_method(value: types.MethodType) -> Opened:
    return ("__func__", "__self__"), (value.__func__, value.__self__)


def _open_partial(value: functools.partial[Any]) -> Opened:
    return ("func", "args", "keywords"), (value.func, value.args, value.keywords)


def class_of(value: Any) -> type:
    """The class that determines how an argument is flattened: of a structured ndarray one for its dtype."""
    return record_class(value.dtype, type(value)) if is_structured(value) else type(value)


def open_records(cls: type[RecordClass], value: np.ndarray[Any, Any]) -> Opened:
    """A structured ndarray as its fields, views of its memory."""
    return cls.keys, [leaf.of(value) for leaf in cls.leaves]


def _open_slice(value: slice | range) -> Opened:
    return ("start", "stop", "step"), (value.start, value.stop, value.step)


def _open_generator(value: Any) -> Opened:
    bits, name = None, "bit_generator"
    if isinstance(value, np.random.Generator):
        bits = value.bit_generator
    elif isinstance(value, np.random.RandomState):
        name, bits = f"_{name}", value._bit_generator
    return ((name,), (bits,)) if type(bits) in GENERATORS else ((), ())


def is_plain(cls: type) -> bool:
    """True if an instance consists of attributes: a class of Python code, without C state below."""
    for base in cls.__mro__:
        if base is not object and not base.__flags__ & _HEAP_TYPE:
            return False
    slots = len(slots_of(cls))
    if not slots and not cls.__dictoffset__:
        return False
    # Besides its slots an instance of a Python class has at most a dictionary and a list of weak references.
    return cls.__basicsize__ - object.__basicsize__ <= (slots + 2) * _POINTER


def _object_opener(cls: type) -> Opener:
    slots = slots_of(cls)
    if not slots:
        return _open_object
    return functools.partial(_open_slotted, tuple(slots.items()), bool(cls.__dictoffset__))


def fields_of(value: Any) -> dict[str, Any]:
    """The instance dictionary, without running a `__getattribute__` of the user's."""
    fields = object.__getattribute__(value, "__dict__")
    assert isinstance(fields, dict)
    return fields


def _open_object(value: Any) -> Opened:
    fields = fields_of(value)
    return tuple(fields), tuple(fields.values())


def _open_slotted(slots: tuple[tuple[str, Any], ...], has_dict: bool, value: Any) -> Opened:
    keys: list[str] = []
    values: list[Any] = []
    for name, member in slots:
        try:
            values.append(member.__get__(value))
        except AttributeError:  # never assigned, or deleted
            continue
        keys.append(name)
    if has_dict:
        fields = fields_of(value)
        keys += fields
        values += fields.values()
    return tuple(keys), tuple(values)


def dtype_problem(dtype: np.dtype[Any]) -> str | None:
    """The reason why arrays of `dtype` cannot be staged, or None if they can."""
    if dtype.names is not None:
        return why_not(dtype) or "a structured dtype"
    if dtype.hasobject:
        return "Python objects as elements"
    if not dtype.isnative:
        return "a byte order that is not this machine's"
    if dtype not in SHORT_NAMES:
        return f"the element type {dtype}"
    return None
