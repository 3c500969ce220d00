"""Refusal of NumPy functions for bfloat16, which is not a type of NumPy's own.

They ask whether an element type is one of NumPy's floats. That of ml_dtypes is not, so they treat its numbers as
integers: they compute in float64, miss NaN, or raise TypeError. The meanings here refuse such arrays (PS203).
`jax.numpy` supports the type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.types import BFLOAT16
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ...operands.nested_sequences import samples
from ...registry import declared, replace_meaning
from .. import creation, fourier, rounding, series
from .. import selection as choosing
from ..indexing.stores import dtype_of
from ..linalg import array_api as linear_algebra
from ..linalg import einsum, factorisations, matrices, norms
from ..reductions import nan_order, scans, statistics
from ..reductions import sums as reductions

_DECLARED_IN = (
    choosing, creation, einsum, factorisations, fourier, linear_algebra, matrices, nan_order, norms, rounding,
    reductions, scans, series, statistics,
)  # fmt: skip
"""The modules whose meanings are replaced: they must have been imported."""

_FUNCTIONS = [
    np.clip, np.einsum, np.gradient, np.i0, np.linspace, np.nan_to_num, np.sinc, np.vander,
    *[getattr(np, name) for name in dir(np) if name.startswith("nan") and callable(getattr(np, name))],
    *[getattr(np.fft, name) for name in np.fft.__all__ if "freq" not in name and "shift" not in name],
    *[getattr(np.linalg, name) for name in ("cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv",
        "lstsq", "matrix_norm", "matrix_rank", "norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensorinv",
        "tensorsolve", "vector_norm")],
]  # fmt: skip


def is_bfloat16(ctx: Context, raw: Raw) -> bool:
    """Whether this is an array or a number of bfloat16, or a list that holds one."""
    if isinstance(raw, Const):
        return isinstance(raw.value, BFLOAT16.type)
    if isinstance(raw, Array):
        return raw.dtype == BFLOAT16
    if isinstance(raw, Bounded):
        return raw.type.dtype == BFLOAT16
    if ctx.is_ndarray(raw):
        return dtype_of(ctx, raw) == BFLOAT16
    return any(is_bfloat16(ctx, part) for part in samples(ctx, raw) or ())


def _without_bfloat16(function: Any, served: Callable[..., Abstract]) -> Callable[..., Abstract]:
    name = f"np.{'linalg.' * (function.__module__ == 'numpy.linalg')}{function.__name__}"

    @functools.wraps(served)
    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        if any(is_bfloat16(ctx, arg) for arg in (*args, *kwargs.values())):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="numbers of bfloat16"))
        return served(ctx, *args, **kwargs)

    return call


for _function in dict.fromkeys(_FUNCTIONS):
    _served = declared(_function)
    if _served is not None:
        replace_meaning(_function, _without_bfloat16(_function, _served))
