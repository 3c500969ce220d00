"""NumPy functions that apply a function along axes or to elements, and `block`.

`apply_along_axis` and `vectorize` are loops that call the staged function; as in NumPy, the first call determines the
shape and element type of the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ....diagnostics.codes_calls import WrongArguments
from ....diagnostics.codes_types import ArgumentNotStaged
from ....values.lattice import Abstract, Const, Meaning
from ...context import Context, Raw
from ...kernels.python_implementations import composed, run_program
from ...kernels.structures import abstract
from ...operands.known_calls import folded
from ...registry import instance_meaning, meaning
from ...rules.jax import is_none
from .bfloat16 import is_bfloat16


@composed(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`func1d` of each line along an axis; the axes of its result replace that axis."""
    given = np.asarray(arr)
    at = normalize_axis_index(axis, given.ndim)
    lines = np.moveaxis(given, at, -1)
    outer = lines.shape[:-1]
    flat = lines.reshape(math.prod(outer), lines.shape[-1])
    if len(flat) == 0:
        try:
            raise StopIteration
        except StopIteration:
            raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0") from None
    first = np.asarray(func1d(flat[0], *args, **kwargs))
    result = np.empty((len(flat), *first.shape), first.dtype)
    result[0] = first
    for i in range(1, len(flat)):
        result[i] = func1d(flat[i], *args, **kwargs)
    whole = result.reshape(outer + first.shape)
    inner = range(len(outer), len(outer) + first.ndim)
    return np.transpose(whole, (*range(at), *inner, *range(at, len(outer))))


# ---------------------------------------------------------------- vectorize


def _vectorized(pyfunc: Any, otypes: Any, *args: Any) -> Any:
    """`pyfunc` of each element of the arrays, which broadcast; elements are Python numbers to it."""
    arrays = np.broadcast_arrays(*args)
    shape = arrays[0].shape
    flat = [np.ravel(a) for a in arrays]
    if otypes is None:
        if any(np.size(a) == 0 for a in args):
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = np.asarray(pyfunc(*[f[0] for f in flat]))
        result = np.empty(len(flat[0]), first.dtype)
    else:
        result = np.empty(len(flat[0]), otypes)
    for i in range(len(flat[0])):
        result[i] = pyfunc(*[f[i].item() for f in flat])
    return result.reshape(shape)


def _apply(ctx: Context, pyfunc: Abstract, otypes: Any, args: tuple[Raw, ...]) -> Abstract:
    if not args:
        ctx.raise_(ValueError("args can not be empty"))
    if otypes is not None and len(otypes) != 1:
        ctx.fail(WrongArguments(span=ctx.span, name="np.vectorize", why="it gives several results"))
    if otypes is None and any(is_bfloat16(ctx, arg) for arg in args):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.vectorize", argument="numbers of bfloat16"))
    kind = None if otypes is None else np.dtype(otypes[0])
    return run_program(ctx, _vectorized, [pyfunc, Const(kind), *args])


@meaning(np.vectorize)
def vectorize(
    ctx: Context,
    pyfunc: Raw,
    otypes: Raw = None,
    doc: Raw = None,
    excluded: Raw = None,
    cache: Raw = False,
    signature: Raw = None,
) -> Abstract:
    """A function that calls `pyfunc` for each element; one result, no `excluded`, no `signature`."""
    if not is_none(excluded) or not is_none(signature):
        why = "excluded arguments and signatures are not served; write a loop"
        ctx.fail(WrongArguments(span=ctx.span, name="np.vectorize", why=why))
    types = ctx.known(otypes, "otypes of np.vectorize")
    return Meaning("np.vectorize", lambda inner, *args: _apply(inner, abstract(pyfunc), types, args))


@instance_meaning(np.vectorize)
def vectorized(ctx: Context, function: np.vectorize, *args: Raw) -> Abstract:
    """A call of an object that `np.vectorize` made outside."""
    if function.excluded or function.signature is not None:
        why = "excluded arguments and signatures are not served; write a loop"
        ctx.fail(WrongArguments(span=ctx.span, name="np.vectorize", why=why))
    return _apply(ctx, ctx.getattr(Const(function), "pyfunc"), function.otypes, args)


# ---------------------------------------------------------------- choosing and joining


