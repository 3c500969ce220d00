"""The environment of a staged function: globals, closures, defaults, and the objects that they reach.

Arrays and floating-point numbers become hidden inputs, read at each call, and so do integers that feedback shows to
change; what must be known becomes a constant under a guard. Containers and objects become cells whose contents are read
on demand.
"""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import jax
import numpy as np

from ... import limits
from ...diagnostics.codes_types import DTypeNotStaged
from ...diagnostics.diagnostic import DiagnosticError
from ...hash_order import note_set
from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import SHORT_NAMES, ArrayType, DType
from ...library.jax.traced_calls import is_jax_callable
from ...library.kernels.structures import container_of
from ...library.registry import meaning_of
from ...library.rules.numbers import python_dtype
from ...library.rules.sequences import SEQUENCES, sequence_cell
from ...policy import package_of
from ...speculation import Declarations, Fixed, Grows
from ...values.boundary import (
    CallableMember,
    CellVariable,
    Form,
    Global,
    Guard,
    GuardKind,
    HiddenInput,
    Path,
    PathKey,
    PathStep,
)
from ...values.demand import Statics, no_value
from ...values.generators import GENERATORS, bits_of
from ...values.instances import instance_fields
from ...values.lattice import (
    DICT_CLASSES,
    Abstract,
    Array,
    ArrayCell,
    Const,
    DictCell,
    ListCell,
    Method,
    ObjectCell,
    Records,
    Ref,
    SetCell,
    Tuple,
    Undef,
    VariableCell,
)
from ...values.memory import is_structured, record_class
from ...values.state import State
from ..diagnostics.foreign import unsupported_class
from ..state.classes import unsupported
from ..state.constants import ParameterOrigins
from ..state.generators import CallersGenerators, bits_path

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
    type(NotImplemented),
)
_BY_VALUE = (bool, str, bytes, type(None), type(Ellipsis), range, slice)
_NUMBERS = (int, float, complex)
_INT64 = range(-(2**63), 2**63)


class _Attributes:
    """Finds the attributes of one object of the environment, each once."""

    __slots__ = ("_externals", "_known", "_object", "_path")

    def __init__(self, externals: Externals, path: Path, obj: Any) -> None:
        self._externals = externals
        self._path = path
        self._object = obj
        self._known: dict[str, Abstract | None] = {}

    @property
    def names(self) -> Iterable[str]:
        return instance_fields(self._object)

    def __call__(self, name: str) -> Abstract | None:
        if name not in self._known:
            fields = instance_fields(self._object)
            # That a field is absent is a part of the object's layout, which is guarded.
            path = self._path.attribute(name)
            self._known[name] = self._externals.value(path, fields[name]) if name in fields else None
        return self._known[name]


