"""Strings: methods of constants, and formatting of computed numbers.

In: a constant and the name of an attribute. Out: the attribute, or the method, which runs at compile time on constant
arguments. A string with computed parts is a `Text`, formatted after the run; an operation that needs its characters
demands the parts as constants.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator as _operator
import re
import types
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from ...diagnostics.codes_constant import NotKnown
from ...values.gated import Gated, GatedNumber
from ...values.host_functions import Verbatim, formatted, joined
from ...values.lattice import (
    Abstract,
    Array,
    Caught,
    Const,
    DictCell,
    DictView,
    Exc,
    ListCell,
    Meaning,
    ObjectCell,
    Ref,
    RowsCell,
    SetCell,
    TableCell,
    Text,
    Tuple,
)
from ..containers import row_tables
from ..containers.sequences import is_sequence, mapped_sequence
from ..context import Context, Raw
from ..kernels.structures import (
    MISSING,
    abstract,
    call_now,
    cell_of,
    known_object,
    lift,
    new_list,
    new_rows,
)
from ..registry import meaning
from ..rules.classes import class_name, is_generated
from ..rules.split import needs_split, of_one_kind
from ..rules.tables import is_dict


def attribute(ctx: Context, receiver: Const, name: str) -> Abstract | None:
    """`receiver.name`; None where it has no such attribute."""
    known = receiver.value
    if not hasattr(known, name):
        return None
    found = getattr(known, name)
    if name in getattr(type(known), "_fields", ()):  # a named tuple's own, whatever it is
        return lift(ctx, found)
    if callable(found) and not isinstance(found, type):
        return Meaning(f"{type(known).__name__}.{name}", _method(found))
    return lift(ctx, found)


def _method(bound: Callable[..., Any]) -> Callable[..., Abstract]:
    """A bound method of a known object as a meaning."""

    def method(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        if getattr(bound, "__name__", "") == "format" and isinstance(getattr(bound, "__self__", None), str):
            if any(_is_instance(ctx, x) or asks_objects(ctx, x) for x in (*args, *kwargs.values())):
                return _format(ctx, bound, args, kwargs)
            return text(ctx, _formatter(bound, tuple(kwargs)), *args, *kwargs.values())
        if getattr(bound, "__name__", "") == "join" and len(args) == 1 and not kwargs:
            parts = _elements(ctx, args[0])
            if parts is not None and all(map(is_string, parts)):
                return text(ctx, _joiner(bound), *parts)
            if parts is not None:
                return call_now(ctx, bound, [ctx.known(part, "what str.join joins") for part in parts])
        what = f"the arguments of {getattr(bound, '__qualname__', 'a method')}"
        known = [known_argument(ctx, a, what) for a in args]
        named = {k: known_argument(ctx, v, what) for k, v in kwargs.items()}
        return call_now(ctx, functools.partial(bound, *known, **named))

    return method


def _elements(ctx: Context, value: Raw) -> list[Abstract] | None:
    """The elements of a list, a tuple or an iterator of known length; None for anything else."""
    if not isinstance(value, Abstract) or isinstance(value, Const) or ctx.is_ndarray(value):
        return None
    return None if isinstance(cell_of(ctx, value), DictCell) else ctx.iterate(value)


def _joiner(bound: Callable[..., Any]) -> Callable[..., str]:
    """`bound`, a string's `join`, of the elements as arguments."""

    def make(*parts: str) -> str:
        made: str = bound(parts)
        return made

    return make


def _formatter(bound: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., str]:
    """`bound`, whose last arguments have these names."""

    def make(*args: Any) -> str:
        count = len(args) - len(names)
        made: str = bound(*args[:count], **dict(zip(names, args[count:], strict=True)))
        return made

    return make


def known_argument(ctx: Context, value: Raw, what: str) -> Any:
    """An argument as a Python object; lists and iterators as lists of known elements."""
    if isinstance(value, Abstract) and not isinstance(value, Const | Array):
        is_whole = ctx.is_ndarray(value) or isinstance(cell_of(ctx, value), DictCell)
        items = None if is_whole else ctx.iterate(abstract(value))
        if items is not None:
            known = [ctx.known(i, what) for i in items]
            return tuple(known) if hasattr(value, "items") else known
    return ctx.known(value, what)


