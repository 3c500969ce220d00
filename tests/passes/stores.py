"""Programs that store in loops: the shapes of code whose stores must stay in place.

`PROGRAMS` holds one function for each: from the number of elements to the program and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.types import BOOL, INT64
from pystage.compiler.ops import Scatter

from .programs import INDEX, Code, Values, array

Made = tuple[Function, list[np.ndarray]]
PROGRAMS: dict[str, Callable[[int], Made]] = {}
TRIPS = 37


def _program(make: Callable[[int], Made]) -> Callable[[int], Made]:
    PROGRAMS[make.__name__] = make
    return make


def _numbers(*shape: int) -> np.ndarray:
    """Numbers on which every operation of these programs is exact: multiples of 1/4."""
    return np.random.default_rng(7).integers(0, 8, shape) / 4


def _trips() -> np.ndarray:
    return np.asarray(TRIPS)


@_program
def recurrence(n: int) -> Made:
    """`x[i] = x[i - 1] * 0.5 + x[i]`."""
    c = Code(array(n))

    def body(i: Value, x: Value) -> Values:
        after = c.add(i, 1)
        value = c.add(c.mul(c.load(x, i), 0.5), c.load(x, after))
        return [c.store(x, value, after)]

    return c.done(*c.for_(n - 1, [c.params[0]], body)), [_numbers(n)]


@_program
def bubble_sort(n: int) -> Made:
    """One round: `if x[j] > x[j + 1]: swap them`."""
    c = Code(array(n))

    def body(j: Value, x: Value) -> Values:
        after = c.add(j, 1)
        first, second = c.load(x, j), c.load(x, after)

        def swapped() -> Values:
            return [c.store(c.store(x, second, j), first, after)]

        return c.if_(c.compare("GT", first, second), swapped, lambda: [x])

    return c.done(*c.for_(3, c.params, lambda _, x: c.for_(n - 1, [x], body))), [_numbers(n)]


@_program
def swap(n: int) -> Made:
    """`x[i], x[j] = x[j], x[i]`."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, j: Value, x: Value) -> Values:
        first, second = c.load(x, i), c.load(x, j)
        x = c.store(c.store(x, second, i), first, j)
        return [c.next(i, n), c.next(c.next(j, n), n), x]

    return c.done(c.for_(c.params[1], [0, n // 2, c.params[0]], body)[2]), [_numbers(n), _trips()]


@_program
def two_stores(n: int) -> Made:
    """`x[i] = x[i] + 1; x[i + 1] = x[i] + x[i + 1]`."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, x: Value) -> Values:
        after = c.add(i, 1)
        x = c.store(x, c.add(c.load(x, i), 1), i)
        x = c.store(x, c.add(c.load(x, i), c.load(x, after)), after)
        return [c.next(i, n - 1), x]

    return c.done(c.for_(c.params[1], [0, c.params[0]], body)[1]), [_numbers(n), _trips()]


@_program
def conditional_store(n: int) -> Made:
    """`if x[i] > 1: x[i] = x[i] * 0.5 else: x[i + 1] = x[i + 1] + x[i]`."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, x: Value) -> Values:
        after = c.add(i, 1)

        def otherwise() -> Values:
            return [c.store(x, c.add(c.load(x, after), c.load(x, i)), after)]

        (x,) = c.if_(
            c.compare("GT", c.load(x, i), 1.0),
            lambda: [c.store(x, c.mul(c.load(x, i), 0.5), i)],
            otherwise,
        )
        return [c.next(i, n - 1), x]

    return c.done(c.for_(c.params[1], [0, c.params[0]], body)[1]), [_numbers(n), _trips()]


@_program
def conditional_inner_loop(n: int) -> Made:
    """`if x[i] > 1: for j in range(3): x[i + j] = x[i + j] + 0.25`."""
    c = Code(array(n), INDEX)

    def inner(i: Value, x: Value) -> Values:
        return c.for_(3, [x], lambda j, x: [c.store(x, c.add(c.load(x, c.add(i, j)), 0.25), c.add(i, j))])

    def body(_: Value, i: Value, x: Value) -> Values:
        (x,) = c.if_(c.compare("GT", c.load(x, i), 1.0), lambda: inner(i, x), lambda: [x])
        return [c.next(i, n - 3), x]

    return c.done(c.for_(c.params[1], [0, c.params[0]], body)[1]), [_numbers(n), _trips()]


@_program
def row_update(n: int) -> Made:
    """`a[i, :] = a[i, :] + a[i + 1, :]; a[i + 1, 0] = a[i, 1]`."""
    c = Code(array(n // 5, 5), INDEX)

    def body(_: Value, i: Value, a: Value) -> Values:
        after = c.add(i, 1)
        a = c.store(a, c.add(c.load(a, i), c.load(a, after)), i)
        a = c.store(a, c.load(a, i, 1), after, 0)
        return [c.next(i, n // 5 - 1), a]

    return c.done(c.for_(c.params[1], [0, c.params[0]], body)[1]), [_numbers(n // 5, 5), _trips()]


@_program
def nested_over_two_arrays(n: int) -> Made:
    """An inner loop that reads x and stores into y, and gives a sum that is stored into x."""
    c = Code(array(n), array(n), INDEX)

    def body(_: Value, i: Value, x: Value, y: Value) -> Values:
        def inner(j: Value, total: Value, y: Value) -> Values:
            place = c.add(i, j)
            total = c.add(total, c.add(c.load(y, place), c.load(x, i)))
            return [total, c.store(y, c.sub(c.load(y, place), 0.25), place)]

        total, y = c.for_(3, [c.value(0, y.type.dtype), y], inner)
        x = c.store(x, c.add(c.load(x, i), total), i)
        return [c.next(i, n - 3), x, y]

    results = c.for_(c.params[2], [0, c.params[0], c.params[1]], body)
    return c.done(*results[1:]), [_numbers(n), _numbers(n), _trips()]


@_program
def insertion(n: int) -> Made:
    """Insertion into the sorted part, by a `while` whose condition loads."""
    c = Code(array(n))

    def body(i: Value, x: Value) -> Values:
        key = c.load(x, c.add(i, 1))

        def smaller(j: Value, x: Value) -> Value:
            return c.if_(
                c.compare("GE", j, 0),
                lambda: [c.compare("GT", c.load(x, j), key)],
                lambda: [c.value(False, BOOL)],
            )[0]

        j, x = c.while_([i, x], smaller, lambda j, x: [c.sub(j, 1), c.store(x, c.load(x, j), c.add(j, 1))])
        return [c.store(x, key, c.add(j, 1))]

    return c.done(*c.for_(min(n - 1, 60), c.params, body)), [_numbers(n)]


@_program
def sum_before_store(n: int) -> Made:
    """`total += x[i]; x[i] = 1`: the element loaded leaves the trip by another way than the store."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, total: Value, x: Value) -> Values:
        return [c.next(i, n), c.add(total, c.load(x, i)), c.store(x, 1, i)]

    results = c.for_(c.params[1], [0, c.value(0, c.params[0].type.dtype), c.params[0]], body)
    return c.done(*results[1:]), [_numbers(n), _trips()]


@_program
def load_after_store(n: int) -> Made:
    """`x[i] = 1; total += x[i + 1]`."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, total: Value, x: Value) -> Values:
        x = c.store(x, 1, i)
        return [c.next(i, n - 1), c.add(total, c.load(x, c.add(i, 1))), x]

    results = c.for_(c.params[1], [0, c.value(0, c.params[0].type.dtype), c.params[0]], body)
    return c.done(*results[1:]), [_numbers(n), _trips()]


@_program
def read_by_branch(n: int) -> Made:
    """A branch that stays (its arm loops) reads x; what it gives is not what is stored after it."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, total: Value, x: Value) -> Values:
        (total,) = c.if_(
            c.compare("LT", total, 100.0),
            lambda: c.for_(2, [total], lambda j, t: [c.add(t, c.load(x, c.add(i, j)))]),
            lambda: [total],
        )
        return [c.next(i, n - 1), total, c.store(x, 1, i)]

    results = c.for_(c.params[1], [0, c.value(0, c.params[0].type.dtype), c.params[0]], body)
    return c.done(*results[1:]), [_numbers(n), _trips()]


@_program
def read_by_loop(n: int) -> Made:
    """An inner loop sums a part of x; then x is stored into."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, total: Value, x: Value) -> Values:
        (total,) = c.for_(3, [total], lambda j, t: [c.add(t, c.load(x, c.add(i, j)))])
        return [c.next(i, n - 3), total, c.store(x, 1, i)]

    results = c.for_(c.params[1], [0, c.value(0, c.params[0].type.dtype), c.params[0]], body)
    return c.done(*results[1:]), [_numbers(n), _trips()]


def _swapping(n: int) -> Function:
    """`def swap(x, i, j)`."""
    c = Code(array(n), INDEX, INDEX)
    x, i, j = c.params
    first, second = c.load(x, i), c.load(x, j)
    return c.done(c.store(c.store(x, second, i), first, j), name="swap")


@_program
def stores_by_calls(n: int) -> Made:
    """A function that swaps, called twice in a loop: it stays a function."""
    c = Code(array(n), INDEX)
    function = _swapping(n)

    def body(_: Value, i: Value, x: Value) -> Values:
        (x,) = c.call(function, x, i, c.add(i, 1))
        (x,) = c.call(function, x, c.add(i, 1), c.add(i, 2))
        return [c.next(i, n - 2), x]

    return c.done(c.for_(c.params[1], [0, c.params[0]], body)[1]), [_numbers(n), _trips()]


@_program
def reads_by_calls(n: int) -> Made:
    """A function that only reads, called twice before a store."""
    c, reader = Code(array(n), INDEX), Code(array(n), INDEX)
    function = reader.done(reader.mul(reader.load(*reader.params), 0.5), name="half")

    def body(_: Value, i: Value, total: Value, x: Value) -> Values:
        (first,) = c.call(function, x, i)
        (second,) = c.call(function, x, c.add(i, 1))
        return [c.next(i, n - 1), c.add(total, c.add(first, second)), c.store(x, 1, i)]

    results = c.for_(c.params[1], [0, c.value(0, c.params[0].type.dtype), c.params[0]], body)
    return c.done(*results[1:]), [_numbers(n), _trips()]


@_program
def both_arms_loop(n: int) -> Made:
    """Both arms loop over stores, and give a number too."""
    c = Code(array(n), INDEX)

    def body(_: Value, i: Value, count: Value, x: Value) -> Values:
        def fill(trips: int, value: float) -> Values:
            (filled,) = c.for_(trips, [x], lambda j, x: [c.store(x, value, c.add(i, j))])
            return [c.add(count, trips), filled]

        count, x = c.if_(c.compare("GT", c.load(x, i), 1.0), lambda: fill(2, 0.5), lambda: fill(3, 1.5))
        return [c.next(i, n - 3), count, x]

    return c.done(*c.for_(c.params[1], [0, 0, c.params[0]], body)[1:]), [_numbers(n), _trips()]


@_program
def counts(n: int) -> Made:
    """A histogram of integers: the place of the store is loaded from the other array."""
    c = Code(array(n, dtype=INT64), array(n, dtype=INT64))

    def body(i: Value, table: Value) -> Values:
        place = c.load(c.params[0], i)
        return [c.store(table, c.add(c.load(table, place), 1), place)]

    places = np.random.default_rng(3).integers(0, n, n)
    return c.done(*c.for_(n, [c.params[1]], body)), [places, np.zeros(n, np.int64)]


@_program
def scatter_in_a_branch(n: int) -> Made:
    """`x = cond(x[i] > 1, x.at[i].set(x[i + 1]), x)`: a store that leaves out what lies outside the array."""
    c = Code(array(n), INDEX)
    store = Scatter(None, (), (0,), (0,), 0)

    def body(_: Value, i: Value, x: Value) -> Values:
        (x,) = c.if_(
            c.compare("GT", c.load(x, i), 1.0),
            lambda: [c.b.op(store, x, i, c.load(x, c.add(i, 1)))],
            lambda: [x],
        )
        return [c.next(i, n + 1), x]

    return c.done(c.for_(c.params[1], [0, c.params[0]], body)[1]), [_numbers(n), _trips()]
