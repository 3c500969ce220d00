"""Descriptions of how the arguments of a call differ from those that a program was made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...compiler.values.boundary import LeafSpec, RowsSpec, Spec, StaticSpec, StructureSpec
from ...compiler.values.type_text import short_array
from .flatten import IMMUTABLE
from .targets import Calling

ArgumentSpecs = tuple[Sequence[Spec], Mapping[str, Spec]]
"""The specs of a call's arguments: of those by position, and of those by keyword."""


def difference(
    calling: Calling,
    static: Mapping[int, Any],
    wanted: ArgumentSpecs,
    given: ArgumentSpecs,
    value_of: Callable[[int], Any],
) -> str | None:
    """The first difference; None if a program serves the call. `static`: the leaves that it takes for constants."""
    (wanted_args, wanted_named), (given_args, given_named) = wanted, given
    if len(wanted_args) != len(given_args) or list(wanted_named) != list(given_named):
        return f"{_arguments(calling, given)}, not {_arguments(calling, wanted)}"
    names = [*calling.argument_names(len(wanted_args)), *wanted_named]
    pairs = zip((*wanted_args, *wanted_named.values()), (*given_args, *given_named.values()), strict=True)
    places: dict[int, str] = {}
    objects = _Pairs()
    for name, (old, new) in zip(names, pairs, strict=True):
        problem = _difference(old, new, name, places, objects)
        if problem is not None:
            return problem
    for leaf, value in static.items():
        if repr(value_of(leaf)) != repr(value):
            return f"{places[leaf]} is {value_of(leaf)!r}, not {value!r}"
    return None


class _Pairs:
    """A one-to-one correspondence of the objects of two calls."""

    def __init__(self) -> None:
        self._of_wanted: dict[int, int] = {}
        self._of_given: dict[int, int] = {}

    def pair(self, wanted: int, given: int) -> bool:
        """True if the two correspond, as far as is known."""
        return (
            self._of_wanted.setdefault(wanted, given) == given
            and self._of_given.setdefault(given, wanted) == wanted
        )


def _arguments(calling: Calling, specs: ArgumentSpecs) -> str:
    names = [*calling.argument_names(len(specs[0])), *specs[1]]
    return f"({', '.join(names)})"


def _difference(wanted: Spec, given: Spec, path: str, places: dict[int, str], objects: _Pairs) -> str | None:
    match wanted, given:
        case LeafSpec(), LeafSpec():
            known = places.setdefault(wanted.index, path)
            if wanted == given:
                return None
            if wanted.index != given.index:
                return f"{path} and another argument are one array in one of the calls, and two in the other"
            if (wanted.type, wanted.form, wanted.key_impl) != (given.type, given.form, given.key_impl):
                return f"{known} is {_type(given)}, not {_type(wanted)}"
            if wanted.weak != given.weak:
                return f"{known} is {'' if given.weak else 'not '}weakly typed"
            return None  # whether an array is read-only, guards say where it matters
        case StaticSpec(), StaticSpec():
            same = wanted.value is given.value or (
                type(wanted.value) is type(given.value) and bool(wanted.value == given.value)
            )
            return None if same else f"{path} is {given.value!r}, not {wanted.value!r}"
        case StructureSpec(), StructureSpec():
            if wanted.cls is not given.cls:
                return f"{path} is of the class {given.cls.__qualname__}, not {wanted.cls.__qualname__}"
            if wanted.keys != given.keys:
                return f"{path} has {_contents(given)}, not {_contents(wanted)}"
            if not issubclass(wanted.cls, IMMUTABLE) and not objects.pair(wanted.identity, given.identity):
                return f"{path} and another argument are one object in one of the calls, and two in the other"
            for key, a, b in zip(wanted.keys, wanted.children, given.children, strict=True):
                problem = _difference(a, b, f"{path}[{key!r}]", places, objects)
                if problem is not None:
                    return problem
            return None
        case RowsSpec(), RowsSpec() if wanted.length == given.length:
            if wanted.cls is not given.cls:
                return f"{path} is of the class {given.cls.__qualname__}, not {wanted.cls.__qualname__}"
            if wanted.cls is list and not objects.pair(wanted.identity, given.identity):
                return f"{path} and another argument are one object in one of the calls, and two in the other"
            return _difference(wanted.element, given.element, f"{path}[:]", places, objects)
        case ((RowsSpec() | StructureSpec()), (RowsSpec() | StructureSpec())):
            if _contents(wanted) != _contents(given):
                return f"{path} has {_contents(given)}, not {_contents(wanted)}"
            return f"{path} has elements of another structure"
    return f"{path} is of another kind"


def _type(spec: LeafSpec) -> str:
    """The type in the terms of NumPy and Python."""
    return short_array(spec.type, spec.form) if spec.key_impl is None else f"keys of {spec.key_impl}"


def _contents(spec: StructureSpec | RowsSpec) -> str:
    if isinstance(spec, RowsSpec):
        return f"the length {spec.length}"
    if spec.keys == tuple(range(len(spec.keys))):
        return f"the length {len(spec.keys)}"
    return f"({', '.join(map(str, spec.keys))})"
