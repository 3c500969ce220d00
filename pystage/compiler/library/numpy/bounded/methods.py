"""Methods of bounded arrays that are no function of NumPy's of the same name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import NONE, Abstract, Array, Const
from ...context import Context, Raw
from ...kernels import row_lists
from ...kernels.structures import abstract, new_rows
from ..indexing.beside import elementwise
from ..indexing.bounded import bounded, elements, raveled, refuse
from ..indexing.subscripts import store_selected


def _astype(ctx: Context, self: Raw, *args: Raw, **options: Raw) -> Abstract:
    """The elements in another type."""

    def whole(array: Raw) -> Abstract:
        given = [abstract(a) for a in args]
        named = {key: abstract(a) for key, a in options.items()}
        return ctx.call(ctx.getattr(abstract(array), "astype"), given, named)

    return elementwise(ctx, "the method astype", np.copy, whole, self)


def _copy(ctx: Context, self: Raw, order: Raw = "C") -> Abstract:
    """The same elements in memory of their own."""
    assert isinstance(self, Bounded)
    if isinstance(self.whole, Array):
        return self
    made = bounded(ctx, ctx.ndarray(elements(ctx, self)), self.extents)
    return made


def _flatten(ctx: Context, self: Raw, order: Raw = "C") -> Abstract:
    """A copy in one axis."""
    assert isinstance(self, Bounded)
    return _copy(ctx, self) if self.rank == 1 else raveled(ctx, self)


def _fill(ctx: Context, self: Raw, value: Raw) -> Abstract:
    """The same value in every element."""
    assert isinstance(self, Bounded)
    store_selected(ctx, self, value)
    return NONE


def _sort(ctx: Context, self: Raw, axis: Raw = -1, **options: Raw) -> Abstract:
    """The elements in order, in place."""
    assert isinstance(self, Bounded)
    named = {key: abstract(a) for key, a in options.items()}
    store_selected(ctx, self, ctx.call(Const(np.sort), [self, abstract(axis)], named))
    return NONE


def _tolist(ctx: Context, self: Raw) -> Abstract:
    """A list of Python numbers."""
    rows = row_lists.of_array(ctx, self, Form.PYTHON)
    if rows is None:
        refuse(ctx, "tolist", self)
    return new_rows(ctx, rows)


def _nonzero(ctx: Context, self: Raw) -> Abstract:
    """Where it is not zero."""
    return ctx.call(Const(np.nonzero), [abstract(self)])


BOUNDED_METHODS: dict[str, Any] = {
    "astype": _astype,
    "copy": _copy,
    "fill": _fill,
    "flatten": _flatten,
    "nonzero": _nonzero,
    "sort": _sort,
    "tolist": _tolist,
}
"""By name: what a method of a bounded array does."""
