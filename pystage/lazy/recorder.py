"""Recording of calls on tensors by their recipes, found by the function and the kinds of the operands."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import jax
import numpy as np

from ..autocasting import product_type
from ..compiler.hlo.types import SHORT_NAMES, ArrayType
from ..compiler.values.boundary import (
    Box,
    Form,
    LeafSpec,
    Mutation,
    OutputTemplate,
    Path,
    PathTemplate,
    Spec,
    StaticSpec,
    StructureSpec,
    ViewStep,
    ViewTemplate,
)
from ..compiler.values.evaluation import Elements, Evaluation, Evaluator, Make, never
from ..compiler.values.memory import stand_in
from ..compiler.values.views import View, Window
from ..runtime.results.numpy_private import float_errors
from .arena import LIMIT, Arena, arena_of, arenas
from .barrier import barrier, constant_of, elements_of, value_of
from .devices import DeviceMismatch, default_device, device_of, on_device
from .functions import method
from .graph import CodeLocation, Node, RecordedCall, placed, varies
from .recipes import Recipe, Refused, kind_of, name_of, recipe_for
from .steps.recording import thread
from .tensor import NUMBERS, Tensor, assign, node_of, owner, owner_of, to_host, view_of

Key = tuple[Any, ...]
_INT64 = range(-(2**63), 2**63)


class Unrecorded(Exception):
    """Raised where a call cannot be recorded, for the reason in its text: NumPy runs it."""


def floats_raise() -> bool:
    """True where floating-point errors do more than warn."""
    return float_errors() is not _SILENT and not {*np.geterr().values()} <= {"ignore", "warn"}


def record(function: Any, args: Sequence[Any], kwargs: dict[str, Any] | None = None, depth: int = 2) -> Any:
    """The recorded result of `function(*args, **kwargs)`. `Unrecorded` where NumPy must run it.

    At least one of the arguments is a tensor, or holds one. The user's frame is so deep below this call.
    """
    if floats_raise():
        raise Unrecorded("errors of floats do more than warn")
    if thread.eager and not thread.recording and _operation(function, args) in thread.eager:
        return _computed_at_once(function, args, kwargs, depth + 1)
    key: list[Any] = [function, product_type()]
    leaves: list[Any] = []
    cls = Tensor.made
    for value in args:
        if type(value) is cls:
            key.append(value._kind)
            leaves.append(value)
        else:
            _scan(value, key, leaves)
    if kwargs:
        key.append(tuple(kwargs))
        for value in kwargs.values():
            _scan(value, key, leaves)
    entry = _recipes.get(tuple(key))
    if type(entry) is not Recipe:
        entry = _recipe(entry, tuple(key), function, args, kwargs or {}, leaves)
    if isinstance(entry, Refused):
        place = _reshaped_copy(function, args, kwargs)
        if place is None:
            raise Unrecorded(entry.reason)
        made = record(np.array, (args[place],), {"order": "C"}, depth + 1)
        return record(function, (*args[:place], made, *args[place + 1 :]), kwargs, depth + 1)
    if entry.viewed is not None and type(leaves[entry.viewed]) is cls:
        return view_of(leaves[entry.viewed], entry.steps)
    frame = sys._getframe(depth)
    location = frame.f_code, frame.f_lasti
    kind, recording = entry.only, thread.recording
    if kind is not None:
        call = _recorded(entry, leaves, recording or kind.arena, location)
        return owner(Node(kind.type, kind.device, None, call), kind)
    arena = recording or arena_of(entry.device)
    with arena.lock:  # what it stores depends on what it has read
        call = _recorded(entry, leaves, arena, location)
        return _Finish(entry, call, args, kwargs or {}).result()


def _reshaped_copy(function: Any, args: Sequence[Any], kwargs: dict[str, Any] | None) -> int | None:
    """The position of a view that a call reshapes, if NumPy copies it because of its order in memory."""
    place = 1 if function is method and args[0] in ("reshape", "ravel") else 0
    if kwargs or not (place or function in (np.reshape, np.ravel)):
        return None
    view, shape = args[place], args[place + 1 :]
    if not isinstance(view, Tensor) or view._owner is None or not owner_of(view)._kind.ordered:
        return None
    array = stand_in(owner_of(view)._kind.type, view._path)
    try:
        reshaped = array.reshape(*shape or (-1,))
    except (TypeError, ValueError):
        return None
    return None if np.may_share_memory(array, reshaped) else place


def _operation(function: Any, args: Sequence[Any]) -> str:
    """The name of the operation of a call, by which `lazy.eager` finds it: of `x += 1` it is `add`, as of `np.add`."""
    name = str(args[0]) if function is method else name_of(function)
    return name.removeprefix("i") if getattr(operator, name, None) is function else name


def _computed_at_once(function: Any, args: Sequence[Any], kwargs: dict[str, Any] | None, depth: int) -> Any:
    """A recorded call, computed now, with all that is pending on its device."""
    name = _operation(function, args)
    names, thread.eager = thread.eager, frozenset()
    try:
        result = record(function, args, kwargs, depth)
        for arena in arenas():
            if arena.recorded:
                barrier(arena, f"`{name}` is eager")
    finally:
        thread.eager = names
    return result


def _recorded(recipe: Recipe, leaves: Sequence[Any], arena: Arena, location: CodeLocation) -> RecordedCall:
    """A call of a recipe with the operands that it takes from among the leaves."""
    device = recipe.device
    call = RecordedCall(recipe, tuple([operand_of(leaves[i], device) for i in recipe.takes]), location)
    arena.recorded.append(recipe)
    if len(arena.recorded) >= LIMIT and arena.is_cut():
        barrier(arena, "many calls")
    return call


_SILENT = float_errors()
_recipes: dict[Key, Recipe | Refused | tuple[int, ...]] = {}
"""By function, type of products and kinds of the arguments: the recipe, or the leaves on whose values it depends; then
also by these."""
_RECIPES = 20_000
"""The number of recipes that are kept."""


def _recipe(
    entry: Any, key: Key, function: Any, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]
) -> Recipe | Refused:
    """The recipe of a call of which `_recipes` has `entry`, made if there is none."""
    demanded: tuple[int, ...] = ()
    if type(entry) is tuple:
        demanded = entry
        key = (key, *[repr(leaves[i]) for i in demanded])
        entry = _recipes.get(key)
    if entry is None:
        entry = _new_recipe(key, demanded, function, args, kwargs, leaves)
    return entry  # type: ignore[no-any-return]


def _new_recipe(
    key: Key,
    demanded: tuple[int, ...],
    function: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    leaves: Sequence[Any],
) -> Recipe | Refused:
    places = [_device_of(leaf) for leaf in leaves]
    devices = {id(place): place for place in places if place is not None}
    if len(devices) > 1:
        raise DeviceMismatch(name_of(function), list(devices.values()))
    device = next(iter(devices.values()), None) or default_device()
    count = iter(range(len(leaves)))
    specs = tuple([_spec(a, count) for a in args])
    named = {k: _spec(v, count) for k, v in kwargs.items()}
    static = {i: _known(leaves[i]) for i in demanded}
    ordered = all(map(_is_ordered, leaves))
    numbers = [leaf if type(leaf) in NUMBERS or type(leaf) is Tensor.number else None for leaf in leaves]
    made, needed = recipe_for(function, specs, named, lambda i: _known(numbers[i]), static, device, ordered)
    numbers.clear()  # tensors would live on with the recipe
    if len(_recipes) >= _RECIPES:
        _recipes.clear()
    if needed != demanded:
        plain = key[0] if demanded else key
        _recipes[plain] = needed
        key = (plain, *[repr(leaves[i]) for i in needed])
    _recipes[key] = made
    return made


def _device_of(leaf: Any) -> Any:
    """The device of a tensor, or of a `jax.Array`; None for an uncommitted array."""
    if isinstance(leaf, Tensor):
        return leaf._kind.device
    return device_of(leaf) if isinstance(leaf, jax.Array) else None


def _is_ordered(leaf: Any) -> bool:
    """False for an array that does not lie in memory in row-major order, in one piece."""
    if isinstance(leaf, Tensor):
        return leaf._kind.ordered
    return not isinstance(leaf, np.ndarray) or leaf.flags.c_contiguous


def _known(leaf: Any) -> Any:
    """A leaf as a constant; a number of a step by its value, which becomes part of the step's key."""
    return to_host(leaf, "a constant").item() if type(leaf) is Tensor.number else leaf


