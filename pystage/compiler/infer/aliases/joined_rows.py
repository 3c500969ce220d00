"""Templates and capacities of lists of rows and pools that differ on the two sides of a join."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ... import limits
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType
from ...library.rules.pools import Contents, joined_contents, list_template, template_of_pool
from ...library.rules.templates import (
    row_size,
    row_template,
    template_of_list,
    tuple_rows,
    tuple_template,
    with_capacity,
)
from ...values.capacity import AllocationSite, Capacity, first_size
from ...values.lattice import (
    Abstract,
    AnyList,
    Cell,
    ListCell,
    PoolCell,
    RowsCell,
    RowsTuple,
    Sharing,
    Tuple,
)
from ...values.walk import rebuild, values_of
from ..state.phi import Placeholder, join_selectors, placeholder_for
from .alias_sets import joined_aliases


class JoinedRows:
    """The templates of one join.

    `loop`: of the entry of a loop and the end of its body. `trips`: the greatest number of its iterations, where that is
    known. `nested`: it is in another loop. `capacity`: gives the capacity of what grows in it.
    """

    def __init__(
        self, loop: bool, trips: int | None, nested: bool, capacity: Callable[..., Capacity] | None
    ) -> None:
        self._loop = loop
        self._trips = trips
        self._nested = nested
        self._capacity_here = capacity
        self.limit: float | None = None
        """The length up to which the test of the loop lets the list at hand get longer, where it looks at it."""

    def list(self, a: AnyList, b: AnyList, template: Abstract, is_table: bool) -> RowsCell:
        """Joins two lists of different elements or lengths into rows with a common template."""
        return self._rows(
            a, b, template, *self._capacity(a, b, template, most=0 if is_table else limits.COUNTED_ROWS)
        )

    def tuple_of_rows(self, a: AnyList, b: AnyList, template: Abstract) -> RowsTuple:
        """Joins two tuples of different elements or lengths into rows with a common template.

        Its memory is copied wherever it gets longer, so that it has little at first, however many trips there are.
        """
        capacity = self._capacity(a, b, template, most=limits.FIRST_CAPACITY, with_inputs=False)
        return RowsTuple(self._rows(a, b, template, *capacity))

    def _rows(
        self, a: AnyList, b: AnyList, template: Abstract, capacity: int, site: AllocationSite | None
    ) -> RowsCell:
        first, second = [template_of_list(x, ragged=True) for x in (a, b)]
        template = self._with_tuple_capacity(first, second, template, capacity)
        element = rebuild(with_capacity(template, capacity), placeholder_for)
        length = joined_count(*[x.length if isinstance(x, RowsCell) else len(x.items) for x in (a, b)])
        selector = join_selectors(a.selector, b.selector)
        shared = max([x.shared for x in (a, b) if isinstance(x, RowsCell)], default=Sharing.NOT)
        starts = [x.start if isinstance(x, RowsCell) and x.capacity == capacity else 0 for x in (a, b)]
        start = joined_count(*starts)
        return RowsCell(element, capacity, length, site, joined_aliases(a, b), selector, shared, start)

    def pool(self, a: PoolCell, b: PoolCell) -> PoolCell | None:
        """Joins two pools with different objects or contents; None where they have no common template."""
        first, second = template_of_pool(a), template_of_pool(b)
        if first is None and second is None:
            return a
        template = joined_contents(first, second, self._loop) if first and second else first or second
        if template is None:
            return None
        capacity, site = self._capacity(a, b, template)
        if isinstance(template, RowsCell):
            template = self._with_inner_capacity(first, second, template, capacity)
            capacity, site = self._capacity(a, b, template)  # of objects of this size
        contents = rebuild(with_capacity(template, capacity), placeholder_for)
        if a.contents is not None and b.contents is not None:  # what is the same on both sides stays
            pairs = zip(values_of(a.contents), values_of(b.contents))
            kept = {i: v for i, (v, w) in enumerate(pairs) if v is w}
            if _types(a.contents) == _types(b.contents) == _types(contents):
                at = itertools.count()
                contents = rebuild(contents, lambda v: kept.get(next(at), v))
        length = joined_count(a.length, b.length)
        return PoolCell(contents, capacity, length, site, a.stored or b.stored, a.shared or b.shared)

    def _with_inner_capacity(
        self, a: Contents | None, b: Contents | None, template: RowsCell, count: int
    ) -> RowsCell:
        """The template of lists in a pool of `capacity` objects, with the capacity of the loop in which they grow."""
        lists = [x for x in (a, b) if isinstance(x, ListCell | RowsCell)]
        first, second = most_rows(lists[0]), most_rows(lists[-1])
        if template.site is not None or second <= first or self._capacity_here is None:
            return template
        element = row_template(template.element)
        itemsize = row_size(element) * count
        initial = max(second, limits.FIRST_INNER_CAPACITY)
        found = self._capacity_here(initial, itemsize, "lists in a list", is_inner=True)
        return list_template(element, found.size, found.site, template.shared)

    def _with_tuple_capacity(
        self, a: Abstract | None, b: Abstract | None, template: Abstract, count: int
    ) -> Abstract:
        """The template of elements, with the capacity of the loop in which tuples among them grow.

        What is stored there later is made to fit (`row_lists.as_rows`).
        """
        if isinstance(template, Tuple):
            sides = [x.items if isinstance(x, Tuple) else (None,) * len(template.items) for x in (a, b)]
            parts = zip(*sides, template.items, strict=True)
            return Tuple(
                tuple([self._with_tuple_capacity(x, y, part, count) for x, y, part in parts]), template.cls
            )
        if (
            not isinstance(template, RowsTuple)
            or template.rows.site is not None
            or self._capacity_here is None
        ):
            return template
        first, second = [None if x is None else tuple_rows(x) for x in (a, b)]
        if first is None or second is None or most_rows(second) <= most_rows(first):
            return template
        element = row_template(template.rows.element)
        itemsize = row_size(element) * count
        initial = max(most_rows(first), first_size(limits.FIRST_INNER_CAPACITY, itemsize, most_rows(second)))
        found = self._capacity_here(initial, itemsize, "tuples in a list", is_inner=True)
        return tuple_template(element, found.size, found.site)

    def _capacity(
        self,
        a: AnyList | PoolCell,
        b: AnyList | PoolCell,
        template: Abstract | Cell,
        most: int = limits.COUNTED_ROWS,
        with_inputs: bool = True,
    ) -> tuple[int, AllocationSite | None]:
        """How many rows a list, or a pool, has that is `a` or `b`, and the site that has its capacity.

        One that gets longer in a loop by as much as is written has as many as all trips may need, if those are known and
        `most` at most; else the capacity of the loop as an allocation site. So has a dict always, which may meet a key
        again. In nested loops the outermost decides; what an earlier loop made has room for more in a later one.
        """
        first, second = map(most_rows, (a, b))
        largest = max(first, second, 1)
        sites = [None if isinstance(x, ListCell) else x.site for x in (a, b)]
        grows = second > first or (sites[0] is not None and _have_other_lengths(a, b))
        if not grows or self._capacity_here is None:
            return largest, sites[0] or sites[1]
        is_pool = isinstance(a, PoolCell)
        what = "objects of a list" if is_pool else "a list"
        itemsize = row_size(template)
        if sites[0] is not None and self._capacity_here(largest, itemsize, what).site == sites[0]:
            return largest, sites[0]
        needed = limits.COUNTED_ROWS + 1
        if self._trips is not None and sites[0] is None:
            needed = first + self._trips * (second - first)
        most_bytes = limits.COUNTED_ROW_BYTES if sites[1] is None else limits.FIRST_BYTES_BY_INPUTS
        if self.limit is not None and needed > most:
            with_inputs = False
            if (self.limit + second - first) * itemsize <= limits.FIRST_BYTES_BY_INPUTS:
                needed = max(second, int(self.limit) + second - first)
        is_counted = needed <= most and needed * itemsize <= most_bytes
        initial = needed if is_counted else largest
        if not is_counted or (is_pool and not self._nested):  # objects may be made by other loops, too
            initial = first_size(initial, itemsize, limits.FIRST_CAPACITY)
        found = self._capacity_here(initial, itemsize, what, with_inputs and not is_counted)
        return found.size, found.site


def most_rows(x: AnyList | PoolCell) -> int:
    """The number of elements of a list, or its capacity."""
    return len(x.items) if isinstance(x, ListCell) else x.capacity


def _have_other_lengths(a: AnyList | PoolCell, b: AnyList | PoolCell) -> bool:
    """True for two lists, or pools, that may have different lengths."""
    return not is_same_count(*[len(x.items) if isinstance(x, ListCell) else x.length for x in (a, b)])


def is_same_count(a: int | Value, b: int | Value) -> bool:
    """True for two counts that are certainly equal."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def joined_count(a: int | Value, b: int | Value) -> int | Value:
    """The template of two counts."""
    return a if is_same_count(a, b) else Placeholder(ArrayType(INT64))


def _types(contents: Cell) -> list[ArrayType]:
    """The types of the arrays of a pool."""
    return [v.type for v in values_of(contents)]
