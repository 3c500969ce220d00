"""Functions that are right; what is wrong is how the goldens call them."""

import numpy as np

import pystage


@pystage.compile
def norm(state):
    return np.sqrt((state["x"] * state["x"]).sum())


@pystage.compile
def double(x):
    return x * 2


@pystage.compile
def shift(out, x):
    out[:] = x


@pystage.compile
def zeros(n):
    return np.zeros(n)


LOG = [0.0]


@pystage.compile
def remember(log, x):
    LOG.append(x)
    return log[-1]


@pystage.compile
def total(x, n):
    x[0] = n
    return n + n


@pystage.compile
def power(x):
    return x**0.5


@pystage.compile
def cubed(n):
    return n * n * n


@pystage.compile
def report(x):
    print(x)
    return x


@pystage.compile
def mark(x):
    x.ravel()[0] = 1.0
    return x


@pystage.compile(fallback="error")
def middle(x, n):
    return np.broadcast_to(x, (n, x.size))[n // 2]
