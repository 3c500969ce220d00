"""A phylogenetic tree by neighbour joining from Jukes-Cantor distances between aligned sequences, its clades and depth."""

import numpy as np


class Node:
    def __init__(self, name=None, children=()):
        self.name = name
        self.children = list(children)

    def newick(self):
        if not self.children:
            return str(self.name)
        inner = ",".join(f"{child.newick()}:{length:.4f}" for child, length in self.children)
        return f"({inner})"

    def leaves(self):
        if not self.children:
            return [self.name]
        return [leaf for child, _ in self.children for leaf in child.leaves()]

    def clades(self):
        found = []
        for child, _ in self.children:
            found += child.clades()
        if self.children:
            found.append(sorted(self.leaves()))
        return found

    def depth(self):
        if not self.children:
            return 0.0
        return max(length + child.depth() for child, length in self.children)


def jukes_cantor(alignment):
    n = len(alignment)
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            p = np.mean(alignment[i] != alignment[j])
            if p >= 0.74:
                p = 0.74
            D[i, j] = D[j, i] = -0.75 * np.log(1 - 4 * p / 3)
    return D


def neighbor_joining(D, names):
    D = D.copy()
    nodes = [Node(n) for n in names]
    while len(nodes) > 2:
        n = len(nodes)
        r = D.sum(axis=1)
        Q = (n - 2) * D - r[:, None] - r[None, :]
        np.fill_diagonal(Q, np.inf)
        i, j = np.unravel_index(np.argmin(Q), Q.shape)
        if i > j:
            i, j = j, i
        li = D[i, j] / 2 + (r[i] - r[j]) / (2 * (n - 2))
        lj = D[i, j] - li
        joined = Node(children=[(nodes[i], max(li, 0.0)), (nodes[j], max(lj, 0.0))])

        new = 0.5 * (D[i] + D[j] - D[i, j])
        keep = [k for k in range(n) if k not in (i, j)]
        D2 = np.zeros((n - 1, n - 1))
        D2[:-1, :-1] = D[np.ix_(keep, keep)]
        D2[-1, :-1] = D2[:-1, -1] = new[keep]
        D = D2
        nodes = [nodes[k] for k in keep] + [joined]
    return Node(children=[(nodes[0], D[0, 1] / 2), (nodes[1], D[0, 1] / 2)])


def phylogeny(alignment):
    D = jukes_cantor(alignment)
    return D, neighbor_joining(D, range(len(alignment)))


def main(alignment):
    D, tree = phylogeny(alignment)
    return D, tree.leaves(), tree.clades(), tree.depth()


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    seqs = [rng.integers(0, 4, 600)]
    while len(seqs) < 40:
        parent = seqs[rng.integers(len(seqs))]
        child = parent.copy()
        hit = rng.random(600) < rng.uniform(0.02, 0.12)
        child[hit] = rng.integers(0, 4, hit.sum())
        seqs.append(child)
    return (np.array(seqs),)


if __name__ == "__main__":
    _, tree = phylogeny(*inputs())
    print(tree.newick() + ";")
    print("depth", tree.depth())
