"""Gradients of recorded calls: of functions that run as plain Python on lazy tensors.

While a tape is active, computed nodes keep the calls that defined them, so that branches may read values. The pullback is
recorded like the primal pass: one call for each recorded call, which computes the cotangents of its operands by the
transformed recipe (`compiler/ad`), made once for each recipe.
"""

from __future__ import annotations

import functools
import operator
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compiler.ad.calculus import differentiable
from ...compiler.diagnostics.codes_differentiation import NoSuchArgument
from ...compiler.diagnostics.errors import StagingError
from ...compiler.hlo.builder import Builder
from ...compiler.hlo.ir import Function, Region
from ...compiler.hlo.types import ArrayType, is_floating
from ...compiler.ops import Add
from ...records import dataclass
from ...runtime.executables.transformations import cotangents_of
from ...runtime.function import BoundFunction, CompiledFunction
from ..arena import LIMIT, arena_of
from ..barrier import barrier
from ..fallback import plain_results
from ..graph import GradientTape, Node, RecordedCall, lent, tape
from ..recipes import PullbackSource, Recipe, call_of
from ..segment import Segment, program_of
from ..steps.recording import thread
from ..tensor import Tensor, node_of
from .arguments import Arguments

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
    """The same as `run_gradient`, for arguments and results other than lazy tensors, which the function may also store."""
    with lent():
        held = [None, *options[-2:]]
        try:
            held[0] = run_gradient(*options)
        finally:
            held = plain_results(held)
        return held[0]


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
    arguments = Arguments()
    for i in several:
        if not -len(given) <= i < len(given):
            raise StagingError((NoSuchArgument(argument=str(i), count=len(given)),))
    held: list[Any] = [*args, *kwargs.values()]
    try:
        parts = [arguments.part_of(given[i]) for i in several]
        for i, part in zip(several, parts, strict=True):
            given[i] = part.stand
        nodes = arguments.nodes()
        recorded = GradientTape(set(map(id, nodes)))
        with tape(recorded):
            result = fun(*given, **kwargs)
            result, aux = result if has_aux else (result, None)
            found = _gradients(result, nodes, recorded)
        held += (result, aux)
    except ValueError as error:
        if isinstance(
            error.__cause__, StagingError
        ):  # NumPy's for a number that cannot be stored into an ndarray
            raise error.__cause__ from None
        raise
    finally:
        held = arguments.hand_back(held)
    result, aux = held[-2:]
    by_node = dict(zip(map(id, nodes), found, strict=True))
    gradients = tuple([part.gradient(by_node) for part in parts])
    gradient = gradients if isinstance(argnums, tuple) else gradients[0]
    value = (result, aux) if has_aux else result
    if with_value:
        return value, gradient
    return (gradient, aux) if has_aux else gradient


def _gradients(result: Any, inputs: Sequence[Node], recorded: GradientTape) -> list[Node | None]:
    """The gradient by each input, recorded; None where the result does not depend on it."""
    if not isinstance(result, Tensor):
        if isinstance(result, float | np.floating):
            return [None] * len(inputs)
        raise TypeError(f"grad requires real-valued outputs, but got {type(result).__name__}.")
    type_ = result._kind.type
    if type_.shape != ():
        raise TypeError(
            f"Gradient only defined for scalar-output functions. Output had shape: {type_.shape}."
        )
    if not is_floating(type_.dtype):
        raise TypeError(f"grad requires real-valued outputs, but got {type_.dtype}.")
    last = node_of(result)
    back = _WayBack(last, recorded)
    return [back.found(node) for node in inputs]


ResultKey = tuple[int, int]
"""Which array a node is: its own identity, or that of the call that it is a result of, and the index of the result."""


class _WayBack:
    """The pullback: records the cotangents of all that a result was computed from, call by call.

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
        """Propagates the cotangents of a call's results to its operands."""
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
    moved = tuple([i for i, moves in zip(kept, varied, strict=True) if moves])
    source = PullbackSource(call.recipe, moved, given)
    takes = tuple([inputs[i] for i in back.kept])
    return _RecordedPullback(Recipe("gradient", back.function, takes, source=source), moved)


@functools.cache
def _sum_of(type: ArrayType) -> Recipe:
    """The recipe of the sum of two cotangents."""
    body = Region((type, type))
    body.results = (Builder(body).op(Add(), *body.params),)
    return Recipe("gradient", Function("sum", body), (0, 1), source=call_of(operator.add, type, type))


class _Taped(Segment):
    """The operands of the call that defined a node since the tape began, even if the node is computed."""

    __slots__ = ("_recorded",)

    def __init__(self, last: Node, recorded: GradientTape) -> None:
        self._recorded = recorded
        super().__init__([last])

    def call_of(self, node: Node) -> RecordedCall | None:
        return None if self._recorded.begins_with(node) else node.origin
