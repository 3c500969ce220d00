"""Communities in a social network by label propagation, and the modularity of the partition found."""

import numpy as np


def neighbours(adjacency):
    return [np.flatnonzero(row) for row in adjacency]


def propagate(adjacency, max_sweeps, rng):
    n = len(adjacency)
    nbrs = neighbours(adjacency)
    labels = np.arange(n)
    for sweep in range(max_sweeps):
        changed = 0
        for v in rng.permutation(n):
            if len(nbrs[v]) == 0:
                continue
            values, counts = np.unique(labels[nbrs[v]], return_counts=True)
            best = values[counts == counts.max()]
            if labels[v] in best:
                continue
            labels[v] = best[0]
            changed += 1
        if changed == 0:
            return labels, sweep
    return labels, max_sweeps


def modularity(adjacency, labels):
    m2 = adjacency.sum()
    degree = adjacency.sum(axis=1)
    q = 0.0
    for c in np.unique(labels):
        inside = labels == c
        q += adjacency[np.ix_(inside, inside)].sum() / m2 - (degree[inside].sum() / m2) ** 2
    return q


def main(adjacency, seed, max_sweeps=50):
    rng = np.random.default_rng(seed)
    labels, sweeps = propagate(adjacency, max_sweeps, rng)
    _, communities = np.unique(labels, return_inverse=True)
    sizes = np.bincount(communities)
    return communities, sizes, modularity(adjacency, communities), sweeps


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(5), 40)
    p = np.where(group[:, None] == group[None], 0.25, 0.01)
    a = np.triu(rng.random(p.shape) < p, 1)
    return (a | a.T).astype(int), seed


if __name__ == "__main__":
    communities, sizes, q, sweeps = main(*inputs())
    print(f"{len(sizes)} communities {sizes}, Q = {q:.3f}, {sweeps} sweeps")
