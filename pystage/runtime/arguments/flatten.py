"""Flattening of arguments: into leaves and a shape at each call, into `Spec`s when a call is specialised.

A shape is a tuple of `Layout`s, one for each container in the order of a depth-first walk, and one for all rows of equal
types. Layouts are made once for each combination of class, keys and types of the values, so that a container that holds
only leaves costs one look-up however many there are, and shapes are compared by identity.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import jax
import numpy as np

from ...compiler.diagnostics.codes_runtime import (
    ArgumentTooLarge,
    CyclicArgument,
    NestedTooDeeply,
    UnsupportedArgument,
    UnsupportedElements,
)
from ...compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...compiler.diagnostics.span import Span
from ...compiler.hlo.types import ArrayType
from ...compiler.library.rules.foreign import advice_for
from ...compiler.policy import is_closed
from ...compiler.values.boundary import Form, LeafSpec, RowsSpec, Spec, StaticSpec, StructureSpec
from ...compiler.values.memory import RecordClass, is_structured
from ..outcomes import Unprepared
from ..tiers import NotReady, patience
from .classification import LISTED, LeafKind, Opener, Rule, class_of, dtype_problem, open_records, rule_of
from .columns import Column, Structure, columns_of
from .inputs import TypeKey, is_key, key_data_type, type_key

INT64 = range(-(2**63), 2**63)
IMMUTABLE = (tuple, range, slice)
_STATIC, _UNSUPPORTED, _ABSTRACT = LeafKind.STATIC, LeafKind.UNSUPPORTED, LeafKind.ABSTRACT
_NDARRAY, _NUMBER = LeafKind.NDARRAY, LeafKind.NUMBER
_FORMS = {
    LeafKind.NUMBER: Form.PYTHON,
    LeafKind.COLUMN: Form.PYTHON,
    LeafKind.SCALAR: Form.SCALAR,
    LeafKind.NDARRAY: Form.NDARRAY,
    LeafKind.JAX: Form.JAX,
    LeafKind.TRACER: Form.JAX,
}


class Layout:
    """One container: its class, its keys, and the type of each child."""

    __slots__ = ("cls", "keys", "openers", "sequences", "types")

    def __init__(
        self,
        cls: type,
        keys: tuple[Any, ...],
        types: tuple[type, ...],
        openers: tuple[Opener | None, ...] | None,
    ) -> None:
        self.cls = cls
        self.keys = keys
        self.types = types
        self.openers = openers
        """For each value, what opens it, or None for a leaf; None instead of the tuple if all are leaves."""
        is_of_one_class = len(types) > 1 and len(set(types)) == 1 and types[0] in LISTED
        self.sequences = types[0] if is_of_one_class and openers is not None else None
        """The class of all values, if there are several and it is that of a list or a tuple."""


class HasRecords(Unprepared):
    """Raised where an argument is the first structured ndarray: the arguments are to be flattened again."""


def occurrences(containers: Sequence[Any]) -> list[int]:
    """For each container the number of its object, in the order of first occurrences."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(id(container), len(numbers)) for container in containers]


Shape = tuple[Layout, ...]
AbstractTypes = Callable[[Any], tuple[Any, Form]]
"""An abstract argument of `lower`: something with its shape and dtype, and its form."""


