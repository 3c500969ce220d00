"""Sequences of Python's library that are written in C: as abstract objects with a list of their own.

In: a class, and an instance. Out: how instances enter a program, and are made of what it leaves. Their methods stand in
`library/prelude/`.
"""

from __future__ import annotations

import ast
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....records import dataclass
from ...values.lattice import Abstract, Const, ObjectCell, Ref

ITEMS = "the elements"
CHANGES = "how often it has got longer or shorter"
"""The fields of a sequence, beside its constants."""


@dataclass(frozen=True, slots=True)
class SequenceClass:
    """A class of sequences.

    `constants`: the attributes that an instance has beside its elements, and keeps; they are known while compiling.
    `of_numbers`: the elements are numbers of one type, which enter a program as one array. `make` makes an instance of a
    list of elements and the constants; `fill` gives an instance other elements.
    """

    constants: tuple[str, ...]
    of_numbers: bool
    make: Callable[..., Any]
    fill: Callable[[Any, list[Any]], None]

    def opened(self, value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The keys and values of an instance: the elements, then the constants, as texts.

        Integers that may not fit into 64 bits with a sign enter one by one, each of which is checked.
        """
        constants = [repr(getattr(value, name)) for name in self.constants]
        elements = tuple(value) if not self.of_numbers or value.typecode in "LQ" else (np.array(value),)
        return (*range(len(elements)), *self.constants), (*elements, *constants)

    def constants_of(self, texts: Sequence[Any]) -> list[Abstract]:
        """The constants, of the texts that `opened` gives."""
        return [Const(ast.literal_eval(text.value)) for text in texts]


def _array(elements: list[Any], typecode: str) -> array[Any]:
    return array(typecode, elements)


def _fill_deque(target: deque[Any], elements: list[Any]) -> None:
    target.clear()
    target.extend(elements)


def _fill_array(target: array[Any], elements: list[Any]) -> None:
    target[:] = array(target.typecode, elements)


SEQUENCES: dict[type, SequenceClass] = {
    deque: SequenceClass(("maxlen",), False, deque, _fill_deque),
    array: SequenceClass(("typecode",), True, _array, _fill_array),
}
"""The classes of sequences."""


def sequence_cell(cls: type, items: Ref, constants: Sequence[Abstract]) -> ObjectCell:
    """A sequence of these elements."""
    named = dict(zip(SEQUENCES[cls].constants, constants, strict=True))
    return ObjectCell(cls, {ITEMS: items, **named, CHANGES: Const(0)})
