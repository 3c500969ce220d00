"""Pytrees of abstract values, whose nodes JAX's own registry determines.

`exposed` turns an abstract value into the Python structure that it represents, with abstract values as leaves; JAX
flattens that structure. `lifted` is the inverse: it turns an unflattened structure into abstract values, and allocates
new lists and dicts on the heap. No user code runs: objects are created without their constructors, and instances of
classes that the program registered are flattened and unflattened by the program's functions, staged.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.tree_util import (
    FlattenedIndexKey,
    PyTreeDef,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)

from ...diagnostics.codes_calls import UnsupportedClass
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.diagnostic import DiagnosticError
from ...policy import is_built_on_jax, is_traced
from ...values.instances import instance_fields
from ...values.lattice import (
    Abstract,
    Const,
    DictCell,
    ListCell,
    MemberCell,
    ObjectCell,
    Ref,
    RowsCell,
    TableCell,
    Tuple,
    Unknown,
)
from ..context import Context, Raw
from ..kernels.structures import lift, list_items
from .registry import Registration, is_flattened_by_library, is_registered, registered, renamed


class FlattenedInstance:
    """An instance of a class of the program that JAX was told how to flatten, flattened by the program's own function."""

    __slots__ = ("children", "cls", "data", "keys")

    def __init__(self, cls: type, data: Any, children: Sequence[Any], keys: Sequence[Any] = ()) -> None:
        self.cls = cls
        self.data = data
        self.children = tuple(children)
        self.keys = tuple(keys) or tuple(map(FlattenedIndexKey, range(len(self.children))))


def _node(data: Any, children: Any) -> FlattenedInstance:
    cls, own = data
    return FlattenedInstance(cls, own, children)


jax.tree_util.register_pytree_with_keys(
    FlattenedInstance,
    lambda node: (tuple(zip(node.keys, node.children, strict=True)), (node.cls, node.data)),
    _node,
)


def exposed(ctx: Context, value: Raw, nodes: bool = True) -> Any:
    """The Python structure that `value` stands for; its leaves are abstract values.

    `nodes`: False if instances of classes of the program are leaves, whatever JAX was told of them.
    """
    match value:
        case Unknown(reason=reason):
            raise DiagnosticError(reason)
        case Tuple(items=items, cls=cls):
            return _as_class(cls, [exposed(ctx, item, nodes) for item in items])
        case Const(value=known) | known if not isinstance(known, Abstract):
            return _exposed_constant(ctx, known)
        case Ref(cell=cell) if not ctx.is_ndarray(value):
            content = ctx.state.get(cell)
            if isinstance(content, Unknown):
                raise DiagnosticError(content.reason)
            return _exposed_cell(
                ctx, value, ctx.cell(value) if isinstance(content, MemberCell) else content, nodes
            )
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


def _exposed_cell(ctx: Context, ref: Ref, cell: Any, nodes: bool) -> Any:
    match cell:
        case ListCell() | RowsCell():
            return [exposed(ctx, item, nodes) for item in list_items(ctx, cell.items)]
        case DictCell(entries=entries, container=builtins.dict):
            return {key: exposed(ctx, item, nodes) for key, item in entries.items()}
        case DictCell(container=collections.defaultdict) | TableCell():
            ctx.fail(NotKnown(span=ctx.span, what="the keys of a dict that JAX flattens"))
        case ObjectCell(cls=cls) if (how := registered(cls)) is not None:
            return _flattened(ctx, ref, cls, how) if nodes else ref
        case ObjectCell(cls=cls) if is_node_class(cls):
            made: Any = object.__new__(cls)
            parts = {name: _part(ctx, exposed(ctx, own, nodes)) for name, own in _fields(cls, cell).items()}
            for name, part in parts.items():
                object.__setattr__(made, name, part)
            return _with_known_data(ctx, made, parts)
        case ObjectCell(cls=cls) if nodes and is_registered(cls):
            why = "JAX was told how to flatten it in a way that is not known"
            ctx.fail(UnsupportedClass(span=ctx.span, name=cls.__qualname__, why=why))
        case _:
            return ref


def _part(ctx: Context, part: Any) -> Any:
    """An attribute of an instance; what a library keeps there for itself, and JAX knows nothing of, as it is."""
    if isinstance(part, Const):
        return part.value if _is_own(type(part.value)) else part
    cell = ctx.state.get(part.cell) if isinstance(part, Ref) and not ctx.is_ndarray(part) else None
    if not isinstance(cell, ObjectCell) or not _is_own(cell.cls):
        return part
    made: Any = object.__new__(cell.cls)
    for name, own in _fields(cell.cls, cell).items():
        known = tree_map(lambda leaf: ctx.known(leaf, "what a library keeps"), exposed(ctx, own))
        object.__setattr__(made, name, known)
    return made