class Externals:
    """What the program has read of the environment: hidden inputs, guards, and cells for the caller's objects."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "_root": Fixed(),
            "_b": Fixed(),
            "_state": Fixed(),
            "_origins": Fixed(),
            "statics": Fixed(),
            "extent": Fixed(),
            "keep": Grows("objects that are kept alive"),
            "special_methods": Grows("it is about classes, which do not change"),
            "library_attributes": Grows("it is about modules, which do not change"),
            "generators": Grows("at worst there is an input too many"),
            "depends_on_identity": Grows("a summary that stays may rely on it; at worst a guard too many"),
            **dict.fromkeys(
                (
                    "hidden",
                    "guards",
                    "cells",
                    "initial",
                    "records",
                    "_structured_arrays",
                    "_members",
                    "captured",
                    "_globals",
                    "_guarded",
                    "_classes",
                    "_functions",
                    "_methods",
                    "_opened",
                    "_closure_cells",
                ),
                Grows(
                    "what was read stays read, as `State.define` says; at worst there is an input or a guard too many"
                ),
            ),
        }
    )

    def __init__(self, root: Region, builder: Builder, state: State, origins: ParameterOrigins) -> None:
        self._root = root
        self._b = builder
        self._state = state
        self._origins = origins
        self.keep: list[Any] = []  # objects whose identity is part of a key
        self.hidden: list[tuple[HiddenInput, Value]] = []
        self.guards: list[Guard] = []
        self.cells: dict[int, tuple[int, Path, Any]] = {}  # by id of the object: cell, path, the object
        self.initial: dict[int, tuple[Path, Any]] = {}  # by cell: what it was when the program began
        self.records: dict[int, tuple[Path, Records]] = {}  # by the cell of a field: its structured ndarray
        self._members: set[tuple[type, str, int]] = set()
        self._structured_arrays: dict[int, tuple[Records, Path, Any]] = {}  # by id of the ndarray
        self.captured: list[int] = []  # cells that no argument led to, in the order in which they were met
        self.generators = CallersGenerators(root, state, self.hidden, self.initial)
        self._globals: dict[tuple[int, str], Abstract | None] = {}
        self._guarded: set[tuple[GuardKind, PathKey]] = set()
        self._classes: set[type] = set()
        self._functions: dict[int, types.FunctionType] = {}
        self._methods: dict[PathKey, Path] = {}
        self._opened: set[PathKey] = set()  # items of tables that were seen to change
        self.special_methods: dict[tuple[type, str], Abstract] = {}  # functions in classes of the program
        self.library_attributes: dict[tuple[int, str], Abstract] = {}  # by id of the module, and the name
        self.depends_on_identity = False
        """True once the program depends on objects of the caller's being different."""
        self._closure_cells: dict[int, tuple[int, Any]] = {}
        self.statics = Statics({}, no_value)
        self.extent = 0
        """The greatest extent of an argument, or the number of numbers in the arguments."""

    @property
    def read(self) -> list[Guard | HiddenInput]:
        """The guards and the hidden inputs so far."""
        return [*self.guards, *[hidden for hidden, _ in self.hidden]]

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
                self.guard(GuardKind.ABSENT, path, None)
                self._globals[key] = None
        return self._globals[key]

    def guard(self, kind: GuardKind, path: Path, expected: Any) -> None:
        """Records a guard: a fact that the program relies on."""
        key = (kind, path.key)
        if key not in self._guarded:
            self._guarded.add(key)
            self.guards.append(Guard(kind, path, expected, self._b.span))

    def value(self, path: Path, obj: Any) -> Abstract:
        """The abstract value of an object of the environment, read through `path`."""
        kind = type(obj)
        if kind is int and not (self._changes(path) and obj in _INT64):
            self.guard(GuardKind.EQUAL, path, obj)
            return Const(obj)
        if is_structured(obj):
            return self._records(path, obj)
        if kind in _NUMBERS or isinstance(obj, np.generic | np.ndarray | jax.Array):
            return self._number(path, obj)
        if kind in _BY_VALUE:
            self.guard(GuardKind.EQUAL, path, obj)
            return Const(obj)
        if isinstance(obj, types.MethodType):
            return Method(
                self.value(path.attribute("__func__"), obj.__func__),
                self.value(path.attribute("__self__"), obj.__self__),
                (self._methods.setdefault(path.key, path),),
            )
        if kind in GENERATORS:
            return self.generator(path, obj)
        opaque = isinstance(obj, _BY_IDENTITY) or is_opaque(obj)
        if opaque or isinstance(obj, functools.partial):
            self.guard(GuardKind.IS, path, obj)
            return Const(obj)
        return self._structure(path, obj)

    def generator(self, path: Path, obj: Any) -> Ref:
        """A generator of random numbers, which the program may only draw from."""
        found = self._known(path, obj)
        if found is not None:
            return found
        self.guard(GuardKind.LAYOUT, path, obj)
        bits, at, generators = bits_of(obj), bits_path(type(obj), path), self.generators
        content = generators.cell(type(obj), path, type(bits), id(bits))
        if bits is not obj and generators.states:
            self.guard(GuardKind.LAYOUT, at, bits)
        if generators.bits[id(bits)].key != at.key:
            self.guard(GuardKind.SAME, at, generators.bits[id(bits)])
        return Ref(self._cell(path, obj, content))

    def unspecialised(self, path: Path) -> Value:
        """An integer that is read at each call, and on which nothing is ever specialised."""
        value = self._root.add_param(ArrayType(np.dtype(np.int64), ()))
        self._origins.names[value] = path
        self.hidden.append((HiddenInput(path, value.type, Form.PYTHON, False, None), value))
        return value

    def member(self, cls: type, name: str, raw: Any) -> None:
        """Guards that `raw` stands under `name` in a class: another function may take its place."""
        key = cls, name, id(raw)
        if key in self._members:  # what is there is kept alive by its guard or by its library
            return
        self._members.add(key)
        self.note_class(cls)
        for base in cls.__mro__:
            found = vars(base).get(name)
            if found is not None and any(raw is x for x in (found, *_wrapped(found))):
                if not package_of(base).fixed:
                    path = Path(CallableMember(base, base.__qualname__), ((PathStep.MEMBER, name),))
                    self.guard(GuardKind.IS, path, found)
                return

    def note_function(self, function: types.FunctionType, path: Path) -> None:
        """Records that the code and the defaults of a function are a part of the program."""
        if id(function) not in self._functions:
            self._functions[id(function)] = function
            for name in ("__code__", "__defaults__", "__kwdefaults__"):
                self.guard(GuardKind.IS, path.attribute(name), getattr(function, name))

    @property
    def functions(self) -> list[types.FunctionType]:
        """The functions of which the code is a part of the program."""
        return list(self._functions.values())

    def note_class(self, cls: type) -> None:
        """Records that names were looked up in a class, missing ones too."""
        if cls in self._classes:
            return
        self._classes.add(cls)
        for base in cls.__mro__:
            if not package_of(base).fixed:
                self.guard(
                    GuardKind.NAMES,
                    Path(CallableMember(base, base.__qualname__)),
                    (len(vars(base)), base.__mro__),
                )

    def is_subclass(self, cls: type, wanted: Any) -> bool:
        """`issubclass(cls, wanted)`, under a guard where an abstract class answers: what is registered in it may change."""
        found = issubclass(cls, wanted)
        asked: Any = type(wanted).__subclasscheck__
        if asked is not type.__subclasscheck__ and wanted not in cls.__mro__:
            self.guard(GuardKind.IS, Path(CallableMember(issubclass, "issubclass")).call(cls, wanted), found)
        return found

    def _records(self, path: Path, obj: np.ndarray[Any, Any]) -> Records:
        """A structured ndarray: its fields are hidden inputs, views of its memory."""
        found = self._structured_arrays.get(id(obj))
        if found is not None:
            if path.key != found[1].key:
                self.guard(GuardKind.SAME, path, found[1])
            return found[0]
        self.guard(GuardKind.LAYOUT, path, obj)
        cls = record_class(obj.dtype, type(obj))
        parts = [self._number(path.field(leaf.names), leaf.of(obj)) for leaf in cls.leaves]
        made = Records(cls, tuple(parts), cls.dtype.itemsize)
        self._structured_arrays[id(obj)] = made, path, obj
        self.note_records(path, made)
        return made

    def note_records(self, path: Path, records: Records) -> None:
        """Records where a structured ndarray of the caller's was found."""
        for part in records.parts:
            assert isinstance(part, Ref)
            self.records[part.cell] = path, records

    def _number(self, path: Path, obj: Any) -> Abstract:
        if isinstance(obj, np.ndarray):
            found = self._known(path, obj)
            if found is not None:
                return found
        if path.key in self.statics.fixed and not isinstance(obj, np.ndarray | jax.Array):
            self.guard(GuardKind.EQUAL, path, obj)
            return Const(obj)
        form, weak, key_impl = Form.NDARRAY, False, None
        dtype: DType
        shape: tuple[int, ...]
        if type(obj) in _NUMBERS:
            form, dtype, shape = Form.PYTHON, python_dtype(obj), ()
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
        if isinstance(obj, np.ndarray) and type(obj) is not np.ndarray:
            raise self._unsupported(type(obj), f"{path} holds one, a subclass of ndarray")
        if dtype not in SHORT_NAMES:
            raise DiagnosticError(DTypeNotStaged(span=self._b.span, what=f"`{path}`", dtype=str(dtype)))
        type_ = ArrayType(dtype, tuple(shape))
        value = self._root.add_param(type_)
        self._origins.names[value] = path
        self.hidden.append((HiddenInput(path, type_, form, weak, self._b.span), value))
        if form in (Form.PYTHON, Form.SCALAR):
            self._origins.places[value] = path
            self._origins.environment[value] = obj
            self.statics.inputs[path.key] = path, obj
        if form is not Form.NDARRAY:
            return Array(value, form, weak, key_impl=key_impl)
        return Ref(self._cell(path, obj, ArrayCell(value, bool(obj.flags.writeable))))

    def _unsupported(self, cls: type, why: str) -> DiagnosticError:
        return DiagnosticError(unsupported_class(cls, why, self._b.span))

    def _known(self, path: Path, obj: Any) -> Ref | None:
        """The reference to an object that another path led to: both must lead to one object from now on."""
        found = self.cells.get(id(obj))
        if found is None:
            return None
        if path.key != found[1].key:
            self.guard(GuardKind.SAME, path, found[1])
        return Ref(found[0])

    def _cell(self, path: Path, obj: Any, content: Any) -> int:
        state = self._state
        cell = state.cell_number()
        state.define(cell, content)
        self.cells[id(obj)] = (cell, path, obj)
        self.define(cell, path, content)
        return cell

    def define(self, cell: int, path: Path, content: Any) -> None:
        """Records the contents of a cell of the environment, outside of the arguments, when the program began."""
        self.initial[cell] = (path, content)
        self.captured.append(cell)

    def closure_cell(self, name: str, cell: Any) -> int:
        """The heap cell of a real closure cell."""
        found = self._closure_cells.get(id(cell))
        if found is None:
            with self._as_a_whole():
                number = self._state.cell_number()
                found = self._closure_cells[id(cell)] = (number, cell)
                content = self._closure_variable(name, cell)
                self._state.define(number, content)
                self.define(number, Path(CellVariable(cell, name)), content)
        return found[0]

    @contextmanager
    def _as_a_whole(self) -> Iterator[None]:
        """A `with` block after which what was read stays read if nothing in it was refused. Otherwise none of its cells do,
        since they may lead to what was not read: the next reader is refused again.
        """
        captured = len(self.captured)
        tables: list[dict[int, Any]] = [self.cells, self._closure_cells, self._structured_arrays]
        lengths = list(map(len, tables))
        try:
            yield
        except BaseException:
            for cell in self.captured[captured:]:
                del self.initial[cell], self._state.slots[cell]
            del self.captured[captured:]
            for table, length in zip(tables, lengths):
                while len(table) > length:
                    table.popitem()
            raise

    def _closure_variable(self, name: str, cell: Any) -> VariableCell:
        """What a real closure cell holds, as a value of the environment."""
        try:
            contents = cell.cell_contents
        except ValueError:
            return VariableCell(Undef())
        return VariableCell(self.value(Path(CellVariable(cell, name)), contents))

    def constant(self, value: Any) -> Abstract:
        """A plain Python object as an abstract value: tuples and lists by their items, everything else `Const`."""
        if isinstance(value, Abstract):
            return value
        content = container_of(value, self.constant) if type(value) in (tuple, list) else None
        if content is not None:
            return content if isinstance(content, Tuple) else Ref(self._state.new_cell(content))
        self.keep.append(value)
        return Const(value)

    def _structure(self, path: Path, obj: Any) -> Abstract:
        if type(obj) is tuple and is_table(obj) and not self._opens(path, obj):
            self.guard(GuardKind.EQUAL, path, obj)
            return self.constant(obj)
        with self._as_a_whole():
            return self._structured(path, obj)

    def _structured(self, path: Path, obj: Any) -> Abstract:
        if isinstance(obj, tuple):
            self.guard(GuardKind.LAYOUT, path, obj)
            items = [self.value(path.item(i), x) for i, x in enumerate(obj)]
            return Tuple(tuple(items), type(obj))
        found = self._known(path, obj)
        if found is not None:
            return found
        self.guard(GuardKind.LAYOUT, path, obj)
        if type(obj) is list:
            cell = self._cell(path, obj, ListCell(()))
            content: Any = ListCell(tuple([self.value(path.item(i), x) for i, x in enumerate(obj)]))
        elif isinstance(obj, dict) and type(obj) in DICT_CLASSES:
            cell = self._cell(path, obj, DictCell({}, container=type(obj)))
            entries = {k: self.value(path.item(k), x) for k, x in obj.items()}
            factory = None
            if isinstance(obj, collections.defaultdict):
                factory = self.value(path.attribute("default_factory"), obj.default_factory)
            content = DictCell(entries, container=type(obj), factory=factory)
        elif type(obj) in SEQUENCES:
            cell = self._cell(path, obj, ObjectCell(type(obj), {}))
            held = self._state.cell_number()
            elements = ListCell(tuple([self.value(path.item(i), x) for i, x in enumerate(obj)]))
            self._state.define(held, elements)
            self.define(held, path, elements)
            constants = [Const(getattr(obj, name)) for name in SEQUENCES[type(obj)].constants]
            content = sequence_cell(type(obj), Ref(held), constants)
        elif type(obj) in (set, frozenset):
            self.guard(GuardKind.EQUAL, path, obj)
            if type(obj) is frozenset:
                note_set(obj)
                return Const(obj)
            cell = self._cell(path, obj, SetCell(frozenset()))
            content = SetCell(frozenset(obj), order=tuple(obj))
        elif isinstance(obj, list | dict | set):
            raise self._unsupported(type(obj), unsupported(type(obj)))
        elif isinstance(obj, int | float | complex | str | bytes):
            raise self._unsupported(type(obj), "it inherits from a number or a string")
        else:
            cell = self._cell(path, obj, ObjectCell(type(obj), {}))
            content = ObjectCell(type(obj), {}, _Attributes(self, path, obj))
        self._state.define(cell, content)
        self.initial[cell] = (path, content)
        return Ref(cell)

    def _changes(self, path: Path) -> bool:
        """True if the value at `path` was seen to change, so that a guard on it would fail."""
        return path.key in self.statics.changing or path.key in self._opened

    def _opens(self, path: Path, table: tuple[Any, ...]) -> bool:
        """True for a tuple of numbers whose items are read one by one, so that its floats become inputs."""
        if self._changes(path):
            self._opened |= {path.item(i).key for i in range(len(table))}
            return True
        count, inexact = _numbers(table)
        return inexact and count <= limits.CONSTANT_TUPLE


def _wrapped(member: Any) -> list[Any]:
    """The functions inside of a member of a class: those of a property, of a static method."""
    return [getattr(member, name, None) for name in ("__func__", "fget", "fset", "func")]


def is_table(obj: Any) -> bool:
    """True for a tuple of numbers, strings and such tuples: a table that is written once."""
    if type(obj) is tuple:
        return all(map(is_table, obj))
    return type(obj) in _BY_VALUE or type(obj) in _NUMBERS


def _numbers(table: Any) -> tuple[int, bool]:
    """The number of leaves of a table, and whether there are floats or complex numbers among them."""
    if type(table) is not tuple:
        return 1, type(table) in (float, complex)
    parts = [_numbers(x) for x in table]
    return sum([n for n, _ in parts]), any(inexact for _, inexact in parts)


def is_opaque(obj: Any) -> bool:
    """True for an object that staged code handles as a constant: it is known to the library, or callable
    from a library, or a value of a library's own class."""
    if meaning_of(obj) is not None or hasattr(obj, "__pystage_function__") or is_jax_callable(obj):
        return True
    if isinstance(obj, functools.partial):
        return False
    return package_of(type(obj)).constants and not isinstance(
        obj, np.ndarray | np.generic | jax.Array | tuple
    )
