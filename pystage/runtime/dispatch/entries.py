"""Lookup keys of specialisations, from coarse to fine.

A `Group` has one shape of arguments and one type for each leaf. Its `Entry`s differ in the values of static leaves and in
which ndarrays are identical. A `Family` holds the specialisations of an entry, by the values of arguments that had to be
constants, the most recent first. Shapes and dtypes are left to the C++ cache of each specialisation's `jax.jit`, until two
of them read different parts of the environment; then the entry keeps a family for each combination of types.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any

import jax

from ...compiler.diagnostics.errors import StagingError
from ...deferred import deferred
from ...records import dataclass
from ..arguments.classification import BY_VALUE, LeafKind, by_equality
from ..arguments.inputs import TypeKey, type_key, value_key
from .refusals import MAX_REFUSALS, MAX_REFUSED_KINDS, Refusal
from .specialisation import Specialisation, SpecialisationContext

_interchangeable = deferred("pystage.runtime.arguments.functions", "interchangeable")
MAX_SPECIALISATIONS = 8
"""How many states of the environment are kept for one kind of call."""


class Family:
    """The specialisations for one kind of call, by the values of the leaves that had to be constants."""

    def __init__(self) -> None:
        self.demanded: tuple[int, ...] = ()
        self.by_value: dict[tuple[Any, ...], list[Specialisation]] = {}
        self.refusals: list[Refusal] = []
        """Why such calls were refused, the latest first."""
        self.guard_failures = 0
        self.lock = threading.RLock()

    def refused(
        self, leaves: Sequence[Any], pattern: Sequence[int], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> StagingError | None:
        """Why a call is refused, as one before it was."""
        for refusal in self.refusals:
            if refusal.holds(leaves, pattern, args, kwargs):
                return refusal.error
        return None

    def refuse(self, error: StagingError, guarded: Sequence[Refusal], keep: bool) -> None:
        """Remembers a refusal; `guarded` is what it depends on, where that is known.

        `keep`: where it is not known, or where this is one too many, it holds for all such calls from now on.
        """
        before = [refusal for refusal in self.refusals if not refusal.is_outdated]
        if keep and (not guarded or len(before) == MAX_REFUSALS):
            guarded = [Refusal(error)]
        self.refusals = [*guarded, *before][:MAX_REFUSALS]

    def values(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the leaves that had to be constants."""
        return tuple([value_key(leaves[i]) for i in self.demanded])

    def find(self, leaves: Sequence[Any]) -> list[Specialisation]:
        """The specialisations to try, in order."""
        return self.by_value.get(self.values(leaves) if self.demanded else (), [])

    def add(self, specialisation: Specialisation, leaves: Sequence[Any]) -> None:
        """Adds a specialisation, which is tried first."""
        demanded = tuple(sorted(specialisation.static))
        if demanded != self.demanded:
            # What was made without asking for these values is found no more: it is made again for each.
            self.demanded, self.by_value = demanded, {}
        values = self.values(leaves)
        others = self.by_value.get(values, [])
        self.by_value[values] = [specialisation, *others[: MAX_SPECIALISATIONS - 1]]

    def take_away(self, specialisation: Specialisation, values: tuple[Any, ...]) -> None:
        """No call finds this specialisation any more."""
        with self.lock:
            left = [s for s in self.by_value.get(values, []) if s is not specialisation]
            if left:
                self.by_value[values] = left
            else:
                self.by_value.pop(values, None)

    def prefer(self, specialisation: Specialisation, leaves: Sequence[Any]) -> None:
        """Tries this specialisation first from now on."""
        values = self.values(leaves)
        with self.lock:
            others = [s for s in self.by_value.get(values, []) if s is not specialisation]
            self.by_value[values] = [specialisation, *others]

    def all(self) -> list[Specialisation]:
        """Every specialisation."""
        return [s for found in list(self.by_value.values()) for s in found]


@dataclass(slots=True, eq=False)
class Entry:
    """Calls with the same shape, leaf types, static leaves and equal ndarrays."""

    context: SpecialisationContext
    static: tuple[Any, ...]
    """The static leaves, kept alive: some are told apart by identity."""
    paths: tuple[str, ...]
    short: dict[Any, Any] = field(default_factory=dict)
    """The fast paths of the function."""
    shared: Family = field(default_factory=Family)
    by_types: dict[tuple[TypeKey, ...], Family] | None = None
    shorts: dict[Any, Any] = field(default_factory=dict)
    """The fast paths of such calls."""
    hidden: bool = False
    """True while they are not taken: something is still to be compiled."""

    def family(self, leaves: Sequence[Any]) -> Family:
        """The family for these dynamic leaves."""
        if self.by_types is None:
            return self.shared
        types = tuple([type_key(v, f) for v, f in zip(leaves, self.context.forms, strict=True)])
        return self.by_types.setdefault(types, Family())

    def refuse(
        self, leaves: Sequence[Any], error: StagingError, guarded: Sequence[Refusal], keep: bool
    ) -> None:
        """Remembers a refusal of calls with leaves of these types (`Family.refuse`); of too many kinds the oldest go."""
        self.split()
        self.family(leaves).refuse(error, guarded, keep)
        assert self.by_types is not None
        kinds = [types for types, f in list(self.by_types.items()) if f.refusals and not f.by_value]
        for types in kinds[:-MAX_REFUSED_KINDS]:
            if self.by_types[types] is not self.shared:
                self.by_types.pop(types, None)

    def show(self) -> None:
        """Enables the fast paths of calls."""
        self.short.update(self.shorts)
        self.hidden = False

    def hide(self) -> None:
        """Disables the fast paths of calls."""
        self.hidden = True
        for key in self.shorts:
            self.short.pop(key, None)

    def split(self) -> None:
        """Keeps a family for each combination of types from now on."""
        if self.by_types is None:
            self.hide()
            self.shorts = {}
            leaves = len(self.context.forms)
            found: dict[tuple[TypeKey, ...], Family] = {}
            for specialisation in self.shared.all():
                for types in specialisation.types:
                    found[types[:leaves]] = self.shared
            self.by_types = found

    def take_away(self, specialisation: Specialisation) -> None:
        """Removes the fast paths to this specialisation."""
        for key in [key for key, short in self.shorts.items() if short[-1] is specialisation]:
            self.shorts.pop(key)
            self.short.pop(key, None)
        if self.by_types is not None:
            left = {
                types: f for types, f in self.by_types.items() if f is self.shared or f.by_value or f.refusals
            }
            self.by_types = left

    @property
    def empty(self) -> bool:
        """True if nothing is left of it."""
        families = [self.shared, *(self.by_types or {}).values()]
        return not any(f.by_value or f.refusals for f in families)


