"""Python's builtin functions of iterables, of generators: loops over them, which are fused with them.

They take no more elements than CPython's do. Those of a list, a tuple or an array are meanings of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


def as_list(iterable: Iterable[Any]) -> list[Any]:
    """All elements."""
    return [value for value in iterable]  # noqa: C416 (what `list` means is this)


def first(iterable: Iterable[Any], *default: Any) -> Any:
    """`next(iterable, *default)`."""
    for value in iterable:
        return value
    if default:
        return default[0]
    raise StopIteration


def any_true(iterable: Iterable[Any]) -> bool:
    """`any(iterable)`."""
    for value in iterable:  # noqa: SIM110 (what `any` means is this)
        if value:
            return True
    return False


def all_true(iterable: Iterable[Any]) -> bool:
    """`all(iterable)`."""
    for value in iterable:  # noqa: SIM110 (what `all` means is this)
        if not value:
            return False
    return True


def contains(iterable: Iterable[Any], wanted: Any) -> bool:
    """`wanted in iterable`."""
    for value in iterable:  # noqa: SIM110 (what `in` means is this)
        if wanted in (value,):
            return True
    return False


def summed(iterable: Iterable[Any], total: Any) -> Any:
    """`sum(iterable, total)`."""
    for value in iterable:
        total = total + value
    return total


def extend(self: Any, iterable: Iterable[Any]) -> None:
    """`self.extend(iterable)`."""
    for value in iterable:
        self.append(value)


def add_all(self: Any, iterable: Iterable[Any]) -> None:
    """`self.update(iterable)` of a set."""
    for value in iterable:
        self.add(value)


def store_all(self: Any, iterable: Iterable[Any]) -> None:
    """`self.update(iterable)` of a dict."""
    for key, value in iterable:
        self[key] = value


def numbered(iterable: Iterable[Any], start: Any) -> Iterator[Any]:
    """`enumerate(iterable, start)`."""
    for value in iterable:
        yield start, value
        start += 1


def mapped(function: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`map(function, iterable)`."""
    for value in iterable:
        yield function(value)


def kept(function: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Iterator[Any]:
    """`filter(function, iterable)`."""
    for value in iterable:
        if value if function is None else function(value):
            yield value


def all_mapped(function: Callable[..., Any], rows: Iterable[Any]) -> Iterator[Any]:
    """`map(function, …)` of several iterables."""
    for row in rows:
        yield function(*row)


def beside(before: tuple[Any, ...], iterable: Iterable[Any], after: tuple[Any, ...]) -> Iterator[Any]:
    """`zip(*before, iterable, *after)` of sequences and one generator, read in the order of `zip` and no further."""
    place = 0
    for one in before:
        if len(one) <= place:
            return
    first = [one[place] for one in before]
    for value in iterable:
        for one in after:
            if len(one) <= place:
                return
        yield (*first, value, *[one[place] for one in after])
        place += 1
        for one in before:
            if len(one) <= place:
                return
        first = [one[place] for one in before]
