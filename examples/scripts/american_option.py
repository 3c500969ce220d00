"""American and European puts on a binomial tree, the early exercise boundary, and delta and theta from its first steps."""

import numpy as np


def tree_params(r, sigma, T, n):
    dt = T / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    if not 0 < p < 1:
        raise ValueError("time step too long for this volatility")
    return dt, u, d, p


def put_tree(S, K, r, sigma, T, n, american=True):
    dt, u, d, p = tree_params(r, sigma, T, n)
    disc = np.exp(-r * dt)
    j = np.arange(n + 1)
    values = np.maximum(K - S * u**j * d ** (n - j), 0.0)
    boundary = np.full(n, np.nan)
    early = {}
    for i in range(n - 1, -1, -1):
        values = disc * (p * values[1:] + (1 - p) * values[:-1])
        prices = S * u ** np.arange(i + 1) * d ** (i - np.arange(i + 1))
        if american:
            exercise = K - prices
            stop = exercise > values
            if stop.any():
                boundary[i] = prices[stop].max()
            values = np.where(stop, exercise, values)
        if i <= 2:
            early[i] = (prices, values)
    return values[0], boundary, early


def greeks(early, dt):
    (_, v0), (s1, v1), (_, v2) = early[0], early[1], early[2]
    delta = (v1[1] - v1[0]) / (s1[1] - s1[0])
    theta = (v2[1] - v0[0]) / (2 * dt)
    return delta, theta


def main(spots, K, r, sigma, T, n):
    rows = []
    for S in spots:
        amer, boundary, early = put_tree(S, K, r, sigma, T, n)
        euro, _, _ = put_tree(S, K, r, sigma, T, n, american=False)
        delta, theta = greeks(early, T / n)
        rows.append((S, amer, euro, amer - euro, delta, theta))
    return np.array(rows), boundary


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return np.linspace(80, 120, 5), 100.0, 0.05, float(rng.uniform(0.15, 0.35)), 1.0, 250


if __name__ == "__main__":
    table, boundary = main(*inputs())
    print("     spot  american  european   premium     delta     theta")
    for row in table:
        print(" ".join(f"{v:9.4f}" for v in row))
