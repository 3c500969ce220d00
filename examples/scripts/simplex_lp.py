"""Linear programs by the two-phase tableau simplex with Bland's rule: production plans, shadow prices, infeasibility."""

import numpy as np


class Infeasible(Exception):
    pass


class Unbounded(Exception):
    pass


def pivot(T, basis, row, col):
    T[row] /= T[row, col]
    for r in range(len(T)):
        if r != row and T[r, col] != 0:
            T[r] -= T[r, col] * T[row]
    basis[row] = col


def iterate(T, basis, n_cols, eps=1e-9):
    pivots = 0
    while True:
        entering = -1
        for j in range(n_cols):
            if T[-1, j] < -eps:
                entering = j
                break
        if entering < 0:
            return pivots
        best, leaving = np.inf, -1
        for i in range(len(basis)):
            if T[i, entering] > eps:
                ratio = T[i, -1] / T[i, entering]
                if ratio < best - eps or (abs(ratio - best) <= eps and basis[i] < basis[leaving]):
                    best, leaving = ratio, i
        if leaving < 0:
            raise Unbounded
        pivot(T, basis, leaving, entering)
        pivots += 1


def solve(c, A, b):
    """max c x with A x <= b, x >= 0"""
    m, n = A.shape
    slack = np.eye(m)
    negative = b < 0
    A2 = np.where(negative[:, None], -A, A)
    S2 = np.where(negative[:, None], -slack, slack)
    art = np.eye(m)[:, negative]
    n_art = art.shape[1]
    T = np.zeros((m + 1, n + m + n_art + 1))
    T[:m, :n] = A2
    T[:m, n : n + m] = S2
    T[:m, n + m : n + m + n_art] = art
    T[:m, -1] = np.abs(b)
    basis = []
    k = 0
    for i in range(m):
        if negative[i]:
            basis.append(n + m + k)
            k += 1
        else:
            basis.append(n + i)

    pivots = 0
    if n_art:
        T[-1, n + m : n + m + n_art] = 1
        for i in range(m):
            if negative[i]:
                T[-1] -= T[i]
        pivots += iterate(T, basis, n + m + n_art)
        if T[-1, -1] < -1e-7:
            raise Infeasible
        T = np.delete(T, np.arange(n + m, n + m + n_art), axis=1)
    T[-1] = 0
    T[-1, :n] = -c
    for i in range(m):
        if basis[i] < n and T[-1, basis[i]] != 0:
            T[-1] -= T[-1, basis[i]] * T[i]
    pivots += iterate(T, basis, n + m)
    x = np.zeros(n + m)
    for i, j in enumerate(basis):
        if j < n + m:
            x[j] = T[i, -1]
    return x[:n], T[-1, -1], T[-1, n : n + m], pivots


def main(c, A, b, demands):
    results = []
    failures = 0
    for d in demands:
        # minimum production of each good as extra rows
        A_full = np.vstack([A, -np.eye(len(c))])
        b_full = np.concatenate([b, -d])
        try:
            x, value, prices, pivots = solve(c, A_full, b_full)
        except Infeasible:
            failures += 1
            continue
        results.append({"x": x, "value": value, "prices": prices[: len(b)], "pivots": pivots})
    return results, failures


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n, m = 24, 16
    A = rng.uniform(0.2, 3.0, (m, n)).round(2)
    b = rng.uniform(120, 240, m).round()
    c = rng.uniform(2, 12, n).round(1)
    demands = [rng.uniform(0, s, n).round(1) for s in (0.01, 1, 3, 5, 8, 12)]
    return c, A, b, demands


if __name__ == "__main__":
    results, failures = main(*inputs())
    for r in results:
        print(f"profit {r['value']:.2f} after {r['pivots']} pivots, shadow prices {np.round(r['prices'], 3)}")
    print(failures, "infeasible")
