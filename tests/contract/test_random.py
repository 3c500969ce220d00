"""Random programs give the same plain and staged, in results, mutations and identities."""

from __future__ import annotations

import copy

import pystage
import pytest
from checking import check

from contract.programs import Writer, arguments, load

SEEDS = range(24)

UNCERTAIN = {"PS501"}
"""Refusals of programs in which a name stands for one array on one path and for another on another path."""


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_agree(seed):
    check(load(Writer(seed, aliases=False).source(), f"program {seed}"), *arguments(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_with_aliases_agree_or_are_refused(seed):
    function = load(Writer(seed).source(), f"aliasing program {seed}")
    try:
        check(function, *arguments(seed))
    except pystage.StagingError as error:
        assert {diagnostic.code for diagnostic in error.diagnostics} <= UNCERTAIN


def test_programs_do_something():
    changed = 0
    for seed in SEEDS:
        args = arguments(seed)
        before = copy.deepcopy(args)
        result = load(Writer(seed).source(), f"program {seed}")(*args)
        assert len(result) == 10
        changed += any((old != new).any() for old, new in zip(before[3:5], args[3:5]))
    assert changed > len(SEEDS) // 2
