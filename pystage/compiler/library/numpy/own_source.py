"""NumPy's functions that are staged from NumPy's own source.

NumPy writes them in Python, over functions that have a meaning; `prelude/numpy_core.py` has what they call in C. So they
compute what the installed NumPy computes, and raise what it raises.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from ..kernels.python_implementations import meaning_by
from ..registry import meaning


def _from_source(*functions: Any) -> None:
    for function in functions:
        meaning(function)(meaning_by(_program_of(function)))


def _program_of(function: Any) -> types.FunctionType:
    """The Python function that a function of NumPy runs: another object, which has no meaning."""
    wrapped = getattr(function, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType):
        return wrapped
    code, namespace = function.__code__, function.__globals__
    copy = types.FunctionType(code, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(copy, function)
    return copy


_from_source(
    # means, covariances, differences
    np.cov,
    np.corrcoef,
    np.ediff1d,
    np.gradient,
    np.trapezoid,
    np.cumulative_prod,
    np.cumulative_sum,
    np.nanargmax,
    np.nanargmin,
    # polynomials, special functions
    np.poly,
    np.polyadd,
    np.polyder,
    np.polydiv,
    np.polysub,
    np.polyval,
    np.angle,
    np.fix,
    np.sinc,
    # matrices
    np.linalg.matrix_rank,
    np.diag_indices_from,
    np.mask_indices,
    np.tril_indices_from,
    np.triu_indices_from,
    # comparisons, types
    np.array_equal,
    np.asarray_chkfinite,
    np.astype,
    np.iscomplex,
    np.isreal,
    np.sort_complex,
    # axes, places
    np.apply_over_axes,
    np.fft.fftfreq,
    np.fft.rfftfreq,
    np.fromfunction,
    np.ix_,
    np.rollaxis,
    np.unstack,
)
