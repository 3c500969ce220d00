"""0/1 knapsack three ways: greedy by density, exact by branch and bound with the fractional relaxation, exact by tables."""

import heapq

import numpy as np


def greedy(values, weights, capacity):
    order = np.argsort(-values / weights, kind="stable")
    total, used = 0, 0
    for i in order:
        if used + weights[i] <= capacity:
            used += weights[i]
            total += values[i]
    return int(total)


def upper_bound(k, value, weight, values, weights, capacity):
    bound = float(value)
    room = capacity - weight
    while k < len(values):
        if weights[k] > room:
            return bound + values[k] * room / weights[k]
        room -= weights[k]
        bound += values[k]
        k += 1
    return bound


def branch_and_bound(values, weights, capacity):
    order = np.argsort(-values / weights, kind="stable")
    v = values[order].tolist()
    w = weights[order].tolist()
    best, best_items = 0, ()
    expanded = 0
    heap = [(-upper_bound(0, 0, 0, v, w, capacity), 0, 0, 0, ())]
    while heap:
        bound, k, value, weight, items = heapq.heappop(heap)
        if -bound <= best:
            break
        if k == len(v):
            continue
        expanded += 1
        if weight + w[k] <= capacity:
            taken = (*items, k)
            if value + v[k] > best:
                best, best_items = value + v[k], taken
            b = upper_bound(k + 1, value + v[k], weight + w[k], v, w, capacity)
            if b > best:
                heapq.heappush(heap, (-b, k + 1, value + v[k], weight + w[k], taken))
        b = upper_bound(k + 1, value, weight, v, w, capacity)
        if b > best:
            heapq.heappush(heap, (-b, k + 1, value, weight, items))
    return best, sorted(int(order[i]) for i in best_items), expanded


def dynamic(values, weights, capacity):
    n = len(values)
    best = np.zeros((n + 1, capacity + 1), dtype=int)
    for i in range(1, n + 1):
        w, v = weights[i - 1], values[i - 1]
        best[i] = best[i - 1]
        best[i, w:] = np.maximum(best[i - 1, w:], best[i - 1, : capacity + 1 - w] + v)
    chosen = []
    c = capacity
    for i in range(n, 0, -1):
        if best[i, c] != best[i - 1, c]:
            chosen.append(i - 1)
            c -= weights[i - 1]
    return int(best[n, capacity]), chosen[::-1], int(capacity - c)


def main(values, weights, capacity):
    quick = greedy(values, weights, capacity)
    exact, items, expanded = branch_and_bound(values, weights, capacity)
    table, chosen, used = dynamic(values, weights, capacity)
    if exact != table:
        raise AssertionError(f"{exact} by branching, {table} by tables")
    return quick, exact, items, chosen, used, expanded


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.integers(10, 100, 300)
    values = weights + rng.integers(-8, 25, 300)
    return values, weights, int(weights.sum() // 3)


if __name__ == "__main__":
    quick, exact, items, chosen, used, expanded = main(*inputs())
    print(f"greedy {quick}, optimum {exact} with {len(items)} items, {expanded} nodes")
