"""The explorer: one page with a function's source and what each line became, side by side.

In: a target. Out: HTML that needs no server and no network. Lines with the same source location have one number, by which
the page highlights them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.errors import StagingError
from ..compiler.diagnostics.span import Span
from ..records import dataclass
from ..runtime.arguments.targets import definition_of, target_of
from ..runtime.reports.hlo_text import SourceLocation
from .callgraph import Calls, calls_of
from .colors import STYLES, program_line
from .costs import Cost, costs_of
from .excerpts import Excerpt, excerpts
from .programs import Programs, Stage, StageListing, location_of
from .quantities import amount, bytes_text
from .targets import NamedTarget, plain

TITLES = {
    Stage.LOWERED: "Lowered",
    Stage.TYPED: "Typed program",
    Stage.STABLEHLO: "StableHLO",
    Stage.OPTIMIZED: "Optimised HLO",
}
"""The panes beside the source, in order."""
MAX_LINES = 4000
"""How many lines of a program the page holds."""
MAX_COLUMNS = 400
"""How many characters of a line."""


@dataclass(frozen=True, slots=True)
class Page:
    """The explorer's page, and the error where the function cannot be staged."""

    html: str
    error: StagingError | None


@dataclass(frozen=True, slots=True)
class Pane:
    """A program beside the source: rows of HTML, each with the number of its place."""

    stage: str
    title: str
    rows: tuple[tuple[Markup, int | None], ...]
    left_out: int
    cut: bool
    opened: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """A diagnostic as the page shows it."""

    code: str
    headline: str
    label: str
    notes: tuple[tuple[str, SourceLocation | None], ...]
    advice: str
    place: SourceLocation | None


@dataclass(frozen=True)
class Contents:
    """What the page shows: data that the template lays out."""

    name: str
    signature: str
    definition: SourceLocation | None
    listings: tuple[StageListing, ...]
    problems: tuple[Problem, ...] = ()
    calls: Calls | None = None
    costs: dict[SourceLocation | None, Cost] = field(default_factory=dict)
    totals: tuple[tuple[str, str], ...] = ()

    def places(self) -> Iterator[SourceLocation]:
        """Every place that the page speaks of, the function's definition first."""
        if self.definition:
            yield self.definition
        for problem in self.problems:
            yield from [place for place in (problem.place, *[p for _, p in problem.notes]) if place]
        for call in self.calls.walk() if self.calls else ():
            yield from [place for place in (call.place, *call.lines) if place]
        for listing in self.listings:
            yield from [line.place for line in listing.lines if line.place]


def page(target: NamedTarget) -> Page:
    """The explorer of one call of a function; where it cannot be staged, of its source and the problems."""
    try:
        return Page(html_of(contents(target)), None)
    except StagingError as error:
        return Page(html_of(failed(target, error)), error)


def name_of(target: NamedTarget) -> str:
    """The name by which the user asked for the function."""
    return target.name.rpartition(":")[2]


def contents(target: NamedTarget) -> Contents:
    """What the page shows of a function that is staged. StagingError if it is not."""
    programs = Programs(target)
    staged, definition = programs.staged, _definition(target)
    return Contents(
        name_of(target),
        str(staged),
        location_of(definition),
        tuple([programs.listing(stage) for stage in TITLES]),
        calls=calls_of(
            staged.program.function, None if _is_transform(target) else definition, name_of(target)
        ),
        costs=costs_of(staged.function),
        totals=tuple(_totals(programs)),
    )


def failed(target: NamedTarget, error: StagingError) -> Contents:
    """What the page shows of a function that is not staged: its source, why, and the lowered program if there is one."""
    try:
        listings: tuple[StageListing, ...] = (Programs(target).listing(Stage.LOWERED),)
    except StagingError:
        listings = ()
    problems = tuple([_problem(diagnostic) for diagnostic in error.diagnostics])
    return Contents(name_of(target), "", location_of(_definition(target)), listings, problems)


def _is_transform(target: NamedTarget) -> bool:
    """True for a derivative, or the like, of what the user wrote."""
    return getattr(target.function, "transformed", None) is not None


def _definition(target: NamedTarget) -> Span | None:
    return definition_of(target_of(plain(target.function)).fn)


def _problem(diagnostic: Diagnostic) -> Problem:
    return Problem(
        diagnostic.code,
        diagnostic.headline,
        diagnostic.caret_label,
        tuple([(note.text, location_of(note.span)) for note in diagnostic.notes]),
        diagnostic.advice,
        location_of(diagnostic.span),
    )


def _totals(programs: Programs) -> Iterator[tuple[str, str]]:
    """What is assumed, and XLA's own estimates for the optimised program; which there are depends on the backend."""
    for name, value in programs.assumed.items():
        yield f"{name}, which stands for any value", str(value)
    costs: Any = programs.compiled.cost_analysis() or {}
    for key, words in (
        ("flops", "arithmetic operations (flops)"),
        ("transcendentals", "of functions such as exp"),
    ):
        if key in costs:
            yield words, amount(costs[key])
    if "bytes accessed" in costs:
        yield "bytes read and written", bytes_text(costs["bytes accessed"])
    memory: Any = programs.compiled.memory_analysis()
    for key, words in (
        ("argument_size_in_bytes", "memory of arguments"),
        ("output_size_in_bytes", "memory of results"),
        ("temp_size_in_bytes", "memory in between"),
    ):
        if hasattr(memory, key):
            yield words, bytes_text(getattr(memory, key))


def html_of(shown: Contents) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("pystage.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    numbers = {place: i for i, place in enumerate(dict.fromkeys(shown.places()))}
    problems: dict[SourceLocation, list[Problem]] = {}
    for problem in shown.problems:
        if problem.place:
            problems.setdefault(problem.place, []).append(problem)
    return environment.get_template("explorer.html").render(
        shown=shown,
        numbers=numbers,
        problems=problems,
        files=_readable(excerpts(numbers)),
        panes=_panes(shown, numbers),
        sizes=[(TITLES[listing.stage], listing.operations) for listing in shown.listings],
        counts=_counts(shown.listings),
        amount=amount,
        bytes_text=bytes_text,
        styles=STYLES,
    )


def _readable(files: Sequence[Excerpt]) -> list[Excerpt]:
    return [file for file in files if file.rows]


def _panes(shown: Contents, numbers: dict[SourceLocation, int]) -> list[Pane]:
    return [
        Pane(
            listing.stage.value,
            TITLES[listing.stage],
            tuple(
                [
                    (program_line(_cut(li.text)), numbers.get(li.place) if li.place else None)
                    for li in listing.lines[:MAX_LINES]
                ]
            ),
            max(0, len(listing.lines) - MAX_LINES),
            any(len(line.text) > MAX_COLUMNS for line in listing.lines[:MAX_LINES]),
            listing.stage is not Stage.LOWERED or bool(shown.problems),
        )
        for listing in shown.listings
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_COLUMNS else text[:MAX_COLUMNS] + " …"


def _counts(listings: Sequence[StageListing]) -> dict[SourceLocation, int]:
    """How many operations of the last program come from each place."""
    counts: dict[SourceLocation, int] = {}
    for line in listings[-1].lines if listings else ():
        if line.operation and line.place:
            counts[line.place] = counts.get(line.place, 0) + 1
    return counts
