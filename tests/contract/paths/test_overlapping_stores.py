"""Stores of a part of an array into another part of it, where operations have computed the array."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()
X, K = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.array([1, 2, 0, 4, 3])


def shift(w):
    w[1:] = w[:-1]


@cases.each((X, K), (X.astype(np.float32), K), (K, K))
def moves_up(x, k):
    gathered, summed, sorted_ = x[k], np.cumsum(x), x[np.argsort(x)]
    gathered[1:] = gathered[:-1]
    summed[1:] = summed[:-1]
    summed[0] = 0
    part = sorted_[:-1].copy()
    sorted_[1:] = part
    return gathered, summed, sorted_, gathered.sum()


@cases(X, K)
def in_functions_and_loops(x, k):
    called, once, often = x[k], x[k] * 2, np.take(x, k)
    shift(called)
    for _ in range(len(k) - 4):
        once[1:] = once[:-1]
    for _ in range(3):
        often[1:-1] = (often[:-2] + often[2:]) / 2
    return called, once, often


@cases(X, K)
def of_computed_sizes(x, k):
    masked, several, repeated = x[x > 1], np.unique(x), x.repeat(k)
    masked[1:3] = masked[:2]
    several[1:3] = several[:2]
    repeated[2:4] = repeated[:2]
    return masked, several, repeated


@cases(X, K)
def of_rows(x, k):
    rows = np.outer(x, x)[k]
    rows[1:] = rows[:-1]
    rows[:, 2:] = rows[:, :-2]
    return rows


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_program(function, args, options, monkeypatch):
    # The newer of XLA's emitters, which users have, is the one that fuses a gather with the store.
    monkeypatch.setattr(pystage.config, "compiler_options", {"xla_cpu_use_fusion_emitters": True})
    check(function, *args, **options)
