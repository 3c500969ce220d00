"""Strongly connected components of a directed graph (Tarjan, recursive), and the condensed graph's longest chain."""

import sys

import numpy as np

sys.setrecursionlimit(20000)


class Tarjan:
    def __init__(self, n, adj):
        self.n = n
        self.adj = adj
        self.index = 0
        self.indices = [-1] * n
        self.low = [0] * n
        self.on_stack = [False] * n
        self.stack = []
        self.comp = [-1] * n
        self.n_comps = 0

    def visit(self, v):
        self.indices[v] = self.low[v] = self.index
        self.index += 1
        self.stack.append(v)
        self.on_stack[v] = True
        for w in self.adj[v]:
            if self.indices[w] < 0:
                self.visit(w)
                self.low[v] = min(self.low[v], self.low[w])
            elif self.on_stack[w]:
                self.low[v] = min(self.low[v], self.indices[w])
        if self.low[v] == self.indices[v]:
            while True:
                w = self.stack.pop()
                self.on_stack[w] = False
                self.comp[w] = self.n_comps
                if w == v:
                    break
            self.n_comps += 1

    def run(self):
        for v in range(self.n):
            if self.indices[v] < 0:
                self.visit(v)
        return self.comp


def longest_chain(comp, n_comps, adj):
    # components come out in reverse topological order
    best = [1] * n_comps
    members = [[] for _ in range(n_comps)]
    for v, c in enumerate(comp):
        members[c].append(v)
    for c in range(n_comps):
        for v in members[c]:
            for w in adj[v]:
                if comp[w] != c:
                    best[c] = max(best[c], best[comp[w]] + 1)
    return max(best)


def main(n, edges):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(int(v))
    t = Tarjan(n, adj)
    comp = np.array(t.run())
    sizes = np.bincount(comp)
    return comp, np.sort(sizes)[::-1], longest_chain(comp, t.n_comps, adj)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 4000
    return n, rng.integers(0, n, size=(5600, 2))


if __name__ == "__main__":
    comp, sizes, chain = main(*inputs())
    print(len(sizes), "components, largest", sizes[0], "chain", chain)
