"""`pystage.vjp` and `pystage.checkpoint`.

`vjp` stages a call of the function's forward pass, which also returns the residuals of its pullback, and gives the
result and a callable value that stages one call of the pullback each time it is called. The callee also returns every
number of its result as a flat list, so that cotangents match numbers by position in the structure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ....records import dataclass
from ...ad.calculus import CalculusBuilder, differentiable
from ...ad.reverse import FunctionPullback, ReverseMode
from ...hlo.ir import Value
from ...library.context import Context
from ...library.rules.numbers import number_value
from ...ops import Call, MatchVarying
from ...values.lattice import Abstract, Array, Const, Meaning, Ref, Tuple, is_number
from ...values.walk import children, keys
from ..calls.calls import call_transformed, put_transformed, require_drawn_once
from ..core.engine import Engine
from ..objects.copies import class_of, opened
from ..state.summaries import Summary
from .derivatives import Lifted, call_lifted, lifted

Structure = tuple[object, ...]


def flattened(engine: Engine, value: Abstract) -> tuple[Structure, list[Array | Const]]:
    """The structure of a value, and its numbers in order."""
    found: list[Array | Const] = []

    def walk(value: Abstract) -> Structure:
        container = opened(engine, value)
        if container is not None:
            return (class_of(container), tuple(keys(container)), *map(walk, children(container)))
        if not is_number(value) and not engine.is_ndarray(value):
            return ("other",)
        found.append(engine.read(value) if isinstance(value, Ref) else cast("Array | Const", value))
        return ("number",)

    return walk(value), found


@dataclass(slots=True, eq=False)
class _Pullback:
    """The pullback of one call: its residuals, and the cotangents that it takes and gives."""

    back: FunctionPullback
    residuals: list[Value]
    seeds: list[Value]
    """The results of the callee that have cotangents, as values of the callee."""
    leaves: list[Value | None]
    """By number of the result: the result of the callee's HLO function; None for constants."""
    params: list[Value]
    """The values of the callee's parameters that get cotangents, as placeholders."""
    passed: dict[Value, Value]
    """By number of the result that is a parameter of the callee: the parameter's placeholder."""


def pulled_back(
    engine: Engine, function: Abstract, primals: Sequence[Abstract], has_aux: bool
) -> tuple[Abstract, Abstract, Abstract | None]:
    """The callee's result, its pullback as a callable value, and the auxiliary result."""
    call = lifted(engine, primals, range(len(primals)))
    pullbacks: list[_Pullback] = []
    structures: list[Structure] = []

    def with_numbers(ctx: Context, *inner: Abstract) -> Abstract:
        result = engine.call(function, inner)
        out = result
        if has_aux:
            if not isinstance(result, Tuple) or len(result.items) != 2:
                engine.raise_(
                    TypeError("Expected a two-element tuple (value, aux) from a function with has_aux=True")
                )
            out = result.items[0]
        structure, numbers = flattened(engine, out)
        structures.append(structure)
        return Tuple((result, Tuple(tuple(numbers))))

    def put(summary: Summary, actual: list[Value], by_leaf: dict[Value, Value]) -> Sequence[Value]:
        body = summary.function.body
        numbers = cast(Tuple, cast(Tuple, summary.result).items[1]).items
        leaves = [n.value if isinstance(n, Array) else None for n in numbers]
        count = len(body.results)
        leaf_of = {param: leaf for leaf, param in by_leaf.items()}
        mask = tuple([p in leaf_of and differentiable(p.type) for p in body.params])
        reverse = ReverseMode(bool(engine.axes.checked))
        wanted = set(leaves)
        varied = reverse.activity.results(summary.function, mask)
        flags = tuple([r in wanted and v for r, v in zip(body.results, varied, strict=True)])
        back = reverse.pullback(summary.function, mask, flags)
        require_drawn_once(summary.function, (back.forward, back.backward))
        results = put_transformed(engine, summary, back.forward, actual)
        pullbacks.append(
            _Pullback(
                back,
                back.residuals_of(actual, results),
                [v for v, flag in zip(body.results, flags) if flag],
                leaves,
                [leaf_of[p] for p, m in zip(body.params, mask) if m],
                {p: leaf_of[p] for p, m in zip(body.params, mask) if m and p in wanted},
            )
        )
        return results[:count]

    whole = call_lifted(engine, Meaning("the function", with_numbers), call, {}, put)
    result = cast(Tuple, whole).items[0]
    pulled, structure = pullbacks[-1], structures[-1]

    def pullback(ctx: Engine, cotangent: Abstract) -> Abstract:
        return _cotangents(ctx, call, pulled, structure, cotangent)

    if has_aux:
        value, aux = cast(Tuple, result).items
        return value, Meaning("the pullback", pullback), aux
    return result, Meaning("the pullback", pullback), None


def _cotangents(
    engine: Engine, call: Lifted, pulled: _Pullback, structure: Structure, cotangent: Abstract
) -> Abstract:
    """Cotangents of the primals, as a tuple. TypeError, ValueError if the one given does not fit the result."""
    given, numbers = flattened(engine, cotangent)
    if given != structure:
        engine.raise_(TypeError("the cotangent must have the structure of the function's result"))
    c = CalculusBuilder(engine.b)
    found: dict[Value, Value] = {}
    for leaf, number in zip(pulled.leaves, numbers, strict=True):
        value = number_value(engine.b, number)
        if leaf is None or (leaf not in pulled.seeds and leaf not in pulled.passed):
            continue
        if value.type.shape != leaf.type.shape:
            engine.raise_(
                ValueError(
                    f"the cotangent of a result of shape {leaf.type.shape} has shape {value.type.shape}"
                )
            )
        value = c.convert(value, leaf.type.dtype)
        found[leaf] = c.add(found[leaf], value) if leaf in found else value
    seeds = [found[v] if v in found else c.zeros(v.type) for v in pulled.seeds]
    made = engine.b.apply(Call(pulled.back.backward), [*seeds, *pulled.residuals]).results
    by = {leaf: c.zeros(leaf.type) for leaf in call.leaves.actual}
    by.update(zip(pulled.params, made, strict=True))
    for param, leaf in pulled.passed.items():
        if param in found:
            own = found[param]
            if engine.axes.checked:
                own = c.op(MatchVarying(), own, call.leaves.actual[leaf])
            by[leaf] = c.add(by[leaf], own)
    return Tuple(tuple(call.filled(by)))


def recomputed(
    engine: Engine, function: Abstract, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> Abstract:
    """A plain call whose pullback keeps only the arguments and recomputes the rest."""

    def put(summary: Summary, actual: Sequence[Value]) -> Mapping[Value, Value]:
        made = engine.b.apply(Call(summary.function, recompute=True), actual, pure=summary.pure)
        return dict(zip(summary.function.body.results, made.results, strict=True))

    return call_transformed(engine, function, args, kwargs, put)
