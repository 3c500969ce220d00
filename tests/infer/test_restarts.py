"""A loop that must be inferred in another way begins again alone; what is refused for certain does not begin again."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import pystage
from tests.checking import check

from .engines import Watch


def costly(x):
    for k in range(200):
        if k % 2:
            x = [v * 2.0 for v in x] + [float(k)]
            x = x[1:]
    return sum(x)


def late(x):
    total = costly([1.0, 2.0, x])
    for i in range(0, 3, 2):
        total = total * (1, "a", 3)[i]
    return total


def later(x):
    total = late(x)
    for k in range(2):
        for i in range(0, 3, 2):
            total = total + k * (1, "a", 3)[i]
    return total


def in_try(x):
    total = x
    try:
        for i in range(0, 3, 2):
            total = total * (1, "a", 3)[i]
    except ValueError:
        total = -total
    return total


def early(x):
    for i in range(0, 3, 2):
        x = x * (1, "a", 3)[i]
    return x


@pytest.mark.parametrize("program", [late, later, early])
def test_a_loop_that_must_be_written_out_begins_again_alone(program: Any) -> None:
    assert len(Watch(program, 2.0).engines) == 1
    check(program, 2.0)


def test_what_stands_before_a_loop_that_begins_again_is_inferred_once() -> None:
    before = Watch(lambda x: costly([1.0, 2.0, x]), 2.0).engines[0].effort.steps
    assert Watch(late, 2.0).engines[-1].effort.steps < before + 100


def test_in_the_body_of_a_try_the_program_begins_again() -> None:
    assert len(Watch(in_try, 2.0).engines) == 2
    check(in_try, 2.0)


def over_many(xs, y):
    out = []
    for x in xs:
        for k in range(300):
            y = y + np.arange(6.0).reshape(k % 3 + 1, -1)[0, 0]
        out.append(x * y)
    return out


def test_a_first_trip_that_takes_too_much_is_left_at_once() -> None:
    xs = [np.array([float(k)]) for k in range(16)]
    watch = Watch(over_many, xs, 1.0)
    assert len(watch.engines) == 1
    assert watch.engines[0].effort.steps < 50_000


def refused_first(x):
    key = input("?")
    return early(x), key


def test_what_is_refused_before_a_loop_is_refused_at_once() -> None:
    watch = Watch(refused_first, 2.0, refused="PS601")
    assert len(watch.engines) == 1


def of_letters(text, n):
    found = []
    for frame in range(3):
        start = None
        for i in range(frame, len(text)):
            if start is None:
                start = i if text[i : i + 2] == "ab" else None
            elif text[i] == "c":
                found.append((start, i, frame))
                start = None
    return found, n


def test_a_program_too_large_whose_loops_are_written_out_is_inferred_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(pystage.config, "program_limit", 1.0)
    watch = Watch(of_letters, "abcd" * 900, 1.0, refused="PS404")
    assert len(watch.engines) == 1


def halved(x):
    """The shape of a view depends on the trip."""
    for i in range(4):
        x = np.reshape(x, (2**i, -1)).sum(axis=1, keepdims=True) + x.reshape((2**i, -1))
        x = x.reshape(-1)
    return x


class Part:
    def __init__(self) -> None:
        self.name: str | None = None


def named(x):
    """Objects of which the run would choose one are given texts that the trip decides."""
    parts = []
    for _ in range(3):
        part = Part()
        part.name = f"part {len(parts)}"
        parts.append(part)
    return {part.name: x * i for i, part in enumerate(parts)}


def branched(x):
    """What is refused does not depend on the trip."""
    rows = []
    for i in range(10):
        if x[i] > 0:
            rows.append(f"{x[i]}")
    return rows


def test_a_rolled_loop_of_few_trips_that_is_refused_is_written_out() -> None:
    check(halved, np.arange(16.0))
    check(named, np.arange(3.0))


def test_a_loop_is_not_written_out_in_vain() -> None:
    watch = Watch(branched, np.ones(10), refused="PS301")
    assert len(watch.engines) == 1
    assert not watch.trips


def much(x, y):
    for k in ("a", 1, None) * 30:
        x = np.sin(x) * y.sum() if isinstance(k, str) else np.maximum(x[::-1], y.max())
    return x


def sized_late(n, m, x):
    """`n` must be known early, `m` late."""
    start = np.zeros(n)
    x = much(x, start)
    return x, np.ones(m), start


def test_inference_begins_again_soon_after_a_demand() -> None:
    watch = Watch(sized_late, 3, 4, np.arange(5.0))
    early, late, whole = [engine.effort.steps for engine in watch.engines]
    assert early < whole / 4
    assert early < late <= whole
    check(sized_late, 3, 4, np.arange(5.0))


def side_by_side(n, m, x):
    return np.zeros((n, m)) + np.ones(m), np.arange(n) + x


def test_numbers_that_are_demanded_together_are_found_at_once() -> None:
    assert len(Watch(side_by_side, 3, 4, 1.0).engines) == 2


def walked(rng, n, x):
    where = np.zeros(3)
    for _ in range(n):
        where = where + rng.standard_normal(3)
    x = much(x, where)
    return x


def test_the_trips_of_a_loop_that_draws_are_demanded_behind_it() -> None:
    watch = Watch(walked, np.random.default_rng(1), 5, np.arange(5.0))
    assert len(watch.engines) == 2
    assert watch.engines[0].effort.steps < watch.engines[1].effort.steps / 4
    check(walked, np.random.default_rng(1), 5, np.arange(5.0))


RATE = 0.5


def never_staged(x):
    return x * RATE, os.getpid()


def decided_by_rate(x):
    return os.getpid() if RATE < 0.25 else x * RATE


def test_numbers_that_decide_nothing_are_tried_as_constants_once() -> None:
    assert len(Watch(never_staged, 1.0, refused="PS601").engines) == 2
    assert len(Watch(decided_by_rate, 1.0).engines) > 1
    check(decided_by_rate, 1.0)


def written_out(x):
    parts = []
    for i in range(40):
        parts.append(np.sin(x[i : i + 3]).reshape((1,) * (i % 4) + (3,)))
    return [part.sum() for part in parts]


def test_inference_that_ends_while_it_computes_constants_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for hundredths in range(8, 13):
        monkeypatch.setattr(pystage.config, "program_limit", hundredths / 100)
        with pytest.raises(pystage.StagingError, match="PS404"):
            pystage.compile(written_out, fallback="error", tier="compiled")(np.arange(50.0))
