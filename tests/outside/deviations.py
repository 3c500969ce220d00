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
    if isinstance(plain.error, TypeError) and isinstance(other.error, TypeError):
        return "Texts that depend on what NumPy has called before" if "sig" in program.text else None
    if "mode='empty'" in program.text and plain.error is None is other.error:
        return "What NumPy leaves open" if np.shape(plain.result) == np.shape(other.result) else None
    if "overwrite_input=True" in program.text or ".broadcast_arrays(" in program.text:
        return _left_open(program, plain, other)
    if "where=" in program.text and "out=a" not in program.text and _calls_ufunc(program):
        return _left_out(leaves, plain, other)
    if _is_copied_out_of_order(plain, other):
        return "New arrays are stored row by row"
    if any(_is_subnormal(value) for value in (*leaves, plain.result)):
        return "Numbers too small to be normal are zero"
    if (
        other.error is None
        and any(name in program.text for name in ORDERS)
        and _is_other_order(program, leaves, plain, other)
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


def _calls_ufunc(program: Program) -> bool:
    """Whether a program calls a ufunc, and not a method of it."""
    name = program.text.partition("return np.")[2].partition("(")[0]
    return isinstance(getattr(np, name, None), np.ufunc)


def _left_out(leaves: list[Any], plain: Run, other: Run) -> str | None:
    """Whether only elements of a new array are different that `where=` leaves as they were in memory."""
    results = plain.result, other.result
    if not all(isinstance(result, np.ndarray) for result in results):
        return None
    masks = [leaf for leaf in leaves if isinstance(leaf, np.ndarray) and leaf.dtype == bool]
    here = [np.broadcast_to(mask, results[0].shape) for mask in masks if mask.ndim <= results[0].ndim]
    same = any(np.array_equal(results[0][mask], results[1][mask], equal_nan=True) for mask in here)
    return "What NumPy leaves open" if same else None


def _is_copied_out_of_order(plain: Run, other: Run) -> bool:
    """Whether only NumPy gives a view of an argument, as that does not lie row by row."""
    if not all(isinstance(run.result, np.ndarray) for run in (plain, other)):
        return False
    shared = [
        (np.shares_memory(plain.result, own), np.shares_memory(other.result, others))
        for own, others in zip(plain.args, other.args, strict=True)
        if isinstance(own, np.ndarray) and not own.flags.c_contiguous
    ]
    same = np.array_equal(plain.result, other.result, equal_nan=plain.result.dtype.kind in "fc")
    return same and (True, False) in shared


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


def _is_other_order(program: Program, leaves: list[Any], plain: Run, other: Run) -> bool:
    """Whether the places, or the elements, of two results lead to the same elements along an axis.

    What stands beside `kth` of a partition may be exchanged.
    """
    x, results = leaves[0], (plain.result, other.result)
    if not all(isinstance(value, np.ndarray) and value.ndim for value in (x, *results)):
        return False
    if len({(result.shape, result.dtype) for result in results}) > 1:
        return False
    of_places = ".partition(" not in program.text
    if of_places and x.shape != results[0].shape:
        x = x.ravel()
    if of_places and x.shape != results[0].shape:
        return False
    for axis in range(results[0].ndim):
        lines = [np.take_along_axis(x, r, axis) if of_places else r for r in results]
        if ".argsort(" not in program.text:
            lines = [np.sort(line, axis) for line in lines]
        if np.array_equal(*lines, equal_nan=lines[0].dtype.kind in "fc"):
            return True
    return False
