"""`pystage explain FOLDER`: how many functions of a package compile, and the most frequent reasons why others do not.

A function whose annotations say what its arguments are is inferred, as `pystage check` does it; of another one the source is
read, which finds what no types are needed for.
"""

from __future__ import annotations

import importlib.util
import io
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.table import Table

from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.errors import StagingError
from ..compiler.diagnostics.span import Span
from ..explain.text import console_to
from ..introspection import stage_ir
from ..records import dataclass
from ..runtime.arguments.targets import definition_of, target_of
from .check import CheckRun
from .checker.findings import relative
from .checker.functions import functions_in
from .targets import as_written

_REASONS = 10
"""How many reasons are told."""


@dataclass(frozen=True)
class Seen:
    """A function of a package, and what refuses it; `inferred`: what its arguments are is known."""

    name: str
    span: Span
    inferred: bool
    refusals: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class FrequentReason:
    """A reason why functions are not compiled, and the first place."""

    code: str
    headline: str
    functions: int
    place: Span | None


@dataclass(frozen=True)
class PackageSummary:
    """The functions of a package, and the files that do not import, with what they raise."""

    functions: tuple[Seen, ...]
    not_imported: tuple[tuple[Path, str], ...]

    @property
    def reasons(self) -> list[FrequentReason]:
        """The reasons why functions are not compiled, the most frequent first."""
        found: defaultdict[tuple[str, str], list[Diagnostic]] = defaultdict(list)
        for each in self.functions:
            for key, problem in {(p.code, p.headline): p for p in each.refusals}.items():
                found[key].append(problem)
        reasons = [FrequentReason(*key, len(each), each[0].span) for key, each in found.items()]
        return sorted(reasons, key=lambda reason: (-reason.functions, reason.code, reason.headline))


def is_package(target: str) -> bool:
    """Whether a target is a folder, or a package by name."""
    if os.path.isdir(target):
        return True
    if not all(part.isidentifier() for part in target.split(".")):
        return False
    try:
        spec = importlib.util.find_spec(target)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.submodule_search_locations is not None and spec.origin is not None


def summary_of(target: str) -> PackageSummary:
    """Imports the modules of a package and looks at their functions. `UsageError` where there is no Python file."""
    check = CheckRun([target], {}, everything=True)
    check.run()
    seen = [
        Seen(checked.name, checked.span, True, tuple(found)) for checked, found in check.findings.by_function
    ]
    known = {(each.span.file, each.span.line) for each in seen}
    for path, module in check.modules:
        for each in _read(module, path):
            if (each.span.file, each.span.line) not in known:
                known.add((each.span.file, each.span.line))
                seen.append(each)
    failed = [(path, f"{type(error).__name__}: {error}") for path, error in check.not_imported]
    return PackageSummary(tuple(sorted(seen, key=lambda s: (s.span.file, s.span.line))), tuple(failed))


def _read(module: ModuleType, path: Path) -> Iterator[Seen]:
    """The functions of a module as far as their source tells."""
    for name, function in functions_in(module):
        written = target_of(as_written(function)).fn
        span = definition_of(written)
        if span is None or os.path.realpath(span.file) != str(path):
            continue
        try:
            stage_ir(function)
        except StagingError as error:
            yield Seen(name, span, False, error.diagnostics)
        else:
            yield Seen(name, span, False, ())


def as_data(summary: PackageSummary) -> dict[str, Any]:
    """The summary as data for JSON: lines count from 1, columns from 0."""
    return {
        "functions": [
            {
                "name": each.name,
                "file": each.span.file,
                "line": each.span.line,
                "inferred": each.inferred,
                "compiles": each.inferred and not each.refusals,
                "problems": [problem.as_dict() for problem in each.refusals],
            }
            for each in summary.functions
        ],
        "reasons": [
            {"code": reason.code, "headline": reason.headline, "functions": reason.functions}
            for reason in summary.reasons
        ],
        "not imported": [{"file": str(path), "error": error} for path, error in summary.not_imported],
    }


def as_text(summary: PackageSummary, *, full: bool = False, color: bool = False, width: int = 110) -> str:
    """The summary as tables: the functions by file, and the reasons; `full`: all reasons."""
    target = io.StringIO()
    console = console_to(target, color, width)
    console.print(_files(summary.functions))
    reasons = summary.reasons
    if reasons:
        console.print(_reasons(reasons if full else reasons[:_REASONS]))
        if len(reasons) > _REASONS and not full:
            console.print(f"and {len(reasons) - _REASONS} more (--all)")
    for path, error in summary.not_imported:
        console.print(f"{path} does not import: {error}", markup=False)
    return "\n".join([line.rstrip() for line in target.getvalue().splitlines()])


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        is_text = name in ("file", "code", "reason", "first")
        table.add_column(name, justify="left" if is_text else "right", overflow="fold")
    return table


def _files(functions: Sequence[Seen]) -> Table:
    """How many functions of each file compile."""
    names = "compiled", "not compiled", "read, not refused", "read, refused"
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in functions:
        kind = names[2 * (not each.inferred) + bool(each.refusals)]
        counts[relative(each.span).file][kind] += 1
    total = sum(counts.values(), Counter[str]())
    known = total[names[0]] + total[names[1]]
    title = f"{len(functions)} functions; annotations say what {known} of them take: {total[names[0]]} of these compile"
    table = _table(title, "file", *names)
    for file, found in [*sorted(counts.items()), ("in all", total)]:
        table.add_row(file, *[str(found[name] or "") for name in names])
    return table


def _reasons(reasons: Sequence[FrequentReason]) -> Table:
    table = _table("\nwhy functions are not compiled", "functions", "code", "reason", "first")
    for reason in reasons:
        place = "" if reason.place is None else f"{relative(reason.place).file}:{reason.place.line}"
        table.add_row(str(reason.functions), reason.code, reason.headline, place)
    return table
