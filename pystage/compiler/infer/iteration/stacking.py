"""Nested lists and tuples as one array, as `np.asarray` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...ops import Constant
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const
from ...values.rows import stacked

if TYPE_CHECKING:
    from ..core.engine import Engine


def stack(engine: Engine, items: list[Abstract]) -> Array:
    """The items, all of one shape, along a new first axis; the dtype that holds all of them."""
    parts = [engine.read(item) for item in items]
    if all(isinstance(p, Const) for p in parts):
        try:
            array = np.asarray([cast(Const, p).value for p in parts])
        except OverflowError as error:
            engine.raise_(error)
        return Array(engine.b.op(Constant(array)), Form.NDARRAY)
    dtype = np.result_type(*[_dtype(p) for p in parts])
    shapes = {p.shape if isinstance(p, Array) else () for p in parts}
    if len(shapes) > 1:
        engine.raise_(
            ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape "
                f"after 1 dimensions. The detected shape was ({len(parts)},) + inhomogeneous part."
            )
        )
    rows = [
        engine.b.op(Constant(np.asarray(part.value, dtype)))
        if isinstance(part, Const)
        else engine.convert(part.value, dtype)
        for part in parts
    ]
    return Array(stacked(engine.b, rows), Form.NDARRAY)


def _dtype(part: Array | Const) -> Any:
    if isinstance(part, Const):
        return np.asarray(part.value).dtype
    return part.dtype
