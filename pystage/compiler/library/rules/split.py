"""`NeedsSplit`: operations that cannot treat the alternatives of a gated φ uniformly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from ...diagnostics.codes_types import PathDependentType
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...hlo.ir import Value
from ...values.boundary import Form
from ...values.gated import Gated, GatedNumber, Phi, narrow, narrow_number, undecided
from ...values.lattice import Abstract, Array, NumberKind, Unknown
from ..context import Context
from ..interfaces.operations import Operations

R = TypeVar("R")
Branch = Callable[[Value, Callable[[], R], Callable[[], R]], R]
"""The results of two computations, one per value of a bool of the program."""


class NeedsSplit(DiagnosticError):
    """Raised where an operation depends on the alternative of `value`, and must be split over them.

    The diagnostic says so where that cannot be, or the results have no common type.
    """

    def __init__(self, diagnostic: Diagnostic, value: Phi) -> None:
        super().__init__(diagnostic)
        self.value = value


def needs_split(value: Gated) -> NeedsSplit:
    """The exception for an operation that depends on the alternative of `value`."""
    assert value.reason is not None
    return NeedsSplit(value.reason, value)


def of_one_kind(ctx: Operations, number: GatedNumber, operation: str = "what this gives") -> Array:
    """The number as one of its kind; `NeedsSplit` where it may be of several."""
    found = narrow_number(ctx.b, ctx.intervals, number)
    if isinstance(found, GatedNumber):
        kinds = " or ".join(map(_kind_name, found.kinds))
        raise NeedsSplit(PathDependentType(span=ctx.span, operation=operation, kinds=kinds), found)
    return found


def _kind_name(kind: NumberKind) -> str:
    return f"np.{kind.dtype}" if kind.form is Form.SCALAR else str(kind)


def split(ctx: Context, value: Phi, run: Callable[[], R], branch: Branch[R]) -> R:
    """Runs `run` for each alternative of `value`, under the condition that it is that one; `branch` joins two results."""
    tag = undecided(ctx.intervals, value)
    if tag is None:
        return run()
    ctx.note_split()
    arm = functools.partial(split, ctx, value, run, branch)
    return branch(tag, arm, arm)


def split_value(ctx: Context, value: Phi, operation: Callable[[Abstract], Abstract]) -> Abstract:
    """The result of `operation` on the selected alternative of `value`."""

    def run() -> Abstract:
        return operation(narrow(ctx.b, ctx.intervals, value))

    return split(ctx, value, run, lambda tag, then, orelse: ctx.branch(Array(tag, Form.PYTHON), then, orelse))


def branch_on(
    ctx: Context, value: Phi, position: int, this: Callable[[], Abstract], other: Callable[[], Abstract]
) -> Abstract:
    """The result of `this` if `value` is the alternative at `position`, else that of `other`."""
    tag = value.tags[position]
    holds = ctx.intervals.decides(tag)
    if holds is None:
        return ctx.branch(Array(tag, Form.PYTHON), this, other)
    return this() if holds else other()


def split_operation(ctx: Context, asked: NeedsSplit, operation: Callable[[], Abstract]) -> Abstract:
    """The result of an operation that raised `asked` before it had effects."""
    found = split_value(ctx, asked.value, lambda _: operation())
    if isinstance(found, Unknown):
        raise DiagnosticError(asked.diagnostic)
    return found
