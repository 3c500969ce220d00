"""A Hopfield network: patterns stored in the weights, and one of them recalled from a damaged copy.

Source: J. J. Hopfield, "Neural networks and physical systems with emergent collective computational
abilities", PNAS 79 (1982), 2554–2558.
"""

from __future__ import annotations

import numpy as np


def learn(patterns):
    """Hebb's weights of patterns of -1 and 1, `[patterns, neurons]`."""
    count, n = patterns.shape
    weights = np.zeros((n, n))
    for p in range(count):
        weights += np.outer(patterns[p], patterns[p])
    np.fill_diagonal(weights, 0.0)
    return weights / n


def recall(weights, state, order, limit):
    """Lets neurons follow their inputs, one at a time, until none changes; how many rounds that took."""
    for rounds in range(limit):
        changed = False
        for i in order:
            new = 1.0 if weights[i] @ state >= 0.0 else -1.0
            if new != state[i]:
                state[i] = new
                changed = True
        if not changed:
            return rounds
    return limit


def hopfield(patterns, damaged, order):
    """The pattern recalled, in place of `damaged`; the rounds, and which pattern it is (-1: none)."""
    weights = learn(patterns)
    rounds = recall(weights, damaged, order, 20)
    for p in range(len(patterns)):
        if np.all(patterns[p] == damaged):
            return rounds, p
    return rounds, -1


def inputs(size):
    """Three patterns of `size` neurons, a damaged copy of the second, and the order in which neurons change."""
    rng = np.random.default_rng(8)
    patterns = np.where(rng.random((3, size)) < 0.5, -1.0, 1.0)
    damaged = patterns[1].copy()
    damaged[: size // 6] *= -1.0
    return patterns, damaged, rng.permutation(size)


PROGRAMS = [(hopfield, lambda: inputs(13)), (hopfield, lambda: inputs(25))]
"""What the tests run: a function, and what makes its arguments."""
