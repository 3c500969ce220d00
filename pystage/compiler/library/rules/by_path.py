"""A number that is of one kind on some paths and of another on others, where that tells."""

from __future__ import annotations

from collections.abc import Callable

from ...diagnostics.codes_types import PathDependentType
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...values.boundary import Form
from ...values.by_path import narrowed_number, undecided
from ...values.lattice import Abstract, Array, ByPath, Kind, OneOf, Optional, Unknown
from ..context import Context


class KindByPath(DiagnosticError):
    """What is at hand depends on the kind of `value`, or which of two things it is: it is to be done for each by itself.

    The diagnostic says so where that cannot be, or the results have no common type.
    """

    def __init__(self, diagnostic: Diagnostic, value: ByPath | OneOf | Optional) -> None:
        super().__init__(diagnostic)
        self.value = value


def of_one_kind(ctx: Context, number: ByPath, operation: str = "what this gives") -> Array:
    """The number as one of its kind; `KindByPath` where the path says which that is."""
    found = narrowed_number(ctx.b, ctx.intervals, number)
    if isinstance(found, ByPath):
        kinds = " or ".join(map(_kind_name, found.kinds))
        raise KindByPath(PathDependentType(span=ctx.span, operation=operation, kinds=kinds), found)
    return found


def _kind_name(kind: Kind) -> str:
    return f"np.{kind.dtype}" if kind.form is Form.SCALAR else str(kind)


def for_each_kind(ctx: Context, asked: KindByPath, operation: Callable[[], Abstract]) -> Abstract:
    """What `operation` gives, which changes nothing before it knows of which kind the number is that `asked` for it."""
    tag = undecided(ctx.intervals, asked.value)
    if tag is None:
        raise DiagnosticError(asked.diagnostic)
    ctx.tell_kind()
    found = ctx.branch(Array(tag, Form.PYTHON), operation, operation)
    if isinstance(found, Unknown):
        raise DiagnosticError(asked.diagnostic)
    return found
