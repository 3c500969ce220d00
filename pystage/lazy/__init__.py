"""Lazy tensors: NumPy's array API that records what is done, and compiles it when somebody looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import LazyTensor, from_host
from .control import sync
from .counting import Metrics, metrics, report, reset_metrics
from .devices import DeviceMismatch
from .steps import StepError, step

__all__ = [
    "DeviceMismatch",
    "LazyTensor",
    "Metrics",
    "StepError",
    "asarray",
    "metrics",
    "report",
    "reset_metrics",
    "step",
    "sync",
]


def asarray(x: Any, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A lazy tensor with a copy of the elements of `x`."""
    return from_host(np.asarray(x, dtype), device)
