"""Methods of `scipy.stats` distributions, compiled and interpreted, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

stats = pytest.importorskip("scipy.stats")

cases = Cases()
X = np.array([-40.0, -3.0, -0.5, 0.0, 1e-8, 0.7, 2.0, 9.0, 45.0, np.inf, -np.inf, np.nan])
Q = np.array([-0.1, 0.0, 1e-12, 0.3, 0.5, 0.975, 1.0, 1.1, np.nan])


@cases.each((X,), (X[5],), (X.astype(np.float32),), (np.array([[1, 2], [0, -3]]),), (2,), tolerance=1e-12)
def of_places(x: Any) -> Any:
    norm = (
        stats.norm.pdf(x),
        stats.norm.logpdf(x),
        stats.norm.cdf(x),
        stats.norm.logcdf(x),
        stats.norm.sf(x),
        stats.norm.logsf(x),
    )
    expon = stats.expon.pdf(x), stats.expon.logpdf(x), stats.expon.cdf(x), stats.expon.sf(x)
    return norm, expon, stats.norm.cdf(x, 1.0, scale=2.5), stats.expon.pdf(x, loc=-1, scale=0.5)


@cases.each((Q,), (0.3,), (np.array([0, 1]),), tolerance=1e-12)
def of_probabilities(q: Any) -> Any:
    return (
        stats.norm.ppf(q),
        stats.norm.isf(q),
        stats.norm.ppf(q, 3.0, 0.5),
        stats.expon.ppf(q),
        stats.expon.ppf(q, scale=2.0),
    )


@cases.each((X, 1), (X, 4.5), (3.0, 1), (np.arange(4.0), np.array([1.0, 2.0, 5.0, 30.0])), tolerance=1e-11)
@cases.each((X, 0), (np.arange(3.0), np.array([-1.0, 2.0, 0.0])), tolerance=1e-11)
def with_degrees_of_freedom(x: Any, df: Any) -> Any:
    return (
        stats.chi2.cdf(x, df),
        stats.chi2.sf(x, df),
        stats.chi2.pdf(x, df, 0.5, 2.0),
        stats.chi2.logpdf(x, df),
    )


@cases.each((X, 0.0), (X, -1.0), (2.0, 1.5))
def with_computed_scale(x: Any, scale: Any) -> Any:
    return stats.norm.cdf(x, 0.5, scale), stats.norm.ppf(0.25, scale=scale)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_as_scipy(function: Any, args: Any, options: Any) -> None:
    check(function, *args, **options)