class Flattener:
    """Flattens arguments; one for each compiled function."""

    def __init__(self, static_types: tuple[type, ...] = ()) -> None:
        self._static_types = static_types
        self.rules: dict[type, Rule] = {}
        self.class_of: Callable[[Any], type] = type
        """The class that decides how a value is taken apart; its type, until there is a structured ndarray."""
        self._layouts: dict[tuple[Any, ...], Layout] = {}

    def flatten(self, cls: type, keys: tuple[Any, ...], values: Sequence[Any]) -> tuple[Shape, list[Any]]:
        """The shape and the leaves of a container. RecursionError if it is cyclic or very deep."""
        shape: list[Layout] = []
        leaves: list[Any] = []
        self._open_items(cls, keys, values, shape, leaves)
        return tuple(shape), leaves

    def containers(self, values: Sequence[Any]) -> list[Any]:
        """The mutable containers inside, each occurrence, in the order of a depth-first walk."""
        found: list[Any] = []
        if self._are_leaves(values):
            return found
        kinds = {*map(self.class_of, values)}
        if (
            len(kinds) == 1
            and kinds.issubset(LISTED)
            and self._are_leaves(itertools.chain.from_iterable(values))
        ):
            return [value for value in values if not isinstance(value, IMMUTABLE)]
        for value in values:
            rule = self.rule(value)
            if not isinstance(rule, LeafKind):
                if not isinstance(value, IMMUTABLE):
                    found.append(value)
                found += self.containers(rule(value)[1])
        return found

    def _are_leaves(self, values: Iterable[Any]) -> bool:
        """True for values of classes that are known, none of which is that of a container."""
        return all(isinstance(self.rules.get(kind), LeafKind) for kind in {*map(self.class_of, values)})

    def look_for_records(self) -> None:
        """Makes the flattener look for structured ndarrays from now on."""
        self.class_of = class_of

    def rule(self, value: Any) -> Rule:
        """The classification of `value`."""
        cls = self.class_of(value)
        found = self.rules.get(cls)
        if found is None:
            is_record = issubclass(cls, RecordClass)
            rule = functools.partial(open_records, cls) if is_record else rule_of(value, self._static_types)
            found = self.rules[cls] = rule
        return found

    def _open(
        self, cls: type, keys: tuple[Any, ...], values: Sequence[Any], shape: list[Layout], leaves: list[Any]
    ) -> None:
        """Opens an argument, or what is inside of one."""
        found = columns_of(values) if cls in LISTED else None
        if found is None:
            self._open_items(cls, keys, values, shape, leaves)
            return
        structure, columns = found
        key = (cls, len(values), structure)
        shape.append(self._layouts.get(key) or self._layouts.setdefault(key, Layout(cls, key, (), None)))
        leaves += columns

    def _open_items(
        self, cls: type, keys: tuple[Any, ...], values: Sequence[Any], shape: list[Layout], leaves: list[Any]
    ) -> None:
        """Opens a container item by item."""
        types = tuple(map(self.class_of, values))
        layout = self._layouts.get((cls, keys, types)) or self._layout(cls, keys, types, values)
        shape.append(layout)
        openers = layout.openers
        if openers is None:
            leaves.extend(values)
            return
        if layout.sequences is not None and self._open_rows(layout.sequences, values, shape, leaves):
            return
        for value, opener in zip(values, openers, strict=True):
            if opener is None:
                leaves.append(value)
            else:
                inner_keys, inner_values = opener(value)
                self._open(self.class_of(value), inner_keys, inner_values, shape, leaves)

    def _open_rows(
        self, cls: type, rows: Sequence[Sequence[Any]], shape: list[Layout], leaves: list[Any]
    ) -> bool:
        """Opens sequences of one class all at once, if they have as many leaves of the same types; else gives False."""
        types = tuple(map(self.class_of, rows[0]))
        layout = self._layouts.get((cls, (), types)) or self._layout(cls, (), types, rows[0])
        if layout.openers is not None or len(set(map(len, rows))) > 1 or columns_of(rows[0]) is not None:
            return False
        found = list(
            itertools.chain.from_iterable(rows)
        )  # one list: a container for each row would cost more
        if len(types) > len(rows):
            is_alike = all(tuple(map(self.class_of, row)) == types for row in rows)
        else:
            columns = [found[i :: len(types)] for i in range(len(types))]
            is_alike = all(len(set(map(self.class_of, column))) == 1 for column in columns)
        if not is_alike:
            return False
        key = (layout, len(rows))
        shape.append(self._layouts.get(key) or self._layouts.setdefault(key, Layout(cls, (), types, None)))
        leaves += found
        return True

    def _layout(
        self, cls: type, keys: tuple[Any, ...], types: tuple[type, ...], values: Sequence[Any]
    ) -> Layout:
        """The layout of a container that `_open` did not find.

        Keys of one value may be of different types (`1`, `True`, `1.0`), so only layouts whose keys are all
        strings are found by the keys alone.
        """
        key_types = tuple(map(type, keys))
        key: tuple[Any, ...] = (cls, keys, types)
        if any(t is not str for t in key_types):
            key = (cls, keys, key_types, types)
            found = self._layouts.get(key)
            if found is not None:
                return found
        rules = [self.rule(value) for value in values]
        openers = tuple([None if isinstance(rule, LeafKind) else rule for rule in rules])
        made = Layout(cls, keys, types, None if all(o is None for o in openers) else openers)
        return self._layouts.setdefault(key, made)


