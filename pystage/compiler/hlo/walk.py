"""Queries on a whole program: its functions, its purity, whether it may run for long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from .ir import BodyContents, Function, Op
from .op import HloOp


class _FunctionFields(dict[type, tuple[str, ...]]):
    """By class of operations, the static operands that may be functions, by what their annotations say."""

    def __missing__(self, cls: type[Any]) -> tuple[str, ...]:
        names = [f.name for f in fields(cls) if re.search(r"Function|Any|object", str(f.type))]
        found = self[cls] = tuple(names)
        return found


_FUNCTION_FIELDS = _FunctionFields()


def structured(ops: Iterable[Op]) -> list[Op]:
    """Those of the operations that hold regions, or may have functions among their static operands."""
    return [op for op in ops if op.regions or _FUNCTION_FIELDS[type(op.kind)]]


def function_operands(kind: HloOp) -> dict[str, Function]:
    """The functions among the static operands of an operation, by name."""
    names = _FUNCTION_FIELDS[type(kind)]
    return {n: v for n in names if isinstance(v := getattr(kind, n), Function)} if names else {}


def with_functions(kind: HloOp, new: Callable[[Function], Function]) -> HloOp:
    """The same operation with the functions among its static operands replaced."""
    found = function_operands(kind)
    return replace(kind, **{n: new(v) for n, v in found.items()}) if found else kind


def callees(op: Op) -> tuple[Function, ...]:
    """The functions among the static operands of an operation, such as the callee of a call."""
    kind = op.kind
    names = _FUNCTION_FIELDS[type(kind)]
    return tuple([v for n in names if isinstance(v := getattr(kind, n), Function)]) if names else ()


def _contents(function: Function) -> BodyContents:
    """What the body of a function holds; found once, as it is immutable."""
    found = function.contents
    if found is None:
        ops = list(function.body.walk())
        calls = [callee for op in structured(ops) for callee in callees(op)]
        size = len(ops) + sum(_contents(callee).size for callee in calls)
        found = function.contents = BodyContents(
            {type(op.kind) for op in ops}, tuple(dict.fromkeys(calls)), size
        )
    return found


def operation_count(ops: Iterable[Op]) -> int:
    """How many operations these are, with those of their regions, and of functions as often as they call them."""
    found = 0
    for op in ops:
        inner = [op, *[each for region in op.regions for each in region.walk()]]
        found += len(inner) + sum(
            _contents(callee).size for each in structured(inner) for callee in callees(each)
        )
    return found


def functions(function: Function) -> list[Function]:
    """`function` and all that it calls, directly or not, each once, callers first."""
    found = {function: None}
    pending = [function]
    for caller in pending:
        new = [callee for callee in _contents(caller).callees if callee not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return pending


def kinds(function: Function) -> set[type[HloOp]]:
    """The classes of all operations of `function` and of all that it calls."""
    return set().union(*[_contents(each).kinds for each in functions(function)])


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
