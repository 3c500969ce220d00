"""Automatic mixed precision: the element type in which products and convolutions of float32 are made.

A setting of the thread, like JAX's own: it tells programs apart in the caches of `jax.jit`, and so in those of
pystage, which lie behind them. The compiler reads it where it makes a product; see `docs/mixed-precision.md`.
"""

from __future__ import annotations

import os
from typing import Any

import jax

LOW = ("bfloat16", "float16")
"""The element types that products can be made in."""


def _checked(name: Any, where: str) -> str | None:
    """The name of such an element type, or None; ValueError for anything else."""
    if name is None or name in LOW:
        return name  # type: ignore[no-any-return]
    raise ValueError(f"{where} must be one of {', '.join(map(repr, LOW))} or None, not {name!r}")


_default = _checked(os.environ.get("PYSTAGE_AUTOCAST") or None, "PYSTAGE_AUTOCAST")
_setting: Any = jax.make_user_context(default_value=_default)
entered: list[None] = [] if _default is None else [None]
"""Not empty once something may be set in some thread."""


class autocast:
    """A context in which products and convolutions of float32 are made in `dtype`: `"bfloat16"` or `"float16"`.

        >>> product = pystage.compile(lambda a, b: a @ b, tier="compiled")
        >>> a, b = np.full((2, 2), 1.001, np.float32), np.eye(2, dtype=np.float32)
        >>> with pystage.autocast("bfloat16"):
        ...     product(a, b)
        array([[1., 1.],
               [1., 1.]], dtype=float32)

    The operands are rounded to `dtype`; sums and results are float32, and so is everything else: weights, gradients,
    losses. It holds for staged functions called in it, for calls on lazy tensors recorded in it, and, written in the
    source of a staged function, for that part of it; in this thread. The innermost context counts, None switches it
    off. ValueError for another `dtype`. What is and what is not made so: `docs/mixed-precision.md`.
    """

    __slots__ = ("_context",)

    def __init__(self, dtype: str | None) -> None:
        self._context: Any = _setting(_checked(dtype, "the type of autocast"))

    def __enter__(self) -> None:
        entered[:] = [None]
        self._context.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(*exception)


def product_type() -> str | None:
    """The element type in which products of float32 are made now, in this thread; None for float32 itself."""
    chosen: str | None = _setting.value if entered else None
    return chosen
