"""Loops over generators: the generator's body runs in the frame of the loop, with the loop's body at each `yield`."""

from __future__ import annotations

from typing import cast

from ... import limits
from ...diagnostics.codes_syntax import GeneratorFunction
from ...diagnostics.diagnostic import DiagnosticError
from ...frontend.fusion import fused, renamed
from ...stage import ir as stage
from ...stage.walk import walk
from ...values.lattice import IteratorCell, Ref, Suspended, Undef, VariableCell
from ..core.engine import Engine
from ..state.frame import Frame
from .iterators import left_open


def fused_for(engine: Engine, i: stage.For, generator: Ref) -> None:
    """The loop over a generator that has not begun."""
    state, outer = engine.state, engine.current
    source = cast(Suspended, cast(IteratorCell, state.get(generator.cell)).source)
    closure, bound = source.function, dict(source.bound)
    _check(engine, i, closure.function)
    state.set(generator.cell, left_open(i.span))
    function = fused(closure.function, i, outer.function)
    frame = Frame(
        outer.id,
        function,
        closure.namespace,
        closure.module,
        dict(closure.cells),
        i.span,
        outer,
        arguments=bound,
        first_site=engine.raises.sites.next,
    )
    for name in function.locals:  # of a run before that has raised
        if (frame.id, name) in state.slots:
            state.set((frame.id, name), Undef())
    for name in function.cells:
        frame.cells[name] = state.new_cell(VariableCell(bound.get(name, Undef())))
    for name, value in bound.items():
        if name not in function.cells:
            state.set((frame.id, renamed(name, function)), value)
    engine.frame = frame
    if engine.trail is not None:
        engine.trail.enter(frame)
    try:
        engine.run_block(function.body)
    finally:
        engine.frame = outer
        _check_raised(engine, frame, i)
    for name in function.locals:
        if (frame.id, name) in state.slots:
            state.forget((frame.id, name))
    if i.until is None:
        state.set(generator.cell, IteratorCell())


def _check(engine: Engine, i: stage.For, generator: stage.Function) -> None:
    """Refuses what cannot be fused with the loop."""
    if any(isinstance(each, stage.Yield) and each.guarded for each in walk(generator.body)):
        why = "its `yield` stands in a `try` or a `with`"
        raise DiagnosticError(GeneratorFunction(span=i.span, why=why))
    frame: Frame | None = engine.current
    open_ones = 0
    while frame is not None and frame.function.suffix:
        open_ones += 1
        frame = frame.caller
    if open_ones > limits.GENERATORS_IN_GENERATORS:
        why = "only the run knows how deep it calls itself"
        raise DiagnosticError(GeneratorFunction(span=i.span, why=why))


def yield_(engine: Engine, i: stage.Yield) -> None:
    """Runs the body of the loop on the value."""
    frame = engine.current
    assert frame.caller is not None and i.target is not None
    value = engine.get(i.value)
    _note_raised(engine, frame)
    engine.frame = frame.caller
    try:
        engine.put(i.target, value)
        engine.run_block(i.body)
    finally:
        engine.frame = frame
        frame.first_site = engine.raises.sites.next


def _note_raised(engine: Engine, frame: Frame) -> None:
    """Records what the generator may have raised since its loop's body was left."""
    sites = engine.raises.sites
    if sites.next > frame.first_site:
        frame.raised |= sites.classes(frame.first_site)


def _check_raised(engine: Engine, frame: Frame, i: stage.For) -> None:
    """Refuses a StopIteration of the generator, which leaves it as a RuntimeError (PEP 479)."""
    _note_raised(engine, frame)
    if any(issubclass(cls, StopIteration) for cls in frame.raised):
        why = "it may raise StopIteration, which leaves it as a RuntimeError (PEP 479)"
        raise DiagnosticError(GeneratorFunction(span=i.span, why=why))
