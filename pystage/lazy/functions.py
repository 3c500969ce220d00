"""Plain functions that the compiler infers for recorded calls of other than NumPy functions."""

from __future__ import annotations

from typing import Any

import numpy as np


def getitem(x: Any, key: Any) -> Any:
    """`x[key]`."""
    return x[key]


def setitem(x: Any, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    x[key] = value


def fill(x: Any, value: Any) -> None:
    """`x[...] = value`: the store into a view."""
    x[...] = value


def attribute(name: str, x: Any) -> Any:
    """`x.name`."""
    return getattr(x, name)


def set_attribute(name: str, x: Any, value: Any) -> None:
    """`x.name = value`."""
    setattr(x, name, value)


def method(name: str, x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`x.name(*args, **kwargs)`."""
    return getattr(x, name)(*args, **kwargs)


def flat_item(x: Any, key: Any) -> Any:
    """`x.flat[key]`."""
    return x.flat[key]


def set_flat_item(x: Any, key: Any, value: Any) -> None:
    """`x.flat[key] = value`."""
    x.flat[key] = value


def floor_divide(x: Any, y: Any) -> Any:
    """`floor(x / y)` of floats as the Array API standard has it: where one is infinite, NumPy gives NaN or -1."""
    infinite = np.isinf(x) | np.isinf(y)
    return np.where(infinite, np.floor(np.divide(x, y)), np.floor_divide(x, y))


def tanh(x: Any) -> Any:
    """`numpy.tanh` of complex numbers; of infinite ones the imaginary part is a zero of the sign that `x` has there."""
    y = np.array(np.tanh(x))
    np.copyto(y.imag, np.copysign(0.0, x.imag), where=np.isinf(x.real) & np.isfinite(x.imag))
    return y
