"""A sparse matrix in compressed rows times a vector, and conjugate gradients with it.

Source: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. (SIAM, 2003), sections 3.4 and 6.7.
"""

from __future__ import annotations

import numpy as np


def product(values, columns, starts, x):
    """The product of the matrix with `x`."""
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return y


def conjugate_gradients(values, columns, starts, b, tolerance):
    """Solves `A x = b` for a symmetric positive definite matrix; the solution and the number of steps."""
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    squared = r @ r
    steps = 0
    while squared > tolerance**2 and steps < 2 * len(b):
        ap = product(values, columns, starts, p)
        alpha = squared / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / squared) * p
        squared = new
        steps += 1
    return x, steps


def inputs(size):
    """The matrix of a chain with springs of several strengths, as its values, their columns, and where rows start."""
    values, columns, starts = [], [], [0]
    for i in range(size):
        for j, value in ((i - 1, -1.0), (i, 2.5 + 0.1 * (i % 3)), (i + 1, -1.0)):
            if 0 <= j < size:
                values.append(value)
                columns.append(j)
        starts.append(len(values))
    b = np.sin(np.arange(size))
    return np.array(values), np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int32), b, 1e-6


PROGRAMS = [
    (product, lambda: inputs(6)[:4]),
    (product, lambda: inputs(13)[:4]),
    (conjugate_gradients, lambda: inputs(6)),
    (conjugate_gradients, lambda: inputs(13)),
]
"""What the tests run: a function, and what makes its arguments."""
