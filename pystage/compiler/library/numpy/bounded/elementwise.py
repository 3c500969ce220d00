"""Functions of NumPy and JAX that work elementwise, beside ufuncs: they are called with the wholes of bounded arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....policy import is_of_jax
from ....values.lattice import Abstract
from ...context import Context, Raw
from ...jax.functions import nn  # noqa: F401  (declares meanings of the rules here, as do the next ones)
from ...operands.bounded_arguments import decided, is_bounded
from ...operands.libraries import as_jax, as_ndarray
from ...registry import meaning_of, replace_meaning, whole_signature
from ...rules.jax import is_none
from .. import creation, own_source, rounding, selection, series  # noqa: F401
from ..indexing.bounded_operands import broadcasting, elementwise
from ..ufuncs import powers  # noqa: F401


def by_element(functions: Sequence[Any], *names: str) -> None:
    """Declares that functions combine the elements of these parameters elementwise."""
    for function in functions:
        unbounded = meaning_of(function)
        if unbounded is None:
            raise TypeError(f"{function!r} has no meaning")
        replace_meaning(function, _by_element(function, unbounded, names))


def _by_element(
    function: Any, unbounded: Callable[..., Abstract], names: Sequence[str]
) -> Callable[..., Abstract]:
    def converted(ctx: Context, raw: Raw) -> Raw:
        made = as_ndarray(ctx, raw) if getattr(unbounded, "converts", False) else raw
        return as_jax(ctx, made, function.__name__) if is_of_jax(function) else made

    @functools.wraps(unbounded)
    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        args = tuple([decided(ctx, a) for a in args])
        if not any(is_bounded(ctx, a) for a in (*args, *kwargs.values())):
            return unbounded(ctx, *args, **kwargs)
        args = tuple([converted(ctx, a) for a in args])
        kwargs = {key: converted(ctx, a) for key, a in kwargs.items()}
        bound = whole_signature(unbounded).bind(ctx, *args, **kwargs)
        given = {name: raw for name in names if not is_none(raw := bound.arguments.get(name))}
        if not any(is_bounded(ctx, raw) for raw in given.values()):
            return unbounded(ctx, *args, **kwargs)

        def whole(*wholes: Raw) -> Abstract:
            bound.arguments |= dict(zip(given, wholes))
            return unbounded(*bound.args, **bound.kwargs)

        return elementwise(ctx, f"np.{function.__name__}", broadcasting, whole, *given.values())

    return call


by_element((np.clip, jnp.clip), "a", "arr", "a_min", "a_max", "min", "max")
by_element((np.round, np.around, jnp.round), "a")
by_element((np.angle,), "z")
by_element((jnp.real, jnp.imag), "val")
by_element((np.nan_to_num, np.sinc, np.isreal, np.iscomplex, np.isposinf, np.isneginf, np.i0), "x")
by_element((np.power, np.float_power), "x1", "x2")
by_element((np.isclose, jnp.isclose), "a", "b")
by_element((np.zeros_like, np.ones_like, np.full_like, np.copy), "a")
by_element((jnp.zeros_like, jnp.ones_like, jnp.full_like, jnp.copy), "a")
by_element((np.empty_like, jnp.empty_like), "prototype")
by_element(
    (
        jax.nn.relu,
        jax.nn.relu6,
        jax.nn.sigmoid,
        jax.nn.softplus,
        jax.nn.squareplus,
        jax.nn.soft_sign,
        jax.nn.silu,
        jax.nn.mish,
        jax.nn.log_sigmoid,
        jax.nn.elu,
        jax.nn.selu,
        jax.nn.celu,
        jax.nn.leaky_relu,
        jax.nn.hard_tanh,
        jax.nn.hard_sigmoid,
        jax.nn.hard_silu,
        jax.nn.gelu,
    ),
    "x",
)
