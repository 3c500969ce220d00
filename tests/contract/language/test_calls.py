"""Calls: every way to define a function and to pass it arguments; `match`, `with`, `try`."""

from __future__ import annotations

import functools
import math
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


# ---------------------------------------------------------------- parameters


def called(function, x):
    return function(x)


def affine(x, scale=2.0, *, shift=1.0):
    return x * scale + shift


def of_four(x, b=1.0, c=1.0, *, d=3.0, e=3.0):
    if x > 0:
        return x + b * 10 + c * 100 + d * 1000 + e * 10_000
    return x - b


def first_named(x, **named):
    for name in named:
        return name, named[name] + x


@cases(1.0)
@cases(-1.0)
def the_same_values_for_other_parameters(x):
    found = [of_four(x, b=2.0), of_four(x, c=2.0), of_four(x, d=5.0), of_four(x, e=5.0), of_four(x)]
    found += [of_four(x, c=2.0, b=4.0), of_four(x, b=2.0, c=4.0), of_four(c=x, x=4.0), of_four(b=x, x=4.0)]
    return found, first_named(x, a=1.0), first_named(x, b=1.0)


def total_of(*values, **named):
    total = 0.0
    for value in values:
        total += value
    for name, value in named.items():
        total += len(name) * value
    return total


def positional_only(a, b, /, c, *, d=4.0):
    return a + 10 * b + 100 * c + 1000 * d


@cases(3.0)
def defaults_and_keywords(x):
    return affine(x), affine(x, 3.0), affine(x, shift=0.0), affine(shift=x, scale=1.0, x=2.0)


@cases(1.0, 2.0)
def star_arguments(x, y):
    pair = (x, y)
    named = {"c": 3.0, "d": 1.0}
    return total_of(*pair), total_of(x, *pair, y), total_of(a=x, bb=y), positional_only(*pair, **named)


@cases(1.0, 2.0, kwargs={"scale": 3.0})
def root_takes_star_arguments(*values, **named):
    return sum(values) * named["scale"], len(values), list(named)


@cases(2.0)
@cases(2.0, 3.0)
@cases(2.0, kwargs={"shift": 5.0})
def root_takes_defaults(x, scale=10.0, *, shift=1.0, offset=(1.0, 2.0)):
    return x * scale + shift + offset[1]


@cases(3.0)
def argument_passed_through_several_calls(x):
    def outer(*args, **kwargs):
        return inner(*args, **kwargs)

    def inner(a, b=2.0, *rest, c=3.0):
        return a + b * c + len(rest)

    return outer(x), outer(x, 1.0, 5, 6), outer(x, c=1.0)


@cases(np.array([1.0, 2.0]))
def default_evaluated_once(x):
    history = []

    def append(value, to=history):
        to.append(value)
        return len(to)

    append(x)
    append(x + 1)
    return append(2.0), history


# ---------------------------------------------------------------- functions as values


@cases(3.0)
def nested_function(x):
    def square(y):
        return y * y

    return square(x) + square(x + 1)


@cases(2.0)
def closures_that_share_with_their_own(x):
    def scaled(y):
        z, zz = y * 2.0, y + 1.0
        return (lambda w: w * z + zz)(x)

    return called(scaled, x), called(scaled, 3.0), called(lambda y: called(lambda v: v * y, x), 2.0)


@cases(2.0, 5.0)
def closure_over_local(x, k):
    def scaled(y):
        return k * y

    k = k + 1
    return scaled(x)


@cases(2.0)
def nonlocal_counter(x):
    count = 0
    total = 0.0

    def add(value):
        nonlocal count, total
        count += 1
        total += value

    add(x)
    add(x * 2)
    for i in range(3):
        add(i)
    return count, total


@cases(4.0)
def lambdas(x):
    double = lambda y: 2 * y
    add = lambda y, z=1.0: y + z
    return double(x), add(x), add(x, 5.0), (lambda: x * 3)()


@cases(1.5)
def higher_order(x):
    def twice(f):
        return lambda y: f(f(y))

    def compose(*functions):
        def composed(y):
            for f in functions:
                y = f(y)
            return y

        return composed

    inc = lambda y: y + 1.0
    return twice(twice(inc))(x), compose(inc, twice(inc), lambda y: y * y)(x)


