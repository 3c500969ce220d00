"""Numbers in joins: element type, form, conversions without loss, ranges of integers."""

from __future__ import annotations

import numpy as np

from ...analysis.induction import widened
from ...analysis.ranges import ANY, Interval, hull
from ...hlo.builder import Builder
from ...hlo.ir import Value
from ...hlo.types import INT64, DType
from ...ops import Convert, constant
from ...values.boundary import Form
from ...values.gated import GatedNumber, tag_of
from ...values.lattice import Abstract, Array, Const, NumberKind
from . import promote

_PRECISION = {2: 11, 4: 24, 8: 53}
"""The bits of the significand of a floating-point number, by its bytes."""


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


def kinds_of(x: Abstract) -> tuple[NumberKind, ...]:
    """The kinds that a number may be of; mostly one."""
    assert isinstance(x, Array | Const)
    return promote.kinds_of(x)


def common_type(a: Abstract, b: Abstract) -> tuple[DType, bool] | None:
    """An element type for a number that is `a` or `b`; and whether it may not hold their integers exactly.

    None if there is no such type.
    """
    types = [number_type(x)[0] for x in (a, b)]
    for dtype in types:
        if all(map(holds_all, (a, b), types, (dtype, dtype))):
            return dtype, False
    try:
        dtype = np.result_type(*types)
    except TypeError:
        return None
    inexact = [x for x, own in zip((a, b), types) if _has_whole(x) or not holds_all(x, own, dtype)]
    if any(kind.dtype == np.uint64 for x in inexact for kind in kinds_of(x)):
        return None
    return dtype, bool(inexact)


def _has_whole(x: Abstract) -> bool:
    return isinstance(x, GatedNumber) and x.whole is not None


def holds_all(x: Abstract, source: DType, target: DType) -> bool:
    """True if the number `x`, of element type `source`, is exact in `target`."""
    if source == target:
        return not _has_whole(x)
    if target.kind == "b" or (source.kind == "c" and target.kind != "c"):
        return False
    if source.kind not in "biu" and target.kind in "iu":
        return False  # -0.0 is no integer
    if isinstance(x, Const):
        with np.errstate(all="ignore"):
            try:
                wide = target.type(x.value)
                if isinstance(x.value, int | np.integer) and target.kind not in "biu":
                    return complex(wide) == int(x.value)  # NumPy would round the integer first
                return bool(wide == x.value) or x.value != x.value
            except (OverflowError, TypeError):
                return False
    if source.kind in "iu" and target.kind in "fc":
        low, high = range_of(x)
        most = 2 ** _PRECISION[target.itemsize // (2 if target.kind == "c" else 1)]
        if -most <= low <= high <= most:
            return True
        return bool(2 ** (8 * source.itemsize) <= most)
    return bool(np.can_cast(source, target, "safe"))


def range_of(x: Abstract) -> Interval:
    """The range of a number that holds everywhere."""
    if isinstance(x, Const):
        return (x.value, x.value) if isinstance(x.value, int) else ANY
    return x.range if isinstance(x, Array) else ANY


def joined_range(a: Abstract, b: Abstract, loop: bool) -> Interval:
    """The range of an integer that is `a` or `b`, widened for loops."""
    return (widened if loop else hull)(range_of(a), range_of(b))


def number_value(b: Builder, x: Array | Const) -> Value:
    """A number or an array as a program value, in its own element type."""
    return x.value if isinstance(x, Array) else constant(b, x.value)


# ---------------------------------------------------------------- numbers of several kinds


def is_of_kind(b: Builder, x: Abstract, kind: NumberKind) -> Value:
    """Whether a number is of a kind."""
    if isinstance(x, GatedNumber) and kind in x.kinds:
        return tag_of(b, x, x.kinds.index(kind))
    return constant(b, kind in kinds_of(x))


def whole_of(b: Builder, x: Abstract) -> Value:
    """A number as an int64, if it is an integer; otherwise any."""
    if isinstance(x, GatedNumber) and x.whole is not None:
        return x.whole
    if isinstance(x, Const):
        whole = int(x.value) if isinstance(x.value, int | np.integer | np.bool_) else 0
        return constant(b, whole, INT64)
    assert isinstance(x, Array)
    return x.value if x.dtype == INT64 else b.op(Convert(INT64), x.value)
