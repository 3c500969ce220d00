"""Bodies that attract each other: the leapfrog method with softened gravity, pair by pair.

Source: S. J. Aarseth, Gravitational N-Body Simulations (Cambridge, 2003), section 2.1; the loop over pairs is
that of the n-body program of the Computer Language Benchmarks Game.
"""

from __future__ import annotations

import numpy as np

SOFTENING = 0.05


def accelerations(positions, masses, result):
    """Writes the acceleration of each body into `result`; each pair is met once."""
    n = len(masses)
    result[:] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dx = positions[j, 0] - positions[i, 0]
            dy = positions[j, 1] - positions[i, 1]
            dz = positions[j, 2] - positions[i, 2]
            squared = dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING
            inverse = 1.0 / (squared * np.sqrt(squared))
            result[i, 0] += masses[j] * inverse * dx
            result[i, 1] += masses[j] * inverse * dy
            result[i, 2] += masses[j] * inverse * dz
            result[j, 0] -= masses[i] * inverse * dx
            result[j, 1] -= masses[i] * inverse * dy
            result[j, 2] -= masses[i] * inverse * dz


def energy(positions, velocities, masses):
    """Kinetic and potential energy."""
    total = 0.0
    for i in range(len(masses)):
        total += 0.5 * masses[i] * np.sum(velocities[i] ** 2)
        for j in range(i):
            apart = positions[i] - positions[j]
            total -= masses[i] * masses[j] / np.sqrt(np.sum(apart * apart) + SOFTENING * SOFTENING)
    return total


def nbody(positions, velocities, masses, dt, steps):
    """Moves the bodies in place; the energy before and after."""
    before = energy(positions, velocities, masses)
    pull = np.zeros_like(positions)
    accelerations(positions, masses, pull)
    for _ in range(steps):
        velocities += 0.5 * dt * pull
        positions += dt * velocities
        accelerations(positions, masses, pull)
        velocities += 0.5 * dt * pull
    return before, energy(positions, velocities, masses)


def inputs(size):
    """`size` bodies in a cloud, for `size` steps."""
    rng = np.random.default_rng(1)
    positions = rng.standard_normal((size, 3))
    velocities = 0.3 * rng.standard_normal((size, 3))
    return positions, velocities, rng.uniform(0.5, 1.5, size) / size, 0.01, size


PROGRAMS = [(nbody, lambda: inputs(5)), (nbody, lambda: inputs(8))]
"""What the tests run: a function, and what makes its arguments."""
