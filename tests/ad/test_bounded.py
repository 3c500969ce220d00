"""Gradients of programs with arrays whose size only the run knows, against differences.

What does not belong to such an array is often infinite or no number: the logarithm of what `x[x > 0]` leaves out.
Nothing of it may get into a derivative. Each program runs with vectors of which some, none, all and one of the elements
are selected.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest
from gradient_checks import check_gradient

import pystage

X = np.arange(10.0) - 4.2
INPUTS = {"some": X, "none": -np.abs(X), "all": np.abs(X), "one": np.where(X[5] == X, X, -np.abs(X))}


def logarithms(x):
    return np.log(x[x > 0])


def elements(x):
    y = x[x > 0]
    return np.sqrt(y), (1 / y).sum(), y**0.5, y**y, np.arccosh(y + 1), np.hypot(y, y), np.logaddexp(y, 1)


def reductions(x):
    y = logarithms(x)
    return np.sqrt(y.var() + 1), y.var(), y.mean(), np.prod(y + 1), y.sum()


def extrema(x):
    y = logarithms(x[1:])
    return y.max(), y.min(), np.ptp(y), np.sqrt(y.max() + 9)


def running(x):
    y = logarithms(x)
    return np.cumprod(y), np.cumsum(y), np.log(np.cumsum(x[x > 0])), np.diff(y)


def products(x):
    y = logarithms(x)
    return np.outer(y, y), y[:, None] * y[None, :], y @ y, np.dot(y, y) ** 0.5


def with_numbers(x):
    y, s = logarithms(x), np.abs(x[-1])
    return y * s, y * x[-1:], s**y, y / s, (y - y.mean()) / (y.var() + s)


def matrices(x):
    y = logarithms(x)
    m = np.stack((y, y * 2), axis=1)
    return m @ x[:2], x[:2] @ m.T, m.T @ m, m @ m.T, m.sum(axis=0), m.var(axis=0), m.prod(axis=1), m * x[:2]


def systems(x):
    y = x[x > 0]
    a = np.outer(y, y) + 3 * np.eye(len(y))
    return np.linalg.solve(a, y), np.linalg.inv(a).sum(), np.linalg.slogdet(a)[1], np.linalg.cholesky(a).sum()


def columns(x):
    m = x.reshape(2, 5)
    y = np.sqrt(m[:, m[0] > 0])
    return y.sum(axis=0), y.prod(axis=0), y @ y.T, y.T @ y


def in_order(x):
    y = logarithms(x)
    return np.sort(y), np.median(y), y[::-1], np.log(np.sort(x[x > 0])[::-1])


def stored(x):
    y = logarithms(x)
    y *= x[-1]
    y += y
    y[:1] = x[-2]
    x[x > 0] = y * x[-1]
    return x, y


def chosen(x):
    y = logarithms(x)
    return np.where(y > 0, y, x[-1]), np.clip(y, 0, x[-1]), np.maximum(y, x[-1]), np.abs(y)


def joined(x):
    y, z = x[x > 0], x[x < 0]
    return np.concatenate((np.log(y), z, x)), np.append(np.sqrt(y), 5.0), np.hstack([z, np.sqrt(y)])


def selected_again(x):
    y = logarithms(x)
    z = y[y > 0]
    return np.sqrt(z), z.sum()


def in_a_loop(x):
    y = x
    for _ in range(3):
        y = np.log(y[y > 0.1]) + 1
    return y, y.sum()


def shrinking(x):
    y = logarithms(x)
    while len(y) > 2:
        y = np.sqrt(y[y > y.mean()] + 3)
    return y.sum()


def in_branches(x):
    y = x[x > 0]
    if x[0] > 0:
        y = np.log(y)
    else:
        y = np.sqrt(y)
    return y * x[-1]


def windows(x):
    s = 0.0
    for i in range(len(x)):
        part = x[max(0, i - 2) : min(len(x), i + 3)]
        s += np.median(part) * part.std()
    return s


def one_by_one(x):
    s = 0.0
    found = []
    for v in logarithms(x):
        s += v * v
        found.append(np.sqrt(v + 9))
    return s, found


PROGRAMS = (
    logarithms,
    elements,
    reductions,
    extrema,
    running,
    products,
    with_numbers,
    matrices,
    systems,
    columns,
    in_order,
    stored,
    chosen,
    joined,
    selected_again,
    in_a_loop,
    shrinking,
    in_branches,
    windows,
    one_by_one,
)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(function):
    outcomes = [check_gradient(function, (x,), second=name == "some") for name, x in INPUTS.items()]
    wrong = [str(o.text) for o in outcomes if o.what not in ("same", "constant", "raises")]
    assert not wrong, "\n\n".join(wrong)
    assert outcomes[0].what == "same"


@pytest.mark.parametrize("transform", [pystage.jacobian, jax.jacrev, jax.jacfwd, jax.hessian])
def test_derivatives_by_every_element(transform):
    @pystage.compile(fallback="error")
    def f(x):
        y = np.log(x[x > 0])
        out = np.zeros(3)
        out[: len(y)] = y[:3]
        return out[0] if transform is jax.hessian else out

    with jax.enable_x64(True):
        x = np.array([-1.0, 2.0, -3.0, 4.0])
        found = np.asarray(transform(f)(x))
    if transform is jax.hessian:
        wanted = np.zeros((4, 4))
        wanted[1, 1] = -1 / 4
    else:
        wanted = np.zeros((3, 4))
        wanted[0, 1], wanted[1, 3] = 1 / 2, 1 / 4
    np.testing.assert_allclose(found, wanted)
