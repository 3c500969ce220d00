"""Barriers: compute all live pending tensors of a device in one program.

A barrier computes every live tensor, not only the one that is needed: shared subexpressions are computed once, a training
step is one program whatever is read first, and an input without other references can be donated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from ..compiler.diagnostics.codes_constant import ProgramTooLarge
from ..compiler.diagnostics.codes_differentiation import NoDerivative
from ..compiler.diagnostics.errors import StagingError
from ..compiler.hlo.interpret import interpret
from ..runtime.reports.messages import Compilation
from ..runtime.results.exceptions import is_out_of_memory
from .arena import Arena, arena_of
from .buckets.running import Suggestion, in_buckets
from .counting import counts, users_frame
from .graph import Node, loans, placed, span_of, varies
from .interpreting import Heat, interpreted
from .liveness import donated_inputs
from .segment import Cache, Executable, Ordered, Segment, leaves_of, program_of
from .steps.recording import Recording, thread

_SHOWS = frozenset({"bool", "print", "repr", "format", "many calls"})
"""Causes after which no number goes on."""
_STORE = "store into a tensor, as of `lazy.zeros(shape)`, or stack the values: an ndarray has numbers alone"
_INSTEAD = {
    "np.asarray": _STORE,
    "float": f"leave `float` out; {_STORE}",
    "complex": f"leave `complex` out; {_STORE}",
}
"""By what is made of a number: how to write it so that it can be differentiated."""
_cache = Cache()
_heat = Heat()
_suggestion = Suggestion()


def value_of(node: Node, cause: str) -> Any:
    """The array of a node, computed now if it is pending. PS701 for a number that is being differentiated."""
    if node.type.dtype.kind not in "biu" and cause not in _SHOWS and varies(node):
        frame = users_frame()
        span, instead = span_of((frame.f_code, frame.f_lasti)), _INSTEAD.get(cause, "")
        raise StagingError(
            (NoDerivative(span=span, what=f"what {cause} makes of a number", instead=instead),)
        )
    if node.array is None:
        if thread.recording is None:
            barrier(arena_of(node.device), cause, (node,))
        else:
            _look_into(thread.recording, node, cause)
    return node.array


def elements_of(node: Node, cause: str) -> np.ndarray[Any, Any]:
    """The elements of a node in host memory, computed now if it is pending; read-only."""
    array = value_of(node, cause)
    if not isinstance(array, jax.Array):
        return np.asarray(array)
    began = time.perf_counter()
    elements = np.asarray(array)
    counts.executing += time.perf_counter() - began
    counts.from_device += 1
    counts.bytes_from_device += elements.nbytes
    return elements


def _look_into(recording: Recording, node: Node, cause: str) -> None:
    """Computes a node of a recording, and nothing else of it. StepError where it depends on an argument."""
    if node.call is None:
        recording.reveal((node,), cause)
        return
    segment = Segment([node])
    recording.reveal(segment.inputs, cause)
    _compute(segment, cause)


def constant_of(node: Node) -> Any:
    """The array of a node that depends on no argument of the step being recorded; else None."""
    if node.call is None or any(leaf.array is None for leaf in leaves_of(node)):
        return node.array
    segment = Segment([node])
    staged = program_of(segment)
    return interpret(staged.function, [np.asarray(segment.inputs[i].array) for i in staged.kept])[0]


def barrier(arena: Arena, cause: str, wanted: Sequence[Node] = ()) -> None:
    """Computes all live tensors of a device, and the `wanted` nodes. `cause` is the reason."""
    with arena.lock:
        outputs: dict[int, Node] = {}
        for node in [*[tensor._node for tensor in arena.tensors()], *wanted]:
            if node is not None and node.array is None:
                outputs[id(node)] = node
        arena.begin()
        if outputs:
            counts.note_barrier(cause)
            _compute(Segment(list(outputs.values())), cause)


def _compute(segment: Segment, cause: str) -> None:
    """Computes the outputs of a segment. Errors name the lines whose calls it contains."""
    donated = donated_inputs(segment.inputs, segment.outputs, segment.calls)
    if not execute(segment, segment.inputs, segment.outputs, donated, cause, _heat.is_cold):
        _compute_in_parts(segment, cause)


def execute(
    segment: Segment,
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    donated: tuple[int, ...],
    cause: str,
    is_cold: Callable[[Segment], bool] = lambda _: False,
) -> bool:
    """Computes a segment for `inputs` in place of its own, to settle `outputs`; False if it is too large for one program.

    The inputs at `donated` may be overwritten. A program for buckets is preferred; what `is_cold` is interpreted.
    """
    program = _cache.find((segment.key, donated))
    with failures_explained(segment):
        began = time.perf_counter()
        results: Sequence[Any]
        is_bucketed = program is None and any(node.bucket is not None for node in inputs)
        if is_bucketed and (found := in_buckets(segment, inputs, outputs, donated)) is not None:
            results, made = found
            _settle(outputs, results)
            _note(cause, segment, made, began)
            return True
        if program is None and is_cold(segment):
            _settle(outputs, interpreted(segment))
            counts.interpreted += 1
            return True
        program, made = (program, False) if program is not None else program_for(segment, donated)
        if program.executable is None:
            return False
        results = program.executable([placed(inputs[i]) for i in program.inputs])
    _settle([outputs[i] for i in program.outputs], results)
    if made and not loans:
        _suggestion.note(segment)
    _note(cause, segment, made, began)
    return True


def _settle(outputs: Sequence[Node], results: Sequence[Any]) -> None:
    for node, array in zip(outputs, results, strict=True):
        node.settle(array)


def _note(cause: str, segment: Segment, made: bool, began: float) -> None:
    """Counts a program that was made, or found, and ran."""
    seconds = time.perf_counter() - began
    if made:
        counts.note_compile(cause, len(segment.calls), seconds)
    else:
        counts.note_run(seconds)


def _compute_in_parts(segment: Segment, cause: str) -> None:
    """Computes the first half of the calls of a segment that is too large for one program, then the rest."""
    _compute(Segment(segment.of_first_half()), cause)
    rest = [node for node in segment.outputs if node.array is None]
    if rest:
        _compute(Segment(rest), cause)


def program_for(segment: Segment, donated: tuple[int, ...]) -> tuple[Ordered, bool]:
    """The program of a segment, and whether it is new (True)."""
    key = (segment.key, donated)
    program, made = _cache.find(key), False
    if program is None:
        program, made = _program(segment, donated)
        _cache.keep(key, program)
    return program, made


def _program(segment: Segment, donated: tuple[int, ...]) -> tuple[Ordered, bool]:
    """The program of the segment: that of an equal one recorded in another order, or a new one (True)."""
    canonical = segment.canonical()
    places = {id(node): i for i, node in enumerate(segment.inputs)}
    inputs = [places[id(node)] for node in canonical.inputs]
    places = {id(node): i for i, node in enumerate(segment.outputs)}
    outputs = [places[id(node)] for node in canonical.outputs]
    overwritten = tuple([i for i, number in enumerate(inputs) if number in donated])
    key = (canonical.key, overwritten)
    found = _cache.find(key)
    if found is not None:
        return Ordered(found.executable, inputs, outputs), False
    try:
        with Compilation("lazy", "a barrier"):
            executable: Executable | None = Executable(program_of(canonical), overwritten, canonical.name)
    except StagingError as error:
        if len(segment.calls) == 1 or not isinstance(error.diagnostics[0], ProgramTooLarge):
            raise
        executable = None
    _cache.keep(key, Ordered(executable, range(len(inputs)), range(len(outputs))))
    return Ordered(executable, inputs, outputs), True


@contextmanager
def failures_explained(segment: Segment) -> Iterator[None]:
    """Adds the lines of a segment's calls to errors of its computation. MemoryError where XLA has too little memory."""
    try:
        yield
    except Exception as error:
        error.add_note(_lines(segment))
        if is_out_of_memory(error):
            raise MemoryError(str(error)) from error
        raise


def _lines(segment: Segment) -> str:
    """The user's lines whose calls a segment contains."""
    lines = list(dict.fromkeys([s.at for call in segment.calls if (s := span_of(call.location)) is not None]))
    more = f" and {len(lines) - 20} further lines" if len(lines) > 20 else ""
    return f"pystage: in a program that computes what was recorded at {', '.join(lines[:20])}{more}"
