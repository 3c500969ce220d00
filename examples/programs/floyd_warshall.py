"""All shortest paths of a graph, with the way back: three loops over one matrix that is changed in place.

Source: R. W. Floyd, "Algorithm 97: shortest path", Comm. ACM 5 (1962), 345; T. H. Cormen et al., Introduction
to Algorithms, 3rd ed. (MIT, 2009), section 25.2.
"""

from __future__ import annotations

import numpy as np


def floyd_warshall(distance):
    """Makes the edge lengths `distance` (`inf`: no edge) path lengths, in place; what comes before each end."""
    n = distance.shape[0]
    before = np.full((n, n), -1, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            if i != j and distance[i, j] < np.inf:
                before[i, j] = i
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through
                    before[i, j] = before[k, j]
    return before


def inputs(size):
    """A graph of `size` nodes in which a third of the edges exist."""
    rng = np.random.default_rng(4)
    distance = rng.integers(1, 100, (size, size)).astype(np.float64)
    distance[rng.random((size, size)) > 0.33] = np.inf
    np.fill_diagonal(distance, 0.0)
    return (distance,)


PROGRAMS = [(floyd_warshall, lambda: inputs(6)), (floyd_warshall, lambda: inputs(10))]
"""What the tests run: a function, and what makes its arguments."""