def _is_own(cls: type) -> bool:
    """True for a class of a package built on JAX whose instances are not nodes of pytrees."""
    return is_built_on_jax(cls) and not is_registered(cls)


def _with_known_data(ctx: Context, made: Any, parts: Mapping[str, Any]) -> Any:
    """An object whose attributes that are data of its node, and no children, are constants."""
    try:
        children = {id(leaf) for leaf in tree_leaves(made)}
    except Exception as error:  # whatever the library's own code raises for what it does not expect
        why = f"JAX cannot flatten it while compiling ({type(error).__name__}: {error})"
        ctx.fail(UnsupportedClass(span=ctx.span, name=type(made).__qualname__, why=why))
    for name, part in parts.items():
        leaves, tree = tree_flatten(part)
        if any(isinstance(leaf, Abstract) and id(leaf) not in children for leaf in leaves):
            known = [ctx.known(leaf, f"`{name}`, which is no array to JAX,") for leaf in leaves]
            object.__setattr__(made, name, tree_unflatten(tree, known))
    return made


def _flattened(ctx: Context, ref: Ref, cls: type, how: Registration) -> FlattenedInstance:
    """An object as the program's own function flattens it."""
    if isinstance(how.flatten, str):
        pair = ctx.call(ctx.getattr(ref, how.flatten), [])
    else:
        pair = ctx.call(Const(how.flatten), [ref])
    found = ctx.iterate(pair) or []
    listed = None if len(found) != 2 else ctx.iterate(found[0])
    if listed is None:
        ctx.raise_(ValueError(f"Expected a pair of children and auxiliary data for {cls.__name__}"))
    keys: list[Any] = []
    if how.with_keys:
        pairs = [ctx.iterate(each) or [] for each in listed]
        keys = [ctx.known(key, "a key of a pytree") for key, _ in pairs]
        listed = [child for _, child in pairs]
    data = tree_map(lambda leaf: ctx.known(leaf, "the auxiliary data of a pytree"), exposed(ctx, found[1]))
    return FlattenedInstance(cls, data, [exposed(ctx, child) for child in listed], keys)


def proxied(tree: PyTreeDef) -> PyTreeDef:
    """A structure of JAX's as `flatten` gives it, with `FlattenedInstance`s for classes of the program."""
    return renamed(
        tree, lambda cls, data: (cls, data) if registered(cls) is None else (FlattenedInstance, (cls, data))
    )


def unproxied(tree: PyTreeDef) -> PyTreeDef:
    """A structure that `flatten` gave as JAX has it."""
    return renamed(tree, lambda cls, data: data if cls is FlattenedInstance else (cls, data))


def _fields(cls: type, cell: ObjectCell) -> dict[str, Abstract]:
    """The attributes of an object, those that its class declares first."""
    names = [f.name for f in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
    found = {}
    for name in dict.fromkeys(
        (*names, *cell.fields, *(cell.origin.names if cell.origin is not None else ()))
    ):
        own = cell.fields.get(name)
        if own is None and cell.origin is not None:
            own = cell.origin(name)
        if own is not None:
            found[name] = own
    return found


def is_node_class(cls: type) -> bool:
    """True for a class that JAX flattens without running code of the program."""
    trusted = dataclasses.is_dataclass(cls) or is_traced(cls) or is_flattened_by_library(cls)
    return trusted and is_registered(cls)


def _as_class(cls: type, items: list[Any]) -> Any:
    return tuple(items) if cls is tuple else tuple.__new__(cls, items)


def lifted(ctx: Context, thing: Any) -> Abstract:
    """The abstract value of a structure whose leaves are abstract values; other leaves are constants."""
    return lift(ctx, thing, _lifted_leaf)


def _lifted_leaf(ctx: Context, thing: Any) -> Abstract:
    if isinstance(thing, Abstract):
        return thing
    if isinstance(thing, FlattenedInstance):
        how = registered(thing.cls)
        assert how is not None
        return ctx.call(Const(how.unflatten), [lifted(ctx, thing.data), lifted(ctx, thing.children)])
    if is_node_class(type(thing)) and (own := instance_fields(thing)):
        fields = {name: lifted(ctx, item) for name, item in own.items()}
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
