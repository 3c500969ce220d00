"""Size rules for results with bounded dimensions, and the treatment of functions that have none.

Most functions have one meaning, which takes arrays with and without bounded axes. A function that works elementwise may be
called with wholes instead (`by_element`): its result is bounded as its operands are. Some still have a second meaning, for
bounded operands (`for_bounded`). A function without any of these refuses them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....policy import is_of_jax
from ....values.lattice import Abstract
from ...context import Context, Raw
from ...kernels.python_implementations import meaning_by
from ...operands.bounded_arguments import decided, is_bounded
from ...operands.known_calls import is_computed
from ...operands.libraries import as_jax, as_ndarray
from ...registry import meaning_of, replace_meaning, whole_signature
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
from ..indexing.bounded_operands import broadcasting, elementwise
from ..linalg import array_api as linalg_names  # noqa: F401
from ..linalg import einsum, matrices, norms, products  # noqa: F401
from ..reductions import nan_order, quantiles, scans, sorting, statistics, sums  # noqa: F401
from ..subscripts import unravel  # noqa: F401
from ..wrapping import axis_functions  # noqa: F401

Meaning = Callable[..., Abstract]


def for_bounded(*functions: Any) -> Callable[[Meaning], Meaning]:
    """Declares the meaning of functions where some argument is bounded: `(ctx, …)` with the parameters of the function."""

    def declare(made: Meaning) -> Meaning:
        for function in functions:
            serve(function, made)
        return made

    return declare


def composed_for_bounded(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `for_bounded`, by a plain Python function, which is staged."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            serve(function, meaning_by(program))
        return program

    return declare


def composed_for_computed(function: Any, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as `composed_for_bounded`, also where the program computes these integer parameters."""

    def declare(program: Callable[..., Any]) -> Callable[..., Any]:
        serve(function, meaning_by(program), names)
        return program

    return declare


TWO_MEANINGS: list[Any] = []
"""The functions with a meaning of their own for bounded operands."""


def serve(function: Any, made: Meaning, computed: Sequence[str] = ()) -> None:
    """Makes `made` the meaning of calls of `function` in which some argument is bounded, or one of these is `computed`."""
    TWO_MEANINGS.append(function)
    _serve(function, made, computed)


def _serve(function: Any, made: Meaning, computed: Sequence[str] = ()) -> None:
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
        if any(is_bounded(ctx, a) for a in (*args, *kwargs.values())):
            return served(ctx, *args, **kwargs)
        if computed:
            given = inspect.signature(function).bind(*args, **kwargs).arguments
            if any(is_computed(ctx, given.get(name)) for name in computed):
                return served(ctx, *args, **kwargs)
        return unbounded(ctx, *args, **kwargs)

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
        _serve(function, functools.partial(_by_element, function, unbounded, names))


def _by_element(
    function: Any, unbounded: Meaning, names: Sequence[str], ctx: Context, *args: Raw, **kwargs: Raw
) -> Abstract:
    call = _Call(unbounded, ctx, args, kwargs)
    given = [name for name in names if not is_none(call.get(name))]
    if not any(is_bounded(ctx, call.get(name)) for name in given):
        return unbounded(ctx, *args, **kwargs)

    def whole(*wholes: Raw) -> Abstract:
        return call.with_(**dict(zip(given, wholes)))

    return elementwise(
        ctx, f"np.{function.__name__}", broadcasting, whole, *[call.get(name) for name in given]
    )
