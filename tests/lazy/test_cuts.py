"""Where graphs without barriers are cut, and what is compiled anew: the same calls give the same programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pystage import lazy


def nested(x: Any, outer: int) -> Any:
    """Loops of an uneven pattern: inner loops of two to four trips."""
    for i in range(outer):
        for j in range(2 + i % 3):
            x = np.tanh(x * 1.25 + 0.5)
            x = x + float(j)
        x = np.maximum(x, -2.0) * 0.75
    return x


def compiled(run: Any) -> tuple[Any, int]:
    """What `run` gives, and how many programs it had compiled."""
    before = lazy.metrics().compiles
    result = np.asarray(run())
    return result, lazy.metrics().compiles - before


def test_a_loop_without_barriers_is_cut_into_few_programs() -> None:
    plain = np.linspace(-1.0, 1.0, 5)
    x = lazy.asarray(plain)
    got, first = compiled(lambda: nested(x, 120))
    np.testing.assert_allclose(got, nested(plain, 120), rtol=1e-12)
    assert first <= 6
    again = [compiled(lambda: nested(x, 120))[1] for _ in range(3)]
    assert sum(again) <= 3 and again[-1] == 0


def test_going_through_the_places_of_an_array_compiles_once() -> None:
    plain = np.arange(24.0).reshape(8, 3)
    counts = []
    for i in range(2, 6):
        x = lazy.asarray(plain)
        (got, count) = compiled(lambda x=x, i=i: (x * 2.0)[i : i + 2, 1] + x[7 - i, 1:])
        np.testing.assert_array_equal(got, (plain * 2.0)[i : i + 2, 1] + plain[7 - i, 1:])
        counts.append(count)
    assert sum(counts[1:]) == 0 < counts[0]


def test_an_index_means_the_same_when_it_is_used_again() -> None:
    plain = np.arange(24.0).reshape(2, 3, 4)
    x = lazy.asarray(plain)
    keys: list[Any] = [1, True, slice(1), slice(0, 1), (1, 2), (slice(None), 1), (1, slice(2, None, -1)), -1]
    keys += [None, ..., (..., 1), np.int64(1), (True, 1), [1, 0], slice(np.int64(1), None), (1, 1, 1)]
    for _ in range(2):
        for key in keys:
            np.testing.assert_array_equal(np.asarray(x[key]), plain[key], err_msg=repr(key))
    view = x[1]
    view[0] = -1.0
    assert np.asarray(x)[1, 0].tolist() == [-1.0] * 4
    assert x.T.base is not None and np.asarray(x.T).tolist() == np.asarray(x).T.tolist()
