"""Operands of the functions of the standard: checks them and records NumPy's function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compiler.policy import is_own_file
from ...compiler.values.boundary import Form
from ..array import LazyTensor, from_host
from ..counting import counts
from ..in_numpy import DEFERRED, at_once
from ..recipes import kind_of, name_of
from ..recorder import Unrecorded, record
from ..tensor import host_view, node_of, owner
from .data_types import ANY, Category, DType, promoted, scalar_of, with_scalar


def apply(function: Callable[..., Any], *args: Any, **kwargs: Any) -> LazyTensor:
    """Records `function(*args, **kwargs)`, which gives one array; NumPy runs it where it cannot be recorded."""
    result: LazyTensor = apply_any(function, *args, **kwargs)
    return result


def apply_any(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """As `apply`, for a function that gives something else. What is recorded has the line of the user's call."""
    made = at_once(function, args, kwargs)
    if made is not DEFERRED:
        return _as_arrays(made)
    depth = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
        depth += 1
    try:
        return _as_arrays(record(function, args, kwargs, depth))
    except Unrecorded as reason:
        return _in_numpy(function, args, kwargs, str(reason))


def _in_numpy(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], reason: str) -> Any:
    """The result of NumPy's function for the elements of the tensors: a copy, which has no other names."""
    name = name_of(function)
    counts.note_unlowered(name, reason)
    cause = f"`{name}` runs in NumPy"
    device = next((x.device for x in args if type(x) is LazyTensor), None)
    result = function(
        *[_on_host(a, cause) for a in args], **{k: _on_host(v, cause) for k, v in kwargs.items()}
    )
    return _as_arrays(result, device)


def _on_host(value: Any, cause: str) -> Any:
    if type(value) is LazyTensor:
        return host_view(value, cause)
    return type(value)([_on_host(each, cause) for each in value]) if type(value) in (list, tuple) else value


def _as_arrays(result: Any, device: Any = None) -> Any:
    """A result as tensors: with arrays of no axes in place of NumPy's scalars, which the standard does not have."""
    if type(result) is LazyTensor:
        kind = result._kind
        if kind.form is not Form.SCALAR:
            return result
        return owner(node_of(result), kind_of(kind.type, Form.NDARRAY, kind.device))
    if type(result) is list:
        return [_as_arrays(each, device) for each in result]
    if isinstance(result, tuple):
        return tuple.__new__(type(result), [_as_arrays(each, device) for each in result])
    return from_host(result, device) if isinstance(result, np.ndarray | np.generic) else result


def copied(x: LazyTensor, dtype: DType | None = None) -> LazyTensor:
    """A new array with the elements of `x`, in row-major order."""
    return apply(np.array, x, dtype=x.dtype if dtype is None else dtype, order="C")


def array(name: str, x: Any, category: Category = ANY) -> LazyTensor:
    """An operand that must be a lazy tensor of a category. TypeError for others."""
    if type(x) is not LazyTensor:
        raise TypeError(
            f"`{name}` takes lazy tensors, not {type(x).__name__}; `pystage.lazy.asarray` makes one"
        )
    if x.dtype not in category:
        raise TypeError(f"`{name}` takes {category.name} arrays, not {x.dtype}")
    return x


def arrays(name: str, *values: Any, category: Category = ANY) -> tuple[LazyTensor, ...]:
    """Operands that must be lazy tensors of a category, with a common element type."""
    found = tuple([array(name, x, category) for x in values])
    promoted([x.dtype for x in found])
    return found


def operands(name: str, category: Category, *values: Any) -> Sequence[Any]:
    """Operands of which one at least is a lazy tensor; others may be Python scalars that fit it."""
    key = (name, *[x._kind if type(x) is LazyTensor else type(x) for x in values])
    if key in _passed:
        return values
    scalars = [scalar_of(x) for x in values]
    tensors = [array(name, x) for x, scalar in zip(values, scalars, strict=True) if scalar is None]
    if not tensors:
        raise TypeError(f"`{name}` takes at least one lazy tensor")
    dtype = promoted([x.dtype for x in tensors])
    for scalar in scalars:
        if scalar is not None:
            dtype = with_scalar(dtype, scalar)
    if dtype not in category:
        raise TypeError(f"`{name}` takes {category.name} arrays, not {dtype}")
    plain = [x if scalar is None else scalar for x, scalar in zip(values, scalars, strict=True)]
    if all(x is y for x, y in zip(plain, values, strict=True)):
        if len(_passed) >= _REMEMBERED:
            _passed.clear()
        _passed.add(key)
    return plain


_passed: set[tuple[Any, ...]] = set()
"""Functions with kinds of operands that fit them."""
_REMEMBERED = 10_000
