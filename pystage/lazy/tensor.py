"""Core of lazy tensors: the node, the memory, or the view that a tensor is.

A tensor that owns its memory holds a node, and a store replaces the node; or it holds an ndarray, into which NumPy stores.
It goes from one to the other without a copy where nobody else holds either. A view holds its owner and the path from there,
as in the compiler's heap (`compiler/values/views.py`), and neither: a load reads what the owner holds now, and a store
through the view is a store into the owner. So all aliases of a piece of memory agree, and a view keeps no array alive.

Threads may share tensors as they share ndarrays: a store holds the lock of the arena, and so does what changes whose memory
the elements of a tensor are in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import numpy as np
from jax.sharding import Mesh

from ..compiler.hlo.types import COMPLEX128, FLOAT64, INT64, SHORT_NAMES, ArrayType
from ..compiler.values.boundary import (
    Form,
)
from ..compiler.values.views import Reshaped, View, Window, path_type
from ..runtime.outcomes import Lazy
from ..runtime.results.objects import view_maker
from .arena import Registered
from .barrier import elements_of, value_of
from .devices import on_device
from .graph import Node, RecordedCall, is_differentiating, loans
from .recipes import TensorKind, kind_of, path_recipe
from .steps.recording import refuse_use, thread

NUMBERS: dict[type, tuple[ArrayType, Callable[[Any], Any]]] = {
    int: (ArrayType(INT64), np.int64),
    float: (ArrayType(FLOAT64), np.float64),
    complex: (ArrayType(COMPLEX128), np.complex128),
}


class Tensor(Registered, Lazy):
    """A recorded array. `_owner` is None where it owns its memory, else it is the view at `_path` of its owner."""

    __slots__ = ("_host", "_kind", "_layout", "_looks", "_makers", "_owner", "_path", "_starts")
    _host: np.ndarray[Any, Any] | None
    """Of an owner: the ndarray that is its memory, which somebody else may hold, or NumPy's scalar that it is. The node, if
    there is one, is a copy of it. Of a view: its part of that, once NumPy indexes it."""
    _layout: Any
    """Of what was read as an ndarray on a mesh: the sharding that its elements had, and get again."""
    _looks: int
    """How often it was indexed while it was lent; after more than `LOOKS` times NumPy does it."""
    _starts: tuple[Node, ...] | None
    """Of a view: where its boxes begin, as operands of its loads and stores; made with the first of these."""
    _owner: Tensor | None
    _path: tuple[View, ...]
    _makers: tuple[Callable[[Any], Any], ...]
    """What makes the view from the ndarray that is the owner's memory, one for each step of the path."""
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
    tensor._path = tensor._makers = ()
    tensor._kind = kind
    recording = tensor._recording = thread.recording
    (recording or kind.arena).register(tensor)
    return tensor


def held_by(memory: Any, kind: TensorKind) -> Any:
    """A tensor whose memory is an ndarray that nobody else has, or which is NumPy's scalar: nothing is pending."""
    tensor = Tensor.made.__new__(Tensor.made)
    tensor._node = None
    tensor._owner = None
    tensor._host = memory
    tensor._looks = 0
    tensor._path = tensor._makers = ()
    tensor._kind = kind
    tensor._recording = None
    tensor._entry = None
    if loans:
        kind.arena.register(tensor)
    return tensor


def define(tensor: Tensor, node: Node) -> None:
    """Sets the node, perhaps pending, of a tensor that owns its memory."""
    tensor._node = node
    if tensor._entry is None:
        tensor._kind.arena.register(tensor, is_older=True)


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
        if len(_view_kinds) >= _VIEW_KINDS:
            _view_kinds.clear()
        found = _view_kinds[key] = _view_kind(kind, steps), tuple(map(view_maker, steps))
    made._kind, makers = found
    made._makers = (*tensor._makers, *makers) if tensor._makers else makers
    return made


_view_kinds: dict[
    tuple[TensorKind, tuple[View, ...]], tuple[TensorKind, tuple[Callable[[Any], Any], ...]]
] = {}
"""The kind of a view, and what makes it from an ndarray, by the kind of the viewed tensor and the steps."""
_VIEW_KINDS = 20_000


