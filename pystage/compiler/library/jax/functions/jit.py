"""`jax.jit` in staged source: its function is staged as part of the caller.

Only the effect of `jax.jit` on kinds of values remains: non-static arguments become arrays, and all results are
`jax.Array`s.
"""

from __future__ import annotations

import inspect
from typing import Any

import jax

from ....values.lattice import Abstract, Const, Meaning
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import ints, is_none
from ..lax.control import as_arrays

_NO_FUNCTION: Any = inspect.signature(jax.jit).parameters["fun"].default


@meaning(jax.jit)
def jit(
    ctx: Context,
    fun: Raw = _NO_FUNCTION,
    /,
    *,
    static_argnums: Raw = None,
    static_argnames: Raw = None,
    donate_argnums: Raw = None,
    donate_argnames: Raw = None,
    keep_unused: Raw = False,
    inline: Raw = False,
) -> Abstract:
    """The function with arrays for arguments and results; donation and inlining are the program's own."""
    numbers = () if is_none(static_argnums) else ints(ctx, static_argnums, "static_argnums of jax.jit")
    names = () if is_none(static_argnames) else ctx.known(static_argnames, "static_argnames of jax.jit")
    static = frozenset([*numbers, *((names,) if isinstance(names, str) else names)])
    if fun is _NO_FUNCTION:
        return Meaning("jax.jit", lambda ctx, fun: jitted(fun, static))
    return jitted(fun, static)


def jitted(function: Abstract, static: frozenset[int | str] = frozenset()) -> Meaning:
    """A function under `jax.jit`; `static` are the positions and names of arguments that it gets as they are."""

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        def given(key: int | str, value: Raw) -> Abstract:
            lifted = value if isinstance(value, Abstract) else Const(value)
            count = len(args)
            fixed = key in static or (isinstance(key, int) and key - count in static)
            return lifted if fixed else as_arrays(ctx, lifted, "jax.jit")

        positional = [given(i, a) for i, a in enumerate(args)]
        named = {k: given(k, v) for k, v in kwargs.items()}
        return as_arrays(ctx, ctx.call(function, positional, named), "jax.jit")

    return Meaning("jax.jit", call)


_JITTED = type(jax.jit(lambda: None))


def under_jit(value: object) -> Meaning | None:
    """The meaning of a call to a function of the program that `jax.jit` decorates; None for other functions.

    Which arguments are static it says only where it is pickled.
    """
    if type(value) is not _JITTED:
        return None
    state: Any = value.__getstate__()
    if not {"fun", "static_argnums", "static_argnames"} <= state.keys():
        return None
    return jitted(Const(state["fun"]), frozenset([*state["static_argnums"], *state["static_argnames"]]))