# ---------------------------------------------------------------- strings of the run time


def text(ctx: Context, function: Callable[..., str], *args: Raw) -> Abstract:
    """`function(*args)`, a string: now if the arguments are known, else after the run."""
    taken = [snapshot(ctx, a) for a in args]
    known = [known_object(ctx, a) for a in taken]
    if not any(k is MISSING for k in known):
        return call_now(ctx, function, *known)
    return Text(function, tuple(taken))


def snapshot(ctx: Context, value: Raw) -> Abstract:
    """The present parts of a string: mutable contents are copied."""
    value = abstract(value)
    found = known_object(ctx, value)
    if found is not MISSING:
        return Const(found)
    made = known_exception(ctx, value)
    if made is not None:
        return Const(made)
    if isinstance(value, DictView):
        return text(ctx, _view, Const(value.kind), Ref(value.cell))
    if isinstance(value, Const | Text | Caught):
        return value
    if isinstance(value, Gated) and is_string(value):
        return value
    if isinstance(value, Exc):
        kwargs = tuple([(name, snapshot(ctx, a)) for name, a in value.kwargs])
        return Exc(value.cls, tuple([snapshot(ctx, a) for a in value.args]), kwargs)
    cls = _class_of(ctx, value)
    own = cls is not None and _method_of(cls, "__repr__") is not None
    if isinstance(value, Tuple) and not own:
        return Tuple(tuple([snapshot(ctx, i) for i in value.items]), value.cls)
    if isinstance(value, GatedNumber):
        return of_one_kind(ctx, value, "a number in a string")
    if isinstance(value, Array):
        return value
    cell = ctx.cell(value) if isinstance(value, Ref) else None
    if own:
        return text(ctx, Verbatim, format_(ctx, value, "r", Const("")))
    match cell:
        case RowsCell():
            return new_rows(ctx, cell.items)
        case ListCell():
            return new_list(ctx, [snapshot(ctx, i) for i in cell.items])
        case DictCell(entries=entries):
            return row_tables.new_table(
                ctx, dataclasses.replace(cell, entries={k: snapshot(ctx, v) for k, v in entries.items()})
            )
        case TableCell() if is_dict(cell):
            return row_tables.new_table(ctx, cell)
        case SetCell():
            return Const(ctx.known(value, "the order of a set in a string"))
        case ObjectCell() if is_sequence(ctx, value):
            return mapped_sequence(ctx, value, lambda item: snapshot(ctx, item))
    if ctx.is_ndarray(value):
        return ctx.read(value)
    return Const(ctx.known(value, "a part of a string"))


def known_exception(ctx: Context, value: Abstract) -> BaseException | None:
    """The exception that staged code has made of known arguments, unless its class has methods of its own for that."""
    made = value.exception if isinstance(value, Caught) else value
    if not isinstance(made, Exc) or made.kwargs or any(map(_in_python, _methods_of_instances(made.cls))):
        return None
    args = [known_object(ctx, a) for a in made.args]
    return None if any(a is MISSING for a in args) else made.cls(*args)


def _methods_of_instances(cls: type) -> list[object]:
    """The methods that construct an instance of an exception's class, and format it."""
    return [getattr(cls, name) for name in ("__new__", "__init__", "__str__", "__repr__", "__format__")]


def _in_python(method: object) -> bool:
    """True for a method that is written in Python."""
    return isinstance(method, types.FunctionType)


def _view(kind: str, entries: dict[Any, Any]) -> str:
    """The representation of a view of a dict."""
    return Verbatim(getattr(entries, kind)())


def format_(ctx: Context, value: Raw, conversion: str, spec: Raw) -> Abstract:
    """`f"{value!conversion:spec}"`."""
    cls = _class_of(ctx, value)
    if cls is not None and not conversion and _method_of(cls, "__format__") is not None:
        return ctx.call(ctx.getattr(abstract(value), "__format__"), [abstract(spec)])
    if isinstance(value, DictView) and not conversion and known_object(ctx, spec) != "":
        ctx.raise_(TypeError(f"unsupported format string passed to {class_name(ctx, value)}.__format__"))
    own = _own(ctx, value, "__repr__" if conversion in ("r", "a") else "__str__")
    if own is not None and cls is not None and not conversion and known_object(ctx, spec) != "":
        ctx.raise_(TypeError(f"unsupported format string passed to {cls.__name__}.__format__"))
    if own is not None and conversion == "a":
        value = text(ctx, Verbatim, own)
    elif own is not None:
        value, conversion = own, ""
    if conversion in ("", "s") and known_object(ctx, spec) == "" and is_open_string(abstract(value)):
        return abstract(value)
    return text(ctx, formatted, value, Const(conversion), spec)


