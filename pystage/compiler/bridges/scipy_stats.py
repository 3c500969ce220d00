"""Methods of `scipy.stats` distributions: plain programs over `scipy.special`, which are staged.

In: numbers or arrays, parameters of shape, `loc` and `scale`. Out: float64 as SciPy has it; NaN where a parameter is not
allowed. The formulas are those of SciPy's reference guide, of the standard distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

from ..library.context import Context, Raw
from ..library.kernels.python_implementations import run_program
from ..library.registry import method_meaning
from ..values.lattice import Abstract, Const

Method = Callable[..., Any]


def _density(method: Method, x: Any, shape: tuple[Any, ...], loc: Any, scale: Any) -> Any:
    """A density of the standard distribution at the place of `x`."""
    return _defined(method((np.asarray(x, dtype=float) - loc) / scale, *shape) / scale, shape, scale)


def _log_density(method: Method, x: Any, shape: tuple[Any, ...], loc: Any, scale: Any) -> Any:
    """The logarithm of a density."""
    value = method((np.asarray(x, dtype=float) - loc) / scale, *shape) - np.log(scale)
    return _defined(value, shape, scale)


def _probability(method: Method, x: Any, shape: tuple[Any, ...], loc: Any, scale: Any) -> Any:
    """A probability, or its logarithm."""
    return _defined(method((np.asarray(x, dtype=float) - loc) / scale, *shape), shape, scale)


def _quantile(method: Method, q: Any, shape: tuple[Any, ...], loc: Any, scale: Any) -> Any:
    """The place at which a probability is reached."""
    return _defined(method(np.asarray(q, dtype=float), *shape) * scale + loc, shape, scale)


def _defined(value: Any, shape: tuple[Any, ...], scale: Any) -> Any:
    """NaN where the scale, or a parameter of shape, is not positive."""
    for parameter in (*shape, scale):
        value = np.where(np.asarray(parameter) > 0, value, np.nan)
    return value[()]


# ---------------------------------------------------------------- standard distributions


def _norm_pdf(z: Any) -> Any:
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def _norm_logpdf(z: Any) -> Any:
    return -(z**2) / 2 - np.log(2 * np.pi) / 2


def _norm_cdf(z: Any) -> Any:
    return special.ndtr(z)


def _norm_logcdf(z: Any) -> Any:
    return special.log_ndtr(z)


def _norm_sf(z: Any) -> Any:
    return special.ndtr(-z)


def _norm_logsf(z: Any) -> Any:
    return special.log_ndtr(-z)


def _norm_ppf(q: Any) -> Any:
    return special.ndtri(q)


def _norm_isf(q: Any) -> Any:
    return -special.ndtri(q)


def _expon_pdf(z: Any) -> Any:
    return np.where(z < 0, 0.0, np.exp(-np.maximum(z, 0.0)))


def _expon_logpdf(z: Any) -> Any:
    return np.where(z < 0, -np.inf, -z)


def _expon_cdf(z: Any) -> Any:
    return -np.expm1(-np.maximum(z, 0.0))


def _expon_sf(z: Any) -> Any:
    return np.exp(-np.maximum(z, 0.0))


def _expon_ppf(q: Any) -> Any:
    inside = (q >= 0) & (q <= 1)
    return np.where(
        inside, -np.log1p(-np.where(inside & (q < 1), q, 0.0)) + np.where(q == 1, np.inf, 0.0), np.nan
    )


def _chi2_logpdf(z: Any, df: Any) -> Any:
    inside = np.maximum(z, 0.0)
    value = special.xlogy(df / 2 - 1, inside) - inside / 2 - special.gammaln(df / 2) - np.log(2) * df / 2
    return np.where(z < 0, -np.inf, value)


def _chi2_pdf(z: Any, df: Any) -> Any:
    return np.exp(_chi2_logpdf(z, df))


def _chi2_cdf(z: Any, df: Any) -> Any:
    return special.gammainc(df / 2, np.maximum(z, 0.0) / 2)


def _chi2_sf(z: Any, df: Any) -> Any:
    return special.gammaincc(df / 2, np.maximum(z, 0.0) / 2)


_ROLES: dict[str, Method] = {
    "pdf": _density,
    "logpdf": _log_density,
    "cdf": _probability,
    "logcdf": _probability,
    "sf": _probability,
    "logsf": _probability,
    "ppf": _quantile,
    "isf": _quantile,
}
_METHODS: dict[str, dict[str, Method]] = {
    "norm": {
        "pdf": _norm_pdf,
        "logpdf": _norm_logpdf,
        "cdf": _norm_cdf,
        "logcdf": _norm_logcdf,
        "sf": _norm_sf,
        "logsf": _norm_logsf,
        "ppf": _norm_ppf,
        "isf": _norm_isf,
    },
    "expon": {
        "pdf": _expon_pdf,
        "logpdf": _expon_logpdf,
        "cdf": _expon_cdf,
        "sf": _expon_sf,
        "ppf": _expon_ppf,
    },
    "chi2": {"pdf": _chi2_pdf, "logpdf": _chi2_logpdf, "cdf": _chi2_cdf, "sf": _chi2_sf},
}


def declare_stats(module: ModuleType) -> None:
    """The methods that are staged, of each distribution."""
    for name, methods in _METHODS.items():
        kind = type(getattr(module, name))
        for method, program in methods.items():
            meant = _without_shape if name != "chi2" else _with_degrees
            method_meaning(kind, method)(meant(_ROLES[method], program))


def _without_shape(role: Method, program: Method) -> Callable[..., Abstract]:
    def call(ctx: Context, self: Raw, x: Raw, loc: Raw = 0, scale: Raw = 1) -> Abstract:
        return run_program(ctx, role, (Const(program), x, Const(()), loc, scale))

    return call


def _with_degrees(role: Method, program: Method) -> Callable[..., Abstract]:
    def call(ctx: Context, self: Raw, x: Raw, df: Raw, loc: Raw = 0, scale: Raw = 1) -> Abstract:
        return run_program(ctx, _of_degrees, (Const(role), Const(program), x, df, loc, scale))

    return call


def _of_degrees(role: Method, method: Method, x: Any, df: Any, loc: Any, scale: Any) -> Any:
    """A method of a distribution with one parameter of shape."""
    return role(method, x, (df,), loc, scale)
