"""Functions of `jax.numpy` whose result's size depends on values, as plain programs over masks.

With `size=` the size is known and JAX computes the result. Without it the result is a bounded array: `jax.numpy` has
these functions outside of JAX's transformations, as a compiled function is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array
from ..context import Context, Raw
from ..kernels.python_implementations import run_program, size_depends
from ..operands.libraries import as_jax
from ..registry import meaning, signed
from ..rules.jax import is_none
from .traced_calls import jax_call


def found(function: Any, arrays: int = 1) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a plain program as the meaning of `function` called without a size; its first arguments are arrays.

    What JAX takes for none, as a list, JAX refuses.
    """

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        def call(
            ctx: Context, /, *args: Raw, size: Raw = None, fill_value: Raw = None, **kwargs: Raw
        ) -> Abstract:
            if is_none(size) and all(_has_axes(ctx, each) for each in args[:arrays]):
                given = [as_jax(ctx, each, function.__name__) for each in args[:arrays]]
                return run_program(ctx, program, (*given, *args[arrays:]), kwargs)
            named = {"size": size, "fill_value": fill_value, **kwargs}
            return jax_call(ctx, function, args, {k: v for k, v in named.items() if v is not None})

        def signature() -> inspect.Signature:
            first, *rest = inspect.signature(call).parameters.values()
            given = inspect.signature(program).parameters.values()
            named = [p for p in rest if p.name in ("size", "fill_value")]
            return inspect.Signature([first.replace(kind=first.POSITIONAL_ONLY), *given, *named])

        call.__name__ = program.__name__
        call.__doc__ = program.__doc__
        meaning(function)(signed(call, signature))
        return program

    return declare


def _has_axes(ctx: Context, raw: Raw) -> bool:
    """True for an array of at least one axis."""
    if isinstance(raw, Bounded):
        return True
    is_array = isinstance(raw, Array) or ctx.is_ndarray(raw)
    read = ctx.read(raw) if is_array else None
    return isinstance(read, Array) and read.rank > 0


@found(jnp.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """Where the flattened array is not zero."""
    flat = jnp.ravel(a)
    return jnp.arange(len(flat))[flat if flat.dtype == bool else flat != 0]


@found(jnp.nonzero)
def nonzero(a: Any) -> Any:
    """Where an array is not zero: one array of indices for each axis."""
    places = flatnonzero(a)
    if jnp.ndim(a) == 1:
        return (places,)
    indices: list[Any] = []
    for n in jnp.shape(a)[::-1]:
        indices.insert(0, places % n)
        places = places // n
    return tuple(indices)


@found(jnp.argwhere)
def argwhere(a: Any) -> Any:
    """The indices of what is not zero, one row for each."""
    return jnp.stack(nonzero(a), axis=1)


@found(jnp.compress, arrays=2)
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """The slices of `a` along `axis` at which a vector of conditions is true, none of them beyond its end."""
    condition = jnp.asarray(condition).astype(bool)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1D array")
    lines = jnp.ravel(a) if axis is None else jnp.moveaxis(a, axis, 0)
    if len(condition) > len(lines):
        if jnp.any(condition[len(lines) :]):
            raise ValueError("condition contains entries that are out of bounds")
        condition = condition[: len(lines)]
    chosen = lines[: len(condition)][condition]
    return chosen if axis is None else jnp.moveaxis(chosen, 0, axis)


@found(jnp.extract, arrays=2)
def extract(condition: Any, arr: Any) -> Any:
    """The elements of `arr` at which the condition is true."""
    return compress(jnp.ravel(condition), jnp.ravel(arr))


@found(jnp.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The distinct elements in order; optionally their first indices, the inverse, and the counts."""
    if axis is not None and jnp.ndim(ar) > 1:
        size_depends("jnp.unique of the lines along an axis", "give `size=…`")
    flat = jnp.ravel(ar)
    order: Any = jnp.argsort(flat) if return_index or return_inverse else None
    ordered = jnp.sort(flat) if order is None else flat[order]
    starts = _starts(ordered, equal_nan)
    results = [ordered[starts]]
    if return_index:
        results.append(order[starts])
    if return_inverse:
        numbers = jnp.cumsum(starts) - 1
        results.append(jnp.zeros(len(flat), int).at[order].set(numbers).reshape(jnp.shape(ar)))
    if return_counts:
        results.append(jnp.diff(jnp.append(flatnonzero(starts), len(flat))))
    return results[0] if len(results) == 1 else tuple(results)


def _starts(ordered: Any, equal_nan: Any) -> Any:
    """Which elements of a sorted vector differ from the one before."""
    places = jnp.arange(len(ordered))
    before = ordered[places - 1]
    differs = ordered != before
    if equal_nan and ordered.dtype.kind in "fc":
        differs = differs & ~(jnp.isnan(ordered) & jnp.isnan(before))
    return (places == 0) | differs


@found(jnp.union1d, arrays=2)
def union1d(ar1: Any, ar2: Any) -> Any:
    """The distinct elements of both arrays, in order."""
    return unique(jnp.concatenate((jnp.ravel(ar1), jnp.ravel(ar2))))
