"""`jax.tree` and `jax.tree_util` on structures that are constants; functions on leaves are staged.

Leaves keep their kind: an ndarray stays the same ndarray, a Python number a Python number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import tree_util

from ...diagnostics.codes_jax import BadControlFlow
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const, Tuple
from ..context import Context, Raw
from ..kernels.structures import abstract, new_list
from ..operands.libraries import as_ndarray
from ..registry import meaning
from ..rules.jax import is_none
from .pytrees import exposed, lifted, proxied, unproxied

IsLeaf = Callable[[Any], bool] | None


def leaf_test(ctx: Context, is_leaf: Raw) -> IsLeaf:
    """The program's `is_leaf` as a test of Python structures."""
    if is_none(is_leaf):
        return None

    def test(thing: Any) -> bool:
        return bool(ctx.known(ctx.truth(ctx.call(is_leaf, [lifted(ctx, thing)])), "is_leaf of jax.tree"))

    return test


def _flatten(ctx: Context, tree: Raw, is_leaf: Raw) -> tuple[list[Abstract], Any]:
    leaves, structure = tree_util.tree_flatten(exposed(ctx, tree), leaf_test(ctx, is_leaf))
    return [lifted(ctx, leaf) for leaf in leaves], structure


def _structure(ctx: Context, treedef: Raw) -> Any:
    return proxied(ctx.known(treedef, "the structure of a pytree"))


def _rebuilt(ctx: Context, structure: Any, leaves: list[Abstract]) -> Abstract:
    return lifted(ctx, tree_util.tree_unflatten(structure, leaves))


def _columns(ctx: Context, structure: Any, rest: tuple[Raw, ...]) -> list[list[Abstract]]:
    """The parts of further trees at the leaves of the first; PS655 where one has another structure."""
    columns = []
    for tree in rest:
        try:
            parts = structure.flatten_up_to(exposed(ctx, tree))
        except (ValueError, TypeError) as error:
            ctx.fail(BadControlFlow(span=ctx.span, text=f"jax.tree.map: {error}"))
        columns.append([lifted(ctx, part) for part in parts])
    return columns


@meaning(jax.tree.map, tree_util.tree_map)
def tree_map(ctx: Context, f: Raw, tree: Raw, *rest: Raw, is_leaf: Raw = None) -> Abstract:
    """`f` of each leaf, and of the counterparts in the further trees."""
    leaves, structure = _flatten(ctx, tree, is_leaf)
    rows = zip(leaves, *_columns(ctx, structure, rest), strict=True)
    return _rebuilt(ctx, structure, [ctx.call(f, row) for row in rows])


@meaning(jax.device_get)
def device_get(ctx: Context, x: Raw) -> Abstract:
    """The tree with an ndarray for each array of JAX's and each NumPy scalar; all else, keys too, as it is."""
    leaves, structure = _flatten(ctx, x, None)
    return _rebuilt(ctx, structure, [_on_host(ctx, leaf) for leaf in leaves])


def _on_host(ctx: Context, leaf: Abstract) -> Abstract:
    scalar = isinstance(leaf, Array) and leaf.form is Form.SCALAR
    if scalar or (isinstance(leaf, Const) and isinstance(leaf.value, np.generic)):
        return ctx.call(Const(np.array), [leaf])
    return abstract(as_ndarray(ctx, leaf))


@meaning(jax.tree.leaves, tree_util.tree_leaves)
def tree_leaves(ctx: Context, tree: Raw, is_leaf: Raw = None) -> Abstract:
    """The leaves as a list."""
    return new_list(ctx, _flatten(ctx, tree, is_leaf)[0])


@meaning(jax.tree.structure, tree_util.tree_structure)
def tree_structure(ctx: Context, tree: Raw, is_leaf: Raw = None) -> Abstract:
    """The structure, known while compiling."""
    return Const(unproxied(_flatten(ctx, tree, is_leaf)[1]))


@meaning(jax.tree.flatten, tree_util.tree_flatten)
def tree_flatten(ctx: Context, tree: Raw, is_leaf: Raw = None) -> Abstract:
    """The leaves as a list, and the structure."""
    leaves, structure = _flatten(ctx, tree, is_leaf)
    return Tuple((new_list(ctx, leaves), Const(unproxied(structure))))


