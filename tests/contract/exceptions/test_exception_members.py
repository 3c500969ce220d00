"""What handlers ask of exceptions: attributes, properties, methods and constants of their class, and their text."""

from __future__ import annotations

import pytest
from checking import Cases, check

cases = Cases()

THREE = (0.5,), (2.0,), (-1.0,)


class Coded(Exception):
    kind = "coded"

    def __init__(self, code, detail=0.0):
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    @property
    def double(self):
        return self.detail * 2

    def describe(self):
        return f"code {self.code}: {self.detail:.2f}"

    def scaled(self, by, and_more=0.0):
        return self.detail * by + and_more

    @classmethod
    def name(cls):
        return cls.__name__

    @staticmethod
    def unit():
        return 3.0


class Detailed(Coded):
    kind = "detailed"

    def describe(self):
        return "in detail, " + super().describe()

    def __str__(self):
        return self.describe()


class Plain(Exception):
    limit = 2.5

    @property
    def first(self):
        return self.args[0]

    def twice(self):
        return self.args[0] * 2

    def itself(self):
        return self

    def __len__(self):
        return len(self.args)

    def __bool__(self):
        return self.args[0] > 3


class Counting(Exception):
    def __init__(self, count):
        self.count = count

    def more(self):
        self.count = self.count + 1
        return self.count


class Opened(Exception):
    code = 0

    def __init__(self, x):
        super().__init__(x)
        open("/dev/null").close()
        self.code = 5


@cases.each(*THREE)
def a_property(x):
    try:
        if x > 1:
            raise Coded(3, x)
    except Coded as e:
        return e.double
    return x


@cases.each(*THREE)
def methods(x):
    try:
        if x > 1:
            raise Coded(3, x)
    except Coded as e:
        return e.describe(), e.scaled(2.0, and_more=x), e.name(), e.unit()
    return "none", 0.0, "none", 0.0


@cases.each(*THREE)
def constants_of_the_class(x):
    try:
        if x > 1:
            raise Coded(3, x)
    except Coded as e:
        return e.kind + type(e).kind
    return "none"


@cases.each(*THREE)
def members_without_an_init(x):
    try:
        if x > 1:
            raise Plain(x)
    except Plain as e:
        return e.first + e.twice() + e.limit + e.itself().first
    return x


@cases.each(*THREE, (4.0,))
def special_methods(x):
    try:
        if x > 1:
            raise Plain(x)
    except Plain as e:
        if e:
            return 10
        return len(e)
    return 0


@cases.each(*THREE)
def raised_at_two_places(x):
    try:
        if x > 1:
            raise Coded(3, x)
        if x < 0:
            raise Coded(4, detail=x * 2)
    except Coded as e:
        return e.code + e.detail + e.double + e.scaled(x)
    return x


@cases.each(*THREE)
def of_two_classes(x):
    try:
        if x > 1:
            raise Detailed(3, x)
        if x < 0:
            raise Coded(4, x)
    except Coded as e:
        return e.describe(), e.kind, e.detail
    return "none", "none", 0.0


@cases.each(*THREE)
def arguments_of_two_places(x):
    try:
        if x > 1:
            raise ValueError("big", 1)
        if x < 0:
            raise ValueError("small", 2)
    except ValueError as e:
        return e.args
    return "none", 0


@cases.each(*THREE)
def what_a_generator_returns(x):
    try:
        if x > 1:
            raise StopIteration(x)
        if x < 0:
            raise StopIteration(x * 2)
    except StopIteration as e:
        return e.value
    return x


@cases(2.0)
def what_an_iterator_returns(x):
    it = iter([x])
    next(it)
    try:
        next(it)
    except StopIteration as e:
        return e.value is None
    return False


@cases.each(*THREE)
def texts_that_are_compared(x):
    try:
        if x > 1:
            raise ValueError("big")
        if x < 0:
            raise KeyError("small")
        if x == 0.5:
            raise ValueError("half")
    except (ValueError, KeyError) as e:
        if str(e) == "big":
            return 1.0
        if "hal" in f"{e}!" or repr(e) != "KeyError('small')":
            return 2.0
        return 3.0
    return x


@cases.each(*THREE)
def strings_by_path(x):
    kind = "a" if x > 1 else "b"
    other = kind + ("c" if x < 0 else "d")
    return kind == "a", "b" != kind, other == "bd", "c" in other, other in ("ad", "bc"), kind == 3


@cases(2.0, refused="PS503")
def a_method_that_changes_it(x):
    try:
        if x > 1:
            raise Counting(x)
    except Counting as e:
        e.more()
        return e.count
    return x


@cases(2.0, refused="PS308")
def raises_itself(x):
    try:
        if x > 1:
            raise Plain(x)
    except Plain as e:
        raise e.itself()
    return x


@cases(2.0, refused="PS504")
def returns_itself(x):
    try:
        if x > 1:
            raise Plain(x)
    except Plain as e:
        return e.itself()
    return None


@cases(2.0, refused="PS308")
def an_init_that_is_not_staged(x):
    try:
        if x > 1:
            raise Opened(x)
    except Opened as e:
        return e.code
    return 1


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_members(function, args, options):
    check(function, *args, **options)
