"""Methods of bounded arrays without a NumPy function of the same name."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...hlo.types import is_complex
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import NONE, Abstract, Array, Const, Tuple
from ..containers import row_lists
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import abstract, new_rows, sequence_items
from .array_methods import nested_lists
from .indexing.bounded import bounded, elements, raveled, refuse
from .indexing.bounded_operands import elementwise, only_element
from .subscripts.subscripts import array_getitem, store_selected


def _astype(ctx: Context, /, self: Raw, *args: Raw, **options: Raw) -> Abstract:
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


def _sort(ctx: Context, /, self: Raw, axis: Raw = -1, **options: Raw) -> Abstract:
    """The elements in order, in place; of a `jax.Array` in a new one."""
    assert isinstance(self, Bounded)
    named = {key: abstract(a) for key, a in options.items()}
    if self.form is Form.JAX:
        return ctx.call(Const(jnp.sort), [self, abstract(axis)], named)
    store_selected(ctx, self, ctx.call(Const(np.sort), [self, abstract(axis)], named))
    return NONE


def _tolist(ctx: Context, self: Raw) -> Abstract:
    """Nested lists of Python numbers."""
    if isinstance(self, Bounded) and self.rank > 1:
        return run_program(ctx, nested_lists, (self,))
    rows = row_lists.of_array(ctx, self, Form.PYTHON)
    if rows is None:
        refuse(ctx, "tolist", self)
    return new_rows(ctx, rows)


def _nonzero(ctx: Context, self: Raw) -> Abstract:
    """Where it is not zero."""
    assert isinstance(self, Bounded)
    return ctx.call(Const(jnp.nonzero if self.form is Form.JAX else np.nonzero), [self])


def _conjugate(ctx: Context, self: Raw) -> Abstract:
    """The complex conjugates of the elements; an ndarray of real numbers is given back itself."""
    assert isinstance(self, Bounded)
    if self.form is not Form.JAX and not is_complex(self.type.dtype):
        return self
    function = jnp.conjugate if self.form is Form.JAX else np.conjugate
    return ctx.call(Const(function), [self])


def _item(ctx: Context, self: Raw, *args: Raw) -> Abstract:
    """One element as a number of Python's: the only one, or the one at an index."""
    assert isinstance(self, Bounded)
    if not args:
        only = only_element(ctx, self, _the_item)
        return ctx.call(ctx.getattr(ctx.ndarray(only.value), "item"), [])
    index = sequence_items(ctx, args[0]) if len(args) == 1 else args
    if index is None:
        found = array_getitem(ctx, raveled(ctx, self), args[0])
    elif len(index) != self.rank:
        ctx.raise_(ValueError("incorrect number of indices for array"))
    else:
        found = array_getitem(ctx, self, Tuple(tuple([abstract(i) for i in index])))
    return ctx.call(ctx.getattr(found, "item"), [])


def _the_item(array: Any) -> object:
    return array.item()


BOUNDED_METHODS: dict[str, Any] = {
    "astype": _astype,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "copy": _copy,
    "fill": _fill,
    "flatten": _flatten,
    "item": _item,
    "nonzero": _nonzero,
    "sort": _sort,
    "tolist": _tolist,
}
"""The methods of bounded arrays by name."""
