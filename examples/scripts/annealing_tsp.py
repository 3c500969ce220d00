"""A salesman's tour by nearest neighbour, simulated annealing over 2-opt moves, and a final descent."""

import math
import random

import numpy as np


def distance_matrix(xy):
    diff = xy[:, np.newaxis, :] - xy[np.newaxis, :, :]
    return np.sqrt((diff**2).sum(axis=2))


def tour_length(tour, D):
    return sum(D[tour[i - 1], tour[i]] for i in range(len(tour)))


def nearest_neighbour(D, start=0):
    n = len(D)
    unvisited = set(range(n))
    tour = [start]
    unvisited.remove(start)
    while unvisited:
        nxt = min(unvisited, key=lambda j: D[tour[-1], j])
        unvisited.remove(nxt)
        tour.append(nxt)
    return tour


def delta(tour, D, i, j):
    a, b = tour[i - 1], tour[i]
    c, d = tour[j], tour[(j + 1) % len(tour)]
    return D[a, c] + D[b, d] - D[a, b] - D[c, d]


def anneal(tour, D, temp, cooling, moves, coldest):
    random.seed(12345)
    n = len(tour)
    tour = tour[:]
    length = tour_length(tour, D)
    best, best_length = tour[:], length
    history = []
    while temp > coldest:
        for _ in range(moves):
            i = random.randrange(1, n - 1)
            j = random.randrange(i + 1, n)
            d = delta(tour, D, i, j)
            if d < 0 or random.random() < math.exp(-d / temp):
                tour[i : j + 1] = reversed(tour[i : j + 1])
                length += d
                if length < best_length - 1e-12:
                    best, best_length = tour[:], length
        history.append(length)
        temp *= cooling
    return best, history


def two_opt(tour, D):
    improved = True
    rounds = 0
    while improved:
        improved = False
        rounds += 1
        for i in range(1, len(tour) - 1):
            for j in range(i + 1, len(tour)):
                if delta(tour, D, i, j) < -1e-10:
                    tour[i : j + 1] = tour[i : j + 1][::-1]
                    improved = True
    return tour, rounds


def main(cities):
    D = distance_matrix(cities)
    greedy = nearest_neighbour(D)
    annealed, history = anneal(greedy, D, temp=0.3, cooling=0.93, moves=300, coldest=2e-3)
    final, rounds = two_opt(annealed, D)
    return final, tour_length(greedy, D), tour_length(final, D), history, rounds


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((50, 2)),)


if __name__ == "__main__":
    tour, before, after, history, rounds = main(*inputs())
    print(f"{before:.4f} -> {after:.4f}, {rounds} rounds of 2-opt")
