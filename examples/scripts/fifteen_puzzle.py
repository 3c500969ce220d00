"""The sliding puzzle by IDA*: Manhattan distance with linear conflicts, the moves of an optimal solution."""

import math

import numpy as np

N = 4
GOAL = (*range(1, N * N), 0)
MOVES = {"U": -N, "D": N, "L": -1, "R": 1}
OPPOSITE = {"U": "D", "D": "U", "L": "R", "R": "L"}


def manhattan(tiles):
    total = 0
    for pos, t in enumerate(tiles):
        if t:
            total += abs(pos // N - (t - 1) // N) + abs(pos % N - (t - 1) % N)
    return total


def longest_increasing(line):
    best = [1] * len(line)
    for i in range(len(line)):
        for j in range(i):
            if line[j] < line[i]:
                best[i] = max(best[i], best[j] + 1)
    return max(best, default=0)


def linear_conflicts(tiles):
    # tiles of a line that are in it but out of order have to leave it and come back
    extra = 0
    for k in range(N):
        row = [t for t in tiles[k * N : k * N + N] if t and (t - 1) // N == k]
        col = [t for t in tiles[k::N] if t and (t - 1) % N == k]
        for line in (row, col):
            extra += 2 * (len(line) - longest_increasing(line))
    return extra


def solvable(tiles):
    inversions = sum(
        1 for i in range(N * N) for j in range(i + 1, N * N) if tiles[i] and tiles[j] and tiles[i] > tiles[j]
    )
    blank_row = tiles.index(0) // N
    return (inversions + blank_row) % 2 == 1


def ida_star(start):
    tiles = list(start)
    path = []
    nodes = 0

    def search(blank, g, bound, last):
        nonlocal nodes
        nodes += 1
        h = manhattan(tiles)
        if h == 0:
            return True
        f = g + h + linear_conflicts(tiles)
        if f > bound:
            return f
        smallest = math.inf
        for name, delta in MOVES.items():
            if last is not None and name == OPPOSITE[last]:
                continue
            new = blank + delta
            if new < 0 or new >= N * N or (delta in (-1, 1) and new // N != blank // N):
                continue
            tiles[blank], tiles[new] = tiles[new], tiles[blank]
            path.append(name)
            result = search(new, g + 1, bound, name)
            if result is True:
                return True
            smallest = min(smallest, result)
            path.pop()
            tiles[blank], tiles[new] = tiles[new], tiles[blank]
        return smallest

    bound = manhattan(tiles)
    while True:
        result = search(tiles.index(0), 0, bound, None)
        if result is True:
            return "".join(path), nodes
        bound = result


def main(boards):
    lengths = []
    counts = {"U": 0, "D": 0, "L": 0, "R": 0}
    total = 0
    for board in boards:
        start = tuple(int(t) for t in board.ravel())
        if not solvable(start):
            lengths.append(-1)
            continue
        path, nodes = ida_star(start)
        lengths.append(len(path))
        total += nodes
        for m in path:
            counts[m] += 1
    return np.array(lengths), total, counts


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    boards = []
    for _ in range(4):
        tiles = list(GOAL)
        blank = N * N - 1
        for _ in range(80):
            r, c = divmod(blank, N)
            dr, dc = [(0, 1), (1, 0), (0, -1), (-1, 0)][rng.integers(4)]
            if 0 <= r + dr < N and 0 <= c + dc < N:
                new = (r + dr) * N + c + dc
                tiles[blank], tiles[new] = tiles[new], tiles[blank]
                blank = new
        boards.append(np.array(tiles).reshape(N, N))
    boards[-1][0, [0, 1]] = boards[-1][0, [1, 0]]
    return (np.array(boards),)


if __name__ == "__main__":
    lengths, nodes, counts = main(*inputs())
    print("lengths", lengths, "nodes", nodes, counts)
