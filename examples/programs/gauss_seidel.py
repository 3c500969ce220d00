"""Poisson's equation by Gauss–Seidel with over-relaxation: each new value is used at once, in place.

Source: W. H. Press et al., Numerical Recipes, 3rd ed. (Cambridge, 2007), section 20.5.
"""

from __future__ import annotations

import numpy as np


def gauss_seidel(u, f, h, omega, sweeps):
    """Sweeps over the grid `u` in place; the residual's norm after each sweep."""
    n, m = u.shape
    norms = np.zeros(sweeps)
    for sweep in range(sweeps):
        total = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                residual = (
                    u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j] - h * h * f[i, j]
                )
                u[i, j] += omega * residual / 4.0
                total += residual**2
        norms[sweep] = np.sqrt(total)
    return norms


def inputs(size):
    """A square of `size` by `size` with a charge in it."""
    f = np.zeros((size, size))
    f[size // 2, size // 3] = -1.0
    return np.zeros((size, size)), f, 1.0 / (size - 1), 1.5, size


PROGRAMS = [(gauss_seidel, lambda: inputs(6)), (gauss_seidel, lambda: inputs(9))]
"""What the tests run: a function, and what makes its arguments."""
