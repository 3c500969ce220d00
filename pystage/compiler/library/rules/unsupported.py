"""Refusal of functions of other packages that have no meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...diagnostics.codes_calls import NotServed
from ...values.lattice import Abstract
from ..context import Context


def refused(name: str, why: str, instead: str) -> Callable[..., NoReturn]:
    """The meaning of a function that is not served, whatever it is given: PS606."""

    def call(ctx: Context, /, *args: Abstract, **kwargs: Abstract) -> NoReturn:
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))

    return call