class Description:
    """The arguments of one call as `Spec`s, and the path of each leaf.

    Raises `DiagnosticError` (PS8xx) for what cannot enter a program, with its path.
    """

    def __init__(
        self,
        flattener: Flattener,
        span: Span | None,
        abstract: AbstractTypes | None = None,
    ) -> None:
        self._flattener = flattener
        self._span = span
        self._abstract = abstract
        self._open: set[int] = set()
        self._identities: dict[int, int] = {}
        self._arrays: dict[int, int] = {}
        self._staged: set[Any] = set()  # element types that a program can have
        self.leaves: list[Any] = []
        """The dynamic leaves, in the order in which `Flattener` gives them."""
        self.paths: list[str] = []
        self.types: list[TypeKey] = []
        self._until = time.perf_counter() + patience()
        self._containers: list[Any] = []
        self._closed: tuple[Any, str] | None = None
        """The outermost open object of a package whose source is never staged, and its path."""

    @property
    def pattern(self) -> list[int]:
        """The `occurrences` of `Flattener.containers`."""
        return occurrences(self._containers)

    def spec(self, value: Any, path: str) -> Spec:
        """The spec of one argument, whose path begins with its name."""
        rule = self._flattener.rule(value)
        if not isinstance(rule, LeafKind):
            return self._structure(value, path, rule)
        if rule is _STATIC:
            return StaticSpec(value)
        if rule is _UNSUPPORTED:
            self._look_for_records(value)
        if rule is _UNSUPPORTED or (rule is _ABSTRACT and self._abstract is None):
            self._refuse(value, path)
        return self._leaf(value, path, rule)

    def _look_for_records(self, value: Any) -> None:
        """Raises `HasRecords` for the first structured ndarray."""
        if self._flattener.class_of is type and is_structured(value):
            self._flattener.look_for_records()
            raise HasRecords

    def _refuse(self, value: Any, path: str) -> NoReturn:
        """Raises PS801 for `value`; for the outer object inside of a package that pystage does not look into."""
        value, path = self._closed or (value, path)
        kind = _kind(value)
        advice = advice_for([kind])
        instead = "" if advice is None else advice.instead
        self._fail(UnsupportedArgument(span=self._span, path=path, kind=kind, instead=instead))

    def _fail(self, diagnostic: Diagnostic) -> NoReturn:
        raise DiagnosticError(diagnostic)

    def _structure(self, value: Any, path: str, opener: Opener) -> Spec:
        if id(value) in self._open:
            self._fail(CyclicArgument(span=self._span, path=path))
        self._check_time()
        self._open.add(id(value))
        identity = self._identities.setdefault(id(value), len(self._identities))
        if not isinstance(value, IMMUTABLE):
            self._containers.append(value)
        keys, values = opener(value)
        closed = self._closed
        if closed is None and is_closed(type(value)):
            self._closed = value, path
        found = columns_of(values) if type(value) in LISTED else None
        if found is not None:
            self._open.remove(id(value))
            structure, columns = found
            element = self._element(structure, iter(columns), f"{path}[:]")
            return RowsSpec(type(value), element, len(values), identity)
        try:
            steps = keys or tuple(range(len(values)))
            children = tuple(
                [self.spec(v, _step(path, value, k)) for k, v in zip(steps, values, strict=True)]
            )
        except RecursionError:
            self._fail(NestedTooDeeply(span=self._span, path=path[:60], depth=len(self._open)))
        self._closed = closed
        self._open.remove(id(value))
        return StructureSpec(self._flattener.class_of(value), steps, children, identity)

    def _element(self, structure: Structure, columns: Iterator[Column], path: str) -> Spec:
        """The spec of one of many elements of the same structure, of which `columns` hold the numbers."""
        if isinstance(structure, type):
            return self._leaf(next(columns), path, LeafKind.COLUMN)
        cls, keys, parts = structure
        text = "{}.{}" if keys else "{}[{}]"
        steps: tuple[Any, ...] = keys or tuple(range(len(parts)))
        children = [self._element(p, columns, text.format(path, k)) for k, p in zip(steps, parts)]
        return StructureSpec(cls, steps, tuple(children), -1)

    def _check_time(self) -> None:
        if time.perf_counter() > self._until:
            raise NotReady

    def _leaf(self, value: Any, path: str, kind: LeafKind) -> LeafSpec:
        index = len(self.leaves)
        if not index % _TIMED:
            self._check_time()
        self.leaves.append(value)
        self.paths.append(path)
        writable = True
        if kind is _ABSTRACT:
            assert self._abstract is not None
            value, form = self._abstract(value)
        else:
            form = _FORMS[kind]
            if kind is _NDARRAY:
                index = self._arrays.setdefault(id(value), index)
                writable = bool(value.flags.writeable)
            elif kind is _NUMBER and isinstance(value, int) and value not in INT64:
                self._fail(ArgumentTooLarge(span=self._span, path=path, value=f"{value:#x}"[:20] + "…"))
        key = type_key(value, form)
        self.types.append(key)
        shape, dtype, weak = key
        if dtype not in self._staged:
            if is_key(dtype):
                return LeafSpec(
                    index, key_data_type(shape, dtype), form, False, str(jax.random.key_impl(value))
                )
            self._look_for_records(value)
            problem = dtype_problem(dtype)
            if problem is not None:
                self._fail(UnsupportedElements(span=self._span, path=path, problem=problem))
            self._staged.add(dtype)
        return LeafSpec(index, ArrayType(dtype, shape), form, weak, writable=writable)


def _kind(value: Any) -> str:
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


_TIMED = 256
"""After so many leaves it is asked again whether the time is up."""
_INDEXED = (list, dict)


def _step(path: str, value: Any, key: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{path}{key}"
    if isinstance(value, _INDEXED) or type(value) is tuple or type(key) is int:
        return f"{path}[{key!r}]"
    return f"{path}.{key}"
