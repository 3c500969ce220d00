"""Implied volatilities of a chain of calls by Newton with bisection as a fallback, and a parabola for the smile."""

import math

import numpy as np


def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def norm_pdf(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def black_scholes(S, K, r, T, sigma):
    sq = sigma * math.sqrt(T)
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / sq
    d2 = d1 - sq
    price = S * norm_cdf(d1) - K * math.exp(-r * T) * norm_cdf(d2)
    vega = S * norm_pdf(d1) * math.sqrt(T)
    return price, vega


def bisect(price, S, K, r, T, lo=1e-4, hi=5.0):
    for _ in range(200):
        mid = 0.5 * (lo + hi)
        if black_scholes(S, K, r, T, mid)[0] > price:
            hi = mid
        else:
            lo = mid
        if hi - lo < 1e-10:
            break
    return 0.5 * (lo + hi)


def implied_vol(price, S, K, r, T):
    intrinsic = max(S - K * math.exp(-r * T), 0.0)
    if price <= intrinsic or price >= S:
        return math.nan, "arbitrage"
    sigma = 0.3
    for _ in range(20):
        value, vega = black_scholes(S, K, r, T, sigma)
        if abs(value - price) < 1e-10:
            return sigma, "newton"
        if vega < 1e-8:
            break
        sigma -= (value - price) / vega
        if sigma <= 0:
            break
    return bisect(price, S, K, r, T), "bisection"


def main(S, r, expiries, strikes, quotes):
    surface = np.full(quotes.shape, np.nan)
    used = {"newton": 0, "bisection": 0, "arbitrage": 0}
    smiles = []
    for i, T in enumerate(expiries):
        for j, K in enumerate(strikes):
            surface[i, j], how = implied_vol(quotes[i, j], S, K, r, T)
            used[how] += 1
        ok = ~np.isnan(surface[i])
        x = np.log(strikes[ok] / S)
        smiles.append(np.polyfit(x, surface[i, ok], 2))
    return surface, used, np.array(smiles)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    S, r = 100.0, 0.02
    expiries = np.array([0.05, 0.1, 0.25, 0.5, 1.0, 2.0])
    strikes = np.linspace(60, 150, 181)
    quotes = np.empty((len(expiries), len(strikes)))
    for i, T in enumerate(expiries):
        for j, K in enumerate(strikes):
            m = math.log(K / S)
            quotes[i, j] = black_scholes(S, K, r, T, 0.2 - 0.1 * m + 0.3 * m * m)[0]
    return S, r, expiries, strikes, np.round(quotes + 0.003 * rng.standard_normal(quotes.shape), 3)


if __name__ == "__main__":
    surface, used, smiles = main(*inputs())
    print(used)
    print(smiles)
