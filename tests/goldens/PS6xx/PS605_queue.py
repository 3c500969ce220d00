from collections import deque

import numpy as np


def f(adjacent):
    reached = np.zeros(len(adjacent), bool)
    reached[0] = True
    queue = deque([0])
    while queue:
        v = queue.popleft()
        for u in range(len(adjacent)):
            if adjacent[v, u] and not reached[u]:
                reached[u] = True
                queue.append(u)
    return reached


def rewritten(adjacent):
    reached = np.zeros(len(adjacent), bool)
    reached[0] = True
    queue = np.zeros(len(adjacent), int)
    first, end = 0, 1
    while first < end:
        v = queue[first]
        first += 1
        for u in range(len(adjacent)):
            if adjacent[v, u] and not reached[u]:
                reached[u] = True
                queue[end] = u
                end += 1
    return reached


arguments = (np.eye(5, k=1, dtype=bool),)
