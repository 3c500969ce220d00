"""Functions of `operator`, `functools`, `itertools`, `copy` and `dataclasses`.

In: abstract arguments. Out: the function's result; iterators over containers are enumerated at once.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from ...diagnostics.codes_calls import WrongArguments
from ...hash_order import made_by
from ...values.bounded import Bounded
from ...values.lattice import (
    FALSE,
    TRUE,
    Abstract,
    Array,
    ArrayCell,
    Const,
    Count,
    DictCell,
    DictView,
    IteratorCell,
    ListCell,
    ObjectCell,
    Partial,
    Records,
    Ref,
    RowsCell,
    SetCell,
    TableCell,
    Tuple,
    is_number,
)
from ..containers import row_tables
from ..containers.sequences import is_sequence, mapped_sequence
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    MISSING,
    abstract,
    call_now,
    cell_of,
    known_object,
    new_dict,
    new_iterator,
    new_list,
    new_rows,
    new_set,
)
from ..numpy.subscripts import structured
from ..prelude import functools as programs_of_functions
from ..prelude import itertools as programs
from ..registry import meaning, method_meaning
from ..rules.classes import class_name, class_of
from . import generators, operators
from .builtins import abs_, listed
from .iterators import is_iterator
from .numbers.scalars import to_python
from .structure_operators import negation

# ---------------------------------------------------------------- operator

_BINARY: dict[str, tuple[str, ...]] = {
    "+": ("add",),
    "-": ("sub",),
    "*": ("mul",),
    "/": ("truediv",),
    "//": ("floordiv",),
    "%": ("mod",),
    "**": ("pow",),
    "@": ("matmul",),
    "<<": ("lshift",),
    ">>": ("rshift",),
    "&": ("and_",),
    "|": ("or_",),
    "^": ("xor",),
}
_INPLACE: dict[str, str] = {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "itruediv",
    "//": "ifloordiv",
    "%": "imod",
    "**": "ipow",
    "@": "imatmul",
    "<<": "ilshift",
    ">>": "irshift",
    "&": "iand",
    "|": "ior",
    "^": "ixor",
}
_COMPARISONS: dict[str, str] = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def _operator(door: Callable[..., Abstract], symbol: str) -> Callable[..., Abstract]:
    def call(ctx: Context, a: Raw, b: Raw, /) -> Abstract:
        return door(ctx, symbol, a, b)

    return call


def _in_place(ctx: Context, symbol: str, a: Raw, b: Raw) -> Abstract:
    return ctx.inplace(symbol, a, b)


for _symbol, _names in _BINARY.items():
    for _name in _names:
        meaning(getattr(operator, _name))(_operator(operators.binary, _symbol))
for _symbol, _name in _INPLACE.items():
    meaning(getattr(operator, _name))(_operator(_in_place, _symbol))
for _symbol, _name in _COMPARISONS.items():
    meaning(getattr(operator, _name))(_operator(operators.compare, _symbol))


def _unary(symbol: str) -> Callable[..., Abstract]:
    def call(ctx: Context, a: Raw, /) -> Abstract:
        return ctx.unary(symbol, a)

    return call


meaning(operator.neg)(_unary("-"))
meaning(operator.pos)(_unary("+"))
meaning(operator.invert)(_unary("~"))
meaning(operator.abs)(abs_)


@meaning(operator.concat)
def concat(ctx: Context, a: Raw, b: Raw, /) -> Abstract:
    """`operator.concat(a, b)`: the sum of two sequences."""
    (cls, *_) = class_of(ctx, abstract(a))
    if not hasattr(cls, "__getitem__") or issubclass(cls, dict | np.generic):
        ctx.raise_(TypeError(f"{class_name(ctx, a)!r} object can't be concatenated"))
    if issubclass(cls, np.ndarray):
        call_now(ctx, operator.concat, np.zeros(1), 0)  # raises
    if cls in (list, tuple) and not issubclass(class_of(ctx, abstract(b))[0], cls):
        text = f'can only concatenate {cls.__name__} (not "{class_name(ctx, b)}") to {cls.__name__}'
        ctx.raise_(TypeError(text))
    return operators.binary(ctx, "+", a, b)


@meaning(operator.truth)
def truth(ctx: Context, x: Raw, /) -> Abstract:
    """`operator.truth(x)`."""
    return ctx.truth(abstract(x))


@meaning(operator.not_)
def not_(ctx: Context, x: Raw, /) -> Abstract:
    """`operator.not_(x)`."""
    value = ctx.truth(abstract(x))
    return operators.compare(ctx, "==", value, FALSE)


@meaning(operator.contains)
def contains(ctx: Context, container: Raw, item: Raw, /) -> Abstract:
    """`operator.contains(container, item)`."""
    return operators.contains(ctx, item, container)


@meaning(operator.is_)
def is_(ctx: Context, a: Raw, b: Raw, /) -> Abstract:
    """`operator.is_(a, b)`."""
    return operators.is_(ctx, a, b)


@meaning(operator.is_not)
def is_not(ctx: Context, a: Raw, b: Raw, /) -> Abstract:
    """`operator.is_not(a, b)`."""
    return negation(ctx, operators.is_(ctx, a, b))


@meaning(operator.index)
def index(ctx: Context, x: Raw, /) -> Abstract:
    """`operator.index(x)`."""
    known = known_object(ctx, x)
    if known is not MISSING:
        return call_now(ctx, operator.index, known)
    operand = ctx.read(x)
    if isinstance(operand, Array) and operand.dtype.kind not in "biu":
        ctx.raise_(TypeError(f"{class_name(ctx, operand)!r} object cannot be interpreted as an integer"))
    return to_python(ctx, x, int)


# ---------------------------------------------------------------- functools


@meaning(functools.partial)
def partial(ctx: Context, function: Raw, /, *args: Raw, **kwargs: Raw) -> Abstract:
    """`functools.partial(function, …)`."""
    named = tuple((name, abstract(v)) for name, v in kwargs.items())
    return Partial(abstract(function), tuple(map(abstract, args)), named)


@meaning(functools.reduce)
def reduce(ctx: Context, function: Raw, iterable: Raw, initial: Raw = MISSING, /) -> Abstract:
    """`functools.reduce(function, iterable, initial)` over known structure."""
    if generators.is_of_steps(ctx, iterable):
        given = [x for x in (function, iterable, initial) if x is not MISSING]
        return run_program(ctx, programs_of_functions.reduced, given)
    items = listed(ctx, iterable, "functools.reduce")
    if initial is not MISSING:
        items = [abstract(initial), *items]
    if not items:
        ctx.raise_(TypeError("reduce() of empty iterable with no initial value"))
    result = items[0]
    for item in items[1:]:
        result = ctx.call(abstract(function), [result, item])
    return result


# ---------------------------------------------------------------- itertools


def _iterator(ctx: Context, rows: Iterable[Any]) -> Abstract:
    """An iterator whose elements are values, or tuples of them."""
    return new_iterator(ctx, [Tuple(tuple(r)) if isinstance(r, tuple) else r for r in rows])


@meaning(itertools.product)
def product(ctx: Context, *iterables: Raw, repeat: Raw = 1) -> Abstract:
    """`itertools.product`."""
    columns = [listed(ctx, i, "itertools.product") for i in iterables]
    times = ctx.known(repeat, "repeat of itertools.product")
    call_now(ctx, functools.partial(itertools.product, repeat=times))
    return _iterator(ctx, itertools.product(*columns, repeat=times))


def _gives_in_turn(ctx: Context, iterable: Raw) -> bool:
    """True for what must not be listed at once: an iterator, from which others may take elements too, and a generator."""
    return is_iterator(ctx, iterable) or generators.is_of_steps(ctx, iterable)


@meaning(itertools.chain)
def chain(ctx: Context, *iterables: Raw) -> Abstract:
    """`itertools.chain`."""
    if any(_gives_in_turn(ctx, i) for i in iterables):
        return run_program(ctx, programs.chained, [Tuple(tuple(map(abstract, iterables)))])
    return _iterator(ctx, [item for i in iterables for item in listed(ctx, i, "itertools.chain")])


@method_meaning(itertools.chain, "from_iterable")
def from_iterable(ctx: Context, cls: Raw, iterable: Raw, /) -> Abstract:
    """`itertools.chain.from_iterable`."""
    if _gives_in_turn(ctx, iterable):
        return run_program(ctx, programs.chained, [iterable])
    return chain(ctx, *listed(ctx, iterable, "itertools.chain.from_iterable"))


@meaning(itertools.islice)
def islice(ctx: Context, iterable: Raw, first: Raw, stop: Raw = MISSING, step: Raw = None, /) -> Abstract:
    """`itertools.islice`."""
    limits = (None, first, None) if stop is MISSING else (first, stop, step)
    known = [ctx.known(v, "the limits of itertools.islice") for v in limits]
    call_now(ctx, itertools.islice, (), *known)
    if _gives_in_turn(ctx, iterable):
        return run_program(ctx, programs.sliced, [iterable, *known])
    return _iterator(ctx, listed(ctx, iterable, "itertools.islice")[slice(*known)])


def _arrangements(function: Callable[..., Iterable[Any]]) -> Callable[..., Abstract]:
    def call(ctx: Context, iterable: Raw, r: Raw = MISSING) -> Abstract:
        items = listed(ctx, iterable, f"itertools.{function.__name__}")
        length = [] if r is MISSING else [ctx.known(r, f"the length of itertools.{function.__name__}")]
        call_now(ctx, function, (), *length)
        return _iterator(ctx, function(items, *length))

    return call


meaning(itertools.permutations)(_arrangements(itertools.permutations))
meaning(itertools.combinations)(_arrangements(itertools.combinations))
meaning(itertools.combinations_with_replacement)(_arrangements(itertools.combinations_with_replacement))


@meaning(itertools.pairwise)
def pairwise(ctx: Context, iterable: Raw, /) -> Abstract:
    """`itertools.pairwise`."""
    if _gives_in_turn(ctx, iterable):
        return run_program(ctx, programs.paired, [iterable])
    return _iterator(ctx, itertools.pairwise(listed(ctx, iterable, "itertools.pairwise")))


@meaning(itertools.accumulate)
def accumulate(ctx: Context, iterable: Raw, func: Raw = None, *, initial: Raw = None) -> Abstract:
    """`itertools.accumulate`."""
    given = isinstance(initial, Abstract) and not (isinstance(initial, Const) and initial.value is None)
    plain = func is None or (isinstance(func, Const) and func.value is None)
    if _gives_in_turn(ctx, iterable):
        taken = [iterable, Const(operator.add) if plain else func, *([initial] if given else [])]
        return run_program(ctx, programs.accumulated, taken)
    items = listed(ctx, iterable, "itertools.accumulate")
    if given:
        items = [initial, *items]
    results = items[:1]
    for item in items[1:]:
        last = results[-1]
        results.append(
            operators.binary(ctx, "+", last, item) if plain else ctx.call(abstract(func), [last, item])
        )
    return new_iterator(ctx, results)


@meaning(itertools.groupby)
def groupby(ctx: Context, iterable: Raw, key: Raw = None) -> Abstract:
    """`itertools.groupby`, of no iterator: it would consume more elements than Python's does."""
    if is_iterator(ctx, iterable):
        why = "it would take elements of it that others may take"
        ctx.fail(WrongArguments(span=ctx.span, name="itertools.groupby of an iterator", why=why))
    return run_program(ctx, programs.grouped, [iterable, key])


