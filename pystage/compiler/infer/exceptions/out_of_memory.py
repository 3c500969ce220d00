"""Arrays that exceed all memory: the program raises the plain run's exception, or is refused.

In: what a transfer function or `Context.ndarray` found too large, or NumPy as it computed what is known, and the call of
the program in which it did. Out: a raise site that calls the same function on the same arguments after the run, so that
class and text are those of the plain run. Where it raises nothing, or something else, the call is refused (PS816). It is
refused at once where the size is a bound of one that only a run knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....records import dataclass
from ...diagnostics.codes_runtime import OutOfMemory
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...diagnostics.errors import StagingError
from ...hlo.types import TooLarge
from ...library.interfaces.allocation_checks import refusal_of_numpy
from ...library.python.numbers.python_numbers import PYTHON_OPERATORS
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, Const, Meaning, Method
from ...values.walk import nodes
from ..core.engine import Engine
from ..state.numpy_calls import is_pure
from . import raising


@dataclass(frozen=True, slots=True)
class PlainCall:
    """Raises what `function` raises, if it is of the class `expected`; else `StagingError` with `refused`."""

    function: Callable[..., Any]
    expected: type[BaseException]
    refused: Diagnostic
    names: tuple[str, ...] = ()
    """The last arguments are given by these names."""

    def __call__(self, *values: Any) -> None:
        count = len(values) - len(self.names)
        try:
            self.function(*values[:count], **dict(zip(self.names, values[count:])))
        except self.expected as error:
            if type(error) is self.expected:
                raise
        raise StagingError((self.refused,))


def diagnostic_of(engine: Engine, error: TooLarge | MemoryError) -> Diagnostic:
    """PS816 for an array of this type, or for what Python or NumPy could not compute here."""
    what = str(error) if isinstance(error, TooLarge) else "what is computed here"
    return OutOfMemory(span=engine.b.span, what=what)


def raised(
    engine: Engine,
    error: TooLarge | MemoryError,
    function: Abstract,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract] = {},
) -> Exception:
    """The exception to raise where a call raises in the plain run, or where that is not known."""
    refused = diagnostic_of(engine, error)
    callee, receiver = _numpy_callable(engine, function)
    expected = refusal_of_numpy(error.type) if isinstance(error, TooLarge) else error
    given = [node for each in (*receiver, *args, *kwargs.values()) for node in nodes(each)]
    is_bound = any(isinstance(node, Bounded) or _is_computed(engine, node) for node in given)
    if callee is None or expected is None or "out" in kwargs or is_bound:
        return DiagnosticError(refused)
    again = PlainCall(callee, type(expected), refused, tuple(kwargs))
    return raising.raise_called(engine, expected, again, [*receiver, *args, *kwargs.values()])


def _is_computed(engine: Engine, node: object) -> bool:
    """True for an integer that only the run knows: an array of that size has memory for more than it needs."""
    return isinstance(node, Array) and not node.rank and node.dtype.kind in "iu" and engine.is_computed(node)


def _numpy_callable(engine: Engine, function: Abstract) -> tuple[Callable[..., Any] | None, list[Abstract]]:
    """A callable of NumPy, or an operator, that only computes, and the receiver of a method; None for others."""
    match function:
        case Const(value) if callable(value) and (is_pure(value) or value in PYTHON_OPERATORS.values()):
            return value, []
        case Method(Meaning(name), receiver) if engine.is_ndarray(receiver):
            return getattr(np.ndarray, name, None), [receiver]
    return None, []
