"""Consumers of suspended generators: plain programs over them, which are staged, and so fused with them.

In: a generator. Out: what a function that takes its elements gives, having taken no more of them than CPython's does; or
another generator, in place of `enumerate`, `map`, `filter`, `zip` and `islice` of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from ...stage.ir import unpacked
from ...values.bounded import Bounded
from ...values.lattice import (
    Abstract,
    Const,
    Enumerate,
    IteratorCell,
    Mapped,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    Suspended,
    TableCell,
    Tuple,
    Zip,
)
from ..context import Context, Raw
from ..kernels.structures import abstract, cell_of
from ..numpy.indexing.stores import shape_of
from ..registry import meaning
from ..rules.classes import class_of, not_iterable


def as_list(iterable: Iterable[Any]) -> list[Any]:
    """All elements."""
    return [value for value in iterable]  # noqa: C416 (what `list` means is this)


def first(iterable: Iterable[Any]) -> Any:
    """`next(iterable)`."""
    for value in iterable:
        return value
    raise StopIteration


def first_or(iterable: Iterable[Any], default: Any) -> Any:
    """`next(iterable, default)`."""
    for value in iterable:
        return value
    return default


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
        if value is wanted or value == wanted:
            return True
    return False


def summed(iterable: Iterable[Any], total: Any) -> Any:
    """`sum(iterable, total)`."""
    for value in iterable:
        total = total + value
    return total


def reduced(function: Callable[[Any, Any], Any], iterable: Iterable[Any]) -> Any:
    """`functools.reduce(function, iterable)`."""
    total, is_empty = None, True
    for value in iterable:
        total = value if is_empty else function(total, value)
        is_empty = False
    if is_empty:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def reduced_from(function: Callable[[Any, Any], Any], iterable: Iterable[Any], total: Any) -> Any:
    """`functools.reduce(function, iterable, total)`."""
    for value in iterable:
        total = function(total, value)
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


def chained(iterables: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """`itertools.chain.from_iterable(iterables)`."""
    for iterable in iterables:
        yield from iterable


def spread(function: Callable[..., Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`itertools.starmap(function, iterable)`."""
    for values in iterable:
        yield function(*values)


