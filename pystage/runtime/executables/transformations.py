"""Rules of JAX's transformations for staged programs: derivatives by `compiler/ad`, batching by `compiler/batch`.

`jax.jvp` binds the program and, beside it, `pystage_linear`: the program's tangents as a function of its inputs and their
tangents, linear in the latter. `jax.linearize` therefore has it as one equation, and `jax.grad` transposes it to the
program in reverse mode, a staged program that can be differentiated again. `jax.vmap` binds the batched program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.core import Primitive
from jax.interpreters import ad

from ...compiler.ad.activity import Activity
from ...compiler.ad.forward import ForwardMode
from ...compiler.ad.resolve_varying import resolve_varying
from ...compiler.ad.reverse import ReverseMode
from ...compiler.ad.strip_io import strip_io
from ...compiler.batch.batching import Batch, NotMapped
from ...compiler.diagnostics.codes_calls import NotServed
from ...compiler.diagnostics.codes_differentiation import NoDerivative
from ...compiler.diagnostics.diagnostic import DiagnosticError
from ...compiler.diagnostics.errors import StagingError
from ...compiler.hlo.calculus import NotDifferentiable
from ...compiler.hlo.ir import Function
from ...compiler.hlo.walk import functions
from ...compiler.ops import ShardingConstraint, ShardMap
from ...compiler.ops.collectives.base import Varying
from ...compiler.ops.foreign.named_axes import CURRENT
from ...compiler.passes.simplify import simplify
from ...compiler.pipeline import Staged, VaryingTypes, axes_of

Mask = tuple[bool, ...]
Mapped = tuple[list[Any], list[Any]]
"""Results, and the batch dimension of each."""

pystage_p = Primitive("pystage")
pystage_p.multiple_results = True

linear_p = Primitive("pystage_linear")
linear_p.multiple_results = True


def _derived(staged: Staged, function: Function, first: int, varying: VaryingTypes | None) -> Staged:
    """The program that gives the results of `function` from the `first` on; it takes all parameters.

    `varying`: over which named axes JAX knows these to vary.
    """
    if varying is not None:
        function, found = resolve_varying(function, varying.params, CURRENT.axes)
        assert all(a <= b for a, b in zip(found[first:], varying.results, strict=True))
    small = simplify(function, slice(first, None))
    if varying is not None:
        varying = replace(varying, params=tuple([varying.params[i] for i in small.kept]))
    return replace(
        staged, function=small.function, kept=small.kept, weak=frozenset(), prints=False, varying=varying
    )


@functools.lru_cache(maxsize=512)
def moving(staged: Staged, varied: Mask) -> Mask:
    """Which results of a program have tangents if these inputs have."""
    return Activity().results(staged.function, varied)


@functools.lru_cache(maxsize=512)
def tangents_of(staged: Staged, varied: Mask) -> Staged:
    """The tangents of a program's results that have some, by those of these inputs."""
    known = staged.varying
    with _refusals(staged):
        function = ForwardMode(known is not None).function(strip_io(staged.function), varied)
    if known is not None:
        given = _those(known.params, varied)
        known = VaryingTypes((*known.params, *given), _those(known.results, moving(staged, varied)))
    return _derived(staged, function, len(staged.function.result_types), known)


def _those(values: Sequence[Varying], flags: Mask) -> tuple[Varying, ...]:
    return tuple([value for value, flag in zip(values, flags, strict=True) if flag])


@contextmanager
def _refusals(staged: Staged) -> Iterator[None]:
    """Raises a `StagingError` for what has no derivative."""
    try:
        yield
    except NotDifferentiable as error:
        raise StagingError((NoDerivative(span=error.at or staged.span, what=str(error)),)) from None
    except DiagnosticError as error:
        raise StagingError((error.diagnostic,)) from None


@functools.lru_cache(maxsize=512)
def cotangents_of(staged: Staged, varied: Mask, results: Mask) -> Staged:
    """The cotangents of these inputs from those of these results."""
    known = staged.varying
    with _refusals(staged):
        function = ReverseMode(known is not None).function(strip_io(staged.function), varied, results)
    if known is not None:
        given = _those(known.results, results)
        known = VaryingTypes((*known.params, *given), _those(known.params, varied))
    return _derived(staged, function, len(results), known)


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
        flags = moving(staged, varied)
        if not any(flags):
            return results, zeros
        given = [ad.instantiate_zeros(t) for t, v in zip(tangents, varied) if v]
        found = iter(linear_p.bind(*primals, *given, staged=staged, varied=varied))
        return results, [next(found) if flag else zero for flag, zero in zip(flags, zeros, strict=True)]

    return rule


@functools.lru_cache(maxsize=512)
def batched_program(
    staged: Staged, batched: Mask, batch_size: int, name: Hashable
) -> tuple[Staged, Mask] | None:
    """The batched program, and which of its results are batched; None if it has effects that cannot be batched.

    `name`: that of the axis of the batch, for collectives.
    """
    batch = Batch(batch_size, name=name)
    try:
        function = batch.function(staged.function, batched)
    except NotMapped as problem:
        if not among(staged, name):
            return None
        refusal = NotServed(span=problem.span or staged.span, name=str(problem), why=_WAITS, instead=_ALIKE)
        raise StagingError((refusal,)) from None
    kept = tuple(range(len(batched)))
    return replace(staged, function=function, kept=kept), batch.results(staged.function, batched)


