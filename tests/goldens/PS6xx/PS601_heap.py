import heapq

import numpy as np


def f(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, x)
    return heapq.heappop(heap)


def rewritten(xs):
    keys = np.array(xs)
    return keys[np.argmin(keys)]


arguments = ([2.0, 1.0],)
