"""Loops of few trips are unrolled where they are differentiated: no residual of them is stacked."""

from __future__ import annotations

import numpy as np
import pytest

import pystage
from pystage.compiler import limits
from pystage.compiler.hlo.walk import functions
from pystage.compiler.ops import While


def short(x, w):
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for _ in range(3):
            y = np.sin(y) * w
        total = total + y
    return total


def none(x, w):
    total = w * 0.0
    for i in range(len(x)):
        for _ in range(0):
            total = total * x[i]
        total = total + x[i] * w
    return total


def long(x, w):
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for _ in range(20):
            y = np.sin(y) * w
        total = total + y
    return total


def loops_in(fn, *args):
    staged = pystage.value_and_grad(fn, argnums=(0, 1)).staged(*args)
    return sum(isinstance(op.kind, While) for f in functions(staged.function) for op in f.body.walk())


@pytest.mark.parametrize(("fn", "loops"), [(short, 2), (none, 2), (long, 4)])
def test_which_loops_are_left(fn, loops):
    """A loop and its pullback; the inner one and its pullback only where it has many trips."""
    x, w = np.linspace(0.1, 1.0, 6), 0.7
    assert loops_in(fn, x, w) == loops
    assert limits.DIFFERENTIATED_TRIPS < 20


@pytest.mark.parametrize("fn", [short, none, long])
def test_slopes(fn):
    x, w = np.linspace(0.1, 1.0, 6), 0.7
    value, (by_x, by_w) = pystage.value_and_grad(fn, argnums=(0, 1))(x, w)
    assert value == pytest.approx(fn(x, w), rel=1e-12)
    step = 1e-6
    for i in range(len(x)):
        near = np.where(np.arange(6) == i, step, 0.0)
        assert by_x[i] == pytest.approx((fn(x + near, w) - fn(x - near, w)) / (2 * step), abs=1e-8)
    assert by_w == pytest.approx((fn(x, w + step) - fn(x, w - step)) / (2 * step), abs=1e-8)
