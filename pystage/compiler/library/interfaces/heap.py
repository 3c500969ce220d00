"""Cells: what references refer to, their contents, and which names may be one object."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from ...analysis.ranges import ANY, Interval
from ...hlo.ir import Value
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, ArrayCell, Cell, Ref
from ...values.state import State
from ...values.vector import Vector
from ...values.views import read_path
from .allocation_checks import check_memory
from .operations import Operations, Raw


class Heap(Operations):
    """Cells: what references refer to, their contents, and which names may be one object."""

    state: State

    def cell(self, ref: Ref) -> Any:
        """The contents of a cell, for a read; rows in order."""
        return self.state.get(ref.cell)

    def settle(self, ref: Ref) -> Any:
        """The contents of a cell, for a store; rows in order. PS501 if the may-alias is unresolved."""
        return self.state.get(ref.cell)

    def ring(self, ref: Ref) -> Any:
        """The contents of a cell, for a read; a vector may begin at any row (`Vector.start`)."""
        return self.state.get(ref.cell)

    def settle_ring(self, ref: Ref) -> Any:
        """The contents of a cell, for a store; a vector may begin at any row (`Vector.start`)."""
        return self.state.get(ref.cell)

    @abc.abstractmethod
    def write(self, cell: int, content: Cell, masked: bool = False) -> None:
        """Replaces the contents of a cell, other than an array, because the program changes it.

        `masked`: they are the same where the program has raised before (`store_mask`).
        """

    def contents(self, ref: Ref) -> Value:
        """The array that an ndarray reference stands for, now."""
        cell = self.state.get(ref.cell)
        assert isinstance(cell, ArrayCell)
        return read_path(self.b, cell.value, ref.path)

    def is_ndarray(self, value: Raw) -> bool:
        """True for a reference to an ndarray."""
        return isinstance(value, Ref) and isinstance(self.state.get(value.cell), ArrayCell)

    def new(self, value: Value) -> Abstract:
        """A NumPy function's result: an ndarray of its own, or a NumPy scalar where the rank is 0."""
        if not value.type.shape:
            return Array(value, Form.SCALAR)
        return self.ndarray(value)

    def ndarray(self, value: Value) -> Ref:
        """A new ndarray of any rank; `TooLarge` where NumPy has no memory for one."""
        if value.type.shape:
            check_memory(value.type)
        return Ref(self.state.new_cell(ArrayCell(value)))

    def jax(self, value: Value, weak: bool = False) -> Array:
        """A `jax.Array`."""
        return Array(value, Form.JAX, weak)

    def python(self, value: Value, range: Interval = ANY) -> Array:
        """A Python scalar: `value` is a scalar of dtype bool, int64, float64 or complex128; `range` holds an integer."""
        if range != ANY:
            self.intervals.narrow(value, range)
        return Array(value, Form.PYTHON, False, range)

    @abc.abstractmethod
    def store_mask(self, cell: int) -> Value | None:
        """Whether a store into an array or a list happens, as a scalar bool; None if it certainly does.

        After a raise, what the caller has stays as it is, and what may be another name of that.
        """

    @abc.abstractmethod
    def store_to_aliases(self, cell: int, store: Callable[[Ref, Value | None], None]) -> None:
        """Does what was stored to the array of `cell` to everything else that may be the same array.

        `store` gets such an array, or view, and the condition under which it is; None if it certainly is.
        """

    @abc.abstractmethod
    def same_object(self, left: Ref, right: Ref) -> Abstract | None:
        """Whether two references are one object, as a bool; None where that is not known."""

    @abc.abstractmethod
    def memory_of(self, ref: Ref) -> list[tuple[Ref, Value | bool]]:
        """The memory that an array may be: by its owner and the path to it, each with its condition."""

    @abc.abstractmethod
    def vectors_of(self, container: Raw) -> list[tuple[Vector[Abstract], Value]]:
        """The vectors from which an element of a list is loaded that may be one of several, each with its condition.

        None for any other container: its own elements are loaded from.
        """

    @abc.abstractmethod
    def is_of_caller(self, ref: Ref) -> bool:
        """True for an array that the caller has."""

    @abc.abstractmethod
    def freeze(self, ref: Ref) -> bool:
        """Refuses stores into an array from now on; gives whether it was refused before, or the caller has the array."""

    @abc.abstractmethod
    def alias_if(self, ref: Ref, condition: Value) -> Ref:
        """The array `ref` itself if a scalar bool holds, else a copy."""

    @abc.abstractmethod
    def note_element(self, array: Ref, holder: Ref, place: int | Value, key: Abstract) -> None:
        """Notes that an array that was read of a list or dict of rows is its element at a place, found by `key`.

        A store into it goes to the rows too, as long as they hold what they hold now.
        """

    @abc.abstractmethod
    def is_element(self, array: Ref, holder: Ref, key: Abstract) -> bool:
        """True for an array that certainly is the element of `holder` under this key."""

    @abc.abstractmethod
    def element_stores(self) -> int:
        """How many stores into elements of rows inference has met."""

    @abc.abstractmethod
    def store_to_element(self, cell: int) -> None:
        """Does to the rows what was stored into an array that is an element of them."""

    @abc.abstractmethod
    def pooled(self, objects: Sequence[Ref], pool: int | None = None) -> bool:
        """Makes objects rows of one pool, of this one or of any; False where they cannot be, and nothing is done."""

    @abc.abstractmethod
    def united(self, first: int, second: int) -> bool:
        """Makes one pool of two, in all that refers to one of them; False where they cannot be, and nothing is done."""
