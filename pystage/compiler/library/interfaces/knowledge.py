"""What is known now, and what is demanded or written out so that it is."""

from __future__ import annotations

import abc
from typing import Any

from ...values.gated import GatedNumber, narrow_number
from ...values.lattice import Array, Const
from .operations import Operations, Raw


class Knowledge(Operations):
    """What is known now, and what is demanded or written out so that it is."""

    @abc.abstractmethod
    def known(self, value: Raw, what: str) -> Any:
        """The Python object that `value` is, where it must be known now.

        Demands a specialisation on the argument it depends on, or fails with PS4xx; `what` says what
        needs it, as `the shape of np.zeros`.
        """

    @abc.abstractmethod
    def can_be_known(self, value: Raw) -> bool:
        """True for what is known now, or once numbers of the call or of the environment are demanded."""

    @abc.abstractmethod
    def is_computed(self, value: Array) -> bool:
        """True if only a run knows an integer: neither constants nor integers of the call give it.

        One that floats of the call give counts as computed, as each of their values would be a program.
        """

    @abc.abstractmethod
    def can_be_unrolled(self, value: Array) -> bool:
        """True for an integer that is known once a loop around is written out."""

    @abc.abstractmethod
    def leave_rolled(self, value: Array, what: str) -> None:
        """The loop around that decides an integer stays rolled; if the program is refused, it is written out for `what`."""

    @abc.abstractmethod
    def read(self, value: Raw) -> Array | Const:
        """`value` as a number or an array: an `Array` (an ndarray's contents have `Form.NDARRAY`), or a
        `Const` holding a Python number or a NumPy scalar.

        Nested lists and tuples are read as `np.asarray` reads them. PS2xx for what is not numeric;
        PS5xx where the contents are not certain (a view whose base changed).
        """

    def number(self, value: Raw) -> Array | Const:
        """As `read`, but a number may be of several kinds (`GatedNumber`), where that is not known."""
        return (
            narrow_number(self.b, self.intervals, value)
            if isinstance(value, GatedNumber)
            else self.read(value)
        )

    @abc.abstractmethod
    def note_split(self) -> None:
        """Notes that something is split over the alternatives of a gated φ."""
