"""Eigenvalues of a symmetric matrix: Householder tridiagonalisation, then implicit QR with Wilkinson shifts."""

import numpy as np


def householder(x):
    v = x.copy()
    alpha = -np.copysign(np.linalg.norm(x), x[0])
    v[0] -= alpha
    norm = np.linalg.norm(v)
    if norm > 0:
        v /= norm
    return v, alpha


def tridiagonalise(A):
    A = A.copy()
    n = len(A)
    Q = np.eye(n)
    for k in range(n - 2):
        v, _ = householder(A[k + 1 :, k])
        A[k + 1 :, k:] -= 2 * np.outer(v, v @ A[k + 1 :, k:])
        A[k:, k + 1 :] -= 2 * np.outer(A[k:, k + 1 :] @ v, v)
        Q[:, k + 1 :] -= 2 * np.outer(Q[:, k + 1 :] @ v, v)
    return np.diag(A).copy(), np.diag(A, 1).copy(), Q


def givens(a, b):
    if b == 0:
        return 1.0, 0.0
    r = np.hypot(a, b)
    return a / r, b / r


def wilkinson_shift(a, b, c):
    d = (a - c) / 2
    if d == 0:
        return c - abs(b)
    return c - np.sign(d) * b * b / (abs(d) + np.sqrt(d * d + b * b))


def qr_steps(d, e, Q, tol=1e-13):
    n = len(d)
    hi = n - 1
    steps = 0
    while hi > 0:
        if abs(e[hi - 1]) <= tol * (abs(d[hi - 1]) + abs(d[hi])):
            e[hi - 1] = 0.0
            hi -= 1
            continue
        lo = hi - 1
        while lo > 0 and abs(e[lo - 1]) > tol * (abs(d[lo - 1]) + abs(d[lo])):
            lo -= 1
        mu = wilkinson_shift(d[hi - 1], e[hi - 1], d[hi])
        x, z = d[lo] - mu, e[lo]
        for k in range(lo, hi):
            c, s = givens(x, z)
            if k > lo:
                e[k - 1] = c * x + s * z
            dk, dk1, ek = d[k], d[k + 1], e[k]
            d[k] = c * c * dk + 2 * c * s * ek + s * s * dk1
            d[k + 1] = s * s * dk - 2 * c * s * ek + c * c * dk1
            e[k] = (c * c - s * s) * ek + c * s * (dk1 - dk)
            x = e[k]
            if k < hi - 1:
                z = s * e[k + 1]
                e[k + 1] = c * e[k + 1]
            qk = Q[:, k].copy()
            Q[:, k] = c * qk + s * Q[:, k + 1]
            Q[:, k + 1] = -s * qk + c * Q[:, k + 1]
        steps += 1
        if steps > 50 * n:
            raise RuntimeError("no convergence")
    return steps


def main(A):
    d, e, Q = tridiagonalise(A)
    steps = qr_steps(d, e, Q)
    order = np.argsort(d)
    w, V = d[order], Q[:, order]
    residual = np.max(np.abs(A @ V - V * w))
    return w, residual, np.max(np.abs(V.T @ V - np.eye(len(A)))), steps


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((40, 40))
    return ((B + B.T) / 2,)


if __name__ == "__main__":
    w, residual, orthogonality, steps = main(*inputs())
    print(w[:4], "...", w[-1])
    print("residual", residual, "orthogonality", orthogonality, "steps", steps)
