"""`itertools`, as generators: of what gives its elements in turn, and where the elements say how many are taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..kernels.python_implementations import composed


def chained(iterables: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """`itertools.chain.from_iterable(iterables)`."""
    for iterable in iterables:
        yield from iterable


def spread(function: Callable[..., Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`itertools.starmap(function, iterable)`."""
    for values in iterable:
        yield function(*values)


@composed(itertools.takewhile)
def takewhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """The elements before the first that the predicate is not true of."""
    for value in iterable:
        if not predicate(value):
            break
        yield value


@composed(itertools.dropwhile)
def dropwhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """The elements from the first that the predicate is not true of."""
    drops = True
    for value in iterable:
        if drops and predicate(value):
            continue
        drops = False
        yield value


@composed(itertools.filterfalse)
def filterfalse(function: Callable[[Any], Any] | None, iterable: Iterable[Any], /) -> Iterator[Any]:
    """The elements that the function is not true of."""
    for value in iterable:
        if not (value if function is None else function(value)):
            yield value


@composed(itertools.compress)
def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    """The elements that are selected."""
    for value, chosen in zip(data, selectors):
        if chosen:
            yield value


def paired(iterable: Iterable[Any]) -> Iterator[Any]:
    """`itertools.pairwise(iterable)`."""
    last, is_first = None, True
    for value in iterable:
        if not is_first:
            yield last, value
        last, is_first = value, False


def accumulated(iterable: Iterable[Any], function: Callable[[Any, Any], Any], *initial: Any) -> Iterator[Any]:
    """`itertools.accumulate(iterable, function, initial=initial)`."""
    total, is_first = None, True
    if initial:
        total, is_first = initial[0], False
        yield total
    for value in iterable:
        total = value if is_first else function(total, value)
        is_first = False
        yield total


def grouped(iterable: Iterable[Any], key: Callable[[Any], Any] | None) -> Iterator[Any]:
    """`itertools.groupby(iterable, key)`, whose groups give nothing once the next one has begun."""
    current, group = None, None
    for value in iterable:
        found = value if key is None else key(value)
        if group is not None and found in (current,):
            group.append(value)
        else:
            if group is not None:
                elements = iter(group)
                yield current, elements
                for _ in elements:
                    pass
            current, group = found, [value]
    if group is not None:
        yield current, iter(group)


def sliced(iterable: Iterable[Any], start: int | None, stop: int | None, step: int | None) -> Iterator[Any]:
    """`itertools.islice(iterable, start, stop, step)`, which takes the elements before `start` too."""
    place, wanted = 0, start or 0
    step = 1 if step is None else step
    if stop is not None and place >= wanted and place >= stop:
        return
    for value in iterable:
        if place == wanted:
            yield value
            wanted = wanted + step if stop is None else min(wanted + step, stop)
        place += 1
        if stop is not None and place >= wanted and place >= stop:
            return
