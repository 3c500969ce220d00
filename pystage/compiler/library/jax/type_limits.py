"""`jnp.finfo` and `jnp.iinfo`: limits of element types, constants of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ...values.lattice import Abstract, Array, Const
from ..context import Context, Raw
from ..registry import meaning


def _fact(function: Callable[[Any], Any], name: str) -> Callable[..., Abstract]:
    def fact(ctx: Context, dtype: Raw) -> Abstract:
        known = dtype.dtype if isinstance(dtype, Array) else ctx.known(dtype, f"the dtype of jnp.{name}")
        try:
            return Const(function(known))
        except ValueError as error:
            ctx.raise_(error)

    return fact


meaning(jnp.finfo)(_fact(jnp.finfo, "finfo"))
meaning(jnp.iinfo)(_fact(jnp.iinfo, "iinfo"))
