"""What a function keeps of its programs is bounded, and many that differ in one argument are told of, once."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import pystage

LIMIT = 8


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    before = pystage.config.max_programs
    pystage.config.max_programs = LIMIT
    yield
    pystage.config.max_programs = before


def entries(staged: Any) -> int:
    """How many objects the function keeps to find programs by."""
    dispatcher = staged._dispatcher
    found = len(dispatcher.groups) + len(dispatcher.short)
    for group in dispatcher.groups.values():
        for entry in group.entries.values():
            families = [entry.shared, *(entry.by_types or {}).values()]
            found += 1 + len(entry.shorts) + len(families)
            found += sum(len(s._variants) + len(s._locks) for f in families for s in f.all())
            found += sum(len(f.by_value) for f in families)
    return found + len(dispatcher.programs._take_away)


def shapes(x: Any) -> Any:
    return x.sum() + 1.0


def test_shapes() -> None:
    """One specialisation has them all; most are staged in vain, so that they are few."""
    staged, sizes = pystage.compile(shapes), []
    for n in range(1, 41):
        assert staged(np.ones(n)) == n + 1.0
        assert len(staged.signatures()) <= LIMIT
        sizes.append(entries(staged))
    assert max(sizes[20:]) <= max(sizes[:20])
    assert staged(np.ones(3)) == 4.0


@pytest.mark.parametrize("kind", ["values", "strings", "structures", "types"])
def test_signatures(kind: str) -> None:
    """The programs go, and all that led to them."""

    def program(x: Any, given: Any) -> Any:
        if isinstance(given, int):
            return x + np.zeros(given).shape[0]
        return x + len(given)

    def argument(n: int) -> Any:
        match kind:
            case "values":
                return n
            case "strings":
                return "a" * n
            case "structures":
                return [1.0] * n
            case _:
                return {f"key{n}": 1.0, **{str(i): 1.0 for i in range(n - 1)}}

    staged, made, sizes = pystage.compile(program), [], []
    programs = staged._dispatcher.programs
    add = programs.add

    def note(new: Any, take_away: Any) -> None:
        made.append(weakref.ref(new))
        add(new, take_away)

    programs.add = note  # type: ignore[method-assign]
    for n in range(1, 25):
        assert staged(1.0, argument(n)) == n + 1.0
        assert len(staged.signatures()) <= LIMIT
        sizes.append(entries(staged))
    assert max(sizes[12:]) <= max(sizes[:12])
    gc.collect()
    assert len(made) >= 24
    assert len([each for each in made if each() is not None]) <= LIMIT + 2
    assert staged(2.0, argument(3)) == 5.0


def test_what_is_called_stays() -> None:
    def program(x: Any, mode: str) -> Any:
        return x * 2 if mode == "often" else x + len(mode)

    staged = pystage.compile(program)
    staged(1.0, "often")
    (first,) = staged._dispatcher.staged
    for n in range(1, 30):
        staged(1.0, "a" * n)
        staged(1.0, "often")
        assert first in staged._dispatcher.staged


def test_a_storm_is_reported_once() -> None:
    def program(x: Any, n: int, m: int) -> Any:
        return x + np.zeros(n).shape[0] + np.zeros(m).shape[0]

    staged = pystage.compile(program)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(20):
            staged(1.0, n, 3)
    (warning,) = caught
    text = str(warning.message)
    assert warning.category is pystage.SpecialisationWarning
    assert warning.filename == __file__
    assert "`program` was compiled for 8 values of `n` (0, 1, 2, 3, …)" in text
    line = program.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}" in text
    with pytest.warns(pystage.SpecialisationWarning, match="of `m`"):
        for m in range(20):
            staged(1.0, 3, m)


def test_few_values_are_not_reported() -> None:
    staged = pystage.compile(lambda x, n: x + np.zeros(n).shape[0])
    for n in [*range(7), *range(7)]:
        staged(jnp.ones(()), n)


@pytest.mark.parametrize(("value", "error"), [(True, TypeError), (2.0, TypeError), (0, ValueError)])
def test_the_setting(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        pystage.config.max_programs = value
    assert pystage.config.max_programs == LIMIT and f"max_programs={LIMIT}" in repr(pystage.config)
