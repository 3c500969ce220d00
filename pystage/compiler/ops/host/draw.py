"""`Draw`: a placeholder for a draw from a random generator while a program is inferred.

A generator's state lives on the host, in an object of the user's. So the host draws before the program runs, in the
program's order, and the program takes the results as inputs. Inference puts a `Draw` where the program draws;
`infer/calls/hoist.py` hoists it out of the finished program, which therefore never holds one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....records import dataclass
from ...hlo.op import HloOp, ResultTypes
from ...hlo.types import INT32, ArrayType

HANDLE = ArrayType(INT32)
"""The type of the number by which a program knows a generator."""


@dataclass(frozen=True, slots=True)
class Operand:
    """Stands among the arguments of an action for an operand of the operation: a generator, or an input."""

    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """A call that the host makes, in words `name`: `function(*args, **kwargs)`.

    A function given by name is a method of the first argument, a generator. `makes`: the result is a generator.
    `batched`: so many calls one after the other give what one call gives whose `size` has their number before its
    own.
    """

    name: str
    function: Callable[..., Any] | str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()
    makes: bool = False
    batched: bool = False


@dataclass(frozen=True)
class Draw(HloOp):
    """An action of the host, of `operands` generators and inputs. Its result has the type `type`, None for none.

    `watched`: one more operand says whether the program still runs, as it may have raised before.
    """

    pure = False

    action: Action
    operands: int
    type: ArrayType | None = None
    watched: bool = False

    def infer(self, *operands: ArrayType) -> ResultTypes:
        return () if self.type is None else self.type
