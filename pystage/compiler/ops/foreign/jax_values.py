"""Arguments and results of a traced call other than arrays: finds objects that hold tracers, and mutable ones.

No object that outlives a trace may hold its tracers. A trace gets copies of the program's objects, so that its mutations
of them are lost.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

import jax
from jax.tree_util import all_leaves

_MOST = 10_000
"""How many parts of an object are looked at; one with more is taken to keep something."""


def keeps_arrays(thing: object) -> bool:
    """True if arrays of a trace of JAX's, or the trace itself, can be reached from `thing`."""
    pending, seen = [thing], {id(thing)}
    for each in pending:
        if isinstance(each, jax.core.Tracer) or any(c.__name__ == "Trace" for c in type(each).__mro__):
            return True
        new = [part for part in _parts(each) if id(part) not in seen]
        seen.update(map(id, new))
        pending += new
        if len(pending) > _MOST:
            return True
    return False


def changeable(tree: object) -> list[Any]:
    """The nodes of a pytree that a program could change: lists, dicts, and objects that are not frozen."""
    nodes: list[Any] = []

    def visited(node: Any) -> bool:
        nodes.append(node)
        return False

    jax.tree.leaves(tree, is_leaf=visited)
    frozen = tuple, type(None), jax.Array, type
    return [n for n in nodes if not isinstance(n, frozen) and not _is_frozen(type(n)) and not all_leaves([n])]


def _is_frozen(cls: type) -> bool:
    return bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))


def _parts(thing: Any) -> Iterator[Any]:
    match thing:
        case types.FunctionType():
            for cell in thing.__closure__ or ():
                try:
                    yield cell.cell_contents
                except ValueError:  # a variable that has no value yet
                    continue
            yield from thing.__defaults__ or ()
            yield from (thing.__kwdefaults__ or {}).values()
        case types.MethodType():
            yield from (thing.__func__, thing.__self__)
        case functools.partial():
            yield from (thing.func, *thing.args, *thing.keywords.values())
        case tuple() | list() | set() | frozenset():
            yield from thing
        case Mapping():
            yield from thing.values()
        case type() | types.ModuleType():
            return
        case _:
            yield from getattr(thing, "__dict__", {}).values()


def order_of(tree: Any) -> Any:
    """The order of the keys of all dicts in a structure, which JAX sorts."""
    match tree:
        case dict():
            return {key: order_of(part) for key, part in tree.items()}
        case tuple() | list():
            return [order_of(part) for part in tree]
    return None


def in_order(tree: Any, order: Any) -> Any:
    """A structure with the keys of its dicts in this order."""
    match tree:
        case dict():
            return {key: in_order(tree[key], inner) for key, inner in order.items()}
        case tuple() if type(tree) is not tuple:
            return type(tree)(*[in_order(part, inner) for part, inner in zip(tree, order, strict=True)])
        case tuple() | list():
            return type(tree)([in_order(part, inner) for part, inner in zip(tree, order, strict=True)])
    return tree
