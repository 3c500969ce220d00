"""Refusal of functions of other packages that have no meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...diagnostics.codes_calls import NotServed
from ...values.lattice import Abstract
from ..context import Context


def refused(name: str, why: str, instead: str) -> Callable[..., NoReturn]:
    """The meaning of an unsupported function: PS606 for any arguments."""

    def call(ctx: Context, /, *args: Abstract, **kwargs: Abstract) -> NoReturn:
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))

    return call
