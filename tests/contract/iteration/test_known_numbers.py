"""`sum`, `min` and `max` of many known elements."""

from __future__ import annotations

import math

import pystage
import pytest
from checking import Cases, check

cases = Cases()
N = 40
INTS = tuple([(7 * i) % 31 - 15 for i in range(N)])
FLOATS = tuple([i / 8 - 2.0 for i in range(N)])


def with_keys(values):
    table = {}
    for i, x in enumerate(values):
        table[f"k{i}"] = x * (i % 5)
    return table


@cases.each(((*FLOATS, math.nan),), ((math.nan, *FLOATS),), ((-0.0, 0.0) * 20,), ((0.0, -0.0) * 20,))
@cases.each((FLOATS,), (INTS,), ((True, False, *[i % 3 == 0 for i in range(N)]),))
def of_a_tuple(values):
    return sum(values), sum(values[3:], 2), min(values), max(values), sum(values[:35]), max(values[::-1])


@cases.each((FLOATS,), (INTS,), ((*INTS[:20], *FLOATS[:20]),))
def of_computed_elements(values):
    found = with_keys(values)
    some = list(found.values())
    return sum(found.values()), min(some), max(some), sum([*some, 3, 4]), max([*some, 100]), sum(some, 0.5)


@cases.each((INTS, 3), (INTS, 3.5))
def of_several_kinds(values, x):
    some = [*with_keys(values).values(), x]
    return sum(some), min(some), max(some, default=0), sum([*values[:30], x]), sum((x,) * 20)


@cases(INTS)
def of_known_elements(values):
    return sum((2,) * 30), max([*range(30)]), sum([1] * N) + values[0], "abc"[max((1, 2) * 10)]


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_the_plain_and_the_staged_run_agree(function, args, options):
    check(function, *args, zeros=True, **options)


@pytest.mark.parametrize("values", [INTS, FLOATS], ids=["ints", "floats"])
@pytest.mark.parametrize("function", [sum, min, max])
def test_the_program_does_not_grow_with_the_elements(function, values):
    staged = pystage.compile(lambda values: function(values)).staged(values)
    assert sum(1 for _ in staged.function.body.walk()) < N


def test_a_sum_of_more_than_64_bits_is_refused():
    total = pystage.compile(lambda values: sum(values), fallback="error")
    assert total((2**57,) * N) == 2**57 * N
    with pytest.raises(pystage.StagingError, match="PS810"):
        total((2**60,) * N)
