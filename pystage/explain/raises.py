"""Finds the lines of a program that raise whenever they run, such as shapes that NumPy refuses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Set

from ..compiler.diagnostics.codes_types import CertainlyRaises
from ..compiler.diagnostics.diagnostic import Diagnostic, Note
from ..compiler.diagnostics.span import Span
from ..compiler.hlo.ir import Op, Value
from ..compiler.hlo.walk import functions
from ..compiler.ops import Add, Call, Constant, Select, While
from ..compiler.ops.control import Branching
from ..compiler.policy import is_plumbing
from ..compiler.values.boundary import CallTemplate, ConstantTemplate, Program, Site
from ..compiler.values.host_functions import copied


def raises(program: Program) -> list[Diagnostic]:
    """What the program certainly raises, and what its library calls raise wherever it gets to them.

    An exception that the user raises under a condition of the run time is meant; so is one that may be caught.
    """
    failure = program.failure
    if failure is None:
        return []
    if isinstance(failure.code, int):
        site = failure.find(failure.code)
        return [] if site.cls is NotImplementedError else [_diagnostic(site)]
    if any(function.catches for function in functions(program.function)):
        return []
    places = _places(program.function.body.results[failure.code.index])
    sites = [(failure.find(number), branches) for number, branches in sorted(places.items()) if number]
    return [_diagnostic(site) for site, branches in sites if _is_unconditional(site, branches)]


def _is_unconditional(site: Site, branches: Set[Span]) -> bool:
    """True if a library function raises there, and not where it has looked at values first: in a branch of its own."""
    if not isinstance(site.exception, CallTemplate) or site.exception.function is not copied:
        return False
    return site.span is not None and site.span not in branches


def _places(code: Value) -> dict[int, set[Span]]:
    """The raise sites that an error code may name, each with the spans of the branches that lead to it."""
    found: dict[int, set[Span]] = {}
    known: dict[Value, frozenset[Span]] = {}
    open: list[tuple[Value, frozenset[Span]]] = [(code, frozenset())]
    while open:
        value, branches = open.pop()
        op, before = value.owner, known.get(value)
        if not isinstance(op, Op) or (before is not None and branches <= before):
            continue
        branches = known[value] = branches | (before or frozenset())
        if isinstance(op.kind, Constant):
            found.setdefault(int(op.kind.data), set()).update(branches)
        if isinstance(op.kind, Branching) and op.span is not None:
            branches |= {op.span}
        open += [(inner, branches) for inner in _sources(op, value.index)]
    return found


def _sources(op: Op, index: int) -> Iterable[Value]:
    """Of which values a code is one that an operation gives as its result at `index`."""
    match op.kind:
        case Select():
            return op.operands[1:]
        case Add():
            return [operand for operand in op.operands if not _is_constant(operand)]
        case While():
            return op.operands[index], op.regions[1].results[index]
        case Call(function=function):
            return (function.body.results[index],)
        case Branching():
            return [region.results[index] for region in op.regions]
        case _:
            return ()


def _is_constant(value: Value) -> bool:
    return isinstance(value.owner, Op) and isinstance(value.owner.kind, Constant)


def _diagnostic(site: Site) -> Diagnostic:
    made = site.exception
    message = ""
    if isinstance(made, CallTemplate) and all(isinstance(arg, ConstantTemplate) for arg in made.args):
        values = [arg.value for arg in made.args if isinstance(arg, ConstantTemplate)]
        message = ", ".join([str(value) for value in values])
    places = [place for place in (site.span, *site.chain) if place is not None]
    called = [place for place in places if not is_plumbing(place.file)] or places
    notes = [Note(f"{inner.function} is called here", outer) for inner, outer in itertools.pairwise(called)]
    text = message or "no message"
    return CertainlyRaises(
        span=called[0] if called else None, notes=tuple(notes), exception=site.cls.__name__, message=text
    )
