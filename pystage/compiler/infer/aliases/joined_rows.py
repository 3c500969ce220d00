"""Templates and capacities of vectors that differ on the two sides of a join."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from ... import limits
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType
from ...library.rules.pools import joined_contents, template_of_pool, vector_template
from ...library.rules.templates import (
    items_of_tuple,
    row_size,
    row_template,
    template_of_items,
    tuple_template,
    with_capacity,
)
from ...values.capacity import AllocationSite, Capacity, first_size
from ...values.lattice import (
    LISTS,
    Abstract,
    Cell,
    Contents,
    Items,
    PoolCell,
    RowsCell,
    RowsTuple,
    Tuple,
)
from ...values.vector import Sharing, Vector, capacity_of, length_of
from ...values.walk import rebuild, values_of
from ..state.phi import Placeholder, placeholder_for

_Objects = tuple[()] | Vector[Contents]
"""The objects of a pool, which may be empty."""


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

    def items(self, a: Items, b: Items, template: Abstract, is_table: bool) -> Vector[Abstract]:
        """Joins the elements of two lists of different elements or lengths into a vector with a common template."""
        most = 0 if is_table else limits.COUNTED_ROWS
        return self._vector(a, b, template, *self._capacity(a, b, template, most))

    def tuple_of_rows(self, a: Items, b: Items, template: Abstract) -> RowsTuple:
        """Joins two tuples of different elements or lengths into a vector with a common template.

        Its memory is copied wherever it gets longer, so that it has little at first, however many trips there are.
        """
        capacity = self._capacity(a, b, template, most=limits.FIRST_CAPACITY, with_inputs=False)
        return RowsTuple(self._vector(a, b, template, *capacity))

    def _vector(
        self, a: Items, b: Items, template: Abstract, capacity: int, site: AllocationSite | None
    ) -> Vector[Abstract]:
        first, second = [template_of_items(x, ragged=True) for x in (a, b)]
        template = self._with_tuple_capacity(first, second, template, capacity)
        element = rebuild(with_capacity(template, capacity), placeholder_for)
        shared = max([x.shared for x in (a, b) if isinstance(x, Vector)], default=Sharing.NOT)
        starts = [x.start if isinstance(x, Vector) and x.capacity == capacity else 0 for x in (a, b)]
        length = joined_count(length_of(a), length_of(b))
        return Vector(element, capacity, length, site, joined_count(*starts), shared)

    def pool(self, a: PoolCell, b: PoolCell) -> PoolCell | None:
        """Joins two pools with different objects or contents; None where they have no common template."""
        first, second = template_of_pool(a), template_of_pool(b)
        if first is None and second is None:
            return a
        template = joined_contents(first, second, self._loop) if first and second else first or second
        if template is None:
            return None
        ours: _Objects = a.objects or ()
        theirs: _Objects = b.objects or ()
        capacity, site = self._capacity(ours, theirs, template)
        if isinstance(template, RowsCell):
            template = RowsCell(self._with_inner_capacity(first, second, template.items, capacity))
            capacity, site = self._capacity(ours, theirs, template)  # of objects of this size
        contents = rebuild(with_capacity(template, capacity), placeholder_for)
        vectors = [x for x in (a.objects, b.objects) if x is not None]
        if len(vectors) == 2:  # what is the same on both sides stays
            columns = [values_of(x.element) for x in vectors]
            kept = {i: v for i, (v, w) in enumerate(zip(*columns)) if v is w}
            if _types(columns[0]) == _types(columns[1]) == _types(values_of(contents)):
                at = itertools.count()
                contents = rebuild(contents, lambda v: kept.get(next(at), v))
        length = joined_count(length_of(ours), length_of(theirs))
        shared = max([x.shared for x in vectors])
        return PoolCell(Vector(contents, capacity, length, site, shared=shared), a.stored or b.stored)

    def _with_inner_capacity(
        self, a: Contents | None, b: Contents | None, template: Vector[Abstract], count: int
    ) -> Vector[Abstract]:
        """The template of lists in a pool of `count` objects, with the capacity of the loop in which they grow."""
        lists = [x.items for x in (a, b) if isinstance(x, LISTS)]
        first, second = capacity_of(lists[0]), capacity_of(lists[-1])
        if template.site is not None or second <= first or self._capacity_here is None:
            return template
        element = row_template(template.element)
        itemsize = row_size(element) * count
        initial = max(second, limits.FIRST_INNER_CAPACITY)
        found = self._capacity_here(initial, itemsize, "lists in a list", is_inner=True)
        return vector_template(element, found.size, found.site, template.shared)

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
            or template.items.site is not None
            or self._capacity_here is None
        ):
            return template
        first, second = items_of_tuple(a), items_of_tuple(b)
        if first is None or second is None or capacity_of(second) <= capacity_of(first):
            return template
        element = row_template(template.items.element)
        itemsize = row_size(element) * count
        initial = max(
            capacity_of(first), first_size(limits.FIRST_INNER_CAPACITY, itemsize, capacity_of(second))
        )
        found = self._capacity_here(initial, itemsize, "tuples in a list", is_inner=True)
        return tuple_template(element, found.size, found.site)

    def _capacity(
        self,
        a: Items | _Objects,
        b: Items | _Objects,
        template: Abstract | Contents,
        most: int = limits.COUNTED_ROWS,
        with_inputs: bool = True,
    ) -> tuple[int, AllocationSite | None]:
        """How many rows a list, or a pool, has that is `a` or `b`, and the site that has its capacity.

        One that gets longer in a loop by as much as is written has as many as all trips may need, if those are known and
        `most` at most; else the capacity of the loop as an allocation site. So has a dict always, which may meet a key
        again. In nested loops the outermost decides; what an earlier loop made has room for more in a later one.
        """
        first, second = capacity_of(a), capacity_of(b)
        largest = max(first, second, 1)
        sites = [x.site if isinstance(x, Vector) else None for x in (a, b)]
        same_length = is_same_count(length_of(a), length_of(b))
        grows = second > first or (sites[0] is not None and not same_length)
        if not grows or self._capacity_here is None:
            return largest, sites[0] or sites[1]
        is_pool = isinstance(template, Cell)
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


def is_same_count(a: int | Value, b: int | Value) -> bool:
    """True for two counts that are certainly equal."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def joined_count(a: int | Value, b: int | Value) -> int | Value:
    """The template of two counts."""
    return a if is_same_count(a, b) else Placeholder(ArrayType(INT64))


def _types(columns: Sequence[Value]) -> list[ArrayType]:
    """The types of the arrays of a pool."""
    return [v.type for v in columns]
