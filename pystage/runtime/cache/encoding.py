"""A program as data: rows of JSON, and back.

In: records of pystage's own (`records.dataclass`, enums, `hlo.ir.Function`), and values of Python and NumPy, in a graph
without circles. Out: a list of rows, each a tag and what it is made of: numbers of earlier rows, texts and numbers.
Nothing else has an encoding: what stands outside of the program (functions, classes, modules, dictionaries of modules,
cells of closures) is left to `Outside`, which names it. Decoding calls the classes and functions of pystage that make
such objects, and nothing else.
"""

from __future__ import annotations

import base64
import enum
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import numpy as np
from jax.tree_util import PyTreeDef

from ...compiler.diagnostics.errors import StagingError
from ...compiler.frontend.code_equality import nested_codes
from ...compiler.hlo.ir import Function, Op, Region, Value
from ...compiler.ops.foreign.jax_call import Static
from ...compiler.policy import USER, Policy, package_of
from ...compiler.values.instances import slots_of
from ...compiler.values.memory import RecordClass, record_class
from ...compiler.values.sites import RaiseSites
from ..arguments.classification import is_plain

Row = list[Any]
_OWN = __name__.partition(".")[0]
_SINGLE: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "Ellipsis": ...,
    "NotImplemented": NotImplemented,
}
_EXCEPTIONS = ("builtins", "numpy", "numpy.linalg", "numpy.exceptions")
"""Modules whose exceptions are made of their arguments and attributes alone."""


class NotEncodable(Exception):
    """Raised for an object without an encoding; the text names it."""


class NotFound(Exception):
    """Raised for rows that this process cannot decode: of another version, or with names that do not exist."""


class Outside(Protocol):
    """Names for objects that are no part of a program, but of the process around it."""

    def name(self, value: Any) -> Row | None:
        """A row (without tag) that names the object; None for an object that is not the process's. `NotEncodable` without a
        name.
        """
        ...

    def object(self, name: Row) -> Any:
        """The object of this name. `NotFound` if there is none."""
        ...


def is_own(defined: Any) -> bool:
    """True for a class or a function of pystage."""
    return is_own_module(str(getattr(defined, "__module__", "")))


def is_own_module(name: str) -> bool:
    """True for a module of pystage."""
    return name.partition(".")[0] == _OWN


def is_users(defined: Any) -> bool:
    """True for a class or a function of the user's, or of a library that the compiler does not know."""
    return package_of(defined) is USER and not is_own(defined)


@functools.cache
def _code_of(module: str) -> dict[tuple[str, int], types.CodeType]:
    """The code object in one of pystage's modules, by name and line."""
    values = list(vars(sys.modules[module]).values())
    values += [
        member
        for cls in values
        if isinstance(cls, type) and cls.__module__ == module
        for member in vars(cls).values()
    ]
    codes = [
        inspect.unwrap(v).__code__
        for v in values
        if isinstance(v, types.FunctionType) and v.__module__ == module
    ]
    nested = [inner for code in codes for inner in (code, *nested_codes(code))]
    return {(code.co_qualname, code.co_firstlineno): code for code in nested}