def _scan(value: Any, key: list[Any], leaves: list[Any]) -> None:
    """Adds what a recipe depends on to the key, and what a program may take to the leaves, in the order of `_spec`."""
    cls: Any = type(value)
    if cls is Tensor.made:
        key.append(value._kind)
        leaves.append(value)
    elif cls in NUMBERS:
        if not fits(value):
            raise Unrecorded("an integer has more than 64 bits")
        key.append(cls if value != 0 and value != 1 else repr(value))
        leaves.append(value)
    elif cls is Tensor.number:
        key.append(value.__class__)
        leaves.append(value)
    elif cls is tuple or cls is list:
        key += [cls, len(value)]
        for each in value:
            _scan(each, key, leaves)
    elif cls is slice:
        key.append(cls)
        for each in (value.start, value.stop, value.step):
            _scan(each, key, leaves)
    elif cls is dict:
        key += [cls, tuple(value)]
        for each in value.values():
            _scan(each, key, leaves)
    elif isinstance(value, np.ndarray):
        if cls is not np.ndarray or value.dtype not in SHORT_NAMES or not value.dtype.isnative:
            raise Unrecorded(f"an argument is an array of {value.dtype}, or of a class of its own")
        key += [cls, value.shape, value.dtype, value.flags.writeable, value.flags.c_contiguous]
        leaves.append(value)
    elif isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer):
        if value.dtype not in SHORT_NAMES:
            raise Unrecorded(f"an argument is a jax.Array of {value.dtype}")
        key += [jax.Array, value.shape, value.dtype, device_of(value)]
        leaves.append(value)
    elif isinstance(value, np.generic):
        if value.dtype not in SHORT_NAMES:
            raise Unrecorded(f"an argument has the element type {value.dtype}")
        key.append(cls)
        leaves.append(value)
    elif is_static(value):
        key += [cls, value]
    else:
        raise Unrecorded(f"an argument is of the class {cls.__name__}")


