"""Python's builtin functions of numbers and objects: `abs`, `min`, `sum`, `isinstance`, `len`, …

In: abstract arguments. Out: the builtin's result, in the kind of object that the plain run returns. Functions of
iterables are in `iterables.py`, conversions in `scalars.py`.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from ... import limits
from ...analysis.ranges import EITHER, maximum, minimum, open_ends
from ...analysis.ranges import absolute as range_of_absolute
from ...diagnostics.codes_calls import WrongArguments
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.errors import StagingError
from ...hlo.types import BOOL, FLOAT64, INT64, is_complex
from ...ops import Abs, Imag, Not, Real
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber, may_be_unassigned
from ...values.lattice import (
    FALSE,
    LISTS,
    TRUE,
    Abstract,
    Array,
    Caught,
    ClassOf,
    Closure,
    Const,
    DictCell,
    DictView,
    FlatIterator,
    IteratorCell,
    Meaning,
    Method,
    ObjectCell,
    Partial,
    Range,
    Records,
    Ref,
    RowsTuple,
    SetCell,
    TableCell,
    Tuple,
    Undef,
    is_number,
)
from ...values.packing import count_pieces
from ...values.vector import Vector
from ..containers import sorting, vectors
from ..context import Context, Raw
from ..kernels.arithmetic import absolute
from ..kernels.array_rows import has_arrays
from ..kernels.number_checks import check_divisor, check_least, check_overflow, refuse
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    MISSING,
    abstract,
    call_now,
    cell_of,
    elements_for,
    is_sequence,
    known_object,
    list_length,
    table_length,
    type_name,
)
from ..numpy.indexing.bounded import length
from ..numpy.subscripts import structured
from ..numpy.ufuncs import ufuncs as u
from ..numpy.ufuncs.elementwise import apply_jax, apply_numpy
from ..prelude import builtins as consumers
from ..registry import meaning
from ..rules.classes import c_name, class_name, class_of
from ..rules.promote import kinds_of
from ..rules.split import split_value
from . import generators, set_methods, strings
from .numbers.scalars import special
from .operators import binary, compare
from .ordering import choose
from .ranges import range_length
from .structure_operators import negation


def listed(ctx: Context, iterable: Raw, what: str) -> list[Abstract]:
    """The elements of an iterable; PS202 where they cannot be listed. The bounds of a range are demanded."""
    if isinstance(iterable, Range):
        bounds = iterable.start, iterable.stop, iterable.step
        iterable = range(*[ctx.known(each, f"what {what} goes over") for each in bounds])
    return elements_for(ctx, iterable, f"{what} over a number of elements not known")


def _many_numbers(ctx: Context, items: Sequence[Abstract], checked: bool = False) -> Vector[Abstract] | None:
    """Known elements as rows where they are many Python numbers of one class, which a loop goes over in less code.

    That is, if most lie in arrays already, or the code for each is long: of ints, if the operation on them is `checked`.
    """
    numbers = [item for item in items if isinstance(item, Array | Const) and is_number(item)]
    if len(items) < limits.WRITTEN_OUT_TRIPS or len(numbers) < len(items):
        return None
    kinds = {(kind.dtype, kind.form) for number in numbers for kind in kinds_of(number)}
    values = [number.value for number in numbers if isinstance(number, Array)]
    if not values or len(kinds) > 1 or {form for _, form in kinds} != {Form.PYTHON}:
        return None
    pieces = count_pieces(values) + len(items) - len(values)
    is_long = checked and kinds == {(INT64, Form.PYTHON)}
    return vectors.holding(ctx, tuple(items)) if is_long or 2 * pieces <= len(items) else None


# ---------------------------------------------------------------- numbers


@meaning(builtins.abs)
def abs_(ctx: Context, x: Raw, /) -> Abstract:
    """`abs(x)`."""
    method = special(ctx, x, "__abs__")
    if method is not None:
        return ctx.call(method, [])
    known = known_object(ctx, x)
    if known is not MISSING:
        return call_now(ctx, abs, known)
    if is_sequence(ctx, x):
        ctx.raise_(TypeError(f"bad operand type for abs(): {class_name(ctx, x)!r}"))
    if isinstance(x, Bounded):
        return ctx.call(Const(np.abs if x.form is Form.NDARRAY else jnp.abs), [x])
    operand = ctx.read(x)
    assert isinstance(operand, Array)
    if operand.form is Form.JAX:
        return apply_jax(ctx, u.ABSOLUTE, [operand])
    if operand.form is not Form.PYTHON:
        return apply_numpy(ctx, u.ABSOLUTE, [operand])
    if is_complex(operand.dtype):
        size = absolute(ctx, Form.PYTHON, operand.value)
        parts = [ctx.op(part, operand.value) for part in (Real(), Imag())]
        check_overflow(ctx, abs, [operand], parts, size)
        return ctx.python(size)
    if operand.dtype == BOOL:
        return ctx.python(ctx.convert(operand.value, INT64), EITHER)
    known = ctx.range_of(operand)
    if known[0] >= 0:
        return operand
    if operand.dtype != INT64:
        return ctx.python(ctx.op(Abs(), operand.value))
    check_least(ctx, operand, "abs({})")
    return ctx.python(ctx.op(Abs(), operand.value), open_ends(range_of_absolute(known), INT64))


def _extreme(name: str, op: str) -> Callable[..., Abstract]:
    """`min` or `max`: the first of the extremes, by pairwise comparisons in Python's order."""
    real = getattr(builtins, name)
    required: Any = object()

    def extreme(
        ctx: Context, first: Raw, /, *rest: Raw, key: Raw = None, default: Raw = required
    ) -> Abstract:
        single = not rest
        whole = None if not single else _array_extreme(ctx, first, name, key)
        if whole is not None:
            return whole
        plain = key is None or (isinstance(key, Const) and key.value is None)
        if single and plain:
            first = set_methods.in_any_order(ctx, first)
        rows = set_methods.gathered(ctx, first) if single else None
        if rows is not None:
            initial = None if default is required else abstract(default)
            unordered = set_methods.is_set(cell_of(ctx, first)) and not plain
            found = functools.partial(_rows_extreme, ctx, rows, real, op, abstract(key), initial, unordered)
            return set_methods.without_effects(ctx, found) if unordered else found()
        items = listed(ctx, first, f"{name}()") if single else [abstract(first), *map(abstract, rest)]
        if not items:
            if default is not required:
                return abstract(default)
            return call_now(ctx, real, ())
        known = [known_object(ctx, i) for i in items]
        if plain and not any(k is MISSING for k in known):
            return call_now(ctx, real, known)
        rows = _many_numbers(ctx, items) if plain else None
        if rows is not None:
            return _rows_extreme(ctx, rows, real, op, abstract(key), None, unordered=False)
        function = abstract(key)
        keys = items if plain else [ctx.call(function, [i]) for i in items]
        best, best_key = items[0], keys[0]
        for item, item_key in zip(items[1:], keys[1:], strict=True):
            better = ctx.truth(compare(ctx, op, item_key, best_key))
            best_before, key_before = best, best_key
            best = _choose_number(ctx, better, item, best_before, name)
            best_key = best if plain else choose(ctx, better, item_key, key_before)
        return best

    extreme.__name__ = name
    extreme.__doc__ = f"`{name}(…)`."
    return extreme


