"""Methods of known objects: strings, bytes, ranges, frozensets and numbers.

In: a constant and the name of an attribute. Out: the attribute, or the method, which runs now on arguments
that must be known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..values.lattice import Abstract, Const, Meaning
from .context import Context, Raw
from .structures import abstract, call_now, lift


def attribute(ctx: Context, receiver: Const, name: str) -> Abstract | None:
    """`receiver.name`; None where it has no such attribute."""
    known = receiver.value
    if not hasattr(known, name):
        return None
    found = getattr(known, name)
    if callable(found) and not isinstance(found, type):
        return Meaning(f"{type(known).__name__}.{name}", _method(found))
    return lift(ctx, found)


def _method(bound: Callable[..., Any]) -> Callable[..., Abstract]:
    """A bound method of a known object as a meaning."""

    def method(ctx: Context, *args: Raw, **kwargs: Raw) -> Abstract:
        what = f"the arguments of {getattr(bound, '__qualname__', 'a method')}"
        known = [known_argument(ctx, a, what) for a in args]
        named = {k: known_argument(ctx, v, what) for k, v in kwargs.items()}
        return call_now(ctx, functools.partial(bound, *known, **named))

    return method


def known_argument(ctx: Context, value: Raw, what: str) -> Any:
    """An argument as a Python object; lists and iterators as lists of known elements."""
    if isinstance(value, Abstract) and not isinstance(value, Const):
        items = ctx.iterate(abstract(value)) if not ctx.is_ndarray(value) else None
        if items is not None:
            known = [ctx.known(i, what) for i in items]
            return tuple(known) if hasattr(value, "items") else known
    return ctx.known(value, what)
