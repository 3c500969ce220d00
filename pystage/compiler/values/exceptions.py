"""Construction of a program's exception on the host, from the number of its raise site and its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ...records import dataclass
from ..diagnostics.traceback import shows_all_frames
from ..hlo.types import ArrayType
from .boundary import ConstantTemplate, Site, Template
from .host_evaluation import evaluate_template

Evaluate = Callable[[Template, Sequence[Any]], Any]
"""The object that a template describes, of these values."""


PayloadKey = tuple[ArrayType, int]
"""The n-th value of a type among those that the message of an exception is made of."""


def rebuild_exception(
    site: Site, payload: Mapping[PayloadKey, Any], find: Callable[[int], Site], evaluate: Evaluate
) -> BaseException:
    """The exception of the raise site, with its `__context__`."""
    return _with_context(site, payload, find, evaluate)[0]


def _with_context(
    site: Site, payload: Mapping[PayloadKey, Any], find: Callable[[int], Site], evaluate: Evaluate
) -> tuple[BaseException, set[PayloadKey]]:
    """The exception of the raise site, and which exceptions being handled are in its chain of contexts."""
    exception = _construct(site, [payload[key] for key in site.keys], evaluate)
    if isinstance(site.exception, ConstantTemplate) and site.handled:
        exception.__context__ = None
    chained = {place.handled[0].number for place, _ in _repeated(site, payload, find)}
    for handled in site.handled:
        number = int(payload.get(handled.number, 0))
        if not number or handled.number in chained:
            continue
        own = {key: payload[held] for key, held in handled.values}
        context, inner = _with_context(find(number), own, find, evaluate)
        chain(exception, context)
        chained |= {handled.number, *inner}
    return exception, chained


def origin(site: Site, payload: Mapping[PayloadKey, Any], find: Callable[[int], Site]) -> Site:
    """The original site of an exception that the site raises once more."""
    for _, earlier in _repeated(site, payload, find):
        site = earlier
    return site


def _repeated(
    site: Site, payload: Mapping[PayloadKey, Any], find: Callable[[int], Site]
) -> Iterator[tuple[Site, Site]]:
    """The sites at which an exception was raised once more, last first, each with the one before."""
    while site.again:
        handled = site.handled[0]
        earlier = find(int(payload[handled.number]))
        yield site, earlier
        site, payload = earlier, {key: payload[held] for key, held in handled.values}


def chain(exception: BaseException, context: BaseException) -> None:
    """Makes `context` the context of `exception`, at the end of its chain of contexts."""
    found = list(_contexts(exception))
    if not any(each is other for each in _contexts(context) for other in found):
        found[-1].__context__ = context


def _contexts(exception: BaseException | None) -> Iterator[BaseException]:
    """An exception, its context, the context of that, and so on."""
    while exception is not None:
        yield exception
        exception = exception.__context__


def _construct(site: Site, payload: Sequence[Any], evaluate: Evaluate) -> BaseException:
    """The exception of the raise site, of its own values."""
    try:
        made = evaluate(site.exception, payload)
    except Exception as error:
        return error if shows_all_frames() else error.with_traceback(None)
    if isinstance(made, BaseException):
        return made
    if site.fallback is not None:
        return type(site.fallback)(*site.fallback.args)
    return RuntimeError(
        f"internal error of pystage: the program raised at {site.span}, and Python does not; please report this"
    )


@dataclass(frozen=True, slots=True)
class ExceptionBuilder:
    """Makes the exception of the raise site with a number, of the values of the payload `keys`.

    0 is no place: the program has raised nothing, and nobody looks at what is made.
    """

    keys: tuple[tuple[ArrayType, int], ...]
    find: Callable[[int], Site] = field(compare=False)

    def __call__(self, code: int, *payload: Any) -> BaseException:
        if not code:
            return Exception()
        values = {key: np.asarray(value) for key, value in zip(self.keys, payload, strict=True)}
        return rebuild_exception(self.find(code), values, self.find, evaluate_template)
