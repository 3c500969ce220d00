"""JAX's pytree registry, for the classes of the program.

In: a class. Out: the program's functions that flatten and unflatten its instances. JAX does not publish its registry, so
an entry that is not found is unknown; `tests/contract/jax/test_pytrees.py` fails where JAX stores it differently.
"""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Callable
from typing import Any

import jax.tree_util
from jax._src import tree_util as private
from jax.tree_util import PyTreeDef, default_registry

from ....records import dataclass
from ...policy import is_built_on_jax, is_traced

_REGISTRY: dict[type, Any] = getattr(private, "_registry", {})
_MAKE: Callable[..., PyTreeDef] | None = getattr(
    PyTreeDef, "from_node_data_and_children", getattr(PyTreeDef, "make_from_node_data_and_children", None)
)


@dataclass(frozen=True, slots=True)
class Registration:
    """How the instances of a class are flattened: by a method of that name, or by a function.

    `with_keys`: it gives pairs of a key and a child.
    """

    flatten: str | Callable[..., Any]
    unflatten: Callable[..., Any]
    with_keys: bool


def registered(cls: type) -> Registration | None:
    """The program's functions for a class; None for a class that JAX does not know, or flattens by itself."""
    entry = _REGISTRY.get(cls)
    if entry is None or is_traced(cls):
        return None
    flatten, unflatten, with_keys = entry.to_iter, entry.from_iter, False
    if isinstance(flatten, operator.methodcaller):
        flatten = flatten.__reduce__()[1][0]
    elif isinstance(flatten, types.FunctionType) and is_traced(flatten):
        held = dict(zip(flatten.__code__.co_freevars, flatten.__closure__ or ()))
        if "flatten_with_keys" not in held:
            return None
        flatten, with_keys = held["flatten_with_keys"].cell_contents, True
        if isinstance(flatten, operator.methodcaller):
            flatten = flatten.__reduce__()[1][0]
    if dataclasses.is_dataclass(cls) and _is_generated(flatten):
        return None  # what a library has written for its dataclasses: all fields
    if any(callable(f) and is_traced(_inner(f)) for f in (flatten, unflatten)):
        return None
    return Registration(flatten, unflatten, with_keys)


def _is_generated(function: object) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith("<generated")


def _inner(function: Any) -> Any:
    return getattr(function, "func", function)


def is_flattened_by_library(cls: type) -> bool:
    """True for a class that a library has registered for its subclasses, with functions of its own."""
    entry = _REGISTRY.get(cls)
    functions = () if entry is None else (entry.to_iter, entry.from_iter)
    return bool(functions) and all(is_built_on_jax(_inner(f)) for f in functions)


def is_static_node(thing: object) -> bool:
    """True for an object of a package built on JAX that JAX was told is a constant (`register_static`)."""
    if not is_traced(type(thing)) or not is_registered(type(thing)):
        return False
    data = jax.tree_util.tree_structure(thing).node_data()
    return data is not None and data[1] is thing


def is_registered(cls: type) -> bool:
    """True for a class whose instances are nodes to JAX."""
    return bool(jax.tree_util.is_tree_node(cls))


def renamed(tree: PyTreeDef, change: Callable[[type, Any], tuple[type, Any]]) -> PyTreeDef:
    """A structure with other classes and data at its nodes, where `change` gives them."""
    node = tree.node_data()
    if node is None:
        return tree
    children = tree.children()
    made = [renamed(c, change) for c in children]
    data = change(*node)
    if data[0] is node[0] and all(a is b for a, b in zip(made, children)):
        return tree
    assert _MAKE is not None
    return _MAKE(default_registry, data, made)
