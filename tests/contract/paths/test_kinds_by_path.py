"""Numbers that are of one kind on one path and of another on the other: Python's and NumPy's, integers, floats and bools.

What comes back is of the kind that the path gives it, and so is what operations do on the way.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.5, -2.0, 4.0])
FLOATS = [(X, 0), (X, 1), (X, 3)]
SIGNS = [(1.0,), (-1.0,)]


class Box:
    def __init__(self, v):
        self.v = v


def doubled(y):
    return y * 2


def half(y):
    if isinstance(y, int):
        return y // 2
    return y / 2


# ---------------------------------------------------------------- where paths meet


@cases.each(*SIGNS)
def int_or_float(x):
    if x > 0:
        y = 1
    else:
        y = 2.5
    return y


@cases.each((np.array([2.0]),), (np.array([-2.0]),))
def python_or_numpy(x):
    y = -1.0
    if x[0] > 0:
        y = x[0]
    return y, [y], {"y": y}


@cases.each(*SIGNS)
def bool_or_int(x):
    y = 0
    if x > 0:
        y = x < 2
    return y, not y, y + 1, -y, y == 1


@cases.each((3.0, 5), (1.5, 5), (0.5, 5), (-1.0, 5))
def four_kinds(x, n):
    if x > 2:
        y = n
    elif x > 1:
        y = 2.5
    elif x > 0:
        y = True
    else:
        y = np.float32(3)
    return y, y + 1, y * 2.0, y / 2


@cases.each((1,), (0,))
def a_zero_with_a_sign(c):
    y = -0.0 if c else 3
    return str(y), y, 1 / y if not c else y


@cases.each((1.0, 2**60 + 1), (-1.0, 2**60 + 1), (1.0, -(2**63)))
def an_integer_that_no_float_holds(x, n):
    y = n if x > 0 else 0.5
    return y, [y, -1], y == n, y > 2**60


@cases.each((1.0, 2**53 + 1, 3), (-1.0, 2**53 + 1, 3))
def exactly_through_operations(x, n, m):
    y = n if x > 0 else 1.5
    z = y * m
    return z, z // 2, z % 7, z - 1, -z, abs(z)


@cases.each((1, 0.5), (0, 0.5))
def complex_or_real(c, x):
    y = complex(x, 1.0) if c else x
    return y, y * 2, y + 1j


@cases.each((1, np.int32(3), np.int64(2**40)), (0, np.int32(3), np.int64(2**40)))
def widths_of_numpy(c, a, b):
    y = a if c else b
    return y, y + 1, y * a


@cases.each((1, np.float32(0.1), 0.1), (0, np.float32(0.1), 0.1))
def single_or_double(c, a, b):
    y = a if c else b
    return y, y * 3, y + a


@cases.each((1, 2), (0, 2))
def one_path_of_a_path(c, n):
    y = 0
    if n > 1:
        if c:
            y = n / 2
    z = y
    if n > 5:
        z = True
    return y, z


# ---------------------------------------------------------------- loops


@cases.each(*FLOATS)
def a_sum_of_nothing(x, n):
    acc = 0
    for i in range(n):
        acc = acc + x[i]
    return acc


@cases.each((np.arange(5, dtype=np.uint8), 0), (np.arange(5, dtype=np.uint8), 4))
def a_sum_of_bytes(x, n):
    acc = 0
    for i in range(n):
        acc = acc + x[i]
    return acc


@cases.each((np.ones(5, np.float32), 0), (np.ones(5, np.float32), 4))
def a_sum_in_single_precision(x, n):
    acc = 0.0
    for i in range(n):
        acc += x[i] * 2
    return acc, acc / 3


@cases.each((2**60 + 1, 0), (2**60 + 1, 2))
def what_was_there_before(n, m):
    y = n
    for i in range(m):
        y = y * 0.5 + i
    return y


@cases.each(*FLOATS)
def the_greatest(x, n):
    best = 0.0
    where = None
    for i in range(n):
        if x[i] > best:
            best = x[i]
            where = i
    return best, where


@cases.each(*FLOATS)
def between_the_trips(x, n):
    acc = 1
    for i in range(n):
        acc = acc * 2 if x[i] > 0 else acc / 2
    return acc


@cases.each(*FLOATS)
def told_in_the_loop(x, n):
    kinds = 0
    y = 1
    for i in range(n):
        kinds = kinds * 2 + isinstance(y, int)
        y = half(y)
    return kinds, y


@cases.each((10,), (7,), (0,))
def a_while_loop(n):
    y = n
    while y > 1:
        y = y / 2
    return y


@cases.each((X, 0, 2), (X, 2, 0), (X, 3, 2))
def loops_in_loops(x, n, m):
    acc = 0
    for i in range(n):
        row = 0
        for _ in range(m):
            row = row + x[i]
        acc = acc + row
    return acc


@cases.each(*FLOATS)
def with_break(x, n):
    y = 0
    for i in range(n):
        if x[i] < 0:
            break
        y = x[i]
    return y


# ---------------------------------------------------------------- operations


@cases.each(*SIGNS)
def in_a_string(x):
    y = 1 if x > 0 else 2.5
    return f"{y} {y!r:>6} {y:.2f}", str(y), str([y, (y,)]), "%s" % y, repr({"a": y})


@cases.each((X, 0), (X, 2))
def shown_as_it_is(x, n):
    y = 0
    for i in range(n):
        y = x[i]
    return repr(y), [repr(y)]


@cases.each(*SIGNS)
def asked_for_its_class(x):
    y = 1 if x > 0 else 2.5
    return isinstance(y, int), isinstance(y, (float, complex)), hasattr(y, "is_integer"), callable(y)


@cases.each(*SIGNS)
def in_calls(x):
    y = 1 if x > 0 else 2.5
    return doubled(y), half(y), half(doubled(y)), (lambda v: v - 1)(y)


@cases.each((1.0, 3), (-1.0, 3))
@cases.each((1.0, 0), (-1.0, 0), raises=ZeroDivisionError)
def division(x, n):
    y = n if x > 0 else float(n)
    return 7 // y, 7 % y, 7 / y, divmod(7, y)


@cases(1, X, raises=ZeroDivisionError)
@cases(0, X)
def division_by_zero_of_either(c, x):
    y = 0.0 if c else x[0] * 0
    with np.errstate(all="ignore"):
        return 1.0 / y


@cases.each(*SIGNS)
def builtins_of_it(x):
    y = 3 if x > 0 else -2.5
    return abs(y), int(y), float(y), round(y), bool(y), max(y, 1), min(y, 1.0), pow(y, 2), divmod(y, 2)


@cases.each(*SIGNS)
def powers(x):
    y = 3 if x > 0 else 2.5
    return y**2, y**0.5, 2**y, np.power(y, 2)


@cases.each(*SIGNS)
def numpy_of_it(x):
    y = 4 if x > 0 else 2.25
    return np.sqrt(y), np.sin(y) * 0, np.add(y, 1), np.maximum(y, 3), np.float32(y), np.where(x > 0, 1.0, y)


@cases.each((1, np.arange(4.0)), (0, np.arange(4.0)))
def beside_an_array(c, x):
    y = 2 if c else 0.5
    return x * y, y - x, x > y, (x + y).sum()


@cases.each((1, np.arange(4)), (0, np.arange(4)), (1, np.arange(4.0)), (0, np.arange(4, dtype=np.float32)))
def stored(c, x):
    y = 2 if c else 7.9
    x[0] = y
    x[1:3] = y
    return x


@cases(1, np.arange(4.0))
@cases(0, np.arange(4.0), raises=IndexError)
def as_an_index(c, x):
    y = 1 if c else 1.0
    return x[y]


@cases(1, 4)
@cases(0, 4, raises=TypeError)
def as_a_length(c, n):
    y = n if c else 2.0
    s = 0
    for i in range(y):
        s += i
    return s


@cases.each(*SIGNS)
def attributes_of_it(x):
    y = np.float64(2.5) if x > 0 else 2.0
    return y.real, y.imag, y.conjugate(), y.is_integer()


@cases(1, X)
@cases(0, X, raises=AttributeError)
def a_method_that_one_kind_has(c, x):
    y = x[0] if c else 1.5
    return y.item()


@cases.each(*SIGNS, raises=ValueError)
def raised_with_it(x):
    y = 1 if x > 0 else 2.5
    raise ValueError(y)


@cases.each((1.0, 1), (-1.0, 0))
@cases(-1.0, 1, raises=ValueError)
def raised_where_it_is_a_float(x, n):
    y = 1 if x > 0 else 2.5
    if isinstance(y, float) and n:
        raise ValueError(f"{y} is no integer")
    return y


@cases.each((1, 0), (0, 2), (1, 2))
def two_of_them(c, n):
    y = 1 if c else 0.5
    z = n if n > 1 else 1.5
    return y + z, y * z, y < z, [y, z], y // z, f"{y} {z}"


@cases.each(*SIGNS)
def done_once(x):
    seen = []

    def note(v):
        seen.append(v)
        return v

    y = 1 if x > 0 else 2.5
    s = f"{note(y)}", max([y, 2], key=note)
    return s, seen


@cases.each(*SIGNS)
def seen_once(x):
    y = 1 if x > 0 else 2.5

    def seen(v):
        print("seen", v)
        return v

    return math.fsum(map(seen, [y, 2]))


# ---------------------------------------------------------------- in objects


@cases.each((1.0, [1, 2]), (-1.0, [1, 2]))
def in_the_callers_list(x, xs):
    if x > 0:
        xs[0] = 2.5
    xs.append(xs[0])
    return xs


@cases.each((1.0, {"a": 1}), (-1.0, {"a": 1}))
def in_the_callers_dict(x, d):
    if x > 0:
        d["a"] = x
    d["b"] = d["a"] + 1


@cases.each(*SIGNS)
def in_an_object(x):
    box = Box(1)
    if x > 0:
        box.v = x
    other = Box(box.v)
    other.v = other.v * 2
    return box, other


@cases.each(*SIGNS)
def in_a_closure(x):
    y = 1

    def step():
        nonlocal y
        y = y * 2.0

    if x > 0:
        step()
    return y


@cases.each((1.0, [1, 2.5, 3]), (-1.0, [3, 2.5, 1]))
def sorted_and_summed(x, xs):
    y = 2 if x > 0 else 0.5
    items = [y, 1, x]
    return sum(items), sorted(items), y in xs, xs.count(y), [v * 2 for v in items]


@cases.each(*SIGNS)
def matched(x):
    y = 1 if x > 0 else 2.5
    match y:
        case int():
            return "int", y
        case 2.5:
            return "two and a half", y
    return None


@cases.each(*SIGNS)
def printed(x):
    y = 1 if x > 0 else 2.5
    print(y, [y])


@cases.each((1.0, 3), (-1.0, 3), (-1.0, 0))
def caught(x, n):
    y = n if x > 0 else n * 0.5
    why = "none"
    try:
        z = 1 // y
    except ZeroDivisionError as error:
        z = -1
        why = str(error)
    return z, why


@cases.each((1.0, 2**62), (-1.0, 2**62))
def an_array_of_either(x, n):
    y = n if x > 0 else 0.5
    a = np.zeros(3)
    a[1] = y
    a[2] += y
    return a


@cases.each(*SIGNS)
def arrays_of_another_type(x):
    y = 1 if x > 0 else 2.5
    return np.array([y, y])


@cases.each(*SIGNS)
def a_class_by_path(x):
    y = 1 if x > 0 else 2.5
    return type(y), type(y)(7.5), type(y) is int, type(y).__name__


# ---------------------------------------------------------------- integers that no float is

BEYOND = 2**53 + 1


@cases.each(*FLOATS)
def a_large_integer_or_a_float(x, n):
    y = BEYOND if x[n % 3] > 0 else 2.5
    z = np.int64(BEYOND) if x[n % 3] > 0 else 1j
    return y, z, y == BEYOND


@cases.each(*FLOATS)
def keys_of_two_kinds(x, n):
    places = {2: 0, 4: 1, BEYOND: 2, 2**53: 3}
    key = BEYOND if n == 3 else int(x[2]) if x[0] > n else float(x[n % 3]) + 4
    counts = {}
    for i in range(n):
        counts[i + 2] = i
    return places.get(key, -1), key in places, counts.get(key, -1), key in {2, 4}


# ---------------------------------------------------------------- in loops that only the run knows to be entered


V = np.array([2, 0, 1, 2, -1, 4])
ENTERED = [(X, V, 1), (X, V, 9)]


@cases.each(*ENTERED)
def floats_or_integers_after_a_loop(x, v, n):
    y = x * 2
    for _ in v[v > n]:
        y = v + 1
    return y[1:]


@cases.each(*ENTERED)
def of_computed_size_after_a_loop(x, v, n):
    y = x[x > 0]
    for _ in v[v > n]:
        y = v[v > 1] + 1
    return y[1:], len(y)


@cases.each(*ENTERED)
def on_some_trips(x, v, n):
    y, z = x * 2, x
    for e in v[v > n]:
        if e > 2:
            y = v + 1
        z = y * e
    return y, z


@cases.each(*ENTERED)
def in_a_while_loop(x, v, n):
    y, i = x, 0
    while v[i] > n:
        y = v[:, None] + y.sum()
        i += 1
    return y.ndim, y.shape, y


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def counted(x, n):
    y = n if x > 0 else 0.5
    return y + 1


def test_an_integer_beyond_64_bits_is_refused_on_its_path_only():
    staged = pystage.compile(counted, fallback="error")
    assert staged(-1.0, 2**63 - 1) == 1.5
    with pytest.raises(pystage.StagingError, match="PS810"):
        staged(1.0, 2**63 - 1)


def test_where_jax_traces_a_call_all_numbers_are_arrays():
    staged = pystage.compile(int_or_float, fallback="error")
    assert jax.jit(staged)(1.0) == 1.0
    assert jax.vmap(staged)(jnp.array([1.0, -1.0])).tolist() == [1.0, 2.5]


def none_or_a_number(x):
    return None if x > 0 else x


def test_where_jax_traces_a_call_none_or_a_number_is_refused():
    with pytest.raises(pystage.StagingError, match="PS504"):
        jax.jit(pystage.compile(none_or_a_number, fallback="error"))(1.0)


def sloped(x):
    y = 0
    if x > 1:
        y = x * x
    return y * 3


def test_the_gradient_of_what_is_a_number_on_one_path():
    slope = pystage.grad(sloped)
    assert (slope(2.0), slope(0.5)) == (12.0, 0.0)


def _position(use):
    def program(v, c):
        items = [5, 1, 7, 8]
        s = 3
        if c:
            s = v[0]
        return use(items, s), items

    return program


@pytest.mark.parametrize(
    "use",
    [
        lambda items, s: [0] * s,
        lambda items, s: items[:s],
        lambda items, s: items.pop(s),
        lambda items, s: items.insert(s, 1),
        lambda items, s: items.index(1, 0, s),
    ],
    ids=["repeated", "sliced", "popped", "inserted", "found"],
)
def test_an_int_that_is_a_float_on_the_other_path_is_a_position(use):
    check(_position(use), X, 0)


def repeated_as_often_as_is_summed(v, n):
    s = 0
    for _ in range(n):
        s += len([0] * (s % 4)) + v[0]
        s %= 997
    return s


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_float_in_later_trips_does_not_repeat_a_sequence(n):
    check(repeated_as_often_as_is_summed, X, n, raises=TypeError if n > 1 else None)