@composed(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """The function that belongs to the last condition that holds, or 0; an additional function is the default."""
    a = np.asarray(x)
    if np.isscalar(condlist) or (not isinstance(condlist[0], list | np.ndarray) and a.ndim != 0):
        condlist = [condlist]
    conditions = [np.asarray(c, dtype=bool) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for each in conditions[1:]:
            rest = rest | each
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
            "functions are expected"
        )
    result = np.zeros_like(a)
    for condition, function in zip(conditions, funclist):
        if a.ndim == 0 and condition.ndim == 0:
            if condition:
                one = result.reshape(1)
                one[:] = function(a.reshape(1), *args, **kw) if callable(function) else function
        elif callable(function):
            result[condition] = function(a[condition], *args, **kw)
        else:
            result[condition] = function
    return result


@composed(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> Any:
    """Which elements are among the others: each is compared with the one at its place among those in order."""
    element, others = np.asarray(element), np.ravel(np.asarray(test_elements))
    if kind == "table":
        if others.dtype.kind not in "biu" or element.dtype.kind not in "biu":
            raise ValueError(
                "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
            )
        if others.dtype.kind == "i" and len(others) > 0:
            least = int(np.min(others))
            if least < 0 and int(np.max(others)) > least + np.iinfo(others.dtype).max:
                raise RuntimeError(
                    "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum "
                    "integer of the datatype. Please set `kind` to None or 'sort'."
                )
    elif kind not in (None, "sort"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    n = len(others)
    if n == 0:
        found = np.zeros(element.shape, bool)
    else:
        ordered = np.sort(others)
        found = ordered[np.minimum(np.searchsorted(ordered, element), n - 1)] == element
    return np.asarray(~found if invert else found)


@folded(np.resize, "new_shape")
def resize(a: Any, new_shape: Any) -> Any:
    """The elements, repeated cyclically to fill the new shape."""
    extents = (new_shape,) if np.ndim(new_shape) == 0 else new_shape
    size = 1
    for n in extents:
        size = size * n
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    flat = np.ravel(a)
    n = len(flat)
    if n == 0:
        return np.zeros(new_shape, flat.dtype)
    return flat[_cycle(size, n)].reshape(new_shape)


def _cycle(size: Any, n: Any) -> Any:
    return np.arange(size) % n


@folded(_cycle)
def _computed_cycle(size: Any, n: Any) -> Any:
    """The numbers from 0 to before `n`, again and again."""
    return np.arange(size) % n


def _place(arrays: Any, place: Any) -> Any:
    """The position of the first block of a nested list, or of the last empty list: None as the block.

    ValueError where a block is at another depth than the first.
    """
    if not isinstance(arrays, list):
        return place
    if len(arrays) == 0:
        return (*place, None)
    first = _place(arrays[0], (*place, 0))
    for i, each in enumerate(arrays):
        other = _place(each, (*place, i))
        if len(other) != len(first):
            raise ValueError(
                f"List depths are mismatched. First element was at depth {len(first)}, but there is an element at "
                f"depth {len(other)} ({_name_of(other)})"
            )
        if other[-1] is None:
            first = other
    return first


def _name_of(place: Any) -> Any:
    return "arrays" + "".join([f"[{k}]" for k in place if k is not None])


def _blocks(arrays: Any, depth: Any, rank: Any) -> Any:
    """A nested list of blocks; lists at `depth` are joined along that axis from the end."""
    if not isinstance(arrays, list):
        block = np.asarray(arrays)
        return block.reshape((1,) * (rank - block.ndim) + block.shape)
    return np.concatenate([_blocks(a, depth - 1, rank) for a in arrays], axis=-depth)


def _rank(arrays: Any) -> Any:
    return max([_rank(a) for a in arrays]) if isinstance(arrays, list) else np.ndim(arrays)


@composed(np.block)
def block(arrays: Any) -> Any:
    """An array of blocks: the innermost lists are joined along the last axis, and so on outwards."""
    place = _place(arrays, ())
    if len(place) > 0 and place[-1] is None:
        raise ValueError(f"List at {_name_of(place)} cannot be empty")
    depth = len(place)
    return _blocks(arrays, depth, max(depth, _rank(arrays))).copy()


@composed(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """The elements that a mask selects become the values, again and again from the first."""
    if not isinstance(arr, np.ndarray):
        cls = type(arr)
        name = cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"
        raise TypeError(f"place() argument 1 must be numpy.ndarray, not {name}")
    chosen = np.ravel(np.asarray(mask)) != 0
    if chosen.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    values = np.ravel(np.asarray(vals)).astype(arr.dtype)
    if values.size == 0:
        if chosen.any():
            raise ValueError("Cannot insert from an empty array!")
        return
    new = values[(np.cumsum(chosen) - 1) % values.size]
    arr[...] = np.where(chosen, new, np.ravel(arr)).reshape(arr.shape)


@composed(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """True if the arrays broadcast and their elements are equal."""
    left, right = np.asarray(a1), np.asarray(a2)
    for n, m in zip(left.shape[::-1], right.shape[::-1]):
        if n != m and n != 1 and m != 1:
            return False
    return bool(np.all(left == right))
