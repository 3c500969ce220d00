"""Robust local regression (LOESS with bisquare weights) of a scatter plot; residuals, outliers, cross-validated span."""

import numpy as np


def tricube(u):
    u = np.clip(np.abs(u), 0, 1)
    return (1 - u**3) ** 3


def local_fit(x, y, w, x0):
    """Weighted straight line through the points, evaluated at x0."""
    sw = w.sum()
    xm = np.dot(w, x) / sw
    ym = np.dot(w, y) / sw
    sxx = np.dot(w, (x - xm) ** 2)
    if sxx < 1e-12:
        return ym
    slope = np.dot(w, (x - xm) * (y - ym)) / sxx
    return ym + slope * (x0 - xm)


def loess(x, y, span, robust_iters=2, at=None):
    at = x if at is None else at
    k = max(3, int(np.ceil(span * len(x))))
    delta = np.ones(len(x))
    for it in range(robust_iters + 1):
        fit = np.empty(len(x))
        for i, x0 in enumerate(x):
            d = np.abs(x - x0)
            h = np.partition(d, k - 1)[k - 1]
            fit[i] = local_fit(x, y, tricube(d / h) * delta, x0)
        if it == robust_iters:
            break
        resid = y - fit
        s = np.median(np.abs(resid))
        delta = (1 - np.clip(np.abs(resid) / (6 * s), 0, 1) ** 2) ** 2
    if at is x:
        return fit, delta
    out = []
    for x0 in at:
        d = np.abs(x - x0)
        h = np.sort(d)[k - 1]
        out.append(local_fit(x, y, tricube(d / h) * delta, x0))
    return np.array(out), delta


def cross_validate(x, y, spans, folds):
    errors = []
    for span in spans:
        err = []
        for f in range(folds):
            test = np.arange(len(x)) % folds == f
            pred, _ = loess(x[~test], y[~test], span, at=x[test])
            err.append(np.median(np.abs(pred - y[test])))
        errors.append(np.mean(err))
    return np.array(errors)


def main(x, y, spans, folds=4):
    order = np.argsort(x)
    x, y = x[order], y[order]
    errors = cross_validate(x, y, spans, folds)
    span = spans[int(np.argmin(errors))]
    fit, delta = loess(x, y, span)
    outliers = np.flatnonzero(delta < 0.05)
    return span, errors, fit, outliers


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, 120)
    y = np.sin(x) + 0.2 * x + 0.15 * rng.standard_normal(120)
    bad = rng.choice(120, 8, replace=False)
    y[bad] += rng.choice([-3, 3], 8)
    return x, y, [0.1, 0.2, 0.35, 0.5]


if __name__ == "__main__":
    span, errors, fit, outliers = main(*inputs())
    print("span", span, "errors", errors, "outliers", outliers)
