"""Assembles a custom VJP rule: its forward and backward functions over all operands of the call.

In: the function and its two rules, inferred (`InferredFunction`), and the values of the placeholders that the backward
rule was inferred with. Out: `VjpFunctions`, whose functions call those three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....records import dataclass
from ...ad.calculus import CalculusBuilder
from ...hlo.builder import Builder
from ...hlo.ir import Function, Region, Value
from ...hlo.rewrite import with_params
from ...ops import Call, VjpFunctions, constant
from ...values.lattice import Array, Tuple
from ..state.summaries import Summary


@dataclass(slots=True, eq=False)
class InferredFunction:
    """One of the three functions of a rule, inferred: its HLO function, and its operands at this call.

    The function that has the rule also takes the operands that only the rule needs.
    """

    summary: Summary
    function: Function
    actual: list[Value]

    def numbers(self) -> list[Array | None]:
        """The numbers that it returns beside its result, in its own values; None for constants."""
        result = self.summary.result
        assert isinstance(result, Tuple) and isinstance(result.items[1], Tuple)
        return [n if isinstance(n, Array) else None for n in result.items[1].items]


class VjpAssembler:
    """Builds the functions of the rule, over all operands of the call, from the inferred functions."""

    def __init__(
        self, primal: InferredFunction, forward: InferredFunction, backward: InferredFunction
    ) -> None:
        self._primal = primal
        self._forward = forward
        self._backward = backward

    def assemble(
        self,
        kept: Mapping[Value, Value],
        cotangents: Mapping[Value, Value],
        seeds: Sequence[Value],
        leaves: Sequence[Value | None],
        outside: set[Value],
        is_transpose: bool,
    ) -> VjpFunctions:
        """The rule. `kept` and `cotangents` give the values of the backward rule's placeholders."""
        primal = self._primal
        own = [v for v in self._backward.actual if v not in kept and v not in cotangents]
        numbers = [v for v in leaves if v is not None]
        known = set(primal.actual)
        more = [v for v in dict.fromkeys((*self._forward.actual, *own, *numbers)) if v not in known]
        if more:
            primal.actual += more
            primal.function = with_params(primal.function, [v.type for v in more])
        used = [v for v in self._backward.actual if v in kept]
        code = _code(self._forward.summary)
        residuals = [*dict.fromkeys([kept[v] for v in used]), *([] if code is None else [code])]
        forward = self._forward_function(seeds, list(dict.fromkeys(residuals)), code)
        by_leaf = list(zip(leaves, self._backward.numbers(), strict=True))
        wrt = list(dict.fromkeys([leaf for leaf, ct in by_leaf if leaf is not None and ct is not None]))
        backward = self._backward_function(
            kept, cotangents, seeds, list(dict.fromkeys(residuals)), wrt, by_leaf, code
        )
        results = primal.summary.function.body.results
        return VjpFunctions(
            forward,
            backward,
            tuple([results.index(v) for v in seeds]),
            tuple([primal.actual.index(v) for v in wrt]),
            frozenset([i for i, v in enumerate(primal.actual) if v in outside]),
            is_transpose,
        )

    def _forward_function(
        self, seeds: Sequence[Value], residuals: Sequence[Value], code: Value | None
    ) -> Function:
        primal, rule = self._primal, self._forward
        body = Region(primal.function.param_types)
        b = Builder(body)
        b.span = primal.function.span
        at = dict(zip(primal.actual, body.params, strict=True))
        plain = b.apply(Call(primal.function), body.params, pure=primal.summary.pure).results
        made = b.apply(Call(rule.function), [at[v] for v in rule.actual]).results
        by = dict(zip(rule.function.body.results, made, strict=True))
        numbers = [by[n.value] for n in rule.numbers() if n is not None]
        given = dict(
            zip(seeds, [_unless(b, None if code is None else by[code], n) for n in numbers], strict=True)
        )
        results = zip(primal.summary.function.body.results, plain, strict=True)
        body.results = (*[given.get(old, new) for old, new in results], *[by[r] for r in residuals])
        return Function(f"{primal.function.name}_fwd", body, primal.function.span)

    def _backward_function(
        self,
        kept: Mapping[Value, Value],
        cotangents: Mapping[Value, Value],
        seeds: Sequence[Value],
        residuals: Sequence[Value],
        wrt: Sequence[Value],
        by_leaf: Sequence[tuple[Value | None, Array | None]],
        code: Value | None,
    ) -> Function:
        primal, rule = self._primal, self._backward
        types = (*primal.function.param_types, *[v.type for v in (*residuals, *seeds)])
        body = Region(types)
        b = Builder(body)
        b.span = primal.function.span
        c = CalculusBuilder(b)
        at = dict(zip((*primal.actual, *residuals, *seeds), body.params, strict=True))

        def given(value: Value) -> Value:
            if value in kept:
                return at[kept[value]]
            if value in cotangents:
                number = cotangents[value]
                return (
                    at[number]
                    if number in at
                    else constant(b, np.zeros(number.type.shape, number.type.dtype))
                )
            return at[value]

        made = b.apply(Call(rule.function), [given(v) for v in rule.actual]).results
        by = dict(zip(rule.function.body.results, made, strict=True))
        found: dict[Value, Value] = {}
        for leaf, ct in by_leaf:
            if leaf is not None and ct is not None:
                found[leaf] = c.add(found[leaf], by[ct.value]) if leaf in found else by[ct.value]
        codes = [
            None if code is None else at[code],
            None if (own := _code(rule.summary)) is None else by[own],
        ]
        for raised in codes:
            found = {leaf: _unless(b, raised, ct) for leaf, ct in found.items()}
        body.results = tuple([found[leaf] for leaf in wrt])
        return Function(f"{primal.function.name}_bwd", body, primal.function.span)


def _code(summary: Summary) -> Value | None:
    """The error code of a rule, 0 if it has not raised; None if it cannot."""
    code = None if summary.error is None else summary.error.code
    return code if isinstance(code, Value) else None


def _unless(b: Builder, raised: Value | None, value: Value) -> Value:
    """`value`, NaN where the rule has raised what Python's arithmetic raises."""
    if raised is None:
        return value
    c = CalculusBuilder(b)
    fine = c.broadcast(
        c.compare("EQ", raised, constant(b, np.zeros((), raised.type.dtype))), value.type.shape, ()
    )
    return c.select(fine, value, c.filled(value.type, float("nan")))
