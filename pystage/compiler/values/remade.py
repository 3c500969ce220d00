"""The exception that a program has raised, made on the host from the number of its place and its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..hlo.types import ArrayType
from .boundary import Site, Template
from .shown import shown

Evaluate = Callable[[Template, Sequence[Any]], Any]
"""The object that a template describes, of these values."""


def remade(site: Site, payload: Sequence[Any], evaluate: Evaluate) -> BaseException:
    """The exception that the place raises, of its own values."""
    try:
        made = evaluate(site.exception, payload)
    except Exception as error:
        return error
    if isinstance(made, BaseException):
        return made
    if site.fallback is not None:
        return type(site.fallback)(*site.fallback.args)
    return RuntimeError(
        f"internal error of pystage: the program raised at {site.span}, and Python does not; please report this"
    )


@dataclass(frozen=True, slots=True)
class Remake:
    """Makes the exception of the place with a number, of the values that stand for the payload `keys`.

    0 is no place: the program has raised nothing, and nobody looks at what is made.
    """

    keys: tuple[tuple[ArrayType, int], ...]
    find: Callable[[int], Site] = field(compare=False)

    def __call__(self, code: int, *payload: Any) -> BaseException:
        if not code:
            return Exception()
        site = self.find(code)
        values = dict(zip(self.keys, payload, strict=True))
        return remade(site, [np.asarray(values[key]) for key in site.keys], shown)
