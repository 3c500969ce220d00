"""Expressions: short circuits, chains, conditionals, assignment forms, comprehensions, f-strings."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


# ---------------------------------------------------------------- and, or, not, comparison


@cases.each((1.0, 2.0), (1.0, -2.0), (-1.0, 2.0))
def and_or_in_condition(x, y):
    if x > 0 and y > 0:
        return 1
    if x > 0 or y < 0:
        return 2
    return 3


@cases.each((0, 5), (3, 5), (3, 0))
def and_or_give_an_operand(x, y):
    return x and y, x or y, not x


@cases.each((4.0,), (0.0,))
def and_guards_its_right_side(x):
    if x != 0.0 and 8.0 / x > 1.0:
        return 8.0 / x
    return -1.0


@cases.each((40.0,), (34.5,), (-1.0,))
def expressions_nested_deep(x):
    all_of_them = (
        x > 0
        and x > 1
        and x > 2
        and x > 3
        and x > 4
        and x > 5
        and x > 6
        and x > 7
        and x > 8
        and x > 9
        and x > 10
        and x > 11
        and x > 12
        and x > 13
        and x > 14
        and x > 15
        and x > 16
        and x > 17
        and x > 18
        and x > 19
        and x > 20
        and x > 21
        and x > 22
        and x > 23
        and x > 24
        and x > 25
        and x > 26
        and x > 27
        and x > 28
        and x > 29
        and x > 30
        and x > 31
        and x > 32
        and x > 33
        and x > 34
        and x > 35
    )
    first = (
        0
        if x < 0
        else 1
        if x < 1
        else 2
        if x < 2
        else 3
        if x < 3
        else 4
        if x < 4
        else 5
        if x < 5
        else 6
        if x < 6
        else 7
        if x < 7
        else 8
        if x < 8
        else 9
        if x < 9
        else 10
        if x < 10
        else 11
        if x < 11
        else 12
        if x < 12
        else 13
        if x < 13
        else 14
        if x < 14
        else 15
        if x < 15
        else 16
        if x < 16
        else 17
        if x < 17
        else 18
        if x < 18
        else 19
        if x < 19
        else 20
        if x < 20
        else 21
        if x < 21
        else 22
        if x < 22
        else 23
        if x < 23
        else 24
        if x < 24
        else 25
        if x < 25
        else 26
        if x < 26
        else 27
        if x < 27
        else 28
        if x < 28
        else 29
        if x < 29
        else 30
        if x < 30
        else 31
        if x < 31
        else 32
        if x < 32
        else 33
        if x < 33
        else None
    )
    return all_of_them, -1 if first is None else first


@cases.each((2, 3), (3, 2))
def booleans_as_values(x, y):
    both = x > 1 and y > 2
    either = x > 2 or y > 2
    return both, either, not both, both == either, both + either


@cases.each((1, 2, 3), (1, 3, 2), (2, 1, 3), (1, 1, 1))
def chained_comparison(x, y, z):
    return x < y < z, x <= y <= z, x < y > z, x == y == z, 0 < x != y


@cases.each((3,), (30,))
def chain_evaluates_the_middle_once(n):
    calls = []

    def middle():
        calls.append(n)
        return n

    return 0 < middle() < 10, len(calls)


@cases.each((True, False), (False, False))
def logic_on_known_booleans(a, b):
    return a and b, a or b, not a, a ^ b, a & b, a | b


@cases(np.float64(2.0), np.float64(-1.0))
def logic_on_numpy_scalars(x, y):
    return x > 1 and y > 1, x > 1 or y > 1, not x > 1, (x > 1) & (y > 1), ~(x > 1)


@cases.each((None, 2.0), (3.0, 2.0))
def or_with_none(x, default):
    value = default if x is None else x
    return value * 2, x is None, x is not None


@cases("relu", 2.0)
def comparisons_of_known_things(name, x):
    return name == "relu", name != "relu", name in ("relu", "gelu"), "r" in name, name is not None, x


@cases.each((2,), (5,))
def membership(x):
    return x in (1, 2, 3), x not in (1, 2, 3), x in [7, 5], x in range(4)


# ---------------------------------------------------------------- conditional expressions, walrus


@cases.each((2.0,), (-2.0,))
def ternary(x):
    return x * 3 if x > 0 else x - 1


@cases.each((1,), (2,), (3,))
def nested_ternary(n):
    return 10 if n == 1 else 20 if n == 2 else 30


@cases.each((4.0,), (-4.0,))
def ternary_evaluates_one_side(x):
    calls = 0

    def log(value):
        nonlocal calls
        calls += 1
        return value

    return (log(x) if x > 0 else log(log(-x))), calls


@cases.each((np.array([1.0, 2.0]), 0.5), (np.array([1.0, 2.0]), -0.5))
def ternary_of_arrays(x, c):
    y = x + 1 if c > 0 else x * x
    return y.sum(), y


@cases.each((3.0,), (0.1,))
def walrus(x):
    if (y := x * x) > 1.0:
        return y
    return (z := y + 1) * z + y


# ---------------------------------------------------------------- assignment forms


@cases((1.0, 2.0, 3.0, 4.0))
def unpacking_with_star(items):
    first, *middle, last = items
    *start, end = items
    head, *tail = items
    return first, middle, last, start, end, head, tail


@cases(((1.0, 2.0), [3.0, (4.0, 5.0)]))
def nested_unpacking(items):
    (a, b), [c, (d, e)] = items
    return a + b * c, d - e


@cases(1, 2, 3)
def swaps_and_chains(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    x = y = a + b
    x += 1
    return a, b, c, x, y


@cases(np.array([3.0, 4.0, 5.0]))
def unpacking_an_array(x):
    a, b, c = x
    first, *rest = x
    return a * b + c, first, rest


@cases(np.array([[1.0, 2.0], [3.0, 4.0]]))
def unpacking_rows(x):
    (a, b), (c, d) = x
    return a * d - b * c


@cases(7, 3.0)
def augmented_assignment(n, x):
    n += 2
    n -= 1
    n *= 3
    n //= 2
    n %= 7
    n **= 2
    n <<= 2
    n >>= 1
    n |= 1
    n &= 0b1111
    n ^= 5
    x /= 2
    x **= 2
    return n, x


@cases(2.0)
def annotated_assignment(x):
    y: float = x * 2
    z: int
    z = 3
    return y + z


@cases(1.0)
def names_deleted_and_bound_again(x):
    y = x + 1
    del y
    y = x * 2
    return y


@cases(3.0)
def star_in_displays(x):
    pair = (x, 2 * x)
    options = {"a": x}
    return [0.0, *pair, 1.0], (*pair, *pair), {**options, "b": 2.0}


# ---------------------------------------------------------------- comprehensions


@cases([1.0, 2.0, 3.0], 2.0)
def list_comprehension(xs, k):
    return [k * x for x in xs], [x for x in xs if x is not None], [i for i in range(3)]


@cases((1.0, 2.0), (3.0, 4.0))
def nested_comprehension(xs, ys):
    return [x * y for x in xs for y in ys], [[x + y for y in ys] for x in xs]


@cases({"a": 1.0, "b": 2.0})
def dict_comprehension(d):
    return {key: value * 2 for key, value in d.items()}, {i: i * i for i in range(3)}


@cases([1.0, 2.0, 3.0])
def generators_in_calls(xs):
    return sum(x * x for x in xs), max(-x for x in xs), tuple(x + 1 for x in xs), list(x for x in xs)


@cases([1.0, 2.0, 3.0])
def any_and_all(xs):
    return any(x > 2 for x in xs), all(x > 2 for x in xs), all(x > 0 for x in xs), any([]), all([])


@cases.each((np.array([-1.0, 2.0, 3.0]),), (np.array([-1.0, 2.0, 3.0, 60.0]),))
def first_of_a_generator(x):
    pairs = next(((i, j) for i in range(len(x)) for j in range(i) if x[i] * x[j] > 5), None)
    return next(i for i, v in enumerate(x) if v > 0), next((v for v in x if v > 50), -1.0), pairs


@cases(-np.ones(3), raises=StopIteration)
def first_of_a_generator_without_elements(x):
    return next(v for v in x if v > 0)


@cases(3.0)
def comprehension_has_its_own_scope(x):
    i = x
    squares = [i * i for i in range(4)]
    return i, squares


@cases(np.array([1.0, 2.0, 3.0]))
def comprehension_over_array(xs):
    return [x * 2 for x in xs], sum([x for x in xs])


@cases(4)
def comprehension_filters_by_index(n):
    return [i for i in range(8) if i % 3 == 0], n


@cases(((1.0, 2.0), (3.0, 4.0)))
def comprehension_unpacks(pairs):
    return [a * b for a, b in pairs], {a: b for a, b in (("x", 1.0), ("y", 2.0))}


# ---------------------------------------------------------------- f-strings and strings


@cases({"w0": 1.0, "w1": 2.0, "w2": 3.0})
def f_string_as_key(weights):
    total = 0.0
    for i in range(3):
        total += i * weights[f"w{i}"]
    return total


@cases(np.zeros((2, 3), np.float32))
def f_string_formats(x):
    name = "x"
    return f"{name}: {x.shape} {x.dtype} {x.ndim:03d} {name!r:>5} {{}} {len(name) + 1}"


@cases(2.0)
def string_methods(x):
    name = "conv_1_bias"
    parts = name.split("_")
    return parts, "-".join(parts), name.upper(), name.startswith("conv"), name[5], name.replace("_", ""), x


@cases(2.0)
def string_concatenation(x):
    key = "a" + "b" * 2
    table = {"abb": x}
    return table[key], "%s!" % key, "{}?".format(key)


@cases((3, 4))
def printing_structure_into_strings(shape):
    return str(shape[0:0]), repr("a"), f"{1.5:.2f}", f"{True}", f"{None}"


# ---------------------------------------------------------------- items, attributes, evaluation order


@cases([1.0, [2.0, 3.0]], {"a": (4.0, 5.0)})
def nested_items(xs, d):
    return xs[1][0] * d["a"][-1] + xs[0], xs[-1][-1]


@cases(5.0)
def evaluation_order(x):
    order = []

    def note(tag, value):
        order.append(tag)
        return value

    y = note("a", x) + note("b", 2.0) * note("c", 3.0)
    pair = (note("d", 1), note("e", 2))
    return y, pair, order


@cases((1.0, 2.0, 3.0, 4.0, 5.0))
def slices_of_structure(xs):
    return xs[1:3], xs[::-1], xs[:-1], xs[::2], xs[-2:], xs[slice(1, 4, 2)]


@cases(1.0)
def docstring_ellipsis_and_pass(x):
    """A docstring is not a statement that does anything."""
    ...
    pass
    return x


# fmt: off
@cases(1.0)
def statements_on_one_line(x):
    a = x; b = a + 1; c = a * b  # noqa: E702
    if c > 1.0: c = c + 1  # noqa: E701
    return (
        a
        + b +
        \
        c
    )
# fmt: on


@cases(7.5, 2)
def number_literals(x, n):
    return x * 1e3, x + 0x10, n + 1_000, n | 0b11, n & 0o17, x * 1.5j, -n, +n, ~n, --n


@cases.each((1.0,), (np.float32(1.0),), (np.ones(2)[0],), raises=TypeError)
def numbers_are_not_iterable(x):
    for v in x:
        x = x + v
    return x


@cases(1.0, raises=TypeError)
def star_of_a_number(x):
    return [*x]


@cases(1.0, raises=TypeError)
def unpacked_number(x):
    a, b = x
    return a


@cases.each((1.0,), (np.float64(1.0),), (3,), raises=TypeError)
def length_of_a_number(x):
    return len(x)


@cases.each((1.0,), raises=TypeError)
def function_is_not_iterable(x):
    return [x for _ in len]


@cases(np.ones(2))
def errors_of_floats_that_warn(x):
    with np.errstate(all="ignore", under="warn"):
        return x / 2.0


@cases(np.ones(2), refused="PS308")
def errors_of_floats_that_raise(x):
    with np.errstate(divide="raise"):
        return x / np.zeros(2)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
