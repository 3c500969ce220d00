"""Pytrees of abstract values, with JAX's own registry deciding what is a node.

`exposed` makes of an abstract value the Python structure that it stands for, with abstract values as its
leaves; JAX flattens that. `lifted` goes back: what JAX unflattens becomes abstract values again, with new
lists and dicts on the heap. No user code runs: objects are made without their constructors, and a class of
the program counts as a node only as a dataclass (JAX flattens those by itself).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.tree_util import PyTreeDef, keystr, tree_flatten, tree_flatten_with_path, tree_unflatten

from ..diagnostics.diagnostic import DiagnosticError
from ..values.lattice import Abstract, Array, Const, DictCell, ListCell, ObjectCell, Ref, Tuple, Unknown
from .context import Context, Raw

JAX_PACKAGES = frozenset({"jax", "jaxlib", "optax", "equinox", "flax", "chex", "distrax"})
"""Packages whose functions JAX can trace: a call to one that has no meaning of its own goes to JAX."""


def package_of(thing: object) -> str:
    """The top-level package in which a function, class or object's class is defined."""
    module = getattr(thing, "__module__", None)
    if not isinstance(module, str):
        module = type(thing).__module__
    return module.partition(".")[0]


def exposed(ctx: Context, value: Raw) -> Any:
    """The Python structure that `value` stands for; its leaves are abstract values."""
    match value:
        case Unknown(reason=reason):
            raise DiagnosticError(reason)
        case Tuple(items=items, cls=cls):
            return _as_class(cls, [exposed(ctx, item) for item in items])
        case Const(value=known) | known if not isinstance(known, Abstract):
            return _exposed_constant(ctx, known)
        case Ref(cell=cell) if not ctx.is_ndarray(value):
            return _exposed_cell(ctx, value, ctx.state.get(cell))
        case _:
            return value


def _exposed_constant(ctx: Context, known: Any) -> Any:
    if known is None:
        return None
    if type(known) in (list, tuple):
        return type(known)([exposed(ctx, Const(item)) for item in known])
    if type(known) is dict:
        return {key: exposed(ctx, Const(item)) for key, item in known.items()}
    return Const(known)


def _exposed_cell(ctx: Context, ref: Ref, cell: Any) -> Any:
    match cell:
        case ListCell(items=items):
            return [exposed(ctx, item) for item in items]
        case DictCell(entries=entries):
            return {key: exposed(ctx, item) for key, item in entries.items()}
        case ObjectCell(cls=cls) if is_node_class(cls):
            made: Any = object.__new__(cls)
            for name in _field_names(cls, cell):
                object.__setattr__(made, name, exposed(ctx, ctx.getattr(ref, name)))
            return made
        case _:
            return ref


def _field_names(cls: type, cell: ObjectCell) -> list[str]:
    names = [f.name for f in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
    return [*names, *[name for name in cell.fields if name not in names]]


def is_node_class(cls: type) -> bool:
    """True for a class that JAX flattens without running code of the program."""
    trusted = dataclasses.is_dataclass(cls) or package_of(cls) in JAX_PACKAGES
    return trusted and jax.tree_util.is_tree_node(cls)


def _as_class(cls: type, items: list[Any]) -> Any:
    return tuple(items) if cls is tuple else tuple.__new__(cls, items)


def lifted(ctx: Context, thing: Any) -> Abstract:
    """The abstract value of a structure whose leaves are abstract values; other leaves are constants."""
    if isinstance(thing, Abstract):
        return thing
    if isinstance(thing, tuple):
        return Tuple(tuple([lifted(ctx, item) for item in thing]), type(thing))
    if type(thing) is list:
        return Ref(ctx.state.new_cell(ListCell(tuple([lifted(ctx, item) for item in thing]))))
    if type(thing) is dict:
        entries = {key: lifted(ctx, item) for key, item in thing.items()}
        return Ref(ctx.state.new_cell(DictCell(entries)))
    if is_node_class(type(thing)) and hasattr(thing, "__dict__"):
        fields = {name: lifted(ctx, item) for name, item in vars(thing).items()}
        return Ref(ctx.state.new_cell(ObjectCell(type(thing), fields)))
    return Const(thing)


def flatten(
    ctx: Context, value: Raw, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Abstract], PyTreeDef]:
    """The leaves of a pytree, and its structure."""
    leaves, tree = tree_flatten(exposed(ctx, value), is_leaf)
    return leaves, tree


def unflatten(ctx: Context, tree: PyTreeDef, leaves: Sequence[Abstract]) -> Abstract:
    """The pytree of that structure with these leaves; its lists, dicts and objects are new."""
    return lifted(ctx, tree_unflatten(tree, leaves))


def leaf_names(ctx: Context, value: Raw, root: str) -> list[str]:
    """How a program names each leaf: `carry[0]['w']`."""
    return [root + keystr(path) for path, _ in tree_flatten_with_path(exposed(ctx, value))[0]]


def is_array(ctx: Context, leaf: Abstract) -> bool:
    """True for a leaf that the program computes."""
    return isinstance(leaf, Array) or ctx.is_ndarray(leaf)