class Encoder:
    """Encodes objects as rows."""

    def __init__(self, outside: Outside) -> None:
        self.rows: list[Row] = []
        self._outside = outside
        self._by_identity: dict[int, int] = {}
        self._by_value: dict[Any, int] = {}
        self._kept: list[Any] = []
        self._open: set[int] = set()
        self._singles: dict[str, dict[int, str]] = {}

    def encode(self, value: Any) -> int:
        """The number of the row of an object. `NotEncodable` if there is none."""
        number = self._by_identity.get(id(value))
        if number is None:
            if type(value) is RaiseSites:
                return self._sites(value)
            if id(value) in self._open:
                raise NotEncodable(f"an object of the class {type(value).__qualname__} that holds itself")
            self._open.add(id(value))
            try:
                row, shared = self._row(value)
            finally:
                self._open.discard(id(value))
            number = self._add(row, shared)
            self._by_identity[id(value)] = number
            self._kept.append(value)
        return number

    def _sites(self, value: RaiseSites) -> int:
        """Encodes a table of raise sites before its contents, which may refer to it."""
        number = self._by_identity[id(value)] = self._add(["sites"], False)
        self._kept.append(value)
        self._add(["in sites", number, *self.all([*vars(value), *vars(value).values()])], False)
        return number

    def all(self, values: Any) -> list[int]:
        """The numbers of the rows of several objects."""
        return [self.encode(value) for value in values]

    def _add(self, row: Row, shared: bool) -> int:
        if not shared:
            self.rows.append(row)
            return len(self.rows) - 1
        key = _frozen(row)
        number = self._by_value.get(key)
        if number is None:
            number = self._by_value[key] = len(self.rows)
            self.rows.append(row)
        return number

    def _row(self, value: Any) -> tuple[Row, bool]:
        """The row of an object, and whether equal ones may be one object."""
        cls = type(value)
        simple = _SIMPLE[cls]
        if simple is not None:
            return simple(value), True
        if cls is types.MethodType and is_own(type(value.__self__)):
            return ["method", self.encode(value.__self__), value.__name__], False
        if cls is types.FunctionType and "<locals>" in value.__qualname__ and is_own(value):
            return self._closure(value), False
        if cls is type and issubclass(value, RecordClass) and value is not RecordClass:
            return ["records", self.encode(value.dtype), value.array is np.recarray], True
        named = self._outside.name(value)
        if named is not None:
            return ["outside", *named], True
        if cls in _ITERABLES:
            return [_ITERABLES[cls], *self.all(value)], False
        if cls in (dict, types.MappingProxyType):
            return ["dict", *self.all([x for item in value.items() for x in item])], False
        if cls is slice:
            return ["slice", *self.all([value.start, value.stop, value.step])], True
        if cls is functools.partial:
            return ["partial", *self.all([value.func, value.args, value.keywords])], False
        if cls is np.ndarray or isinstance(value, np.generic):
            return self._numbers(value), False
        if cls is Static:
            return self._static(value), True
        if cls is PyTreeDef:
            return self._tree(value), True
        if cls is Function:
            return self._function(value), False
        if isinstance(value, BaseException):
            return self._exception(value), False
        if is_own(cls):
            return self._own(cls, value)
        if package_of(cls).policy is Policy.TRACED and is_plain(cls) and not slots_of(cls):
            # A node of a tree, as of a layer whose call JAX traces.
            return ["object", *self.all([cls, list(vars(value)), *vars(value).values()])], False
        raise NotEncodable(f"an object of the class {cls.__module__}.{cls.__qualname__}")

    def _numbers(self, value: Any) -> Row:
        if value.dtype.hasobject or value.dtype.fields is not None:
            raise NotEncodable(f"an array of the element type {value.dtype}")
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        dtype = self.encode(value.dtype)
        if isinstance(value, np.ndarray):
            return ["array", dtype, text, list(value.shape), bool(value.flags.writeable)]
        return ["number", dtype, text]

    def _closure(self, value: types.FunctionType) -> Row:
        """A function made by one of pystage's functions."""
        place = value.__code__.co_qualname, value.__code__.co_firstlineno
        if _code_of(value.__module__).get(place) is not value.__code__:
            raise NotEncodable(f"the function {value.__qualname__}")
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [
            "closure",
            value.__module__,
            *place,
            *self.all([value.__defaults__, value.__kwdefaults__, *cells]),
        ]

    def _static(self, value: Static) -> Row:
        if callable(value.value) and is_users(value.value):
            raise NotEncodable(f"{value!r}, which JAX traces")  # what it reads has no guards
        return ["static", self.encode(value.value)]

    def _tree(self, value: PyTreeDef) -> Row:
        made = jax.tree.unflatten(value, range(value.num_leaves))
        if jax.tree.structure(made) != value:
            raise NotEncodable(f"the tree {value}")
        return ["tree", self.encode(made)]

    def _exception(self, value: BaseException) -> Row:
        cls = type(value)
        if isinstance(value, StagingError):
            return ["refusal", self.encode(value.diagnostics), value.started]
        if cls.__module__ not in _EXCEPTIONS:
            raise NotEncodable(f"an exception of the class {cls.__module__}.{cls.__qualname__}")
        chained = value.__cause__, value.__context__, value.__suppress_context__
        return ["exception", *self.all([cls, value.args, value.__dict__, *chained])]

    def _own(self, cls: type, value: Any) -> tuple[Row, bool]:
        name = [cls.__module__, cls.__qualname__]
        if isinstance(value, enum.Enum):
            return ["enum", *name, value.name], True
        if isinstance(value, tuple):
            return ["named", *name, *self.all(value)], False
        single = self._singles_of(cls.__module__).get(id(value))
        if single is not None:
            return ["own single", cls.__module__, single], True
        fields: dict[str, Any] | None = getattr(cls, "__dataclass_fields__", None)
        if fields is None:
            raise NotEncodable(f"an object of the class {cls.__module__}.{cls.__qualname__}")
        state = [getattr(value, field) for field in fields]
        by_identity = vars(object)["__eq__"] is inspect.getattr_static(cls, "__eq__")
        return ["own", *name, *self.all(state)], not by_identity

    def _singles_of(self, module: str) -> dict[int, str]:
        """The names of the objects that are variables of a module, by identity."""
        found = self._singles.get(module)
        if found is None:
            found = self._singles[module] = {id(v): name for name, v in vars(sys.modules[module]).items()}
        return found

    # -- HLO

    def _function(self, function: Function) -> Row:
        numbers: dict[Value, int] = {}
        body = self._region(function.body, numbers)
        flags = [function.fence, function.catches, function.kernel]
        return ["function", function.name, self.encode(function.span), flags, body]

    def _region(self, region: Region, numbers: dict[Value, int]) -> Row:
        for param in region.params:
            numbers[param] = len(numbers)
        types = [self.encode(v.type) for v in region.params]
        ops = [self._op(op, numbers) for op in region.ops]
        return [types, ops, [numbers[v] for v in region.results]]

    def _op(self, op: Op, numbers: dict[Value, int]) -> Row:
        kind, span = self.encode(op.kind), self.encode(op.span)
        regions = [self._region(region, numbers) for region in op.regions]
        operands = [numbers[v] for v in op.operands]
        for result in op.results:
            numbers[result] = len(numbers)
        return [kind, operands, [self.encode(v.type) for v in op.results], regions, span]


