"""Laplace's equation on a square by Jacobi's method: sweeps from one grid into another until they agree.

Source: W. H. Press et al., Numerical Recipes, 3rd ed. (Cambridge, 2007), section 20.5.1.
"""

from __future__ import annotations

import numpy as np


def jacobi(u, tolerance, limit):
    """Relaxes the inside of the grid `u` in place, its edges held; how many sweeps it took, and the last change."""
    n, m = u.shape
    new = u.copy()
    change = 2.0 * tolerance
    sweeps = 0
    while change > tolerance and sweeps < limit:
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(new[i, j] - u[i, j]))
        u[1:-1, 1:-1] = new[1:-1, 1:-1]
        sweeps += 1
    return sweeps, change


def inputs(size):
    """A square of `size` by `size` whose top is hot."""
    u = np.zeros((size, size))
    u[0] = 1.0
    return u, 1e-4, 10 * size


PROGRAMS = [(jacobi, lambda: inputs(6)), (jacobi, lambda: inputs(11))]
"""What the tests run: a function, and what makes its arguments."""
