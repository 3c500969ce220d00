"""Identity of bounded arrays: a number of the program where paths have met, since only the run knows which object it is."""

from __future__ import annotations

from ....diagnostics.codes_types import IdentityNotKnown
from ....diagnostics.errors import StagingError
from ....hlo.ir import Value
from ....hlo.types import BOOL
from ....ops import And, Compare, Or
from ....values.bounded import Bounded
from ....values.lattice import Ref
from ...context import Context
from .bounded import widened
from .slices import stride

Truth = bool | Value
"""Whether something holds: known now, or a bool of the program."""


def same_object(ctx: Context, a: Bounded, b: Bounded) -> tuple[Truth, Truth]:
    """Whether two arrays are one object; and where that is unknown although they have the same elements."""
    if a.outline == b.outline:
        return True, False
    same: Truth = False
    doubt: Truth = False
    for i, one in enumerate(a.objects):
        for j, other in enumerate(b.objects):
            if not one.may_be(other):
                continue
            here = both(ctx, _is_object(ctx, a, i), _is_object(ctx, b, j))
            if one.of_loop or other.of_loop:
                doubt = either(ctx, doubt, here)
            else:
                same = either(ctx, same, here)
    return same, doubt and both(ctx, doubt, _same_elements(ctx, a, b))


def refuse_if(ctx: Context, doubt: Truth) -> None:
    """Ends the run (PS210) where it is not known whether two arrays are one object."""
    span = ctx.span

    def refuse_identity() -> None:
        what = "two arrays with the same elements"
        raise StagingError((IdentityNotKnown(span=span, what=what),))

    if doubt is not False:
        bad = ctx.constant(doubt, BOOL) if isinstance(doubt, bool) else doubt
        ctx.check(bad, StagingError(()), refuse_identity, [])


def _is_object(ctx: Context, array: Bounded, position: int) -> Truth:
    """Whether an array is this object, among those that it may be."""
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
    """Whether two arrays are the same positions of the same memory."""
    a, b = _in_memory(ctx, a), _in_memory(ctx, b)
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
        one, two = mine.progression, other.progression
        if one is None or two is None:
            continue
        numbers: list[tuple[int | Value, int | Value]] = [(one.count, two.count)]
        if ours.path == theirs.path:  # else places are counted otherwise
            numbers += [(one.start, two.start), (one.step, two.step)]
        for x, y in numbers:
            same = both(ctx, same, _equal(ctx, x, y))
    return same


def _in_memory(ctx: Context, array: Bounded) -> Bounded:
    """The same array as positions of the widest whole."""
    while (wider := widened(ctx, array)) is not None:
        array = wider
    return array


def _equal(ctx: Context, x: int | Value, y: int | Value) -> Truth:
    """Whether two numbers are equal."""
    if x is y or (isinstance(x, int) and isinstance(y, int)):
        return x == y
    return ctx.op(Compare("EQ"), stride(ctx, x), stride(ctx, y))
