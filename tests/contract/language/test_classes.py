"""Classes: dataclasses, NamedTuples, plain classes, with methods, properties, operators and inheritance."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


# ---------------------------------------------------------------- dataclasses


@dataclass
class Point:
    x: float
    y: float = 2.0
    tags: list = field(default_factory=list)

    def norm(self):
        return (self.x * self.x + self.y * self.y) ** 0.5

    def move(self, dx):
        self.x += dx
        self.tags.append("moved")
        return self

    @property
    def doubled(self):
        return Point(self.x * 2, self.y * 2)


@dataclass(frozen=True)
class Frozen:
    weight: np.ndarray
    bias: float = 1.0

    def __call__(self, x):
        return self.weight @ x + self.bias


@dataclass(frozen=True, slots=True)
class Slotted:
    a: float
    b: tuple

    def total(self):
        return self.a + sum(self.b)


@dataclass
class Derived(Point):
    z: float = 3.0

    def norm(self):
        return super().norm() + self.z

    def __post_init__(self):
        self.sum = self.x + self.y + self.z


@cases(Point(3.0, 4.0))
def dataclass_argument(p):
    return p.norm(), p.doubled.x, p.x + p.y


@cases(Point(3.0))
def dataclass_mutated(p):
    p.y = p.x * 10
    p.move(1.0).move(2.0)
    return p, p.tags


@cases(2.0)
def dataclass_made_inside(x):
    p = Point(x, tags=["new"])
    q = Point(y=x, x=1.0)
    return p, q, p.tags is q.tags, Derived(1.0, x), Derived(x).norm()


@cases(Frozen(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([1.0, 1.0]))
def frozen_dataclass(layer, x):
    other = replace(layer, bias=layer.bias + 1)
    return layer(x), other(x), other.bias


@cases(Slotted(1.0, (2.0, 3.0)))
def slotted_dataclass(s):
    return s.total(), Slotted(s.a * 2, (1.0,)), s


@cases(Derived(1.0, 2.0))
def derived_dataclass(d):
    return d.norm(), d.sum, isinstance(d, Point), type(d) is Point, d.doubled


@cases([Point(1.0), Point(2.0, 5.0)])
def list_of_dataclasses(points):
    total = 0.0
    for p in points:
        total += p.norm()
        p.x = total
    return total


@cases.each((Point(1.0), 5.0), (Point(1.0), -5.0))
def field_set_under_a_branch(p, x):
    if x > 0:
        p.x = x
    else:
        p.y = x
    return p.x * p.y


@cases(Point(0.0), 4)
def field_set_in_a_loop(p, n):
    for i in range(n):
        p.x += i
        if p.x > 2.0:
            p.y = p.y * 2
    return p.x


@cases(Point(1.0), Point(1.0))
def equality_of_dataclasses(p, q):
    same = p
    return same is p, p is q


# ---------------------------------------------------------------- NamedTuples


class State(NamedTuple):
    position: np.ndarray
    step: int = 0

    def advanced(self, by):
        return self._replace(position=self.position + by, step=self.step + 1)


@cases(State(np.array([1.0, 2.0]), 3))
def named_tuple_argument(s):
    position, step = s
    return s.position * 2, s[1] + step, len(s), s.advanced(1.0), s._replace(step=9)


@cases(np.array([1.0]), 3)
def named_tuple_carried_by_a_loop(x, n):
    s = State(x)
    for _ in range(n):
        s = s.advanced(0.5)
    return s


@cases.each((2.0,), (-2.0,))
def named_tuple_from_a_branch(x):
    s = State(np.array([x]), 1) if x > 0 else State(np.array([x * x]), 2)
    return s


# ---------------------------------------------------------------- plain classes


class Account:
    interest = 0.5

    def __init__(self, balance):
        self.balance = balance
        self._log = []

    def deposit(self, amount):
        self.balance += amount
        self._log.append("deposit")

    @property
    def doubled(self):
        return self.balance * 2

    @doubled.setter
    def doubled(self, value):
        self.balance = value / 2

    @classmethod
    def empty(cls):
        return cls(0.0)

    @staticmethod
    def fee(amount):
        return amount * 0.01

    def __len__(self):
        return len(self._log)

    def __getitem__(self, index):
        return self._log[index]

    def __contains__(self, name):
        return name in self._log

    def __bool__(self):
        return len(self._log) > 0

    def __iter__(self):
        return iter(self._log)


class Savings(Account):
    interest = 2.0

    def __init__(self, balance, bonus=1.0):
        super().__init__(balance)
        self.bonus = bonus

    def deposit(self, amount):
        super().deposit(amount + self.bonus)


@cases(Account(10.0))
def plain_object_argument(account):
    account.deposit(5.0)
    account.doubled = account.doubled + 1
    return account.balance, account.interest, Account.fee(100.0)


@cases(3.0)
def plain_object_made_inside(x):
    account = Account.empty()
    before = bool(account)
    account.deposit(x)
    account.deposit(x)
    return account, before, len(account), account[0], "deposit" in account, [name for name in account]


class Settings(Mapping):
    """A mapping by Python's own mixins, whose text is that of a module frozen into the interpreter."""

    def __init__(self, entries):
        self.entries = entries

    def __getitem__(self, key):
        return self.entries[key]

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)


