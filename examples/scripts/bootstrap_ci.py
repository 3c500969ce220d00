"""Bootstrap confidence intervals (percentile and BCa) for several statistics of a skewed sample."""

import numpy as np
from scipy.stats import norm


def trimmed_mean(x, cut=0.1):
    k = int(cut * len(x))
    return np.sort(x)[k : len(x) - k].mean()


def gini(x):
    x = np.sort(x)
    n = len(x)
    return (2 * np.sum(np.arange(1, n + 1) * x) / (n * x.sum())) - (n + 1) / n


def skewness(x):
    d = x - x.mean()
    return np.mean(d**3) / np.mean(d**2) ** 1.5


STATISTICS = {"median": np.median, "trimmed": trimmed_mean, "gini": gini, "skewness": skewness}


def replicate(x, stat, n_boot, rng):
    reps = np.empty(n_boot)
    for b in range(n_boot):
        reps[b] = stat(x[rng.integers(0, len(x), len(x))])
    return reps


def jackknife(x, stat):
    return np.array([stat(np.delete(x, i)) for i in range(len(x))])


def bca_interval(x, stat, reps, level):
    theta = stat(x)
    prop = np.clip(np.mean(reps < theta), 1e-6, 1 - 1e-6)
    z0 = norm.ppf(prop)
    jack = jackknife(x, stat)
    d = jack.mean() - jack
    den = 6 * np.sum(d**2) ** 1.5
    a = np.sum(d**3) / den if den > 0 else 0.0
    bounds = []
    for q in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + norm.ppf(q)
        bounds.append(np.quantile(reps, norm.cdf(z0 + z / (1 - a * z))))
    return tuple(bounds)


def main(x, n_boot=400, level=0.95, seed=1):
    rng = np.random.default_rng(seed)
    table = {}
    for name, stat in STATISTICS.items():
        reps = replicate(x, stat, n_boot, rng)
        percentile = np.quantile(reps, [(1 - level) / 2, (1 + level) / 2])
        table[name] = {
            "estimate": stat(x),
            "se": reps.std(ddof=1),
            "percentile": percentile,
            "bca": bca_interval(x, stat, reps, level),
        }
    return table


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.lognormal(10, 0.6, 150),)


if __name__ == "__main__":
    for name, row in main(*inputs()).items():
        print(f"{name:10s} {row['estimate']:10.3f} +- {row['se']:.3f}  {row['percentile']}  {row['bca']}")
