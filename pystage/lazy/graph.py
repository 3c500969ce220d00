"""The recorded graph: nodes for computed and pending arrays, and the calls that define the pending ones.

A `Node` is one immutable array: computed, or a result of a `RecordedCall`. A barrier computes nodes, which then drop their
calls. So the pending part of the graph lies between the nodes that are referenced and those that are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler.diagnostics.span import Span
from ..compiler.hlo.types import ArrayType
from .devices import put

if TYPE_CHECKING:
    from .recipes import Recipe

CodeLocation = tuple[CodeType, int]
"""Where a call was recorded: the code of the user's function, and the instruction in it."""


class GradientTape:
    """The inputs of a gradient while it runs, by the identity of their nodes."""

    def __init__(self, inputs: set[int]) -> None:
        self._inputs = inputs
        self._seen: dict[int, bool] = {}
        self._keep: list[Node] = []

    def begins_with(self, node: Node) -> bool:
        """True for an input."""
        return id(node) in self._inputs

    def varies(self, node: Node) -> bool:
        """True if a node depends on the inputs."""
        pending = [node]
        while pending:
            last = pending[-1]
            if id(last) in self._seen:
                pending.pop()
                continue
            operands = () if last.origin is None else last.origin.operands
            missing = [n for n in operands if id(n) not in self._seen]
            if id(last) in self._inputs or not missing:
                pending.pop()
                self._keep.append(last)
                self._seen[id(last)] = id(last) in self._inputs or any(self._seen[id(n)] for n in operands)
            else:
                pending += missing
        return self._seen[id(node)]


tapes: list[GradientTape] = []
"""The tapes that run, innermost last."""


@contextmanager
def tape(new: GradientTape) -> Iterator[None]:
    """A `with` block in which a tape runs."""
    tapes.append(new)
    try:
        yield
    finally:
        tapes.remove(new)


def is_differentiating() -> bool:
    """True while a tape runs."""
    return bool(tapes)


loans: list[object] = []


@contextmanager
def lent() -> Iterator[None]:
    """Runs a function to which lazy tensors are lent: nobody asks whether what an index gives is lazy."""
    loan = object()
    loans.append(loan)
    try:
        yield
    finally:
        loans.remove(loan)


def is_lent() -> bool:
    """True while a function runs to which lazy tensors are lent."""
    return bool(loans)


def varies(node: Node) -> bool:
    """True if a node depends on what is being differentiated."""
    return any(each.varies(node) for each in tapes)


class Node:
    """An array of one type on one device: `array` once it is computed, until then result `index` of `call`.

    `array` is a `jax.Array`, or NumPy's: a scalar for a number of the user's, an ndarray for what was interpreted or
    computed by NumPy. Nobody stores into an array of a node that is an operand.
    """

    __slots__ = ("array", "bucket", "call", "device", "exported", "index", "layout", "origin", "type")

    def __init__(
        self, type: ArrayType, device: Any, array: Any, call: RecordedCall | None = None, index: int = 0
    ) -> None:
        self.type = type
        self.device = device
        self.array = array
        self.bucket: Any = None
        """Which of its sizes are in buckets: a dict of rules by size, or None."""
        self.layout: Any = None
        """The sharding over a mesh that a pending node is known to get; None for others."""
        self.call = call
        self.index = index
        self.origin = call if tapes else None
        """What it was computed from, if it was recorded while a tape ran."""
        self.exported = False
        """True if somebody else may hold the memory of `array` without holding that."""

    def settle(self, array: Any) -> None:
        """Marks the node as computed."""
        self.array = array
        self.call = None


def placed(node: Node) -> Any:
    """The array of a node on its device, as a program takes it."""
    array = node.array
    if type(array) is np.ndarray:
        array = node.array = put(array, node.device)
    return array


class RecordedCall:
    """A recorded call: a recipe applied to nodes."""

    __slots__ = ("location", "operands", "recipe")

    def __init__(self, recipe: Recipe, operands: tuple[Node, ...], location: CodeLocation | None) -> None:
        self.recipe = recipe
        self.operands = operands
        self.location = location


def span_of(location: CodeLocation | None) -> Span | None:
    """The span of the instruction at a location."""
    if location is None:
        return None
    code, instruction = location
    positions = list(code.co_positions())
    line, end_line, column, end_column = positions[instruction // 2] if instruction >= 0 else (None,) * 4
    if line is None:
        return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0, code.co_qualname)
    return Span(code.co_filename, line, column or 0, end_line or line, end_column or 0, code.co_qualname)
