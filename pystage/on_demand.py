"""What `import pystage` does not load: the compiler, lazy tensors and explanations come when they are first needed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .deferred import deferred
from .runtime.function import Lazily

infer_program = deferred("pystage.compiler.infer.entry", "infer_program")
explain = deferred("pystage.explain", "explain")
offload = deferred("pystage.offload", "Offload")
continuations_of = deferred("pystage.offload.continuations", "continuations_of")
_run_on_arrays = deferred("pystage.lazy.fallback", "run_on_arrays")
LAZILY = Lazily(
    deferred("pystage.lazy.fallback", "run_lazily"),
    deferred("pystage.lazy.fallback", "run_with_tensors"),
    _run_on_arrays,
)
_gradient = deferred("pystage.lazy.gradients.pullbacks", "run_gradient")
_gradient_of_arrays = deferred("pystage.lazy.gradients.pullbacks", "run_gradient_of_arrays")


def lazy_gradient(
    fun: Callable[..., Any], argnums: int | tuple[int, ...], has_aux: bool, value: bool
) -> Lazily:
    """What runs `grad` or, with the `value`, `value_and_grad` of a function, as it is written, on lazy tensors."""
    options = fun, argnums, has_aux, value
    on_arrays = functools.partial(_gradient_of_arrays, *options)
    return Lazily(on_arrays, functools.partial(_gradient, *options), _run_on_arrays)
