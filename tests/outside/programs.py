"""A call of NumPy as a program of its own: the text of a function, and the arguments of it.

In: a known function, a method of an array, an operator or a subscript, with its arguments. Out: a `Program`: source text
in which arrays and numbers are parameters and everything else is written out.
`OutOfScope` where an argument is of a kind that pystage does not claim to take.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from pystage.compiler.hlo.types import SHORT_NAMES
from pystage.compiler.library.numpy.array_methods import NUMPY_METHODS
from pystage.compiler.library.registry import meaning_of

LEAVES = 48
"""How many parameters a program may have."""
ELEMENTS = 50_000
"""How many elements the arguments of a program may have."""
RESULT = 1 << 24
"""How many elements a result may have: what compares two of 2**32 takes all memory."""

NAMESPACES: dict[str, ModuleType] = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.lib.stride_tricks": np.lib.stride_tricks,
}
UFUNC_METHODS = frozenset({"reduce", "accumulate", "outer", "at"})
GENERATOR_METHODS = frozenset(name for name in dir(np.random.Generator) if not name.startswith("_")) - {
    "bit_generator",
    "spawn",
}
SETTINGS = frozenset({np.seterr, np.geterr, np.seterrcall, np.setbufsize, np.set_printoptions})
"""Functions that set the process, or give what is set: a second call gives what the first has set, or the runner, on lazy
tensors as plain."""
BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lshift": "<<",
    "rshift": ">>",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
UNARY = {"neg": "-", "pos": "+", "invert": "~"}
IN_PLACE = {"i" + name.rstrip("_"): sign + "=" for name, sign in BINARY.items()}
"""Signs by the names of the functions of `operator`."""

_TYPES: dict[Any, str] = {bool: "bool", int: "int", float: "float", complex: "complex"}


class OutOfScope(Exception):
    """An argument or a result is of a kind that pystage does not claim to take; the text says which."""


class TooLarge(Exception):
    """The arguments, or the result, have more elements than the tests are run with."""


def _names() -> dict[int, str]:
    """Where each function and class of NumPy is found, by its identity."""
    found: dict[int, str] = {}
    for prefix, module in NAMESPACES.items():
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and callable(value):
                found.setdefault(id(value), f"{prefix}.{name}")
    return found


NAMES = _names()


def is_known(function: Any) -> bool:
    """Whether pystage declares what a call of this function means."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, np.ndarray | np.generic):
        return name in NUMPY_METHODS
    if isinstance(owner, np.ufunc):
        return name in UFUNC_METHODS and id(owner) in NAMES
    if isinstance(owner, np.random.Generator):
        return name in GENERATOR_METHODS
    if id(function) not in NAMES or function in (np.empty, np.empty_like):  # what they hold is anything
        return False
    if isinstance(function, type) and not issubclass(function, np.generic):
        return False
    return meaning_of(function) is not None


@dataclass
class Program:
    """A function as text, and the arguments that it is called with."""

    text: str
    leaves: list[Any]

    def function(self) -> Callable[..., Any]:
        """The function that the text defines, with its lines where tracebacks and pystage look for them."""
        file = f"<outside {hash(self.text):x}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        names: dict[str, Any] = {"np": np, "__name__": "outside"}
        exec(compile(self.text, file, "exec"), names)
        function = names["call"]
        assert callable(function)
        return function