@cases(2.0)
def closures_in_a_list(x):
    functions = []
    for i in range(3):
        functions.append(lambda y, i=i: y * i)
    late = [lambda: i for i in range(3)]
    return [f(x) for f in functions], [f() for f in late]


@cases(np.array([1.0, -2.0]), "relu")
@cases(np.array([1.0, -2.0]), "square")
def dispatch_on_a_table(x, name):
    table = {"relu": lambda y: np.maximum(y, 0.0), "square": lambda y: y * y}
    return table[name](x)


@cases(np.array([1.0, 4.0]))
def library_functions_as_values(x):
    total = 0.0
    for f in (np.sqrt, np.sum, np.max, math.floor, operator.neg):
        total = total + (f(x[1]) if f is not np.sqrt else f(x).sum())
    return total


@cases(3.0)
def partial_inside(x):
    half = functools.partial(affine, scale=0.5)
    return half(x), half(x, shift=0.0)


@cases((1.0, 2.0, 3.0))
def map_filter_reduce_sorted(xs):
    squares = list(map(lambda x: x * x, xs))
    both = list(map(lambda x, y: x - y, squares, xs))
    named = sorted(["b", "c", "a"])
    kept = list(filter(lambda name: name != "b", named))
    return squares, both, named, kept, functools.reduce(lambda a, b: a * b, xs)


@cases(6.0)
def recursion_on_a_constant(x):
    def power(base, exponent):
        return 1.0 if exponent == 0 else base * power(base, exponent - 1)

    def depth_first(tree):
        if isinstance(tree, tuple):
            return sum(depth_first(child) for child in tree)
        return tree

    return power(x, 5), depth_first((x, (1.0, (x, 2.0)), 3.0))


@cases(2.0)
def decorated_inside(x):
    def logged(f):
        @functools.wraps(f)
        def wrapper(*args):
            return f(*args) + 100.0

        return wrapper

    @logged
    def square(y):
        return y * y

    return square(x)


@cases(np.array([1.0, 2.0, 3.0]))
def callee_mutates_its_argument(x):
    def fill(target, value):
        target[0] = value
        target[1:] += value

    fill(x, 10.0)
    fill(x, 1.0)
    return x.sum()


@cases(np.array([1.0, 2.0]), 3)
def callee_called_with_different_types(x, n):
    def double(y):
        return y + y

    return double(x), double(n), double(2.5), double("ab"), double((n,)), double([x])


@cases(5)
def callee_used_in_a_loop(n):
    def step(a, b):
        return b, a + b

    a, b = 0, 1
    for _ in range(n):
        a, b = step(a, b)
    return a


@cases.each((3.0,), (-3.0,))
def callee_returns_early(x):
    def clip(y):
        if y > 1.0:
            return 1.0
        if y < -1.0:
            return -1.0
        return y

    return clip(x) + clip(x / 10)


@cases(2.0)
def callee_without_return(x):
    items = []

    def note(y):
        items.append(y)

    return note(x) is None, note(x + 1), items


# ---------------------------------------------------------------- match


@cases.each((0,), (1,), (2,), (9,))
def match_on_a_number(n):
    match n:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case _:
            return 30


@cases.each(("a", 1.0), ("b", 1.0), ("zzz", 1.0))
def match_on_a_string(name, x):
    match name:
        case "a":
            y = x
        case "b":
            y = x * 2
        case other:
            y = x + len(other)
    return y


@cases.each(((1.0, 2.0),), ((1.0, 2.0, 3.0),), ((1.0,),), ((),))
def match_on_sequences(items):
    match items:
        case ():
            return 0.0
        case (x,):
            return x
        case (x, y):
            return x * y
        case (first, *rest):
            return first + sum(rest)


@cases.each(({"kind": "scale", "by": 3.0}, 2.0), ({"kind": "shift", "by": 3.0, "more": 1.0}, 2.0), ({}, 2.0))
def match_on_mappings(layer, x):
    match layer:
        case {"kind": "scale", "by": k}:
            return x * k
        case {"kind": "shift", "by": k, **rest}:
            return x + k + sum(rest.values())
        case _:
            return x


@cases.each((2.0,), (3,), ("text",), (None,), ([1.0],))
def match_on_types(value):
    match value:
        case float():
            return value * 2
        case int(n):
            return n + 1
        case str() as s:
            return len(s)
        case None:
            return -1
        case [x]:
            return x


