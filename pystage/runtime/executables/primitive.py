"""The JAX primitive through which every staged program enters a JAX computation.

Its operands are the program's inputs, its parameter is the program itself (compared by identity). Its lowering rule
inlines the program's StableHLO into the module that JAX builds, so that JAX compiles, caches, shards and exports it like
any other computation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.interpreters import ad, batching, mlir
from jax.interpreters.mlir import ir
from jax.sharding import NamedSharding, PartitionSpec

from ...compiler.analysis.varying import ALIKE
from ...compiler.emit.stablehlo import emit_inline
from ...compiler.hlo.ir import Function
from ...compiler.hlo.types import ArrayType
from ...compiler.hlo.walk import kinds
from ...compiler.ops import While
from ...compiler.ops.collectives.base import Varying
from ...compiler.ops.foreign.jax_call import output_effects
from ...compiler.ops.foreign.named_axes import CURRENT, aval, effects_of, varying_of
from ...compiler.passes.channels_last import channels_last
from ...compiler.passes.computed_constants import show_constants
from ...compiler.passes.host_calls import on_host
from ...compiler.passes.kernel_outlining import outline_kernels
from ...compiler.passes.load_fences import fence_loads
from ...compiler.passes.lowerings import with_registered_lowerings
from ...compiler.passes.mask_loops import mask_loops
from ...compiler.passes.outlining import outline_segments
from ...compiler.passes.products.product_masks import unmask_products
from ...compiler.passes.products.transposed_products import exchange_operands
from ...compiler.passes.scratch import keep_scratch
from ...compiler.passes.store_fences import fence_stores
from ...compiler.passes.strided_counters import hide_strided_counters
from ...compiler.pipeline import Staged, axes_of, with_varying
from .compiler_options import options_for
from .jax_private import runs_alone
from .transformations import (
    batch_rule,
    jvp_rule,
    linear_batch_rule,
    linear_p,
    meshes_of,
    moving,
    pystage_p,
    tangents_of,
    transpose_rule,
)


def bind(staged: Staged, operands: Sequence[Any]) -> list[Any]:
    """The results of the program for all inputs of its signature; the program takes those that it uses."""
    return _bind(*[operands[i] for i in staged.kept], staged=staged)


def _bind(*operands: Any, staged: Staged) -> list[Any]:
    """Binds the program, and tells JAX on which devices it runs: those of the layouts of its results."""
    results: list[Any] = pystage_p.bind(*operands, staged=staged)
    for mesh in meshes_of(staged):
        layouts = [PartitionSpec(*[PartitionSpec.UNCONSTRAINED] * r.ndim) for r in results]
        places = [NamedSharding(mesh, layout) for layout in layouts]
        results = [jax.lax.with_sharding_constraint(r, p) for r, p in zip(results, places, strict=True)]
    return results


def bind_call(staged: Staged, operands: Sequence[Any]) -> list[Any]:
    """As `bind`, of a program as it was staged: inside `jax.shard_map` as one among the devices of the mesh."""
    axes = CURRENT.axes
    if axes.manual:
        given = [varying_of(x) if axes.checked else axes.manual for x in operands]
        staged = _among_devices(staged, tuple(given), axes)
    return bind(staged, operands)


_among_devices = functools.lru_cache(maxsize=256)(with_varying)


@functools.lru_cache(maxsize=256)
def _compiled(staged: Staged) -> Callable[..., list[Any]]:
    options = dict(options_for(staged.function)) or None
    run = functools.partial(_bind, staged=staged)
    compiled: Callable[..., list[Any]] = jax.jit(run, compiler_options=options)
    return compiled


def _run(*operands: Any, staged: Staged) -> Any:
    # Reached where JAX evaluates step by step, as under `jax.disable_jit`: the program is compiled anyway.
    with jax.disable_jit(False):
        return _compiled(staged)(*operands)


def _results(*operands: Any, staged: Staged) -> tuple[list[Any], frozenset[Any]]:
    results = [
        aval(t.shape, t.dtype, i in staged.weak, varying) for i, (t, varying) in enumerate(_typed(staged))
    ]
    effects = effects_of(axes_of(staged))
    return results, effects | output_effects() if staged.prints else effects


def _typed(staged: Staged) -> list[tuple[ArrayType, Varying]]:
    """The types of a program's results, and over which named axes they vary."""
    types = staged.function.result_types
    varying = [ALIKE] * len(types) if staged.varying is None else staged.varying.results
    return list(zip(types, varying, strict=True))


