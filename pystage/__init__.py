"""pystage compiles plain Python functions over arrays, from their source, into whole-program XLA modules.

    @pystage.compile
    def newton(a, tol):
        x = a
        while abs(x * x - a) > tol:
            x = 0.5 * (x + a / x)
        return x

This file names what is public and holds nothing else.
"""

from . import lazy
from .autocasting import autocast
from .compiler.diagnostics.errors import StagingError
from .config import config
from .introspection import code_hlo, code_lowered, code_typed
from .runtime.abstract import spec
from .runtime.function import CompiledFunction
from .runtime.lowering import Compiled, Lowered
from .runtime.warn import FallbackWarning, SpecialisationWarning
from .staging import compile
from .transforms import (
    checkpoint,
    custom_vjp,
    grad,
    hessian,
    jacobian,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

__all__ = [
    "Compiled",
    "CompiledFunction",
    "FallbackWarning",
    "Lowered",
    "SpecialisationWarning",
    "StagingError",
    "autocast",
    "checkpoint",
    "code_hlo",
    "code_lowered",
    "code_typed",
    "compile",
    "config",
    "custom_vjp",
    "grad",
    "hessian",
    "jacobian",
    "jvp",
    "lazy",
    "spec",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]
