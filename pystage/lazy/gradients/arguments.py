"""The arguments of a gradient: a lazy tensor stands for each number in them while the function runs.

In: arrays and numbers, in containers, JAX's registered classes and plain objects at any depth. Lists, dicts and objects
hold the tensors in the places of the numbers, so that the function changes the caller's; afterwards the numbers are put
back where the function has left the tensors. Out: gradients, in new containers and objects of the same structure.
"""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ...compiler.diagnostics.codes_differentiation import NoDerivative
from ...compiler.diagnostics.errors import StagingError
from ...compiler.hlo.ir import Function, Region
from ...compiler.hlo.types import ArrayType, is_complex, is_floating
from ...compiler.values.boundary import Form
from ...compiler.values.instances import instance_fields
from ...runtime.arguments.classification import LeafKind, rule_of
from ..array import LazyTensor, from_host
from ..graph import Node, RecordedCall, is_differentiating, placed, varies
from ..recipes import Recipe, call_of, kind_of
from ..replacement import Replacement
from ..steps.arguments import contents_of, is_object, set_attribute
from ..steps.recording import thread
from ..tensor import Tensor, host_view, node_of, owner

Gradients = Mapping[int, Node | None]
"""The gradient by each input, by the identity of its node; None where the result does not depend on it."""
_WITHOUT_SLOPE = (int, str, bytes, np.generic, np.ndarray, Tensor)
"""Classes of numbers and arrays, some without a slope, and of text."""


class Arguments:
    """The arguments of one gradient to differentiate by."""

    def __init__(self) -> None:
        self._inputs: list[_Input] = []
        self._held: dict[int, _Held] = {}
        self._originals: dict[int, Any] = {}
        """What a stand-in stands for, by the identity of the stand-in."""
        self._stands: list[Any] = []

    def part_of(self, value: Any, inside: bool = False) -> _Part:
        """An argument, or a part of one. StagingError for a value without a gradient."""
        if id(value) in self._held:
            return self._held[id(value)]
        opened = _opened(value)
        part: _Part
        if opened is not None:
            part = self._opened_part(value, opened)
        elif inside and _passes_through(value):
            return _Passed(value)
        else:
            part = _Input(value)
            self._inputs.append(part)
        if part.stand is not value:
            self._originals[id(part.stand)] = value
            self._stands.append(part.stand)
        return part

    def _opened_part(self, value: Any, opened: _Opened) -> _Held:
        held = self._held[id(value)] = _Held(value, opened)
        for key, child in zip(opened.keys, opened.children, strict=True):
            part = self.part_of(child, inside=True)
            held.parts.append(part)
            if opened.put is not None and part.stand is not child:
                opened.put(value, key, part.stand)
        if opened.put is None:
            held.stand = opened.make([part.stand for part in held.parts])
        return held

    def nodes(self) -> list[Node]:
        """The arrays to differentiate by."""
        return [each.node for each in self._inputs]

    def hand_back(self, values: list[Any]) -> list[Any]:
        """Puts the originals back, in the arguments and in `values`; gives the latter.

        What the function has stored into a stand-in is stored into the caller's array.
        """
        for each in self._inputs:
            each.hand_back()
        walk = _PutBack(self._originals)
        for held in self._held.values():
            walk.replaced(held.value)
        replaced: list[Any] = walk.replaced(values)
        return replaced


class _PutBack(Replacement):
    """Puts the originals of stand-ins in their places, and Python numbers in those of numbers that were computed."""

    def __init__(self, originals: Mapping[int, Any]) -> None:
        super().__init__()
        self._originals = originals

    def leaf(self, value: Any) -> Any:
        if id(value) in self._originals:
            return self._originals[id(value)]
        if type(value) is Tensor.number and thread.recording is None and not is_differentiating():
            return host_view(value, "a Python number").item()
        return value


class _Opened(NamedTuple):
    """The parts of a container or object. `make` makes one of other parts, `put` replaces one in place, if possible."""

    keys: Sequence[Any]
    children: Sequence[Any]
    make: Callable[[list[Any]], Any]
    put: Callable[[Any, Any, Any], None] | None


def _opened(value: Any) -> _Opened | None:
    """The parts of a value; None for a leaf."""
    if isinstance(value, Tensor | jax.Array):
        return None
    cls: Any = type(value)
    if is_object(value):
        fields = instance_fields(value)
        return _Opened(list(fields), list(fields.values()), lambda _: object.__new__(cls), set_attribute)
    found = contents_of(value)
    if found is None:
        return None
    children = list(found.children)
    if cls is list:
        return _Opened(range(len(children)), children, found.make, operator.setitem)
    if cls in (dict, collections.OrderedDict, collections.defaultdict):
        return _Opened(list(value), children, found.make, operator.setitem)
    return _Opened(range(len(children)), children, found.make, None)


