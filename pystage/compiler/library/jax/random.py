"""Typed PRNG keys as values: indexing, iteration and attributes of key arrays.

A typed key is represented by its uint32 data and the name of its generator in `Array.key_impl`; the trailing axes of
the data belong to one key. Functions of `jax.random` become `JaxCall`s (`jax/traced_calls.py`), which wrap and unwrap keys.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable

import jax

from ...values.lattice import Abstract, Array, Const, Meaning
from ..context import Context, Raw
from .traced_calls import jax_call, jax_method


def is_key(value: Raw) -> bool:
    """True for a typed PRNG key or an array of them."""
    return isinstance(value, Array) and value.key_impl is not None


@functools.cache
def _data_rank(impl: str) -> int:
    """How many axes the data of one key has."""
    shape = jax.eval_shape(lambda: jax.random.key_data(jax.random.key(0, impl=impl))).shape
    return len(shape)


def key_shape(key: Array) -> tuple[int, ...]:
    """The shape of a key array, without the axes of its data."""
    assert key.key_impl is not None
    return key.shape[: key.rank - _data_rank(key.key_impl)]


def key_item(ctx: Context, key: Array, index: Raw) -> Abstract:
    """`keys[index]`."""
    return jax_call(ctx, operator.getitem, [key, index])


def key_attribute(ctx: Context, key: Array, name: str) -> Abstract:
    """`keys.name`: what keys share with arrays; methods are JAX's own."""
    shape = key_shape(key)
    facts: dict[str, Callable[[], object]] = {
        "shape": lambda: shape,
        "ndim": lambda: len(shape),
        "size": lambda: math.prod(shape),
        "dtype": lambda: jax.eval_shape(lambda: jax.random.key(0, impl=key.key_impl)).dtype,
    }
    if name in facts:
        return Const(facts[name]())
    if not hasattr(jax.Array, name):
        ctx.raise_(AttributeError(f"'PRNGKeyArray' object has no attribute {name!r}"))
    if name == "T":
        return jax_call(ctx, operator.attrgetter("T"), [key])
    return Meaning(f"key.{name}", functools.partial(_call_method, jax_method(name), key))


def _call_method(
    method: Callable[..., object], key: Array, ctx: Context, *args: Raw, **kwargs: Raw
) -> Abstract:
    return jax_call(ctx, method, [key, *args], kwargs)
