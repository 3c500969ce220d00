"""The one JAX primitive by which every staged program enters a JAX computation.

Its operands are the program's inputs, its parameter the program itself (compared by identity). Its lowering
rule inlines the program's StableHLO into the module that JAX builds, so that whatever JAX does with a
computation (compile, cache, shard, export) it does with ours.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.interpreters import ad, batching, mlir

from ..compiler.diagnostics.codes_runtime import NoTransformationRule
from ..compiler.diagnostics.errors import StagingError
from ..compiler.emit.fence import fence_loads
from ..compiler.emit.stablehlo import emit_inline
from ..compiler.pipeline import Staged

pystage_p = Primitive("pystage")
pystage_p.multiple_results = True


def bind(staged: Staged, operands: Sequence[Any]) -> list[Any]:
    """The results of the program for all inputs of its signature; it takes those that it uses."""
    results: list[Any] = pystage_p.bind(*[operands[i] for i in staged.kept], staged=staged)
    return results


@functools.lru_cache(maxsize=256)
def _compiled(staged: Staged) -> Callable[..., list[Any]]:
    compiled: Callable[..., list[Any]] = jax.jit(functools.partial(pystage_p.bind, staged=staged))
    return compiled


def _run(*operands: Any, staged: Staged) -> Any:
    # Reached where JAX evaluates step by step, as under `jax.disable_jit`: the program is compiled anyway.
    with jax.disable_jit(False):
        return _compiled(staged)(*operands)


def _results(*operands: Any, staged: Staged) -> list[Any]:
    types = staged.function.result_types
    return [
        jax.core.ShapedArray(t.static_shape, t.dtype, weak_type=i in staged.weak) for i, t in enumerate(types)
    ]


def _lower(context: Any, *operands: ir.Value, staged: Staged) -> list[ir.Value]:
    on_cpu = "cpu" in context.module_context.platforms
    return emit_inline(context, fence_loads(staged.function) if on_cpu else staged.function, operands)


def _refuse(transformation: str, *operands: Any, staged: Staged, **params: Any) -> NoReturn:
    raise StagingError(
        (NoTransformationRule(span=staged.span, function=staged.name, transformation=transformation),)
    )


def _no_jvp(primals: Any, tangents: Any, *, staged: Staged) -> NoReturn:
    _refuse("jax.grad", staged=staged)


def _no_batching(operands: Any, axes: Any, *, staged: Staged) -> NoReturn:
    _refuse("jax.vmap", staged=staged)


def _register() -> None:
    pystage_p.def_impl(_run)
    pystage_p.def_abstract_eval(_results)
    # JAX may emit a cached rule once and copy what it emitted: a program is emitted once anyway.
    uncached = "cacheable" in inspect.signature(mlir.register_lowering).parameters
    mlir.register_lowering(pystage_p, _lower, **({"cacheable": False} if uncached else {}))
    ad.primitive_jvps[pystage_p] = _no_jvp
    batching.primitive_batchers[pystage_p] = _no_batching


_register()