def _is_differentiable(leaf: Any) -> bool:
    """True for numbers and arrays with fractions."""
    type_ = _dtype_of(leaf)
    return is_floating(type_) or is_complex(type_)


def _dtype_of(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return leaf._kind.type.dtype
    return leaf.dtype if isinstance(leaf, jax.Array) else np.asarray(leaf).dtype


def _passes_through(leaf: Any) -> bool:
    """True for a value without a derivative that stays as it is in the gradient of its structure."""
    if isinstance(leaf, _WITHOUT_SLOPE):
        return not _is_differentiable(leaf)
    return rule_of(leaf, ()) is LeafKind.STATIC


class _Held:
    """A container or an object, with its parts."""

    def __init__(self, value: Any, opened: _Opened) -> None:
        self.value = value
        self.stand = value
        self.parts: list[_Part] = []
        self._opened = opened
        self._gradients: list[Any] = []

    def gradient(self, found: Gradients) -> Any:
        """A structure of gradients like it, the same each time."""
        if not self._gradients:
            keys, _, make, put = self._opened
            if put is None:
                self._gradients.append(make([part.gradient(found) for part in self.parts]))
            else:  # what it holds may hold it
                made = make([None] * len(self.parts))
                self._gradients.append(made)
                for key, part in zip(keys, self.parts, strict=True):
                    put(made, key, part.gradient(found))
        return self._gradients[0]


class _Passed:
    """A value without a derivative."""

    def __init__(self, value: Any) -> None:
        self.stand = value

    def gradient(self, found: Gradients) -> Any:
        """The same, of its own."""
        return self.stand.copy() if isinstance(self.stand, np.ndarray | LazyTensor) else self.stand


class _Input:
    """One array or number to differentiate by: a lazy tensor stands for it."""

    def __init__(self, leaf: Any) -> None:
        self._leaf = leaf
        if isinstance(leaf, jax.Array):
            raise StagingError((NoDerivative(span=None, what="a jax.Array where a function is not staged"),))
        array = np.asarray(leaf) if not isinstance(leaf, Tensor) else None
        if not _is_differentiable(leaf):
            if array is not None and not isinstance(leaf, (*_WITHOUT_SLOPE, list)):
                what = f"a {type(leaf).__name__} where a function is not staged"
                raise StagingError((NoDerivative(span=None, what=what),))
            raise TypeError(f"grad requires real- or complex-valued inputs, but got {_dtype_of(leaf)}")
        if array is None:
            source = node_of(leaf)
            self.node = _another(source)
            self.stand = owner(self.node, kind_of(source.type, leaf._kind.form, source.device))
        else:
            form = Form.NDARRAY if isinstance(leaf, np.ndarray) else Form.SCALAR
            self.stand = from_host(array, None, form)
            self.node = node_of(self.stand)
            if type(leaf) in (float, complex):
                self.stand = owner(self.node, kind_of(self.node.type, Form.PYTHON, self.node.device))

    def hand_back(self) -> None:
        """Stores into the caller's array what the function has stored into what stands for it."""
        leaf, stand = self._leaf, self.stand
        if stand._node is self.node:
            return
        if isinstance(leaf, LazyTensor):
            leaf[...] = stand
        elif isinstance(leaf, np.ndarray) and leaf.flags.writeable:
            leaf[...] = np.asarray(stand)

    def gradient(self, found: Gradients) -> Any:
        """The gradient, of the kind of what it is by."""
        node = found[id(self.node)]
        form = self.stand._kind.form
        kind = kind_of(self.node.type, Form.SCALAR if form is Form.PYTHON else form, self.node.device)
        if node is None:
            made = from_host(np.zeros(kind.type.shape, kind.type.dtype), kind.device, kind.form)
        else:
            made = owner(node, kind)
        if type(self._leaf) is Tensor.number:
            return owner(node_of(made), kind_of(kind.type, Form.PYTHON, kind.device))
        return type(self._leaf)(made.item()) if type(self._leaf) in (float, complex) else made


def _another(node: Node) -> Node:
    """Another node for the same array, so that dependence on it differs from dependence on `node`."""
    array = placed(node)
    if array is None or varies(node):
        made = Node(node.type, node.device, None, RecordedCall(_same(node.type), (node,), None))
        if array is not None:
            made.settle(array)
    else:
        made = Node(node.type, node.device, array)
    made.bucket = node.bucket
    return made


@functools.cache
def _same(type: ArrayType) -> Recipe:
    """The recipe of the identity function."""
    body = Region((type,))
    body.results = tuple(body.params)
    return Recipe("gradient", Function("same", body), (0,), source=call_of(operator.pos, type))


_Part = _Held | _Passed | _Input
