"""Functions: parameters, closures, decorators, methods, private names, `super()`."""

from __future__ import annotations

from .compare import check


def test_parameters():
    def f(a, /, b, c=3, *rest, d, e=5, **others):
        return a, b, c, rest, d, e, others

    def call(x):
        def g(a, b=x, /, c=2, *, k=x + 1, **kw):
            return a, b, c, k, kw

        h = lambda a, b=1, *args, c=x, **kw: (a, b, args, c, kw)  # noqa: E731
        return g(1), g(1, 2, 3, k=4, z=5), h(1), h(1, 2, 3, c=4, d=5), (lambda: x)(), (lambda *a: a)(1, 2)

    check(lambda: f(1, 2, d=4))
    check(call, 7)


def test_own_parameters_and_defaults():
    def f(a, b=2, *args, c=3, **kw):
        return a, b, args, c, kw

    check(f, (1,), (1, 5, 6, 7), ())


def test_closures():
    def counter(n):
        count = 0
        log = []

        def step(by=1):
            nonlocal count
            count += by

            def deeper():
                nonlocal count
                count *= 2
                log.append(count)

            deeper()
            return count

        return [step(i) for i in range(n)], count, log

    def late():
        def read():
            return later

        try:
            read()
        except NameError:
            caught = True
        later = 1
        return read(), caught

    def parameter_cell(x):
        def bump():
            nonlocal x
            x += 1

        bump()
        return x

    def recursive(n):
        def fact(k):
            return 1 if k < 2 else k * fact(k - 1)

        return fact(n)

    check(counter, 0, 4)
    check(late)
    check(parameter_cell, 1)
    check(recursive, 5)


def test_outer_variables():
    outer = [1]
    count = 5

    def f(x):
        outer.append(x)
        return outer, count

    def g():
        nonlocal count
        count += 1
        return count

    from .stage_interpreter import as_python

    assert as_python(f)(2) == ([1, 2], 5)
    assert as_python(g)() == 6 and count == 6


def test_decorators():
    def decorate(log):
        def mark(name):
            log.append(("make", name))

            def apply(f):
                log.append(("apply", name))
                return lambda *a: (name, f(*a))

            return apply

        @mark("outer")
        @mark("inner")
        def f(x=log.append("default")):
            return x

        return f(1), f()

    check(decorate, [])


def test_conditional_definition():
    def pick(flag):
        if flag:

            def f(x):
                return x + 1
        else:
            f = lambda x: x - 1  # noqa: E731
        return f(1)

    check(pick, True, False)


class Base:
    """For `super()` and private names."""

    def __init__(self, value):
        self.__value = value

    def total(self, n):
        return self.__value + n

    def __hidden(self, __x=1):
        return __x

    @property
    def doubled(self):
        return self.__value * 2

    @classmethod
    def make(cls, v):
        return cls(v)


class Derived(Base):
    """Calls up."""

    def __init__(self, value, __extra=0):
        super().__init__(value)
        self.__extra = __extra

    def total(self, n):
        inside = [super(Derived, self).total(i) for i in range(2)]

        def nested():
            return __class__.__name__, [self.__extra for _ in range(2)]

        return super().total(n), inside, nested()

    @classmethod
    def make(cls, v):
        return super().make(v + 1)

    def outside(self):
        return self.__value


def test_methods():
    from .stage_interpreter import as_python

    d = Derived(4, 2)
    assert as_python(Derived.total)(d, 3) == d.total(3)
    assert vars(as_python(Derived.make.__func__)(Derived, 3)) == vars(Derived.make(3))
    assert as_python(Base.doubled.fget)(d) == 8
    assert as_python(Base._Base__hidden)(d) == 1
    fresh = object.__new__(Derived)
    as_python(Derived.__init__)(fresh, 1, 2)
    assert vars(fresh) == vars(Derived(1, 2))
    check(Derived.outside, (d,))
