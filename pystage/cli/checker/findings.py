"""The findings of a check: problems, each at one location and once, warnings, and what was not checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path

from ...compiler.diagnostics.codes_syntax import DoesNotImport, IgnoresNothing
from ...compiler.diagnostics.diagnostic import Diagnostic, Note
from ...compiler.diagnostics.span import Span
from ...records import dataclass
from ..targets import is_ours
from .file_syntax import Written
from .functions import Checked

_OF_TYPES = "PS2"
"""How the codes of problems with shapes and types begin; some of these are of what is merely not staged."""
_ANY = ""
"""No code: comments that ignore all ignore it, too."""


@dataclass(frozen=True)
class Finding:
    """A problem, or a warning, with its span and the function in which it was found."""

    diagnostic: Diagnostic
    span: Span
    function: str
    severity: str = "error"
    home: Span | None = None

    @property
    def is_of_staging(self) -> bool:
        """True if plain Python may run the program well, and only no compiled program can."""
        if isinstance(self.diagnostic, DoesNotImport):
            return False
        return not self.diagnostic.code.startswith(_OF_TYPES) or self.diagnostic.ever is not None


@dataclass(frozen=True)
class Unchecked:
    """A function that was not checked, and why."""

    name: str
    span: Span
    why: str


@dataclass
class Findings:
    """Gathers what is found in files. `written` gives the text of a file under the paths, None for others."""

    written: Callable[[str], Written | None]
    checked: int = 0
    files: int = 0
    unchecked: list[Unchecked] = field(default_factory=list)
    by_function: list[tuple[Checked, list[Diagnostic]]] = field(default_factory=list)
    _problems: dict[tuple[str, Span], Finding] = field(default_factory=dict)

    def add(self, diagnostics: Iterable[Diagnostic], of: Checked) -> None:
        """Notes the problems of one function."""
        self.checked += 1
        placed = [self._placed(diagnostic, of) for diagnostic in diagnostics]
        self.by_function.append((of, placed))
        for diagnostic in placed:
            self._add(diagnostic, of)

    def add_file(self, diagnostic: Diagnostic, span: Span) -> None:
        """Notes the problem of a whole file."""
        self._problems[diagnostic.code, span] = Finding(diagnostic, span, "")

    def not_checked(self, name: str, span: Span, why: str) -> None:
        """Notes a function that cannot be checked, unless a comment in its header ignores that.

        Nobody can say that a comment in it ignores nothing.
        """
        written = self.written(span.file)
        if written is None or not written.ignoring(_ANY, span):
            self.unchecked.append(Unchecked(name, span, why))
        if written is not None:
            lines = written.lines_of(span.line)
            for ignore in written.ignores:
                ignore.used = ignore.used or ignore.span.line in lines

    def problems(self) -> list[Finding]:
        """The problems that no comment ignores, in source order."""
        left = [finding for finding in self._problems.values() if not self._is_ignored(finding)]
        return sorted(left, key=lambda f: (f.span.file, f.span.line, f.span.column, f.diagnostic.code))

    def warnings(self, files: Sequence[Written]) -> list[Finding]:
        """The comments that ignored nothing; to be asked for after `problems`."""
        found = []
        for ignore in [ignore for written in files for ignore in written.ignores if not ignore.used]:
            problem = "problem" if ignore.codes is None else " or ".join(sorted(ignore.codes))
            diagnostic = IgnoresNothing(span=ignore.span, problem=problem)
            found.append(Finding(diagnostic, ignore.span, "", "warning"))
        return found

    def _add(self, diagnostic: Diagnostic, of: Checked) -> None:
        assert diagnostic.span is not None
        key = diagnostic.code, replace(diagnostic.span, function="")
        known = self._problems.get(key)
        if known is None:
            self._problems[key] = Finding(diagnostic, diagnostic.span, of.name, home=of.span)
            return
        if known.function != of.name:
            note = Note(f"also reached from `{of.name}`", of.span)
            notes = tuple(dict.fromkeys((*known.diagnostic.notes, note)))
            self._problems[key] = replace(known, diagnostic=replace(known.diagnostic, notes=notes))

    def _placed(self, diagnostic: Diagnostic, of: Checked) -> Diagnostic:
        """The diagnostic with its place under the paths: that of the innermost call there, if it is elsewhere itself."""
        span = diagnostic.span
        if span is not None and self.written(span.file) is not None:
            return diagnostic
        calls = [note for note in diagnostic.notes if note.span is not None and self.written(note.span.file)]
        notes = tuple([note for note in diagnostic.notes if not calls or note is not calls[0]])
        if span is not None and span.line and not is_ours(span.file):
            notes = (Note("it is found here", span), *notes)
        return replace(diagnostic, span=calls[0].span if calls else of.span, notes=notes)

    def _is_ignored(self, finding: Finding) -> bool:
        written = self.written(finding.span.file)
        found = [] if written is None else written.ignoring(finding.diagnostic.code, finding.span)
        for ignore in found:
            ignore.used = True
        return bool(found)


def relative(span: Span) -> Span:
    """The place with its file as seen from the current folder, where it lies below."""
    path = Path(os.path.realpath(span.file))
    here = Path.cwd().resolve()
    return replace(span, file=str(path.relative_to(here))) if here in path.parents else span


def relative_all(finding: Finding) -> Finding:
    """The finding with all its paths relative to the current folder."""
    diagnostic = finding.diagnostic
    notes = tuple([replace(note, span=note.span and relative(note.span)) for note in diagnostic.notes])
    span = relative(finding.span)
    return replace(finding, span=span, diagnostic=replace(diagnostic, span=span, notes=notes))
