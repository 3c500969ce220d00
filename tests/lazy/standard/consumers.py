"""Programs of libraries that work on any array of the standard: run on lazy tensors and on ndarrays, and compared.

A script of its own, run with `SCIPY_ARRAY_API=1`, which SciPy and scikit-learn read when they are imported. It prints what
went wrong.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats
from array_api_compat import array_namespace, device, is_array_api_obj, size, to_device
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler

from pystage import lazy

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = X @ np.arange(4.0) + rng.normal(size=40)
LABELS = (X[:, 0] > 0).astype(np.int64)
P = rng.uniform(0.05, 0.95, 20)

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "PCA": (lambda x: PCA(2, svd_solver="full").fit_transform(x), (X,)),
    "Ridge": (lambda x, y: Ridge(solver="svd").fit(x, y).predict(x), (X, Y)),
    "LDA": (lambda x, y: LinearDiscriminantAnalysis().fit(x, y).predict(x), (X, LABELS)),
    "naive Bayes": (lambda x, y: GaussianNB().fit(x, y).predict_proba(x), (X, LABELS)),
    "scaler": (lambda x: MinMaxScaler().fit_transform(x), (X,)),
    "errors": (lambda x, y: [mean_squared_error(x, y), r2_score(x, y)], (Y, Y + 0.1)),
    "accuracy": (accuracy_score, (LABELS, LABELS[::-1].copy())),
    "kernel": (rbf_kernel, (X, X[:5])),
    "log_ndtr": (scipy.special.log_ndtr, (Y,)),
    "gammainc": (scipy.special.gammainc, (P, P[::-1].copy())),
    "logsumexp": (scipy.special.logsumexp, (X,)),
    "skew": (scipy.stats.skew, (X,)),
    "t-test": (lambda x: scipy.stats.ttest_1samp(x, 0.0).pvalue, (X,)),
    "whiten": (scipy.cluster.vq.whiten, (X,)),
    "rfft": (scipy.fft.rfft, (Y,)),
    "filter": (lambda x: scipy.ndimage.gaussian_filter(x, 1.0), (X,)),
    "convolve": (scipy.signal.fftconvolve, (Y, P)),
    "trapezoid": (scipy.integrate.trapezoid, (Y,)),
}


def wrong(program: Callable[..., Any], operands: tuple[Any, ...]) -> str | None:
    """What is wrong with the result on lazy tensors, None if it is that on ndarrays."""
    expected = program(*operands)
    with config_context(array_api_dispatch=True):
        found = program(*[lazy.asarray(x) for x in operands])
    if isinstance(expected, np.ndarray) and type(found) is not lazy.LazyTensor:
        return f"gives {type(found).__name__}"
    same = np.shape(found) == np.shape(expected) and np.allclose(np.asarray(found), expected, 1e-6, 1e-8)
    return None if same else "gives other numbers"


def compat() -> str | None:
    """What `array_api_compat` takes a lazy tensor for."""
    x = lazy.asarray(X)
    assert is_array_api_obj(x) and array_namespace(x, lazy.asarray(Y)) is lazy
    assert size(x) == X.size and device(x) == x.device and to_device(x, x.device) is x
    return None


def main() -> None:
    warnings.simplefilter("ignore")
    failures = {}
    for name, run in (("compat", compat), *((n, lambda p=p: wrong(*p)) for n, p in PROGRAMS.items())):
        try:
            failures[name] = run()
        except Exception:
            failures[name] = traceback.format_exc(limit=-3)
    json.dump({name: text for name, text in failures.items() if text is not None}, sys.stdout)


if __name__ == "__main__":
    main()
