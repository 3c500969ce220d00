"""Random generators as abstract objects: objects of the host with a number.

A generator is a cell like any object. Its only field is the number by which the host finds it when it performs
the draws of the program (`boundary.Draws`).
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..hlo.ir import Value
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
_HANDLE = "%generator"


def generator_cell(cls: type, handle: Value) -> ObjectCell:
    """The contents of the cell of a generator whose number is `handle`."""
    return ObjectCell(cls, {_HANDLE: Array(handle, Form.PYTHON)}, _NO_ATTRIBUTES)


def handle_of(cell: ObjectCell) -> Value:
    """The number of the generator in a cell."""
    return cast(Array, cell.fields[_HANDLE]).value


class _NoAttributes:
    """A generator has no attributes of its own; it is not made of its fields, so that it cannot be copied."""

    names: tuple[str, ...] = ()

    def __call__(self, name: str) -> Abstract | None:
        return None


_NO_ATTRIBUTES = _NoAttributes()
