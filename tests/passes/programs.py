"""Programs with loops, branches and stores, built as inference builds them, for the tests of emission.

`Code` writes HLO IR: `x[i]` is a dynamic slice and a reshape, a store a dynamic update, a loop carries what it
is given. `run` and `optimised` go through the real emission and XLA.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir

from pystage.compiler.emit.stablehlo import emit_inline
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import FLOAT64, INT64, ArrayType, DType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.hlo.walk import functions
from pystage.compiler.ops import (
    Add,
    Call,
    Compare,
    Constant,
    DynamicSlice,
    DynamicUpdateSlice,
    If,
    Multiply,
    Reshape,
    Select,
    Subtract,
    While,
)
from pystage.compiler.passes.inplace import in_place
from pystage.compiler.passes.kernel_outlining import outline_kernels
from pystage.compiler.passes.load_fences import fence_loads
from pystage.compiler.passes.outlining import outline_segments
from pystage.compiler.passes.simplify import Simplified, simplify

INDEX = ArrayType(INT64)
Operand = Value | float
Values = Sequence[Value]


def array(*shape: int, dtype: DType = FLOAT64) -> ArrayType:
    """An array type; float64 by default."""
    return ArrayType(dtype, shape)


class Code:
    """A function that is being built; numbers become constants of the other operand's type."""

    def __init__(self, *types: ArrayType) -> None:
        self.body = Region(types)
        self.b = Builder(self.body)
        self.params = self.body.params

    def done(self, *results: Value, name: str = "main") -> Function:
        """The function with these results."""
        self.body.results = results
        return Function(name, self.body)

    def value(self, operand: Operand, dtype: DType = INT64) -> Value:
        """A constant, or the value that it is."""
        return operand if isinstance(operand, Value) else self.b.op(Constant(np.asarray(operand, dtype)))

    def add(self, x: Operand, y: Operand) -> Value:
        """`x + y`."""
        return self._binary(Add(), x, y)

    def sub(self, x: Operand, y: Operand) -> Value:
        """`x - y`."""
        return self._binary(Subtract(), x, y)

    def mul(self, x: Operand, y: Operand) -> Value:
        """`x * y`."""
        return self._binary(Multiply(), x, y)

    def compare(self, direction: str, x: Operand, y: Operand) -> Value:
        """`x < y` for "LT", and so on."""
        return self._binary(Compare(direction), x, y)

    def _binary(self, kind: HloOp, x: Operand, y: Operand) -> Value:
        dtype = (x if isinstance(x, Value) else y).type.dtype  # type: ignore[union-attr]
        return self.b.op(kind, self.value(x, dtype), self.value(y, dtype))

    def load(self, x: Value, *index: Operand) -> Value:
        """`x[index]`: an element, or a row where the index has fewer parts than there are axes."""
        rest = x.type.shape[len(index) :]
        starts = [self.value(i) for i in index] + [self.value(0)] * len(rest)
        return self.b.op(Reshape(rest), self.b.op(DynamicSlice((1,) * len(index) + rest), x, *starts))

    def store(self, x: Value, value: Operand, *index: Operand) -> Value:
        """`x` after `x[index] = value`."""
        rest = x.type.shape[len(index) :]
        starts = [self.value(i) for i in index] + [self.value(0)] * len(rest)
        part = self.b.op(Reshape((1,) * len(index) + rest), self.value(value, x.type.dtype))
        return self.b.op(DynamicUpdateSlice(), x, part, *starts)

    def while_(
        self,
        initial: Sequence[Operand],
        condition: Callable[..., Value],
        body: Callable[..., Sequence[Operand]],
        trips: int | None = None,
    ) -> Values:
        """`while condition(*state): state = body(*state)`."""
        carried = [self.value(v) for v in initial]
        types = tuple([v.type for v in carried])
        test, trip = Region(types), Region(types)
        with self.b.region(test):
            test.results = (condition(*test.params),)
        with self.b.region(trip):
            trip.results = tuple([self.value(v) for v in body(*trip.params)])
        return self.b.apply(While(trips), carried, (test, trip)).results

    def for_(
        self,
        stop: Operand,
        initial: Sequence[Operand],
        body: Callable[..., Sequence[Operand]],
        trips: int | None = None,
    ) -> Values:
        """`for i in range(stop): state = body(i, *state)`."""
        return self.while_(
            [0, *initial],
            lambda i, *_: self.compare("LT", i, stop),
            lambda i, *state: [self.add(i, 1), *body(i, *state)],
            trips,
        )[1:]

    def if_(
        self,
        predicate: Value,
        then: Callable[[], Sequence[Operand]],
        orelse: Callable[[], Sequence[Operand]],
    ) -> Values:
        """`then()` if `predicate` else `orelse()`, as one `If`."""
        regions = []
        for arm in (then, orelse):
            region = Region()
            with self.b.region(region):
                region.results = tuple([self.value(v) for v in arm()])
            regions.append(region)
        return self.b.apply(If(), (predicate,), regions).results

    def next(self, i: Value, limit: int) -> Value:
        """`i + 1`, or 0 where that reaches `limit`: an index that runs around."""
        after = self.add(i, 1)
        return self.b.op(Select(), self.compare("GE", after, limit), self.value(0), after)

    def call(self, function: Function, *operands: Value) -> Values:
        """A call."""
        return self.b.ops(Call(function), *operands)


