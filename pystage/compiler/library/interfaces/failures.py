"""What the program raises."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ....records import dataclass
from ...hlo.ir import Value
from ...values.lattice import Abstract
from .operations import Raw


@dataclass(frozen=True, slots=True)
class ExceptionCase:
    """The exception of `function(*args)` if `bad` is true (None: in all other cases), of the class of `fallback`."""

    bad: Value | None
    fallback: BaseException
    function: Callable[..., Any]
    args: Sequence[Raw]


class Failures(abc.ABC):
    """What the program raises."""

    @abc.abstractmethod
    def attempt(self, call: Callable[[], Abstract], exceptions: type[BaseException]) -> Abstract | None:
        """The value of `call()`, or None where the program certainly raises one of `exceptions` in it."""

    @abc.abstractmethod
    def raise_(self, exception: BaseException) -> NoReturn:
        """The program raises this exception here, certainly."""

    @abc.abstractmethod
    def check(
        self,
        bad: Value | None,
        fallback: BaseException,
        function: Callable[..., Any],
        args: Sequence[Raw],
    ) -> None:
        """The program raises here what `function(*args)` raises, if the scalar bool `bad` holds (None: certainly).

        The function is called after the run, with what the arguments were. `fallback` is of the class that it
        raises, and is raised if it does not raise then (of a number within rounding of the limit).
        """

    @abc.abstractmethod
    def check_first(self, bad: Value, cases: Sequence[ExceptionCase]) -> None:
        """The program raises here, if the scalar bool `bad` holds, by the first of the cases that does."""
