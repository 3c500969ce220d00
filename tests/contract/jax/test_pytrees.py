"""Classes of the program that JAX was told how to flatten: their functions are staged wherever JAX would call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import pystage
import pytest
from checking import check
from jax import tree_util

X = jnp.asarray([0.5, -1.0, 2.0], jnp.float32)


@tree_util.register_pytree_node_class
class Layer:
    """A method flattens it; `scale` is no leaf."""

    def __init__(self, w: Any, b: Any, scale: float) -> None:
        self.w = w
        self.b = b
        self.scale = scale

    def tree_flatten(self) -> Any:
        return (self.w, self.b), (self.scale, "layer")

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Any:
        made = cls(*children, aux[0])
        return made

    def __call__(self, x: Any) -> Any:
        return (self.w * x + self.b) * self.scale


class Pair:
    """Functions flatten it, the second part first."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second


tree_util.register_pytree_node(
    Pair, lambda pair: ((pair.second, pair.first), None), lambda aux, parts: Pair(parts[1], parts[0])
)


@tree_util.register_pytree_with_keys_class
class Named:
    """Its leaves have keys."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def tree_flatten_with_keys(self) -> Any:
        return ((tree_util.GetAttrKey("value"), self.value),), None

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Any:
        return cls(children[0])


@tree_util.register_pytree_node_class
@dataclass
class Half:
    """A dataclass that says itself what its leaves are."""

    kept: Any
    left_out: str

    def tree_flatten(self) -> Any:
        return [self.kept], self.left_out

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Any:
        return cls(children[0], aux)


class Unregistered:
    """A leaf."""

    def __init__(self, value: Any) -> None:
        self.value = value


@tree_util.register_static
class Static:
    """No leaf, no node of the program's own."""


LAYER_STRUCTURE = jax.tree.structure(Layer(1, 2, 2.0))


def doubled(layer: Any) -> Any:
    made = jax.tree.map(lambda a: a * 2, layer)
    return (
        made,
        made.scale,
        jax.tree.leaves(made),
        jax.tree.leaves(Layer(made.b, 3, 1.5)),
        len(jax.tree.leaves(layer)),
    )


def several(layer: Any) -> Any:
    nested = {"p": Pair(layer, [layer.w, 1.0]), "h": Half(layer.b, "x"), "n": None}
    sums = jax.tree.map(lambda a, b: a + b, nested, nested)
    total = jax.tree.reduce(lambda a, b: a + jnp.sum(b), nested, 0.0)
    return sums["p"].first.w, sums["p"].second, sums["h"], total, jax.tree.leaves(nested)


def structures(layer: Any) -> Any:
    leaves, structure = jax.tree.flatten({"a": Pair(layer, 1)})
    again = jax.tree.unflatten(structure, [leaf * 3 for leaf in leaves])
    other = jax.tree.unflatten(LAYER_STRUCTURE, [layer.b, layer.w])
    same = jax.tree.structure(layer) == jax.tree.structure(other)
    return structure, again["a"].first.b, other, same, jax.tree.structure(layer)


def paths(layer: Any) -> Any:
    tree = {"n": Named(layer.w), "p": Pair(layer.b, 2.0)}
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
    return names, jax.tree_util.tree_map_with_path(lambda path, leaf: leaf * len(path), tree)


def leaves_of_choice(layer: Any) -> Any:
    found = jax.tree.leaves({"a": layer, "b": Unregistered(layer.w)}, is_leaf=lambda t: isinstance(t, Layer))
    return found[0].w, found[1].value, len(found)


def carried(layer: Any) -> Any:
    def step(state: Any, x: Any) -> Any:
        return Layer(state.w + x, state.b * 0.5, state.scale), state(x)

    final, rows = jax.lax.scan(step, layer, layer.w)
    chosen = jax.lax.cond(layer.b > 0, lambda c: c, lambda c: jax.tree.map(jnp.zeros_like, c), final)
    return chosen, rows, jax.jit(lambda c: Pair(c, c.w))(layer)


def differentiated(layer: Any) -> Any:
    def loss(layer: Any, x: Any) -> Any:
        return jnp.sum(layer(x) ** 2)

    value, slope = jax.value_and_grad(loss)(layer, layer.w)
    moved = jax.jvp(loss, (layer, layer.w), (slope, layer.w))
    result, pull = jax.vjp(lambda c: Pair(c(c.w), c.b), layer)
    rows = jax.vmap(lambda c: c(2.0), in_axes=(0,))(Layer(layer.w, layer.w, 2.0))
    return value, slope, moved, result, pull(result), rows, slope.scale


PROGRAMS = [doubled, several, structures, paths, leaves_of_choice, carried, differentiated]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_jax(program: Callable[..., Any]) -> None:
    with jax.enable_x64(False):
        check(program, Layer(X, jnp.float32(0.25), 2.0), tolerance=1e-5, interpreted=False)


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(pystage.StagingError, match=r"PS605.*flatten it in a way that is not known"):
        pystage.compile(lambda x: jax.tree.leaves((Static(), x)))(X)