def emitted(function: Function) -> Simplified:
    """The program as it is emitted for a CPU, checked by the verifier, and the parameters that it still has."""
    simplified = in_place(simplify(function))
    verify(simplified.function)
    made = outline_kernels(outline_segments(fence_loads(simplified.function)))
    verify(made)
    return Simplified(made, simplified.kept)


def passes(function: Function) -> Function:
    """The program as it is emitted for a CPU; it has all its parameters."""
    made = emitted(function)
    assert made.kept == tuple(range(len(function.param_types)))
    return made.function


def kinds(function: Function) -> Counter[type[HloOp]]:
    """How many operations of which kind there are, in all functions that are called; fences are not looked into."""
    reached = [f for f in functions(function) if not f.fence or f.kernel]
    return Counter(type(op.kind) for f in reached for op in f.body.walk())


def fences(function: Function) -> list[str]:
    """The names of the fenced functions that are called, once for each call; kernels are none of them."""
    called = [
        op.kind.function for f in functions(function) for op in f.body.walk() if isinstance(op.kind, Call)
    ]
    return sorted(f.name for f in called if f.fence and not f.kernel)


_emitted = Primitive("pystage_emitted")
_emitted.multiple_results = True


@_emitted.def_abstract_eval  # type: ignore[untyped-decorator]
def _abstract(*_: Any, function: Function) -> list[Any]:
    return [jax.core.ShapedArray(t.shape, t.dtype) for t in function.result_types]


mlir.register_lowering(_emitted, lambda context, *xs, function: emit_inline(context, function, xs))


def _compiled(function: Function) -> Any:
    shapes = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in function.param_types]
    return jax.jit(lambda *xs: _emitted.bind(*xs, function=function)).lower(*shapes).compile()


def run(function: Function, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The results as XLA computes them."""
    with jax.enable_x64(True):
        return tuple([np.asarray(r) for r in _compiled(function)(*arguments)])


def optimised(function: Function) -> str:
    """The program after XLA's optimisation, as text."""
    with jax.enable_x64(True):
        text: str = _compiled(function).as_text()
        return text


def whole_arrays(text: str, size: int) -> list[str]:
    """Operations in loops of an optimised program that write `size` elements or more, each as its line.

    What gives such an array but shares its buffer with an operand is none of them.
    """
    computations = _computations(text)
    fused = set(re.findall(r"calls=%([\w.\-]+)", text))
    entry = [line for name, lines in computations.items() if name.startswith("ENTRY") for line in lines]
    outside = set(re.findall(r"to_apply=%([\w.\-]+)", "\n".join(entry)))  # a loop with what is around it
    found = []
    for name, lines in computations.items():
        if name.startswith("ENTRY") or name in fused | outside:
            continue
        for line in lines:
            match = re.search(r"= \w+\[([\d,]+)\]\S* ([\w\-]+)\(", line)
            large = match and np.prod([int(n) for n in match[1].split(",")]) >= size
            if match and large and not _shares(match[2], line, computations):
                found.append(line.strip())
    return found


_SHARING = ("get-tuple-element", "parameter", "bitcast", "dynamic-update-slice", "call", "constant")


def _shares(opcode: str, line: str, computations: dict[str, list[str]]) -> bool:
    """True if an operation with such a result writes only a part of it, or nothing."""
    if opcode != "fusion":
        return opcode in _SHARING
    callee = re.search(r"calls=%([\w.\-]+)", line)
    assert callee is not None
    root = next(line for line in computations[callee[1]] if "ROOT" in line)
    return " dynamic-update-slice(" in root


def _computations(text: str) -> dict[str, list[str]]:
    """The lines of each computation, by its name; the entry's name begins with ENTRY."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        head = re.match(r"(ENTRY )?%([\w.\-]+) \(.*\{$", line)
        if head:
            lines = found[(head[1] or "") + head[2]] = []
        elif line.startswith("  "):
            lines.append(line)
    return found
