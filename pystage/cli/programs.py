"""The programs of a call at every stage, each line with its source location.

In: a function and its arguments. Out: a `StageListing` for each stage, which `dump` writes and the explorer shows.
"""

from __future__ import annotations

import enum
import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..compiler.diagnostics.errors import StagingError
from ..compiler.diagnostics.span import Span
from ..compiler.hlo.ir import Function
from ..compiler.hlo.printer import lines_of as lines_of_typed
from ..compiler.hlo.walk import functions
from ..compiler.pipeline import Staged
from ..compiler.stage.printer import lines_of as lines_of_lowered
from ..explain.explanation import with_values
from ..introspection import as_compiled, lower, stage_ir
from ..records import dataclass
from ..runtime.lowering import Compiled, Lowered
from ..runtime.reports.hlo_text import SourceLocation, hlo_lines
from ..runtime.reports.mlir_text import mlir_lines
from .targets import NamedTarget, is_ours

_COLUMN = 72
_NO_OPERATION = re.compile(
    r"\s*($|\}|(def|lambda|cells|free|function|fenced|return|yield|else|finally|pass)\b(?! =))"
)


class Stage(enum.Enum):
    """A stage of a compilation, by the name that `--stage` takes."""

    LOWERED = "lowered"
    TYPED = "typed"
    STABLEHLO = "stablehlo"
    HLO = "hlo"
    OPTIMIZED = "optimized"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a program, its source location, and whether it is an operation."""

    text: str
    place: SourceLocation | None
    operation: bool


@dataclass(frozen=True, slots=True)
class StageListing:
    """A program at one stage."""

    stage: Stage
    lines: tuple[Line, ...]

    @property
    def operations(self) -> int:
        """How many operations the program has."""
        return sum([line.operation for line in self.lines])

    def __str__(self) -> str:
        """The text, with source locations as comments of the stage's language at the right."""
        comment = "#" if self.stage in (Stage.LOWERED, Stage.TYPED) else "//"
        rows = []
        for line in self.lines:
            where = f"  {comment} {location_comment(line.place)}" if line.place else ""
            rows.append(f"{line.text:<{_COLUMN}}{where}" if where else line.text)
        return "\n".join(rows) + "\n"


class Programs:
    """The programs of a call, built on first access. StagingError with all problems if it cannot be staged."""

    def __init__(self, target: NamedTarget) -> None:
        self._target = target
        self.assumed: Mapping[str, int] = {}
        """What stands for integers whose value the program needs and of which only the type is given, as for `explain`."""

    @functools.cached_property
    def _lowered(self) -> Lowered:
        function, args, kwargs = self._target.function, self._target.args, self._target.kwargs
        try:
            return lower(function, args, kwargs)
        except StagingError:
            explanation = as_compiled(function).explain(*args, **kwargs)
            if explanation.staged is None:
                raise StagingError(explanation.problems) from None
            self.assumed = explanation.assumed
            return lower(function, *with_values(function, args, kwargs, self.assumed))

    @property
    def staged(self) -> Staged:
        """The program, as inferred and as simplified."""
        return self._lowered.staged

    @functools.cached_property
    def compiled(self) -> Compiled:
        """The program as XLA compiled it."""
        return self._lowered.compile()

    @functools.cached_property
    def places(self) -> frozenset[SourceLocation]:
        """The locations in the user's source that the program comes from."""
        return frozenset(_places((self.staged.program.function, self.staged.function)))

    def listing(self, stage: Stage) -> StageListing:
        """The program at a stage."""
        match stage:
            case Stage.LOWERED:
                return _listing_of_spans(stage, lines_of_lowered(stage_ir(self._target.function)))
            case Stage.TYPED:
                return _listing_of_spans(stage, lines_of_typed(self.staged.program.function))
            case Stage.STABLEHLO:
                return self._listing(stage, mlir_lines(self._lowered.as_text(debug_info=True)))
            case Stage.HLO:
                return self._listing(stage, hlo_lines(self._lowered.as_text("hlo", debug_info=True)))
            case Stage.OPTIMIZED:
                return self._listing(stage, hlo_lines(self.compiled.as_text()))

    def _listing(
        self, stage: Stage, lines: Iterable[tuple[str, tuple[SourceLocation, ...], bool]]
    ) -> StageListing:
        """The listing of a stage; a line's location is the innermost one in the user's source."""
        known = self.places
        return StageListing(
            stage,
            tuple([Line(text, next((p for p in at if p in known), None), op) for text, at, op in lines]),
        )


def location_of(span: Span | None) -> SourceLocation | None:
    """The file and the line of a span in the user's source."""
    return (span.file, span.line) if span is not None and span.line and not is_ours(span.file) else None


def location_comment(place: SourceLocation) -> str:
    """A location as a comment shows it."""
    return f"{os.path.basename(place[0])}:{place[1]}"


def _places(roots: Iterable[Function]) -> Iterator[SourceLocation]:
    for root in roots:
        for function in functions(root):
            for span in [function.span, *[op.span for op in function.body.walk()]]:
                place = location_of(span)
                if place:
                    yield place


def _listing_of_spans(stage: Stage, lines: Iterable[tuple[str, Span | None]]) -> StageListing:
    return StageListing(
        stage,
        tuple([Line(text, location_of(span), _NO_OPERATION.match(text) is None) for text, span in lines]),
    )
