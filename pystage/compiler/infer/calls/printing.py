"""Printing: the host formats values of the program, and writes them while it runs.

In: a string, known or not, and the stream that it goes to. Out: a `Print` operation that takes the token of the output
cell and leaves the next one there. The output cell passes through branches, loops and calls like any other, which keeps
the order of what is printed; where the program may have raised before, it prints only if it has not.
"""

from __future__ import annotations

import sys
from typing import cast

import numpy as np

from ....records import dataclass
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.span import Span
from ...hlo.ir import Value
from ...hlo.types import INT32
from ...ops import Convert, Negate, Print
from ...values.boundary import CallableMember, Path, PathStep, Template
from ...values.capacity import REEXECUTION
from ...values.host_evaluation import evaluate_template
from ...values.lattice import Abstract, OutputCell, Stream
from ...values.state import OUTPUT
from ..control.branches import infer_if
from ..core.engine import Engine
from ..exceptions.raising import is_running
from ..results.exits import Exit
from ..state.phi import selector_value

_NO_FRAME = 0
"""The frame of a branch that changes no variables of a function."""


def output_of(engine: Engine) -> OutputCell:
    """The output cell as it is now."""
    return cast(OutputCell, engine.state.slots[OUTPUT])


@dataclass(frozen=True, slots=True, eq=False)
class Printing:
    """Writes the string that `template` makes of the values of the program to `sys.stdout` or `sys.stderr`."""

    template: Template
    stream: str
    flush: bool

    def __call__(self, *values: np.ndarray) -> None:
        text = evaluate_template(self.template, values)
        file = getattr(sys, self.stream)
        if file is not None:
            file.write(text)
            if self.flush:
                file.flush()

    def __repr__(self) -> str:
        return self.stream


def skip_writes(engine: Engine) -> None:
    """Makes the program skip the writes that earlier runs of the same call have made."""
    path = Path(CallableMember(REEXECUTION, "re-execution"), ((PathStep.ATTRIBUTE, "skipped_writes"),))
    skipped = engine.b.op(Convert(INT32), engine.externals.unspecialised(path))
    engine.state.set(OUTPUT, OutputCell(engine.b.op(Negate(), skipped)))


def write_text(engine: Engine, stream: Stream, text: Abstract, flush: bool) -> None:
    """The program writes `text` to `stream` here, unless it has raised."""
    refuse_under_jax(engine, engine.b.span)
    running = is_running(engine)
    if running is None:
        _write(engine, stream, text, flush)
    else:
        infer_if(engine, running, _NO_FRAME, lambda: _write(engine, stream, text, flush), lambda: None)


def _write(engine: Engine, stream: Stream, text: Abstract, flush: bool) -> None:
    leaving = Exit(engine)
    printing = Printing(leaving.template(text), stream.name, flush)
    _try(engine, printing, leaving.results)
    token = selector_value(engine.b, output_of(engine).token)
    engine.state.set(OUTPUT, OutputCell(engine.b.op(Print(printing), token, *leaving.results)))


def _try(engine: Engine, printing: Printing, values: list[Value]) -> None:
    """Makes the program raise what making the string raises, as for a format that does not fit the type of a number."""
    zeros = [np.zeros(v.type.shape, v.type.dtype) for v in values]
    try:
        evaluate_template(printing.template, zeros)
    except Exception as error:
        engine.raise_(error)


def refuse_under_jax(engine: Engine, span: Span | None) -> None:
    """PS606 inside a function that JAX traces in the plain run: what is printed there is a tracer."""
    if engine.callees.traces:
        why = "JAX traces the function that prints, and plain Python prints its tracers, once"
        instead = "print outside of the function that JAX calls"
        raise DiagnosticError(NotServed(span=span, name="print", why=why, instead=instead))
