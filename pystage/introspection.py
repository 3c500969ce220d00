"""The programs that a function becomes, as text, at each stage.

After Julia's `@code_lowered`, `@code_typed_xla` and `@code_xla`: stage IR, typed HLO IR, HLO.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .compiler.diagnostics.errors import StagingError
from .compiler.diagnostics.traceback import AT_THE_CALL
from .compiler.frontend import FrontendError, stage_function
from .compiler.hlo.printer import print_function as print_typed
from .compiler.stage.ir import Function
from .compiler.stage.printer import print_function as print_lowered
from .runtime.arguments.targets import target_of
from .runtime.function import BoundFunction, CompiledFunction
from .runtime.lowering import Lowered
from .staging import compile


class Code(str):
    """The text of a program; a Python prompt shows it as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def code_lowered(f: Callable[..., Any]) -> Code:
    """The stage IR of a function, plain or compiled: what its source says, before any type is known.

    StagingError if its source cannot be found or read.
    """
    with AT_THE_CALL:
        return Code(print_lowered(stage_ir(f)))


def code_typed(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Code:
    """The typed program of a function, plain or compiled, for these arguments, before simplification.

        >>> print(pystage.code_typed(lambda x: 2.0 * x, 1.0), end="")
        function <lambda>(%0: f64[]) -> (f64[]) {
          %1: f64[] = constant(2.0) ...
          %2: f64[] = multiply %1, %0 ...
          return %2
        }

    Arguments may be values or stand for them, as for `lower`. StagingError if it cannot be staged.
    """
    with AT_THE_CALL:
        return Code(print_typed(lower(f, args, kwargs).staged.program.function))


def code_hlo(f: Callable[..., Any], *args: Any, optimized: bool = False, **kwargs: Any) -> Code:
    """The HLO of a function, plain or compiled, for these arguments; `optimized`: after XLA's optimisation.

    Arguments may be values or stand for them, as for `lower`. StagingError if it cannot be staged.
    """
    with AT_THE_CALL:
        lowered = lower(f, args, kwargs)
        return Code(lowered.compile().as_text() if optimized else lowered.as_text("hlo"))


def stage_ir(f: Callable[..., Any]) -> Function:
    """The stage IR of a function, plain or compiled. StagingError if its source cannot be found or read."""
    function = f.__func__ if isinstance(f, BoundFunction) else f
    plain: Any = function.target if isinstance(function, CompiledFunction) else target_of(function).fn
    try:
        return stage_function(plain)
    except FrontendError as error:
        raise StagingError(error.diagnostics) from None


def lower(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
    """A function, plain or compiled, lowered for these arguments. StagingError if it cannot be staged."""
    lowered: Lowered = as_compiled(f).lower(*args, **kwargs)
    return lowered


def as_compiled(f: Callable[..., Any]) -> CompiledFunction[..., Any] | BoundFunction[..., Any]:
    """A function, plain or compiled, as a compiled one."""
    return f if isinstance(f, CompiledFunction | BoundFunction) else compile(f)