# ---------------------------------------------------------------- instances of users' classes


class _Anything:
    """A stand-in for an argument of `str.format`: it has all attributes and elements and accepts all formats."""

    def __getattr__(self, name: str) -> _Anything:
        return self

    def __getitem__(self, key: object) -> _Anything:
        return self

    def __format__(self, spec: str) -> str:
        return ""


def _format(
    ctx: Context, bound: Callable[..., str], args: Sequence[Raw], kwargs: Mapping[str, Raw]
) -> Abstract:
    """`bound(*args, **kwargs)`, a string's `format`, with `format` applied to each field."""
    named = {name: _Anything() for name in kwargs}
    call_now(ctx, functools.partial(bound, *[_Anything() for _ in args], **named))
    numbers = itertools.count()

    def parts(template: str) -> Abstract:
        found: list[Abstract] = []
        for literal, field, spec, conversion in Formatter().parse(template):
            found.append(Const(literal))
            if field is not None:
                value = of_field(field)
                found.append(format_(ctx, value, conversion or "", parts(spec or "")))
        return join(ctx, found)

    def of_field(field: str) -> Abstract:
        first, *rest = re.findall(r"^[^.[]*|\.[^.[]+|\[[^]]+", field)
        name = first or str(next(numbers))
        value = abstract(args[int(name)] if name.isdecimal() else kwargs[name])
        for step in rest:
            key = step[1:]
            if step[0] == ".":
                value = ctx.getattr(value, key)
            else:
                index = Const(int(key) if key.isdecimal() else key)
                value = ctx.call(Const(_element), [value, index])
        return value

    return parts(bound.__self__)  # type: ignore[attr-defined]


def _element(container: Any, key: Any) -> Any:
    return container[key]


_CONVERSION = re.compile(r"%(\(.*?\))?([-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?)[hlL]?(.)", re.DOTALL)


def _percent(ctx: Context, template: str, right: Abstract) -> Abstract | None:
    """`template % right` with the strings that instances make of themselves; None where there is no instance."""
    args = right.items if isinstance(right, Tuple) else (right,)
    found = [m for m in _CONVERSION.finditer(template) if m[3] != "%"]
    by_key = any(m[1] for m in found)
    if not any(_is_instance(ctx, each) for each in args) and not (by_key and asks_objects(ctx, right)):
        return None
    if by_key or any("*" in m[2] for m in found) or not (found or isinstance(right, Tuple)):
        ctx.fail(NotKnown(span=ctx.span, what="which part of an object % formats"))
    call_now(ctx, _operator.mod, template, (0,) * len(args))
    taken = list(args)
    for place, m in reversed([*enumerate(found)]):
        if _is_instance(ctx, args[place]):
            if m[3] not in "sra":
                ctx.fail(NotKnown(span=ctx.span, what="the number as which % formats an object"))
            template = f"{template[: m.start(3)]}s{template[m.end(3) :]}"
    for place, m in enumerate(found):
        if _is_instance(ctx, args[place]):
            taken[place] = format_(ctx, args[place], m[3], Const(""))
    return text(ctx, _operator.mod, Const(template), Tuple(tuple(taken)))


def _is_instance(ctx: Context, value: Raw) -> bool:
    """True for an instance of a user's class."""
    return _class_of(ctx, value) not in (None, tuple)


def makes_own_string(ctx: Context, value: Raw) -> bool:
    """True for an instance whose class defines its string."""
    cls = _class_of(ctx, value)
    return cls is not None and any(_method_of(cls, name) is not None for name in ("__str__", "__repr__"))


