"""Numbers as a join sees them: element type, form, what one type holds of another, bounds of integers."""

from __future__ import annotations

import numpy as np

from ..hlo.types import DType
from ..values.boundary import Form
from ..values.lattice import Abstract, Array, Const


def python_dtype(value: object) -> DType:
    """The element type in which the program holds a Python or NumPy number."""
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        return np.dtype(np.int64)
    return np.dtype(np.float64 if isinstance(value, float) else np.complex128)


def number_type(x: Abstract) -> tuple[DType, Form, tuple[int, ...]]:
    """Element type, form and shape of a number."""
    if isinstance(x, Const):
        return python_dtype(x.value), Form.SCALAR if isinstance(x.value, np.generic) else Form.PYTHON, ()
    assert isinstance(x, Array)
    return x.dtype, x.form, x.shape


def holds_all(x: Abstract, source: DType, target: DType) -> bool:
    """True if the number `x`, of element type `source`, loses nothing in `target`."""
    if isinstance(x, Const):
        if target.kind == "b" or (source.kind in "fc" and target.kind in "iu"):
            return False
        with np.errstate(all="ignore"):
            try:
                return bool(target.type(x.value) == x.value) or x.value != x.value
            except (OverflowError, TypeError):
                return False
    return target.kind != "b" and np.can_cast(source, target, "safe")


def bounds(x: Abstract) -> tuple[int | None, int | None]:
    """What is known of the least and the greatest value of an integer."""
    if isinstance(x, Const):
        return (x.value, x.value) if isinstance(x.value, int) else (None, None)
    return (x.lower, x.upper) if isinstance(x, Array) else (None, None)