@dataclass
class Writer:
    """Writes a program.

    `literal`: numbers that are no arrays are written out; `integers`: lists of ints are parameters, too.
    """

    literal: bool
    integers: bool = False
    leaves: list[Any] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)

    def call(self, function: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> Program:
        """A call of a known function."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            called = f"{NAMES[id(owner)]}.{function.__name__}"
        elif owner is None or isinstance(owner, ModuleType):
            called = NAMES[id(function)]
        else:
            called = f"{self.value(owner)}.{function.__name__}"
        written = [self.value(arg) for arg in args]
        written += [f"{name}={self.value(arg)}" for name, arg in kwargs.items()]
        return self._program(f"return {called}({', '.join(written)})")

    def operate(self, name: str, operands: Iterable[Any]) -> Program:
        """An operator, by its name in `operator`."""
        written = [self.value(operand, is_operand=True) for operand in operands]
        if name in UNARY:
            return self._program(f"return {UNARY[name]}{written[0]}")
        if name in BINARY:
            return self._program(f"return {written[0]} {BINARY[name]} {written[1]}")
        return self._program(f"{written[0]} {IN_PLACE[name]} {written[1]}", f"return {written[0]}")

    def item(self, array: Any, index: Any) -> Program:
        """A subscript that is read."""
        return self._program(f"return {self.value(array)}[{self.value(index)}]")

    def store(self, array: Any, index: Any, value: Any, sign: str = "=") -> Program:
        """A subscript that is stored to."""
        target = f"{self.value(array)}[{self.value(index)}]"
        return self._program(f"{target} {sign} {self.value(value, is_operand=True)}")

    def store_in_place(self, name: str, array: Any, index: Any, value: Any) -> Program:
        """A subscript that an operator changes in place, by its name in `operator`."""
        return self.store(array, index, value, IN_PLACE[name])

    def attribute(self, array: Any, name: str) -> Program:
        """An attribute that is read."""
        return self._program(f"return {self.value(array)}.{name}")

    def _program(self, *lines: str) -> Program:
        params = ", ".join(f"a{i}" for i in range(len(self.leaves)))
        body = "".join(f"    {line}\n" for line in lines)
        return Program(f"def call({params}):\n{body}", self.leaves)

    def value(self, value: Any, is_operand: bool = False) -> str:
        """An argument as an expression; a parameter where it is one. `is_operand`: a Python int is a parameter too."""
        if type(value) is np.ndarray:
            check_type(value.dtype)
            return self._leaf(value)
        if isinstance(value, np.generic):
            check_type(value.dtype)
            return _literal_scalar(value) if self.literal else self._leaf(value)
        if isinstance(value, np.random.Generator):
            return self._leaf(value)
        if type(value) in (float, complex) or (is_operand and type(value) is int):
            return _literal(value) if self.literal else self._leaf(value)
        if type(value) in (bool, int, str, type(None), type(Ellipsis)):
            return "..." if value is ... else repr(value)
        if type(value) in (list, tuple, dict, slice):
            return self._container(value)
        return _named(value)

    def _container(self, value: Any) -> str:
        if not isinstance(value, slice) and len(value) > ELEMENTS:
            raise TooLarge
        numbers = set() if self.literal else _numbers_in(value)
        if (
            numbers
            and numbers <= {int, float, complex, bool}
            and (self.integers or numbers & {float, complex})
        ):
            return self._leaf(value)
        match value:
            case list():
                return f"[{', '.join([self.value(v) for v in value])}]"
            case tuple():
                return f"({''.join([self.value(v) + ', ' for v in value])})"
            case dict():
                return f"{{{', '.join([f'{self.value(k)}: {self.value(v)}' for k, v in value.items()])}}}"
            case _:
                return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"

    def _leaf(self, value: Any) -> str:
        if isinstance(value, np.ndarray | np.random.Generator) and id(value) in self.names:
            return self.names[id(value)]
        name = f"a{len(self.leaves)}"
        self.leaves.append(value)
        self.names[id(value)] = name
        if len(self.leaves) > LEAVES:
            raise TooLarge
        return name


def _numbers_in(value: Any) -> set[type]:
    """The types of the elements of nested lists and tuples."""
    if type(value) not in (list, tuple):
        return {type(value)}
    return set().union(*map(_numbers_in, value))


def check_type(dtype: np.dtype) -> None:
    """Raises OutOfScope for an element type that pystage does not take."""
    if dtype.char in "qQ":  # a second name of 64-bit integers, whose scalars are of another class
        raise OutOfScope("longlong")
    if dtype not in SHORT_NAMES or not dtype.isnative:
        raise OutOfScope(f"dtype {dtype.kind}" if dtype.isnative else "byte order")


def check_result(value: Any) -> None:
    """Raises OutOfScope for a result of another kind than arguments may have, TooLarge for one of too many elements."""
    if isinstance(value, np.ndarray | np.generic):
        if value.size > RESULT:
            raise TooLarge
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            raise OutOfScope(f"class {type(value).__name__}")
        check_type(value.dtype)
    elif isinstance(value, list | tuple):
        for item in value:
            check_result(item)


def _named(value: Any) -> str:
    if isinstance(value, np.dtype):
        check_type(value)
        return f"np.dtype({value.str!r}{'' if value is np.dtype(value.str) else ', copy=True'})"
    if isinstance(value, type):
        if value in _TYPES:
            return _TYPES[value]
        if issubclass(value, np.generic) and value in NAMES_OF_TYPES:
            return NAMES_OF_TYPES[value]
        raise OutOfScope(f"class {value.__name__}")
    if id(value) in NAMES and is_known(value):
        return NAMES[id(value)]
    raise OutOfScope("a function" if callable(value) else f"class {type(value).__name__}")


NAMES_OF_TYPES: dict[type, str] = {
    dtype.type: f"np.{dtype.type.__name__}"
    for dtype in map(np.dtype, SHORT_NAMES)
    if dtype.type.__module__ == "numpy"
}
NAMES_OF_TYPES |= {
    cls: f"np.{cls.__name__}"
    for cls in (
        np.generic,
        np.number,
        np.integer,
        np.signedinteger,
        np.unsignedinteger,
        np.inexact,
        np.floating,
        np.complexfloating,
    )
}


def _literal(value: Any) -> str:
    """A number as Python writes it, where `repr` does not."""
    if type(value) is complex:
        return f"complex({_literal(value.real)}, {_literal(value.imag)})"
    if type(value) is float and not math.isfinite(value):
        return f"float('{value}')"
    return f"({value!r})"


def _literal_scalar(value: np.generic) -> str:
    return f"np.{type(value).__name__}({_literal(value.item())})"