def fits(number: Any) -> bool:
    """False for an int of more than 64 bits."""
    return type(number) is not int or number in _INT64


def is_static(value: Any) -> bool:
    """True for a value known while compiling that is compared by value or identity."""
    return value is None or value is ... or isinstance(value, _STATIC)


_STATIC = (str, bytes, bool, type, np.dtype, np.ufunc, FunctionType, BuiltinFunctionType, type(np.sum))


def _spec(value: Any, count: Iterator[int]) -> Spec:
    """The spec of an argument for the compiler."""
    cls: Any = type(value)
    if isinstance(value, Tensor):
        kind = value._kind
        return LeafSpec(next(count), kind.type, kind.form, writable=kind.writable)
    if cls in NUMBERS:
        return LeafSpec(next(count), NUMBERS[cls][0], Form.PYTHON)
    if cls is tuple or cls is list:
        return StructureSpec(
            cls, tuple(range(len(value))), tuple([_spec(v, count) for v in value]), id(value)
        )
    if cls is slice:
        parts = (value.start, value.stop, value.step)
        return StructureSpec(
            cls, ("start", "stop", "step"), tuple([_spec(v, count) for v in parts]), id(value)
        )
    if cls is dict:
        return StructureSpec(cls, tuple(value), tuple([_spec(v, count) for v in value.values()]), id(value))
    if cls is np.ndarray:
        type_ = ArrayType(value.dtype, value.shape)
        return LeafSpec(next(count), type_, Form.NDARRAY, writable=value.flags.writeable)
    if isinstance(value, jax.Array):
        return LeafSpec(next(count), ArrayType(value.dtype, value.shape), Form.NDARRAY, writable=False)
    if isinstance(value, np.generic):
        return LeafSpec(next(count), ArrayType(value.dtype), Form.SCALAR)
    return StaticSpec(value)


def operand_of(leaf: Any, device: Any) -> Node:
    """A number or an array as the operand of a call, with its present contents."""
    if isinstance(leaf, Tensor):
        return node_of(leaf)
    number = NUMBERS.get(type(leaf))
    if number is not None:
        return Node(number[0], device, number[1](leaf))
    if isinstance(leaf, np.generic):
        return Node(ArrayType(leaf.dtype), device, leaf)
    if isinstance(leaf, jax.Array):
        node = Node(ArrayType(leaf.dtype, leaf.shape), device, leaf)
        node.exported = True
        return node
    return Node(ArrayType(leaf.dtype, leaf.shape), device, on_device(leaf, device))


