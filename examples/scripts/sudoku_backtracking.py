"""Solves sudokus by recursion on the cell with the fewest candidates; counts the guesses each puzzle takes."""

import numpy as np


class Sudoku:
    def __init__(self, grid):
        self.grid = grid.copy()
        self.rows = [set(range(1, 10)) - set(r) for r in grid.tolist()]
        self.cols = [set(range(1, 10)) - set(c) for c in grid.T.tolist()]
        self.boxes = [set(range(1, 10)) for _ in range(9)]
        for r in range(9):
            for c in range(9):
                self.boxes[3 * (r // 3) + c // 3].discard(int(grid[r, c]))
        self.guesses = 0

    def candidates(self, r, c):
        return self.rows[r] & self.cols[c] & self.boxes[3 * (r // 3) + c // 3]

    def most_constrained(self):
        best = None
        best_options = None
        for r, c in zip(*np.where(self.grid == 0)):
            options = self.candidates(r, c)
            if best is None or len(options) < len(best_options):
                best, best_options = (r, c), options
                if len(options) <= 1:
                    break
        return best, best_options

    def solve(self):
        cell, options = self.most_constrained()
        if cell is None:
            return True
        r, c = cell
        b = 3 * (r // 3) + c // 3
        if len(options) > 1:
            self.guesses += len(options) - 1
        for v in sorted(options):
            self.grid[r, c] = v
            for unit in (self.rows[r], self.cols[c], self.boxes[b]):
                unit.remove(v)
            if self.solve():
                return True
            self.grid[r, c] = 0
            for unit in (self.rows[r], self.cols[c], self.boxes[b]):
                unit.add(v)
        return False


def valid(grid):
    want = np.arange(1, 10)
    for k in range(9):
        box = grid[3 * (k // 3) : 3 * (k // 3) + 3, 3 * (k % 3) : 3 * (k % 3) + 3]
        if any(not np.array_equal(np.sort(unit, axis=None), want) for unit in (grid[k], grid[:, k], box)):
            return False
    return True


def main(puzzles):
    solutions = np.zeros_like(puzzles)
    guesses = []
    for k, p in enumerate(puzzles):
        s = Sudoku(p)
        if not s.solve() or not valid(s.grid):
            guesses.append(-1)
            continue
        solutions[k] = s.grid
        guesses.append(s.guesses)
    return solutions, guesses


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    base = np.array([[(3 * (r % 3) + r // 3 + c) % 9 for c in range(9)] for r in range(9)])
    puzzles = []
    for _ in range(6):
        digits = rng.permutation(9) + 1
        rows = np.concatenate([3 * b + rng.permutation(3) for b in rng.permutation(3)])
        cols = np.concatenate([3 * b + rng.permutation(3) for b in rng.permutation(3)])
        full = digits[base][rows][:, cols]
        full[rng.random((9, 9)) < 0.62] = 0
        puzzles.append(full)
    return (np.array(puzzles),)


if __name__ == "__main__":
    solutions, guesses = main(*inputs())
    print(solutions[0])
    print("guesses", guesses)
