"""Arrays cut into parts along an axis: `np.split` and its kin."""

from __future__ import annotations

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...values.bounded import Bounded
from ...values.lattice import Abstract
from ...values.views import Window
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import new_list
from ..operands.known_calls import is_computed
from ..operands.libraries import Rules, twins, with_views
from ..rules.jax import axis_of
from .manipulation import as_array, rank_of, shape_known


def _cuts(n: Any, sections: Any, equal: Any) -> Any:
    """The places between the parts of `n` elements: so many of about the same size, or those that are named."""
    if np.ndim(sections) > 0:
        places = np.asarray(sections)
        if places.dtype.kind not in "biu" and len(places) > 0:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        return [0, *[int(place) for place in places], n]
    if sections == 0 and equal:
        raise ZeroDivisionError("integer modulo by zero")
    count = int(sections)
    if count <= 0:
        raise ValueError("number sections must be larger than 0.")
    if equal and n % sections:
        raise ValueError("array split does not result in an equal division")
    each, longer = n // count, n % count
    return [i * each + min(i, longer) for i in range(count + 1)]


def _parts(ary: Any, sections: Any, axis: Any, equal: Any) -> Any:
    """The parts of an array at computed places."""
    cuts = _cuts(ary.shape[axis], sections, equal)
    lines = np.moveaxis(ary, axis, 0)
    return [np.moveaxis(lines[cuts[i] : cuts[i + 1]], 0, axis) for i in range(len(cuts) - 1)]


def _split(
    ctx: Context, rules: Rules, ary: Raw, sections: Raw, axis: Raw, function: str, equal: bool
) -> Abstract:
    made = as_array(ctx, rules, ary, function)
    at = axis_of(ctx, axis, rank_of(ctx, rules, made, function), function)
    if isinstance(made, Bounded) or is_computed(ctx, sections):
        return run_program(ctx, _parts, [made, sections, at, equal])
    shape = shape_known(ctx, rules, made, function)
    given = ctx.known(sections, f"the sections of {function}")
    try:
        bounds = _cuts(shape[at], given, equal)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        rules.mismatch(ctx, str(error), type(error))
    if rules.is_jax and sorted(bounds) != bounds:
        rules.mismatch(ctx, "sizes passed to split must be nonnegative")
    parts: list[Abstract] = []
    for first, last in itertools.pairwise(bounds):
        start, stop, _ = slice(first, last).indices(shape[at])
        starts = tuple([start if i == at else 0 for i in range(len(shape))])
        wanted = tuple([max(stop - start, 0) if i == at else n for i, n in enumerate(shape)])
        parts.append(with_views(ctx, rules, made, (Window(starts, wanted),), function))
    return new_list(ctx, parts)


@twins(np.split, jnp.split)
def split(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw, axis: Raw = 0) -> Abstract:
    """A list of views: so many equal parts, or parts between the indices named."""
    return _split(ctx, rules, ary, indices_or_sections, axis, "split", True)


@twins(np.array_split, jnp.array_split)
def array_split(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw, axis: Raw = 0) -> Abstract:
    """As `split`, also into parts of unequal size."""
    return _split(ctx, rules, ary, indices_or_sections, axis, "array_split", False)


def _check_rank(ctx: Context, rules: Rules, ary: Raw, least: int, name: str) -> None:
    """The error for an array of fewer axes than a function splits."""
    if rank_of(ctx, rules, ary, name) < least:
        rules.mismatch(ctx, f"{name} only works on arrays of {least} or more dimensions")


@twins(np.vsplit, jnp.vsplit)
def vsplit(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw) -> Abstract:
    """Split along the first axis."""
    _check_rank(ctx, rules, ary, 2, "vsplit")
    return _split(ctx, rules, ary, indices_or_sections, 0, "vsplit", True)


@twins(np.hsplit, jnp.hsplit)
def hsplit(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw) -> Abstract:
    """Split along the second axis, of a vector along its only one."""
    axis = 1 if rank_of(ctx, rules, ary, "hsplit") > 1 else 0
    return _split(ctx, rules, ary, indices_or_sections, axis, "hsplit", True)


@twins(np.dsplit, jnp.dsplit)
def dsplit(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw) -> Abstract:
    """Split along the third axis."""
    _check_rank(ctx, rules, ary, 3, "dsplit")
    return _split(ctx, rules, ary, indices_or_sections, 2, "dsplit", True)
