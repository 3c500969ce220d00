"""Liveness at a barrier: the inputs of a segment that are unreachable once its outputs are computed.

What is alive is found as CPython's cyclic garbage collector finds it, by trial deletion (Bacon and Rajan 2001). The
references that come from the segment itself are subtracted from all that there are to each of its nodes and calls. Whatever
has some left is held from outside: by a tensor, another result of the same call, a call that is pending elsewhere, a tape,
a local variable. It lives on, with all that it reaches: a call reaches its operands, and a pending node its call. An output
is computed, and reaches only what a tape makes it keep.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from .graph import Node, RecordedCall

DONATE_BYTES = 1 << 12
"""From this size on an input that nobody holds is overwritten."""


def donated_inputs(
    inputs: list[Node], outputs: Sequence[Node], calls: list[RecordedCall] | None = None
) -> tuple[int, ...]:
    """The inputs that are unreachable once the outputs are computed, and whose memory an output of their type can use.

    `calls`: those that compute the outputs, in topological order. Each input and each call is in its list once.
    """
    calls = calls or []
    inside = Counter(map(id, chain.from_iterable([call.operands for call in calls])))
    free = Counter([output.type for output in outputs])
    candidates = [i for i in range(len(inputs)) if _is_large(inputs[i]) and inputs[i].type in free]
    held = set(_held_from_outside(inputs, inside))
    candidates = [i for i in candidates if i not in held and _has_own_memory(inputs[i])]
    alive = _reached(outputs, calls, inside) if candidates else set()
    found: list[int] = []
    for i in candidates:
        type = inputs[i].type
        if id(inputs[i]) not in alive and free[type]:
            free[type] -= 1
            found.append(i)
    return tuple(found)


def _is_large(node: Node) -> bool:
    return node.type.nbytes >= DONATE_BYTES


def _has_own_memory(node: Node) -> bool:
    """True if only a node holds its array."""
    return not node.exported and sys.getrefcount(node.array) == _IDLE


def _reached(outputs: Sequence[Node], calls: list[RecordedCall], inside: Counter[int]) -> set[int]:
    """The identities of what is reachable from outside of the calls once the outputs are computed."""
    computed = {id(output) for output in outputs}
    pending = list(
        {
            id(node): node
            for call in calls
            for node in call.operands
            if node.call is not None and id(node) not in computed
        }.values()
    )
    inside = inside + Counter(
        [id(call) for node in (*outputs, *pending) for call in (node.call, node.origin)]
    )
    alive = {id(calls[i]) for i in _held_from_outside(calls, inside)}
    alive |= {id(pending[i].call) for i in _held_from_outside(pending, inside)}
    alive |= {id(output.origin) for output in outputs}
    for call in reversed(calls):
        if id(call) in alive:
            for node in call.operands:
                alive |= {id(node), id(node.origin if id(node) in computed else node.call)}
    return alive


def _held_from_outside(objects: list[Any], inside: Counter[int]) -> list[int]:
    """The positions of the objects with more references than that of their list and those from inside."""
    return [i for i in range(len(objects)) if _references(objects, i) > _IDLE + inside[id(objects[i])]]


def _references(objects: list[Any], index: int) -> int:
    """The number of references to an object, including those of its list and of this call."""
    return sys.getrefcount(objects[index])


_IDLE = _references([object()], 0)
"""References to what stands in one list; how many the call itself has is Python's affair."""
