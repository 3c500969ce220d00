"""The core of a lazy tensor: its node or view, and how calls on it are recorded.

A tensor that owns its memory holds a node; a store replaces the node. A view holds its owner and the path from there, as in
the compiler's heap (`compiler/values/views.py`), and no node: a load reads the owner's current node, and a store through the
view is a store into the owner. So all aliases of a piece of memory agree, and a view keeps no array alive.

Threads may share tensors as they share ndarrays: a store holds the lock of the arena, and so does what changes whose memory
the elements of a tensor are in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar

import numpy as np

from ..autocasting import product_type
from ..compiler.hlo.types import COMPLEX128, FLOAT64, INT64, SHORT_NAMES, ArrayType
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
from ..compiler.values.views import Reshaped, View, Window, path_type
from ..runtime.outcomes import Lazy
from ..runtime.results.numpy_private import float_errors
from ..runtime.results.objects import view_maker
from .arena import LIMIT, Arena, Registered, arena_of
from .barrier import barrier, constant_of, placed, value_of
from .devices import DeviceMismatch, default_device, on_device
from .graph import CodeLocation, Node, RecordedCall, is_differentiating
from .recipes import Recipe, Refused, TensorKind, kind_of, name_of, path_recipe, recipe_for
from .steps.recording import refuse_use, thread

NUMBERS: dict[type, tuple[ArrayType, Callable[[Any], Any]]] = {
    int: (ArrayType(INT64), np.int64),
    float: (ArrayType(FLOAT64), np.float64),
    complex: (ArrayType(COMPLEX128), np.complex128),
}
_INT64 = range(-(2**63), 2**63)
Key = tuple[Any, ...]


class Unrecorded(Exception):
    """Raised where a call cannot be recorded, for the reason in its text: NumPy runs it."""


class Tensor(Registered, Lazy):
    """An array that is recorded. `_owner` is None where it owns its memory, else it is the view at `_path` of its owner."""

    __slots__ = ("_host", "_kind", "_looks", "_owner", "_path", "_starts")
    _host: np.ndarray[Any, Any] | None
    """Of an owner: the ndarray that is its memory, where somebody else may hold that. The node is a copy of it, or has this
    ndarray itself: then it is no operand before `node_of` has looked again. Of a view: its part of that, once NumPy
    indexes it."""
    _looks: int
    """How often it was indexed while it was lent; after more than `LOOKS` times NumPy does it."""
    _starts: tuple[Node, ...] | None
    """Of a view: where its boxes begin, as operands of its loads and stores; made with the first of these."""
    _owner: Tensor | None
    _path: tuple[View, ...]
    _kind: TensorKind
    made: ClassVar[type[Tensor]]
    """The class of the tensors that calls give."""
    number: ClassVar[type[Tensor]]
    """The class of Python numbers while a step is recorded."""


def owner(node: Node, kind: TensorKind) -> Any:
    """A tensor that owns its memory, a NumPy scalar, or a number of a step."""
    cls = Tensor.made if kind.form is not Form.PYTHON else Tensor.number
    tensor = cls.__new__(cls)
    tensor._node = node
    tensor._owner = None
    tensor._host = None
    tensor._looks = 0
    tensor._path = ()
    tensor._kind = kind
    recording = tensor._recording = thread.recording
    (recording or kind.arena).register(tensor)
    return tensor


def view_of(tensor: Tensor, steps: tuple[View, ...]) -> Any:
    """A view of a tensor: a new object, also where it leads to all of it."""
    base = owner_of(tensor)
    kind = tensor._kind
    made = Tensor.made.__new__(Tensor.made)
    made._owner = base
    made._path = (*tensor._path, *steps)
    made._starts = None
    made._looks = 0
    key = (kind, steps)
    found = _view_kinds.get(key)
    if found is None:
        if len(_view_kinds) >= _RECIPES:
            _view_kinds.clear()
        found = _view_kinds[key] = _view_kind(kind, steps)
    made._kind = found
    return made


_view_kinds: dict[tuple[TensorKind, tuple[View, ...]], TensorKind] = {}


def _view_kind(kind: TensorKind, steps: tuple[View, ...]) -> TensorKind:
    """The kind of a view of an array of some kind."""
    writable = kind.writable and not any(step.read_only for step in steps)
    ordered = kind.ordered and is_ordered(kind.type, steps)
    return kind_of(path_type(kind.type, steps), Form.NDARRAY, kind.device, writable, ordered=ordered)


def owner_of(tensor: Tensor) -> Tensor:
    """The tensor in whose memory this one lies."""
    return tensor if tensor._owner is None else tensor._owner


def usable_owner(tensor: Tensor) -> Tensor:
    """The same, of a tensor that is to be read or stored into. StepError for one of another recording."""
    base = owner_of(tensor)
    if base._recording is not thread.recording:
        refuse_use(base)
    return base


def is_ordered(base: ArrayType, steps: Sequence[View]) -> bool:
    """True if the elements at the end of a path, from an array in row-major order, lie in row-major order, in one piece."""
    for step in steps:
        shape, base = base.static_shape, path_type(base, (step,))
        if base.size <= 1 or isinstance(step, Reshaped):
            continue
        if not isinstance(step, Window):
            return False
        cut = [axis for axis, n in enumerate(step.sizes) if n != shape[axis]]
        if cut and any(n != 1 for n in step.sizes[: cut[-1]]):
            return False
    return True


def node_of(tensor: Tensor) -> Node:
    """The array that a tensor stands for, now."""
    base = usable_owner(tensor)
    node = base._node
    if base._host is not None:
        node = _looked_again(base)
    if base is tensor:
        return node
    recipe, starts = path_recipe(node.type, tensor._path)
    return Node(
        tensor._kind.type,
        node.device,
        None,
        RecordedCall(recipe, (node, *_offsets(tensor, starts)), None),
    )


def _offsets(view: Tensor, starts: Sequence[int]) -> tuple[Node, ...]:
    """The operands of a view's loads and stores that say where it begins: the same for all, so that these are one place."""
    found = view._starts
    if found is None:
        kind = view._kind
        found = tuple([Node(NUMBERS[int][0], kind.device, np.int64(start)) for start in starts])
        view._starts = found
    return found