def _frozen(value: Any) -> Any:
    return tuple([_frozen(x) for x in value]) if isinstance(value, list) else (value.__class__, value)


def _single(value: Any) -> Row:
    return ["single", repr(value)]


def _integer(value: int) -> Row:
    return ["int", value] if -(2**63) <= value < 2**63 else ["int", hex(value)]


def _text(value: str) -> Row:
    if " at 0x" in value:
        raise NotEncodable("a text with an address in it")
    return ["str", value]


def described(value: np.dtype[Any]) -> Any:
    """A dtype as rows have it, from which `dtype_of` makes it again; `NotEncodable` for one that none can be made from."""
    try:
        found = _described(value)
        made = dtype_of(found)
    except TypeError:
        raise NotEncodable(f"the element type {value!r}") from None
    is_same = made == value and made.type is value.type and made.isalignedstruct == value.isalignedstruct
    if not is_same or value.metadata is not None:
        raise NotEncodable(f"the element type {value!r}")
    return found


def _dtype(value: np.dtype[Any]) -> Row:
    return ["dtype", described(value)]


def _described(dtype: np.dtype[Any]) -> Any:
    """The name of a dtype; of a structured one class, alignment, size, and the names, dtypes and places of the fields."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return ["array", _described(base), list(shape)]
    if dtype.fields is None:
        return dtype.name
    fields = [(name, dtype.fields[name]) for name in dtype.names or ()]
    parts = [[name, _described(field), int(offset)] for name, (field, offset, *_) in fields]
    return ["records", dtype.type is np.record, dtype.isalignedstruct, dtype.itemsize, parts]


def dtype_of(row: Any) -> np.dtype[Any]:
    """The dtype that `described` gave this for."""
    match row:
        case str(name):
            return np.dtype(name)
        case ["array", base, list(shape)]:
            return np.dtype((dtype_of(base), tuple(shape)))
        case ["records", bool(is_record), bool(aligned), int(size), list(parts)]:
            names, dtypes, offsets = zip(*parts, strict=True)
            formats = [dtype_of(each) for each in dtypes]
            layout: Any = {
                "names": list(names),
                "formats": formats,
                "offsets": list(offsets),
                "itemsize": size,
            }
            made = np.dtype(layout, align=aligned)
            return np.dtype((np.record, made)) if is_record else made
    raise NotFound(f"the element type {row!r}")


class _ByClass(dict[type, Any]):
    """A table by class, for families with many classes: as of `np.dtype`."""

    def __missing__(self, cls: type) -> Any:
        found = _dtype if issubclass(cls, np.dtype) else None
        self[cls] = found
        return found


_SIMPLE: dict[type, Callable[[Any], Row] | None] = _ByClass({
    **{type(value): _single for value in _SINGLE.values()},
    int: _integer,
    float: lambda value: ["float", base64.b64encode(np.float64(value).tobytes()).decode()],
    complex: lambda value: ["complex", base64.b64encode(np.complex128(value).tobytes()).decode()],
    str: _text,
    bytes: lambda value: ["bytes", base64.b64encode(value).decode()],
    range: lambda value: ["range", *[hex(x) for x in (value.start, value.stop, value.step)]],
})  # fmt: skip
_ITERABLES: dict[type, str] = {tuple: "tuple", list: "list", set: "set", frozenset: "frozenset"}


class Decoder:
    """Decodes the objects of rows, in order."""

    def __init__(self, outside: Outside) -> None:
        self.objects: list[Any] = []
        self._outside = outside
        self._classes: dict[tuple[str, str], type] = {}

    def decode(self, rows: Sequence[Row]) -> None:
        """Decodes the objects of the next rows. `NotFound` if they are not ours."""
        try:
            for row in rows:
                self.objects.append(_DECODERS[row[0]](self, row))
        except NotFound:
            raise
        except (
            KeyError,
            IndexError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise NotFound(f"{type(error).__name__}: {error}") from error

    def _all(self, numbers: Sequence[int]) -> list[Any]:
        return [self.objects[n] for n in numbers]

    def _class(self, module: str, name: str) -> Any:
        """A class of pystage."""
        found = self._classes.get((module, name))
        if found is None:
            if not is_own_module(module):
                raise NotFound(f"a class of {module}")
            if module not in sys.modules:
                importlib.import_module(module)
            found = functools.reduce(getattr, name.split("."), sys.modules[module])  # type: ignore[assignment]
            if not isinstance(found, type) or not is_own(found):
                raise NotFound(f"{module}.{name} is no class")
            self._classes[module, name] = found
        return found

    def outside(self, row: Row) -> Any:
        """An object of the process."""
        return self._outside.object(row[1:])

    def single(self, row: Row) -> Any:
        """An object that is a variable of one of pystage's modules."""
        if not is_own_module(row[1]):
            raise NotFound(f"a variable of {row[1]}")
        found = getattr(importlib.import_module(row[1]), row[2])
        if not is_own(type(found)):
            raise NotFound(f"the variable {row[2]} of {row[1]}")
        return found

    def own(self, row: Row) -> Any:
        """An object of a class of pystage."""
        cls = self._class(row[1], row[2])
        values = self._all(row[3:])
        fields = dict(zip(cls.__dataclass_fields__.values(), values, strict=True))
        made = cls(**{field.name: value for field, value in fields.items() if field.init})
        for field, value in fields.items():
            if not field.init:
                object.__setattr__(made, field.name, value)
        return made

    def object(self, row: Row) -> Any:
        """An object of a package built on JAX."""
        cls, names, *values = self._all(row[1:])
        if not isinstance(cls, type) or package_of(cls).policy is not Policy.TRACED or not is_plain(cls):
            raise NotFound(f"an object of the class {cls}")
        made: Any = object.__new__(cls)
        vars(made).update(zip(names, values, strict=True))
        return made

    def in_sites(self, row: Row) -> None:
        """The contents of a table of raise sites."""
        table, values = self.objects[row[1]], self._all(row[2:])
        half = len(values) // 2
        if type(table) is not RaiseSites or [*vars(table)] != values[:half]:
            raise NotFound("a table of raise sites")
        vars(table).update(zip(values[:half], values[half:], strict=True))

    def numbers(self, row: Row) -> Any:
        """An array, or a NumPy scalar."""
        data = np.frombuffer(base64.b64decode(row[2], validate=True), self.objects[row[1]])
        if row[0] == "number":
            return data[0]
        made = data.reshape(row[3]).copy()
        made.flags.writeable = row[4]
        return made

    def exception(self, row: Row) -> Any:
        """An exception of Python's or NumPy's."""
        cls, args, attributes, *chained = self._all(row[1:])
        if not issubclass(cls, BaseException) or cls.__module__ not in _EXCEPTIONS:
            raise NotFound(f"an exception of the class {cls}")
        made = cls.__new__(cls, *args)
        made.args = args
        made.__dict__.update(attributes)
        made.__cause__, made.__context__, made.__suppress_context__ = chained
        return made

    def refusal(self, row: Row) -> StagingError:
        """A diagnostic or exception of pystage."""
        made = StagingError(self.objects[row[1]])
        made.started = row[2]
        return made

    def closure(self, row: Row) -> types.FunctionType:
        """A function made by one of pystage's functions."""
        if not is_own_module(row[1]):
            raise NotFound(f"a function of {row[1]}")
        namespace = vars(importlib.import_module(row[1]))
        code = _code_of(row[1])[row[2], row[3]]
        defaults, named, *contents = self._all(row[4:])
        cells = tuple([types.CellType(value) for value in contents])
        made = types.FunctionType(code, namespace, code.co_name, defaults, cells)
        made.__kwdefaults__ = named
        made.__qualname__ = code.co_qualname
        return made

    def method(self, row: Row) -> Any:
        """A method of an object of pystage's."""
        owner = self.objects[row[1]]
        if not is_own(type(owner)):
            raise NotFound("a method")
        return types.MethodType(getattr(type(owner), row[2]), owner)

    def function(self, row: Row) -> Function:
        """A function of HLO IR."""
        _, name, span, (fence, catches, kernel), body = row
        return Function(name, self._region(body, []), self.objects[span], fence, catches, kernel)

    def _region(self, row: Row, values: list[Value]) -> Region:
        types, ops, results = row
        made = Region(tuple(self._all(types)))
        values += made.params
        made.ops = [self._op(op, values) for op in ops]
        made.results = tuple([values[n] for n in results])
        return made

    def _op(self, row: Row, values: list[Value]) -> Op:
        kind, operands, types, inner, span = row
        regions = tuple([self._region(region, values) for region in inner])
        taken = tuple([values[n] for n in operands])
        made = Op(self.objects[kind], taken, tuple(self._all(types)), regions, self.objects[span])
        values += made.results
        return made


