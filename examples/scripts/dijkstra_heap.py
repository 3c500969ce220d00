"""Shortest routes from one city with heapq over a dict of neighbours; distances, routes and the farthest city."""

import heapq
import math

import numpy as np


def build_graph(edges, lengths):
    graph = {}
    for (u, v), w in zip(edges, lengths):
        graph.setdefault(int(u), []).append((int(v), float(w)))
        graph.setdefault(int(v), []).append((int(u), float(w)))
    return graph


def dijkstra(graph, source):
    dist = {source: 0.0}
    prev = {}
    seen = set()
    queue = [(0.0, source)]
    while queue:
        d, u = heapq.heappop(queue)
        if u in seen:
            continue
        seen.add(u)
        for v, w in graph[u]:
            nd = d + w
            if nd < dist.get(v, math.inf):
                dist[v] = nd
                prev[v] = u
                heapq.heappush(queue, (nd, v))
    return dist, prev


def route(prev, source, target):
    path = [target]
    while path[-1] != source:
        path.append(prev[path[-1]])
    path.reverse()
    return path


def main(edges, lengths, source):
    graph = build_graph(edges, lengths)
    dist, prev = dijkstra(graph, source)
    farthest = max(dist, key=lambda v: (dist[v], v))
    hops = {v: len(route(prev, source, v)) - 1 for v in sorted(dist)}
    return dist[farthest], route(prev, source, farthest), hops


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 900
    xy = rng.random((n, 2))
    d = np.sqrt(((xy[:, None] - xy[None]) ** 2).sum(-1))
    np.fill_diagonal(d, np.inf)
    nearest = np.argsort(d, axis=1)[:, :4]
    edges = np.array([(i, j) for i in range(n) for j in nearest[i]])
    return edges, d[edges[:, 0], edges[:, 1]], 0


if __name__ == "__main__":
    d, path, hops = main(*inputs())
    print(f"{d:.3f} in {len(path) - 1} hops; {len(hops)} reachable")
