"""pystage compiles plain Python functions over arrays, from their source, into whole-program XLA modules.

    @pystage.compile
    def newton(a, tol):
        x = a
        while abs(x * x - a) > tol:
            x = 0.5 * (x + a / x)
        return x

This file names what is public and holds nothing else; what it need not load is loaded when it is first asked for.
"""

import importlib as _importlib
import typing as _typing

from .autocasting import autocast
from .compiler.diagnostics.errors import StagingError
from .config import config
from .runtime.function import CompiledFunction
from .runtime.reports.warnings import CacheWarning, FallbackWarning, SpecialisationWarning
from .staging import compile, plain
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

if _typing.TYPE_CHECKING:
    from . import lazy
    from .compiler.passes.lowerings import lowering
    from .introspection import code_hlo, code_lowered, code_typed
    from .runtime.arguments.abstract import spec
    from .runtime.arguments.annotations import Bucket
    from .runtime.exporting import LoadedFunction, load
    from .runtime.lowering import Compiled, Lowered
    from .version import __version__ as __version__

__all__ = [
    "Bucket",
    "CacheWarning",
    "Compiled",
    "CompiledFunction",
    "FallbackWarning",
    "LoadedFunction",
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
    "load",
    "lowering",
    "plain",
    "spec",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]

_ON_DEMAND = {
    "__version__": ".version",
    "Bucket": ".runtime.arguments.annotations",
    "Compiled": ".runtime.lowering",
    "LoadedFunction": ".runtime.exporting",
    "Lowered": ".runtime.lowering",
    "code_hlo": ".introspection",
    "code_lowered": ".introspection",
    "code_typed": ".introspection",
    "load": ".runtime.exporting",
    "lowering": ".compiler.passes.lowerings",
    "spec": ".runtime.arguments.abstract",
}


def __getattr__(name: str) -> _typing.Any:
    """What is loaded when it is first asked for (PEP 562)."""
    if name == "load_ipython_extension":
        return _importlib.import_module(".notebook", __name__).load_ipython_extension
    if name == "lazy":
        return _importlib.import_module(".lazy", __name__)
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_importlib.import_module(_ON_DEMAND[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ON_DEMAND})
