"""The world around a staged function: globals, closures, defaults, and what they hold.

Numbers with a fraction and arrays become hidden inputs, read at each call; what must be known becomes a
constant under a guard. Containers and objects become cells whose contents are found as they are needed.
"""

from __future__ import annotations

import builtins
import enum
import functools
import types
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..diagnostics.codes_calls import UnsupportedClass
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Value
from ..hlo.types import SHORT_NAMES, ArrayType, DType
from ..values.boundary import Form, Global, Guard, GuardKind, HiddenInput, Path, Step
from ..values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    DictCell,
    ListCell,
    Method,
    ObjectCell,
    Ref,
    SetCell,
    Tuple,
)

if TYPE_CHECKING:
    from .engine import Engine

_BY_IDENTITY = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    np.ufunc,
    enum.Enum,
    np.dtype,
    types.GenericAlias,
)
_BY_VALUE = (bool, int, str, bytes, type(None), type(Ellipsis), range, slice, complex)


class Externals:
    """What the program has read of the world: hidden inputs, guards, and cells for the caller's objects."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.hidden: list[tuple[HiddenInput, Value]] = []
        self.guards: list[Guard] = []
        self.cells: dict[int, tuple[int, Path, Any]] = {}  # by id of the object: cell, path, the object
        self.initial: dict[int, tuple[Path, Any]] = {}  # by cell: what it was when the program began
        self._globals: dict[tuple[int, str], Abstract | None] = {}
        self._guarded: set[tuple[int, str, tuple[Any, ...]]] = set()

    def global_variable(self, namespace: dict[str, Any], name: str) -> Abstract | None:
        """The value of a module's variable or of a builtin; None if there is no such name."""
        key = (id(namespace), name)
        if key not in self._globals:
            path = Path(Global(namespace, name))
            if name in namespace:
                self._globals[key] = self.value(path, namespace[name])
            elif hasattr(builtins, name):
                self._globals[key] = self.value(path, getattr(builtins, name))
            else:
                self._globals[key] = None
        return self._globals[key]

    def guard(self, kind: GuardKind, path: Path, expected: Any) -> None:
        """Notes that the program holds only while this is so."""
        key = (id(path.root), str(path), (kind,))
        if key not in self._guarded:
            self._guarded.add(key)
            self.guards.append(Guard(kind, path, expected, self._engine.b.span))

    def value(self, path: Path, obj: Any) -> Abstract:
        """The abstract value of an object of the world, read through `path`."""
        if isinstance(obj, _BY_VALUE) and type(obj) in _BY_VALUE:
            self.guard(GuardKind.EQUAL, path, obj)
            return Const(obj)
        if isinstance(obj, float | np.generic | np.ndarray | jax.Array):
            return self._number(path, obj)
        if isinstance(obj, types.MethodType):
            return Method(
                self.value(_attribute(path, "__func__"), obj.__func__),
                self.value(_attribute(path, "__self__"), obj.__self__),
            )
        if isinstance(obj, _BY_IDENTITY) or self._engine.is_opaque(obj):
            self.guard(GuardKind.IS, path, obj)
            return Const(obj)
        if isinstance(obj, functools.partial):
            self.guard(GuardKind.IS, path, obj)
            return Const(obj)
        return self._structure(path, obj)

    def _number(self, path: Path, obj: Any) -> Abstract:
        found = self.cells.get(id(obj)) if isinstance(obj, np.ndarray) else None
        if found is not None:
            return Ref(found[0])
        form, weak, key_impl = Form.NDARRAY, False, None
        dtype: DType
        shape: tuple[int, ...]
        if isinstance(obj, float):
            form, dtype, shape = Form.PYTHON, np.dtype(np.float64), ()
        elif isinstance(obj, np.generic):
            form, dtype, shape = Form.SCALAR, obj.dtype, ()
        elif isinstance(obj, np.ndarray):
            dtype, shape = obj.dtype, obj.shape
        else:
            form, dtype, shape, weak = Form.JAX, obj.dtype, obj.shape, bool(getattr(obj, "weak_type", False))
            if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
                key_impl = str(jax.random.key_impl(obj))
                data = jax.eval_shape(jax.random.key_data, obj)
                dtype, shape = data.dtype, data.shape
        if dtype not in SHORT_NAMES:
            raise DiagnosticError(
                UnsupportedClass(
                    span=self._engine.b.span, name=f"ndarray of {dtype}", why=f"{path} holds one"
                )
            )
        type_ = ArrayType(dtype, tuple(shape))
        value = self._engine.root.add_param(type_)
        self.hidden.append((HiddenInput(path, type_, form, weak, self._engine.b.span), value))
        if form is not Form.NDARRAY:
            return Array(value, form, weak, key_impl=key_impl)
        return Ref(self._cell(path, obj, ArrayCell(value, bool(obj.flags.writeable))))

    def _cell(self, path: Path, obj: Any, content: Any) -> int:
        state = self._engine.state
        cell = state.cell_number()
        state.define(cell, content)
        self.cells[id(obj)] = (cell, path, obj)
        self.initial[cell] = (path, content)
        return cell

    def _structure(self, path: Path, obj: Any) -> Abstract:
        if isinstance(obj, tuple) and is_constant(obj):
            self.guard(GuardKind.EQUAL, path, obj)
            return self._engine.constant_object(obj)
        if isinstance(obj, tuple):
            items = [self.value(_item(path, i), x) for i, x in enumerate(obj)]
            self.guard(GuardKind.LAYOUT, path, obj)
            return Tuple(tuple(items), type(obj))
        found = self.cells.get(id(obj))
        if found is not None:
            return Ref(found[0])
        self.guard(GuardKind.LAYOUT, path, obj)
        if type(obj) is list:
            cell = self._cell(path, obj, ListCell(()))
            content: Any = ListCell(tuple([self.value(_item(path, i), x) for i, x in enumerate(obj)]))
        elif type(obj) is dict:
            cell = self._cell(path, obj, DictCell({}))
            content = DictCell({k: self.value(_item(path, k), x) for k, x in obj.items()})
        elif type(obj) in (set, frozenset):
            self.guard(GuardKind.EQUAL, path, obj)
            if type(obj) is frozenset:
                return Const(obj)
            cell = self._cell(path, obj, SetCell(frozenset()))
            content = SetCell(frozenset(obj))
        elif isinstance(obj, list | dict | set):
            raise DiagnosticError(
                UnsupportedClass(
                    span=self._engine.b.span, name=type(obj).__qualname__, why="it inherits from a container"
                )
            )
        else:
            cell = self._cell(path, obj, ObjectCell(type(obj), {}))
            content = ObjectCell(type(obj), {}, self._attributes(path, obj))
        self._engine.state.define(cell, content)
        self.initial[cell] = (path, content)
        return Ref(cell)

    def _attributes(self, path: Path, obj: Any) -> Any:
        """Finds the attributes of one object, each once."""
        known: dict[str, Abstract | None] = {}

        def origin(name: str) -> Abstract | None:
            if name not in known:
                step = _attribute(path, name)
                fields = instance_fields(obj)
                if name in fields:
                    known[name] = self.value(step, fields[name])
                else:
                    self.guard(GuardKind.ABSENT, step, None)
                    known[name] = None
            return known[name]

        return origin


def is_constant(obj: Any) -> bool:
    """True for a tuple of numbers, strings and such tuples: a table that is written once, floats included."""
    if type(obj) is tuple:
        return all(map(is_constant, obj))
    return type(obj) in _BY_VALUE or type(obj) is float


def instance_fields(obj: Any) -> dict[str, Any]:
    """The attributes that an object itself has: its `__dict__`, and its filled `__slots__`."""
    fields = dict(getattr(obj, "__dict__", {}))
    for cls in type(obj).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            descriptor = cls.__dict__.get(name)
            if isinstance(descriptor, types.MemberDescriptorType):
                try:
                    fields[name] = descriptor.__get__(obj)
                except AttributeError:
                    continue
    return fields


def _attribute(path: Path, name: str) -> Path:
    return Path(path.root, (*path.steps, (Step.ATTRIBUTE, name)))


def _item(path: Path, key: Any) -> Path:
    return Path(path.root, (*path.steps, (Step.ITEM, key)))