def _view_kind(kind: TensorKind, steps: tuple[View, ...]) -> TensorKind:
    """The kind of a view of an array of some kind."""
    writable = kind.writable and not any(step.read_only for step in steps)
    ordered = kind.ordered and is_ordered(kind.type, steps)
    return kind_of(path_type(kind.type, steps), Form.NDARRAY, kind.device, writable, ordered=ordered)


def owner_of(tensor: Tensor) -> Tensor:
    """The tensor in whose memory this one lies."""
    return tensor if tensor._owner is None else tensor._owner


def usable_owner(tensor: Tensor) -> Tensor:
    """The owner of a tensor that is to be read or stored into. StepError for one of another recording."""
    base = owner_of(tensor)
    if base._recording is not thread.recording:
        refuse_use(base)
    return base


def is_ordered(base: ArrayType, steps: Sequence[View]) -> bool:
    """True if the elements at the end of a path, from an array in row-major order, lie in row-major order, in one piece."""
    for step in steps:
        shape, base = base.shape, path_type(base, (step,))
        if base.size <= 1 or isinstance(step, Reshaped):
            continue
        if not isinstance(step, Window):
            return False
        cut = [axis for axis, n in enumerate(step.sizes) if n != shape[axis]]
        if cut and any(n != 1 for n in step.sizes[: cut[-1]]):
            return False
    return True


def node_of(tensor: Tensor) -> Node:
    """The present node of a tensor."""
    base = usable_owner(tensor)
    node = base._node
    if base._host is not None:
        node = _looked_again(base)
    assert node is not None
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
    """The operands for the offsets of a view's loads and stores, shared so that they are one place."""
    found = view._starts
    if found is None:
        kind = view._kind
        found = tuple([Node(NUMBERS[int][0], kind.device, np.int64(start)) for start in starts])
        view._starts = found
    return found


def assign(tensor: Tensor, node: Node) -> None:
    """Stores an array of the same type into a tensor: its owner gets another node."""
    base = usable_owner(tensor)
    with base._kind.arena.lock:
        old = base._node
        if old is None or node.call is None or old not in node.call.operands:
            old = node_of(base)  # else the call has read it, and must not store what others have stored since
        if base._host is not None:
            _store_in_shared(tensor, old, node)
        elif base is tensor:
            define(base, node)
        else:
            recipe, starts = path_recipe(old.type, tensor._path, node.type)
            operands = (old, node, *_offsets(tensor, starts))
            location = None if node.call is None else node.call.location
            define(base, Node(old.type, old.device, None, RecordedCall(recipe, operands, location)))


# ---------------------------------------------------------------- memory that others hold