def _tangents(*operands: Any, staged: Staged, varied: tuple[bool, ...]) -> tuple[list[Any], frozenset[Any]]:
    types = [t for t, flag in zip(_typed(staged), moving(staged, varied), strict=True) if flag]
    results = [aval(t.shape, t.dtype, varying=varying) for t, varying in types]
    return results, effects_of(axes_of(staged))


def for_platform(function: Function, *platforms: str, alone: bool) -> Function:
    """The program as it is emitted for these platforms: with the lowerings that the user has registered, with what XLA
    computes from constants as constants where it would lose signs of zeros, without masks of products that nothing needs,
    and without the trip counts that XLA computes wrongly.
    """
    function = unmask_products(show_constants(with_registered_lowerings(function, *platforms)))
    if "cpu" in platforms:
        function = _for_cpu(function, alone and len(platforms) == 1)
    return hide_strided_counters(function)


def _for_cpu(function: Function, alone: bool) -> Function:
    """The program without transposes of products in 16 bits, with loads fenced from stores, in segments, and with channels
    last in the convolutions of loops. Where it runs `alone`, in this process and on one device, masks are compacted in
    loops, loops keep the memory of their lists, small loops become kernels (on several devices XLA would put the exchange
    of parts into them), and NumPy computes what it computes faster.
    """
    function = exchange_operands(function)
    if alone:
        function = keep_scratch(mask_loops(function))
    function = fence_stores(function)
    loops = While in kinds(function)
    if loops:
        function = fence_loads(channels_last(function))
    function = outline_segments(function)
    if not alone:
        return function
    function = on_host(function)
    return outline_kernels(function) if loops else function


def _lower(context: Any, *operands: ir.Value, staged: Staged) -> list[ir.Value]:
    module = context.module_context
    function = for_platform(staged.function, *module.platforms, alone=runs_alone(module))
    return emit_inline(context, function, operands)


def _linear(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule of `pystage` as one of `pystage_linear`: of the program that gives the tangents."""

    def applied(*arguments: Any, staged: Staged, varied: tuple[bool, ...]) -> Any:
        return rule(*arguments, staged=tangents_of(staged, varied))

    return applied


def _taken(rule: Callable[..., Any], first: int = 0) -> Callable[..., Any]:
    """A rule that gets those of the operands (after `first` arguments) that the program takes."""

    def applied(*arguments: Any, staged: Staged) -> Any:
        operands = arguments[first:]
        return rule(*arguments[:first], *[operands[i] for i in staged.kept], staged=staged)

    return applied


def _plain_bind(operands: Sequence[Any], staged: Staged) -> list[Any]:
    results: list[Any] = pystage_p.bind(*operands, staged=staged)
    return results


def _linear_jvp(primals: Any, tangents: Any, *, staged: Staged, varied: tuple[bool, ...]) -> Any:
    program = tangents_of(staged, varied)
    kept = program.kept
    rule = jvp_rule(lambda _, __: linear_p.bind(*primals, staged=staged, varied=varied))
    return rule([primals[i] for i in kept], [tangents[i] for i in kept], staged=program)


def _register() -> None:
    # JAX may emit a cached rule once and copy what it emitted: a program is emitted once anyway.
    uncached = "cacheable" in inspect.signature(mlir.register_lowering).parameters
    options = {"cacheable": False} if uncached else {}
    pystage_p.def_impl(_run)
    pystage_p.def_effectful_abstract_eval(_results)
    mlir.register_lowering(pystage_p, _lower, **options)
    ad.primitive_jvps[pystage_p] = jvp_rule(_plain_bind)
    batching.fancy_primitive_batchers[pystage_p] = batch_rule
    linear_p.def_impl(_linear(_taken(_run)))
    linear_p.def_effectful_abstract_eval(_tangents)
    mlir.register_lowering(linear_p, _linear(_taken(_lower, first=1)), **options)
    ad.primitive_jvps[linear_p] = _linear_jvp
    ad.primitive_transposes[linear_p] = transpose_rule(bind)
    batching.fancy_primitive_batchers[linear_p] = linear_batch_rule


_register()
