"""Placeholder values for parameters of distributions whose values are not known yet.

In: the name of a parameter and its type. Out: a value of that type in the domain of the distribution, so that a trial draw
determines the type of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....hlo.types import ArrayType

_VALUES: dict[str, float] = {
    "a": 1000, "low": 0, "high": 100, "p": 0.5, "df": 3, "dfnum": 3, "dfden": 3, "left": 0, "mode": 0.5,
    "nsample": 1, "mu": 0,
}  # fmt: skip
"""An allowed value for a parameter, where it is not 1."""


def placeholder(parameter: str, type: ArrayType, distribution: str, alone: bool) -> Any:
    """A value for a parameter of a distribution, which the program gets from its caller.

    `alone`: it is the only limit, the upper one whatever it is called.
    """
    shape, dtype = type.shape, type.dtype
    if parameter == "pvals" or (parameter == "p" and distribution == "choice"):
        return np.full(shape, 1 / max(shape[-1] if shape else 1, 1), dtype)
    if parameter == "cov" and len(shape) > 1:
        return np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape)
    if parameter == "low" and alone:
        parameter = "high"
    value = np.asarray(_VALUES.get(parameter, 1)).astype(dtype)
    return np.full(shape, value) if shape else value.item()
