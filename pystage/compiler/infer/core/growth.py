"""Growth: templates and capacities of vectors that differ at a join, and what is known of them after a loop.

In: the elements of lists, tuples, dicts, sets and pools on the two sides of a join. Out: the vector that covers both, with
the capacity of the loop in which it grows as an allocation site, or as many rows as all trips may need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ... import limits
from ...analysis.induction import recurrence
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType
from ...library.rules.pools import joined_contents, template_of_pool
from ...library.rules.templates import (
    items_of_tuple,
    row_size,
    row_template,
    template_of_items,
    vector_template,
    with_capacity,
)
from ...ops import Add, Constant, Multiply
from ...values.capacity import AllocationSite, Capacity, counted_size, first_size
from ...values.lattice import (
    LISTS,
    Abstract,
    Array,
    Cell,
    Contents,
    Items,
    ListCell,
    PoolCell,
    RowsCell,
    RowsTuple,
    Tuple,
)
from ...values.node import TreeNode
from ...values.vector import Sharing, Vector, capacity_of, length_of
from ...values.walk import rebuild, values_of
from ..state.constants import SourceLoop
from ..state.loop import Loop
from ..state.phi import Placeholder, placeholder_for
from .engine import Engine

N = TypeVar("N", bound=TreeNode)
_Objects = tuple[Contents, ...] | Vector[Contents]
"""The objects of a pool, () where it is empty."""
_TUPLES = "tuples in a list"
_UNEVEN = 4
"""One of many lists is expected to get so many times the mean."""


class JoinedVectors:
    """The templates of one join.

    `loop`: of the entry of a loop and the end of its body. `trips`: the greatest number of its iterations, where that is
    known; `expected`: their number in the call at hand. `nested`: it is in another loop. `capacity`: gives the capacity of
    what grows in it.
    """

    def __init__(
        self,
        loop: bool,
        trips: int | None,
        expected: int | None,
        nested: bool,
        capacity: Callable[..., Capacity] | None,
    ) -> None:
        self._loop = loop
        self._trips = expected if trips is None else trips
        self._is_expected = trips is None and expected is not None
        self._nested = nested
        self._capacity_here = capacity
        self.limit: float | None = None
        """The length up to which the test of the loop lets the list at hand get longer, where it looks at it."""

    def items(self, a: Items, b: Items, template: Abstract, is_table: bool) -> Vector[Abstract]:
        """Joins the elements of two lists of different elements or lengths into a vector with a common template."""
        most = 0 if is_table else limits.COUNTED_ROWS
        return self._of_elements(a, b, template, *self._capacity(a, b, template, most))

    def tuple_of(self, a: Items, b: Items, template: Abstract) -> RowsTuple:
        """Joins two tuples of different elements or lengths into a vector with a common template.

        Its memory is copied wherever it gets longer, so that it has little at first, however many trips there are.
        """
        capacity = self._capacity(a, b, template, most=limits.FIRST_CAPACITY, with_inputs=False)
        return RowsTuple(self._of_elements(a, b, template, *capacity))

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
            lists = [x.items for x in (first, second) if isinstance(x, LISTS)]
            template = RowsCell(
                self._inside(lists[0], lists[-1], template.items, capacity, "lists in a list")
            )
            capacity, site = self._capacity(ours, theirs, template)  # of objects of this size
        vector = _joined(ours, theirs, template, capacity, site)
        return PoolCell(_with_kept_columns(vector, ours, theirs), a.stored or b.stored)

    def _of_elements(
        self, a: Items, b: Items, template: Abstract, capacity: int, site: AllocationSite | None
    ) -> Vector[Abstract]:
        first, second = [template_of_items(x, ragged=True) for x in (a, b)]
        return _joined(a, b, self._with_tuple_capacity(first, second, template, capacity), capacity, site)

    def _inside(
        self, first: Items | None, second: Items | None, template: Vector[Abstract], count: int, what: str
    ) -> Vector[Abstract]:
        """The template of vectors inside of `count` elements, with the capacity of the loop in which they grow."""
        if template.site is not None or self._capacity_here is None or first is None or second is None:
            return template
        before, after = capacity_of(first), capacity_of(second)
        if after <= before:
            return template
        element = row_template(template.element)
        itemsize = row_size(element) * count
        initial = max(after, limits.FIRST_INNER_CAPACITY)
        if what == _TUPLES:  # what is longer is cropped
            initial = max(before, first_size(limits.FIRST_INNER_CAPACITY, itemsize, after))
        found = self._capacity_here(initial, itemsize, what, what != _TUPLES, min(_UNEVEN / count, 1))
        return vector_template(element, found.size, found.site, template.shared)

    def _with_tuple_capacity(
        self, a: Abstract | None, b: Abstract | None, template: Abstract, count: int
    ) -> Abstract:
        """The template of elements, with the capacity of the loop in which tuples among them grow.

        What is stored there later is made to fit (`vectors.holding`).
        """
        if isinstance(template, Tuple):
            sides = [x.items if isinstance(x, Tuple) else (None,) * len(template.items) for x in (a, b)]
            parts = zip(*sides, template.items, strict=True)
            return Tuple(
                tuple([self._with_tuple_capacity(x, y, part, count) for x, y, part in parts]), template.cls
            )
        if not isinstance(template, RowsTuple):
            return template
        return RowsTuple(self._inside(items_of_tuple(a), items_of_tuple(b), template.items, count, _TUPLES))

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
        row = itemsize = row_size(template)
        share, few = 1, limits.FIRST_CAPACITY
        if isinstance(template, RowsCell) or (isinstance(template, ListCell) and not template.items):
            itemsize, share, few = max(row, limits.FIRST_LIST_BYTES), 0, limits.FIRST_LISTS
            with_inputs = False
        if (
            sites[0] is not None
            and self._capacity_here(largest, itemsize, what, share=share).site == sites[0]
        ):
            return largest, sites[0]
        needed = limits.COUNTED_ROWS + 1
        guesses_inside = self._is_expected and sites[1] is not None
        if self._trips is not None and sites[0] is None and not guesses_inside:
            needed = first + max(self._trips, 1) * (second - first)
        most_bytes = limits.COUNTED_ROW_BYTES if sites[1] is None else limits.FIRST_BYTES_BY_INPUTS
        if self.limit is not None and needed > most:
            with_inputs = False
            if (self.limit + second - first) * row <= limits.FIRST_BYTES_BY_INPUTS:
                needed = max(second, int(self.limit) + second - first)
        is_counted = needed <= most and needed * row <= most_bytes
        initial = needed if is_counted else largest
        if is_counted and self._is_expected:
            initial = counted_size(max(few, largest), row, needed)
        if not is_counted or (is_pool and not self._nested):  # objects may be made by other loops, too
            initial = first_size(initial, row, few if is_counted else limits.FIRST_CAPACITY)
        if is_counted and is_pool:  # the trips say how many, and no size of an input does
            share = 0
        found = self._capacity_here(initial, itemsize, what, with_inputs and not is_counted, share)
        return found.size, found.site


def _joined(
    a: tuple[N, ...] | Vector[N],
    b: tuple[N, ...] | Vector[N],
    template: N,
    capacity: int,
    site: AllocationSite | None,
) -> Vector[N]:
    """The vector of the elements of either side, which the template covers."""
    element = rebuild(with_capacity(template, capacity), placeholder_for)
    vectors = [x for x in (a, b) if isinstance(x, Vector)]
    shared = max([x.shared for x in vectors], default=Sharing.NOT)
    starts = [x.start if isinstance(x, Vector) and x.capacity == capacity else 0 for x in (a, b)]
    length = joined_count(length_of(a), length_of(b))
    return Vector(element, capacity, length, site, joined_count(*starts), shared)


def _with_kept_columns(vector: Vector[Contents], a: _Objects, b: _Objects) -> Vector[Contents]:
    """The objects of a pool; numbers that are the same on both sides stay."""
    if not isinstance(a, Vector) or not isinstance(b, Vector):
        return vector
    columns = [values_of(x.element) for x in (a, b, vector)]
    first, second, types = [[v.type for v in each] for each in columns]
    if not first == second == types:
        return vector
    kept = iter([v if v is w else new for v, w, new in zip(*columns)])
    return replace(vector, element=rebuild(vector.element, lambda v: next(kept)))


def is_same_count(a: int | Value, b: int | Value) -> bool:
    """True for two counts that are certainly equal."""
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def joined_count(a: int | Value, b: int | Value) -> int | Value:
    """The template of two counts."""
    return a if is_same_count(a, b) else Placeholder(ArrayType(INT64))


def counted(
    engine: Engine,
    loop: Loop,
    source: SourceLoop | None,
    vector: Vector[Abstract],
    sides: Sequence[Items | None],
    complete: bool,
) -> Vector[Abstract]:
    """A vector after a loop; one with a capacity for all trips needs no more from the loop's site.

    Where every trip adds as many elements, its length follows from the number of trips. `source`: the loop in the source.
    `sides`: the vector on entry, and at the beginning and the end of the body. `complete`: nobody sees it after fewer trips.
    """
    here = None if loop.instruction is None else loop.instruction.span
    entry, begin, end = sides
    if entry is None or vector.site is None or vector.site.span != here:
        return vector
    before = length_of(entry)
    if loop.trips is not None:
        most = before if isinstance(before, int) else capacity_of(entry)
        if vector.capacity >= most + loop.trips:
            vector = replace(vector, site=None)
    if source is None or not complete or not isinstance(before, int):
        return vector
    if not isinstance(begin, Vector) or not isinstance(end, Vector):
        return vector
    if not isinstance(begin.length, Value) or not isinstance(end.length, Value):
        return vector
    found = recurrence(end.length, begin.length, engine.intervals)
    step = None if found is None else found.step
    if step is None or step < 0:
        return vector
    length: int | Value = vector.length
    if source.exact is not None and before + source.exact * step <= vector.capacity:
        length = before + source.exact * step
    elif isinstance(source.length, Array):
        b = engine.b
        added = b.op(Multiply(), source.length.value, b.op(Constant(np.asarray(step, INT64))))
        length = b.op(Add(), added, b.op(Constant(np.asarray(before, INT64))))
    return replace(vector, length=length)
