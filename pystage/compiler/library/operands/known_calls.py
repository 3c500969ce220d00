"""Plain programs that are called while compiling where all their arguments are known.

`folded(np.hanning, "M")` declares a program as the meaning of `np.hanning`: NumPy computes it of a known length, and of one
that only the run knows the program is staged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, Ref, SliceObject
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import lift, sequence_items
from ..numpy.indexing.indices import known_sequence
from ..numpy.indexing.stores import known_array
from ..registry import meaning, signed, whole_signature
from .libraries import MISSING, plain

P = TypeVar("P", bound=Callable[..., Any])


def known_argument(ctx: Context, raw: Raw) -> Any:
    """The elements of an array that is a constant of the program, or a known number; else `MISSING`."""
    if isinstance(raw, Bounded):
        return MISSING
    if isinstance(raw, Ref):
        listed = known_sequence(ctx, raw)
        if listed is not None:
            return listed
        elements = known_array(ctx.contents(raw)) if ctx.is_ndarray(raw) else None
        return MISSING if elements is None else elements
    if isinstance(raw, SliceObject):
        parts = [plain(ctx, part) for part in (raw.start, raw.stop, raw.step)]
        return MISSING if any(part is MISSING for part in parts) else slice(*parts)
    return plain(ctx, raw)


def called_now(
    ctx: Context, function: Callable[..., Any], args: Sequence[Raw], kwargs: Mapping[str, Raw]
) -> Abstract | None:
    """The result of a function on known arguments; None where one is not known. What it raises, the program raises."""
    known = [known_argument(ctx, a) for a in args]
    named = {key: known_argument(ctx, a) for key, a in kwargs.items()}
    if any(x is MISSING for x in (*known, *named.values())):
        return None
    try:
        return lift(ctx, function(*known, **named))
    except (TypeError, ValueError, IndexError) as error:
        ctx.raise_(error)


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


def folded(function: Callable[..., Any], *sizes: str) -> Callable[[P], P]:
    """Declares the decorated program as the meaning of `function`; the parameters `sizes` are constants if they can be."""

    def declare(program: P) -> P:
        def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
            bound = inspect.signature(program).bind(*args, **kwargs)
            for name in sizes:
                given = bound.arguments.get(name)
                if isinstance(given, Abstract) and not is_computed(ctx, given) and not _is_array(ctx, given):
                    what = f"{name} of {function.__name__}"
                    bound.arguments[name] = lift(ctx, ctx.known(given, what))
            made = called_now(ctx, function, bound.args, bound.kwargs)
            return run_program(ctx, program, bound.args, bound.kwargs) if made is None else made

        def signature() -> inspect.Signature:
            only = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_ONLY)
            whole = whole_signature(program)
            return whole.replace(parameters=[only, *whole.parameters.values()])

        call.__name__, call.__doc__ = program.__name__, program.__doc__
        meaning(function)(signed(call, signature))
        return program

    return declare


def _is_array(ctx: Context, raw: Raw) -> bool:
    return isinstance(raw, Bounded | SliceObject) or ctx.is_ndarray(raw)