def assign(tensor: Tensor, node: Node) -> None:
    """The store of an array of the same type into a tensor: what its owner holds becomes another node."""
    base = usable_owner(tensor)
    with base._kind.arena.lock:
        old = base._node
        if old.array is base._host or node.call is None or old not in node.call.operands:
            old = node_of(base)  # else the call has read it, and must not store what others have stored since
        if base._host is not None:
            _store_in_shared(tensor, old, node)
        elif base is tensor:
            base._node = node
        else:
            recipe, starts = path_recipe(old.type, tensor._path, node.type)
            operands = (old, node, *_offsets(tensor, starts))
            location = None if node.call is None else node.call.location
            base._node = Node(old.type, old.device, None, RecordedCall(recipe, operands, location))


# ---------------------------------------------------------------- memory that others hold


def share(tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
    """From now on the memory of a tensor that owns its own is this ndarray, of the same elements."""
    tensor._host = array
    tensor._node = Node(tensor._kind.type, tensor._kind.device, array)


def memory_of(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """The ndarray that is the memory of a tensor that owns its own, from now on: stores into either are seen by both.

    What XLA has computed is copied once. What is an ndarray already, and nobody else's, is lent as it is.
    """
    with tensor._kind.arena.lock:
        memory = tensor._host
        if memory is None:
            value_of(tensor._node, cause)
            if type(tensor._node.array) is np.ndarray:
                tensor._host = tensor._node.array  # first: who takes the node from now on looks again
            if tensor._host is None or not _is_lendable(tensor):
                tensor._host = np.array(tensor._node.array, order="F" if tensor._kind.fortran else "K")
            memory = tensor._host
            memory.flags.writeable = True
            share(tensor, memory)
        return memory


def shared_memory(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """An ndarray that is the memory of a tensor: stores into either are seen by both."""
    array: Any = memory_of(usable_owner(tensor), cause)
    for step in tensor._path:
        array = view_maker(step)(array)
    if not tensor._kind.writable and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array  # type: ignore[no-any-return]


LOOKS = 64
"""A tensor that is lent, or was made of one, is left to NumPy after it was indexed so often."""
_loans: list[object] = []


@contextmanager
def lent() -> Iterator[None]:
    """Runs a function to which lazy tensors are lent: nobody asks whether what an index gives is lazy."""
    loan = object()
    _loans.append(loan)
    try:
        yield
    finally:
        _loans.remove(loan)


def is_direct() -> bool:
    """True where nobody asks how an element came about."""
    return thread.recording is None and not is_differentiating()


def note_look(tensor: Tensor, element: bool) -> None:
    """A tensor is indexed, and so is what it views. What was indexed more than `LOOKS` times is an ndarray's memory."""
    base = owner_of(tensor)
    if _loans and is_direct() and (element or base._host is not None):
        for each in (tensor,) if tensor is base else (base, tensor):
            each._looks += 1
            if each._looks > LOOKS:
                each._host = shared_memory(each, "its elements one by one")


def _looked_again(tensor: Tensor) -> Node:
    """What the memory of a tensor holds, into which others may have stored; it is its own again once nobody holds it."""
    with tensor._kind.arena.lock:
        if tensor._host is None:
            return tensor._node
        if _is_unshared(tensor):
            return _taken_back(tensor)
        node, memory = tensor._node, tensor._host
        if node.array is memory or not same_bits(memory, _elements(node)):
            tensor._node = Node(node.type, node.device, on_device(memory, node.device))
        return tensor._node


def _taken_back(tensor: Tensor) -> Node:
    """What a tensor's memory holds once nobody else holds that: a node has it for its array."""
    node, memory = tensor._node, tensor._host
    assert memory is not None
    tensor._host = None
    tensor._looks = 0
    if node.array is not memory:
        if same_bits(memory, _elements(node)):
            return node
        node = tensor._node = Node(node.type, node.device, memory)
    memory.flags.writeable = False
    return node


def _store_in_shared(tensor: Tensor, old: Node, node: Node) -> None:
    """Stores in memory that others hold, who may store beside it: no elements but those of a view, or that change."""
    memory = shared_memory(tensor, "a store")
    new = _elements(node)
    if tensor._owner is None:
        np.copyto(memory, new, where=_differ(_elements(old), new))
    else:
        np.copyto(memory, new)


def _elements(node: Node) -> np.ndarray[Any, Any]:
    return np.asarray(value_of(node, "memory that others hold"))


def _is_unshared(tensor: Tensor) -> bool:
    """True if nobody but a tensor, and its node, holds the ndarray that is its memory."""
    memory = tensor._host
    assert memory is not None
    if not memory.flags.owndata:
        return False  # others may hold what it is a part of
    held_by_node = tensor._node.array is memory
    del memory
    return _references(tensor) == _IDLE + held_by_node


def _is_lendable(tensor: Tensor) -> bool:
    """True if the ndarray of a tensor's node can be its memory: nobody else holds either, and it has NumPy's order."""
    assert tensor._host is not None
    in_order = tensor._host.flags.f_contiguous or not tensor._kind.fortran
    return in_order and _is_unshared(tensor) and _node_references(tensor) == _IDLE


def _references(tensor: Tensor) -> int:
    """How many references to the memory of a tensor there are, those of the tensor and of this call included."""
    return sys.getrefcount(tensor._host)


def _node_references(tensor: Tensor) -> int:
    """How many references to the node of a tensor there are, those of the tensor and of this call included."""
    return sys.getrefcount(tensor._node)


def same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """True if two arrays of one type, be it no tensor's, hold the same bits."""
    return not _differ(a, b).any() if a.dtype in SHORT_NAMES else a.tobytes() == b.tobytes()


def _differ(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where two arrays of a tensor's type do not hold the same bits."""
    if a.dtype.kind == "c":
        return _differ(a.real, b.real) | _differ(a.imag, b.imag)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return np.asarray(a.view(bits) != b.view(bits))


def host_view(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """The elements of a tensor in host memory, computed now, to be read only."""
    base = usable_owner(tensor)
    node = base._node
    array: Any = base._host
    if array is None:
        array = np.asarray(value_of(node, cause))
    for step in tensor._path:
        array = view_maker(step)(array)
    return array  # type: ignore[no-any-return]


def to_host(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """A new ndarray with the elements of a tensor."""
    return np.array(host_view(tensor, cause), order="F" if tensor._kind.fortran else "K")


_probe = Tensor.__new__(Tensor)
_probe._host = np.empty(0)
_IDLE = _references(_probe)
"""References to memory that nobody else holds."""


# ---------------------------------------------------------------- recording


def floats_raise() -> bool:
    """True where errors of floats do more than warn."""
    return float_errors() is not _SILENT and not {*np.geterr().values()} <= {"ignore", "warn"}


def record(function: Any, args: Sequence[Any], kwargs: dict[str, Any] | None = None, depth: int = 2) -> Any:
    """What `function(*args, **kwargs)` gives, recorded. `Unrecorded` where NumPy must run it.

    At least one of the arguments is a tensor, or holds one. The user's frame is so deep below this call.
    """
    if floats_raise():
        raise Unrecorded("errors of floats do more than warn")
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
"""So many are kept."""


def _recipe(
    entry: Any, key: Key, function: Any, args: Sequence[Any], kwargs: dict[str, Any], leaves: Sequence[Any]
) -> Recipe:
    """The recipe of a call of which `_recipes` has `entry`, made if there is none. `Unrecorded` if there can be none."""
    demanded: tuple[int, ...] = ()
    if type(entry) is tuple:
        demanded = entry
        key = (key, *[repr(leaves[i]) for i in demanded])
        entry = _recipes.get(key)
    if entry is None:
        entry = _new_recipe(key, demanded, function, args, kwargs, leaves)
    if isinstance(entry, Refused):
        raise Unrecorded(entry.reason)
    return entry  # type: ignore[no-any-return]


def _new_recipe(
    key: Key,
    demanded: tuple[int, ...],
    function: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    leaves: Sequence[Any],
) -> Recipe | Refused:
    devices = {id(t._kind.device): t._kind.device for t in leaves if isinstance(t, Tensor)}
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


def _is_ordered(leaf: Any) -> bool:
    """False for an array that does not lie in memory in row-major order, in one piece."""
    if isinstance(leaf, Tensor):
        return leaf._kind.ordered
    return not isinstance(leaf, np.ndarray) or leaf.flags.c_contiguous


def _known(leaf: Any) -> Any:
    """A leaf as a constant: a number of a step by its value, which is part of the step's key from then on."""
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
    """True for what is known while compiling, and compared by value or is one object."""
    return value is None or value is ... or isinstance(value, _STATIC)


_STATIC = (str, bytes, bool, type, np.dtype, np.ufunc, FunctionType, BuiltinFunctionType, type(np.sum))


def _spec(value: Any, count: Iterator[int]) -> Spec:
    """What the compiler is told of an argument."""
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
    if isinstance(value, np.generic):
        return LeafSpec(next(count), ArrayType(value.dtype), Form.SCALAR)
    return StaticSpec(value)


def operand_of(leaf: Any, device: Any) -> Node:
    """A number or an ndarray as the operand of a call: what it is now."""
    if isinstance(leaf, Tensor):
        return node_of(leaf)
    number = NUMBERS.get(type(leaf))
    if number is not None:
        return Node(number[0], device, number[1](leaf))
    if isinstance(leaf, np.generic):
        return Node(ArrayType(leaf.dtype), device, leaf)
    return Node(ArrayType(leaf.dtype, leaf.shape), device, on_device(leaf, device))


class _Finish(Evaluator):
    """What becomes of the results of one recorded call that does more than give one new tensor."""

    def __init__(
        self, recipe: Recipe, call: RecordedCall, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self._recipe, self._args, self._kwargs = recipe, args, kwargs
        self._device = recipe.device
        self._nodes = [Node(type, self._device, None, call, i) for i, type in enumerate(recipe.types)]
        self._bases: dict[int, Any] = {}
        """The tensors of results of which there are views, by the results' numbers."""

    def result(self) -> Any:
        """The result, after what the call raises, and before what it stores is stored."""
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
        return never(output)

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
            if thread.recording is not None:
                return owner(node, kind_of(node.type, output.form, self._device))
            return output.scalar(np.asarray(value_of(node, f"the result of `{self._recipe.name}`")).item())
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
            np.copyto(target, np.asarray(value_of(node, "a store into an ndarray")))
