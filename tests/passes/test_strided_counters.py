"""Loops whose counter moves by more than 1, from a constant to a constant: they make as many trips as in Python."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import pystage

BOUNDS = [(0, 1), (-3, 0), (-3, 1), (4, 2), (5, 5), (0, 6)]


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize(("begin", "end"), BOUNDS)
def test_trips(begin, end, step):
    def below(x):
        a, b, i = x, x * 2.0, begin
        while i < end:
            a, b, i = b, a + x, i + step
        return a, b, i

    def up_to(x):
        a, b, i = x, x * 2.0, begin
        while i + 1 <= end:
            i += step
            a, b = b, a + x
        return a, b, i

    def down(x):
        a, b, i = x, x * 2.0, -begin
        while i > -end:
            i -= step
            a, b = b, a + x
        return a, b, i

    for function in (below, up_to, down):
        assert pystage.compile(function, fallback="error")(1.5) == function(1.5)


def test_inner_loops_and_derivatives():
    def total(x):
        for _ in range(3):
            i = 0
            while i < 1:
                i += 2
                x = x * x
        return x.sum()

    x = np.array([0.5, 1.5])
    assert pystage.compile(total, fallback="error")(x) == total(x)
    np.testing.assert_allclose(jax.grad(pystage.compile(total))(jax.numpy.asarray(x)), 8 * x**7, rtol=1e-6)