@cases(Settings({"b": np.ones(2), "a": np.zeros(3)}))
def mixins_of_an_abstract_class(settings):
    doubled = {key: value * 2 for key, value in settings.items()}
    return (
        doubled,
        list(settings.keys()),
        [v + 1 for v in settings.values()],
        "a" in settings,
        settings.get("c"),
    )


@cases(Savings(1.0))
def inheritance(s):
    s.deposit(2.0)
    return s.balance, s.interest, isinstance(s, Account), super(Savings, s).doubled, Savings.interest


@cases(2.0)
def overridden_methods(x):
    accounts = [Account(x), Savings(x, bonus=5.0)]
    for account in accounts:
        account.deposit(x)
    return [account.balance * account.interest for account in accounts]


class Left:
    def who(self):
        return ["left"]


class Right:
    def who(self):
        return ["right"]


class Both(Left, Right):
    def who(self):
        return ["both", *super().who(), *Right.who(self)]


@cases(1.0)
def method_resolution_order(x):
    return Both().who(), [cls.__name__ for cls in Both.__mro__], x


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@cases(Node(1.0, Node(2.0, Node(3.0))))
def linked_list(node):
    total = 0.0
    while node is not None:
        total += node.value
        node.value = total
        node = node.next
    return total


@cases(Point(1.0), 5.0)
def attributes_by_name(p, x):
    for name in ("x", "y"):
        setattr(p, name, getattr(p, name) * x)
    p.extra = x
    return hasattr(p, "x"), hasattr(p, "nothing"), getattr(p, "nothing", 7.0)


@cases(Point(1.0))
def attribute_deleted(p):
    p.extra = 5.0
    del p.tags
    return p.extra


class Lazy:
    def __init__(self, x):
        self.x = x

    @cached_property
    def square(self):
        return self.x * self.x


@cases(3.0)
def property_on_a_new_object(x):
    lazy = Lazy(x)
    return lazy.x + 1


@cases(4.0, refused="PS112")
def class_defined_inside(x):
    class Local:
        factor = 3.0

        def __init__(self, y):
            self.y = y

        def scaled(self):
            return self.y * self.factor

    return Local(x).scaled()


# ---------------------------------------------------------------- operators


