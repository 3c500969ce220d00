"""Segments in buckets: one program for many sizes of the arrays that they begin with.

`asarray(x, bucket={0: "pow2"})` marks a node. A segment with such an input, and axes of the same size in other inputs, is
written as source (`source.py`), whose inputs are padded to their buckets and cut to their sizes there, as those of
`compile(bucket=)` are. What is not staged in this way has a program for each size, as without buckets.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ...autocasting import product_type
from ...compiler.diagnostics.errors import StagingError
from ...compiler.infer.entry import infer_program
from ...compiler.values.boundary import Form
from ...runtime.buckets import NotInBuckets, Rule, compiled_text, cut_text, padded, size_of
from ...runtime.dispatch.eviction import STORM
from ...runtime.function import CompiledFunction
from ...runtime.reports.warnings import SpecialisationWarning, warn
from ..devices import is_cpu
from ..graph import Node
from ..interpreting import own
from ..segment import Segment
from .source import NotWritten, written

_PROGRAMS = 512
"""So many functions are kept."""
_functions: OrderedDict[Any, CompiledFunction[..., Any] | None] = OrderedDict()
"""By text and the objects in its scope: the compiled function; None where it is refused."""
_lock = threading.Lock()


def mark(node: Node, rules: Mapping[int, Rule]) -> None:
    """Puts axes of a node into buckets."""
    node.bucket = {node.type.static_shape[axis]: rule for axis, rule in rules.items()}


def in_buckets(segment: Segment) -> tuple[Sequence[np.ndarray[Any, Any]], bool] | None:
    """The arrays of the outputs, and whether a program was made; None for a segment that buckets do not serve."""
    rules: dict[int, Rule] = {}
    for node in segment.inputs:
        if node.bucket:
            rules |= node.bucket
    found = {size: size_of(rule, size) for size, rule in rules.items() if size > 1}
    bounds = {size: bound for size, bound in found.items() if bound is not None}
    if not bounds or product_type() or not is_cpu(segment.outputs[0].device):
        return None
    sizes = {size: i for i, size in enumerate(bounds)}
    axes = [
        {axis: sizes[n] for axis, n in enumerate(node.type.static_shape) if n in sizes}
        for node in segment.inputs
    ]
    try:
        source = written(segment, tuple(sizes), [cut_text(each) for each in axes])
    except NotWritten:
        return None
    key = source.text, *[(type(value), value) for value in source.scope.values()]
    with _lock:
        if key not in _functions:
            names = frozenset([f"a{i}" for i, each in enumerate(axes) if each])
            scope = dict(source.scope)
            _functions[key] = compiled_text(source.text, scope, names, infer_program, segment.name)
            if len(_functions) > _PROGRAMS:
                _functions.popitem(last=False)
        _functions.move_to_end(key)
        function = _functions[key]
    if function is None:
        return None
    arrays = [_argument(*each, bounds) for each in zip(segment.inputs, axes, source.forms, strict=True)]
    before = function.programs
    try:
        with jax.enable_x64(True):
            results = function(np.array(list(sizes)), *arrays)
    except (StagingError, NotInBuckets):
        with _lock:
            _functions[key] = None
        return None
    for node in segment.outputs:
        node.bucket = {n: rules[n] for n in node.type.static_shape if n in rules} or None
    return [own(np.asarray(array)) for array in results], function.programs > before


def _argument(node: Node, axes: Mapping[int, int], form: Form, bounds: Mapping[int, int]) -> Any:
    """The array of an input as an argument, padded along `axes`."""
    array = np.asarray(node.array)
    if form is Form.PYTHON:
        return array.item()
    if form is Form.SCALAR:
        return array[()]
    if not axes:
        return array
    return padded(array, tuple([bounds[n] if i in axes else n for i, n in enumerate(array.shape)]))


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
        shapes.add(tuple([t.static_shape for t in types]))
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
