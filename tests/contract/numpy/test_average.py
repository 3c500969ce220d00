"""`np.average` of arrays whose size is known, and of those whose size only the run knows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

M = np.array([[3.0, 1, 2], [0, 5, 1], [4, 4, 4], [-2, 0, 7]])
W = np.array([0.5, 1, 2, 0.25])
C = np.arange(24.0).reshape(2, 3, 4) % 7


@cases.each((M, W), (M.astype(np.int8), W), (M.astype(np.float32), W.astype(np.float16)), (M > 1, W > 0.3))
@cases.each((M * 1j, W), (jnp.asarray(M), jnp.asarray(W)), (M.tolist(), W.tolist()))
def of_known_size(m, w):
    a, b = np.average(m, axis=0, weights=w), np.average(w, weights=w, returned=True)
    c = np.average(m, axis=0, weights=w, returned=True, keepdims=True)
    return a, b, c, np.average(m), np.average(m, axis=(0, 1), returned=True), np.average(m, 1, keepdims=True)


@cases.each((C, C[:, 0] + 1), (C.astype(np.float32), C[:, 0] + 1))
def weights_of_two_axes(c, w):
    one = np.average(c, axis=(0, 2), weights=w), np.average(c, axis=(2, 0), weights=w.T, returned=True)
    return one, np.average(c, axis=(-1, 0), weights=w.T, keepdims=True), np.average(c, axis=1, weights=c + 1)


@cases(W, W[:2], raises=TypeError)
@cases(M, W, raises=TypeError)
def weights_of_another_shape(m, w):
    return np.average(m, weights=w)


@cases(M, W[:3], raises=ValueError)
@cases(M, M[0], raises=ValueError)
@cases(M, M[:1], raises=ValueError)
def weights_of_another_extent(m, w):
    return np.average(m, axis=0, weights=w)


@cases(W, W * 0, raises=ZeroDivisionError)
@cases(W, np.array([1.0, -1, 1, -1]), raises=ZeroDivisionError)
@cases(W[:0], W[:0], raises=ZeroDivisionError)
def weights_of_nothing(x, w):
    return np.average(x, weights=w)


@cases(M, W[:3] * 0, raises=ZeroDivisionError)
def weights_of_nothing_along_an_axis(m, w):
    return np.average(m, axis=1, weights=w)


@cases(M, raises=np.exceptions.AxisError)
def no_such_axis(m):
    return np.average(m, axis=2)


SOME, ONE, ALL, NONE = -1.0, 3.5, -9.0, 9.0


@cases.each((M, W, SOME), (M, W, ONE), (M, W, ALL), (M.astype(np.int16), W, SOME), (M, W > 0.7, SOME))
@cases.each((jnp.asarray(M), jnp.asarray(W), SOME))
@cases(M, W, NONE, raises=ZeroDivisionError)
def of_rows(m, w, t):
    kept = m[:, 0] > t
    m, w = m[kept], w[kept]
    a = np.average(m, axis=0, weights=w)
    b, total = np.average(m, axis=0, weights=w, returned=True)
    return (
        a,
        b,
        total,
        np.average(m, axis=0, weights=w, keepdims=True),
        np.average(w, weights=w, returned=True),
    )


@cases.each((M, SOME), (M, ONE), (M, ALL), (M, NONE))
def along_known_axes(m, t):
    m = m[m[:, 0] > t]
    weights = np.array([1.0, 2, 3])
    return (
        np.average(m, axis=1, weights=weights),
        np.average(m, axis=1, weights=weights, returned=True),
        np.average(m, axis=-1, weights=weights, keepdims=True),
        np.average(m.T, axis=0, weights=weights),
        np.average(m, axis=1, weights=np.abs(m) + 1, returned=True),
    )


@cases.each((M, SOME), (M, ONE), (M, ALL), (M, NONE))
def without_weights(m, t):
    m = m[m[:, 0] > t]
    return np.average(m), np.average(m, axis=0, returned=True), np.average(m, returned=True, keepdims=True)


@cases(M, ALL, raises=ValueError)
@cases(M, ONE, raises=ValueError)
def rows_of_another_number(m, t):
    return np.average(m[m[:, 0] > t], axis=0, weights=m[0])


@cases(M, ONE, raises=TypeError)
@cases(M, ALL, raises=TypeError)
def vectors_of_another_size(m, t):
    return np.average(m[m[:, 0] > t, 0], weights=m[0])


@cases.each((M, W, np.array([-9.0, 3.5, -1])), (M, W, np.array([])))
@cases(M, W, np.array([0.0, 9.0]), raises=ZeroDivisionError)
def in_a_loop(m, w, ts):
    found = np.zeros(3)
    for t in ts:
        kept = m[:, 0] > t
        if kept.sum() < 9:
            found = found * 2 + np.average(m[kept], axis=0, weights=w[kept])
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def centre(m, w, t):
        kept = m[:, 0] > t
        return np.average(m[kept], axis=0, weights=w[kept]) @ np.array([1.0, 2, 3])

    by_m, by_w = pystage.grad(centre, argnums=(0, 1))(M, W, -1.0)
    step = 1e-6
    for at in np.ndindex(M.shape):
        change = np.zeros(M.shape)
        change[at] = step
        slope = (centre(M + change, W, -1.0) - centre(M - change, W, -1.0)) / (2 * step)
        assert np.isclose(by_m[at], slope, atol=1e-6)
    for i in range(4):
        change = np.zeros(4)
        change[i] = step
        slope = (centre(M, W + change, -1.0) - centre(M, W - change, -1.0)) / (2 * step)
        assert np.isclose(by_w[i], slope, atol=1e-6)
