"""How containers compare what is in them: by identity first, then by `==`.

One NaN equals itself there, two do not. Numbers have no identity in a program, so that a run ends (PS401) where both
are NaN and of one class.
"""

from __future__ import annotations

from collections.abc import Callable

from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_types import IdentityNotKnown
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import is_inexact
from ...ops import And
from ...values.gated import Gated
from ...values.lattice import KNOWN_NUMBERS, TRUE, Abstract, Array, Const, Ref
from ...values.walk import nodes
from ..context import Context
from ..kernels.arithmetic import is_nan
from ..kernels.number_checks import refuse
from ..rules.classes import scalar_class
from ..rules.promote import kinds_of
from ..rules.split import split_value

Equal = Callable[[Abstract, Abstract], Abstract]
"""`x == y`, as a truth."""


def same_or_equal(ctx: Context, x: Abstract, y: Abstract, equal: Equal) -> Abstract:
    """Whether two elements are one object, or equal."""
    if x is y and not any(map(_is_known_nan, nodes(x))):
        return TRUE
    for value, other in ((x, y), (y, x)):
        if isinstance(value, Gated) and any(map(_may_be_nan, value.options)):
            return split_value(ctx, value, lambda one: same_or_equal(ctx, one, other, equal))  # noqa: B023
    if isinstance(x, Ref) and isinstance(y, Ref):
        return _same_or_equal_objects(ctx, x, y, equal)
    _refuse_nan(ctx, x, y)
    return equal(x, y)


def _same_or_equal_objects(ctx: Context, x: Ref, y: Ref, equal: Equal) -> Abstract:
    same = ctx.same_object(x, y)
    if isinstance(same, Const) and same.value:
        return TRUE
    if not ctx.is_ndarray(x):  # what is one object is equal
        return equal(x, y)
    ctx.depends_on_identity()
    if same is None:
        ctx.fail(IdentityNotKnown(span=ctx.span, what="arrays that depend on the path taken"))
    return ctx.branch(same, lambda: TRUE, lambda: equal(x, y))


def _is_known_nan(x: object) -> bool:
    """True for a known NaN: calls of one function make several, which inference has once."""
    return isinstance(x, Const) and isinstance(x.value, KNOWN_NUMBERS) and bool(x.value != x.value)


def _may_be_nan(x: Abstract) -> bool:
    """True for a number that may be NaN."""
    is_inexact_number = isinstance(x, Array) and x.type.size == 1 and is_inexact(x.dtype)
    return is_inexact_number or _is_known_nan(x)


def _classes(x: Abstract) -> set[type]:
    """The classes that a number may have."""
    assert isinstance(x, Array | Const)
    return {scalar_class(kind.dtype, kind.form) for kind in kinds_of(x)}


def _refuse_nan(ctx: Context, x: Abstract, y: Abstract) -> None:
    """Raises PS401 where both are NaN."""
    if not (_may_be_nan(x) and _may_be_nan(y)) or not _classes(x) & _classes(y):
        return
    reason = NotKnown(span=ctx.span, what="whether two elements are the same NaN")
    bad: Value | None = None
    for value in (x, y):
        if isinstance(value, Array):
            nan = ctx.reshape(is_nan(ctx, value.value), ())
            bad = nan if bad is None else ctx.op(And(), bad, nan)
    if bad is None:
        ctx.fail(reason)
    ctx.check(bad, StagingError(()), refuse, [lambda: reason])
