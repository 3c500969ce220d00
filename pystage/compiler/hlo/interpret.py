"""The reference interpreter: runs a program operation by operation in NumPy.

Each operation computes its own `reference`; regions and callees run when the operation runs them. It is the second oracle
of the tests, beside XLA, and runs segments of lazy tensors that are not worth compiling yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .ir import Function, Op, Region, Value
from .op import HloOp
from .types import ArrayType


class InterpretError(Exception):
    """An operation's reference gave another type than its transfer function, or an argument does not fit."""


def interpret(function: Function, args: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The results of `function` for arrays of its parameters' types.

    Raises `InterpretError` if the dtype or shape of an argument, or of what an operation's reference
    computes, is not what the program says.
    """
    with np.errstate(all="ignore"):
        return _Frame().run(function.body, args)


def run_op(op: Op, operands: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The results of one operation without regions for these operands."""
    with np.errstate(all="ignore"):
        return _results(op, operands, _Frame())


class _Frame:
    """The values computed so far. A region that runs again overwrites what it computed before."""

    def __init__(self) -> None:
        self._arrays: dict[Value, np.ndarray] = {}

    def run(self, region: Region, args: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The results of a region for these arguments."""
        if len(args) != len(region.params):
            raise InterpretError(f"{len(args)} arguments for {len(region.params)} parameters")
        for param, value in zip(region.params, args, strict=True):
            self._arrays[param] = _checked(value, param.type, "an argument")
        for op in region.ops:
            self._execute(op)
        return tuple([self._arrays[r] for r in region.results])

    def _execute(self, op: Op) -> None:
        operands = [self._arrays[v] for v in op.operands]
        for value, result in zip(op.results, _results(op, operands, self), strict=True):
            self._arrays[value] = _checked(result, value.type, op.kind)


def _results(op: Op, operands: Sequence[np.ndarray], frame: _Frame) -> tuple[np.ndarray, ...]:
    made = op.kind.reference_regions(frame.run, operands, op.regions)
    return made if isinstance(made, tuple) else (made,)


def _checked(value: np.ndarray, type: ArrayType, source: HloOp | str) -> np.ndarray:
    """`value` as an array, if it has the type."""
    array = np.asarray(value)
    if array.dtype != type.dtype or array.shape != type.shape:
        what = source if isinstance(source, str) else f"the reference of {source}"
        raise InterpretError(f"{what} is {ArrayType(array.dtype, array.shape)}, not {type}")
    return array
