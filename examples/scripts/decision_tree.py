"""A classification tree (Gini, recursive), pruned on held-out data; accuracy, depth, size and importances."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Node:
    prediction: int
    feature: int = -1
    threshold: float = 0.0
    left: "Node | None" = None
    right: "Node | None" = None

    @property
    def is_leaf(self):
        return self.left is None


def gini(counts):
    n = counts.sum()
    if n == 0:
        return 0.0
    p = counts / n
    return 1.0 - np.sum(p**2)


class DecisionTree:
    def __init__(self, n_classes, max_depth=8, min_leaf=3):
        self.n_classes = n_classes
        self.max_depth = max_depth
        self.min_leaf = min_leaf

    def fit(self, X, y):
        self.importance = np.zeros(X.shape[1])
        self.n_total = len(y)
        self.root = self._grow(X, y, 0)
        return self

    def _best_split(self, X, y):
        parent = np.bincount(y, minlength=self.n_classes)
        best_gain, best_f, best_t = 1e-9, None, None
        for f in range(X.shape[1]):
            order = np.argsort(X[:, f], kind="stable")
            xs, ys = X[order, f], y[order]
            left = np.zeros(self.n_classes)
            for i in range(len(ys) - 1):
                left[ys[i]] += 1
                if xs[i] == xs[i + 1] or i + 1 < self.min_leaf or len(ys) - i - 1 < self.min_leaf:
                    continue
                w = (i + 1) / len(ys)
                gain = gini(parent) - w * gini(left) - (1 - w) * gini(parent - left)
                if gain > best_gain:
                    best_gain, best_f, best_t = gain, f, (xs[i] + xs[i + 1]) / 2
        return best_gain, best_f, best_t

    def _grow(self, X, y, depth):
        counts = np.bincount(y, minlength=self.n_classes)
        node = Node(int(np.argmax(counts)))
        if depth >= self.max_depth or counts.max() == len(y) or len(y) < 2 * self.min_leaf:
            return node
        gain, f, t = self._best_split(X, y)
        if f is None:
            return node
        self.importance[f] += gain * len(y) / self.n_total
        mask = X[:, f] <= t
        node.feature, node.threshold = f, t
        node.left = self._grow(X[mask], y[mask], depth + 1)
        node.right = self._grow(X[~mask], y[~mask], depth + 1)
        return node

    def predict_one(self, x):
        node = self.root
        while not node.is_leaf:
            node = node.left if x[node.feature] <= node.threshold else node.right
        return node.prediction

    def predict(self, X):
        return np.array([self.predict_one(x) for x in X])

    def prune(self, node, X, y):
        """Reduced error pruning; returns the errors that the subtree makes on X, y."""
        as_leaf = int(np.sum(y != node.prediction))
        if node.is_leaf:
            return as_leaf
        mask = X[:, node.feature] <= node.threshold
        below = self.prune(node.left, X[mask], y[mask]) + self.prune(node.right, X[~mask], y[~mask])
        if as_leaf <= below:
            node.left = node.right = None
            return as_leaf
        return below

    def shape(self, node=None):
        node = node or self.root
        if node.is_leaf:
            return 1, 1
        (dl, nl), (dr, nr) = self.shape(node.left), self.shape(node.right)
        return 1 + max(dl, dr), 1 + nl + nr


def main(X, y, X_val, y_val, X_test, y_test):
    tree = DecisionTree(n_classes=int(y.max()) + 1).fit(X, y)
    before = (*tree.shape(), np.mean(tree.predict(X_test) == y_test))
    tree.prune(tree.root, X_val, y_val)
    predictions = tree.predict(X_test)
    after = (*tree.shape(), np.mean(predictions == y_test))
    return before, after, predictions, tree.importance / tree.importance.sum()


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (450, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1).astype(int)
    noisy = rng.random(450) < 0.08
    y[noisy] = rng.integers(0, 3, noisy.sum())
    return X[:250], y[:250], X[250:350], y[250:350], X[350:], y[350:]


if __name__ == "__main__":
    before, after, predictions, importance = main(*inputs())
    print("depth, nodes, accuracy", before, "->", after, "importance", importance)
