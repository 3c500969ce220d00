"""Nearest neighbours in a k-d tree with a bounded heap: classification, and the share of points it has to look at."""

import heapq

import numpy as np


class KDNode:
    __slots__ = ("axis", "index", "left", "right")

    def __init__(self, index, axis, left, right):
        self.index = index
        self.axis = axis
        self.left = left
        self.right = right


class KDTree:
    def __init__(self, points):
        self.points = points
        self.visited = 0
        self.root = self._build(np.arange(len(points)))

    def _build(self, idx):
        if len(idx) == 0:
            return None
        spread = np.ptp(self.points[idx], axis=0)
        axis = int(np.argmax(spread))
        idx = idx[np.argsort(self.points[idx, axis], kind="stable")]
        mid = len(idx) // 2
        return KDNode(int(idx[mid]), axis, self._build(idx[:mid]), self._build(idx[mid + 1 :]))

    def query(self, x, k):
        heap = []

        def visit(node):
            if node is None:
                return
            self.visited += 1
            p = self.points[node.index]
            d2 = float(np.sum((p - x) ** 2))
            if len(heap) < k:
                heapq.heappush(heap, (-d2, node.index))
            elif d2 < -heap[0][0]:
                heapq.heapreplace(heap, (-d2, node.index))
            diff = x[node.axis] - p[node.axis]
            near, far = (node.left, node.right) if diff < 0 else (node.right, node.left)
            visit(near)
            if len(heap) < k or diff**2 < -heap[0][0]:
                visit(far)

        visit(self.root)
        return sorted((-d, i) for d, i in heap)


def vote(neighbours, labels):
    weights = {}
    for d2, i in neighbours:
        c = int(labels[i])
        weights[c] = weights.get(c, 0.0) + 1.0 / (np.sqrt(d2) + 1e-9)
    return max(sorted(weights), key=weights.get)


def main(points, labels, queries, truth, k=5):
    tree = KDTree(points)
    predicted = []
    nearest = np.zeros((len(queries), k), dtype=int)
    for q, x in enumerate(queries):
        neighbours = tree.query(x, k)
        nearest[q] = [i for _, i in neighbours]
        predicted.append(vote(neighbours, labels))
    accuracy = np.mean(np.array(predicted) == truth)
    share = tree.visited / (len(points) * len(queries))
    return nearest, predicted, accuracy, share


def inputs(seed=0):
    rng = np.random.default_rng(seed)

    def sample(n):
        y = rng.integers(0, 3, n)
        angle = 2 * np.pi * y / 3
        X = np.c_[np.cos(angle), np.sin(angle), 0.3 * y] + 0.5 * rng.standard_normal((n, 3))
        return X, y

    points, labels = sample(1000)
    queries, truth = sample(120)
    return points, labels, queries, truth


if __name__ == "__main__":
    nearest, predicted, accuracy, share = main(*inputs())
    print(f"accuracy {accuracy:.3f}, looked at {100 * share:.1f} % of the points")
