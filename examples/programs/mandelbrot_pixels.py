"""The Mandelbrot set, point by point: complex numbers, a `while` and a `break`.

Source: H.-O. Peitgen, P. H. Richter, The Beauty of Fractals (Springer, 1986), section 4.
"""

from __future__ import annotations

import numpy as np


def mandelbrot_pixels(xs, ys, limit):
    """After how many steps each point `xs[j] + ys[i]·i` leaves the circle of radius 2; int64 `[len(ys), len(xs)]`."""
    counts = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            c = complex(x, y)
            z = 0j
            count = 0
            while count < limit:
                z = z * z + c
                if z.real * z.real + z.imag * z.imag > 4.0:
                    break
                count += 1
            counts[i, j] = count
    return counts


def inputs(size):
    """`size` columns and two thirds as many rows."""
    return np.linspace(-2.003, 0.507, size), np.linspace(-1.001, 0.999, 2 * size // 3), 20 + size


PROGRAMS = [(mandelbrot_pixels, lambda: inputs(9)), (mandelbrot_pixels, lambda: inputs(14))]
"""What the tests run: a function, and what makes its arguments."""
