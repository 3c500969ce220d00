"""Size rules for results with bounded dimensions, and the treatment of functions that have none.

A function works elementwise (`by_element`), or its leading results depend on leading elements only (`from_front`): then
it is called with wholes, and its result is bounded as its operands are. Others have a meaning of their own for bounded
operands (`for_bounded`). A function without a rule refuses them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ad.calculus import differentiable
from ....hlo.ir import Value
from ....ops import Select
from ....policy import is_of_jax
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.gated import Gated, alternatives, narrow
from ....values.lattice import Abstract, Array, Const, ListCell, Ref, SliceObject, Tuple
from ...context import Context, Raw
from ...kernels.python_implementations import meaning_by
from ...kernels.structures import sequence_items
from ...operands.libraries import JAX, NUMPY, Rules, as_jax, as_ndarray
from ...registry import meaning_of, replace_meaning, signed, whole_signature
from ...rules.jax import axis_of, is_none
from ...rules.split import needs_split
from .. import (  # noqa: F401
    concatenation,
    creation,
    interpolation,
    manipulation,
    padding,
    rounding,
    searching,
    selection,
    series,
    take_and_put,
)
from ..indexing import grids  # noqa: F401
from ..indexing.bounded import compact, elements, raveled, refuse, where
from ..indexing.bounded_operands import elementwise, result_with
from ..indexing.stores import known_array
from ..linalg import array_api as linalg_names  # noqa: F401
from ..linalg import einsum, matrices, norms, products  # noqa: F401
from ..reductions import nan_order, quantiles, scans, sorting, statistics, sums  # noqa: F401
from ..subscripts import unravel  # noqa: F401
from ..wrapping import axis_functions  # noqa: F401

Meaning = Callable[..., Abstract]
Rows = Callable[[Rules, Any], Meaning | None]
"""The argument of a function, by a library's rules, for a list of computed length; None: the list."""


def is_bounded(ctx: Context, raw: Raw) -> bool:
    """True for a bounded array, and for a list or tuple with one in it."""
    if isinstance(raw, Bounded):
        return True
    if isinstance(raw, Tuple):
        return any(isinstance(item, Bounded) for item in raw.items)
    if isinstance(raw, Ref) and not raw.path:
        content = ctx.state.get(raw.cell)
        return isinstance(content, ListCell) and any(isinstance(item, Bounded) for item in content.items)
    return False


def _decided(ctx: Context, raw: Raw) -> Raw:
    """A list or tuple with the selected arrays in place of items of which an alternative is bounded."""
    content = ctx.state.get(raw.cell) if isinstance(raw, Ref) and not raw.path else raw
    if not isinstance(content, Tuple | ListCell):
        return raw
    if not any(map(_may_be_bounded, content.items)):
        return raw
    found = [
        narrow(ctx.b, ctx.intervals, i) if isinstance(i, Gated) and _may_be_bounded(i) else i
        for i in content.items
    ]
    for item in found:
        if isinstance(item, Gated) and _may_be_bounded(item):
            raise needs_split(item)
    return Tuple(tuple(found))


def _may_be_bounded(value: Abstract) -> bool:
    return isinstance(value, Gated) and any(isinstance(each, Bounded) for each in alternatives(value))


def for_bounded(*functions: Any) -> Callable[[Meaning], Meaning]:
    """Declares the meaning of functions where some argument is bounded: `(ctx, …)` with the parameters of the function."""

    def declare(made: Meaning) -> Meaning:
        for function in functions:
            serve(function, made)
        return made

    return declare


def twins_for_bounded(
    numpy_function: Any, jax_function: Any, *, rows: Rows | None = None
) -> Callable[[Meaning], Meaning]:
    """The same for a function of NumPy's and its twin in `jax.numpy`: `(ctx, rules, …)`.

    Of functions that join arrays, `rows` gives what they take in place of a list whose length only the program knows.
    """

    def declare(made: Meaning) -> Meaning:
        for rules, function in (NUMPY, numpy_function), (JAX, jax_function):
            serve(function, _by_rules(rules, made), rows=None if rows is None else rows(rules, function))
        return made

    return declare


def _by_rules(rules: Rules, made: Meaning) -> Meaning:
    """The meaning `(ctx, …)` of `(ctx, rules, …)` under the rules of one library."""

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        return made(ctx, rules, *args, **kwargs)

    def signature() -> inspect.Signature:
        whole = whole_signature(made)
        first, _, *rest = whole.parameters.values()
        return whole.replace(parameters=[first, *rest])

    return signed(call, signature)


