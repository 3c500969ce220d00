"""`Explanation`: the functions of a program with what became of each line, and all problems."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from types import FunctionType
from typing import Any

from ..compiler.diagnostics.codes_runtime import ValueNotGiven
from ..compiler.diagnostics.codes_types import CertainlyRaises, ResultNotAsAnnotated
from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.errors import StagingError
from ..compiler.diagnostics.span import Span
from ..compiler.frontend import substituted
from ..compiler.hlo.types import INT64
from ..compiler.infer.diagnostics.trail import Trail, watching
from ..compiler.pipeline import Infer, Staged
from ..compiler.policy import is_library_file
from ..compiler.values.boundary import Form
from ..records import dataclass
from ..runtime.arguments.abstract import ArraySpec
from ..runtime.dispatch.dispatch import Dispatcher
from ..runtime.lowering import Canonical
from .listing import Listing, Mark, is_inside, listings
from .raises import raises
from .rewrites import Rewrite, Where, rewrite_for
from .text import as_html, as_text

STAND_INS = (8, 4, 2)
"""Values for an integer of which only the type is given, in the order in which they are tried."""
SMALL = (1, 0)
"""Those tried where the program raises for all of these, as for an axis."""
SECONDS = 5.0
"""So long rewrites are tried."""


@dataclass(frozen=True)
class Explanation:
    """What becomes of a function for certain arguments: `print` it, or look at it in a notebook.

    `staged`: its program; None if it cannot be staged, for the reasons in `problems`; of a program these say what it raises
    wherever it gets there, as for shapes that do not fit. `listings`: the functions that were
    looked at, that one first. `rewrites`: for each problem a change of the source that was tried and settles it, where there
    is one. `fallback`: what a call does in this case, `"error"`, `"lazy"` or `"python"`. `assumed`: values of integers whose
    value the program needs, and of which only the type was given; a call makes a program for its own.
    """

    name: str
    staged: Staged | None
    problems: tuple[Diagnostic, ...]
    rewrites: tuple[Rewrite | None, ...]
    listings: tuple[Listing, ...]
    fallback: str
    assumed: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def explain(
    function: Callable[..., Any],
    name: str,
    infer: Infer,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    fallback: str = "error",
    canonical: Canonical = lambda args, kwargs: (tuple(args), kwargs),
) -> Explanation:
    """Explains a call of a plain function: what stands for values may be a type, as for `lower`.

    What the call itself does wrong (TypeError for arguments that do not fit) is raised.
    """

    def attempt(
        tried: Callable[..., Any], further: Mapping[str, Any], values: Mapping[str, int] = {}
    ) -> Staged | tuple[Diagnostic, ...]:
        call = canonical(args, {**kwargs, **further})
        try:
            return Dispatcher(tried, name, infer).infer(*with_values(function, *call, values))
        except StagingError as error:
            return error.diagnostics

    def look(values: Mapping[str, int]) -> _Look:
        with watching(trail := Trail()):
            return attempt(function, {}, values), trail

    call = canonical(args, dict(kwargs))
    first = found, trail = look({})
    assumed: dict[str, int] = {}
    looks: list[tuple[_Look, dict[str, int]]] = []
    for value in (*STAND_INS, *SMALL):
        if value in SMALL and any(refusals(each) is not None for (each, _), _ in looks):
            continue
        assumed = {}
        found, trail = first
        while not isinstance(found, Staged) and (wanted := _wanted(found, function, call, assumed)):
            assumed[wanted] = value
            found, trail = look(assumed)
        if not assumed or (isinstance(found, Staged) and not any(raises(found.program))):
            break
        looks.append(((found, trail), assumed))
    else:
        refused = {refusals(each) for (each, _), _ in looks}
        (found, trail), assumed = looks[0] if len(refused) == 1 and None not in refused else (first, {})
    if isinstance(found, Staged):
        certain = tuple([_with_operands(problem, trail) for problem in raises(found.program)])
        shown = listings(trail, certain, Mark.RAISES)
        return Explanation(name, found, certain, (None,) * len(certain), shown, fallback, assumed)
    found = tuple([problem if problem.plain is None else _with_operands(problem, trail) for problem in found])
    rewrites = _rewrites(function, found, trail, attempt)
    return Explanation(name, None, found, rewrites, listings(trail, found), fallback, assumed)


_Look = tuple[Staged | tuple[Diagnostic, ...], Trail]
_Call = tuple[tuple[Any, ...], dict[str, Any]]


def refusals(found: Staged | Sequence[Diagnostic]) -> frozenset[tuple[str, Span | None]] | None:
    """The codes and places of the problems, if all are refusals of what plain Python runs and none wants a value."""
    if isinstance(found, Staged):
        return None
    others = ValueNotGiven, CertainlyRaises, ResultNotAsAnnotated
    if any(problem.plain is not None or isinstance(problem, others) for problem in found):
        return None
    return frozenset([(problem.code, problem.span) for problem in found])


def with_values(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], values: Mapping[str, int]
) -> _Call:
    """The arguments of a call with these values of parameters."""
    if not values:
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.arguments.update(values)
    return bound.args, bound.kwargs


def _wanted(
    problems: Sequence[Diagnostic], function: Callable[..., Any], call: _Call, known: Mapping[str, int]
) -> str | None:
    """A parameter whose value must be known, and of which only the type is given: that of an integer."""
    for problem in problems:
        if isinstance(problem, ValueNotGiven) and problem.path not in known:
            value = inspect.signature(function).bind(*call[0], **call[1]).arguments.get(problem.path)
            if isinstance(value, ArraySpec) and value.form is Form.PYTHON and value.dtype == INT64:
                return problem.path
    return None


def _with_operands(problem: Diagnostic, trail: Trail) -> Diagnostic:
    """What plain Python raises too, with the types of what it was given and where each comes from."""
    return replace(problem, notes=(*trail.operands(problem.span), *problem.notes))


def _rewrites(
    function: Callable[..., Any],
    problems: Sequence[Diagnostic],
    trail: Trail,
    attempt: Callable[[Callable[..., Any], Mapping[str, Any]], Staged | tuple[Diagnostic, ...]],
) -> tuple[Rewrite | None, ...]:
    """For each problem a rewrite that was tried; none is tried any more after `SECONDS`."""
    defined = dict(trail.defined)
    began = time.perf_counter()

    def left(
        old: FunctionType, new: FunctionType, further: Sequence[tuple[str, Any]]
    ) -> Sequence[Diagnostic]:
        if time.perf_counter() - began > SECONDS:
            return problems
        if old is function:
            found = attempt(new, dict(further))
        else:
            with substituted(old.__code__, new.__code__):
                found = attempt(function, {})
        return () if isinstance(found, Staged) else found

    def where(problem: Diagnostic) -> Where | None:
        """The innermost function of the user's around a problem."""
        span = problem.span
        holders = [f for f in defined if span is not None and is_inside((span.file, span.line), f.span)]
        if not holders or is_library_file(holders[0].span.file):
            return None
        staged = max(holders, key=lambda f: f.span.line)
        return Where(defined[staged], staged.span, defined[staged] is function)

    found = [(problem, where(problem)) for problem in problems]
    return tuple([None if at is None else rewrite_for(p, problems, at, left) for p, at in found])
