"""Functions that are explained: what the tests say of their lines stands in `test_explanation.py`."""

import os
import random
import time
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

import pystage


def helper(v, w):
    s = 0.0
    for i in range(len(v)):
        s += v[i] * w
    return s


@dataclass
class Model:
    weights: list

    def __call__(self, x):
        for w in self.weights:
            x = np.tanh(x @ w)
        return x


@pystage.compile
def run(model, x, mode="fast"):
    y = model(x)
    if mode == "slow":
        print("slow")
    z = jnp.linalg.qr(jnp.asarray(y))[0]
    return z, helper(y[0], 2.0) + helper(y[:, 0], 3)


def rolled(x: "f32[n]"):  # noqa: F821
    total = 0
    for i in range(len(x)):
        total = total + x[i]
    return total


def appends(x):
    rows = []
    for i in range(10):
        if x[i] > 0:
            rows.append(x[i])
    return rows


def timed(x):
    start = time.time()
    return x * 2, start


def noisy(x, k=3):
    return x + random.random() * k


def unassigned(x):
    for i in range(len(x)):
        if x[i] > 0:
            y = x[i] * 2
    return y


def unassigned_row(x):
    while x.sum() < 3:
        row = x * 2
        x = x + row
    return row


def asks_often(x):
    return x + os.getpid() + os.getpid()


def twice(x):
    first = time.time()
    return x.astype("M8[s]") + first


def raises(x):
    if x.sum() > 3:
        raise ValueError("too large")
    return x


def product(x, w):
    return x @ w


def peeled(x):
    total = None
    for _ in range(3):
        if total is None:
            total = x
        else:
            total = total + x
    return total


def of_two_kinds(x, k):
    if k > 1:
        y = 1
    else:
        y = 2.0
    z = y * 2
    return z


def copies(x):
    if x[0] > 0:
        raise ValueError("positive")
    y = x.copy()
    return y


def stores(x):
    x += 1
    return x