def composed_for_bounded(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `for_bounded`, by a plain Python function, which is staged."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            serve(function, meaning_by(program))
        return program

    return declare


def composed_twins(
    numpy_function: Any, jax_function: Any, *, rows: Rows | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `twins_for_bounded`, by a plain Python function `(xp, …)`, staged with the library's module."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        staged = meaning_by(program)

        def made(ctx: Context, /, rules: Rules, *args: Raw, **kwargs: Raw) -> Abstract:
            return staged(ctx, Const(rules.module), *args, **kwargs)

        signed(made, lambda: whole_signature(staged))
        twins_for_bounded(numpy_function, jax_function, rows=rows)(made)
        return program

    return declare


def composed_for_computed(function: Any, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `composed_for_bounded`, also where the program computes these integer parameters."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        serve(function, meaning_by(program), names)
        return program

    return declare


def is_computed(ctx: Context, raw: Raw) -> bool:
    """True for integers, or a slice, of which only the run knows some."""
    if isinstance(raw, Ref) and ctx.is_ndarray(raw):
        return known_array(ctx.contents(raw)) is None
    if isinstance(raw, SliceObject):
        return any(is_computed(ctx, part) for part in (raw.start, raw.stop, raw.step))
    if isinstance(raw, Array):
        return raw.form is not Form.JAX and not ctx.can_be_known(raw)
    items = sequence_items(ctx, raw)
    return items is not None and any(is_computed(ctx, item) for item in items)


def serve(function: Any, made: Meaning, computed: Sequence[str] = (), rows: Meaning | None = None) -> None:
    """Makes `made` the meaning of calls of `function` in which some argument is bounded, or one of these is `computed`."""
    plain = meaning_of(function)
    if plain is None:
        raise TypeError(f"{function!r} has no meaning")
    unbounded = plain

    def served(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        try:
            whole_signature(made).bind(ctx, *args, **kwargs)
        except TypeError:
            refuse(ctx, f"np.{function.__name__} with these arguments", *args)
        if getattr(unbounded, "converts", False):
            args = tuple([as_ndarray(ctx, arg) for arg in args])
            kwargs = {key: as_ndarray(ctx, arg) for key, arg in kwargs.items()}
        if is_of_jax(function):
            args = tuple([as_jax(ctx, arg, function.__name__) for arg in args])
            kwargs = {key: as_jax(ctx, arg, function.__name__) for key, arg in kwargs.items()}
        return made(ctx, *args, **kwargs)

    @functools.wraps(unbounded)
    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        args = tuple([_decided(ctx, a) for a in args])
        if rows is not None and args:
            args = (rows(ctx, *args, **kwargs), *args[1:])
        if any(is_bounded(ctx, a) for a in (*args, *kwargs.values())):
            return served(ctx, *args, **kwargs)
        if computed:
            given = inspect.signature(function).bind(*args, **kwargs).arguments
            if any(is_computed(ctx, given.get(name)) for name in computed):
                return served(ctx, *args, **kwargs)
        return unbounded(ctx, *args, **kwargs)

    call.joins_rows = rows is not None  # type: ignore[attr-defined]
    replace_meaning(function, call)


class _Call:
    """A call of a meaning, by the names of its parameters."""

    def __init__(
        self, unbounded: Meaning, ctx: Context, args: Sequence[Raw], kwargs: Mapping[str, Raw]
    ) -> None:
        self.unbounded = unbounded
        self.bound = whole_signature(unbounded).bind(ctx, *args, **kwargs)

    def get(self, name: str) -> Raw:
        """An argument; None where it is not given."""
        return self.bound.arguments.get(name)

    def with_(self, **changed: Raw) -> Abstract:
        """The result of the call with other arguments."""
        bound = inspect.BoundArguments(self.bound.signature, {**self.bound.arguments, **changed})
        return self.unbounded(*bound.args, **bound.kwargs)


def by_element(functions: Sequence[Any], *names: str) -> None:
    """Declares that functions combine the elements of these parameters elementwise."""
    for function in functions:
        unbounded = meaning_of(function)
        if unbounded is None:
            continue
        serve(function, functools.partial(_by_element, function, unbounded, names))


def _by_element(
    function: Any, unbounded: Meaning, names: Sequence[str], ctx: Context, *args: Raw, **kwargs: Raw
) -> Abstract:
    call = _Call(unbounded, ctx, args, kwargs)
    given = [name for name in names if not is_none(call.get(name))]
    if not any(is_bounded(ctx, call.get(name)) for name in given):
        return unbounded(ctx, *args, **kwargs)

    def whole(*wholes: Raw) -> Abstract:
        return call.with_(**dict(zip(given, wholes)))

    def plain(*samples: Any) -> Any:
        return np.nditer(samples, ["zerosize_ok"]) if len(samples) > 1 else samples  # raises as ufuncs do

    return elementwise(ctx, f"np.{function.__name__}", plain, whole, *[call.get(name) for name in given])


def from_front(functions: Sequence[Any], name: str) -> None:
    """Declares that the first results along `axis` (or of all elements, for None) depend on the first elements only."""
    for function in functions:
        unbounded = meaning_of(function)
        if unbounded is not None:
            serve(function, functools.partial(_from_front, unbounded, name))


def _from_front(unbounded: Meaning, name: str, ctx: Context, *args: Raw, **kwargs: Raw) -> Abstract:
    call = _Call(unbounded, ctx, args, kwargs)
    array = call.get(name)
    assert isinstance(array, Bounded)
    axis: Raw = call.get("axis")
    if is_none(axis):
        array, axis = raveled(ctx, array), 0
    array = compact(ctx, array)
    axis_of(ctx, axis, array.rank, "a scan")
    made = call.with_(**{name: whole_like(ctx, array, with_ones(ctx, array)), "axis": axis})
    return result_with(ctx, made, array.axes)


def with_ones(ctx: Context, array: Bounded) -> Value:
    """The elements of the whole, ones where they do not belong to the array, if derivatives are made of them.

    What stands behind may be infinite or no number, and so would be the products in the derivatives.
    """
    value = elements(ctx, array)
    if not differentiable(value.type):
        return value
    ones = ctx.broadcast(ctx.constant(1, value.type.dtype), value.type.static_shape)
    return ctx.op(Select(), where(ctx, array), value, ones)


def as_whole(ctx: Context, value: Abstract) -> Array:
    """A result read as an array."""
    read = ctx.read(value)
    assert isinstance(read, Array)
    return read


def whole_like(ctx: Context, array: Bounded, value: Any) -> Ref | Array:
    """A whole of the kind of another's."""
    return ctx.jax(value, array.weak) if array.form is Form.JAX else ctx.ndarray(value)
