"""Jacobians: the JVP of the function, batched over all tangent directions, or in blocks within the memory budget.

In: a callable value, its arguments, and which of them are differentiated. Out: the callee's result and effects as of a
plain call, and for each of these arguments the derivative of the result, in the last axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from ....config import config
from ...ad.calculus import CalculusBuilder
from ...ad.checkpoints import integer, while_loop
from ...ad.forward import ForwardMode
from ...ad.strip_io import strip_io
from ...batch.batching import Batch, NotMapped
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Function, Value
from ...hlo.types import INT64, ArrayType
from ...hlo.walk import functions
from ...ops import Call
from ...ops.batching import broadcast_to_batch
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, ArrayCell, Const, Meaning, Ref, Tuple
from ..calls.calls import put_transformed, require_drawn_once
from ..core.engine import Engine
from ..state.summaries import Summary
from .derivatives import Lifted, call_lifted, lifted


def jacobians(
    engine: Engine,
    function: Abstract,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    positions: Sequence[int],
    has_aux: bool = False,
) -> tuple[Abstract, list[Abstract]]:
    """The callee's result, and the derivative of it (of its first part with `has_aux`) by each of the arguments."""
    call = lifted(engine, args, positions)
    wanted = [_leaf_of(engine, call, chosen) for chosen in call.chosen]
    batch_size = sum(leaf.type.size for leaf in wanted)
    columns: list[Value] = []
    cells = call.leaves.before.items()
    arrays = {cell: content.value for cell, content in cells if isinstance(content, ArrayCell)}

    def put(summary: Summary, actual: list[Value], by_leaf: dict[Value, Value]) -> Sequence[Value]:
        body, c = summary.function.body, CalculusBuilder(engine.b)
        entry = {cell: by_leaf[leaf] for cell, leaf in arrays.items() if leaf in by_leaf}
        output = _output(engine, summary, has_aux, entry)
        if output is None:
            return put_transformed(engine, summary, summary.function, actual)
        leaf_of = {param: leaf for leaf, param in by_leaf.items()}
        if output not in body.results:  # it is a parameter
            if output in leaf_of:
                columns.append(_directions(c, wanted, leaf_of[output], batch_size))
            return put_transformed(engine, summary, summary.function, actual)
        forward, mask = ForwardMode(bool(engine.axes.checked)), tuple([p in leaf_of for p in body.params])
        moved = forward.function(summary.function, mask)
        directions = [_directions(c, wanted, leaf_of[p], batch_size) for p in body.params if p in leaf_of]
        count = len(body.results)
        varied = [r for r, v in zip(body.results, forward.results(summary.function, mask), strict=True) if v]
        place = count + varied.index(output) if output in varied else None
        block = _at_once(moved, batch_size)
        if block < batch_size:
            require_drawn_once(summary.function, (summary.function, moved))
            if place is not None:
                found = _Blocks(engine, strip_io(moved), [p in leaf_of for p in body.params], block, place)
                chosen = [leaf_of[p] for p in body.params if p in leaf_of]
                columns.append(found.all(actual, wanted, chosen, output.type))
            return put_transformed(engine, summary, summary.function, actual)
        directions = [_directions(c, wanted, leaf_of[p], batch_size) for p in body.params if p in leaf_of]
        made, batched = _mapped(engine, moved, len(actual), len(directions), batch_size)
        results = put_transformed(engine, summary, made, [*actual, *directions])
        if place is not None:
            shape = output.type.shape
            columns.append(broadcast_to_batch(c, results[place], batched[place], batch_size, shape))
        return results[:count]

    result = call_lifted(engine, _with_own_result(function, has_aux), call, kwargs, put)
    first = result.items[0] if has_aux and isinstance(result, Tuple) else result
    out = engine.read(first)
    return result, _split(engine, out, wanted, call, columns)


