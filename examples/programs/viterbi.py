"""The Viterbi algorithm: the likeliest states of a hidden Markov model behind what was observed.

Source: L. R. Rabiner, "A tutorial on hidden Markov models and selected applications in speech recognition",
Proc. IEEE 77 (1989), 257–286, section III.B.
"""

from __future__ import annotations

import numpy as np


def viterbi(observed, start, transition, emission):
    """The likeliest path, and the logarithm of its probability."""
    steps, states = len(observed), len(start)
    score = np.empty((steps, states))
    previous = np.zeros((steps, states), dtype=np.int64)
    for s in range(states):
        score[0, s] = np.log(start[s]) + np.log(emission[s, observed[0]])
    for t in range(1, steps):
        for s in range(states):
            best, best_score = 0, -np.inf
            for r in range(states):
                candidate = score[t - 1, r] + np.log(transition[r, s])
                if candidate > best_score:
                    best, best_score = r, candidate
            score[t, s] = best_score + np.log(emission[s, observed[t]])
            previous[t, s] = best
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = np.argmax(score[-1])
    for t in range(steps - 2, -1, -1):
        path[t] = previous[t + 1, path[t + 1]]
    return path, score[-1, path[-1]]


def inputs(size):
    """`size` observations of a model with four states and six symbols."""
    rng = np.random.default_rng(10)
    transition = rng.dirichlet(np.ones(4), 4)
    emission = rng.dirichlet(np.ones(6), 4)
    return rng.integers(0, 6, size), rng.dirichlet(np.ones(4)), transition, emission


PROGRAMS = [(viterbi, lambda: inputs(5)), (viterbi, lambda: inputs(17))]
"""What the tests run: a function, and what makes its arguments."""
