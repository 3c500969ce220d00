"""Maximum flow through a pipe network (Edmonds-Karp on a capacity matrix) and the minimum cut that proves it."""

from collections import deque

import numpy as np


def bfs(residual, s, t, parent):
    n = len(residual)
    visited = np.zeros(n, dtype=bool)
    visited[s] = True
    queue = deque([s])
    while queue:
        u = queue.popleft()
        for v in np.flatnonzero((residual[u] > 0) & ~visited):
            visited[v] = True
            parent[v] = u
            if v == t:
                return True
            queue.append(v)
    return False


def max_flow(capacity, s, t):
    residual = capacity.copy()
    parent = np.full(len(capacity), -1)
    flow = 0
    rounds = 0
    while bfs(residual, s, t, parent):
        push = np.inf
        v = t
        while v != s:
            u = parent[v]
            push = min(push, residual[u, v])
            v = u
        v = t
        while v != s:
            u = parent[v]
            residual[u, v] -= push
            residual[v, u] += push
            v = u
        flow += push
        rounds += 1
    return flow, residual, rounds


def reachable(residual, s):
    seen = np.zeros(len(residual), dtype=bool)
    todo = [s]
    while todo:
        u = todo.pop()
        if seen[u]:
            continue
        seen[u] = True
        todo.extend(v for v in range(len(residual)) if residual[u, v] > 0 and not seen[v])
    return seen


def main(capacity, s, t):
    flow, residual, rounds = max_flow(capacity, s, t)
    side = reachable(residual, s)
    cut = [(u, v) for u in np.flatnonzero(side) for v in np.flatnonzero(~side) if capacity[u, v] > 0]
    cut_value = sum(capacity[u, v] for u, v in cut)
    assert flow == cut_value
    return flow, rounds, np.array(cut), np.maximum(capacity - residual, 0)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 150
    cap = np.where(rng.random((n, n)) < 0.1, rng.integers(1, 20, (n, n)), 0)
    np.fill_diagonal(cap, 0)
    cap[:, 0] = 0
    cap[-1] = 0
    return cap, 0, n - 1


if __name__ == "__main__":
    flow, rounds, cut, _ = main(*inputs())
    print("flow", flow, "after", rounds, "paths; cut of", len(cut))
