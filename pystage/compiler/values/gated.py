"""Gated φ: a value with several alternatives, of which the path taken selects one.

`Gated` has its alternatives side by side; "not assigned" (`Undef`) and None are alternatives like others. `GatedNumber`
packs numbers of several kinds into one number of a type that represents them all, which is cheaper for an operation that
treats every kind alike. Both have the same selector: `tags`, bools of the program, one for each alternative but the last.
At most one of them is true and selects its alternative; the last one is selected if none is.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import field, replace

from ..analysis.intervals import Intervals
from ..diagnostics.diagnostic import Diagnostic
from ..hlo.builder import Builder
from ..hlo.immutable import immutable
from ..hlo.ir import Value
from ..hlo.types import is_integer
from ..ops import Convert, Not, Or
from .boundary import Form
from .lattice import Abstract, Array, Const, NumberKind, Undef
from .node import NOTE


@immutable
class Gated(Abstract):
    """One of `options`, selected by `tags`; those that stand for no value (`Undef`, None) come first.

    `reason` says so where something needs to know which, and cannot be done for each; None where all that is open is
    whether it is assigned. Of a template, `sides` are what the two sides of the join have, each with the positions of
    its alternatives among the options.
    """

    options: tuple[Abstract, ...]
    tags: tuple[Value, ...]
    reason: Diagnostic | None = field(default=None, metadata=NOTE)
    sides: tuple[tuple[Abstract, tuple[int, ...]], ...] = field(default=(), metadata=NOTE)


@immutable
class GatedNumber(Array):
    """A number of one of several `kinds`, selected by `tags`.

    `value` is the number in an element type that holds all of them, but for integers beyond what a floating-point type
    holds: where there may be some, `whole` is the number as an int64, if it is an integer.
    """

    kinds: tuple[NumberKind, ...] = ()
    tags: tuple[Value, ...] = ()
    whole: Value | None = None

    @property
    def may_be_jax(self) -> bool:
        """True if it is a `jax.Array` on some paths."""
        return any(kind.form is Form.JAX for kind in self.kinds)


Phi = Gated | GatedNumber


def form_of(kinds: Sequence[NumberKind]) -> Form:
    """The form of a number of these kinds: Python's if all are."""
    return Form.PYTHON if {kind.form for kind in kinds} == {Form.PYTHON} else Form.SCALAR


# ---------------------------------------------------------------- alternatives


def alternatives(value: Abstract) -> tuple[Abstract, ...]:
    """The alternatives of a value; mostly the value alone."""
    return value.options if isinstance(value, Gated) else (value,)


def is_absent(value: Abstract) -> bool:
    """True for an alternative without a value: `Undef`, and None."""
    return isinstance(value, Undef) or (isinstance(value, Const) and value.value is None)


def assigned_alternatives(value: Abstract) -> list[Abstract]:
    """The alternatives of a variable where it is assigned."""
    return [each for each in alternatives(value) if not isinstance(each, Undef)]


def may_be_none(value: Abstract) -> bool:
    """True for None, and for what is None on some paths."""
    return any(isinstance(each, Const) and each.value is None for each in alternatives(value))


def may_be_unassigned(value: Abstract) -> bool:
    """True for a variable that some paths assign and others do not."""
    return isinstance(value, Gated) and isinstance(value.options[0], Undef)


def where_assigned(value: Abstract) -> Abstract:
    """The value of a variable where it is assigned."""
    assert isinstance(value, Gated)
    return _gated(value, value.options[1:], value.tags[1:])


def _gated(value: Gated, options: tuple[Abstract, ...], tags: tuple[Value, ...]) -> Abstract:
    return Gated(options, tags, value.reason) if tags else options[0]


# ---------------------------------------------------------------- selection


def select(b: Builder, value: Phi, position: int) -> Abstract:
    """The alternative at `position`."""
    return value.options[position] if isinstance(value, Gated) else number_of_kind(b, value, position)


def number_of_kind(b: Builder, number: GatedNumber, position: int) -> Array:
    """The number, where it is of the kind at `position`."""
    dtype, form, weak = number.kinds[position]
    exact = number.whole if number.whole is not None and is_integer(dtype) else number.value
    return Array(exact if exact.type.dtype == dtype else b.op(Convert(dtype), exact), form, weak)


def restrict(b: Builder, value: Phi, positions: Sequence[int]) -> Abstract:
    """The value restricted to the alternatives at these positions, which are in order."""
    if len(positions) == 1:
        return select(b, value, positions[0])
    tags = tuple([value.tags[i] for i in positions[:-1]])
    if isinstance(value, Gated):
        return _gated(value, tuple([value.options[i] for i in positions]), tags)
    kinds = tuple([value.kinds[i] for i in positions])
    return replace(value, form=form_of(kinds), kinds=kinds, tags=tags)


def narrow_number(b: Builder, intervals: Intervals, number: GatedNumber) -> Array:
    """The number without the kinds that are impossible here."""
    found = narrow(b, intervals, number)
    assert isinstance(found, Array)
    return found


def narrow(b: Builder, intervals: Intervals, value: Abstract) -> Abstract:
    """The value without the alternatives that are impossible here."""
    if not isinstance(value, Gated | GatedNumber):
        return value
    open_: list[int] = []
    for position, tag in enumerate(value.tags):
        holds = intervals.decides(tag)
        if holds:
            return narrow(b, intervals, select(b, value, position))
        if holds is None:
            open_.append(position)
    count = len(value.tags)
    return value if len(open_) == count else narrow(b, intervals, restrict(b, value, [*open_, count]))


def undecided(intervals: Intervals, value: Phi) -> Value | None:
    """A bool of the program that decides more about the alternative, and is not known here."""
    known = [intervals.decides(tag) for tag in value.tags]
    return None if True in known or None not in known else value.tags[known.index(None)]


def tag_of(b: Builder, value: Phi, position: int) -> Value:
    """The tag of the alternative at `position`."""
    if position < len(value.tags):
        return value.tags[position]
    return b.op(Not(), functools.reduce(lambda p, q: b.op(Or(), p, q), value.tags))