class _Finish(Evaluator):
    """The rest of a recorded call that does more than give one new tensor: exceptions, results and stores."""

    def __init__(
        self, recipe: Recipe, call: RecordedCall, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self._recipe, self._args, self._kwargs = recipe, args, kwargs
        self._device = recipe.device
        self._nodes = [Node(type, self._device, None, call, i) for i, type in enumerate(recipe.types)]
        self._bases: dict[int, Any] = {}
        """The tensors of results of which there are views, by the results' numbers."""

    def result(self) -> Any:
        """The result, after exceptions of the call and before its stores."""
        recipe = self._recipe
        if recipe.failure is not None:
            self._raise()
        assert recipe.result is not None
        result = self.make(recipe.result)(Evaluation(self._nodes, {}))
        for mutation in recipe.mutations:
            if mutation.only is None:
                self._store(mutation)
        return result

    def _raise(self) -> None:
        """Computes whether the call raises: if it does, NumPy runs it, and raises at the user's line."""
        recipe = self._recipe
        assert recipe.failure is not None
        code = recipe.failure.code
        recording = thread.recording
        raises = True
        if not isinstance(code, int):
            node = self._nodes[code.index]
            if recording is None:
                raises = value_of(node, f"`{recipe.name}` may raise")
            elif (raises := constant_of(node)) is None:
                recording.checks.append(node)
        if raises and recording is not None:
            recording.abandon()
        if raises:
            raise Unrecorded("it raises")

    def output(self, output: OutputTemplate) -> Make:
        return lambda run: self._output(output)

    def elements(self, output: OutputTemplate) -> Elements:
        return lambda rows, count: never(output)(rows)

    def same(self, same: PathTemplate) -> Make:
        return lambda run: self._argument(same.path)

    def view(self, view: ViewTemplate) -> Make:
        base, steps = view.base, view.steps
        if isinstance(base, OutputTemplate):
            return lambda run: self._view_of_result(base, steps)
        held = self.make(base)
        return lambda run: self._view_of_argument(held(run), steps)

    def _output(self, output: OutputTemplate) -> Any:
        node = self._nodes[output.index]
        if output.form is Form.PYTHON:
            assert output.scalar is not None
            if thread.recording is not None or varies(node):
                return owner(node, kind_of(node.type, output.form, self._device))
            return output.scalar(elements_of(node, f"the result of `{self._recipe.name}`").item())
        if output.form is Form.JAX:
            value_of(node, f"the result of `{self._recipe.name}`")
            return placed(node)
        return owner(node, kind_of(node.type, output.form, self._device, output.writable))

    def _view_of_result(self, base: OutputTemplate, steps: Sequence[ViewStep]) -> Any:
        found = self._bases.get(base.index)
        if found is None:
            found = self._bases[base.index] = self._output(base)
        return view_of(found, self._path(steps)) if steps else found

    def _view_of_argument(self, held: Any, steps: Sequence[ViewStep]) -> Any:
        if not isinstance(held, Tensor):
            raise Unrecorded("it gives a view of an argument that is no lazy tensor")
        return view_of(held, self._path(steps))

    def _path(self, steps: Sequence[ViewStep]) -> tuple[View, ...]:
        found = [self._window(step) if isinstance(step, Box) else step for step in steps]
        return tuple([view for view in found if isinstance(view, View)])

    def _window(self, box: Box) -> Window:
        cause = f"where `{self._recipe.name}` begins"
        starts = [
            int(value_of(self._nodes[s.index], cause)) if isinstance(s, OutputTemplate) else s
            for s in box.starts
        ]
        return Window(tuple(starts), box.sizes)

    def _argument(self, path: Path) -> Any:
        assert self._recipe.argument_at is not None
        return self._recipe.argument_at(path, self._args, self._kwargs)

    def _store(self, mutation: Mutation) -> None:
        target = self._argument(mutation.target)
        assert isinstance(mutation.value, OutputTemplate)
        node = self._nodes[mutation.value.index]
        if isinstance(target, Tensor):
            assign(target, node)
        else:
            np.copyto(target, elements_of(node, "a store into an ndarray"))
