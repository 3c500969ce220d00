"""The heat equation in two dimensions, explicit in time and centred in space, with slices.

Source: K. W. Morton, D. F. Mayers, Numerical Solution of Partial Differential Equations, 2nd ed. (Cambridge,
2005), section 3.1.
"""

from __future__ import annotations

import numpy as np


def heat(u, conductivity, dx, dt, steps):
    """Steps the temperatures `u` in place, the edges insulated; the mean temperature after each step."""
    r = conductivity * dt / dx**2
    means = np.empty(steps)
    for step in range(steps):
        inside = u[1:-1, 1:-1]
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inside
        u[1:-1, 1:-1] = inside + r * flow
        u[0, :] = u[1, :]
        u[-1, :] = u[-2, :]
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
        means[step] = u.mean()
    return means


def inputs(size):
    """A plate of `size` by `size` with a hot spot."""
    x = np.linspace(-1.0, 1.0, size)
    u = np.exp(-10 * (x[:, None] ** 2 + (x[None, :] - 0.3) ** 2))
    dx = 2.0 / (size - 1)
    return u, 0.7, dx, 0.2 * dx * dx / 0.7, 3 * size


PROGRAMS = [(heat, lambda: inputs(7)), (heat, lambda: inputs(12))]
"""What the tests run: a function, and what makes its arguments."""
