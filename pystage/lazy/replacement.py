"""Replacement of arrays of one kind by those of another, throughout the structure of a value."""

from __future__ import annotations

import abc
import collections
import functools
from collections.abc import Callable
from types import CellType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from ..compiler.values.instances import slots_of
from ..runtime.arguments.classification import fields_of, is_plain

_ATOMS = (int, float, complex, bool, str, bytes, type(None))
_UNCHANGEABLE = (tuple, frozenset, MethodType)


def _parts(value: Any) -> list[Any]:
    """The parts of an immutable value."""
    if isinstance(value, MethodType):
        return [value.__self__]
    return list((tuple if isinstance(value, tuple) else frozenset).__iter__(value))


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, MethodType):
        return MethodType(value.__func__, *parts)
    base: Any = tuple if isinstance(value, tuple) else frozenset
    return base.__new__(type(value), parts)


class Replacement(abc.ABC):
    """One walk through values: each holder is visited once, and no user code runs."""

    def __init__(self) -> None:
        self._anew: dict[int, Any] = {}
        """What stands for a value that cannot be changed and was made anew, by the identity of the old one."""
        self._kept: list[Any] = []
        """The old ones, and all that was visited."""
        self._seen: set[int] = set()
        self._pending: list[Any] = []

    @abc.abstractmethod
    def leaf(self, value: Any) -> Any:
        """The replacement of a value that is an array; other values unchanged."""

    def replaced(self, value: Any) -> Any:
        """The replacement of a value: mutable holders are changed in place, tuples and the like are made anew."""
        new = self.stand_in(value)
        while self._pending:
            self.refill(self._pending.pop(), self.stand_in)
        return new

    def stand_in(self, value: Any) -> Any:
        """The replacement of a value, which is still to be refilled if it holds others."""
        new = self.leaf(value)
        if new is not value:
            return new
        cls: Any = type(value)
        if cls in _ATOMS or id(value) in self._seen:
            return value
        if isinstance(value, _UNCHANGEABLE):
            return self._anew[id(value)] if id(value) in self._anew else self._made_anew(value)
        self._seen.add(id(value))
        self._kept.append(value)
        self._pending.append(value)
        return value

    def _made_anew(self, value: Any) -> Any:
        """The replacement of an immutable value: itself, if its parts are unchanged."""
        open_ = [value]
        while open_:
            parts = _parts(open_[-1])
            inner = [part for part in parts if isinstance(part, _UNCHANGEABLE) and id(part) not in self._anew]
            if inner:
                open_ += inner
                continue
            whole = open_.pop()
            new = [self.stand_in(part) for part in parts]
            same = all(a is b for a, b in zip(new, parts, strict=True))
            self._anew[id(whole)] = whole if same else _rebuilt(whole, new)
            self._kept.append(whole)
        return self._anew[id(value)]

    def refill(self, holder: Any, new_of: Callable[[Any], Any]) -> None:
        """Replaces the values that an object holds, in place."""
        cls: Any = type(holder)
        if isinstance(holder, list | collections.deque):
            base: Any = list if isinstance(holder, list) else collections.deque
            for place, old in enumerate(list(base.__iter__(holder))):
                if (new := new_of(old)) is not old:
                    base.__setitem__(holder, place, new)
        elif isinstance(holder, dict):
            self._dict(holder, new_of)
        elif isinstance(holder, set):
            members = list(set.__iter__(holder))
            others = [new_of(member) for member in members]
            if any(a is not b for a, b in zip(members, others, strict=True)):
                set.clear(holder)
                set.update(holder, others)
        elif cls is CellType:
            self._cell(holder, new_of)
        elif isinstance(holder, np.ndarray):
            if cls is np.ndarray and holder.dtype == object and holder.ndim and holder.flags.writeable:
                for index in np.ndindex(holder.shape):
                    if (new := new_of(holder[index])) is not holder[index]:
                        holder[index] = new
        elif isinstance(holder, functools.partial):
            function, args, keywords = new_of(holder.func), new_of(holder.args), dict(holder.keywords)
            self._dict(keywords, new_of)
            fields = fields_of(holder)
            self._dict(fields, new_of)
            functools.partial.__setstate__(holder, (function, args, keywords, fields))  # type: ignore[attr-defined]
        elif isinstance(holder, BaseException):
            if (args := new_of(holder.args)) is not holder.args:
                holder.args = args
            self._attributes(holder, cls, new_of)
        elif is_plain(cls) or isinstance(holder, SimpleNamespace):
            self._attributes(holder, cls, new_of)

    def _dict(self, holder: dict[Any, Any], new_of: Callable[[Any], Any]) -> None:
        base: Any = collections.OrderedDict if isinstance(holder, collections.OrderedDict) else dict
        items = list(base.items(holder))
        keys = [new_of(key) for key, _ in items]
        if any(new is not key for new, (key, _) in zip(keys, items, strict=True)):
            base.clear(holder)
            items = [(key, value) for key, (_, value) in zip(keys, items, strict=True)]
            for key, value in items:
                base.__setitem__(holder, key, value)
        for key, old in items:
            if (new := new_of(old)) is not old:
                base.__setitem__(holder, key, new)

    def _cell(self, cell: CellType, new_of: Callable[[Any], Any]) -> None:
        try:
            old = cell.cell_contents
        except ValueError:  # not assigned
            return
        if (new := new_of(old)) is not old:
            cell.cell_contents = new

    def _attributes(self, value: Any, cls: type, new_of: Callable[[Any], Any]) -> None:
        if cls.__dictoffset__:
            self._dict(fields_of(value), new_of)
        for member in slots_of(cls).values():
            try:
                old = member.__get__(value)
            except AttributeError:  # not assigned
                continue
            if (new := new_of(old)) is not old:
                member.__set__(value, new)
