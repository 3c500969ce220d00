"""Creation functions. The host computes the tensor and puts it on the device at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ...compiler.values.boundary import Form
from ...runtime.buckets import rules_by_axis
from ..array import LazyTensor, from_host
from ..buckets.running import mark
from ..devices import device_named, place_of
from ..tensor import node_of
from .data_types import ANY, DType, named
from .operands import apply, apply_any, array, copied

_CPU = 1
"""DLPack's number for host memory."""


def asarray(
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    bucket: Mapping[int, Any] | None = None,
) -> LazyTensor:
    """A lazy tensor with the elements of `obj`: an array, a number, or a nested sequence of these.

    `device`: a device, its name, a mesh (`jax.sharding.Mesh`), on all devices of which it lies, or a `NamedSharding`; a
    `jax.Array` stays where it is by default. What is no lazy tensor is copied. A lazy tensor is given back where its type
    and device are those asked for, unless `copy` is True. ValueError for `copy=False` where a copy is needed.

    `bucket`: by axis, which sizes share the programs that are computed from it, as for `pystage.compile`: `{0: "pow2"}`,
    `{0: 128}`, `{0: (100, 1000)}`. Programs take arrays that are padded, of which what was added takes part in nothing.
    """
    if bucket is not None:
        rules = rules_by_axis(bucket, "a lazy tensor")
        made = asarray(obj, dtype=dtype, device=device, copy=copy)
        if max(rules, default=0) >= made.ndim:
            raise ValueError(f"an array of shape {made.shape} has no axis {max(rules)} to put into buckets")
        mark(node_of(made), rules)
        return made
    target = named(dtype)
    if isinstance(obj, LazyTensor):
        return _converted(obj, target, device, copy)
    if copy is False:
        raise ValueError("a lazy tensor owns a copy of what it is made from; leave `copy=False` out")
    inner = _tensor_in(obj)
    if inner is not None:
        where = inner.device if device is None else device
        made = apply(np.stack, [asarray(each, device=where) for each in obj])
        return made if target in (None, made.dtype) else copied(made, target)
    if isinstance(obj, jax.Array) and target in (None, obj.dtype):
        elements: Any = obj
        device = place_of(obj) if device is None else device
    else:
        elements = np.asarray(obj, target)
    named(elements.dtype)
    return from_host(elements, device)


def _converted(x: LazyTensor, dtype: DType | None, device: Any, copy: bool | None) -> LazyTensor:
    moved = x if device is None else x.to(device)
    same = (dtype is None or dtype == x.dtype) and x._kind.form is Form.NDARRAY
    if copy is False and (moved is not x or not same):
        raise ValueError(
            "another element type, device or kind of tensor needs a copy; leave `copy=False` out"
        )
    if same and (moved is not x or not copy):
        return moved
    return copied(moved, dtype)


def _tensor_in(obj: Any) -> LazyTensor | None:
    """The first lazy tensor in a nested sequence."""
    if isinstance(obj, LazyTensor):
        return obj
    found = map(_tensor_in, obj) if isinstance(obj, list | tuple) else ()
    return next((tensor for tensor in found if tensor is not None), None)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> LazyTensor:
    """Evenly spaced numbers from `start` to before `stop`; with one argument from 0 to before that."""
    first, last = (0, start) if stop is None else (start, stop)
    return from_host(np.arange(first, last, step, dtype=named(dtype)), device)


def empty(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor whose elements are to be stored yet: they are 0."""
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x: LazyTensor, /, *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor of the shape of `x` whose elements are to be stored yet: they are 0."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> LazyTensor:
    """A matrix with ones on diagonal `k`, and zeros."""
    return from_host(np.eye(n_rows, n_cols, k, dtype=named(dtype) or np.float64), device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> LazyTensor:
    """A lazy tensor with a copy of the elements of an array that speaks DLPack."""
    if isinstance(x, LazyTensor):
        return _converted(x, None, device, copy)
    if copy is False:
        raise ValueError("a lazy tensor owns a copy of what it is made from; leave `copy=False` out")
    is_host = x.__dlpack_device__()[0] == _CPU
    return from_host(np.from_dlpack(x) if is_host else np.from_dlpack(x, device="cpu"), device)


def full(
    shape: int | tuple[int, ...], fill_value: complex, *, dtype: Any = None, device: Any = None
) -> LazyTensor:
    """A tensor with one number everywhere, of the type of that number where none is given."""
    return from_host(np.full(shape, fill_value, dtype=named(dtype)), device)


def full_like(x: LazyTensor, /, fill_value: complex, *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor of the shape of `x` with one number everywhere."""
    return _like(np.full_like, x, dtype, device, fill_value)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> LazyTensor:
    """`num` evenly spaced numbers from `start` to `stop`, which is left out without `endpoint`."""
    return from_host(np.linspace(start, stop, num, endpoint=endpoint, dtype=named(dtype)), device)


def meshgrid(*arrays: LazyTensor, indexing: str = "xy") -> list[LazyTensor]:
    """The coordinates of a grid, from those along each axis."""
    for x in arrays:
        if array("meshgrid", x).dtype != arrays[0].dtype:
            raise TypeError(
                f"`meshgrid` takes arrays of one element type, not {arrays[0].dtype} and {x.dtype}"
            )
    return list(apply_any(np.meshgrid, *arrays, indexing=indexing)) if arrays else []


def ones(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor of ones."""
    return from_host(np.ones(shape, named(dtype)), device)


def ones_like(x: LazyTensor, /, *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor of ones of the shape of `x`."""
    return _like(np.ones_like, x, dtype, device)


def tril(x: LazyTensor, /, *, k: int = 0) -> LazyTensor:
    """The lower triangles of matrices: zeros above diagonal `k`."""
    return _triangle(np.tril, x, k)


def triu(x: LazyTensor, /, *, k: int = 0) -> LazyTensor:
    """The upper triangles of matrices: zeros below diagonal `k`."""
    return _triangle(np.triu, x, k)


def zeros(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor of zeros."""
    return from_host(np.zeros(shape, named(dtype) or np.float64), device)


def zeros_like(x: LazyTensor, /, *, dtype: Any = None, device: Any = None) -> LazyTensor:
    """A tensor of zeros of the shape of `x`."""
    return _like(np.zeros_like, x, dtype, device)


def _like(function: Any, x: LazyTensor, dtype: Any, device: Any, *fill: Any) -> LazyTensor:
    """What NumPy's `function` makes of the shape of `x`: recorded, where it is on the device of `x`."""
    target = named(dtype) or array(function.__name__, x).dtype
    if device is None or device_named(device) == x.device:
        return apply(function, x, *fill, dtype=target)
    return from_host(function(np.broadcast_to(np.zeros((), x.dtype), x.shape), *fill, dtype=target), device)


def _triangle(function: Any, x: LazyTensor, k: int) -> LazyTensor:
    if array(function.__name__, x, ANY).ndim < 2:
        raise ValueError(f"`{function.__name__}` takes matrices, not an array of shape {x.shape}")
    return apply(function, x, k)
