"""Comparisons of gated strings (`s = "a" if x > 1 else "b"`), and of the text of a caught exception.

In: a string that is one of several constants, and a predicate. Out: a bool of the program. A string with computed numbers
cannot be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ... import limits
from ...hlo.ir import Value
from ...ops import And, Or
from ...values.gated import Gated, tag_of
from ...values.lattice import Abstract, Array, Caught, Const, Text
from ..context import Context
from .class_tests import is_among

_Options = list[tuple[Value | None, Any]]
"""Objects, each with the bool of the program that says that it is this one; None where it certainly is."""


def tested(ctx: Context, value: Abstract, test: Callable[[Any], bool]) -> Abstract | None:
    """`test` of a gated string; None if it may be any string."""
    options = _options(ctx, value) if isinstance(value, Text | Gated) else None
    if options is None:
        return None
    found: Value | None = None
    hits = [condition for condition, option in options if test(option)]
    if len(hits) in (0, len(options)):
        return Const(bool(hits))
    for condition in hits:
        assert condition is not None
        found = condition if found is None else ctx.op(Or(), found, condition)
    assert found is not None
    return ctx.python(found)


def _options(ctx: Context, value: Abstract) -> _Options | None:
    """The objects that `value` may be; None where they are not known, or are too many."""
    if isinstance(value, Const):
        return [(None, value.value)]
    if isinstance(value, Caught):
        return _caught(ctx, value)
    if isinstance(value, Gated):
        return _alternatives(ctx, value)
    if not isinstance(value, Text):
        return None
    parts = [_options(ctx, arg) for arg in value.args]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    found: _Options = []
    for choice in itertools.islice(itertools.product(*known), limits.TESTED_STRINGS + 1):
        condition: Value | None = None
        for each, _ in choice:
            condition = _both(ctx, condition, each)
        try:
            found.append((condition, value.function(*[option for _, option in choice])))
        except Exception:
            return None  # what it raises, it raises at run time
    return found if len(found) <= limits.TESTED_STRINGS else None


def _alternatives(ctx: Context, value: Gated) -> _Options | None:
    found: _Options = []
    for position, alternative in enumerate(value.options):
        options = _options(ctx, alternative)
        if options is None:
            return None
        here = tag_of(ctx.b, value, position)
        found += [(_both(ctx, here, condition), option) for condition, option in options]
    return found


def _caught(ctx: Context, caught: Caught) -> _Options | None:
    """The exceptions that have been made of known arguments, if all have."""
    code = caught.values[0]
    if len(caught.known) != len(caught.sites) or not isinstance(code, Array):
        return None
    numbers: dict[tuple[type[BaseException], tuple[Any, ...]], list[int]] = {}
    for number, cls, args in sorted(caught.known, key=lambda known: known[0]):
        numbers.setdefault((cls, args), []).append(number)
    if len(numbers) == 1:
        return [(None, cls(*args)) for cls, args in numbers]
    return [
        (is_among(ctx, code.value, sorted(places)), cls(*args)) for (cls, args), places in numbers.items()
    ]


def _both(ctx: Context, a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return b if a is None else a
    return ctx.op(And(), a, b)
