"""Size rules for results with bounded dimensions, and the treatment of functions that have none.

A function works elementwise (`by_element`): then it is called with wholes, and its result is bounded as its operands are.
Others have a meaning of their own for bounded operands (`for_bounded`). A function without a rule refuses them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....policy import is_of_jax
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const, ListCell, Ref, Tuple
from ...context import Context, Raw
from ...kernels.python_implementations import meaning_by
from ...operands.bounded_arguments import decided
from ...operands.known_calls import is_computed
from ...operands.libraries import JAX, NUMPY, Rules, as_jax, as_ndarray
from ...registry import meaning_of, replace_meaning, signed, whole_signature
from ...rules.jax import is_none
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
from ..indexing.bounded import refuse
from ..indexing.bounded_operands import elementwise
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

    `rows` gives what it takes in place of a list whose length only the program knows.
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
    numpy_function: Any, jax_function: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `twins_for_bounded`, by a plain Python function `(xp, …)`, staged with the library's module."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        staged = meaning_by(program)

        def made(ctx: Context, /, rules: Rules, *args: Raw, **kwargs: Raw) -> Abstract:
            return staged(ctx, Const(rules.module), *args, **kwargs)

        signed(made, lambda: whole_signature(staged))
        twins_for_bounded(numpy_function, jax_function)(made)
        return program

    return declare


def composed_for_computed(function: Any, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `composed_for_bounded`, also where the program computes these integer parameters."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        serve(function, meaning_by(program), names)
        return program

    return declare


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
        args = tuple([decided(ctx, a) for a in args])
        if rows is not None and args:
            args = (rows(ctx, *args, **kwargs), *args[1:])
        if any(is_bounded(ctx, a) for a in (*args, *kwargs.values())):
            return served(ctx, *args, **kwargs)
        if computed:
            given = inspect.signature(function).bind(*args, **kwargs).arguments
            if any(is_computed(ctx, given.get(name)) for name in computed):
                return served(ctx, *args, **kwargs)
        return unbounded(ctx, *args, **kwargs)

    call.joins_rows = rows is not None or getattr(unbounded, "joins_rows", False)  # type: ignore[attr-defined]
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


def whole_like(ctx: Context, array: Bounded, value: Any) -> Ref | Array:
    """A whole of the kind of another's."""
    return ctx.jax(value, array.weak) if array.form is Form.JAX else ctx.ndarray(value)
