"""Survival curves (Kaplan-Meier, Greenwood's errors) of two groups with censoring, and the log-rank test between them."""

import numpy as np
from scipy import stats


def kaplan_meier(time, event):
    order = np.argsort(time, kind="stable")
    time, event = time[order], event[order]
    at_risk = len(time)
    s = 1.0
    var_sum = 0.0
    curve = []
    i = 0
    while i < len(time):
        t = time[i]
        deaths = 0
        leaving = 0
        while i < len(time) and time[i] == t:
            deaths += event[i]
            leaving += 1
            i += 1
        if deaths:
            s *= 1 - deaths / at_risk
            if at_risk > deaths:
                var_sum += deaths / (at_risk * (at_risk - deaths))
            curve.append((t, s, s * np.sqrt(var_sum), at_risk))
        at_risk -= leaving
    return np.array(curve)


def median_survival(curve):
    below = np.nonzero(curve[:, 1] <= 0.5)[0]
    if len(below) == 0:
        return np.inf
    return curve[below[0], 0]


def restricted_mean(curve, tau):
    area = 0.0
    last_t, last_s = 0.0, 1.0
    for t, s, _, _ in curve:
        if t > tau:
            break
        area += last_s * (t - last_t)
        last_t, last_s = t, s
    return area + last_s * (tau - last_t)


def logrank(time, event, group):
    observed = expected = variance = 0.0
    for t in np.unique(time[event == 1]):
        risk = time >= t
        n = risk.sum()
        n1 = (risk & (group == 1)).sum()
        died = (time == t) & (event == 1)
        d = died.sum()
        observed += (died & (group == 1)).sum()
        expected += d * n1 / n
        if n > 1:
            variance += d * (n1 / n) * (1 - n1 / n) * (n - d) / (n - 1)
    chi2 = (observed - expected) ** 2 / variance
    return chi2, stats.chi2.sf(chi2, 1)


def main(time, event, group, tau):
    summary = {}
    for g in (0, 1):
        sel = group == g
        curve = kaplan_meier(time[sel], event[sel])
        summary[g] = (curve, median_survival(curve), restricted_mean(curve, tau))
    return summary, logrank(time, event, group)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 2000
    group = rng.integers(0, 2, n)
    life = rng.weibull(1.4, n) * np.where(group == 1, 30.0, 24.0)
    censor = rng.uniform(5, 60, n)
    time = np.ceil(np.minimum(life, censor) * 8) / 8
    return time, (life <= censor).astype(int), group, 40.0


if __name__ == "__main__":
    summary, (chi2, p) = main(*inputs())
    for g, (curve, median, rmst) in summary.items():
        print(f"group {g}: median {median}, restricted mean {rmst:.2f}, {len(curve)} steps")
    print(f"log-rank chi2 {chi2:.3f}, p = {p:.4f}")
