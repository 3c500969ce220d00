"""What JAX's transformations make of a staged program: derivatives of our own, and maps over a batch.

`jax.jvp` binds the program and, beside it, `pystage_linear`: the program's tangents, as a function of its inputs and of
their tangents, in which it is linear. So `jax.linearize` has it to itself, and `jax.grad` transposes it: that is the
program in reverse mode, a staged program like any other, which can be differentiated again. `jax.vmap` runs the
program for one element of the batch after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad

from ..compiler.ad.forward import Forward
from ..compiler.ad.reverse import Reverse
from ..compiler.diagnostics.codes_differentiation import NoDerivative
from ..compiler.diagnostics.errors import StagingError
from ..compiler.emit.silent import silent
from ..compiler.emit.simplify import simplify
from ..compiler.hlo.calculus import NotDifferentiable
from ..compiler.hlo.ir import Function
from ..compiler.pipeline import Staged

Mask = tuple[bool, ...]

linear_p = Primitive("pystage_linear")
linear_p.multiple_results = True


def _derived(staged: Staged, function: Function, first: int) -> Staged:
    """The program that gives the results of `function` from the `first` on; it takes all parameters."""
    function.body.results = function.body.results[first:]
    small = simplify(function)
    return replace(staged, function=small.function, kept=small.kept, weak=frozenset(), prints=False)


@functools.lru_cache(maxsize=512)
def tangents_of(staged: Staged, varied: Mask) -> tuple[Staged, Mask]:
    """The tangents of a program's results by those of these inputs, and which results have one."""
    forward, plain = Forward(), silent(staged.function)
    try:
        function = forward.function(plain, varied)
    except NotDifferentiable as error:
        raise StagingError((NoDerivative(span=staged.span, what=str(error)),)) from None
    results = forward.results(plain, varied)
    return _derived(staged, function, len(results)), results


@functools.lru_cache(maxsize=512)
def cotangents_of(staged: Staged, varied: Mask, results: Mask) -> Staged:
    """The cotangents of these inputs from those of these results."""
    try:
        function = Reverse().function(silent(staged.function), varied, results)
    except NotDifferentiable as error:
        raise StagingError((NoDerivative(span=staged.span, what=str(error)),)) from None
    return _derived(staged, function, len(results))


def jvp_rule(bind: Callable[..., list[Any]]) -> Callable[..., tuple[list[Any], list[Any]]]:
    """The rule of forward mode for the primitive that `bind` applies to (operands, staged=…)."""

    def rule(
        primals: Sequence[Any], tangents: Sequence[Any], *, staged: Staged
    ) -> tuple[list[Any], list[Any]]:
        results = bind(primals, staged)
        varied = tuple(
            [type(t) is not ad.Zero and _inexact(p) for p, t in zip(primals, tangents, strict=True)]
        )
        zeros = [ad.Zero(jax.typeof(r).to_tangent_aval()) for r in results]
        if not any(varied):
            return results, zeros
        _, flags = tangents_of(staged, varied)
        if not any(flags):
            return results, zeros
        given = [ad.instantiate_zeros(t) for t, v in zip(tangents, varied) if v]
        found = iter(linear_p.bind(*primals, *given, staged=staged, varied=varied))
        return results, [next(found) if flag else zero for flag, zero in zip(flags, zeros, strict=True)]

    return rule


def batch_rule(primitive: Any) -> Callable[..., tuple[list[Any], list[int]]]:
    """The rule of `jax.vmap` for a primitive: one element of the batch after the other."""

    def rule(operands: Sequence[Any], axes: Sequence[Any], **params: Any) -> tuple[list[Any], list[int]]:
        batched = [i for i, axis in enumerate(axes) if axis is not None]
        moved = [jnp.moveaxis(operands[i], axes[i], 0) for i in batched]

        def one(parts: Sequence[Any]) -> list[Any]:
            whole = list(operands)
            for i, part in zip(batched, parts, strict=True):
                whole[i] = part
            made: list[Any] = primitive.bind(*whole, **params)
            return made

        results = jax.lax.map(one, moved)
        return results, [0] * len(results)

    return rule


def _inexact(value: Any) -> bool:
    return bool(jnp.issubdtype(jax.typeof(value).dtype, jnp.inexact))


def linear_program(staged: Staged, varied: Mask) -> Staged:
    """The program that `pystage_linear` runs."""
    return tangents_of(staged, varied)[0]


def transpose_rule(bind: Callable[[Staged, Sequence[Any]], list[Any]]) -> Callable[..., list[Any]]:
    """The rule of reverse mode for `pystage_linear`; `bind` runs a program on all of its inputs."""

    def rule(cotangents: Sequence[Any], *operands: Any, staged: Staged, varied: Mask) -> list[Any]:
        count = len(varied)
        flags = iter(cotangents)
        has = [flag and type(next(flags)) is not ad.Zero for flag in tangents_of(staged, varied)[1]]
        missing: list[Any] = [None] * count
        if not any(has):
            return [*missing, *[ad.Zero(x.aval) for x in operands[count:]]]
        given = [ct for ct in cotangents if type(ct) is not ad.Zero]
        program = cotangents_of(staged, varied, tuple(has))
        return [*missing, *bind(program, [*operands[:count], *given])]

    return rule
