"""Decides whether ndarrays are lent to a function as lazy tensors, from measured times with and without."""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

import numpy as np

LENT_RUNS = 3
"""The number of runs with lazy tensors before the comparison; the first of them compiles."""
PLAIN_RUNS = 2
"""The number of runs with ndarrays that are compared with them; the first may compile the function's regions anew."""
SLOW = 0.5
"""A run with lazy tensors that takes so many seconds, and is not the first, is the last before the comparison."""
MARGIN = 0.9
"""A run with ndarrays must be faster by this factor for a function to get them."""
HOPELESS = 5.0
"""A run with ndarrays that takes so many times as long is not repeated."""
ELEMENTWISE = 32.0
"""So many times as long as with ndarrays a run with lazy tensors may take whose loops read and store single elements: it
comes once runs with ndarrays have cost as much."""
_MAX_KINDS = 64
"""The number of kinds of calls whose times are kept for a function."""


class Lending:
    """The measured times of one kind of calls of a function."""

    __slots__ = ("_lent", "_lent_runs", "_plain", "_plain_runs", "_spent", "_waits", "settled")

    def __init__(self, waits: bool = False) -> None:
        self._waits = waits
        """True until runs with ndarrays have cost what the first run with lazy tensors may."""
        self._spent = 0.0
        self.settled: bool | None = None
        """True if ndarrays are lent from now on, False if not."""
        self._lent = self._plain = float("inf")
        self._lent_runs = self._plain_runs = 0

    def lends(self) -> bool:
        """True if the next call gets lazy tensors."""
        if self.settled is None:
            return not self._waits and self._lent_runs < LENT_RUNS
        return self.settled

    def note(self, lent: bool, seconds: float) -> None:
        """Records a run."""
        if self.settled is not None:
            return
        if self._waits:
            self._plain, self._spent = min(self._plain, seconds), self._spent + seconds
            self._waits = self._spent < ELEMENTWISE * self._plain
            return
        if lent:
            self._lent_runs += 1
            if self._spent and seconds > HOPELESS * self._plain:
                self.settled = False
                return
            if self._lent_runs > 1:  # the first compiles
                self._lent = min(self._lent, seconds)
                if seconds > SLOW:
                    self._lent_runs = LENT_RUNS
            return
        self._plain_runs += 1
        self._plain = min(self._plain, seconds)
        if self._plain < MARGIN * self._lent:
            self.settled = False
        elif self._plain_runs >= PLAIN_RUNS or self._plain > HOPELESS * self._lent:
            self.settled = True


_known: weakref.WeakKeyDictionary[Callable[..., Any], dict[Any, Lending]] = weakref.WeakKeyDictionary()


def lending_of(function: Callable[..., Any], values: Iterable[Any]) -> Lending:
    """The measured times of calls of a function with arguments of the same types and about the same size."""
    key = tuple([_kind(value) for value in values])
    try:
        kinds = _known.setdefault(function, {})
    except TypeError:  # it can be no key
        return Lending(_is_elementwise(function))
    found = kinds.get(key)
    if found is None:
        if len(kinds) >= _MAX_KINDS:
            kinds.clear()
        found = kinds.setdefault(key, Lending(_is_elementwise(function)))
    return found


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.size.bit_length()
    return type(value)


def _is_elementwise(function: Callable[..., Any]) -> bool:
    """True for a function in whose loops single elements are read or stored, as far as its bytecode tells."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return isinstance(code, CodeType) and _has_elements_in_loops(code)


@functools.lru_cache(maxsize=1024)
def _has_elements_in_loops(code: CodeType) -> bool:
    found = list(dis.get_instructions(code))
    loops = [(i.argval, i.offset) for i in found if "JUMP_BACKWARD" in i.opname]
    for before, each in itertools.pairwise(found):
        is_item = each.opname in ("BINARY_SUBSCR", "STORE_SUBSCR") or each.argrepr == "[]"
        if is_item and before.opname != "BUILD_SLICE" and any(a <= each.offset < b for a, b in loops):
            return True
    return False
