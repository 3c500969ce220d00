"""The Mandelbrot set, all points at once: masks say which of them still move.

Source: N. P. Rougier, From Python to Numpy (2017), section 4.3 (doi:10.5281/zenodo.225783).
"""

from __future__ import annotations

import numpy as np


def mandelbrot_arrays(xs, ys, limit):
    """After how many steps each point leaves the circle of radius 2, int64, and where it was then, complex."""
    c = xs[None, :] + ys[:, None] * 1j
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 <= 4.0
        if not inside.any():
            break
        z[inside] = z[inside] ** 2 + c[inside]
        counts[inside] += 1
    return counts, z


def inputs(size):
    """`size` columns and two thirds as many rows."""
    return np.linspace(-2.003, 0.507, size), np.linspace(-1.001, 0.999, 2 * size // 3), 10 + size // 2


PROGRAMS = [(mandelbrot_arrays, lambda: inputs(9)), (mandelbrot_arrays, lambda: inputs(14))]
"""What the tests run: a function, and what makes its arguments."""
