"""Jacobians: one call of the function, pushed forward along all directions at once.

In: a callable value, its arguments, and which of them are differentiated by. Out: the callee's result and effects as
of a plain call, and for each of these arguments the derivative of the result by it, in the last axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..ad.calculus import Calculus
from ..ad.forward import Forward
from ..batch.batching import Batch, NotMapped
from ..diagnostics.codes_calls import NotServed
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.ir import Value
from ..hlo.types import INT64, ArrayType
from ..ops.lanes import of_all_lanes
from ..values.boundary import Form
from ..values.lattice import Abstract, Array, ArrayCell, Const, Ref, Tuple
from .calls import Replay, put_transformed
from .derivatives import Lifted, call_lifted, lifted
from .engine import Engine


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
    lanes = sum(leaf.type.size for leaf in wanted)
    columns: list[Value] = []
    cells = call.leaves.contents.items()
    arrays = {cell: content.value for cell, content in cells if isinstance(content, ArrayCell)}

    def put(replay: Replay, actual: list[Value], by_leaf: dict[Value, Value]) -> Sequence[Value]:
        body, c = replay.function.body, Calculus(engine.b)
        entry = {cell: by_leaf[leaf] for cell, leaf in arrays.items() if leaf in by_leaf}
        output = _output(engine, replay, has_aux, entry)
        if output is None:
            return put_transformed(engine, replay, replay.function, actual)
        if output not in body.results:
            body.results = (*body.results, output)
        leaf_of = {param: leaf for leaf, param in by_leaf.items()}
        forward, mask = Forward(), tuple([p in leaf_of for p in body.params])
        moved = forward.function(replay.function, mask)
        directions = [_directions(c, wanted, leaf_of[p], lanes) for p in body.params if p in leaf_of]
        flags = (*[False] * len(actual), *[True] * len(directions))
        batch = Batch(lanes, once=True)
        try:
            made = batch.function(moved, flags)
        except NotMapped as problem:
            why, instead = f"{problem} cannot run for all directions at once", "use `pystage.jvp` in a loop"
            span = problem.span or engine.b.span
            raise DiagnosticError(
                NotServed(span=span, name="the Jacobian", why=why, instead=instead)
            ) from None
        results = put_transformed(engine, replay, made, [*actual, *directions])
        count = len(body.results)
        varied = [r for r, v in zip(body.results, forward.results(replay.function, mask), strict=True) if v]
        if output in varied:
            place = count + varied.index(output)
            has_lanes = batch.results(moved, flags)[place]
            shape = output.type.static_shape
            columns.append(of_all_lanes(c, results[place], has_lanes, lanes, shape))
        return results[:count]

    result = call_lifted(engine, function, call, kwargs, put)
    first = result.items[0] if has_aux and isinstance(result, Tuple) else result
    out = engine.read(first)
    return result, _split(engine, out, wanted, call, columns)


def _leaf_of(engine: Engine, call: Lifted, chosen: Abstract) -> Value:
    """The placeholder of an argument; PS606 for one that is no array and no number."""
    content = call.leaves.contents.get(chosen.cell) if isinstance(chosen, Ref) else chosen
    value = content.value if isinstance(content, Array | ArrayCell) else None
    if not isinstance(value, Value) or value not in call.leaves.actual:
        why, instead = (
            "an argument that it is of is no array of numbers with a fraction",
            "put them into one array",
        )
        engine.fail(NotServed(span=engine.b.span, name="the Jacobian", why=why, instead=instead))
    return value


def _output(engine: Engine, replay: Replay, has_aux: bool, entry: Mapping[int, Value]) -> Value | None:
    """The array that is differentiated, in the callee's own terms; None for a constant.

    `entry`: what the arrays among the arguments hold before the call, by their cells.
    """
    result = replay.result
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
            position = replay.parameters.get(cell, -1)
            content = replay.reached.get(position) or replay.made.get(cell)
            if isinstance(content, ArrayCell):
                return content.value
            if content is None and cell in entry:
                return entry[cell]
    why, instead = (
        "its function gives no array of its own",
        "return one array, a copy where it is a part of another",
    )
    engine.fail(NotServed(span=engine.b.span, name="the Jacobian", why=why, instead=instead))


def _directions(c: Calculus, wanted: Sequence[Value], leaf: Value, lanes: int) -> Value:
    """Along all elements of all arguments, one after another: how this one moves."""
    before = sum(other.type.size for other in wanted[: wanted.index(leaf)])
    type, size = leaf.type, leaf.type.size
    whole = ArrayType(INT64, (lanes, size))
    lane, column = c.iota(INT64, (lanes, size), 0), c.iota(INT64, (lanes, size), 1)
    equal = c.compare("EQ", lane, c.add(column, c.filled(whole, before)))
    return c.reshape(c.convert(equal, type.dtype), (lanes, *type.static_shape))


def _split(
    engine: Engine, out: Array | Const, wanted: Sequence[Value], call: Lifted, columns: Sequence[Value]
) -> list[Abstract]:
    """The derivatives by each argument, of what was found along all directions."""
    c, found, start = Calculus(engine.b), list[Abstract](), 0
    for leaf, chosen in zip(wanted, call.chosen, strict=True):
        end = start + leaf.type.size
        given = chosen.form if isinstance(chosen, Array) else Form.NDARRAY
        form = out.form if isinstance(out, Array) else Form.PYTHON
        shape = out.shape if isinstance(out, Array) else ()
        type = ArrayType(
            columns[0].type.dtype if columns else leaf.type.dtype, (*shape, *leaf.type.static_shape)
        )
        if columns:
            part = c.slice(columns[0], [start, *[0] * len(shape)], [end, *shape])
            value = c.reshape(c.transpose(part, [*range(1, 1 + len(shape)), 0]), type.static_shape)
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
