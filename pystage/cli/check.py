"""`pystage check`: checks shapes and types of array programs without a call, with named dimensions as symbols."""

from __future__ import annotations

import argparse
import contextlib
import linecache
import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from types import ModuleType

from ..compiler.diagnostics.codes_syntax import DoesNotImport
from ..compiler.diagnostics.diagnostic import Note
from ..compiler.diagnostics.span import Span
from .checker.file_syntax import Written, read
from .checker.files import files_of, imports_from, root_of
from .checker.findings import Finding, Findings, relative, relative_all
from .checker.formats import FORMATS
from .checker.functions import Checked, NotChecked, functions_of
from .checker.generic import Generic
from .checker.inference import Inference
from .targets import ImportFailed, dimensions, module_at, refuse_unknown, users_traceback


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declares the subcommand."""
    parser = commands.add_parser(
        "check", help="check shapes and types of annotated functions, without a call"
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file, a folder, or a module by name")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how findings are written")
    parser.add_argument(
        "--dim",
        metavar="NAME=SIZE",
        action="append",
        default=[],
        help="a named dimension that has this size; without it the check is for any size",
    )
    parser.add_argument("--strict", action="store_true", help="fail also where a function cannot be checked")
    parser.add_argument(
        "--only", choices=["types"], help="leave out problems of what is right and merely cannot be compiled"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Checks what stands under the paths; 1 if something is wrong."""
    check = CheckRun(options.paths, dimensions(options.dim))
    findings = check.run()
    found = findings.problems()
    problems = [finding for finding in found if options.only is None or not finding.is_of_staging]
    warnings = findings.warnings(check.imported)
    shown = [relative_all(finding) for finding in (*problems, *warnings)]
    written = FORMATS[options.format](shown, options.format == "text" and sys.stdout.isatty())
    if written:
        print(written, end="\n\n" if options.format == "text" else "\n")
    to = sys.stdout if options.format == "text" else sys.stderr
    _tell(findings, len(problems), _not_compiled(found), to is sys.stdout)
    return 1 if problems or (options.strict and findings.unchecked) else 0


class CheckRun:
    """One run of the checker; `everything`: it imports also files that have nothing to check."""

    def __init__(self, paths: Sequence[str], dims: dict[str, int], *, everything: bool = False) -> None:
        self.everything = everything
        self.modules: list[tuple[Path, ModuleType]] = []
        self.not_imported: list[tuple[Path, BaseException]] = []
        self.files = files_of(paths)
        self.dims = dims
        self.written = {str(path): read(path) for path in self.files}
        self.imported: list[Written] = []
        self.dimensions: set[str] = set()
        self.findings = Findings(self._written)

    def run(self) -> Findings:
        """Checks every file, those that are imported from one folder together."""
        for root, files in groupby(self.files, root_of):
            with imports_from(root):
                for path in files:
                    self._file(path, self.written[str(path)])
        _progress("")
        if not self.not_imported:
            refuse_unknown(self.dims, self.dimensions)
        return self.findings

    def _written(self, file: str) -> Written | None:
        return self.written.get(os.path.realpath(file))

    def _file(self, path: Path, written: Written) -> None:
        for span in written.jitted:
            why = "it is compiled by `jax.jit`, not by pystage"
            self.findings.not_checked(span.function, span, why)
        if not (self.everything or written.is_worth_importing):
            return
        _progress(f"{relative(Span(str(path), 0, 0, 0, 0)).file}")
        try:
            with contextlib.redirect_stdout(sys.stderr):
                module = module_at(path)
        except ImportFailed as failed:
            self.findings.add_file(*_not_imported(path, failed.error))
            self.not_imported.append((path, failed.error))
            return
        self.imported.append(written)
        self.modules.append((path, module))
        functions = functions_of(module, path)
        self.findings.files += bool(functions)
        for checked in functions:
            self.dimensions |= checked.dimensions
            self._function(checked, written)

    def _function(self, checked: Checked, written: Written) -> None:
        _progress(f"{relative(checked.span)} {checked.name}")
        inference = Inference(checked, _returns(checked, written))
        try:
            self.findings.add(Generic(inference, self.dims, written.integers).problems(), checked)
        except NotChecked as reason:
            self.findings.not_checked(checked.name, checked.span, str(reason))


def _returns(checked: Checked, written: Written) -> Span:
    """The place of the return annotation; that of the function where it has none."""
    node = written.definition_at(checked.written.__code__.co_firstlineno)
    if node is None or node.returns is None:
        return checked.span
    at = node.returns
    lines = written.text.splitlines()
    column = len(lines[at.lineno - 1].encode()[: at.col_offset].decode())
    end_line, end_offset = at.end_lineno or at.lineno, at.end_col_offset or at.col_offset
    end = len(lines[end_line - 1].encode()[:end_offset].decode())
    return Span(checked.span.file, at.lineno, column, end_line, end, checked.span.function)


def _not_imported(path: Path, error: BaseException) -> tuple[DoesNotImport, Span]:
    """What to say of a file that does not import: at the line where it stops, with Python's traceback."""
    line, column, end = 1, 0, 0
    if isinstance(error, SyntaxError) and error.filename and os.path.realpath(error.filename) == str(path):
        line = error.lineno or 1
        column = max((error.offset or 1) - 1, 0)
        same = (error.end_lineno or line) == line
        end = max((error.end_offset or 0) - 1, column + 1) if same else column + 1
    trace = error.__traceback__
    while trace is not None:
        if os.path.realpath(trace.tb_frame.f_code.co_filename) == str(path):
            line = trace.tb_lineno
            shown = linecache.getline(str(path), line).rstrip()
            column, end = len(shown) - len(shown.lstrip()), len(shown)
        trace = trace.tb_next
    span = Span(str(path), line, column, line, end)
    text = f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
    notes = (Note(users_traceback(error)),)
    return DoesNotImport(span=span, notes=notes, file=path.name, error=text), span


def _not_compiled(problems: Sequence[Finding]) -> int:
    """How many functions have no problem but that they cannot be staged."""
    functions = {finding.home for finding in problems if finding.home is not None}
    return len(functions - {finding.home for finding in problems if not finding.is_of_staging})


def _tell(findings: Findings, problems: int, not_compiled: int, with_reasons: bool) -> None:
    """What was not checked, and the sums."""
    write = partial(print, file=sys.stdout if with_reasons else sys.stderr)
    for each in findings.unchecked:
        write(f"{relative(each.span)}: {each.name} is not checked: {each.why}")
    if findings.unchecked:
        write()
    counts = [_count(problems, "problem")]
    if not_compiled:
        counts.append(f"{_count(not_compiled, 'function')} merely not compiled")
    counts.append(f"{len(findings.unchecked)} not checked")
    functions = f"{_count(findings.checked, 'function')} in {_count(findings.files, 'file')}"
    write(f"checked {functions}: {', '.join(counts)}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _progress(text: str) -> None:
    """Shows on a terminal what is being checked."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