_MOST_REPRESENTATIVES = 16
"""Beyond so many different ones, as of traces of JAX that are gone, each object stands for itself."""


class Group:
    """Calls with the same shape and leaf types: which leaves are dynamic, and what else distinguishes calls."""

    def __init__(
        self, kinds: Sequence[LeafKind], types: Sequence[type], flat: bool, called: Collection[int] = ()
    ) -> None:
        """`called`: the leaves that are functions, and only called."""
        self.traced = LeafKind.TRACER in kinds
        self.static = [i for i, k in enumerate(kinds) if k is LeafKind.STATIC]
        self._by_value = [i for i in self.static if types[i] in BY_VALUE]
        self._called = called
        self._by_equality = [i for i in self.static if by_equality(types[i]) or i in called]
        self._by_identity = [
            i for i in self.static if types[i] not in BY_VALUE and i not in self._by_equality
        ]
        self._representatives: list[Any] = []
        dynamic = [i for i, k in enumerate(kinds) if k is not LeafKind.STATIC]
        self._dynamic = _getter(dynamic) if self.static else None
        self._arrays = [j for j, i in enumerate(dynamic) if kinds[i] is LeafKind.NDARRAY]
        self._simple = all(k is LeafKind.JAX for k in kinds)
        """True if all leaves are `jax.Array`s, and `jax_enable_x64` stays as the user set it."""
        self.entries: dict[tuple[Any, ...], Entry] = {}
        self._count = len(kinds) if flat else -1

    def take_away(self, entry: Entry) -> None:
        """No call finds this entry any more."""
        self.entries = {key: each for key, each in list(self.entries.items()) if each is not entry}

    def is_flat(self, args: Sequence[Any]) -> bool:
        """True if the arguments are the leaves, all of them dynamic, and their types determine the program."""
        return not (self.static or self.traced) and len(self._arrays) < 2 and len(args) == self._count

    def split(self, leaves: Sequence[Any]) -> tuple[Sequence[Any], tuple[Any, ...]]:
        """The dynamic leaves, and the key of the entry."""
        if self._simple:
            return leaves, ()
        dynamic = leaves if self._dynamic is None else self._dynamic(leaves)
        same = None
        if len(self._arrays) > 1:
            ids = [id(dynamic[i]) for i in self._arrays]
            if len(set(ids)) < len(ids):
                first: dict[int, int] = {}
                same = tuple([first.setdefault(each, n) for n, each in enumerate(ids)])
        key = (jax.config.jax_enable_x64, same)
        if self._dynamic is None:
            return dynamic, key
        values = [leaves[i] for i in self._by_value] + [id(leaves[i]) for i in self._by_identity]
        values += [id(self._representative(leaves[i])) for i in self._by_equality]
        return dynamic, (*key, *values)

    def _representative(self, leaf: Any) -> Any:
        """The first of equal objects that calls were given; it is kept alive, so that its `id` stands for all of them."""
        for other in self._representatives:
            if other is leaf or (type(other) is type(leaf) and _equal(other, leaf)):
                return other
        if len(self._representatives) < _MOST_REPRESENTATIVES:
            self._representatives.append(leaf)
        return leaf

    def tell_functions_apart(self) -> None:
        """Compares functions by identity: a program assigns variables, which one closes over and its equal does not."""
        if self._called:
            self._by_identity += self._called
            self._by_equality = [i for i in self._by_equality if i not in self._called]
            self._called = ()
            self.entries = {}

    def read_x64(self) -> None:
        """Makes the user's `jax_enable_x64` part of the key, since an input is not a `jax.Array`."""
        if self._simple:
            self._simple = False
            self.entries = {(e.context.x64, None): e for e in list(self.entries.values())}


def _equal(one: Any, other: Any) -> bool:
    return bool(_interchangeable(one, other)) if type(one) is FunctionType else bool(one == other)


def _getter(indices: list[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function from a sequence to the tuple of its items at `indices`."""
    if len(indices) > 1:
        return operator.itemgetter(*indices)
    return lambda leaves: tuple([leaves[i] for i in indices])
