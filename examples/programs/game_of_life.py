"""Conway's Game of Life on a torus, cell by cell.

Source: M. Gardner, "The fantastic combinations of John Conway's new solitaire game 'life'", Scientific
American 223 (1970), 120–123.
"""

from __future__ import annotations

import numpy as np


def neighbours(board, i, j):
    """How many of the eight cells around a cell are alive."""
    n, m = board.shape
    count = 0
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            if di == 0 and dj == 0:
                continue
            count += board[(i + di) % n, (j + dj) % m]
    return count


def life(board, generations):
    """Plays on the board in place; how many cells were alive in each generation."""
    n, m = board.shape
    alive = np.zeros(generations, dtype=np.int64)
    for generation in range(generations):
        new = np.zeros_like(board)
        for i in range(n):
            for j in range(m):
                count = neighbours(board, i, j)
                new[i, j] = 1 if count == 3 or (board[i, j] and count == 2) else 0
        board[:] = new
        alive[generation] = board.sum()
    return alive


def inputs(size):
    """A board of `size` by `size` with a glider and some noise."""
    board = (np.random.default_rng(2).random((size, size)) < 0.3).astype(np.uint8)
    board[:3, :3] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
    return board, size


PROGRAMS = [(life, lambda: inputs(6)), (life, lambda: inputs(9))]
"""What the tests run: a function, and what makes its arguments."""
