"""Renders an explanation for a terminal, as plain text and as HTML."""

from __future__ import annotations

import io
import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from ..compiler.diagnostics.catalogue import Example
from ..compiler.diagnostics.codes_runtime import ValueNotGiven
from ..compiler.diagnostics.render import more, render, render_all
from ..compiler.diagnostics.span import Span, shown_file
from ..compiler.pipeline import Staged
from ..compiler.policy import is_library_file
from .examples import example_like
from .listing import Listing, Mark, SourceLine

if TYPE_CHECKING:
    from .explanation import Explanation

_STYLES = {
    Mark.STAGED: "green",
    Mark.CONSTANT: "dim",
    Mark.UNROLLED: "cyan",
    Mark.JAX: "blue",
    Mark.REFUSED: "bold red",
    Mark.RAISES: "bold red",
    Mark.SKIPPED: "dim",
    Mark.UNKNOWN: "dim",
}
_LONG = 60
"""A function of more lines is abridged."""
_AROUND = 3
"""How many lines of context an abridged function shows."""
_WIDTH = 110
_KINDS = 4
"""How many types of one name are shown beside a line."""
_MUCH = 200
"""The types of a program that are longer are counted."""
_CONSEQUENCES = {
    "error": "a call raises StagingError",
    "lazy": "a call runs as Python, and what can be staged of it is staged: `f.residual(…)` in Python shows which parts",
    "python": "a call runs as plain Python",
}


def as_text(
    explanation: Explanation,
    *,
    color: bool = False,
    width: int | None = None,
    full: bool = False,
    short: bool = False,
) -> str:
    """The explanation as text; `width` in characters, `full`: long functions are not abridged, `short`: problems only."""
    if short:
        return render_all(explanation.problems, short=True) or _first_line(explanation)
    target = io.StringIO()
    console = console_to(target, color, width or _WIDTH)
    console.print(_document(explanation, full))
    text = target.getvalue()
    if explanation.problems:
        text += "\n" + _problems(explanation, color, width) + "\n"
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).rstrip("\n")


def console_to(target: TextIO, color: bool, width: int) -> Console:
    """What prints to a file in so many columns, with the colours of a terminal or without any."""
    return Console(
        file=target,
        force_jupyter=False,  # which would display what is printed
        force_terminal=color,
        color_system="standard" if color else None,
        width=width,
        highlight=False,
    )


def assumption(assumed: Mapping[str, int]) -> str:
    """That these values of parameters stand for any, and what a call does."""
    return f"{_stand_ins(assumed)}: a call makes a program for its own"


def _stand_ins(assumed: Mapping[str, int]) -> str:
    names = " and ".join([f"`{name} = {value}`" for name, value in assumed.items()])
    return f"{names} stands for any value" if len(assumed) == 1 else f"{names} stand for any values"


def _problems(explanation: Explanation, color: bool, width: int | None) -> str:
    """The problems, each with the rewrite that was tried."""
    texts: list[str] = []
    shown: list[Example] = []
    last = {problem.code: i for i, problem in enumerate(explanation.problems)}
    for i, (problem, rewrite) in enumerate(zip(explanation.problems, explanation.rewrites, strict=True)):
        texts.append(render(problem, color=color, width=width, page=False))
        if rewrite is not None:
            verdict = (
                "with it the function is compiled" if rewrite.complete else "with it this problem is gone"
            )
            texts[-1] += "\n" + "\n".join([f"checked: {rewrite.text}; {verdict}", *rewrite.diff()])
        elif (example := example_like(problem)) is not None and example not in shown:
            shown.append(example)
            texts[-1] += "\n" + "\n".join(_like(example))
        if last[problem.code] == i:
            texts[-1] += "\n" + more(problem)
    return "\n\n".join(texts)


def _like(example: Example) -> Iterator[str]:
    """An example, before and after."""
    yield "a program like it:"
    yield from [f"    {line}".rstrip() for line in example.program.splitlines()]
    yield "and how it works:" if example.is_rewrite else "and what works, but gives something else:"
    yield from [f"    {line}".rstrip() for line in example.rewritten.splitlines()]


def as_html(explanation: Explanation) -> str:
    """The explanation as a piece of HTML, for notebooks."""
    console = Console(record=True, file=io.StringIO(), width=_WIDTH, highlight=False, force_jupyter=False)
    console.print(_document(explanation, full=False))
    if explanation.problems:
        console.print()
        console.print(Text.from_ansi(_problems(explanation, True, None)))
    code = '<pre style="font-family:monospace;line-height:1.35;white-space:pre-wrap">{code}</pre>'
    return console.export_html(inline_styles=True, code_format=code)


def as_json(explanation: Explanation) -> str:
    """The explanation as JSON: the verdict, the functions line by line, the problems."""
    staged = explanation.staged
    found = {
        "function": explanation.name,
        "compiled": staged is not None,
        "program": None if staged is None else staged.takes_and_gives,
        "fallback": explanation.fallback,
        "assumed": dict(explanation.assumed),
        "functions": [
            {
                "name": each.name,
                "file": each.span.file,
                "lines": [
                    {
                        "line": line.number,
                        "text": line.text,
                        "mark": line.mark.value,
                        "trips": line.trips,
                        "names": {name: list(types) for name, types in line.names.items()},
                    }
                    for line in each.lines
                ],
            }
            for each in explanation.listings
        ],
        "problems": [
            {**problem.as_dict(), "rewrite": None if rewrite is None else rewrite.as_dict()}
            for problem, rewrite in zip(explanation.problems, explanation.rewrites, strict=True)
        ],
    }
    return json.dumps(found, indent=2)