@meaning(jax.tree.unflatten, tree_util.tree_unflatten)
def tree_unflatten(ctx: Context, treedef: Raw, leaves: Raw) -> Abstract:
    """The tree of that structure with these leaves."""
    structure = _structure(ctx, treedef)
    listed = ctx.iterate(leaves)
    if listed is None or len(listed) != structure.num_leaves:
        text = f"jax.tree.unflatten: {structure} has {structure.num_leaves} leaves"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    return _rebuilt(ctx, structure, listed)


def _paths(ctx: Context, tree: Raw, is_leaf: Raw) -> tuple[list[tuple[Any, Abstract]], Any]:
    found, structure = tree_util.tree_flatten_with_path(exposed(ctx, tree), leaf_test(ctx, is_leaf))
    return [(path, lifted(ctx, leaf)) for path, leaf in found], structure


@meaning(jax.tree.leaves_with_path, tree_util.tree_leaves_with_path)
def tree_leaves_with_path(ctx: Context, tree: Raw, is_leaf: Raw = None) -> Abstract:
    """A list of pairs (path, leaf)."""
    found, _ = _paths(ctx, tree, is_leaf)
    return new_list(ctx, [Tuple((_path(path), leaf)) for path, leaf in found])


@meaning(jax.tree.flatten_with_path, tree_util.tree_flatten_with_path)
def tree_flatten_with_path(ctx: Context, tree: Raw, is_leaf: Raw = None) -> Abstract:
    """A list of pairs (path, leaf), and the structure."""
    found, structure = _paths(ctx, tree, is_leaf)
    return Tuple(
        (new_list(ctx, [Tuple((_path(path), leaf)) for path, leaf in found]), Const(unproxied(structure)))
    )


def _path(path: tuple[Any, ...]) -> Tuple:
    return Tuple(tuple([Const(key) for key in path]))


@meaning(jax.tree.map_with_path, tree_util.tree_map_with_path)
def tree_map_with_path(ctx: Context, f: Raw, tree: Raw, *rest: Raw, is_leaf: Raw = None) -> Abstract:
    """As `tree_map`, with each leaf's path as the first argument of `f`."""
    found, structure = _paths(ctx, tree, is_leaf)
    rows = zip(found, *_columns(ctx, structure, rest), strict=True)
    made = [ctx.call(f, [_path(path), leaf, *others]) for (path, leaf), *others in rows]
    return _rebuilt(ctx, structure, made)


_UNSPECIFIED: Any = object()


@meaning(jax.tree.reduce, tree_util.tree_reduce)
def tree_reduce(
    ctx: Context, function: Raw, tree: Raw, initializer: Raw = _UNSPECIFIED, is_leaf: Raw = None
) -> Abstract:
    """The leaves combined from the left, beginning with `initializer` or the first leaf."""
    leaves, _ = _flatten(ctx, tree, is_leaf)
    if initializer is not _UNSPECIFIED:
        leaves = [initializer, *leaves]
    if not leaves:
        ctx.raise_(TypeError("reduce() of empty iterable with no initial value"))
    return functools.reduce(lambda a, b: ctx.call(function, [a, b]), leaves)


@meaning(jax.tree.all, tree_util.tree_all)
def tree_all(ctx: Context, tree: Raw, *, is_leaf: Raw = None) -> Abstract:
    """Whether every leaf is true."""
    leaves, _ = _flatten(ctx, tree, is_leaf)
    return ctx.call(Const(all), [new_list(ctx, leaves)])


@meaning(tree_util.keystr)
def keystr(ctx: Context, keys: Raw, *, simple: Raw = False, separator: Raw = "") -> Abstract:
    """How a program writes a path."""
    path = ctx.known(keys, "a path in a pytree")
    options = {
        "simple": ctx.known(simple, "simple of keystr"),
        "separator": ctx.known(separator, "separator"),
    }
    return Const(tree_util.keystr(path, **options))