def taken_while(predicate: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`itertools.takewhile(predicate, iterable)`."""
    for value in iterable:
        if not predicate(value):
            break
        yield value


def dropped_while(predicate: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`itertools.dropwhile(predicate, iterable)`."""
    drops = True
    for value in iterable:
        if drops and predicate(value):
            continue
        drops = False
        yield value


def left_out(predicate: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Iterator[Any]:
    """`itertools.filterfalse(predicate, iterable)`."""
    for value in iterable:
        if not (value if predicate is None else predicate(value)):
            yield value


def selected(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    """`itertools.compress(data, selectors)`."""
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


def accumulated(iterable: Iterable[Any], function: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """`itertools.accumulate(iterable, function)`."""
    total, is_first = None, True
    for value in iterable:
        total = value if is_first else function(total, value)
        is_first = False
        yield total


def accumulated_from(
    iterable: Iterable[Any], function: Callable[[Any, Any], Any], total: Any
) -> Iterator[Any]:
    """`itertools.accumulate(iterable, function, initial=total)`."""
    yield total
    for value in iterable:
        total = function(total, value)
        yield total


def grouped(iterable: Iterable[Any], key: Callable[[Any], Any] | None) -> Iterator[Any]:
    """`itertools.groupby(iterable, key)`, whose groups give nothing once the next one has begun."""
    current, group = None, None
    for value in iterable:
        found = value if key is None else key(value)
        if group is not None and found == current:
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


def _numbered(iterable: Iterable[Any], start: Any) -> Iterator[Any]:
    """`enumerate(iterable, start)`."""
    for value in iterable:
        yield start, value
        start += 1


def _mapped(function: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`map(function, iterable)`."""
    for value in iterable:
        yield function(value)


def _kept(function: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    """`filter(function, iterable)`."""
    for value in iterable:
        if function(value):
            yield value


def _all_mapped(function: Callable[..., Any], rows: Iterable[Any]) -> Iterator[Any]:
    """`map(function, …)` of several iterables."""
    for row in rows:
        yield function(*row)


def _sliced(iterable: Iterable[Any], start: int, stop: int | None, step: int) -> Iterator[Any]:
    """`itertools.islice(iterable, start, stop, step)`, which takes the elements before `start` too."""
    place, wanted = 0, start
    if stop is not None and place >= wanted and place >= stop:
        return
    for value in iterable:
        if place == wanted:
            yield value
            wanted = wanted + step if stop is None else min(wanted + step, stop)
        place += 1
        if stop is not None and place >= wanted and place >= stop:
            return


def _beside(before: tuple[Any, ...], iterable: Iterable[Any], after: tuple[Any, ...]) -> Iterator[Any]:
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


def is_suspended(ctx: Context, value: Raw) -> bool:
    """True for a suspended generator."""
    cell = cell_of(ctx, value)
    return isinstance(cell, IteratorCell) and isinstance(cell.source, Suspended)


def is_of_steps(ctx: Context, value: Raw) -> bool:
    """True for an iterable that is iterated over element by element: a generator, or a computed number of elements."""
    match value:
        case Enumerate(inner) | Reversed(inner):
            return is_of_steps(ctx, inner)
        case Zip(inners) | Mapped(_, inners):
            return any(is_of_steps(ctx, each) for each in inners)
        case Bounded() | RowsTuple():
            return True
    cell = cell_of(ctx, value)
    if isinstance(cell, IteratorCell):
        return isinstance(cell.source, Suspended) or is_of_steps(ctx, cell.source)
    return isinstance(cell, TableCell) or (
        isinstance(cell, RowsCell) and not isinstance(cell.items.length, int)
    )


@meaning(unpacked)
def _unpacked(ctx: Context, iterable: Raw, may_change: Raw) -> Abstract:
    """Runs a generator to its end, and copies what may change; other values unchanged."""
    value: Abstract = abstract(iterable)
    if is_suspended(ctx, value):
        return ctx.call(Const(as_list), [value])
    name = not_iterable(ctx, value)
    if name is not None:
        ctx.raise_(TypeError(f"Value after * must be an iterable, not {name}"))
    is_immutable = isinstance(value, Tuple | RowsTuple)
    if is_immutable or not ctx.known(may_change, "whether it may change"):
        return value
    return ctx.call(Const(list), [value])


def numbered(ctx: Context, generator: Abstract, start: Abstract) -> Abstract:
    """`enumerate(generator, start)`."""
    return ctx.call(Const(_numbered), [generator, start])


def kept(ctx: Context, function: Abstract, generator: Abstract) -> Abstract:
    """`filter(function, generator)`."""
    plain = isinstance(function, Const) and function.value is None
    return ctx.call(Const(_kept), [Const(bool) if plain else function, generator])


def sliced(ctx: Context, generator: Abstract, limits: Sequence[int | None]) -> Abstract:
    """`itertools.islice(generator, *limits)`."""
    start, stop, step = limits
    return ctx.call(
        Const(_sliced), [generator, Const(start or 0), Const(stop), Const(1 if step is None else step)]
    )


def mapped(ctx: Context, function: Abstract, iterables: Sequence[Abstract]) -> Abstract | None:
    """`map(function, *iterables)`, one of which is a generator; None for others."""
    if len(iterables) == 1 and is_suspended(ctx, iterables[0]):
        return ctx.call(Const(_mapped), [function, iterables[0]])
    rows = beside(ctx, iterables)
    return None if rows is None else ctx.call(Const(_all_mapped), [function, rows])


def beside(ctx: Context, iterables: Sequence[Abstract]) -> Abstract | None:
    """`zip(*iterables)` of one generator and sequences; None for others."""
    places = [place for place, each in enumerate(iterables) if is_suspended(ctx, each)]
    if len(places) != 1:
        return None
    (place,) = places
    before, after = iterables[:place], iterables[place + 1 :]
    if not all(_is_sequence(ctx, each) for each in (*before, *after)):
        return None
    return ctx.call(Const(_beside), [Tuple(tuple(before)), iterables[place], Tuple(tuple(after))])


def _is_sequence(ctx: Context, value: Abstract) -> bool:
    """True for a value with a length and indices."""
    if ctx.is_ndarray(value) and not isinstance(value, Bounded) and not shape_of(ctx, cast(Ref, value)):
        ctx.raise_(TypeError("iteration over a 0-d array"))
    kinds = class_of(ctx, value)
    return all(issubclass(kind, list | tuple | range | str | np.ndarray) for kind in kinds)
