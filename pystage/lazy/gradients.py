"""Gradients of what was recorded: of functions that run as plain Python, on lazy tensors.

While a tape runs, nodes that are computed keep the calls that they came from. So branches may look at values, and what
was recorded from the arguments to the result is one program, whose way back is the compiler's (`compiler/ad`).
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..compiler.diagnostics.codes_differentiation import NoDerivative
from ..compiler.diagnostics.errors import StagingError
from ..compiler.hlo.types import is_complex, is_floating
from ..compiler.values.boundary import Form
from ..runtime.function import Lazily
from ..runtime.transforming import cotangents_of
from .arena import arena_of
from .array import LazyTensor, from_host
from .fallback import plain_results
from .graph import Call, Node, Tape, tape
from .recipes import Recipe, kind_of
from .segment import Key, Segment, program_of
from .tensor import node_of, owner

_RECIPES = 256
"""So many ways back are kept."""
_recipes: OrderedDict[tuple[Key, tuple[bool, ...]], Recipe | None] = OrderedDict()


def lazily(fun: Callable[..., Any], argnums: int | tuple[int, ...], has_aux: bool, value: bool) -> Lazily:
    """What runs `grad` or, with the `value`, `value_and_grad` of a function on lazy tensors."""
    run = functools.partial(_run, fun, argnums, has_aux, value)
    return Lazily(
        lambda _, args, kwargs: plain_results(run(args, kwargs)), lambda _, args, kwargs: run(args, kwargs)
    )


def _run(
    fun: Callable[..., Any],
    argnums: int | tuple[int, ...],
    has_aux: bool,
    with_value: bool,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    """The gradient, of lazy tensors; numbers have gradients of their own kinds."""
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    given = list(args)
    inputs: list[_Input] = []
    trees = []
    for i in several:
        leaves, tree = jax.tree_util.tree_flatten(given[i])
        made = [_Input(leaf) for leaf in leaves]
        inputs += made
        trees.append((len(made), tree))
        given[i] = jax.tree_util.tree_unflatten(tree, [m.stand for m in made])
    with tape(Tape({id(m.node) for m in inputs})):
        result = fun(*given, **kwargs)
        result, aux = result if has_aux else (result, None)
        found = _gradients(result, [m.node for m in inputs])
    gradients = iter([m.gradient(node) for m, node in zip(inputs, found, strict=True)])
    parts = [jax.tree_util.tree_unflatten(tree, [next(gradients) for _ in range(n)]) for n, tree in trees]
    gradient = tuple(parts) if isinstance(argnums, tuple) else parts[0]
    value = (result, aux) if has_aux else result
    if with_value:
        return value, gradient
    return (gradient, aux) if has_aux else gradient


class _Input:
    """One array or number to differentiate by: a lazy tensor stands for it."""

    def __init__(self, leaf: Any) -> None:
        self._leaf = leaf
        if isinstance(leaf, jax.Array):
            raise StagingError((NoDerivative(span=None, what="a jax.Array where a function is not staged"),))
        array = np.asarray(leaf) if not isinstance(leaf, LazyTensor) else None
        type_ = leaf.dtype if array is None else array.dtype
        if not (is_floating(type_) or is_complex(type_)):
            raise TypeError(f"grad requires real- or complex-valued inputs, but got {type_}")
        if array is None:
            source = node_of(leaf)
            self.node = Node(source.type, source.device, source.array, source.call)
            self.stand = owner(self.node, kind_of(source.type, leaf._kind.form, source.device))
        else:
            form = Form.NDARRAY if isinstance(leaf, np.ndarray) else Form.SCALAR
            self.stand = from_host(array, None, form)
            self.node = self.stand._node

    def gradient(self, node: Node | None) -> Any:
        """The gradient, of the kind of what it is by."""
        kind = kind_of(self.node.type, self.stand._kind.form, self.node.device)
        if node is None:
            made = from_host(np.zeros(kind.type.static_shape, kind.type.dtype), kind.device, kind.form)
        else:
            made = owner(node, kind)
        return type(self._leaf)(made.item()) if type(self._leaf) in (float, complex) else made


def _gradients(result: Any, inputs: Sequence[Node]) -> list[Node | None]:
    """The gradient by each input, recorded; None where the result does not depend on it."""
    if not isinstance(result, LazyTensor):
        if isinstance(result, float | np.floating):
            return [None] * len(inputs)
        raise TypeError(f"grad requires real-valued outputs, but got {type(result).__name__}.")
    if result.shape != ():
        raise TypeError(
            f"Gradient only defined for scalar-output functions. Output had shape: {result.shape}."
        )
    if not is_floating(result.dtype):
        raise TypeError(f"grad requires real-valued outputs, but got {result.dtype}.")
    last = node_of(result)
    if last.origin is None:
        return [Node(i.type, i.device, np.ones((), i.type.dtype)) if i is last else None for i in inputs]
    segment = _Taped([last])
    places = {id(node): i for i, node in enumerate(segment.inputs)}
    varied = tuple([id(node) in {id(i) for i in inputs} for node in segment.inputs])
    key = (segment.key, varied)
    if key in _recipes:
        _recipes.move_to_end(key)
    else:
        _recipes[key] = _way_back(segment, varied)
        if len(_recipes) > _RECIPES:
            _recipes.popitem(last=False)
    recipe = _recipes[key]
    if recipe is None:
        return [None] * len(inputs)
    one = Node(last.type, last.device, np.ones((), last.type.dtype))
    operands = [*segment.inputs, one]
    call = Call(recipe, tuple([operands[i] for i in recipe.takes]), None)
    arena_of(last.device).recorded.append(recipe)
    order = [i for i, moves in enumerate(varied) if moves]
    nodes = {i: Node(recipe.types[k], last.device, None, call, k) for k, i in enumerate(order)}
    return [nodes.get(places.get(id(i), -1)) for i in inputs]


def _way_back(segment: Segment, varied: tuple[bool, ...]) -> Recipe | None:
    """The recipe of the gradients by the inputs that vary; it takes all inputs, and the cotangent of the result."""
    staged = program_of(segment)
    kept = tuple([varied[i] for i in staged.kept])
    if not any(kept):
        return None
    back = cotangents_of(staged, kept, (True,))
    inputs = [*staged.kept, len(varied)]
    if any(moves and i not in staged.kept for i, moves in enumerate(varied)):
        raise AssertionError("an input that varies is not used by its own segment")
    return Recipe("gradient", back.function, tuple([inputs[i] for i in back.kept]))


class _Taped(Segment):
    """A segment that goes back to what the tape began with, also through what is computed."""

    __slots__ = ()

    def call_of(self, node: Node) -> Call | None:
        return node.origin
