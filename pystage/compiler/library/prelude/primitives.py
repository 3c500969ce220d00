"""What programs of the prelude call beside Python itself; the meanings stand in `python/prelude_primitives.py`."""

from __future__ import annotations

from typing import Any


def at(items: Any, place: Any) -> Any:
    """`items[place]`, of a place that lies inside: without a check."""
    return items[place]


def put(items: Any, place: Any, item: Any) -> None:
    """`items[place] = item`, of a place that lies inside: without a check."""
    items[place] = item


def check_list(heap: Any, argument: str) -> None:
    """Raises TypeError for an argument that is no list."""


def totally_ordered(iterable: Any, key: Any, reverse: Any) -> list[Any]:
    """The elements in order, equal ones as they came; refused where the order of objects leaves ties open."""
    return sorted(iterable, key=key, reverse=reverse)


def rolled(iterable: Any) -> Any:
    """The elements in a form over which a loop is rolled, if they are keys that the program computes and there are many."""
    return iterable


def elements(sequence: Any) -> Any:
    """The list of the elements of a sequence written in C (`rules/sequences.py`), to which nothing else refers."""


def note_change(sequence: Any) -> None:
    """Records that a deque has got longer or shorter: a loop over it ends by RuntimeError."""


def snapshot(iterable: Any) -> Any:
    """The present elements of an iterable, of which those of a deque may change meanwhile."""
    return iterable


def new_sequence(cls: type, *constants: Any) -> Any:
    """A new sequence of the class without elements; raises what the class says of constants that it refuses."""
