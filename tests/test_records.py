"""`records.dataclass` makes what `dataclasses.dataclass` makes, but for when methods are written."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from pystage import records

OPTIONS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"slots": True, "eq": False},
    {"frozen": True, "kw_only": True},
    {"slots": True, "unsafe_hash": True, "repr": False},
]


def declared(decorator: Any, options: dict[str, bool]) -> tuple[type, type]:
    """A class with every kind of field, and one that inherits from it."""

    @decorator(**options)
    class Base:
        """A base."""

        count: ClassVar[int] = 3
        x: int
        y: list[int] = field(default_factory=list)
        z: str = "z"
        note: object = field(default=None, compare=False, repr=False)
        total: int = field(default=7, init=False)
        cache: dict[int, int] = field(default_factory=dict, init=False, compare=False)

    @decorator(**options)
    class Derived(Base):
        """Adds a field, replaces a default."""

        z: str = "other"
        w: float = 1.5

        def __post_init__(self) -> None:
            self.cache[self.x] = 1

    return Base, Derived


def seen(classes: tuple[type, type]) -> list[object]:
    """What a program can tell of the classes and their instances."""
    found: list[object] = []
    for cls in classes:
        a, b = cls(x=1, y=(2,)), cls(x=1, y=(2,), note="unlike")
        other = dataclasses.replace(a, x=4)
        found += [a == b, a != other, a == 1, dataclasses.asdict(other), cls(x=3).y is cls(x=3).y]
        found += [cls.__match_args__, [(f.name, f.type, f.kw_only, f.init) for f in dataclasses.fields(cls)]]
        found += [hasattr(a, "__dict__"), cls.__hash__ is None, copy.copy(a) == a, cls.count]
        found.append(hash(a) == hash(b) if cls.__hash__ not in (None, object.__hash__) else None)
        found.append(repr(a) if cls.__repr__ is not object.__repr__ else None)
        strange = (
            [] if hasattr(cls, "__slots__") else ["q"]
        )  # the standard library's names the class without slots
        for name in ("x", "z", *strange):
            try:
                setattr(a, name, 9)
                delattr(a, name)
            except (FrozenInstanceError, AttributeError, TypeError) as error:
                found.append((type(error), str(error)))
        for wrong in (
            lambda cls=cls: cls(),
            lambda cls=cls: cls(1, 2, 3, 4, 5, 6, 7),
            lambda cls=cls: cls(x=1, v=2),
        ):
            with pytest.raises(TypeError) as raised:
                wrong()
            found.append(str(raised.value))
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o) or "none")
def test_same_as_the_standard_librarys(options: dict[str, bool]) -> None:
    assert seen(declared(records.dataclass, options)) == seen(declared(dataclasses.dataclass, options))


@records.dataclass(frozen=True, slots=True)
class Pair:
    """What can be pickled stands in a module."""

    a: int
    b: object = None


def test_pickle_match_and_a_repr_of_itself() -> None:
    pair = Pair(1, [])
    assert pickle.loads(pickle.dumps(pair)) == pair
    match pair:
        case Pair(a, b=[]):
            assert a == 1
        case _:
            raise AssertionError
    assert isinstance(pair.b, list)
    pair.b.append(pair)
    assert repr(pair) == "Pair(a=1, b=[...])"


def test_nothing_is_written_before_it_is_called() -> None:
    @records.dataclass(frozen=True)
    class Point:
        """Two numbers."""

        x: int
        y: int

    early, hashed = Point.__init__, Point.__hash__
    assert Point(1, 2) == Point(1, 2)
    assert Point.__init__ is not early
    assert Point.__hash__ is hashed
    early(point := Point(1, 2), 3, 4)  # whoever kept the first one, gets the other's work
    assert (point.x, hash(point)) == (3, hash((3, 4)))