def _rows_extreme(
    ctx: Context,
    rows: Vector[Abstract],
    real: Callable[..., Any],
    op: str,
    key: Abstract,
    default: Abstract | None,
    unordered: bool,
) -> Abstract:
    """`min` or `max` of a list of rows; `default`: for an empty one. `unordered`: of a set, whose keys must all differ."""
    plain = isinstance(key, Const) and key.value is None
    empty = vectors.compared(ctx, "EQ", rows.length, 0)
    if default is None:
        vectors.check(ctx, empty, ValueError(), real, [Const(())])

    def keyed(each: Abstract) -> Abstract:
        return Tuple((each, each if plain else ctx.call(key, [each]), FALSE))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        best, candidate = cast(Tuple, found), cast(Tuple, keyed(each))
        better = _compared(ctx, op, candidate.items[1], best.items[1])
        return ctx.branch(
            better, lambda: candidate, lambda: with_ties(best, candidate) if unordered else best
        )

    def with_ties(best: Tuple, candidate: Tuple) -> Abstract:
        item, item_key, ties = best.items
        same = _compared(ctx, "==", candidate.items[1], item_key)
        return Tuple((item, item_key, ctx.branch(same, lambda: TRUE, lambda: ties)))

    def best() -> Abstract:
        first = keyed(vectors.get(ctx, rows, 0))
        item, _, ties = cast(Tuple, vectors.fold(ctx, rows, first, step, first=1)).items
        if isinstance(ties, Array):
            reason = NotKnown(span=ctx.span, what=sorting.UNORDERED)
            ctx.check(ties.value, StagingError(()), refuse, [lambda: reason])
        return item

    if default is None:
        return best()
    return ctx.branch(vectors.truth_of(empty), lambda: default, best)