def _first_line(explanation: Explanation) -> str:
    return next(iter(_verdict(explanation))).plain


def _document(explanation: Explanation, full: bool) -> Group:
    first, *others = explanation.listings or [None]
    shown = [each for each in others if each is not None and (full or each.refused)]
    parts: list[Text | Table] = list(_verdict(explanation))
    for listing in [first, *shown]:
        if listing is not None:
            parts += [Text(), _heading(listing), _table(listing, full)]
    left = [each for each in others if each is not None and each not in shown]
    if left:
        names = ", ".join([f"{each.name} ({_location(each)})" for each in left])
        parts += [Text(), Text(f"called, and staged: {names}", "dim")]
    return Group(*parts)


def _verdict(explanation: Explanation) -> Iterable[Text]:
    staged = explanation.staged
    if staged is not None:
        types = staged.takes_and_gives
        if len(types) > _MUCH:
            count = len(staged.program.function.param_types)
            types = f"{explanation.name}({count} arrays){types.removeprefix(staged.takes)}"
        if staged.raised is not None:
            yield Text(f"whatever the values are, {types}", "bold red")
        else:
            yield Text(f"{explanation.name} is compiled: {types}", "bold green")
        yield from _demands(staged)
        if explanation.assumed:
            yield Text(f"  {assumption(explanation.assumed)}")
        if explanation.problems and staged.raised is None:
            yield Text(
                "  it raises wherever it gets to the lines that are marked so, whatever the values are",
                "bold red",
            )
        return
    count = len(explanation.problems)
    problems = "1 problem" if count == 1 else f"{count} problems"
    yield Text(f"{explanation.name} is not compiled for these arguments: {problems}", "bold red")
    if explanation.assumed:
        yield Text(f"  {_stand_ins(explanation.assumed)}")
    if all(isinstance(problem, ValueNotGiven) for problem in explanation.problems):
        yield Text("  a call has the values, and may be compiled")
    else:
        yield Text(f"  {_CONSEQUENCES[explanation.fallback]}")
    hidden = _behind(explanation)
    if hidden:
        lines = "1 further line needs" if hidden == 1 else f"{hidden} further lines need"
        yield Text(f"  {lines} what is refused: there may be more problems in them")


def _behind(explanation: Explanation) -> int:
    """How many lines were not looked at because of others."""
    places = {(p.span.file, p.span.line) for p in explanation.problems if p.span is not None}
    return sum(
        line.mark in (Mark.REFUSED, Mark.UNKNOWN) and (each.span.file, line.number) not in places
        for each in explanation.listings
        for line in each.lines
    )


def _demands(staged: Staged) -> Iterable[Text]:
    """The numbers that the program was made for, those together that one line asks for."""
    demanded: dict[tuple[str, Span | None], list[str]] = {}
    for demand in staged.demands:
        demanded.setdefault((demand.reason, demand.span), []).append(
            f"{demand.where} = {reprlib.repr(demand.value)}"
        )
    for (reason, span), numbers in demanded.items():
        known = span is not None and not is_library_file(span.file)
        where = f", {shown_file(span.file)}:{span.line}" if span is not None and known else ""
        more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
        yield Text(f"  a program for {numbers[0]}{more} alone: {reason.rstrip(',')}{where}")


def _heading(listing: Listing) -> Text:
    return Text.assemble((listing.name, "bold"), (f"  {_location(listing)}", "dim"))


def _location(listing: Listing) -> str:
    return f"{shown_file(listing.span.file)}:{listing.span.line}"


def _table(listing: Listing, full: bool) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(overflow="fold", ratio=3)
    table.add_column(overflow="fold", ratio=2)
    for line in _abridged(listing, full):
        if line is None:
            table.add_row("", "⋮", "", "")
            continue
        mark = line.mark.value if line.trips is None else f"unrolled ×{line.trips}"
        style = _STYLES.get(line.mark, "")
        text = Text(line.text.expandtabs(4) or " ", style="dim" if line.mark is Mark.SKIPPED else "")
        table.add_row(Text(mark, style), str(line.number), text, Text(_names(line), "italic"))
    return table


def _names(line: SourceLine) -> str:
    return "  ".join([f"{name}: {_kinds(types)}" for name, types in line.names.items()])


def _kinds(types: Sequence[str]) -> str:
    """The types that a name has, of many the first."""
    if len(types) <= _KINDS:
        return " | ".join(types)
    return f"{' | '.join(types[: _KINDS - 1])} | {len(types) - _KINDS + 1} more"


def _abridged(listing: Listing, full: bool) -> Sequence[SourceLine | None]:
    """The lines that are shown; None for some that are left out."""
    lines = listing.lines
    if full or len(lines) <= _LONG:
        return lines
    matter = [
        i for i, line in enumerate(lines) if line.mark in (Mark.REFUSED, Mark.RAISES, Mark.JAX) or line.trips
    ]
    matter = [0, 1, *matter, len(lines) - 1] if matter else [*range(_LONG // 2), len(lines) - 1]
    kept = {j for i in matter for j in range(i - _AROUND, i + _AROUND + 1)}
    found: list[SourceLine | None] = []
    for i, line in enumerate(lines):
        if i in kept:
            found.append(line)
        elif found and found[-1] is not None:
            found.append(None)
    return found
