"""A support vector machine with an RBF kernel trained by simplified SMO; support vectors, margin and test accuracy."""

import numpy as np


class SVM:
    def __init__(self, C=1.0, gamma=1.0, tol=1e-3, max_passes=3):
        self.C = C
        self.gamma = gamma
        self.tol = tol
        self.max_passes = max_passes

    def kernel(self, A, B):
        d2 = np.sum(A**2, axis=1)[:, None] + np.sum(B**2, axis=1)[None] - 2 * A @ B.T
        return np.exp(-self.gamma * np.maximum(d2, 0))

    def _error(self, i):
        return float((self.alpha * self.y) @ self.K[:, i] + self.b - self.y[i])

    def _update(self, i, j):
        Ei, Ej = self._error(i), self._error(j)
        ai, aj = self.alpha[i], self.alpha[j]
        yi, yj = self.y[i], self.y[j]
        if yi != yj:
            L, H = max(0.0, aj - ai), min(self.C, self.C + aj - ai)
        else:
            L, H = max(0.0, ai + aj - self.C), min(self.C, ai + aj)
        if L == H:
            return False
        eta = 2 * self.K[i, j] - self.K[i, i] - self.K[j, j]
        if eta >= 0:
            return False
        new_j = np.clip(aj - yj * (Ei - Ej) / eta, L, H)
        if abs(new_j - aj) < 1e-5:
            return False
        new_i = ai + yi * yj * (aj - new_j)
        b1 = self.b - Ei - yi * (new_i - ai) * self.K[i, i] - yj * (new_j - aj) * self.K[i, j]
        b2 = self.b - Ej - yi * (new_i - ai) * self.K[i, j] - yj * (new_j - aj) * self.K[j, j]
        if 0 < new_i < self.C:
            self.b = b1
        elif 0 < new_j < self.C:
            self.b = b2
        else:
            self.b = (b1 + b2) / 2
        self.alpha[i], self.alpha[j] = new_i, new_j
        return True

    def fit(self, X, y, rng, max_sweeps=40):
        n = len(y)
        self.X, self.y = X, y
        self.K = self.kernel(X, X)
        self.alpha = np.zeros(n)
        self.b = 0.0
        passes = 0
        sweeps = 0
        while passes < self.max_passes and sweeps < max_sweeps:
            changed = 0
            for i in range(n):
                r = self._error(i) * y[i]
                if (r < -self.tol and self.alpha[i] < self.C) or (r > self.tol and self.alpha[i] > 0):
                    j = int(rng.integers(0, n - 1))
                    if j >= i:
                        j += 1
                    changed += self._update(i, j)
            passes = passes + 1 if changed == 0 else 0
            sweeps += 1
        self.support = np.flatnonzero(self.alpha > 1e-7)
        return sweeps

    def decision(self, X):
        s = self.support
        return self.kernel(X, self.X[s]) @ (self.alpha[s] * self.y[s]) + self.b


def main(X, y, X_test, y_test, seed=0):
    svm = SVM(C=5.0, gamma=1.5)
    sweeps = svm.fit(X, y, np.random.default_rng(seed))
    f = svm.decision(X_test)
    accuracy = np.mean(np.sign(f) == y_test)
    coef = svm.alpha * y
    margin = 1 / np.sqrt(coef @ svm.K @ coef)
    return svm.support, svm.alpha, svm.b, margin, accuracy, sweeps


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 200
    t = rng.uniform(0, np.pi, n)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = np.where((y == 1)[:, None], np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)])
    X += 0.12 * rng.standard_normal(X.shape)
    return X[:120], y[:120], X[120:], y[120:]


if __name__ == "__main__":
    support, alpha, b, margin, accuracy, sweeps = main(*inputs())
    print(f"{len(support)} support vectors, margin {margin:.3f}, accuracy {accuracy:.3f}, {sweeps} sweeps")
