"""`isinstance` and `issubclass`: answered while compiling, except for caught exceptions and user metaclasses.

A class that is registered later in an abstract class may change an answer: a guard asks again (`Context.is_subclass`).
"""

from __future__ import annotations

import functools
import itertools
import operator
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...diagnostics.codes_calls import NotServed
from ...hlo.ir import Value
from ...hlo.types import INT32
from ...ops import And, Compare, Or
from ...policy import is_library
from ...values.lattice import FALSE, TRUE, Abstract, Array, Caught, Const
from ..context import Context, Raw
from ..kernels.structures import abstract, call_now
from ..registry import meaning
from ..rules.classes import class_of


def is_among(ctx: Context, code: Value, numbers: Sequence[int]) -> Value:
    """Whether the number of a raise site, an int32, is one of these, which ascend."""
    found: Value | None = None
    for low, high in _ranges(numbers):
        inside = ctx.op(Compare("GE"), code, ctx.constant(low, INT32))
        inside = ctx.op(And(), inside, ctx.op(Compare("LE"), code, ctx.constant(high, INT32)))
        found = inside if found is None else ctx.op(Or(), found, inside)
    assert found is not None
    return found


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges, ends included."""
    found: list[tuple[int, int]] = []
    for each in numbers:
        if found and found[-1][1] == each - 1:
            found[-1] = found[-1][0], each
        else:
            found.append((each, each))
    return found


@meaning(isinstance)
def isinstance_(ctx: Context, x: Raw, classes: Raw, /) -> Abstract:
    """`isinstance(x, classes)`."""
    wanted = ctx.known(classes, "the classes of isinstance()")
    if isinstance(x, Caught):
        return _is_caught(ctx, x, wanted)
    (cls,) = class_of(ctx, x)
    classes = [cls]
    if any("__class__" in vars(base) for base in cls.__mro__[:-1]):
        classes.append(
            ctx.known(ctx.getattr(abstract(x), "__class__"), "the class that an object names as its own")
        )
    return _any(
        ctx,
        [functools.partial(_is_instance, ctx, x, cls, each) for each in _classes(wanted) for cls in classes],
    )


@meaning(issubclass)
def issubclass_(ctx: Context, cls: Raw, classes: Raw, /) -> Abstract:
    """`issubclass(cls, classes)`."""
    known, wanted = ctx.known(cls, "a class"), ctx.known(classes, "the classes of issubclass()")
    return _any(ctx, [functools.partial(_is_subclass, ctx, known, each) for each in _classes(wanted)])


def _classes(wanted: Any) -> Iterator[Any]:
    """The classes of a tuple or a union, in the order in which they are asked."""
    if isinstance(wanted, types.UnionType) and types.GenericAlias in map(type, wanted.__args__):
        yield wanted  # which CPython refuses
    elif isinstance(wanted, tuple):
        yield from itertools.chain.from_iterable(map(_classes, wanted))
    elif typing.get_origin(wanted) in (types.UnionType, typing.Union):
        yield from itertools.chain.from_iterable(map(_classes, typing.get_args(wanted)))
    else:
        yield wanted


def _any(ctx: Context, tests: Sequence[Callable[[], Abstract]]) -> Abstract:
    """Whether one of some tests holds; none is evaluated after that one."""
    if not tests:
        return FALSE
    found = tests[0]()
    if isinstance(found, Const):
        return found if found.value else _any(ctx, tests[1:])
    return ctx.branch(found, lambda: TRUE, lambda: _any(ctx, tests[1:]))


def _is_instance(ctx: Context, x: Raw, cls: type, wanted: Any) -> Abstract:
    """`isinstance(x, wanted)` of one class."""
    if cls is wanted:
        return TRUE
    if cls is types.FunctionType and wanted in _MADE_AS_FUNCTIONS:
        ctx.fail(
            NotServed(
                span=ctx.span,
                name=f"isinstance(…, operator.{wanted.__name__})",
                why="what that makes is a function in a program",
                instead="ask before the call, or ask `callable(…)`",
            )
        )
    asked = _of_user(ctx, wanted, "__instancecheck__")
    if asked is not None:
        return ctx.truth(ctx.call(asked, [Const(wanted), abstract(x)]))
    found = _known(ctx, cls, wanted)
    if found:
        return TRUE
    if found is None:
        call_now(ctx, isinstance, None, wanted)  # raises, but for protocols with attributes
    if not getattr(wanted, "_is_protocol", False):
        return FALSE
    members = sorted(typing._get_protocol_attrs(wanted))  # type: ignore[attr-defined]
    methods = [name for name in members if callable(getattr(wanted, name, None))]
    return ctx.call(Const(_has_members), [abstract(x), Const(tuple(members)), Const(tuple(methods))])


_MADE_AS_FUNCTIONS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)
"""Classes whose instances are functions in a program (`prelude/operator.py`)."""


def _has_members(x: Any, members: tuple[str, ...], methods: tuple[str, ...]) -> bool:
    """Whether an object has the members of a protocol; a method that is None does not count."""
    return all(hasattr(x, name) and not (name in methods and getattr(x, name) is None) for name in members)


def _is_subclass(ctx: Context, cls: Any, wanted: Any) -> Abstract:
    """`issubclass(cls, wanted)` of one class."""
    asked = _of_user(ctx, wanted, "__subclasscheck__")
    if asked is not None:
        return ctx.truth(ctx.call(asked, [Const(wanted), Const(cls)]))
    found = _known(ctx, cls, wanted)
    return call_now(ctx, issubclass, cls, wanted) if found is None else Const(found)


def _known(ctx: Context, cls: Any, wanted: Any) -> bool | None:
    """`issubclass(cls, wanted)`; None if that raises TypeError."""
    try:
        return ctx.is_subclass(cls, wanted)
    except TypeError:
        return None


def _of_user(ctx: Context, cls: Any, name: str) -> Abstract | None:
    """The method of a metaclass that the user has written."""
    kind = type(cls)
    owner = next((base for base in kind.__mro__ if name in vars(base)), type)
    return None if is_library(owner) else ctx.getattr(Const(kind), name)


def _is_caught(ctx: Context, caught: Caught, wanted: Any) -> Abstract:
    """`isinstance(caught, wanted)`."""
    numbers = sorted(n for n, _, cls in caught.sites if ctx.is_subclass(cls, wanted))
    if len(numbers) in (0, len(caught.sites)):
        return Const(bool(numbers))
    code = caught.values[0]
    assert isinstance(code, Array)
    return ctx.python(is_among(ctx, code.value, numbers))