@meaning(itertools.starmap)
def starmap(ctx: Context, function: Raw, iterable: Raw, /) -> Abstract:
    """`itertools.starmap`."""
    if is_iterator(ctx, iterable):
        return run_program(ctx, programs.spread, [function, iterable])
    rows = [listed(ctx, row, "itertools.starmap") for row in listed(ctx, iterable, "itertools.starmap")]
    return new_iterator(ctx, [ctx.call(abstract(function), row) for row in rows])


@meaning(itertools.zip_longest)
def zip_longest(ctx: Context, *iterables: Raw, fillvalue: Raw = None) -> Abstract:
    """`itertools.zip_longest`, of no iterator, which is advanced in turn with the others."""
    if any(is_iterator(ctx, i) for i in iterables):
        why = "it would take elements of it that others may take"
        ctx.fail(WrongArguments(span=ctx.span, name="itertools.zip_longest of an iterator", why=why))
    columns = [listed(ctx, i, "itertools.zip_longest") for i in iterables]
    return _iterator(ctx, itertools.zip_longest(*columns, fillvalue=abstract(fillvalue)))


@meaning(itertools.repeat)
def repeat(ctx: Context, object: Raw, times: Raw = MISSING) -> Abstract:
    """`itertools.repeat(object, times)`; without `times` it is refused."""
    if times is MISSING:
        ctx.fail(WrongArguments(span=ctx.span, name="itertools.repeat", why="it never ends without `times`"))
    known = ctx.known(times, "times of itertools.repeat")
    try:
        count = operator.length_hint(itertools.repeat(None, known))
    except TypeError as error:
        ctx.raise_(error)
    return new_iterator(ctx, [abstract(object)] * count)