def asks_objects(ctx: Context, value: Raw) -> bool:
    """True if the string of a value depends on classes of instances that it is or holds."""
    if makes_own_string(ctx, value):
        return True
    cell = ctx.state.get(value.cell) if isinstance(value, Ref) else None
    match cell:
        case ListCell(items=items):
            return any(asks_objects(ctx, i) for i in items)
        case DictCell(entries=entries):
            return any(asks_objects(ctx, v) for v in entries.values())
    return isinstance(value, Tuple) and any(asks_objects(ctx, i) for i in value.items)


def _class_of(ctx: Context, value: Raw) -> type | None:
    """The class of an instance of a user's class."""
    if isinstance(value, Tuple):
        return value.cls
    cell = ctx.state.get(value.cell) if isinstance(value, Ref) else None
    return cell.cls if isinstance(cell, ObjectCell) else None


def _method_of(cls: type, name: str) -> Any:
    """The method `name` of a user's class, None where it has that of a built-in class, or of `namedtuple`."""
    found = getattr(cls, name)
    return found if isinstance(found, types.FunctionType) and found.__module__ != "collections" else None


def _own(ctx: Context, value: Raw, name: str) -> Abstract | None:
    """The string of an instance by a method of its user class."""
    cls = _class_of(ctx, value)
    if cls is None:
        return None
    for each in dict.fromkeys((name, "__repr__")):
        method = _method_of(cls, each)
        if method is not None and dataclasses.is_dataclass(cls) and is_generated(method):
            return _fields(ctx, abstract(value), cls)
        if method is not None:
            return ctx.call(ctx.getattr(abstract(value), each), [])
    return None


def _fields(ctx: Context, value: Abstract, cls: Any) -> Abstract:
    """The string of an instance by `dataclasses`."""
    owner = next(c for c in cls.__mro__ if "__repr__" in vars(c))
    parts: list[Abstract] = [Const(f"{cls.__qualname__}(")]
    for position, field in enumerate([f for f in dataclasses.fields(owner) if f.repr]):
        parts.append(Const(f"{', ' if position else ''}{field.name}="))
        parts.append(format_(ctx, ctx.getattr(value, field.name), "r", Const("")))
    return join(ctx, [*parts, Const(")")])


def join(ctx: Context, parts: list[Abstract]) -> Abstract:
    """The parts of a string, one after the other."""
    return text(ctx, joined, *parts)


@meaning(str)
def str_(ctx: Context, x: Raw = "", /) -> Abstract:
    """`str(x)`."""
    return format_(ctx, x, "s", Const(""))


@meaning(repr)
def repr_(ctx: Context, x: Raw, /) -> Abstract:
    """`repr(x)`."""
    return format_(ctx, x, "r", Const(""))


@meaning(format)
def format_builtin(ctx: Context, value: Raw, spec: Raw = "", /) -> Abstract:
    """`format(value, spec)`."""
    return format_(ctx, value, "", spec)


def is_string(value: Abstract) -> bool:
    """True for a string, known or not."""
    if isinstance(value, Gated):
        return all(map(is_string, value.options))
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def is_open_string(value: Abstract) -> bool:
    """True for a string that is not known."""
    return isinstance(value, Text | Gated) and is_string(value)


def known(ctx: Context, value: Abstract) -> Abstract:
    """A string that must be known now, or is gated; other values unchanged."""
    if isinstance(value, Gated) and is_string(value):
        raise needs_split(value)
    return Const(ctx.known(value, "a string")) if is_open_string(value) else value


def binary(
    ctx: Context, operator: Callable[[Any, Any], Any], left: Abstract, right: Abstract
) -> Abstract | None:
    """`left + right` of strings, `left % right` of a string; None for anything else."""
    if not is_string(left) and not is_string(right):
        return None
    both = is_string(left) and is_string(right)
    if operator is _operator.mod and isinstance(left, Const) and isinstance(left.value, str):
        made = _percent(ctx, left.value, right)
        if made is not None:
            return made
    if (operator is _operator.add and both) or (operator is _operator.mod and is_string(left)):
        return text(ctx, operator, left, right)
    if not is_open_string(left) and not is_open_string(right):
        return None
    return call_now(ctx, operator, *[ctx.known(x, "a string") for x in (left, right)])