@cases.each((5.0,), (-5.0,), (0.0,))
def match_with_guards(x):
    match x:
        case v if v > 1.0:
            return v
        case v if v < -1.0:
            return -v
        case _:
            return 100.0


# ---------------------------------------------------------------- with, try


@cases(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
def with_library_context(x):
    with jax.named_scope("layer"):
        y = x * 2
    with jax.default_matmul_precision("float32"):
        z = x @ y
    return z


@cases(np.array([1.0, 4.0]))
def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1.0 / x
    return y


@cases({"a": 1.0}, 2.0)
def try_known_lookup(d, x):
    try:
        y = d["missing"]
    except KeyError:
        y = x
    try:
        z = d["a"]
    except KeyError:
        z = 0.0
    else:
        z = z + 10.0
    return y, z


@cases((1.0, 2.0))
def try_finally(items):
    log = []
    try:
        x = items[5]
    except (IndexError, KeyError) as error:
        log.append(type(error).__name__)
        x = items[0]
    finally:
        log.append("done")
    return x, log


@cases(3.0)
def try_attribute(x):
    try:
        size = x.shape
    except AttributeError:
        size = ()
    return size, hasattr(x, "shape"), getattr(x, "shape", None)


def rest(a):
    return a[1:]


def both(v, kept):
    kept.append(v[1:])
    return v, v[1:], kept[-1]


def handed_back(v):
    return v


@cases(np.arange(5.0))
def views_of_one_function_are_objects_of_their_own(a):
    x, y = rest(a), rest(a)
    kept = []
    v = a[1:]
    found = both(v, kept), both(v, kept), handed_back(v), handed_back(v) is v
    many = [rest(a) for _ in range(3)]
    y[0] = 7.0
    return x, y, kept, found, many


def doubled(rows):
    for r in range(len(rows)):
        rows[r] = rows[r] * 2


@cases.each((np.ones(3), np.ones(4), 9.0))
def calls_with_arrays_of_two_sizes_in_turn(x, y, n):
    """What the loop of a function carries in a call is what this call is given."""
    a, b = x.copy(), y.copy()
    k = 0.0
    while k < n:
        doubled(a)
        doubled(b)
        a += b[0]
        k += a[0]
    return a, b, k


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


# ---------------------------------------------------------------- what may be staged


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor

    def shifted(self, x, by=1.0):
        return self(x) + by

    @classmethod
    def named(cls, x):
        return cls(2.0)(x)

    @staticmethod
    def twice(x):
        return x + x


def make_closure(k):
    def scaled(x):
        return k * x

    return scaled


CALLABLES = {
    "function": affine,
    "lambda": lambda x: x * 2 - 1,
    "nested": make_closure(3.0),
    "partial": functools.partial(affine, shift=5.0),
    "partial of partial": functools.partial(functools.partial(affine, scale=7.0), shift=5.0),
    "bound method": Scaler(4.0).shifted,
    "partial of method": functools.partial(Scaler(4.0).shifted, by=2.0),
    "class method": Scaler.named,
    "static method": Scaler.twice,
    "callable object": Scaler(2.5),
}


@pytest.mark.parametrize("function", CALLABLES.values(), ids=CALLABLES)
def test_callable_kinds(function):
    check(function, 3.0)
    check(function, np.array([1.0, 2.0]))


def test_imports_bind_what_python_binds():
    def program(x):
        import os.path
        import xml.etree.ElementTree as tree

        import jax.numpy as inner

        return inner.add(x, 1.0), os is not None and os.path.sep, tree.Element.__name__

    check(program, jnp.ones(2))


class Counter:
    def __init__(self):
        self.count = 2.0

    def scale(self, x, by=1.0):
        self.count += 1.0
        return x * self.count * by


def test_bound_methods_and_partials_as_arguments():
    def program(f, x):
        return f(x) + f(x)

    called = pystage.compile(program)
    for f in (functools.partial(np.add, 2.0), functools.partial(scaled, by=3.0)):
        assert called(f, 1.5) == program(f, 1.5)
    plain, staged = Counter(), Counter()
    for _ in range(2):
        assert called(staged.scale, 2.0) == program(plain.scale, 2.0)
    assert staged.count == plain.count


def scaled(x, by):
    return x * by
