"""User control: when to compute, what to show of the record, and which batches to load ahead."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..compiler.hlo.printer import print_function
from ..runtime.buckets import rules_by_axis
from .arena import arena_of, arenas
from .array import LazyTensor, from_host
from .barrier import barrier
from .buckets.running import mark
from .counting import counts
from .graph import placed
from .segment import Executable, Segment, program_of
from .steps.recording import thread
from .tensor import node_of


def sync(*tensors: LazyTensor, wait: bool = False) -> None:
    """Computes all lazy tensors that are alive, or those on the devices of `tensors`; `wait`: until they are there.

    Those on a mesh are computed by one program of all its devices.
    """
    for arena in [arena_of(t.device) for t in tensors] or arenas():
        barrier(arena, "sync")
        if wait:
            began = time.perf_counter()
            jax.block_until_ready([t._node.array for t in arena.tensors() if t._node is not None])
            counts.executing += time.perf_counter() - began


@contextmanager
def eager(*names: str) -> Iterator[None]:
    """Computes calls with these names at once, in the block and in this thread: to find the line that fails, or the NaN.

    A name is that of NumPy's function (`"matmul"`, also of `x @ y`), of an operator (`"add"`) or of a method
    (`"reshape"`). There is a barrier behind each such call. A step (`lazy.step`) is recorded as ever. ValueError without
    names.
    """
    if not names:
        raise ValueError("`lazy.eager` takes the names of the calls that are to be computed at once")
    before, thread.eager = thread.eager, thread.eager | set(names)
    try:
        yield
    finally:
        thread.eager = before


def dump(*tensors: LazyTensor, form: str = "graph") -> str:
    """The program that a barrier would compute these tensors by, as text; nothing is computed.

    `form`: `"graph"`, the recorded calls as typed HLO IR with the user's line at each operation; `"stablehlo"` and `"hlo"`,
    what XLA gets; `"optimized"`, what XLA makes of it, with the shardings of the operands propagated. Empty where nothing
    is pending. ValueError for another form.
    """
    if form not in ("graph", "stablehlo", "hlo", "optimized"):
        raise ValueError(f'`form` is "graph", "stablehlo", "hlo" or "optimized", not {form!r}')
    pending = [node for node in map(node_of, tensors) if node.array is None]
    if not pending:
        return ""
    segment = Segment(pending)
    program = program_of(segment)
    if form == "graph":
        return print_function(program.function)
    lowered = Executable(program, (), segment.name).lower([placed(node) for node in segment.inputs])
    text: str = lowered.compile().as_text() if form == "optimized" else lowered.as_text(form, debug_info=True)
    return text


_END = object()


class Loader:
    """Iterates over batches as lazy tensors, `prefetch` of which a thread reads and transfers ahead.

    `batches`: an iterable of arrays, or of pytrees that hold arrays; ndarrays and `jax.Array`s become lazy tensors, all else
    stays. `sharding`: a device, a mesh, or a `NamedSharding`, of which an array with fewer axes takes the first entries.
    `bucket`: as for `asarray`, for the axes that an array has.
    A loop over the loader begins a new iteration of `batches`, whose exceptions it raises in their place. ValueError if
    `prefetch` is below 1.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        *,
        sharding: Any = None,
        prefetch: int = 2,
        bucket: Mapping[int, Any] | None = None,
    ) -> None:
        if prefetch < 1:
            raise ValueError(f"`prefetch` is 1 or more, not {prefetch}")
        self._rules = rules_by_axis(bucket or {}, "batches")
        self._batches = batches
        self._sharding = sharding
        self._prefetch = prefetch

    def __iter__(self) -> Iterator[Any]:
        source = iter(self._batches)
        pool = ThreadPoolExecutor(1, thread_name_prefix="pystage-loader")
        try:
            pending = deque([pool.submit(self._next, source) for _ in range(self._prefetch)])
            while (batch := pending.popleft().result()) is not _END:
                pending.append(pool.submit(self._next, source))
                yield batch
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _next(self, source: Iterator[Any]) -> Any:
        batch = next(source, _END)
        return batch if batch is _END else jax.tree.map(self._placed, batch)

    def _placed(self, leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | jax.Array) or isinstance(leaf, LazyTensor):
            return leaf
        place = self._sharding
        if isinstance(place, NamedSharding) and len(place.spec) > leaf.ndim:
            place = NamedSharding(place.mesh, PartitionSpec(*place.spec[: leaf.ndim]))
        made = from_host(leaf, place)
        rules = {axis: rule for axis, rule in self._rules.items() if axis < leaf.ndim}
        if rules:
            mark(node_of(made), rules)
        return made