def _pairs(values: list[Any]) -> dict[Any, Any]:
    return dict(zip(values[::2], values[1::2], strict=True))


_DECODERS: dict[str, Callable[[Decoder, Row], Any]] = {
    "single": lambda d, row: _SINGLE[row[1]],
    "int": lambda d, row: int(row[1], 16) if isinstance(row[1], str) else int(row[1]),
    "float": lambda d, row: float(np.frombuffer(base64.b64decode(row[1]))[0]),
    "complex": lambda d, row: complex(np.frombuffer(base64.b64decode(row[1]), np.complex128)[0]),
    "str": lambda d, row: str(row[1]),
    "bytes": lambda d, row: base64.b64decode(row[1]),
    "range": lambda d, row: range(*[int(x, 16) for x in row[1:]]),
    "dtype": lambda d, row: dtype_of(row[1]),
    "records": lambda d, row: record_class(d.objects[row[1]], np.recarray if row[2] else np.ndarray),
    "outside": Decoder.outside,
    "tuple": lambda d, row: tuple(d._all(row[1:])),
    "list": lambda d, row: d._all(row[1:]),
    "set": lambda d, row: set(d._all(row[1:])),
    "frozenset": lambda d, row: frozenset(d._all(row[1:])),
    "dict": lambda d, row: _pairs(d._all(row[1:])),
    "slice": lambda d, row: slice(*d._all(row[1:])),
    "partial": lambda d, row: functools.partial(d.objects[row[1]], *d.objects[row[2]], **d.objects[row[3]]),
    "array": Decoder.numbers,
    "number": Decoder.numbers,
    "method": Decoder.method,
    "function": Decoder.function,
    "exception": Decoder.exception,
    "refusal": Decoder.refusal,
    "enum": lambda d, row: d._class(row[1], row[2])[row[3]],
    "named": lambda d, row: tuple.__new__(d._class(row[1], row[2]), d._all(row[3:])),
    "static": lambda d, row: Static(d.objects[row[1]]),
    "tree": lambda d, row: jax.tree.structure(d.objects[row[1]]),
    "closure": Decoder.closure,
    "own": Decoder.own,
    "object": Decoder.object,
    "sites": lambda d, row: RaiseSites(),
    "in sites": Decoder.in_sites,
    "own single": Decoder.single,
}  # fmt: skip
