"""Gradients of recorded calls: of functions that run as plain Python, on lazy tensors.

While a tape is active, computed nodes keep the calls that defined them, so that branches may read values. The pullback is
recorded like the primal pass: one call for each recorded call, which computes the cotangents of its operands by the
transformed recipe (`compiler/ad`), made once for each recipe.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..compiler.ad.calculus import differentiable
from ..compiler.diagnostics.codes_differentiation import NoDerivative, NoSuchArgument
from ..compiler.diagnostics.errors import StagingError
from ..compiler.hlo.builder import Builder
from ..compiler.hlo.ir import Function, Region
from ..compiler.hlo.types import ArrayType, is_complex, is_floating
from ..compiler.ops import Add
from ..compiler.values.boundary import Form
from ..records import dataclass
from ..runtime.executables.transformations import cotangents_of
from ..runtime.function import BoundFunction, CompiledFunction
from .arena import LIMIT, arena_of
from .array import LazyTensor, from_host
from .barrier import barrier, placed
from .fallback import plain_results
from .graph import GradientTape, Node, RecordedCall, tape, varies
from .recipes import Recipe, kind_of
from .segment import Segment, program_of
from .steps.recording import thread
from .tensor import Tensor, lent, node_of, owner

_MAX_PULLBACKS = 4096
"""How many pullbacks of calls are cached."""
Mask = tuple[bool, ...]


def run_gradient(
    fun: Callable[..., Any],
    argnums: int | tuple[int, ...],
    has_aux: bool,
    with_value: bool,
    compiled: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    """Runs `grad`, or `value_and_grad` `with_value`, of a function as it is written, on lazy tensors.

    `compiled`: the derivative in place of which it runs.
    """
    plain = fun.__pystage_function__ if isinstance(fun, CompiledFunction | BoundFunction) else fun
    return _run(plain, argnums, has_aux, with_value, args, kwargs)


def run_gradient_of_arrays(*options: Any) -> Any:
    """As `run_gradient`, for arguments and results that are no lazy tensors."""
    with lent():
        return plain_results(run_gradient(*options))


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
        if not -len(given) <= i < len(given):
            raise StagingError((NoSuchArgument(argument=str(i), count=len(given)),))
        leaves, tree = jax.tree_util.tree_flatten(given[i])
        inside = not jax.tree_util.treedef_is_leaf(tree)
        made = [leaf if inside and _passes_through(leaf) else _Input(leaf) for leaf in leaves]
        inputs += [m for m in made if isinstance(m, _Input)]
        trees.append((made, tree))
        given[i] = jax.tree_util.tree_unflatten(tree, [m.stand if isinstance(m, _Input) else m for m in made])
    recorded = GradientTape({id(m.node) for m in inputs})
    try:
        with tape(recorded):
            result = fun(*given, **kwargs)
            result, aux = result if has_aux else (result, None)
            found = _gradients(result, [m.node for m in inputs], recorded)
    finally:
        for each in inputs:
            each.hand_back()
    gradients = iter([m.gradient(node) for m, node in zip(inputs, found, strict=True)])
    parts = [
        jax.tree_util.tree_unflatten(
            tree, [next(gradients) if isinstance(m, _Input) else _passed(m) for m in made]
        )
        for made, tree in trees
    ]
    gradient = tuple(parts) if isinstance(argnums, tuple) else parts[0]
    value = (result, aux) if has_aux else result
    if with_value:
        return value, gradient
    return (gradient, aux) if has_aux else gradient


def _is_differentiable(leaf: Any) -> bool:
    """True for numbers and arrays with fractions."""
    type_ = leaf.dtype if isinstance(leaf, LazyTensor | jax.Array) else np.asarray(leaf).dtype
    return is_floating(type_) or is_complex(type_)


def _passes_through(leaf: Any) -> bool:
    """True for what has no slope and stays as it is in the gradient of the structure that holds it."""
    return isinstance(leaf, _WITHOUT_SLOPE) and not _is_differentiable(leaf)


_WITHOUT_SLOPE = (int, str, bytes, np.generic, np.ndarray, LazyTensor)


def _passed(leaf: Any) -> Any:
    return leaf.copy() if isinstance(leaf, np.ndarray | LazyTensor) else leaf


class _Input:
    """One array or number to differentiate by: a lazy tensor stands for it."""

    def __init__(self, leaf: Any) -> None:
        self._leaf = leaf
        if isinstance(leaf, jax.Array):
            raise StagingError((NoDerivative(span=None, what="a jax.Array where a function is not staged"),))
        array = np.asarray(leaf) if not isinstance(leaf, LazyTensor) else None
        if not _is_differentiable(leaf):
            type_ = leaf.dtype if array is None else array.dtype
            if array is not None and not isinstance(leaf, (*_WITHOUT_SLOPE, list)):
                what = f"a {type(leaf).__name__} where a function is not staged"
                raise StagingError((NoDerivative(span=None, what=what),))
            raise TypeError(f"grad requires real- or complex-valued inputs, but got {type_}")
        if array is None:
            source = node_of(leaf)
            self.node = _another(source)
            self.stand = owner(self.node, kind_of(source.type, leaf._kind.form, source.device))
        else:
            form = Form.NDARRAY if isinstance(leaf, np.ndarray) else Form.SCALAR
            self.stand = from_host(array, None, form)
            self.node = node_of(self.stand)

    def hand_back(self) -> None:
        """Stores into the caller's array what the function has stored into what stands for it."""
        leaf, stand = self._leaf, self.stand
        if stand._node is self.node:
            return
        if isinstance(leaf, LazyTensor):
            leaf[...] = stand
        elif isinstance(leaf, np.ndarray) and leaf.flags.writeable:
            leaf[...] = np.asarray(stand)

    def gradient(self, node: Node | None) -> Any:
        """The gradient, of the kind of what it is by."""
        kind = kind_of(self.node.type, self.stand._kind.form, self.node.device)
        if node is None:
            made = from_host(np.zeros(kind.type.static_shape, kind.type.dtype), kind.device, kind.form)
        else:
            made = owner(node, kind)
        if type(self._leaf) is Tensor.number:
            return owner(node_of(made), kind_of(kind.type, Form.PYTHON, kind.device))
        return type(self._leaf)(made.item()) if type(self._leaf) in (float, complex) else made


