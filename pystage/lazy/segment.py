"""Segments: many recorded calls as one program, which a barrier compiles or finds in the cache.

A `Segment` holds the calls that given nodes need, in topological order, and the nodes that they start from. Its `key` is
its structure, so that equal segments share one program, whatever their values and names. The cache is first asked for the
order in which the calls were recorded, then for a canonical order.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax

from ..compiler.diagnostics.span import Span
from ..compiler.hlo.builder import Builder
from ..compiler.hlo.ir import Function, Op, Region, Value
from ..compiler.hlo.op import HloOp
from ..compiler.hlo.rewrite import Rewriter
from ..compiler.pipeline import Staged, finished
from ..compiler.recursion import deep_recursion
from ..compiler.values.boundary import ContainerTemplate, Form, OutputTemplate, Program
from ..runtime.executables.background import interruptible
from ..runtime.executables.compiler_options import options_for
from ..runtime.executables.jax_private import run_with_x64
from ..runtime.executables.primitive import bind
from .graph import Node, RecordedCall, span_of

if TYPE_CHECKING:
    from .recipes import Recipe

PROGRAMS = 512
"""The number of programs that are cached."""

Key = tuple[Any, ...]


class Segment:
    """The calls that `outputs` need. `inputs` are the computed nodes, each once."""

    __slots__ = ("calls", "inputs", "key", "outputs")

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.outputs = outputs
        self.calls: list[RecordedCall] = []
        self.inputs: list[Node] = []
        numbers: dict[RecordedCall | Node, int] = {}
        key: list[Any] = []
        for output in outputs:
            call = self.call_of(output)
            assert call is not None
            self._collect(call, numbers, key)
        key += [(numbers[call], o.index) for o in outputs if (call := self.call_of(o)) is not None]
        self.key: Key = tuple(key)

    def call_of(self, node: Node) -> RecordedCall | None:
        """The call to compute a node by; None for an input."""
        return node.call

    def _collect(self, last: RecordedCall, numbers: dict[RecordedCall | Node, int], key: list[Any]) -> None:
        """Adds a call after those that it needs. `numbers` are those of calls, and below 0 those of inputs."""
        inputs, call_of = self.inputs, self.call_of
        pending = [last]
        while pending:
            call = pending[-1]
            if call in numbers:
                pending.pop()
                continue
            places: list[Any] = [call.recipe]
            complete = True
            for node in call.operands:
                made_by = call_of(node)
                number = numbers.get(node if made_by is None else made_by)
                if made_by is not None:
                    if number is None:
                        pending.append(made_by)
                        complete = False
                    places += (number, node.index)
                    continue
                if number is None:
                    number = numbers[node] = ~len(inputs)
                    inputs.append(node)
                places.append(number)
            if complete:
                pending.pop()
                numbers[call] = len(self.calls)
                self.calls.append(call)
                key += places

    @property
    def name(self) -> str:
        """The name of its program: `lazy` with that of the user's function in which the last call was recorded."""
        names = [call.location[0].co_name for call in reversed(self.calls) if call.location is not None]
        return next((f"lazy_{name}" for name in names if name.isidentifier()), "lazy")

    def of_first_half(self) -> list[Node]:
        """The values that the first half of the calls provides to the others, and to the outputs."""
        first = {id(call) for call in self.calls[: len(self.calls) // 2]}
        later = [node for call in self.calls[len(first) :] for node in call.operands]
        found = {id(node): node for node in (*self.outputs, *later) if id(self.call_of(node)) in first}
        return list(found.values())

    def canonical(self) -> Segment:
        """The same segment with its outputs in an order independent of the recording."""
        hashes: dict[int, int] = {id(n): hash(n.type) for n in self.inputs}
        for call in self.calls:
            operands = [
                hashes[id(n)] if (before := self.call_of(n)) is None else hash((hashes[id(before)], n.index))
                for n in call.operands
            ]
            hashes[id(call)] = hash((call.recipe, *operands))
        return type(self)(sorted(self.outputs, key=lambda o: (hashes[id(self.call_of(o))], o.index)))


class _Inliner(Rewriter):
    """Copies the body of a recipe's function, sharing equal operations."""

    def __init__(self, b: Builder) -> None:
        super().__init__()
        self.b = b

    def call(self, function: Function, operands: Sequence[Value], span: Span | None) -> list[Value]:
        """The results of a call of `function`; all its operations have the user's line."""
        self.values = dict(zip(function.body.params, operands, strict=True))
        for op in function.body.ops:
            self.b.span = span or op.span
            self.op(op)
        return [self.values[result] for result in function.body.results]

    def op(self, op: Op) -> None:
        if op.regions:
            self.copy(op)
        else:
            self.define(op, self.b.apply(op.kind, self.new_all(op.operands), pure=op.kind.pure))

    def new(self, old: Value) -> Value:
        return self.values[old]

    def with_functions(self, kind: HloOp) -> HloOp:
        return kind


def program_of(segment: Segment) -> Staged:
    """The segment as one program: inputs in their order, results in that of the outputs."""
    body = Region(tuple([node.type for node in segment.inputs]))
    inline = _Inliner(Builder(body))
    inputs = {id(node): value for node, value in zip(segment.inputs, body.params, strict=True)}
    results: dict[int, list[Value]] = {}
    for call in segment.calls:
        operands = []
        for node in call.operands:
            before = segment.call_of(node)
            operands.append(inputs[id(node)] if before is None else results[id(before)][node.index])
        results[id(call)] = inline.call(call.recipe.function, operands, span_of(call.location))
    body.results = tuple([results[id(segment.call_of(o))][o.index] for o in segment.outputs])
    outputs = tuple([OutputTemplate(i, Form.JAX) for i in range(len(body.results))])
    program = Program(
        function=Function("lazy", body),
        leaves=tuple(range(len(body.params))),
        hidden=(),
        groups=(),
        guards=(),
        result=ContainerTemplate(tuple, tuple(range(len(outputs))), outputs, 0),
        mutations=(),
    )
    with deep_recursion():
        return finished("lazy", None, program)


@functools.lru_cache(maxsize=4096)
def _needed(recipe: Recipe, index: int) -> tuple[int, ...]:
    """The operands on which a result of a recipe depends."""
    operands = tuple([Node(type, None, None) for type in recipe.function.param_types])
    segment = Segment([Node(recipe.types[index], None, None, RecordedCall(recipe, operands, None), index)])
    return tuple([operands.index(segment.inputs[i]) for i in program_of(segment).kept])


def leaves_of(node: Node) -> list[Node]:
    """The nodes that are computed, or stand for arguments of a step, on which a node depends."""
    found: dict[Node, RecordedCall | None] = {}
    pending = [node]
    while pending:
        each = pending.pop()
        if each in found:
            continue
        call = found[each] = each.call
        if call is not None:
            pending += [call.operands[i] for i in _needed(call.recipe, each.index)]
    return [each for each, call in found.items() if call is None]


class Executable:
    """A compiled segment; it may overwrite the inputs that it was `donated`."""

    __slots__ = ("_compiled", "_run", "_shardings", "size")

    def __init__(self, staged: Staged, donated: tuple[int, ...], name: str = "lazy") -> None:
        self.size = sum(1 for _ in staged.function.body.walk())
        """The number of its operations."""
        options = dict(options_for(staged.function)) or None

        def lazy(*arrays: Any) -> list[Any]:
            return bind(staged, arrays)

        lazy.__name__ = lazy.__qualname__ = name  # profilers show it
        self._run = jax.jit(lazy, donate_argnums=donated, compiler_options=options)
        self._compiled = False
        self._shardings: dict[tuple[Any, ...], Sequence[Any]] = {}

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The arrays of the outputs."""
        if not self._compiled:
            run_with_x64(self._compile, arrays)
            self._compiled = True
        return run_with_x64(self._run, arrays)  # type: ignore[no-any-return]

    def lower(self, arrays: Sequence[Any]) -> Any:
        """The program as JAX lowers it for these arrays (`jax.stages.Lowered`)."""
        return run_with_x64(self._run.lower, arrays)

    def shardings(self, arrays: Sequence[jax.ShapeDtypeStruct]) -> Sequence[Any]:
        """How XLA lays out the outputs for inputs of these types and shardings; nothing runs."""
        key = tuple([array.sharding for array in arrays])
        if key not in self._shardings:
            self._shardings[key] = run_with_x64(self._compile, arrays).output_shardings
        return self._shardings[key]

    def _compile(self, *arrays: Any) -> Any:
        """Compiles the program, so that an interrupt ends the wait; JAX finds the result when it runs."""
        return interruptible(self._run.lower(*arrays).compile)


class Ordered(NamedTuple):
    """A program, and the inputs and outputs of a segment in its order; no program if it were too large."""

    executable: Executable | None
    inputs: Sequence[int]
    outputs: Sequence[int]


class Cache:
    """The programs of segments, by structure and donated inputs; the least recently used are evicted first.

    Barriers of several devices, in several threads, share it.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[Key, Ordered] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Key) -> Ordered | None:
        """The program of a segment with this key."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def keep(self, key: Key, program: Ordered) -> None:
        """Keeps a program."""
        with self._lock:
            self._found[key] = program
            while len(self._found) > PROGRAMS:
                self._found.popitem(last=False)