def _with_own_result(function: Abstract, has_aux: bool) -> Meaning:
    """The function with a copy in place of a result that is a part of another array."""

    def own(engine: Engine, value: Abstract) -> Abstract:
        part = isinstance(value, Ref) and bool(value.path) and engine.is_ndarray(value)
        return engine.ndarray(cast(Array, engine.read(value)).value) if part else value

    def call(engine: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        result = engine.call(function, args, kwargs)
        if has_aux and isinstance(result, Tuple) and len(result.items) == 2:
            return Tuple((own(engine, result.items[0]), result.items[1]))
        return result if has_aux else own(engine, result)

    return Meaning("the function of a Jacobian", call)


def _mapped(
    engine: Engine, moved: Function, given: int, directions: int, batch_size: int
) -> tuple[Function, Sequence[bool]]:
    """The function for many directions, and which of its results there are once for each."""
    flags = (*[False] * given, *[True] * directions)
    batch = Batch(batch_size, once=True)
    try:
        return batch.function(moved, flags), batch.results(moved, flags)
    except NotMapped as problem:
        why, instead = f"{problem} cannot run for all directions at once", "use `pystage.jvp` in a loop"
        span = problem.span or engine.b.span
        raise DiagnosticError(NotServed(span=span, name="the Jacobian", why=why, instead=instead)) from None


def _at_once(moved: Function, batch_size: int) -> int:
    """The number of directions in one block: as many of its largest value as the budget holds."""
    values = [v for f in functions(moved) for op in f.body.walk() for v in op.results]
    largest = max([v.type.nbytes for v in values], default=0)
    return (
        batch_size
        if largest * batch_size <= config.residual_bytes
        else max(1, config.residual_bytes // largest)
    )


class _Blocks:
    """A function pushed along its directions block by block, in a loop that prints nothing."""

    def __init__(
        self, engine: Engine, moved: Function, is_moved: Sequence[bool], block: int, place: int
    ) -> None:
        self._engine = engine
        self._block = block
        self._place = place
        self._made, self._batched = _mapped(engine, moved, len(is_moved), sum(is_moved), block)

    def all(
        self, actual: Sequence[Value], wanted: Sequence[Value], chosen: Sequence[Value], out: ArrayType
    ) -> Value:
        """The derivatives along all of `wanted` directions, in the first axis."""
        b, c, block, shape = self._engine.b, CalculusBuilder(self._engine.b), self._block, out.shape
        batch_size = sum(leaf.type.size for leaf in wanted)
        count = -(-batch_size // block)
        zeros = [integer(b, 0)] * len(shape)

        def step(carried: Sequence[Value]) -> Sequence[Value]:
            i, found = carried
            start = c.mul(i, integer(b, block))
            directions = [_directions(c, wanted, leaf, block, start) for leaf in chosen]
            results = b.apply(Call(self._made), [*actual, *directions]).results
            batched = self._batched[self._place]
            part = broadcast_to_batch(c, results[self._place], batched, block, shape)
            return c.add(i, integer(b, 1)), c.update(found, part, [start, *zeros])

        empty = c.zeros(ArrayType(out.dtype, (count * block, *shape)))
        found = while_loop(
            b, [integer(b, 0), empty], lambda carried: c.compare("LT", carried[0], integer(b, count)), step
        )[1]
        return c.slice(found, [0] * (1 + len(shape)), [batch_size, *shape])


def _leaf_of(engine: Engine, call: Lifted, chosen: Abstract) -> Value:
    """The placeholder of an argument; PS606 for one that is no array and no number."""
    content = call.leaves.before.get(chosen.cell) if isinstance(chosen, Ref) else chosen
    value = content.value if isinstance(content, Array | ArrayCell) else None
    if not isinstance(value, Value) or value not in call.leaves.actual:
        why, instead = (
            "an argument that it is of is no array of numbers with a fraction",
            "put them into one array",
        )
        engine.fail(NotServed(span=engine.b.span, name="the Jacobian", why=why, instead=instead))
    return value


def _output(engine: Engine, summary: Summary, has_aux: bool, entry: Mapping[int, Value]) -> Value | None:
    """The array to differentiate, in the callee's own terms; None for a constant.

    `entry`: what the arrays among the arguments hold before the call, by their cells.
    """
    result = summary.result
    if has_aux:
        if not isinstance(result, Tuple) or len(result.items) != 2:
            text = "Expected a two-element tuple (value, aux) from a function with has_aux=True"
            engine.raise_(TypeError(text))
        result = result.items[0]
    match result:
        case Const(value) if isinstance(value, int | float | complex | np.number):
            return None
        case Array(value=value):
            return value
        case Ref(cell, ()):
            position = summary.parameters.get(cell, -1)
            content = summary.reached.get(position) or summary.made.get(cell)
            if isinstance(content, ArrayCell):
                return content.value
            if content is None and cell in entry:
                return entry[cell]
    why, instead = (
        "its function gives no array of its own",
        "return one array, a copy where it is a part of another",
    )
    engine.fail(NotServed(span=engine.b.span, name="the Jacobian", why=why, instead=instead))


def _directions(
    c: CalculusBuilder, wanted: Sequence[Value], leaf: Value, batch_size: int, start: Value | None = None
) -> Value:
    """The tangents of one argument along all elements of all arguments, beginning with the one at `start`."""
    before = sum(other.type.size for other in wanted[: wanted.index(leaf)])
    type, size = leaf.type, leaf.type.size
    whole = ArrayType(INT64, (batch_size, size))
    row, column = c.iota(INT64, (batch_size, size), 0), c.iota(INT64, (batch_size, size), 1)
    if start is not None:
        row = c.add(row, c.broadcast(start, (batch_size, size), ()))
    equal = c.compare("EQ", row, c.add(column, c.filled(whole, before)))
    return c.reshape(c.convert(equal, type.dtype), (batch_size, *type.shape))


def _split(
    engine: Engine, out: Array | Const, wanted: Sequence[Value], call: Lifted, columns: Sequence[Value]
) -> list[Abstract]:
    """The derivatives by each argument, out of those along all directions."""
    c, found, start = CalculusBuilder(engine.b), list[Abstract](), 0
    for leaf, chosen in zip(wanted, call.chosen, strict=True):
        end = start + leaf.type.size
        given = chosen.form if isinstance(chosen, Array) else Form.NDARRAY
        form = out.form if isinstance(out, Array) else Form.PYTHON
        shape = out.shape if isinstance(out, Array) else ()
        type = ArrayType(columns[0].type.dtype if columns else leaf.type.dtype, (*shape, *leaf.type.shape))
        if columns:
            part = c.slice(columns[0], [start, *[0] * len(shape)], [end, *shape])
            value = c.reshape(c.transpose(part, [*range(1, 1 + len(shape)), 0]), type.shape)
        else:
            value = c.zeros(type)
        start = end
        if Form.JAX in (form, given):
            found.append(Array(value, Form.JAX))
        elif form is Form.NDARRAY or leaf.type.shape:
            found.append(engine.ndarray(value))
        else:
            found.append(Array(value, form))
    return found
