"""Random generators as abstract objects: objects of the host, identified by a number.

A generator is a cell like any object. Its only field is the number by which the host finds it when it performs
the draws of the program (`boundary.Draws`); or, where only the run decides what is drawn, a reference to an array of the
words of its state, from which the program draws itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ..hlo.ir import Value
from ..hlo.types import ArrayType
from .boundary import Form
from .lattice import Abstract, Array, ObjectCell

BIT_GENERATORS: tuple[type, ...] = (
    np.random.MT19937,
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.Philox,
    np.random.SFC64,
)
GENERATORS: frozenset[type] = frozenset(
    {np.random.Generator, np.random.RandomState, np.random.SeedSequence, *BIT_GENERATORS}
)
"""The exact classes of such objects; subclasses may do anything."""
NUMBER = "%generator"
_STATE = "%state"
MAKE = "%make"
BITS = "%bits"
WORDS = ArrayType(np.dtype(np.uint64), (6,))
"""The state of a PCG64: that of its linear congruential generator and the increment, the high half of each first; whether
half of a number is left over from a draw of 32 bits, and that half.
"""
INEXACT = frozenset(
    f"Generator.{name}"
    for name in ("standard_normal", "normal", "lognormal", "standard_exponential", "exponential")
)
"""Methods by which a program can draw itself, but for the last place of a few of a million numbers."""
IN_PROGRAM = INEXACT | frozenset(
    f"Generator.{name}"
    for name in ("random", "uniform", "integers", "choice", "permutation", "shuffle", "permuted")
)
"""Methods by which a program can draw itself (`library/numpy/random/program_draws.py`)."""
_LOW = (1 << 64) - 1


def bits_of(generator: Any) -> Any:
    """The bit generator of a generator; the object itself, if it is a bit generator or something else."""
    if isinstance(generator, np.random.RandomState):
        return generator._bit_generator
    return generator.bit_generator if isinstance(generator, np.random.Generator) else generator


def words_of(generator: np.random.PCG64) -> np.ndarray[Any, Any]:
    """The words of the state of a bit generator."""
    found = generator.state
    state, increment = found["state"]["state"], found["state"]["inc"]
    words = (
        state >> 64,
        state & _LOW,
        increment >> 64,
        increment & _LOW,
        found["has_uint32"],
        found["uinteger"],
    )
    return np.array(words, np.uint64)


def set_words(generator: np.random.PCG64, words: np.ndarray[Any, Any]) -> None:
    """Sets the state of a bit generator to these words."""
    high, low, *increment, has_half, half = map(int, words)
    inner = {"state": high << 64 | low, "inc": increment[0] << 64 | increment[1]}
    found: Any = {"bit_generator": "PCG64", "state": inner, "has_uint32": has_half, "uinteger": half}
    generator.state = found


def generator_cell(cls: type, handle: Value) -> ObjectCell:
    """The contents of the cell of a generator whose number is `handle`."""
    return ObjectCell(cls, {NUMBER: Array(handle, Form.PYTHON)}, _NO_ATTRIBUTES)


def stateful_cell(cls: type, state: Abstract, made: Mapping[str, Abstract] = {}) -> ObjectCell:
    """The contents of the cell of a generator whose state is in the program: a reference to the array of its words.

    `made`: what makes one like it, if the program has made it: a function (`MAKE`), the host (`NUMBER`), or
    its bit generator, which the program has as an object, too (`BITS`).
    """
    return ObjectCell(cls, {_STATE: state, **made}, _NO_ATTRIBUTES)


def made_by(make: Any) -> Any:
    """A generator in the state in which the program made it."""
    return make()


def resumed(made: Any, words: np.ndarray[Any, Any]) -> Any:
    """A generator that the program made, in the state in which the program left it."""
    set_words(bits_of(made), words)
    return made


def words_of_generator(generator: Any) -> np.ndarray[Any, Any]:
    """The words of the state of a generator's bit generator."""
    return words_of(bits_of(generator))


def state_of(cell: ObjectCell) -> Abstract | None:
    """The reference to the state of the generator in a cell; None if the host draws for it."""
    return cell.fields.get(_STATE)


def maker_of(cell: ObjectCell) -> Abstract | None:
    """The function that makes a generator like the one in a cell, or its bit generator; None if the host makes it."""
    return cell.fields.get(MAKE) or cell.fields.get(BITS)


def has_handle(cell: ObjectCell) -> bool:
    """True for a generator that the host knows by a number."""
    return NUMBER in cell.fields


def handle_of(cell: ObjectCell) -> Value:
    """The number of the generator in a cell."""
    return cast(Array, cell.fields[NUMBER]).value


class _NoAttributes:
    """The attributes of a generator, of which there are none; it is not made of its fields, so it cannot be copied."""

    names: tuple[str, ...] = ()

    def __call__(self, name: str) -> Abstract | None:
        return None


_NO_ATTRIBUTES = _NoAttributes()
