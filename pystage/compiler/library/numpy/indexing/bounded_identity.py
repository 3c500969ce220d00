"""Which object a bounded array is: a program value where paths have met, since only the run knows which one was taken."""

from __future__ import annotations

from collections.abc import Hashable

from ....diagnostics.codes_types import IdentityNotKnown
from ....diagnostics.errors import StagingError
from ....hlo.ir import Value
from ....hlo.types import BOOL
from ....ops import And, Compare, Or
from ....values.bounded import SOME, Bounded
from ....values.lattice import Ref
from ...context import Context

Truth = bool | Value
"""Whether something holds: known now, or a bool of the program."""


def same_object(ctx: Context, a: Bounded, b: Bounded) -> tuple[Truth, Truth]:
    """Whether two arrays are one object; and where that is not known, though they have the same elements."""
    if a.outline == b.outline:
        return True, False
    shared = [each for each in a.objects if each in b.objects]
    same: Truth = False
    for each in shared:
        if each != SOME:
            same = either(ctx, same, both(ctx, _is_object(ctx, a, each), _is_object(ctx, b, each)))
    of_loops: Truth = False  # what a loop has left may be any object that there was when a trip ended
    for each in (a, b):
        if SOME in each.objects:
            of_loops = either(ctx, of_loops, _is_object(ctx, each, SOME))
    return same, of_loops and both(ctx, of_loops, _same_elements(ctx, a, b))


def refuse_if(ctx: Context, doubt: Truth) -> None:
    """The run ends (PS210) where it is not known whether two arrays are one object."""
    span = ctx.span

    def refuse_identity() -> None:
        what = "two arrays whose sizes are not known while compiling"
        raise StagingError((IdentityNotKnown(span=span, what=what),))

    if doubt is not False:
        bad = ctx.constant(doubt, BOOL) if isinstance(doubt, bool) else doubt
        ctx.check(bad, StagingError(()), refuse_identity, [])


def _is_object(ctx: Context, array: Bounded, each: Hashable) -> Truth:
    """Whether an array is one of those that it may be."""
    position = array.objects.index(each)
    if isinstance(array.which, int):
        return array.which == position
    return ctx.op(Compare("EQ"), array.which, ctx.constant(position, array.which.type.dtype))


def both(ctx: Context, p: Truth, q: Truth) -> Truth:
    """Whether both hold."""
    if isinstance(p, bool):
        return p and q
    if isinstance(q, bool):
        return q and p
    return ctx.op(And(), p, q)


def either(ctx: Context, p: Truth, q: Truth) -> Truth:
    """Whether one of them holds."""
    if isinstance(p, bool):
        return p or q
    if isinstance(q, bool):
        return q or p
    return ctx.op(Or(), p, q)


def _same_elements(ctx: Context, a: Bounded, b: Bounded) -> Truth:
    """Whether two arrays are the same places of the same memory."""
    ours, theirs = a.whole, b.whole
    if not isinstance(ours, Ref) or not isinstance(theirs, Ref):
        return True
    same: Truth = False
    memory = ctx.memory_of(theirs)
    for first, here in ctx.memory_of(ours):
        for second, there in memory:
            if first.cell == second.cell:
                same = either(ctx, same, both(ctx, here, there))
    for mine, other in zip(a.extents, b.extents):
        for x, y in ((mine.start, other.start), (mine.size, other.size)):
            if x is not None and y is not None and x is not y:
                same = both(ctx, same, ctx.op(Compare("EQ"), x, y))
    return same
