"""Queries on a whole program: its functions, its purity, whether it may run for long."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from .ir import Function, Op, Region
from .op import HloOp


def _fields_of(cls: type[Any]) -> tuple[str, ...]:
    return tuple([f.name for f in fields(cls) if re.search(r"Function|Any|object", str(f.type))])


_function_fields: Callable[..., tuple[str, ...]] = functools.cache(_fields_of)
"""The static operands that may be functions, by what their annotations say."""


def structured(ops: Iterable[Op]) -> list[Op]:
    """Those of the operations that hold regions, or may have functions among their static operands."""
    return [op for op in ops if op.regions or _function_fields(type(op.kind))]


def function_operands(kind: HloOp) -> dict[str, Function]:
    """The functions among the static operands of an operation, by name."""
    names = _function_fields(type(kind))
    return {n: v for n in names if isinstance(v := getattr(kind, n), Function)} if names else {}


def with_functions(kind: HloOp, new: Callable[[Function], Function]) -> HloOp:
    """The same operation with the functions among its static operands replaced."""
    found = function_operands(kind)
    return replace(kind, **{n: new(v) for n, v in found.items()}) if found else kind


def callees(op: Op) -> tuple[Function, ...]:
    """The functions among the static operands of an operation, such as the callee of a call."""
    return tuple(function_operands(op.kind).values()) if _function_fields(type(op.kind)) else ()


def functions(function: Function) -> list[Function]:
    """`function` and all that it calls, directly or not, each once, callers first."""
    found = [function]
    seen = {function}
    for caller in found:
        for op in caller.body.walk():
            if _function_fields(type(op.kind)):
                for callee in callees(op):
                    if callee not in seen:
                        seen.add(callee)
                        found.append(callee)
    return found


def kinds(function: Function) -> set[type[HloOp]]:
    """The classes of all operations of `function` and of all that it calls."""
    found: set[type[HloOp]] = set()
    for each in functions(function):
        found.update([type(op.kind) for op in each.body.walk()])
    return found


def is_pure(op: Op) -> bool:
    """True if `op` may be left out when its results are unused: all that it would run is pure too.

    A loop counts as pure although it may never end: leaving it out changes no result that the program
    gives otherwise.
    """
    return all(inner.kind.pure for inner in _reached(op))


def _reached(op: Op) -> Iterator[Op]:
    """`op`, what its regions hold, and what the functions that any of them calls hold, each once."""
    yield op
    inside = list(callees(op))
    for region in op.regions:
        for inner in region.walk():
            yield inner
            inside += callees(inner)
    seen = set()
    for callee in inside:
        for function in functions(callee):
            if function not in seen:
                seen.add(function)
                yield from function.body.walk()


def work(function: Function) -> float:
    """About how many numbers one run computes at most; infinity if a loop's number of trips is not known."""
    counted: dict[Function, float] = {}

    def of(called: Function) -> float:
        if called not in counted:
            counted[called] = region(called.body)
        return counted[called]

    def region(body: Region) -> float:
        total = 0.0
        for op in body.ops:
            total += 1 + sum([result.type.size for result in op.results])
            inside = sum(map(region, op.regions)) + sum(map(of, callees(op)))
            if inside:
                trips = getattr(op.kind, "trip_count", 1)
                total += math.inf if trips is None else trips and inside * trips
        return total

    return of(function)
