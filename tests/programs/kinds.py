"""What a variable of a random program holds, and how well its numbers are known.

A `Number` is a Python number, a NumPy scalar, an ndarray or a `jax.Array`; a sample of each kind (ones of its dtype and
shape) tells what an operation on it gives, as NumPy itself says. A `Bound` says how large the numbers of an expression
can be and whether they are exact, whatever is fused or added in another order: only exact numbers decide a
branch, an index or an integer. The other kinds are containers of numbers: their elements are places of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Shape = tuple[int, ...]
LARGEST = 16
"""The size of the numbers that a variable holds, unless they are whole numbers of any size."""


class Form(Enum):
    """What a number is to Python."""

    PYTHON = "python"
    NUMPY = "numpy"
    ARRAY = "array"
    JAX = "jax"

    @property
    def has_shape(self) -> bool:
        """Whether such a number has elements that have another form."""
        return self in (Form.ARRAY, Form.JAX)


class Grade(Enum):
    """What a variable's numbers are: small multiples of 1/4; integers of any size; small floats with rounding;
    Python integers from 0 on that bound loops and slices."""

    SMALL = "small"
    WHOLE = "whole"
    ROUGH = "rough"
    COUNT = "count"


@dataclass(frozen=True)
class Bound:
    """At most `size` in magnitude; if `exact`, multiples of 2**-bits that no way of computing rounds."""

    size: float
    bits: int = 0
    exact: bool = True

    @property
    def is_small(self) -> bool:
        """Whether a variable of grade SMALL can take the numbers as they are."""
        return self.exact and self.size <= LARGEST and self.bits <= 2


BOUNDS = {
    Grade.SMALL: Bound(LARGEST, 2),
    Grade.WHOLE: Bound(math.inf),
    Grade.ROUGH: Bound(LARGEST, exact=False),
    Grade.COUNT: Bound(LARGEST),
}
PYTHON_TYPES: dict[str, type] = {"bool": bool, "int64": int, "float64": float, "complex128": complex}


@dataclass(frozen=True)
class Number:
    """A number or an array of numbers."""

    form: Form
    dtype: str
    shape: Shape = ()
    grade: Grade = Grade.SMALL

    @property
    def letter(self) -> str:
        """`b`, `i`, `u`, `f` or `c`, as in `numpy.dtype.kind`."""
        return np.dtype(self.dtype).kind

    @property
    def is_integer(self) -> bool:
        return self.letter in "iu"

    @property
    def bound(self) -> Bound:
        """What is known of the numbers in a variable of this kind."""
        if self.letter == "b":
            return Bound(1)
        return BOUNDS[self.grade]

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    def same_type(self, other: Number) -> bool:
        """Whether the kinds differ in grade at most."""
        return (self.form, self.dtype, self.shape) == (other.form, other.dtype, other.shape)


COUNT = Number(Form.PYTHON, "int64", (), Grade.COUNT)


@dataclass(frozen=True)
class ListOf:
    """A list of at least `length` items of one kind."""

    item: Kind
    length: int


@dataclass(frozen=True)
class TupleOf:
    """A tuple."""

    items: tuple[Kind, ...]


@dataclass(frozen=True)
class DictOf:
    """A dict with these items, in this order."""

    items: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class ObjectOf:
    """An object of a class of `prelude.py`, and its fields."""

    cls: str
    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class TextKind:
    """A string made of numbers: only a result."""


@dataclass(frozen=True)
class Part:
    """A slice of unknown length: its numbers are those of an array."""

    number: Number


@dataclass(frozen=True)
class Keyed:
    """A dict with keys that are integers, or pairs of them; which, nobody knows."""

    item: Number
    pairs: bool = False


@dataclass(frozen=True)
class Grown:
    """A list of any length."""

    item: Number


Kind = Number | TextKind | ListOf | TupleOf | DictOf | ObjectOf | Part | Keyed | Grown


@dataclass(frozen=True)
class Expression:
    """The text of an expression, the kind of what it gives, and what is known of the numbers."""

    text: str
    kind: Number
    bound: Bound


def places(text: str, kind: Kind, assignable: bool = True) -> Iterator[tuple[str, Kind, bool]]:
    """A variable and everything that it reaches: its expression, its kind, whether it can be assigned to."""
    yield text, kind, assignable
    match kind:
        case ListOf(item, length):
            for i in range(min(length, 2)):
                yield from places(f"{text}[{i}]", item)
        case TupleOf(items):
            for i, item in enumerate(items):
                yield from places(f"{text}[{i}]", item, assignable=False)
        case DictOf(items):
            for key, item in items:
                yield from places(f"{text}[{key!r}]", item)
        case ObjectOf(_, fields):
            for name, item in fields:
                yield from places(f"{text}.{name}", item)


@lru_cache(1000)
def sample(kind: Number) -> Any:
    """A value of the kind."""
    if kind.form is Form.PYTHON:
        return PYTHON_TYPES[kind.dtype](1)
    if kind.form is Form.JAX:
        return jnp.ones(kind.shape, kind.dtype)
    ones = np.ones(kind.shape, kind.dtype)
    return ones if kind.form is Form.ARRAY else ones[()]


def kind_of(value: Any) -> Number | None:
    """The kind of a sample; None for what is not a number."""
    dtype = np.asarray(value).dtype
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype == np.float16:
        return None
    if isinstance(value, jax.Array):
        return Number(Form.JAX, dtype.name, value.shape)
    if isinstance(value, np.ndarray):
        return Number(Form.ARRAY, dtype.name, value.shape)
    return Number(Form.NUMPY if isinstance(value, np.generic) else Form.PYTHON, dtype.name)
