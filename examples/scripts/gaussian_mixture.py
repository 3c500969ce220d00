"""Gaussian mixtures by expectation maximisation with several starts; the number of components is chosen by BIC."""

import numpy as np
from scipy.special import logsumexp


class GaussianMixture:
    def __init__(self, k, max_iter=100, tol=1e-5, reg=1e-6):
        self.k = k
        self.max_iter = max_iter
        self.tol = tol
        self.reg = reg

    def _log_prob(self, X):
        n, d = X.shape
        out = np.zeros((n, self.k))
        for j in range(self.k):
            L = np.linalg.cholesky(self.cov[j])
            z = np.linalg.solve(L, (X - self.mu[j]).T)
            logdet = 2 * np.sum(np.log(np.diag(L)))
            out[:, j] = np.log(self.pi[j]) - 0.5 * (d * np.log(2 * np.pi) + logdet + np.sum(z**2, axis=0))
        return out

    def fit(self, X, rng):
        n, d = X.shape
        self.mu = X[rng.choice(n, self.k, replace=False)].copy()
        self.cov = np.array([np.cov(X.T) + self.reg * np.eye(d)] * self.k)
        self.pi = np.ones(self.k) / self.k
        prev = -np.inf
        self.iterations = 0
        while self.iterations < self.max_iter:
            self.iterations += 1
            # E
            logp = self._log_prob(X)
            norm = logsumexp(logp, axis=1)
            resp = np.exp(logp - norm[:, None])
            # M
            nk = resp.sum(axis=0) + 1e-12
            self.pi = nk / n
            self.mu = resp.T @ X / nk[:, None]
            for j in range(self.k):
                diff = X - self.mu[j]
                self.cov[j] = (resp[:, j, None] * diff).T @ diff / nk[j] + self.reg * np.eye(d)
            ll = norm.sum()
            if abs(ll - prev) < self.tol * abs(ll):
                break
            prev = ll
        self.loglik = ll
        return self

    def bic(self, n, d):
        n_params = self.k - 1 + self.k * d + self.k * d * (d + 1) / 2
        return -2 * self.loglik + n_params * np.log(n)

    def predict(self, X):
        return np.argmax(self._log_prob(X), axis=1)


def main(X, k_max, restarts, seed=0):
    rng = np.random.default_rng(seed)
    n, d = X.shape
    bics = []
    best_model = None
    for k in range(1, k_max + 1):
        models = [GaussianMixture(k).fit(X, rng) for _ in range(restarts)]
        model = max(models, key=lambda m: m.loglik)
        bics.append(model.bic(n, d))
        if best_model is None or bics[-1] < best_model.bic(n, d):
            best_model = model
    labels = best_model.predict(X)
    order = np.argsort(best_model.mu[:, 0])
    return (
        best_model.k,
        np.array(bics),
        best_model.pi[order],
        best_model.mu[order],
        np.bincount(labels, minlength=best_model.k)[order],
    )


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((120, 2)) @ np.array([[1.0, 0.6], [0.0, 0.5]])
    b = rng.standard_normal((80, 2)) * 0.5 + [4, 1]
    c = rng.standard_normal((100, 2)) @ np.array([[0.3, 0.0], [0.4, 1.2]]) + [-3, 4]
    return np.concatenate([a, b, c]), 5, 3


if __name__ == "__main__":
    k, bics, pi, mu, counts = main(*inputs())
    print("components", k, "weights", pi, "counts", counts)
