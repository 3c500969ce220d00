"""The deviations of docs/semantics.md, as far as a call and its results show that a difference is one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from checking import Run

from outside.programs import Program

ORDERS = (".argsort(", ".argpartition(", ".partition(")


def deviation(program: Program, leaves: list[Any], plain: Run, other: Run) -> str | None:
    """The title of the deviation that makes the runs differ; None where none does."""
    if isinstance(plain.error, Warning | FloatingPointError):
        return "NumPy's warnings are not given"
    if "mode='empty'" in program.text and plain.error is None is other.error:
        return "What NumPy leaves open" if np.shape(plain.result) == np.shape(other.result) else None
    if "overwrite_input=True" in program.text or ".broadcast_arrays(" in program.text:
        return _left_open(program, plain, other)
    if any(_is_subnormal(value) for value in (*leaves, plain.result)):
        return "Numbers too small to be normal are zero"
    if (
        other.error is None
        and any(name in program.text for name in ORDERS)
        and _is_other_order(leaves, plain, other)
    ):
        return "The order of equal elements"
    return None


def _left_open(program: Program, plain: Run, other: Run) -> str | None:
    """Whether only what such a function leaves of its argument, or whether repeated arrays are writable, is different."""
    if plain.error is not None or other.error is not None:
        return None
    results = plain.result, other.result
    if ".broadcast_arrays(" not in program.text:
        results = (plain.result,), (other.result,)
    same = all(np.allclose(a, b, equal_nan=True) for a, b in zip(*results, strict=True))
    return "What NumPy leaves open" if same else None


def _is_subnormal(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_is_subnormal(item) for item in value)
    if not isinstance(value, np.ndarray | np.generic | float | complex):
        return False
    array = np.asarray(value)
    if array.dtype.kind not in "fc" or array.dtype.type.__module__ != "numpy":
        return False
    least = np.finfo(array.dtype).smallest_normal
    parts = np.abs(np.stack([array.real, array.imag]))
    return bool(((parts > 0) & (parts < least)).any())


def _is_other_order(leaves: list[Any], plain: Run, other: Run) -> bool:
    """Whether the places, or the elements, of two results lead to the same elements in each row."""
    x, a, b = leaves[0], plain.result, other.result
    if (
        not all(isinstance(value, np.ndarray) for value in (x, a, b))
        or a.shape != b.shape
        or a.dtype != b.dtype
    ):
        return False
    if a.dtype != np.intp or x.shape != a.shape or not a.ndim:
        return bool(np.array_equal(np.sort(a, axis=None), np.sort(b, axis=None)))
    return any(
        np.array_equal(
            np.take_along_axis(x, a, axis), np.take_along_axis(x, b, axis), equal_nan=x.dtype.kind in "fc"
        )
        for axis in range(a.ndim)
    )
