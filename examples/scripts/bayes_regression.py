"""Bayesian regression with Student-t errors by random-walk Metropolis: four chains, R-hat, effective sample size."""

import math

import numpy as np


def log_posterior(theta, x, y, nu=4.0):
    a, b, log_sigma = theta
    sigma = math.exp(log_sigma)
    z = (y - a - b * x) / sigma
    loglik = -len(y) * log_sigma - 0.5 * (nu + 1) * np.sum(np.log1p(z * z / nu))
    logprior = -0.5 * (a / 10) ** 2 - 0.5 * (b / 10) ** 2 - 0.5 * (log_sigma / 2) ** 2
    return loglik + logprior


def run_chain(x, y, start, n_iter, warmup, rng):
    theta = np.array(start, dtype=float)
    lp = log_posterior(theta, x, y)
    scale = np.full(3, 0.1)
    samples = []
    accepted = 0
    window = 0
    for it in range(n_iter + warmup):
        prop = theta + scale * rng.standard_normal(3)
        lp_new = log_posterior(prop, x, y)
        if math.log(rng.random()) < lp_new - lp:
            theta, lp = prop, lp_new
            window += 1
            if it >= warmup:
                accepted += 1
        if it < warmup:
            if (it + 1) % 50 == 0:
                rate = window / 50
                scale *= 1.5 if rate > 0.4 else 0.6 if rate < 0.2 else 1.0
                window = 0
        else:
            samples.append(theta)
    return np.array(samples), accepted / n_iter


def rhat(chains):
    n = chains.shape[1]
    means = chains.mean(axis=1)
    between = n * means.var(ddof=1)
    within = chains.var(axis=1, ddof=1).mean()
    return np.sqrt(((n - 1) / n * within + between / n) / within)


def effective_size(chain, max_lag=200):
    c = chain - chain.mean()
    var = np.dot(c, c) / len(c)
    tau = 1.0
    for lag in range(1, max_lag):
        rho = np.dot(c[:-lag], c[lag:]) / len(c) / var
        if rho < 0.05:
            break
        tau += 2 * rho
    return len(c) / tau


def main(x, y, n_chains=4, n_iter=1000, warmup=500, seed=7):
    rng = np.random.default_rng(seed)
    draws, rates = [], []
    for _ in range(n_chains):
        samples, rate = run_chain(x, y, rng.standard_normal(3), n_iter, warmup, rng)
        draws.append(samples)
        rates.append(rate)
    draws = np.stack(draws)
    report = {}
    for k, name in enumerate(["intercept", "slope", "log_sigma"]):
        d = draws[:, :, k]
        lo, hi = np.percentile(d, [5, 95])
        report[name] = (d.mean(), lo, hi, rhat(d), sum(effective_size(c) for c in d))
    return report, rates


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, 80)
    y = 1.5 - 0.8 * x + 0.5 * rng.standard_t(4, 80)
    return x, y


if __name__ == "__main__":
    report, rates = main(*inputs())
    for name, row in report.items():
        print(name, *(f"{v:.3f}" for v in row))
    print("acceptance", rates)