@meaning(itertools.count)
def count(ctx: Context, start: Raw = 0, step: Raw = 1) -> Abstract:
    """`itertools.count`, of numbers."""
    first, each = abstract(start), abstract(step)
    if not is_number(first) or not is_number(each):
        ctx.raise_(TypeError("a number is required"))
    if class_of(ctx, first) == [bool] and ctx.known(each, "the step of itertools.count") == 1:
        first = ctx.call(Const(int), [first])  # CPython counts by ones in integers of C
    return Ref(ctx.state.new_cell(IteratorCell(Count(first, each))))


@meaning(itertools.cycle)
def cycle(ctx: Context, iterable: Raw, /) -> Abstract:
    """`itertools.cycle`: refused."""
    ctx.fail(WrongArguments(span=ctx.span, name="itertools.cycle", why="it never ends"))


# ---------------------------------------------------------------- copy


@meaning(copy.copy)
def copy_(ctx: Context, x: Raw) -> Abstract:
    """`copy.copy(x)`: a new container of the same elements; of an array, a new array."""
    cell = cell_of(ctx, x)
    if isinstance(cell, SetCell):
        return row_tables.new_table(ctx, cell)
    return _copied(ctx, abstract(x), lambda part: part)


@meaning(copy.deepcopy)
def deepcopy(ctx: Context, x: Raw, memo: Raw = None) -> Abstract:
    """`copy.deepcopy(x)`: one new object for each one inside, however often it occurs."""
    if memo is not None and known_object(ctx, memo) is not None:
        ctx.fail(WrongArguments(span=ctx.span, name="copy.deepcopy", why="with a memo, which it would fill"))
    done: dict[Hashable, Abstract] = {}

    def whole(part: Abstract) -> Abstract:
        if isinstance(part, Tuple):
            return Tuple(tuple([whole(i) for i in part.items]), part.cls)
        if not isinstance(part, Ref | Bounded | Records):
            return part
        if isinstance(part, Records) or (isinstance(part, Ref) and part.path):
            return _copied(ctx, part, whole)
        key = part.cell if isinstance(part, Ref) else part.outline
        if key not in done:
            done[key] = _copied(ctx, part, whole)
        return done[key]

    return whole(abstract(x))