def _another(node: Node) -> Node:
    """Another node for the same array: what is computed from it can be told from what is computed from `node`."""
    array = placed(node)
    if array is None or varies(node):
        made = Node(node.type, node.device, None, RecordedCall(_same(node.type), (node,), None))
        if array is not None:
            made.settle(array)
    else:
        made = Node(node.type, node.device, array)
    return made


@functools.cache
def _same(type: ArrayType) -> Recipe:
    """The recipe of an array itself."""
    body = Region((type,))
    body.results = tuple(body.params)
    return Recipe("gradient", Function("same", body), (0,))


def _gradients(result: Any, inputs: Sequence[Node], recorded: GradientTape) -> list[Node | None]:
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
    back = _WayBack(last, recorded)
    return [back.found(node) for node in inputs]


ResultKey = tuple[int, int]
"""Which array a node is: its own identity, or that of the call that it is a result of, and the index of the result."""


class _WayBack:
    """Records the cotangents of all that a result was computed from, call by call.

    They are calls like all others: what is recorded is cut where it grows long, and equal parts are one program.
    """

    def __init__(self, last: Node, recorded: GradientTape) -> None:
        self._recorded = recorded
        self._arena = thread.recording or arena_of(last.device)
        self._cotangents: dict[ResultKey, Node] = {}
        if not recorded.varies(last):
            return
        self._cotangents[self._key(last)] = Node(last.type, last.device, np.ones((), last.type.dtype))
        calls = [] if recorded.begins_with(last) else _Taped(last, recorded).calls
        while calls:
            self._through(calls.pop())

    def found(self, node: Node) -> Node | None:
        """The cotangent of an input; None where the result does not depend on it."""
        return self._cotangents.get(self._key(node))

    def _key(self, node: Node) -> ResultKey:
        if node.origin is None or self._recorded.begins_with(node):
            return id(node), 0
        return id(node.origin), node.index

    def _through(self, call: RecordedCall) -> None:
        """Hands the cotangents of a call's results on to its operands."""
        given = tuple([k for k in range(len(call.recipe.types)) if (id(call), k) in self._cotangents])
        moving = tuple([self._recorded.varies(node) for node in call.operands])
        cotangents = [self._cotangents.pop((id(call), k)) for k in given]
        back = _pullback_of(call, moving, given) if given and any(moving) else None
        if back is None:
            return
        operands = [*call.operands, *cotangents]
        made = self._record(back.recipe, [operands[i] for i in back.recipe.takes], call)
        for i, node in zip(back.places, made, strict=True):
            self._add(call.operands[i], node, call)
        if len(self._arena.recorded) >= LIMIT and self._arena.is_cut():
            barrier(self._arena, "many calls", tuple(self._cotangents.values()))

    def _add(self, operand: Node, cotangent: Node, call: RecordedCall) -> None:
        key = self._key(operand)
        before = self._cotangents.get(key)
        if before is not None:
            (cotangent,) = self._record(_sum_of(operand.type), [before, cotangent], call)
        self._cotangents[key] = cotangent

    def _record(self, recipe: Recipe, operands: Sequence[Node], at: RecordedCall) -> list[Node]:
        made = RecordedCall(recipe, tuple(operands), at.location)
        self._arena.recorded.append(recipe)
        return [Node(type, self._arena.device, None, made, k) for k, type in enumerate(recipe.types)]


