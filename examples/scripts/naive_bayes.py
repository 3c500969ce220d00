"""Naive Bayes for mixed data, Gaussian columns and counts with Laplace smoothing, cross-validated; confusion matrix."""

import numpy as np


class GaussianPart:
    def fit(self, X, y, classes):
        self.mean = np.array([X[y == c].mean(axis=0) for c in classes])
        self.var = np.array([X[y == c].var(axis=0) for c in classes]) + 1e-9
        return self

    def log_likelihood(self, x):
        return -0.5 * np.sum(np.log(2 * np.pi * self.var) + (x - self.mean) ** 2 / self.var, axis=1)


class MultinomialPart:
    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y, classes):
        counts = np.stack([X[y == c].sum(axis=0) for c in classes]) + self.alpha
        self.log_p = np.log(counts / counts.sum(axis=1, keepdims=True))
        return self

    def log_likelihood(self, x):
        return self.log_p @ x


class NaiveBayes:
    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, Xg, Xc, y):
        self.classes, n = np.unique(y, return_counts=True)
        self.log_prior = np.log(n / n.sum())
        self.parts = [
            GaussianPart().fit(Xg, y, self.classes),
            MultinomialPart(self.alpha).fit(Xc, y, self.classes),
        ]
        return self

    def predict(self, Xg, Xc):
        labels = []
        for xg, xc in zip(Xg, Xc):
            score = self.log_prior.copy()
            for part, x in zip(self.parts, (xg, xc)):
                score += part.log_likelihood(x)
            labels.append(self.classes[np.argmax(score)])
        return np.array(labels)


def k_fold(n, k, rng):
    idx = rng.permutation(n)
    folds = np.array_split(idx, k)
    for i in range(k):
        yield np.concatenate(folds[:i] + folds[i + 1 :]), folds[i]


def confusion(y, p, k):
    m = np.zeros((k, k), dtype=int)
    np.add.at(m, (y, p), 1)
    return m


def main(Xg, Xc, y, alphas, k=5, seed=0):
    n_classes = len(np.unique(y))
    scores = {}
    best = None
    for alpha in alphas:
        rng = np.random.default_rng(seed)
        total = np.zeros((n_classes, n_classes), dtype=int)
        for train, test in k_fold(len(y), k, rng):
            model = NaiveBayes(alpha).fit(Xg[train], Xc[train], y[train])
            total += confusion(y[test], model.predict(Xg[test], Xc[test]), n_classes)
        scores[alpha] = np.trace(total) / total.sum()
        if best is None or scores[alpha] > scores[best[0]]:
            best = (alpha, total)
    alpha, m = best
    precision = np.diag(m) / np.maximum(m.sum(axis=0), 1)
    recall = np.diag(m) / m.sum(axis=1)
    return scores, alpha, m, precision, recall


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 300
    y = rng.integers(0, 3, n)
    centres = np.array([[0.0, 0.0], [1.0, 0.5], [0.2, 1.2]])
    Xg = centres[y] + 0.7 * rng.standard_normal((n, 2))
    p = rng.dirichlet(np.full(30, 2.0), 3)
    Xc = np.array([rng.multinomial(6, p[c]) for c in y])
    return Xg, Xc, y, [0.01, 0.1, 1.0, 10.0]


if __name__ == "__main__":
    scores, alpha, m, precision, recall = main(*inputs())
    print("alpha", alpha, "accuracy", scores[alpha])
    print(m)
