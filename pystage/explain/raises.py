"""The lines of a program that raise whenever they run: shapes that NumPy refuses become exceptions of the program."""

from __future__ import annotations

from ..compiler.diagnostics.codes_types import CertainlyRaises
from ..compiler.diagnostics.diagnostic import Diagnostic, Note
from ..compiler.hlo.ir import Op, Value
from ..compiler.hlo.walk import functions
from ..compiler.ops import Add, Call, Constant, Select, While
from ..compiler.ops.control import Branching
from ..compiler.values.boundary import Known, Made, Program, Site
from ..compiler.values.text import copied


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
    numbers = _numbers(program.function.body.results[failure.code.index])
    sites = [failure.find(number) for number in sorted(numbers) if number]
    return [_diagnostic(site) for site in sites if _is_unconditional(site)]


def _is_unconditional(site: Site) -> bool:
    """True if a library function raises there, without a look at values."""
    return isinstance(site.exception, Made) and site.exception.function is copied


def _numbers(code: Value) -> set[int]:
    """The numbers of places that a code may be."""
    found: set[int] = set()
    seen: set[int] = set()
    open = [code]
    while open:
        value = open.pop()
        if id(value) in seen or not isinstance(value.owner, Op):
            continue
        seen.add(id(value))
        op = value.owner
        match op.kind:
            case Constant(data=data):
                found.add(int(data))
            case Select():
                open += op.operands[1:]
            case Add():
                open += [operand for operand in op.operands if not _is_constant(operand)]
            case While():
                open += [op.operands[value.index], op.regions[1].results[value.index]]
            case Call(function=function):
                open.append(function.body.results[value.index])
            case Branching():
                open += [region.results[value.index] for region in op.regions]
    return found


def _is_constant(value: Value) -> bool:
    return isinstance(value.owner, Op) and isinstance(value.owner.kind, Constant)


def _diagnostic(site: Site) -> Diagnostic:
    made = site.exception
    message = ""
    if isinstance(made, Made) and all(isinstance(arg, Known) for arg in made.args):
        values = [arg.value for arg in made.args if isinstance(arg, Known)]
        message = ", ".join([str(value) for value in values])
    called = [site.span, *site.chain]
    notes = [
        Note(f"{inner.function} is called here", outer)
        for inner, outer in zip(called, site.chain)
        if inner is not None
    ]
    text = message or "no message"
    return CertainlyRaises(span=site.span, notes=tuple(notes), exception=site.cls.__name__, message=text)
