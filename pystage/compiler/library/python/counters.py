"""`collections.Counter`: its methods and operators as plain programs over those of dicts, which are staged.

In: counters, and what they count. Out: what the method gives. A counter is a dict whose `__missing__` gives 0
(`dict_methods.item`).
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from ...values.lattice import NONE, Abstract, Const, DictCell, Ref
from ..containers import row_tables
from ..context import Context, Raw
from ..kernels import table_keys
from ..kernels.python_implementations import meaning_by, run_program
from ..kernels.structures import abstract, cell_of, new_list, new_rows
from ..registry import meaning
from ..rules.tables import is_counter, is_dict
from . import dict_methods

# ---------------------------------------------------------------- programs


def _count(self: Any, elements: Any) -> None:
    for element in elements:
        self[element] = self.get(element, 0) + 1


def _add_counts(self: Any, counts: Any) -> None:
    if self:
        for element, count in counts.items():
            self[element] = count + self.get(element, 0)
    else:
        dict.update(self, counts)


def _uncount(self: Any, elements: Any) -> None:
    for element in elements:
        self[element] = self.get(element, 0) - 1


def _subtract_counts(self: Any, counts: Any) -> None:
    for element, count in counts.items():
        self[element] = self.get(element, 0) - count


def total(self: Any) -> Any:
    """`Counter.total`."""
    return sum(self.values())


def most_common(self: Any, n: Any = None) -> Any:
    """`Counter.most_common`: equal counts in the order of insertion."""
    ranked = sorted(self.items(), key=lambda entry: entry[1], reverse=True)
    return ranked if n is None else ranked[: max(n, 0)]


def _drop(self: Any) -> None:
    """Removes elements with counts below 1."""
    for element in [element for element, count in self.items() if not count > 0]:
        del self[element]


def _joined(self: Any, other: Any, join: Any) -> Any:
    """The results of `join` for the counts of both, and the counts of the one without the other."""
    result: Any = collections.Counter()
    for element, count in self.items():
        both = join(count, other[element])
        if both > 0:
            result[element] = both
    for element, count in other.items():
        if element not in self and count > 0:
            result[element] = count
    return result


def _sum(self: Any, other: Any) -> Any:
    return _joined(self, other, lambda mine, theirs: mine + theirs)


def _difference(self: Any, other: Any) -> Any:
    result: Any = collections.Counter()
    for element, count in self.items():
        rest = count - other[element]
        if rest > 0:
            result[element] = rest
    for element, count in other.items():
        if element not in self and count < 0:
            result[element] = 0 - count
    return result


def _union(self: Any, other: Any) -> Any:
    return _joined(self, other, lambda mine, theirs: theirs if mine < theirs else mine)


def _intersection(self: Any, other: Any) -> Any:
    result: Any = collections.Counter()
    for element, count in self.items():
        theirs = other[element]
        least = count if count < theirs else theirs
        if least > 0:
            result[element] = least
    return result


def _positive(self: Any) -> Any:
    result: Any = collections.Counter()
    for element, count in self.items():
        if count > 0:
            result[element] = count
    return result


def _negative(self: Any) -> Any:
    result: Any = collections.Counter()
    for element, count in self.items():
        if count < 0:
            result[element] = 0 - count
    return result


def _add_in_place(self: Any, other: Any) -> None:
    for element, count in other.items():
        self[element] += count
    _drop(self)


def _subtract_in_place(self: Any, other: Any) -> None:
    for element, count in other.items():
        self[element] -= count
    _drop(self)


def _unite_in_place(self: Any, other: Any) -> None:
    for element, count in other.items():
        if count > self[element]:
            self[element] = count
    _drop(self)


def _intersect_in_place(self: Any, other: Any) -> None:
    for element, count in self.items():
        theirs = other[element]
        if theirs < count:
            self[element] = theirs
    _drop(self)


def _equal(self: Any, other: Any) -> bool:
    return all(self[element] == other[element] for element in self) and all(
        self[element] == other[element] for element in other
    )


def _includes(self: Any, other: Any) -> bool:
    """`self >= other`."""
    return all(other[element] <= self[element] for element in self) and all(
        other[element] <= self[element] for element in other
    )


def _includes_truly(self: Any, other: Any) -> bool:
    """`self > other`."""
    return _includes(self, other) and not _equal(self, other)


# ---------------------------------------------------------------- methods


@meaning(collections.Counter)
def Counter(ctx: Context, iterable: Raw = None, /, **kwds: Raw) -> Abstract:
    """`Counter(iterable, **kwds)`."""
    made = Ref(ctx.state.new_cell(DictCell({}, container=collections.Counter)))
    update(ctx, made, iterable, **kwds)
    return made


def _changing(
    mapping: Callable[..., None], elements: Callable[..., None], doc: str
) -> Callable[..., Abstract]:
    """A method that changes the counts by a dict, by elements, and by keywords."""

    def change(ctx: Context, self: Raw, iterable: Raw = None, /, **kwds: Raw) -> Abstract:
        source = abstract(iterable)
        if is_dict(cell_of(ctx, source)):
            run_program(ctx, mapping, [self, source])
        elif not (isinstance(source, Const) and source.value is None):
            run_program(ctx, elements, [self, _rolled(ctx, source)])
        if kwds:
            named = DictCell({name: abstract(value) for name, value in kwds.items()})
            run_program(ctx, mapping, [self, Ref(ctx.state.new_cell(named))])
        return NONE

    change.__doc__ = doc
    return change


def _rolled(ctx: Context, source: Abstract) -> Abstract:
    """The elements in a form over which a loop is rolled, if there are many that the program computes."""
    gathered = ctx.gathered(source)
    if gathered is not None:
        return new_rows(ctx, gathered)
    items = ctx.iterate(source)
    if items is None:
        return source
    if not any(table_keys.is_computed_key(ctx, item) for item in items):
        return new_list(ctx, items)
    rows = row_tables.many(ctx, items)
    return new_list(ctx, items) if rows is None else new_rows(ctx, rows)


update = meaning(collections.Counter.update)(_changing(_add_counts, _count, "`Counter.update`."))
subtract = meaning(collections.Counter.subtract)(_changing(_subtract_counts, _uncount, "`Counter.subtract`."))

METHODS: dict[str, Callable[..., Abstract]] = {
    **dict_methods.METHODS,
    "update": update,
    "subtract": subtract,
    "total": meaning(collections.Counter.total)(meaning_by(total)),
    "most_common": meaning(collections.Counter.most_common)(meaning_by(most_common)),
}
"""The methods of counters."""

# ---------------------------------------------------------------- operators

_BINARY = {"+": _sum, "-": _difference, "|": _union, "&": _intersection}
_INPLACE = {
    "+": _add_in_place,
    "-": _subtract_in_place,
    "|": _unite_in_place,
    "&": _intersect_in_place,
}
_UNARY = {"+": _positive, "-": _negative}


def binary(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op right` of counters; None for others."""
    if op not in _BINARY or not are_counters(ctx, left, right):
        return None
    return run_program(ctx, _BINARY[op], [left, right])


def inplace(ctx: Context, op: str, left: Ref, right: Abstract) -> bool:
    """`left op= right` of a counter and a dict; False for others."""
    if op not in _INPLACE or not is_counter(cell_of(ctx, left)) or not is_dict(cell_of(ctx, right)):
        return False
    run_program(ctx, _INPLACE[op], [left, right])
    return True


def unary(ctx: Context, op: str, x: Abstract) -> Abstract | None:
    """`+x` and `-x` of a counter; None for others."""
    if op not in _UNARY or not is_counter(cell_of(ctx, x)):
        return None
    return run_program(ctx, _UNARY[op], [x])


def compare(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract | None:
    """`left op right` of two counters, in which missing elements count 0; None for others."""
    if not are_counters(ctx, left, right):
        return None
    if op in ("<", "<="):
        left, right = right, left
    program = {"==": _equal, "<=": _includes, ">=": _includes}.get(op, _includes_truly)
    return run_program(ctx, program, [left, right])


def are_counters(ctx: Context, left: Abstract, right: Abstract) -> bool:
    """True for two counters."""
    return is_counter(cell_of(ctx, left)) and is_counter(cell_of(ctx, right))