_WAITS = "the elements of a batch that is mapped with an axis name do all the same"
_ALIKE = "call it where no value of a single element decides whether it is called"


@functools.lru_cache(maxsize=512)
def meshes_of(staged: Staged) -> tuple[Any, ...]:
    """The meshes on whose devices parts of a program run."""
    found = [op.kind for f in functions(staged.function) for op in f.body.walk()]
    return tuple(
        dict.fromkeys(kind.mesh for kind in found if isinstance(kind, ShardMap | ShardingConstraint))
    )


def among(staged: Staged, name: Hashable) -> bool:
    """True if a program has collectives over an axis of that name."""
    return any(axis.name == name for axis in axes_of(staged))


def batch_rule(axis: Any, operands: Sequence[Any], axes: Sequence[Any], *, staged: Staged) -> Mapped:
    """The rule of `jax.vmap` for `pystage`: the batched program; one with effects runs for one element after another.

    `axis` is what JAX says of the axis of the batch.
    """
    one = functools.partial(pystage_p.bind, staged=staged)
    moved, batched, batch_size = _in_front(axis, operands, axes)
    if not any(batched) and not among(staged, axis.name):
        made = one(*operands)
        return made, [None] * len(made)
    found = batched_program(staged, batched, batch_size, axis.name)
    if found is None:
        return _one_by_one(one, moved, batched)
    program, results = found
    made = pystage_p.bind(*moved, staged=program)
    return made, [0 if r else None for r in results]


def linear_batch_rule(
    axis: Any, operands: Sequence[Any], axes: Sequence[Any], *, staged: Staged, varied: Mask
) -> Mapped:
    """The rule of `jax.vmap` for `pystage_linear`: the tangents of the batched program."""
    one = functools.partial(linear_p.bind, staged=staged, varied=varied)
    moved, batched, batch_size = _in_front(axis, operands, axes)
    if not any(batched) and not among(staged, axis.name):
        made = one(*operands)
        return made, [None] * len(made)
    count = len(varied)
    places = [i for i, v in enumerate(varied) if v]
    pairs = list(zip(places, range(count, len(operands)), strict=True))
    whole = [i in places and (batched[i] or batched[j]) for i, j in pairs]
    flags = list(batched[:count])
    for (i, _), flag in zip(pairs, whole):
        flags[i] = flag
    found = batched_program(staged, tuple(flags), batch_size, axis.name)
    if found is None or moving(found[0], varied) != moving(staged, varied):
        return _one_by_one(one, moved, batched)
    program, results = found
    for (i, j), flag in zip(pairs, whole):
        for k in (i, j):
            if flag and not batched[k]:
                moved[k] = jnp.broadcast_to(moved[k], (batch_size, *jnp.shape(moved[k])))
    made = linear_p.bind(*moved, staged=program, varied=varied)
    tangents = [r for r, t in zip(results, moving(program, varied), strict=True) if t]
    return made, [0 if r else None for r in tangents]


def _in_front(axis: Any, operands: Sequence[Any], axes: Sequence[Any]) -> tuple[list[Any], Mask, int]:
    """The operands with the batch dimension in front, which of them are batched, and the batch size."""
    batched = tuple([at is not None for at in axes])
    moved = [jnp.moveaxis(x, at, 0) if f else x for x, at, f in zip(operands, axes, batched, strict=True)]
    return moved, batched, axis.size


def _one_by_one(bind: Callable[..., list[Any]], operands: Sequence[Any], batched: Mask) -> Mapped:
    def one(parts: Sequence[Any]) -> list[Any]:
        following = iter(parts)
        return bind(*[next(following) if f else x for x, f in zip(operands, batched)])

    results = jax.lax.map(one, [x for x, f in zip(operands, batched) if f])
    return results, [0] * len(results)


def _inexact(value: Any) -> bool:
    return bool(jnp.issubdtype(jax.typeof(value).dtype, jnp.inexact))


def transpose_rule(bind: Callable[[Staged, Sequence[Any]], list[Any]]) -> Callable[..., list[Any]]:
    """The rule of reverse mode for `pystage_linear`; `bind` runs a program on all of its inputs."""

    def rule(cotangents: Sequence[Any], *operands: Any, staged: Staged, varied: Mask) -> list[Any]:
        count = len(varied)
        flags = iter(cotangents)
        has = [flag and type(next(flags)) is not ad.Zero for flag in moving(staged, varied)]
        missing: list[Any] = [None] * count
        if not any(has):
            return [*missing, *[ad.Zero(x.aval) for x in operands[count:]]]
        given = [ct for ct in cotangents if type(ct) is not ad.Zero]
        program = cotangents_of(staged, varied, tuple(has))
        return [*missing, *bind(program, [*operands[:count], *given])]

    return rule
