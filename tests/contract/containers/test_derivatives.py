"""Derivatives through what containers hold."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pystage
import pytest

K = np.array([3, 1, 3, 2, 1, 7])
V = np.arange(1.0, 7.0)


def by_key(keys, vals):
    d = defaultdict(float)
    for i in range(len(keys)):
        d[int(keys[i])] += vals[i] ** 2
    total = 0.0
    for key, x in d.items():
        total += key * x
    return total + sum([x for x in d.values()], 0.0)


def counted(keys, vals):
    c = Counter()
    for i in range(len(keys)):
        c[int(keys[i])] += vals[i] * vals[0]
    return c.most_common(1)[0][1] + c.total() + c[50]


def by_heap(keys, vals):
    heap = []
    for i in range(len(keys)):
        heapq.heappush(heap, (float(vals[i] * keys[i]), i))
    total, n = 0.0, 1.0
    while heap:
        total += n * heapq.heappop(heap)[0]
        n += 1
    return total


def by_deque(keys, vals):
    q = deque(maxlen=4)
    total = 0.0
    for i in range(len(keys)):
        q.append(vals[i] * vals[i])
        if keys[i] == 1:
            total += q.popleft()
    for x in q:
        total += 3 * x
    return total


def nearest(keys, vals):
    left = {int(k) for k in keys}
    return vals[min(left, key=lambda k: abs(vals[k % 6] - 4.2)) % 6] ** 2


@pytest.mark.parametrize("function", [by_key, counted, by_heap, by_deque, nearest])
def test_gradients(function: Callable[..., Any]) -> None:
    steps = 1e-6 * np.eye(len(V))
    differences = [(function(K, V + step) - function(K, V - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(pystage.grad(function, argnums=1)(K, V), differences, rtol=1e-5, atol=1e-5)
