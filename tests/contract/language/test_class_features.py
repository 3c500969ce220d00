"""What `dataclasses`, `namedtuple`, `enum` and descriptors do for a class, as the plain run has it."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from enum import Enum, IntEnum, IntFlag
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


def said(function):
    """The text of what a call raises."""
    try:
        return function()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error)


# ---------------------------------------------------------------- dataclasses


@dataclass(order=True)
class A:
    x: float
    y: int = 2


@dataclass
class Ordered(A):
    z: float = 1.0


@dataclass(init=False)
class NoInit(A):
    w: float = 5.0


@dataclass(eq=False)
class NoEq(A):
    w: float = 5.0


@dataclass(frozen=True)
class Frozen:
    x: float


class FromFrozen(Frozen):
    pass


@dataclass
class Options:
    x: float
    scale: InitVar[float] = 2.0
    kept: int = field(init=False, default=7)
    made: list = field(init=False, default_factory=list)
    count: ClassVar[int] = 3
    _: KW_ONLY
    k: int = 1

    def __post_init__(self, scale):
        self.x *= scale
        self.made.append(self.count)


@dataclass(slots=True)
class Slots:
    x: float
    kept: int = field(init=False, default=7)


@dataclass
class Rounding:
    x: float

    def __setattr__(self, name, value):
        object.__setattr__(self, name, round(value))


class FromInit(A):
    def __init__(self, x):
        super().__init__(x, y=5)


@cases.each((1.5,), (-2.0,))
def written_methods_work_on_the_fields_of_their_class(x):
    a, b = Ordered(x, 1, 3.0), Ordered(x, 1, 2.0)
    return a < b, a <= b, a == b, NoEq(x, 1, 1.0) == NoEq(x, 1, 2.0), NoInit(x, 1), NoInit(x).w, FromInit(x)


@cases.each((1.5,))
def fields_without_a_parameter(x):
    a = Options(x)
    a.kept += 1
    return a, Options(x, 3.0, k=4), Options(x).kept, Slots(x), Rounding(x)


@cases.each((1.5,))
def a_class_that_inherits_from_a_frozen_one(x):
    a = FromFrozen(x)
    a.other = x + 1

    def store():
        a.x = 2.0

    def delete():
        del a.x

    return a, a.other, said(store), said(delete), a == Frozen(x)


# ---------------------------------------------------------------- arguments that do not fit


class Pair(NamedTuple):
    a: float
    b: int = 2


def takes(a, b=2, /, c=3, *, d):
    return a


@cases.each((1.5,))
def arguments_that_do_not_fit(x):
    return (
        said(lambda: takes()),
        said(lambda: takes(x, 2, 3, 4, d=1)),
        said(lambda: takes(a=x, d=2)),
        said(lambda: takes(x, 2, 3, c=4, d=1)),
        said(lambda: takes(x)),
        said(lambda: A()),
        said(lambda: A(x, 2, 3)),
        said(lambda: A(x, x=3)),
        said(lambda: Options(x, 1.0, 2)),
        said(lambda: Pair()),
        said(lambda: Pair(x, 1, 2)),
        said(lambda: Pair(x, c=2)),
    )


# ---------------------------------------------------------------- named tuples


class Doubling(namedtuple("Doubling", "a b")):
    def __new__(cls, a, b=3):
        return super().__new__(cls, a, b * 2)

    @property
    def total(self):
        return self.a + self.b


class Shown(Pair):
    @property
    def b(self):
        return 7


@cases.each((1.5,))
def named_tuples(x):
    p = Pair(x)
    return Doubling(x), Doubling(x, 1).total, Shown(x, 1).b, Pair._make([x, 5]), p._replace(b=0), p._asdict()


# ---------------------------------------------------------------- enums


class Level(Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other):
        return self.value < other.value

    def __add__(self, other):
        return self.value + other

    def __bool__(self):
        return self.value == 2

    def __call__(self, x):
        return self.value * x


class Size(IntEnum):
    ONE = 1
    FIVE = 5


class Bits(IntFlag):
    A = 1
    B = 2


@cases.each((1.5, 2), (2.5, 5))
def members_of_enums(x, n):
    mixed = Size.ONE + n, n == Size.FIVE, x * Size.FIVE, n & Bits.B, Bits.A | n, [x, n][Size.ONE]
    own = Level.LOW < Level.HIGH, Level.LOW + x, max(Level.LOW, Level.HIGH) is Level.HIGH, Level.HIGH(x)
    return mixed, own, not Level.LOW, 1 if Level.HIGH else 0


@cases(np.array([1, 2, 3], np.int8), np.float32(1.5))
def integers_of_an_enum_are_not_weak(a, s):
    return a + Size.FIVE, a + 5, s * Size.FIVE, np.maximum(a, Bits.B), a[Size.ONE], np.zeros(Size.FIVE)


@cases(1.5, raises=ValueError)
def a_value_of_no_member(x):
    return Level(7), x


# ---------------------------------------------------------------- descriptors, operators


class Twice:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return getattr(instance, self.name) * 2 if instance is not None else owner.__name__

    def __set__(self, instance, value):
        setattr(instance, self.name, value + 1)


class Holder:
    d = Twice()

    def __init__(self, x):
        self.d = x
        self.calls = 0

    @property
    def p(self):
        return self.d

    @p.deleter
    def p(self):
        self.d = -1.0

    @cached_property
    def c(self):
        self.calls += 1
        return self.d


@cases.each((1.5,))
def descriptors(x):
    h = Holder(x)
    h.once = x
    del h.once
    a = h.d, h.c, h.c, Holder.d
    del h.c
    del h.p
    return a, h.c, h


@cases(Slots(1.5), Holder(2.0))
def an_attribute_that_the_program_sets_and_deletes(s, h):
    h.once = s.x
    x = h.once
    del h.once, s.kept
    return x, hasattr(h, "once"), hasattr(s, "kept")


class Declines:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return NotImplemented

    def __lt__(self, other):
        return NotImplemented

    def __eq__(self, other):
        return NotImplemented


class Answers(Declines):
    def __radd__(self, other):
        return other.x + 1

    def __gt__(self, other):
        return self.x + 2

    def __lt__(self, other):
        return self.x < other.x


@cases.each((1.5,))
def operators_that_decline(x):
    ordered = sorted([Answers(x), Answers(x - 1)])
    return Declines(x) + Answers(x), Declines(x) < Answers(x), Declines(x) == 1, Declines(x) != x, ordered[0]


@cases(1.5, refused="PS202")
def an_operator_that_all_decline(x):
    return Declines(x) + 1


class Divides(Declines):
    def __divmod__(self, other):
        return self.x // 2, other

    def __rdivmod__(self, other):
        return other, self.x % 2


class OnlyFloors(Declines):
    def __floordiv__(self, other):
        return self.x

    def __mod__(self, other):
        return self.x


@cases(1.5)
def divmod_of_objects(x):
    return divmod(Divides(x), 3), divmod(7, Divides(x)), said(lambda: divmod(OnlyFloors(x), OnlyFloors(x)))


@dataclass
class Marked:
    x: float = field(default=1.0, metadata={"learns": False})


@cases(Marked(2.0), refused="PS606")
def metadata_of_a_field(marked):
    """A `mappingproxy` is a constant of a class that equals dicts."""
    return marked.x if fields(marked)[0].metadata == {"learns": False} else -marked.x


@cases(1.5, refused="PS603")
def the_dict_of_an_instance(x):
    h = Holder(x)
    h.__dict__["z"] = 5
    return h


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
