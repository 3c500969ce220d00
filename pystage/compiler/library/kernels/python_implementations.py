"""NumPy functions implemented in plain Python, over simpler NumPy functions.

`composed(np.cov)` declares a Python function as the meaning of `np.cov`. Inference stages its source like user code, so
element types, kinds and aliasing follow from the functions that it calls; CPython computes the same. It raises the
exceptions that NumPy raises.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ...diagnostics.codes_types import SizeDependsOnValues
from ...values.lattice import Abstract, Const
from ..context import Context, Raw
from ..registry import meaning, signed
from .structures import abstract, call_now

P = TypeVar("P", bound=Callable[..., Any])

NO_SUBTRACTION = (
    "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the "
    "logical_xor function instead."
)
"""The text of NumPy's TypeError where a program would subtract bools."""


def run_program(
    ctx: Context, program: Callable[..., Any], args: Sequence[Raw], kwargs: Mapping[str, Raw] = {}
) -> Abstract:
    """The result of a plain Python function on abstract arguments: its source is staged."""
    return ctx.call(Const(program), [abstract(a) for a in args], {k: abstract(v) for k, v in kwargs.items()})


def meaning_by(program: Callable[..., Any]) -> Callable[..., Abstract]:
    """The meaning `(ctx, …)` with the parameters of `program`, whose source it stages."""

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        return run_program(ctx, program, args, kwargs)

    def signature() -> inspect.Signature:
        only = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_ONLY)
        whole = inspect.signature(program)
        return whole.replace(parameters=[only, *whole.parameters.values()])

    call.__name__ = program.__name__
    call.__doc__ = program.__doc__
    return signed(call, signature)


def composed(*functions: Any) -> Callable[[P], P]:
    """Declares the decorated plain function as the meaning of `functions`."""

    def declare(program: P) -> P:
        meaning(*functions)(meaning_by(program))
        return program

    return declare


def size_depends(what: str, rewrite: str) -> NoReturn:
    """For composed programs: refuses `what`, whose size depends on values, with `rewrite` as advice."""
    raise NotImplementedError(what, rewrite)


@meaning(size_depends)
def _size_depends(ctx: Context, what: Raw, rewrite: Raw) -> NoReturn:
    texts = [str(ctx.known(text, "a text")) for text in (what, rewrite)]
    ctx.fail(SizeDependsOnValues(span=ctx.span, what=texts[0], rewrite=texts[1]))


@meaning(normalize_axis_index)
def _axis_index(ctx: Context, axis: Raw, ndim: Raw, msg_prefix: Raw = None) -> Abstract:
    """An axis counted from 0."""
    return call_now(ctx, normalize_axis_index, *[ctx.known(v, "an axis") for v in (axis, ndim, msg_prefix)])


@meaning(normalize_axis_tuple)
def _axis_tuple(
    ctx: Context, axis: Raw, ndim: Raw, argname: Raw = None, allow_duplicate: Raw = False
) -> Abstract:
    """Axes counted from 0, none twice."""
    known = [ctx.known(v, "an axis") for v in (axis, ndim, argname, allow_duplicate)]
    return call_now(ctx, normalize_axis_tuple, *known)
