"""Restarted GMRES with Givens rotations and an ILU(0) preconditioner, on a sparse convection-diffusion matrix."""

import numpy as np
import scipy.sparse as sp


def convection_diffusion(n, wind):
    h = 1.0 / (n + 1)
    rows, cols, vals = [], [], []
    for i in range(n):
        for j in range(n):
            k = i * n + j
            rows.append(k)
            cols.append(k)
            vals.append(4.0)
            for di, dj, w in ((-1, 0, wind[0]), (1, 0, -wind[0]), (0, -1, wind[1]), (0, 1, -wind[1])):
                if 0 <= i + di < n and 0 <= j + dj < n:
                    rows.append(k)
                    cols.append((i + di) * n + j + dj)
                    vals.append(-1.0 - 0.5 * h * w)
    return sp.csr_matrix((vals, (rows, cols)), shape=(n * n, n * n))


def ilu0(A):
    """Incomplete LU on the pattern of A; rows as dicts while it is computed."""
    n = A.shape[0]
    rows = [
        dict(zip(A.indices[A.indptr[i] : A.indptr[i + 1]].tolist(), A.data[A.indptr[i] : A.indptr[i + 1]]))
        for i in range(n)
    ]
    for i in range(n):
        for k in sorted(c for c in rows[i] if c < i):
            factor = rows[i][k] / rows[k][k]
            rows[i][k] = factor
            for j, v in rows[k].items():
                if j > k and j in rows[i]:
                    rows[i][j] -= factor * v
    return rows


def ilu_solve(rows, r):
    x = r.copy()
    n = len(rows)
    for i in range(n):
        for j, v in rows[i].items():
            if j < i:
                x[i] -= v * x[j]
    for i in range(n - 1, -1, -1):
        for j, v in rows[i].items():
            if j > i:
                x[i] -= v * x[j]
        x[i] /= rows[i][i]
    return x


def gmres(A, b, precond, m, tol, max_restarts):
    x = np.zeros(len(b))
    history = []
    norm_b = np.linalg.norm(precond(b))
    for _ in range(max_restarts):
        r = precond(b - A @ x)
        beta = np.linalg.norm(r)
        if beta / norm_b < tol:
            break
        V = [r / beta]
        H = np.zeros((m + 1, m))
        cs, sn = np.zeros(m), np.zeros(m)
        g = np.zeros(m + 1)
        g[0] = beta
        k = 0
        while k < m:
            w = precond(A @ V[k])
            for i in range(k + 1):
                H[i, k] = w @ V[i]
                w = w - H[i, k] * V[i]
            H[k + 1, k] = np.linalg.norm(w)
            V.append(w / H[k + 1, k])
            for i in range(k):
                H[i, k], H[i + 1, k] = (
                    cs[i] * H[i, k] + sn[i] * H[i + 1, k],
                    -sn[i] * H[i, k] + cs[i] * H[i + 1, k],
                )
            d = np.hypot(H[k, k], H[k + 1, k])
            cs[k], sn[k] = H[k, k] / d, H[k + 1, k] / d
            H[k, k], H[k + 1, k] = d, 0.0
            g[k + 1] = -sn[k] * g[k]
            g[k] = cs[k] * g[k]
            history.append(abs(g[k + 1]) / norm_b)
            k += 1
            if history[-1] < tol:
                break
        y = np.zeros(k)
        for i in range(k - 1, -1, -1):
            y[i] = (g[i] - H[i, i + 1 : k] @ y[i + 1 :]) / H[i, i]
        x = x + np.array(V[:k]).T @ y
    return x, history


def main(n, wind, b):
    A = convection_diffusion(n, wind)
    plain, h0 = gmres(A, b, lambda r: r, m=20, tol=1e-8, max_restarts=20)
    rows = ilu0(A)
    better, h1 = gmres(A, b, lambda r: ilu_solve(rows, r), m=20, tol=1e-8, max_restarts=20)
    error = np.max(np.abs(A @ better - b))
    return better.reshape(n, n), len(h0), len(h1), np.array(h1), error, np.max(np.abs(plain - better))


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 14
    return n, (20.0, -8.0), rng.standard_normal(n * n)


if __name__ == "__main__":
    x, n0, n1, history, error, gap = main(*inputs())
    print(f"{n0} iterations plain, {n1} with ILU(0); error {error:.2e}, the two differ by {gap:.2e}")
