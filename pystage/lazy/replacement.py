"""Arrays of one kind in place of those of another, in all that a value holds."""

from __future__ import annotations

import abc
import collections
from collections.abc import Iterable
from types import CellType
from typing import Any

import numpy as np

from ..runtime.leaves import fields_of, is_plain, slots_of


class Replacement(abc.ABC):
    """One walk through values: what holds others is visited once, and no code of the user's runs."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}
        """A value, and what stands for it, by its identity."""
        self._seen: dict[int, Any] = {}

    @abc.abstractmethod
    def leaf(self, value: Any) -> Any:
        """What stands for a value that is an array; other values as they are."""

    def replaced(self, value: Any) -> Any:
        """What stands for a value; what it holds is replaced where it stands, tuples are made anew."""
        new = self.leaf(value)
        if new is not value:
            return new
        cls: Any = type(value)
        if isinstance(value, tuple):
            return self._tuple(value, cls)
        if id(value) in self._seen or cls in (int, float, complex, bool, str, bytes, type(None), np.ndarray):
            return value
        if cls is list:
            self._seen[id(value)] = value
            self._replace(value, enumerate(value))
        elif cls in (dict, collections.OrderedDict, collections.defaultdict):
            self._seen[id(value)] = value
            self._replace(value, value.items())
        elif cls is CellType:
            self._seen[id(value)] = value
            self._cell(value)
        elif is_plain(cls) or isinstance(value, BaseException):
            self._seen[id(value)] = value
            self._attributes(value, cls)
        return value

    def _tuple(self, value: tuple[Any, ...], cls: Any) -> Any:
        found = self.made.get(id(value))
        if found is not None:
            return found[1]
        parts = [self.replaced(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        made = tuple(parts) if cls is tuple else tuple.__new__(cls, parts)
        self.made[id(value)] = value, made
        return made

    def _replace(self, holder: Any, items: Iterable[tuple[Any, Any]]) -> None:
        for key, old in list(items):
            new = self.replaced(old)
            if new is not old:
                holder[key] = new

    def _cell(self, cell: CellType) -> None:
        try:
            old = cell.cell_contents
        except ValueError:  # not assigned
            return
        cell.cell_contents = self.replaced(old)

    def _attributes(self, value: Any, cls: type) -> None:
        if hasattr(value, "__dict__"):
            fields = fields_of(value)
            self._replace(fields, fields.items())
        for member in slots_of(cls).values():
            try:
                old = member.__get__(value)
            except AttributeError:  # not assigned
                continue
            new = self.replaced(old)
            if new is not old:
                member.__set__(value, new)
