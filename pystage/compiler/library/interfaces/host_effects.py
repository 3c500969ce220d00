"""What the program does to the host: draws of random numbers, output."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NoReturn

from ...hlo.ir import Value
from ...hlo.types import ArrayType
from ...ops.host.draw import Action
from ...values.lattice import Abstract, Ref, Stream


class HostEffects(abc.ABC):
    """What the program does to the host: draws of random numbers, output."""

    @abc.abstractmethod
    def draw(self, action: Action, operands: Sequence[Value], type: ArrayType | None) -> Value | None:
        """The host's result for an action, a value of `type`; None if that is None."""

    @abc.abstractmethod
    def print(self, stream: Stream, text: Abstract, flush: bool) -> None:
        """The program writes a string to a stream, and has it flushed, if asked to."""

    @abc.abstractmethod
    def captured_generator(self, generator: Any) -> Ref:
        """A generator of random numbers of the user's, by the object itself."""

    @abc.abstractmethod
    def new_generator(self, cls: type, number: Value) -> Ref:
        """A generator that the program has made."""

    @abc.abstractmethod
    def keep_state(self, number: Value, why: str) -> None:
        """Inference begins again, with the state of the generator with this number in the program, if that can be."""

    @abc.abstractmethod
    def leave_states(self) -> NoReturn:
        """Inference begins again, with the states of all generators with the host."""

    @abc.abstractmethod
    def keeps_state(self) -> bool:
        """Whether the state of a generator that the program makes here is in the program."""