def _compared(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract:
    """`left op right` as a truth; the operands may be gated."""
    if isinstance(left, Gated):
        return split_value(ctx, left, lambda each: _compared(ctx, op, each, right))
    if isinstance(right, Gated):
        return split_value(ctx, right, lambda each: _compared(ctx, op, left, each))
    return ctx.truth(compare(ctx, op, left, right))


def _choose_number(ctx: Context, better: Abstract, item: Abstract, best: Abstract, name: str) -> Abstract:
    chosen = choose(ctx, better, item, best)
    if (
        not isinstance(chosen, Array)
        or chosen.form is not Form.PYTHON
        or chosen.dtype != INT64
        or isinstance(chosen, GatedNumber)
    ):
        return chosen
    known = [ctx.range_of(ctx.read(x)) for x in (item, best)]
    return ctx.python(chosen.value, maximum(*known) if name == "max" else minimum(*known))


def _array_extreme(ctx: Context, x: Raw, name: str, key: Raw) -> Abstract | None:
    """`max` over the only axis of an array: a reduction, where NaN does not make a difference."""
    if key is not None or not (ctx.is_ndarray(x) or isinstance(x, Array)):
        return None
    operand = ctx.read(x)
    if not isinstance(operand, Array) or operand.rank != 1 or operand.dtype.kind not in "biu":
        return None
    if operand.shape[0] == 0:
        return call_now(ctx, getattr(builtins, name), ())
    function = getattr(jnp if operand.form is Form.JAX else np, name)
    return ctx.call(Const(function), [abstract(x)])


meaning(builtins.min)(_extreme("min", "<"))
meaning(builtins.max)(_extreme("max", ">"))


_NOT_SUMMED = {"str": ("strings", "''"), "bytes": ("bytes", "b''")}
"""Types that `sum` does not take as a start, although they can be added."""


@meaning(builtins.sum)
def sum_(ctx: Context, iterable: Raw, /, start: Raw = 0) -> Abstract:
    """`sum(iterable, start)`: one addition after the other, as Python does."""
    total = abstract(start)
    name = type_name(ctx, total)
    if name in _NOT_SUMMED:
        kind, seq = _NOT_SUMMED[name]
        ctx.raise_(TypeError(f"sum() can't sum {kind} [use {seq}.join(seq) instead]"))
    if generators.is_suspended(ctx, iterable):
        return run_program(ctx, consumers.summed, [iterable, total])
    reduced = _reduced_sum(ctx, iterable, total)
    if reduced is not None:
        return reduced
    iterable = set_methods.in_any_order(ctx, iterable)
    rows = set_methods.gathered(ctx, iterable, only_integers=True)
    if rows is not None:
        return _rows_sum(ctx, rows, total)
    items = listed(ctx, iterable, "sum()")
    rows = _many_numbers(ctx, items, checked=True)
    if rows is not None:
        return _rows_sum(ctx, rows, total)
    for item in items:
        total = binary(ctx, "+", total, item)
    return total


def _rows_sum(ctx: Context, rows: Vector[Abstract], start: Abstract) -> Abstract:
    """The sum of a list of rows; of arrays, the first is added to `start` before the others are."""

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return binary(ctx, "+", found, each)

    def of_arrays() -> Abstract:
        first = binary(ctx, "+", start, vectors.get(ctx, rows, 0))
        return vectors.fold(ctx, rows, first, step, first=1)

    if not has_arrays(rows.element):
        return vectors.fold(ctx, rows, start, step)
    empty = vectors.truth_of(vectors.compared(ctx, "EQ", rows.length, 0))
    return ctx.branch(empty, lambda: start, of_arrays)


def _reduced_sum(ctx: Context, x: Raw, start: Abstract) -> Abstract | None:
    """The sum over the first axis of an array as a reduction, in the type of its elements."""
    if not (ctx.is_ndarray(x) or isinstance(x, Array)) or not isinstance(start, Const) or start.value != 0:
        return None
    operand = ctx.read(x)
    if (
        not isinstance(operand, Array)
        or not operand.rank
        or operand.dtype == BOOL
        or type(start.value) is not int
    ):
        return None
    if operand.shape[0] == 0:
        return start
    function = jnp.sum if operand.form is Form.JAX else np.sum
    options = {"axis": Const(0), "dtype": Const(operand.dtype)}
    return ctx.call(Const(function), [abstract(x)], options)


@meaning(builtins.pow)
def pow_(ctx: Context, base: Raw, exp: Raw, mod: Raw = None) -> Abstract:
    """`pow(base, exp, mod)`; with `mod`, all three must be known."""
    if mod is not None:
        known = [ctx.known(v, "the arguments of pow() with a modulus") for v in (base, exp, mod)]
        return call_now(ctx, pow, *known)
    return binary(ctx, "**", base, exp)


@meaning(builtins.divmod)
def divmod_(ctx: Context, x: Raw, y: Raw, /) -> Abstract:
    """`divmod(x, y)`; of objects, what their `__divmod__` gives."""
    made = ctx.overloaded("divmod()", x, y)
    if made is not None:
        return made
    operands = [abstract(v) for v in (x, y)]
    if any(isinstance(cell_of(ctx, o), ObjectCell) for o in operands):
        first, second = [class_name(ctx, o) for o in operands]
        ctx.raise_(TypeError(f"unsupported operand type(s) for divmod(): '{first}' and '{second}'"))
    if all(isinstance(o, Const | Array) and is_number(o) for o in operands):
        numbers = [ctx.read(o) for o in operands]
        if all(k.form is Form.PYTHON for o in numbers for k in kinds_of(o)):
            check_divisor(ctx, divmod, numbers[0], numbers[1], FLOAT64)  # which has a text of its own
    return Tuple((binary(ctx, "//", x, y), binary(ctx, "%", x, y)))


def _known_only(function: Callable[..., Any]) -> Callable[..., Abstract]:
    """A builtin that is called while compiling, with arguments that must be known."""

    def call(ctx: Context, *args: Raw) -> Abstract:
        what = f"the argument of {function.__name__}()"
        return call_now(ctx, function, *[ctx.known(a, what) for a in args])

    call.__name__ = function.__name__
    call.__doc__ = f"`{function.__name__}`, of known arguments."
    return call


for _builtin in (ord, chr, hex, bin, oct, ascii):
    meaning(_builtin)(_known_only(_builtin))


@meaning(hash)
def hash_(ctx: Context, obj: Raw, /) -> Abstract:
    """`hash(x)` of known numbers and of tuples of them; the hash of a string differs between processes."""
    value = known_object(ctx, obj)
    if _is_hashed_alike(value):
        return Const(hash(value))
    why = "it depends on the values, or on the process" if isinstance(obj, Array | Const) else _OF_MEMORY
    instead = "use the number itself as the key, or hash outside of the staged function"
    ctx.fail(WrongArguments(span=ctx.span, name="hash()", why=why, instead=instead))


def _is_hashed_alike(value: object) -> bool:
    """True for a value with the same hash in every process."""
    if type(value) is tuple:
        return all(map(_is_hashed_alike, value))
    number = type(value) in (bool, int, float, complex) or isinstance(value, np.number | np.bool_)
    return number and value == value  # that of NaN is the object's


_OF_MEMORY = "it is about the object in memory"


@meaning(id)
def identity_(ctx: Context, x: Raw, /) -> Abstract:
    """`id(x)`, which is refused: it is no value of the program."""
    instead = "ask whether two names stand for one object with `is`"
    ctx.fail(WrongArguments(span=ctx.span, name="id()", why=_OF_MEMORY, instead=instead))


# ---------------------------------------------------------------- truth


def _quantifier(name: str, decides: bool) -> Callable[..., Abstract]:
    def quantifier(ctx: Context, iterable: Raw, /) -> Abstract:
        reduced = _reduced_truth(ctx, iterable, name)
        if reduced is not None:
            return reduced
        if generators.is_suspended(ctx, iterable):
            return ctx.call(
                Const(consumers.any_true if decides else consumers.all_true), [abstract(iterable)]
            )
        iterable = set_methods.in_any_order(ctx, iterable)
        rows = set_methods.gathered(ctx, iterable)
        if rows is not None:
            return vectors.fold(
                ctx,
                rows,
                Const(not decides),
                lambda found, position, each: ctx.truth(each),
                goes_on=lambda found: _is(ctx, found, not decides),
            )
        result: Abstract = Const(not decides)
        for item in listed(ctx, iterable, f"{name}()"):
            truth = ctx.truth(item)
            if isinstance(truth, Const):
                if bool(truth.value) is decides:
                    return Const(decides)
            elif isinstance(result, Const):
                result = truth
            else:
                result = binary(ctx, "|" if decides else "&", result, truth)
        return result

    quantifier.__name__ = name
    quantifier.__doc__ = f"`{name}(iterable)`."
    return quantifier


def _reduced_truth(ctx: Context, x: Raw, name: str) -> Abstract | None:
    """The truth of all elements of an array of one axis, as a reduction."""
    if not (ctx.is_ndarray(x) or isinstance(x, Array)):
        return None
    operand = ctx.read(x)
    if not isinstance(operand, Array) or operand.rank != 1:
        return None
    function = getattr(jnp if operand.form is Form.JAX else np, name)
    return ctx.truth(ctx.call(Const(function), [abstract(x)]))


def _is(ctx: Context, truth: Abstract, wanted: bool) -> Abstract:
    return truth if wanted else negation(ctx, truth)


meaning(builtins.any)(_quantifier("any", True))
meaning(builtins.all)(_quantifier("all", False))


# ---------------------------------------------------------------- objects


@meaning(builtins.len)
def len_(ctx: Context, x: Raw, /) -> Abstract:
    """`len(x)`."""
    if isinstance(x, Bounded):
        return length(ctx, x)
    if isinstance(x, Records):
        return structured.length(ctx, x)
    x = strings.known(ctx, abstract(x))
    method = special(ctx, x, "__len__")
    if method is not None:
        return ctx.call(method, [])
    content = cell_of(ctx, x)
    if isinstance(content, IteratorCell) and isinstance(content.source, FlatIterator):
        return _array_length(ctx, content.source.array)
    if ctx.is_ndarray(x) or is_number(abstract(x)):
        return _array_length(ctx, x)
    known = known_object(ctx, x)
    if known is not MISSING and not isinstance(x, Tuple):
        return call_now(ctx, len, known)
    if isinstance(x, Range):
        return range_length(ctx, x)
    cell = cell_of(ctx, x)
    if isinstance(x, RowsTuple) or isinstance(cell, LISTS):
        return list_length(x.items if isinstance(x, RowsTuple) else cell.items)
    if isinstance(x, DictView):
        cell = cell_of(ctx, Ref(x.cell))
    if isinstance(cell, TableCell):
        return table_length(ctx.b, cell)
    if isinstance(cell, SetCell):
        return Const(len(cell.items))
    sized = isinstance(x, Tuple | DictView) or isinstance(cell, DictCell)
    items = ctx.iterate(abstract(x)) if sized else None
    if items is None:
        ctx.raise_(TypeError(f"object of type {type_name(ctx, x)!r} has no len()"))
    return Const(len(items))


def _array_length(ctx: Context, x: Raw) -> Abstract:
    operand = ctx.read(x)
    if isinstance(operand, Const) or (operand.form in (Form.PYTHON, Form.SCALAR)):
        (cls, *_) = class_of(ctx, operand)
        ctx.raise_(TypeError(f"object of type {c_name(cls)!r} has no len()"))
    if not operand.rank:
        ctx.raise_(TypeError("len() of unsized object"))
    return Const(operand.shape[0])


@meaning(type)
def type_(ctx: Context, x: Raw, /) -> Abstract:
    """`type(x)`."""
    if isinstance(x, Const):
        return Const(type(x.value))
    found = class_of(ctx, x)
    return ClassOf(cast(Caught, x)) if len(found) > 1 else Const(found[0])


@meaning(callable)
def callable_(ctx: Context, x: Raw, /) -> Abstract:
    """`callable(x)`."""
    if isinstance(x, Const):
        return Const(callable(x.value))
    if isinstance(x, Closure | Method | Partial | Meaning):
        return Const(True)
    cell = cell_of(ctx, x)
    found = isinstance(cell, ObjectCell) and any("__call__" in vars(c) for c in cell.cls.__mro__)
    return Const(found)


@meaning(hasattr)
def hasattr_(ctx: Context, x: Raw, name: Raw, /) -> Abstract:
    """`hasattr(x, name)`: of an instance by its fields and class, of values by their type."""
    attribute = ctx.known(name, "the name of an attribute")
    if isinstance(x, Const):
        return Const(hasattr(x.value, attribute))
    cell = cell_of(ctx, x)
    if isinstance(cell, ObjectCell):
        return _instance_has(ctx, x, cell, attribute)
    if attribute == "flat" and isinstance(x, Array) and x.form is Form.JAX:
        ctx.getattr(x, attribute)  # raises what is no AttributeError
    has = all(_instances_have(c, attribute) for c in class_of(ctx, x))
    if isinstance(x, Records) and not has:  # fields of recarrays are attributes
        return Const(ctx.attempt(lambda: ctx.getattr(x, attribute), AttributeError) is not None)
    return Const(has)


def _instances_have(cls: type, name: str) -> bool:
    """Whether instances of a library class have an attribute; those of its metaclass do not count."""
    return any(name in vars(c) for c in cls.__mro__)


def _instance_has(ctx: Context, x: Raw, cell: ObjectCell, name: str) -> Abstract:
    """Whether reading an attribute of an instance gives one; a property is read, as Python does."""
    own = cell.fields.get(name)
    if own is None and cell.origin is not None:
        own = cell.origin(name)
    if own is not None and not isinstance(own, Undef) and not may_be_unassigned(own):
        return TRUE
    raw = next((vars(c)[name] for c in cell.cls.__mro__ if name in vars(c)), MISSING)
    plain = raw is not MISSING and not isinstance(raw, types.MemberDescriptorType)
    if isinstance(raw, property | functools.cached_property) or (
        not plain and hasattr(cell.cls, "__getattr__")
    ):
        return Const(ctx.attempt(lambda: ctx.getattr(abstract(x), name), AttributeError) is not None)
    if isinstance(own, Gated) and not plain:
        return ctx.python(ctx.op(Not(), own.tags[0]))
    return Const(plain)


@meaning(getattr)
def getattr_(ctx: Context, x: Raw, name: Raw, default: Raw = MISSING, /) -> Abstract:
    """`getattr(x, name, default)`; the name must be known."""
    attribute = ctx.known(name, "the name of an attribute")
    if default is not MISSING:
        present = hasattr_(ctx, x, Const(attribute))
        return ctx.branch(present, lambda: ctx.getattr(abstract(x), attribute), lambda: abstract(default))
    return ctx.getattr(abstract(x), attribute)
