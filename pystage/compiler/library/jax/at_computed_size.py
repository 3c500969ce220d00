"""`x.at[index].set(v)` of a `jax.Array` whose size only the run knows: plain programs that store into a copy.

NumPy raises for an index that is out of bounds, JAX drops the update. So the programs look first, and the index has one of
the forms for which that is a test of its own: integers and slices, or one array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.types import BOOL, DType
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, Const, SliceObject, Tuple
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import abstract
from ..numpy.indexing.indices import is_index


def refuse_bounded(ctx: Context, name: str) -> NoReturn:
    """Refuses an update of an array of computed size."""
    ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"x.at[].{name}", argument="array of computed size"))


def update_of_bounded(
    ctx: Context, name: str, array: Bounded, index: Raw, values: Raw, combine: np.ufunc | None = None
) -> Abstract:
    """`array.at[index].name(values)`, which stores values, or `combine`s the elements with them."""
    if array.weak:
        refuse_bounded(ctx, name)
    ufunc = Const(combine)
    places: list[Abstract] = []
    entries = [abstract(entry) for entry in (index.items if isinstance(index, Tuple) else (index,))]
    dots = [i for i, entry in enumerate(entries) if isinstance(entry, Const) and entry.value is Ellipsis]
    for i in dots[:1]:
        entries[i : i + 1] = [_ALL] * (array.rank - len(entries) + 1)
    for axis, entry in enumerate(entries):
        if is_index(entry):
            places.append(Tuple((Const(axis), entry)))
        elif not _is_slice(entry):
            program = _at_array(entry) if len(entries) == 1 else None
            if program is None:
                ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"x.at[].{name}", argument="index"))
            return run_program(ctx, program, (array, entry, values, ufunc))
    return run_program(ctx, _at_places, (array, Tuple(tuple(entries)), values, ufunc, Tuple(tuple(places))))


_ALL = Const(slice(None))
_OF_NUMBERS = frozenset({"add", "subtract", "multiply", "mul"})


def promoted(ctx: Context, array: Array | Bounded, values: Raw) -> DType:
    """The dtype that an update is computed in, before it is cast to that of the array."""
    kind: DType = ctx.known(ctx.call(Const(jnp.result_type), [array, values]), "the dtype of x.at[]")
    return kind


def check_combines(ctx: Context, name: str, array: Array | Bounded, values: Raw) -> None:
    """Refuses sums and products of booleans, for which JAX raises."""
    if name in _OF_NUMBERS and promoted(ctx, array, values) == BOOL:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"x.at[].{name}", argument="array of booleans"))


def elements_of_bounded(ctx: Context, array: Bounded, index: Raw) -> Abstract:
    """`array.at[index].get()`."""
    return run_program(ctx, _elements, (array, index))


def _elements(x: Any, index: Any) -> Any:
    return x[index]


def _is_slice(entry: Abstract) -> bool:
    return isinstance(entry, SliceObject) or (isinstance(entry, Const) and isinstance(entry.value, slice))


def _at_array(entry: Abstract) -> Callable[..., Any] | None:
    """The program for an index that is one array; None where it has other than one axis."""
    if not isinstance(entry, Array | Bounded) or entry.type.rank != 1:
        return None
    return _at_mask if entry.type.dtype == BOOL else _at_indices


def _at_places(x: Any, index: Any, values: Any, ufunc: Any, places: Any) -> Any:
    """An update at integers and slices; `places` are the axes with integers, and these."""
    kind = jnp.result_type(x, values)
    stored = np.array(jnp.asarray(x, kind))
    values = np.asarray(jnp.asarray(values, kind))
    inside = True
    for axis, place in places:
        if not x.shape[axis]:
            raise IndexError(f"index is out of bounds for axis {axis} with size 0")
        inside = inside and -x.shape[axis] <= place < x.shape[axis]
    if inside:
        stored[index] = values if ufunc is None else ufunc(stored[index], values)
    return jnp.asarray(stored).astype(x.dtype)


def _at_indices(x: Any, index: Any, values: Any, ufunc: Any) -> Any:
    """An update at an array of integers, which may repeat."""
    kind = jnp.result_type(x, values)
    stored = np.array(jnp.asarray(x, kind))
    values = np.asarray(jnp.asarray(values, kind))
    inside = (index >= -len(x)) & (index < len(x))
    if values.ndim == x.ndim:
        if len(values) != len(index):
            given = ",".join([str(n) for n in values.shape])
            wanted = ",".join([str(n) for n in (*index.shape, *x.shape[1:])])
            raise ValueError(
                f"Incompatible types for broadcasting: input type={x.dtype}[{given}] and requested "
                f"type={x.dtype}[{wanted}]"
            )
        values = values[inside]
    if ufunc is None:
        stored[index[inside]] = values
    else:
        ufunc.at(stored, np.asarray(index[inside]), values)
    return jnp.asarray(stored).astype(x.dtype)


def _at_mask(x: Any, mask: Any, values: Any, ufunc: Any) -> Any:
    """An update where a mask is true."""
    kind = jnp.result_type(x, values)
    stored = np.array(jnp.asarray(x, kind))
    values = np.asarray(jnp.asarray(values, kind))
    stored[mask] = values if ufunc is None else ufunc(stored[mask], values)
    return jnp.asarray(stored).astype(x.dtype)