def _copied(ctx: Context, x: Abstract, part: Callable[[Abstract], Abstract]) -> Abstract:
    """A new object of the same contents, each passed through `part`."""
    if isinstance(x, Bounded):
        return ctx.call(ctx.getattr(x, "copy"), [])
    if isinstance(x, Records):
        return structured.copied(ctx, x, "K")
    if isinstance(x, DictView):
        ctx.raise_(TypeError(f"cannot pickle {class_name(ctx, x)!r} object"))
    match cell_of(ctx, x):
        case ArrayCell():
            assert isinstance(x, Ref)
            return ctx.ndarray(ctx.contents(x))
        case RowsCell(items):
            return new_rows(ctx, items)
        case ListCell(items=items):
            return new_list(ctx, [part(i) for i in items])
        case DictCell(entries=entries) as cell:
            return row_tables.new_table(
                ctx, dataclasses.replace(cell, entries={k: part(v) for k, v in entries.items()})
            )
        case SetCell() as cell:
            return new_set(ctx, cell.items, made_by(set, cell.in_order()))
        case TableCell() as cell:
            return row_tables.new_table(ctx, cell)
        case IteratorCell(source=source) as cell:
            if not isinstance(source, Count | Ref | Tuple | None):
                ctx.fail(WrongArguments(span=ctx.span, name="copy", why=f"of {class_name(ctx, x)}"))
            made = None if source is None else part(source)
            return Ref(ctx.state.new_cell(dataclasses.replace(cell, source=made)))
        case ObjectCell() if is_sequence(ctx, x):
            return mapped_sequence(ctx, x, part)
        case ObjectCell() as cell:
            if hasattr(cell.cls, "__copy__") or hasattr(cell.cls, "__deepcopy__") or cell.origin is not None:
                name = cell.cls.__qualname__
                ctx.fail(WrongArguments(span=ctx.span, name="copy", why=f"of an instance of {name}"))
            fields = {k: part(v) for k, v in cell.fields.items()}
            return Ref(ctx.state.new_cell(ObjectCell(cell.cls, fields)))
        case _:
            return x