def share(tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
    """Makes this ndarray, of the same elements, the memory of a tensor that owns its own."""
    tensor._host = array
    tensor._node = None


def memory_of(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """The ndarray that becomes the memory of a tensor that owns its own: stores into either are seen by both.

    What XLA has computed is copied once. What is an ndarray already, and nobody else's, is lent as it is.
    """
    with tensor._kind.arena.lock:
        memory = tensor._host
        if memory is None:
            assert tensor._node is not None
            value_of(tensor._node, cause)
            if type(tensor._node.array) is np.ndarray:
                tensor._host = tensor._node.array  # first: who takes the node from now on looks again
            if tensor._host is None or not _is_lendable(tensor):
                order = "F" if tensor._kind.fortran else "K"
                tensor._host = np.array(elements_of(tensor._node, cause), order=order)  # type: ignore[call-overload]
            memory = tensor._host
            memory.flags.writeable = True
            if isinstance(tensor._kind.device, Mesh) and isinstance(tensor._node.array, jax.Array):
                tensor._layout = tensor._node.array.sharding
            share(tensor, memory)
        return memory


def shared_memory(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """An ndarray that is the memory of a tensor: stores into either are seen by both."""
    array: Any = memory_of(usable_owner(tensor), cause)
    for make in tensor._makers:
        array = make(array)
    if not tensor._kind.writable and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array  # type: ignore[no-any-return]


LOOKS = 64
"""A tensor that is lent, or was made of one, is left to NumPy after it was indexed so often."""


def is_direct() -> bool:
    """True where nobody asks how an element was computed."""
    return thread.recording is None and not is_differentiating()


def note_look(tensor: Tensor, element: bool) -> None:
    """Counts an indexing of a tensor and its base. One that was indexed more than `LOOKS` times gets an ndarray's memory."""
    base = owner_of(tensor)
    if loans and is_direct() and (element or base._host is not None):
        for each in (tensor,) if tensor is base else (base, tensor):
            each._looks += 1
            if each._looks > LOOKS:
                each._host = shared_memory(each, "its elements one by one")


def _looked_again(tensor: Tensor) -> Node:
    """The contents of a tensor's memory, into which others may have stored; it is its own again once nobody holds it."""
    with tensor._kind.arena.lock:
        if tensor._host is not None and _is_unshared(tensor):
            return _taken_back(tensor)
        node, memory = tensor._node, tensor._host
        if memory is not None and (node is None or not same_bits(memory, _elements(node))):
            place = getattr(tensor, "_layout", tensor._kind.device)
            node = tensor._node = Node(tensor._kind.type, tensor._kind.device, on_device(memory, place))
        assert node is not None
        return node


def _taken_back(tensor: Tensor) -> Node:
    """The contents of a tensor's memory that nobody else holds any more, as the array of a node."""
    node, memory = tensor._node, tensor._host
    assert memory is not None
    tensor._looks = 0
    if node is None or not same_bits(memory, _elements(node)):
        layout = getattr(tensor, "_layout", None)
        array = memory if layout is None else on_device(memory, layout)
        node = tensor._node = Node(tensor._kind.type, tensor._kind.device, array)
        if type(memory) is np.ndarray:
            memory.flags.writeable = False
    tensor._host = None
    return node


def _store_in_shared(tensor: Tensor, old: Node, node: Node) -> None:
    """Stores into memory that others hold and may store into: only the elements of a view, or that change."""
    memory = shared_memory(tensor, "a store")
    new = _elements(node)
    if tensor._owner is None:
        np.copyto(memory, new, where=_differ(_elements(old), new))
    else:
        np.copyto(memory, new)


def _elements(node: Node) -> np.ndarray[Any, Any]:
    return elements_of(node, "memory that others hold")


def _is_unshared(tensor: Tensor) -> bool:
    """True if only a tensor and its node hold the ndarray that is its memory, and for NumPy's scalar."""
    memory = tensor._host
    assert memory is not None
    if not isinstance(memory, np.ndarray):
        return True
    if not memory.flags.owndata:
        return False  # others may hold what it is a part of
    held_by_node = tensor._node is not None and tensor._node.array is memory
    del memory
    return _references(tensor) == _IDLE + held_by_node


def _is_lendable(tensor: Tensor) -> bool:
    """True if the ndarray of a tensor's node can be its memory: it has no other holder, and NumPy's order."""
    assert tensor._host is not None
    in_order = tensor._host.flags.f_contiguous or not tensor._kind.fortran
    return in_order and _is_unshared(tensor) and _node_references(tensor) == _IDLE


def _references(tensor: Tensor) -> int:
    """The number of references to the memory of a tensor, including those of the tensor and of this call."""
    return sys.getrefcount(tensor._host)


def _node_references(tensor: Tensor) -> int:
    """The number of references to the node of a tensor, including those of the tensor and of this call."""
    return sys.getrefcount(tensor._node)


def same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """True if two arrays of one type, also one that no tensor has, have the same bits."""
    return not _differ(a, b).any() if a.dtype in SHORT_NAMES else a.tobytes() == b.tobytes()


def _differ(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where two arrays of a tensor's type do not hold the same bits."""
    if a.dtype.kind == "c":
        return _differ(a.real, b.real) | _differ(a.imag, b.imag)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return np.asarray(a.view(bits) != b.view(bits))


def host_view(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """The elements of a tensor in host memory, computed now, read-only."""
    base = usable_owner(tensor)
    node = base._node
    array: Any = base._host
    if array is None:
        assert node is not None
        array = elements_of(node, cause)
    for make in tensor._makers:
        array = make(array)
    return array  # type: ignore[no-any-return]


def to_host(tensor: Tensor, cause: str) -> np.ndarray[Any, Any]:
    """A new ndarray with the elements of a tensor."""
    return np.array(host_view(tensor, cause), order="F" if tensor._kind.fortran else "K")


_probe = Tensor.__new__(Tensor)
_probe._host = np.empty(0)
_IDLE = _references(_probe)
"""References to memory that nobody else holds."""
