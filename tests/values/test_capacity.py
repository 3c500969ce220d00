"""How capacities grow."""

from __future__ import annotations

import itertools

import pytest

from pystage.compiler.diagnostics.span import Span
from pystage.compiler.values.capacity import (
    AllocationSite,
    Capacity,
    CapacityExceeded,
    expected_size,
    first_size,
    next_capacities,
)

SITE = AllocationSite(None, "the list")
LIMIT = 1 << 40


def steps(size: int, itemsize: int, until: int, limit: int = LIMIT) -> list[int]:
    """The capacities of the programs by which what appends one element at a time comes to hold `until` elements."""
    found = [size]
    while found[-1] < until:
        found.append(Capacity(SITE, found[-1], itemsize).grown(found[-1] + 1, limit))
    return found


@pytest.mark.parametrize("size", [1, 4, 16, 64])
def test_a_million_numbers_take_three_further_programs(size: int) -> None:
    assert len(steps(size, 8, 1_000_000)) <= 4


@pytest.mark.parametrize("itemsize", [1, 8, 24, 1000, 100_000])
def test_it_is_at_least_twice_the_size(itemsize: int) -> None:
    found = steps(1, itemsize, 1 << 26)
    assert all(2 * a <= b for a, b in itertools.pairwise(found))


def test_what_is_needed_is_there_at_once() -> None:
    assert Capacity(SITE, 4, 8).grown(5_000_000, LIMIT) == 5_000_000


def test_what_grows_with_the_inputs_has_as_much_as_the_largest_next() -> None:
    assert Capacity(SITE, 1024, 8, 20_000).grown(1025, LIMIT) == 32_768
    assert Capacity(SITE, 1024, 8, 500).grown(1025, LIMIT) == 16_384
    assert Capacity(SITE, 1024, 8, 1 << 30).grown(1025, LIMIT) == 1 << 21
    known = [Capacity(SITE, 64, 8, 20_000)]
    assert next_capacities(CapacityExceeded(Capacity(SITE, 64, 8), 65), known, LIMIT) == {SITE: 32_768}


def test_it_is_no_more_than_there_may_be() -> None:
    assert steps(4, 8, 10_000, limit=10_000) == [4, 4096, 10_000]
    assert Capacity(SITE, 4, 8).grown(50, 60) == 60


def test_what_is_appended_to_together_grows_together() -> None:
    sites = [AllocationSite(None, name) for name in "abc"]
    capacities = [Capacity(sites[0], 16, 8), Capacity(sites[1], 16, 16), Capacity(sites[2], 20, 8)]
    one_more = CapacityExceeded(capacities[0], 17)
    assert next_capacities(one_more, capacities, LIMIT) == {sites[0]: 4096, sites[1]: 2048}
    assert next_capacities(CapacityExceeded(capacities[0], 18), capacities, LIMIT) == {sites[0]: 4096}
    assert next_capacities(one_more, capacities, 1000) == {sites[0]: 73}
    assert next_capacities(one_more, capacities, 551) is None


def test_the_kind_grows_once_one_of_it_has() -> None:
    sites = [AllocationSite(Span("f.py", line, 0, line, 1), "a slice") for line in range(3)]
    other = AllocationSite(Span("f.py", 9, 0, 9, 1), "a list")
    exceeded = CapacityExceeded(Capacity(sites[0], 256, 1), 300)
    same = [Capacity(each, 256, 1) for each in (*sites, other)]
    assert next_capacities(exceeded, same, LIMIT) == {sites[0]: 32_768}
    one_grown = [*same[:2], Capacity(sites[2], 32_768, 1), same[3]]
    assert next_capacities(exceeded, one_grown, LIMIT) == {sites[0]: 32_768, sites[1]: 32_768}


def test_what_is_not_small_gets_a_reserve_where_another_did_not_suffice() -> None:
    sites = [AllocationSite(Span("f.py", line, 0, line, 1, f"f{line}"), f"list {line}") for line in range(5)]
    capacities = [
        Capacity(sites[0], 8, 8, 20_000),
        Capacity(sites[1], 256, 8, 20_000),
        Capacity(sites[2], 8, 20_000, 20_000),
        Capacity(sites[2], 8, 8, 20_000),
        Capacity(sites[3], 64, 8, 20_000),
        Capacity(sites[4], 1 << 17, 8, 20_000),
    ]
    found = next_capacities(CapacityExceeded(capacities[0], 9), capacities, LIMIT)
    assert found == {sites[0]: 32_768, sites[1]: 32_768, sites[2]: (1 << 20) // 20_000}
    left = 32_768 * 8 + sum(c.bytes for c in capacities[1:]) + 4000
    found = next_capacities(CapacityExceeded(capacities[0], 9), capacities, left)
    assert found == {sites[0]: 32_768, sites[1]: 256 + 500}


def test_what_another_function_appends_to_does_not_grow_along() -> None:
    here, beside, elsewhere = (
        AllocationSite(Span("a.py", line, 0, line, 9, function), "a list")
        for line, function in ((1, "f"), (2, "f"), (3, "g"))
    )
    capacities = [Capacity(site, 64, 8) for site in (here, beside, elsewhere)]
    assert next_capacities(CapacityExceeded(capacities[0], 65), capacities, LIMIT) == {
        here: 4096,
        beside: 4096,
    }


def test_the_first_size() -> None:
    assert first_size(64, 8, expected_size(0)) == 64
    assert [first_size(64, 8, expected_size(n)) for n in (10, 100, 5_000, 1 << 20)] == [
        1024,
        1024,
        8192,
        16_384,
    ]
    assert first_size(64, 1 << 14, 1000) == 64
    assert [first_size(1, itemsize, 1000) for itemsize in (1 << 14, 1 << 17, 1 << 19)] == [8, 8, 2]