# ---------------------------------------------------------------- dataclasses


def _dataclass(ctx: Context, x: Raw, name: str) -> tuple[type, list[dataclasses.Field[Any]]]:
    cell = cell_of(ctx, x)
    cls = cell.cls if isinstance(cell, ObjectCell) else None
    if cls is None or not dataclasses.is_dataclass(cls):
        ctx.raise_(TypeError(f"{name}() should be called on dataclass instances"))
    return cls, list(dataclasses.fields(cls))


@meaning(dataclasses.replace)
def replace(ctx: Context, obj: Raw, /, **changes: Raw) -> Abstract:
    """`dataclasses.replace(obj, **changes)`: constructs a new instance."""
    cls, fields = _dataclass(ctx, obj, "replace")
    values = {
        f.name: abstract(changes[f.name]) if f.name in changes else ctx.getattr(abstract(obj), f.name)
        for f in fields
        if f.init
    }
    unknown = {k: abstract(v) for k, v in changes.items() if k not in values}
    return ctx.call(Const(cls), [], {**values, **unknown})


@meaning(dataclasses.fields)
def fields_(ctx: Context, class_or_instance: Raw) -> Abstract:
    """`dataclasses.fields(x)`: known."""
    if isinstance(class_or_instance, Const):
        return call_now(ctx, dataclasses.fields, class_or_instance.value)
    return Const(tuple(_dataclass(ctx, class_or_instance, "fields")[1]))


@meaning(dataclasses.is_dataclass)
def is_dataclass(ctx: Context, obj: Raw, /) -> Abstract:
    """`dataclasses.is_dataclass(x)`."""
    if isinstance(obj, Const):
        return Const(dataclasses.is_dataclass(obj.value))
    cell = cell_of(ctx, obj)
    return TRUE if isinstance(cell, ObjectCell) and dataclasses.is_dataclass(cell.cls) else FALSE


def _decomposed(ctx: Context, x: Abstract, build: Callable[[dict[str, Abstract]], Abstract]) -> Abstract:
    """`asdict` and `astuple`: dataclasses become what `build` makes of their fields, arrays are copied."""

    def go(part: Abstract) -> Abstract:
        cell = cell_of(ctx, part)
        if isinstance(cell, ObjectCell) and dataclasses.is_dataclass(cell.cls):
            names = [f.name for f in dataclasses.fields(cell.cls)]
            return build({n: go(ctx.getattr(part, n)) for n in names})
        if isinstance(part, Tuple):
            return Tuple(tuple([go(i) for i in part.items]), part.cls)
        return _copied(ctx, part, go)

    return go(x)


@meaning(dataclasses.asdict)
def asdict(ctx: Context, obj: Raw, /) -> Abstract:
    """`dataclasses.asdict(obj)`."""
    _dataclass(ctx, obj, "asdict")
    return _decomposed(ctx, abstract(obj), lambda entries: new_dict(ctx, entries))


@meaning(dataclasses.astuple)
def astuple(ctx: Context, obj: Raw, /) -> Abstract:
    """`dataclasses.astuple(obj)`."""
    _dataclass(ctx, obj, "astuple")
    return _decomposed(ctx, abstract(obj), lambda entries: Tuple(tuple(entries.values())))
