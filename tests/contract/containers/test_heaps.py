"""`heapq` over lists whose elements, and mostly whose length, only the run knows."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 7.0, -4.0, 2.5])
RNG = np.random.default_rng(4)
SIZES = [(X[:0],), (X[:1],), (X[:2],), (X,), (RNG.integers(0, 40, 100).astype(float),)]


@cases.each(*SIZES)
def pushed(a):
    heap = []
    for x in a:
        heapq.heappush(heap, float(x))
    return heap


@cases.each(*SIZES)
def pushed_and_popped(a):
    heap = []
    taken = []
    for i, x in enumerate(a):
        heapq.heappush(heap, (float(x), i))
        if x > 2.0:
            taken.append(heapq.heappop(heap))
    rest = [heapq.heappop(heap) for _ in range(len(heap) // 2)]
    return heap, taken, rest


@cases.each(*SIZES)
def sorted_by_a_heap(a):
    heap = [float(x) for x in a if x > -10]
    heapq.heapify(heap)
    before = heap[:]
    found = []
    while heap:
        found.append(heapq.heappop(heap))
    return before, found, heap


@cases.each((X,), (X[:1],))
def of_known_length(a):
    heap = [a[i] * 2 for i in range(len(a))]
    heapq.heapify(heap)
    heapq.heappush(heap, a[0])
    return heap, heapq.heappop(heap), heap


@cases()
def all_known():
    heap = [5, 2, 8, 1]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    return heap[:], heapq.heappop(heap), heap


@cases.each((X,), (X[:2],))
def replaced(a):
    heap = [float(x) for x in a if x < 100]
    heapq.heapify(heap)
    first = heapq.heapreplace(heap, 2.25)
    second = heapq.heappushpop(heap, 100.0)
    third = heapq.heappushpop(heap, -100.0)
    return first, second, third, heap, heapq.heappushpop([], 5.0)


@cases.each(*SIZES)
def extremes(a):
    rows = [(float(x), i) for i, x in enumerate(a) if x > 1.5]
    n = int(len(rows) // 2)
    return (
        heapq.nsmallest(3, a.tolist()),
        heapq.nlargest(2, rows),
        heapq.nsmallest(n, rows, key=lambda r: r[0]),
        heapq.nlargest(n, rows, key=lambda r: r[0]),
        heapq.nlargest(0, rows),
        heapq.nsmallest(-1, rows),
        heapq.nlargest(1, [1, 1.0, True]),
    )


@cases.each((X,), (X[3:],))
def ints_and_floats(a):
    heap = []
    for x in a:
        if x > 2:
            heapq.heappush(heap, int(x))
        else:
            heapq.heappush(heap, float(x))
    return heap, heapq.heappop(heap)


@cases.each((X,))
def the_list_is_the_same(a):
    heap = [1.5]
    other = heap
    for x in a:
        heapq.heappush(other, x)
    return heap is other, heap, len(other)


@cases.each((X, [4.0, 5.0]), (X[:1], [1.0, 2.0, 3.0]))
def of_the_caller(a, heap):
    for x in a:
        heapq.heappush(heap, float(x))
    return heapq.heappop(heap)


@cases.each((X[:0],), raises=IndexError)
def pop_of_an_empty_heap(a):
    heap = [float(x) for x in a if x > 0]
    return heapq.heappop(heap)


@cases.each((X,), raises=IndexError)
def popped_too_often(a):
    heap = [float(x) for x in a if x > 2]
    out = []
    for _ in a:
        out.append(heapq.heapreplace(heap, 3.0))
        heapq.heappop(heap)
    return out


@cases.each((X,), raises=TypeError)
def no_list(a):
    heapq.heappush((), a[0])


@cases.each((X,), raises=TypeError)
def no_list_either(a):
    heapq.heapify({"x": a[0]})


@cases.each((X, True), (X, False))
def caught(a, empty):
    heap = [] if empty else [a[0]]
    try:
        found = heapq.heappop(heap)
    except IndexError:
        found = -1.0
    return found


EDGES = RNG.integers(0, 12, (40, 2))
WEIGHTS = RNG.random(40)


@cases.each((EDGES, WEIGHTS, 12), (EDGES[:0], WEIGHTS[:0], 2))
def shortest_routes(edges, weights, n):
    dist = {0: 0.0}
    seen = set()
    queue = [(0.0, 0)]
    while queue:
        d, u = heapq.heappop(queue)
        if u in seen:
            continue
        seen.add(u)
        for k in range(len(edges)):
            if int(edges[k, 0]) == u:
                v = int(edges[k, 1])
                further = d + float(weights[k])
                if further < dist.get(v, math.inf):
                    dist[v] = further
                    heapq.heappush(queue, (further, v))
    return dist


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_a_heap_is_as_in_the_plain_run(program, args, options):
    check(program, *args, **options)


def random_operations(ops, values):
    heap = []
    taken = []
    for k in range(len(ops)):
        x = (int(values[k]), k % 5)
        if ops[k] == 0 or len(heap) == 0:
            heapq.heappush(heap, x)
        elif ops[k] == 1:
            taken.append(heapq.heappop(heap))
        elif ops[k] == 2:
            taken.append(heapq.heapreplace(heap, x))
        elif ops[k] == 3:
            taken.append(heapq.heappushpop(heap, x))
        else:
            heap.reverse()
            heapq.heapify(heap)
    return heap, taken


@pytest.mark.parametrize("seed", range(4))
def test_random_operations(seed):
    rng = np.random.default_rng(seed)
    ops = np.where(rng.random(300) < 0.4, 0, rng.integers(0, 5, 300))
    check(random_operations, ops, rng.integers(0, 30, 300), interpreted=False)
