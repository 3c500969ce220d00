"""Segments in buckets: one program for many sizes of the arrays that they begin with.

`asarray(x, bucket={0: "pow2"})` marks a node. A segment with such an input, and axes of the same size in other inputs, is
written as source (`source.py`), whose inputs are padded to their buckets and cut to their sizes there, as those of
`compile(bucket=)` are. What is padded, and results that have a size in a bucket, go through the host's memory, where no size
needs a program of its own; all other arrays stay on their devices. What is not staged in this way has a program for each
size, as without buckets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh

from ...autocasting import product_type
from ...runtime.buckets import Rule, padded, size_of
from ...runtime.dispatch.eviction import STORM
from ...runtime.reports.warnings import SpecialisationWarning, warn
from ..devices import put
from ..graph import Node, placed
from ..segment import Segment
from .programs import program_of
from .source import NotWritten, written


def mark(node: Node, rules: Mapping[int, Rule]) -> None:
    """Puts axes of a node into buckets."""
    node.bucket = {node.type.shape[axis]: rule for axis, rule in rules.items()}


def in_buckets(
    segment: Segment, inputs: Sequence[Node], outputs: Sequence[Node], donated: Sequence[int]
) -> tuple[Sequence[Any], bool] | None:
    """The arrays of the outputs, and whether a program was made; None for a segment that buckets do not serve.

    `inputs` and `outputs` are the nodes for those of the segment; the inputs at `donated` may be overwritten.
    """
    rules: dict[int, Rule] = {}
    for node in inputs:
        if node.bucket:
            rules |= node.bucket
    found = {size: size_of(rule, size) for size, rule in rules.items() if size > 1}
    bounds = {size: bound for size, bound in found.items() if bound is not None}
    if not bounds or product_type():
        return None
    sizes = {size: i for i, size in enumerate(bounds)}
    axes = [{axis: sizes[n] for axis, n in enumerate(node.type.shape) if n in sizes} for node in inputs]
    shapes = [tuple([bounds.get(n, n) for n in node.type.shape]) for node in inputs]
    if not all(map(_is_divided, inputs, shapes)):
        return None
    try:
        source = written(segment, [node.array for node in inputs], tuple(sizes), axes)
    except NotWritten:
        return None
    arrays = [np.array(list(sizes)), *map(_argument, inputs, shapes)]
    overwritten = [i + 1 for i in donated if not axes[i]]
    program, made = program_of(source, arrays, overwritten, segment.name)
    results = None if program is None else program.run(arrays, outputs)
    if results is None:
        return None
    for node in outputs:
        node.bucket = {n: rules[n] for n in node.type.shape if n in rules} or None
    return results, made


def _is_divided(node: Node, shape: tuple[int, ...]) -> bool:
    """True if an input on a mesh can be spread as it is when it has this shape."""
    if isinstance(node.device, Mesh) and shape != node.type.shape:
        try:
            placed(node).sharding.shard_shape(shape)
        except ValueError:
            return False
    return True


def _argument(node: Node, shape: tuple[int, ...]) -> Any:
    """The array of an input, padded to a shape, and laid out as it was."""
    array = placed(node)
    if shape == node.type.shape:
        return array
    return put(
        padded(np.asarray(array), shape), array.sharding if isinstance(node.device, Mesh) else node.device
    )


class Suggestion:
    """Suggests buckets, once, where programs of the same calls are compiled for one shape after another."""

    def __init__(self) -> None:
        self._shapes: dict[Any, set[tuple[tuple[int, ...], ...]]] = {}
        self._is_made = False

    def note(self, segment: Segment) -> None:
        """A program is compiled for a segment."""
        if self._is_made:
            return
        types = [node.type for node in segment.inputs]
        calls = tuple([call.recipe.name for call in segment.calls])
        shapes = self._shapes.setdefault((calls, *[(t.dtype, t.rank) for t in types]), set())
        shapes.add(tuple([t.shape for t in types]))
        if len(shapes) < STORM:
            return
        axes = {
            axis: "pow2"
            for shape in zip(*shapes, strict=True)
            for axis, sizes in enumerate(zip(*shape, strict=True))
            if len({*sizes}) >= STORM // 2
        }
        self._is_made = bool(axes)
        if axes:
            warn(
                f"lazy tensors: {STORM} programs were compiled that differ in the shapes of their arrays alone; "
                f"`lazy.asarray(x, bucket={axes})` lets sizes share programs",
                SpecialisationWarning,
            )
