"""Functions that are explained: what the tests say of their lines stands in `test_explanation.py`."""

import logging
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
            rows.append(f"{x[i]}")
    return rows


def timed(x):
    start = time.time()
    return x * 2, start


def noisy(x, k=3):
    return x + random.random() * k


def asks_often(x):
    return x + os.getpid() + os.getpid()


def twice(x):
    first = time.time()
    return x.astype("M8[s]") + first


def raises(x):
    if x.sum() > 3:
        raise ValueError("too large")
    return x


def sum_of_parts(x, w):
    both = np.concatenate([x, x])
    return both + w


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


def behind_a_branch(x):
    if time.time() > 3:
        return np.roots(x)
    elif x.sum() > 1:
        y = time.time()
    else:
        y = np.roots(x)
    return y


def behind_a_loop(x):
    total = 0.0
    for v in np.roots(x):
        total += v
        if v > 3:
            total *= time.time()
    while total < 3:
        total += time.time()
    return total


def behind_a_with(x):
    with open("numbers.txt") as file:
        values = np.roots(x)
        file.write(str(values))
    return np.roots(x)


def behind_a_return(x):
    for v in np.roots(x):
        if v > 3:
            return time.time()
    return x


def lost_in_a_container(x):
    seen, d = [], {"a": 0.0}
    for i in range(3):
        seen.append(time.time())
        d["a"] = seen[i]
    if x.sum() > 0:
        d["a"] = seen[0] * x
    return d["a"] + x, np.array(seen), seen[2]


LOG = logging.getLogger(__name__)


def fitted(x):
    w = 0.0
    for _ in range(3):
        w = w + x.mean()
        LOG.info("w is %s", w)
    return w


def calls_what_logs(x):
    return fitted(x) * 2


def logs_beside_a_statement(x):
    y = x * 2; LOG.info("beside")  # fmt: skip # noqa: E702
    return y


def times_and_logs(x):
    start = time.time()
    LOG.info("began")
    y = x * 2
    LOG.info("took %.3f s", time.time() - start)
    return y


def reads_a_clock_in_a_loop(x):
    for _ in range(3):
        began = time.time()
    return x, began


def keeps_what_a_clock_says(x):
    seen = []
    seen.append(time.time())
    return x, seen


def generated(x):
    try:
        for v in x:
            yield 2 * v
    finally:
        pass


def in_a_pass_that_is_dropped(x):
    history = []
    for _ in range(4):
        began = time.time()
        for v in generated(x):
            x = x + v
        history.append(x[0])
        if x[0] > 9:
            break
    return np.array(history), began


counted = 0


def counts_its_calls(x):
    global counted
    counted += 1
    last = None
    for i in [0, 1]:
        k = i + 1
        last = k
        x = x[k:]
    return x, last


def logs_what_changes(x):
    kept = [1.0, 2.0]
    LOG.info("%d %s", len(kept), kept.pop())
    return x * sum(kept)


def inverts(x):
    return np.linalg.pinv(x)