class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if isinstance(other, Vec):
            return Vec(self.x + other.x, self.y + other.y)
        return Vec(self.x + other, self.y + other)

    __radd__ = __add__

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __rsub__(self, other):
        return Vec(other - self.x, other - self.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __abs__(self):
        return (self @ self) ** 0.5

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __setitem__(self, i, value):
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __call__(self, k=1.0):
        return self.x * k + self.y


@cases(Vec(1.0, 2.0), Vec(3.0, -1.0))
def operators(v, w):
    return v + w, v - w, v * 2.0, -v, v @ w, abs(w), v == w, v < w, v(3.0)


@cases(Vec(1.0, 2.0), 3.0)
def reflected_operators(v, k):
    return k + v, k - v, k * v, 2 * v, v + k


@cases(Vec(1.0, 2.0), Vec(3.0, 4.0))
def in_place_operators(v, w):
    u = v
    v += w
    v[0] = 10.0
    v *= 2.0
    return u, v, u is v, w[1]


@cases([Vec(1.0, 2.0), Vec(3.0, 4.0)])
def sum_of_objects(vectors):
    return sum(vectors), sum(vectors, Vec(1.0, 1.0)), max(vectors, key=lambda v: v.x).y


@cases(Vec(0.0, 1.0), 5)
def object_carried_by_a_loop(v, n):
    for i in range(n):
        v = v * 0.5 + Vec(1.0, i)
    return v


@cases.each((3.0,), (-3.0,))
def object_from_a_branch(x):
    if x > 0:
        v = Vec(x, 1.0)
    else:
        v = Vec(1.0, -x) + Vec(x, x)
    return v, v @ v


# ---------------------------------------------------------------- models


@dataclass
class Linear:
    weight: object
    bias: object

    def __call__(self, x):
        return x @ self.weight + self.bias


@dataclass
class Chain:
    layers: list

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def make_chain(xp):
    def weight(n, m):
        return xp.asarray(np.linspace(-1.0, 1.0, n * m, dtype=np.float32).reshape(n, m))

    bias = xp.asarray(np.array([0.5, 0.25], np.float32))
    tanh = np.tanh if xp is np else jnp.tanh
    return Chain([Linear(weight(3, 2), bias), tanh, Chain([Linear(weight(2, 2), bias), lambda x: x * 2])])


@cases(make_chain(np), np.ones((2, 3), np.float32))
@cases(make_chain(jnp), jnp.ones((2, 3), jnp.float32))
def model(chain, x):
    return chain(x)


class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2


@cases.each((Mode.TRAIN, 2.0), (Mode.TEST, 2.0))
def enums(mode, x):
    if mode is Mode.TRAIN:
        return x * 2, mode.name, mode == Mode.TEST
    return x, mode.value, mode


# ---------------------------------------------------------------- attributes that some paths assign


class Bag:
    pass


@cases(1.0)
def attribute_of_a_loop_that_runs(x):
    bag = Bag()
    for i in range(3):
        bag.last = x + i
    return bag.last


@cases.each((1.0, 2), (1.0, 5))
def attribute_of_a_loop_by_its_trips(x, n):
    bag = Bag()
    for i in range(n):
        bag.last = x + i
    return bag.last


class Slots:
    __slots__ = ("a", "b")


class Half:
    @property
    def half(self):
        return self.x / 2


@cases(3.0)
def hasattr_as_python_answers(x):
    bag, slots, half = Bag(), Slots(), Half()
    bag.a = slots.a = half.x = x
    del bag.a
    found = [hasattr(bag, "a"), hasattr(bag, "b"), hasattr(bag, "mro"), hasattr(bag, "__dict__")]
    found += [hasattr(slots, "a"), hasattr(slots, "b"), hasattr(half, "half"), hasattr(half, "x")]
    return found, getattr(slots, "b", x), getattr(bag, "a", x + 1)


class Answers:
    @property
    def broken(self):
        raise AttributeError("no")

    def __getattr__(self, name):
        if name == "extra":
            return 5.0
        raise AttributeError(name)


@cases(3.0)
def hasattr_calls_what_python_calls(x):
    answers = Answers()
    found = [hasattr(answers, "extra"), hasattr(answers, "broken"), hasattr(answers, "missing")]
    return found, getattr(answers, "missing", x)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Items:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, i):
        return self.values[i]


class Over(Items):
    def __iter__(self):
        return iter(self.values)


@cases(2.0)
def iterators_of_classes(x):
    countdown = Countdown(6)
    for v in countdown:
        x = x * 2 + v
        if v == 3:
            break
    first, *rest = countdown
    return x, first, rest, countdown.n, list(Countdown(2)), next(Countdown(0), x), next(Countdown(2))


@cases(2.0)
def sequences_of_classes(x):
    total = 0.0
    for v in Items([x, x + 1, 3.0]):
        total += v
    for v in Over([x, 2]):
        total *= v
    return total, list(Items((x, 1))), max(Over([x, 5.0])), sum(Items([1, 2]))


@cases(2.0, refused="PS307")
def iterator_that_a_value_breaks(x):
    for v in Countdown(6):
        if v < x:
            break
    return x


@cases.each((1.0,), raises=TypeError)
def object_that_is_not_iterable(x):
    for v in Bag():
        x = x + v
    return x


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


# ---------------------------------------------------------------- methods that are compiled


class Scaled:
    factor = 3.0

    @pystage.compile
    @classmethod
    def by_class(cls, x):
        return x * cls.factor

    @pystage.compile
    @staticmethod
    def by_none(x):
        return x + 1.0


class ScaledMore(Scaled):
    factor = 5.0


def compiled_descriptors(x):
    more = ScaledMore()
    return Scaled.by_class(x), more.by_class(x), ScaledMore.by_none(x), more.by_none(x)


@pytest.mark.parametrize("x", [2.0, np.arange(3.0)], ids=["float", "array"])
def test_compiled_class_methods_and_static_methods(x):
    check(compiled_descriptors, x)
