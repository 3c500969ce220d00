"""Items of lists and tuples at places that only a run knows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()
TABLE = (0.5, 2.0, -1.0, 8.0)
INSIDE = [(x,) for x in (0.5, 2.9, -0.3, -1.0, -3.9)]
OUTSIDE = [(x,) for x in (3.0, -4.0, 1e9)]


@cases.each(*INSIDE)
@cases.each(*OUTSIDE, raises=IndexError)
def of_a_list(x):
    items = [1.0, 2.0, 3.0]
    return items[int(x)]


@cases.each(*INSIDE)
@cases.each(*OUTSIDE, raises=IndexError)
def of_a_tuple_of_ints(x):
    t = (7, -2, 5)
    return t[int(x)] * 2


@cases.each(*INSIDE)
@cases.each(*OUTSIDE, raises=IndexError)
def of_computed_numbers(x):
    items = [x, x * 2.0, 1.5]
    return items[int(x)] + 1.0


DNA = "ACGTTACGGA"


@cases.each(*INSIDE)
@cases.each(*OUTSIDE, raises=IndexError)
def of_a_string(x):
    return "GAT"[int(x)]


@cases(np.array([0, 9, -1, 3, -10]))
@cases(np.array([0, 10]), raises=IndexError)
@cases(np.array([], np.int64))
def of_a_string_with_repeated_characters(x):
    weights = {"A": 1.5, "C": 2, "G": -0.25, "T": 4.0}
    total, last = 0.0, ""
    for i in x:
        total += weights[DNA[i]]
        if DNA[i] in "AT" and DNA[i] != last:
            last = DNA[i]
    return total, last


@cases(np.array([0, 9, -1, 3, -10]))
def of_bytes_and_of_repeated_names(x):
    names = ["red", "green", "red", "blue", "green", None, "red", None, "blue", "red"]
    return [DNA.encode()[i] for i in x], names[x[1]], names[x[3]] is None


@cases(np.array([1, 12, 5]))
def of_digits(x):
    text = "0123456789" * 2
    return (
        int(text[x[0]]) + float(text[x[1]]),
        text[x[2]] < "5",
        {c: i for i, c in enumerate(text)}[text[x[0]]],
    )


@cases(2.0)
def of_a_long_string_of_many_characters(x):
    total = 0.0
    for i, c in enumerate("0123456789" * 10):
        total += x * int(c)
        if c.isdigit() and c.upper() > "7":
            total -= i
    return total


@cases(5.0)
def of_a_string_beside_its_neighbours(x):
    text = DNA * 30
    pairs, runs = 0.0, 1
    for i in range(1, len(text)):
        if text[i] == text[i - 1]:
            pairs += x
        else:
            runs += 1
    for i, (a, b) in enumerate(zip(text, reversed(text))):
        pairs += (a == b) * i
    return pairs, runs


@cases(np.array([0.0, 2.0, 1.0, -1.0]))
@cases(np.array([0.0, 5.0, 1.0]), raises=IndexError)
def in_a_loop(x):
    total = 0.0
    items = [1.0, 2.0, 4.0]
    for v in x:
        total += items[int(v)]
    return total


@cases(np.array([3.0, 1.0, 2.0]))
def of_bools(x):
    return [True, False, True][x.argmax()], (False, True, True)[np.argmin(x)]


@cases(np.array([3.0, 1.0, 2.0]))
def of_numpy_scalars(x):
    return [x[0], x[1], x[2]][x.argmin()]


@cases(np.array([3.0, 1.0, 2.0]))
def of_jax_arrays(x):
    return [jnp.ones(2), jnp.zeros(2), jnp.arange(2.0)][int(x[0]) - 2]


@cases(np.array([3, 1, 2], np.uint8))
@cases(np.array([3, 1, 2**63 + 5], np.uint64), raises=IndexError)
def of_unsigned_places(x):
    return [1.0, 2.0, 3.0, 4.0][x[2]]


@cases.each((0.5,), (3.0,))
def caught(x):
    try:
        return [1.0, 2.0][int(x)]
    except IndexError:
        return -1.0


@cases(1.0, raises=IndexError)
def of_nothing(x):
    items = []
    return items[int(x)]


@cases.each((0.5,), (1.5,), (2.5,))
@cases(9.0, raises=IndexError)
def of_the_module(x):
    return TABLE[int(x)]


@cases(np.array([3.0, 1.0, 2.0]), 0)
@cases(np.array([3.0, 1.0, 2.0]), 7)
def of_arrays_in_an_order_that_each_trip_computes(x, trips):
    """Writing the loop out over `trips` would not make the order known."""
    points = [x, x[::-1].copy(), 2.0 * x]
    values = [(p * p).sum() for p in points]
    for _ in range(trips):
        order = np.argsort(values)
        points = [points[i] for i in order]
        values = [values[i] for i in order]
        if values[0] < 1e-3:
            break
        points[-1] = 0.5 * (points[0] + points[1])
        values[-1] = (points[-1] ** 2).sum()
    return points[0], values[-1]


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options):
    check(function, *args, **options)


def test_one_program_serves_all() -> None:
    def program(x: float) -> float:
        return [1.0, 2.0, 3.0][int(x)]

    staged = pystage.compile(program)
    for n in range(60):
        assert staged(n / 20) == program(n / 20)
    assert len(staged.signatures()) == 1


def test_a_loop_over_many_elements_is_rolled() -> None:
    """Its program grows by the elements, each of which is an argument, and not by what the body does with them."""

    def program(xs: list[float], pairs: list[tuple[int, float]]) -> tuple[float, list[float]]:
        total, out = 0.0, []
        for x, (n, y) in zip(xs, pairs):
            total += np.sin(x) * n + np.cos(y)
            out.append(total / 3)
        return total, out

    arguments = [i / 7 for i in range(100)], [(i % 5, float(i)) for i in range(100)]
    check(program, *arguments)
    assert pystage.compile(program).lower(*arguments).as_text().count("stablehlo.sine") == 1


def test_a_loop_over_many_elements_sees_what_its_body_stores() -> None:
    def program(xs: list[int], n: int) -> tuple[int, list[int]]:
        total = 0
        for i, x in enumerate(xs):
            total += x
            if i + n < len(xs):
                xs[i + n] += 1
        return total, xs

    check(program, list(range(100)), np.int64(1))


def test_integers_of_the_call_stay_constants() -> None:
    """A layer is chosen by an integer: what its kind is may depend on it."""
    staged = pystage.compile(lambda x, i: [x, x + 1][i])
    for i in (0, 1, -1):
        assert staged(1.0, i) == [1.0, 2.0][i]
    assert len(staged.signatures()) == 3


@pytest.mark.parametrize("x", [0.5, 1.5])
def test_items_of_several_kinds_are_demanded(x: float) -> None:
    check(lambda x: [1.0, 2][int(x)], x)


@pytest.mark.parametrize("i", [0.0, 1.0, -1.0, -2.0])
def test_arrays_that_a_name_may_stand_for(i: float) -> None:
    check(lambda x: [x, x + 1][int(x.sum())], np.array([i, 0.0]))


def test_of_many_arrays_of_several_ranks_the_place_must_be_known() -> None:
    def program(x: np.ndarray) -> np.ndarray:
        return [np.ones((1,) * (1 + i % 2)) for i in range(20)][int(x.sum())]

    check(program, np.zeros(2), refused="PS401")
