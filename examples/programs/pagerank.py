"""PageRank: how often a reader who follows links at random comes by each page.

Source: S. Brin, L. Page, "The anatomy of a large-scale hypertextual Web search engine", Computer Networks 30
(1998), 107–117; dangling pages as in A. N. Langville, C. D. Meyer, Google's PageRank and Beyond (Princeton,
2006), section 4.3.
"""

from __future__ import annotations

import numpy as np


def pagerank(sources, targets, n, damping=0.85, tolerance=1e-8):
    """The ranks of `n` pages, of which `sources[k]` links to `targets[k]`, and the number of iterations."""
    links = np.zeros(n, dtype=np.int64)
    for s in sources:
        links[s] += 1
    rank = np.ones(n) / n
    iterations = 0
    while True:
        new = np.zeros(n)
        dangling = 0.0
        for page in range(n):
            if links[page] == 0:
                dangling += rank[page]
        for k in range(len(sources)):
            new[targets[k]] += rank[sources[k]] / links[sources[k]]
        new = damping * (new + dangling / n) + (1.0 - damping) / n
        change = np.abs(new - rank).sum()
        rank = new
        iterations += 1
        if change < tolerance:
            break
    return rank, iterations


def inputs(size):
    """`size` pages with about four links each, some with none."""
    rng = np.random.default_rng(9)
    sources = rng.integers(0, size - size // 5, 4 * size)
    targets = (size * rng.random(4 * size) ** 2).astype(np.int64)
    return sources, targets, size


PROGRAMS = [(pagerank, lambda: inputs(7)), (pagerank, lambda: inputs(16))]
"""What the tests run: a function, and what makes its arguments."""