@dataclass(frozen=True, slots=True)
class _RecordedPullback:
    """The recipe of the cotangents of a call's operands at `places`; it takes all operands, then the given cotangents."""

    recipe: Recipe
    places: tuple[int, ...]


_pullbacks: OrderedDict[tuple[Recipe, Mask, tuple[int, ...]], _RecordedPullback | None] = OrderedDict()


def _pullback_of(call: RecordedCall, moving: Mask, given: tuple[int, ...]) -> _RecordedPullback | None:
    """The pullback of a call, from these of its results to those of its operands that vary; None if there is none."""
    key = (call.recipe, moving, given)
    if key not in _pullbacks:
        _pullbacks[key] = _way_back_of(call, moving, given)
        if len(_pullbacks) > _MAX_PULLBACKS:
            _pullbacks.popitem(last=False)
    _pullbacks.move_to_end(key)
    return _pullbacks[key]


def _way_back_of(call: RecordedCall, moving: Mask, given: tuple[int, ...]) -> _RecordedPullback | None:
    types = [node.type for node in call.operands]
    device = call.operands[0].device
    alone = RecordedCall(call.recipe, tuple([Node(type, device, None) for type in types]), call.location)
    results = [Node(call.recipe.types[k], device, None, alone, k) for k in given]
    segment = Segment(results)
    staged = program_of(segment)
    places = {id(node): i for i, node in enumerate(alone.operands)}
    kept = [places[id(segment.inputs[i])] for i in staged.kept]
    varied = tuple([moving[i] and differentiable(types[i]) for i in kept])
    if not any(varied):
        return None
    back = cotangents_of(staged, varied, tuple([differentiable(node.type) for node in results]))
    inputs = [*kept, *[len(types) + k for k, node in enumerate(results) if differentiable(node.type)]]
    recipe = Recipe("gradient", back.function, tuple([inputs[i] for i in back.kept]))
    return _RecordedPullback(recipe, tuple([i for i, moves in zip(kept, varied, strict=True) if moves]))


@functools.cache
def _sum_of(type: ArrayType) -> Recipe:
    """The recipe of the sum of two cotangents."""
    body = Region((type, type))
    body.results = (Builder(body).op(Add(), *body.params),)
    return Recipe("gradient", Function("sum", body), (0, 1))


class _Taped(Segment):
    """The operands of the call that defined a node since the tape began, even if the node is computed."""

    __slots__ = ("_recorded",)

    def __init__(self, last: Node, recorded: GradientTape) -> None:
        self._recorded = recorded
        super().__init__([last])

    def call_of(self, node: Node) -> RecordedCall | None:
        return None if self._recorded.begins_with(node) else node.origin
