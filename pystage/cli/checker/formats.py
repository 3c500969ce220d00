"""Formats findings for people, editors and continuous integration."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ...compiler.diagnostics.diagnostic import Diagnostic, Note
from ...compiler.diagnostics.render import render
from ...compiler.diagnostics.span import Span
from ...version import __version__
from .findings import Finding

Format = Callable[[Sequence[Finding], bool], str]


def text(findings: Sequence[Finding], color: bool) -> str:
    """As the compiler shows its errors: the lines, the reasons, the advice."""
    return "\n\n".join([_rendered(finding, color) for finding in findings])


def _rendered(finding: Finding, color: bool) -> str:
    shown = render(finding.diagnostic, color=color)
    return shown if finding.severity == "error" else shown.replace("error[", f"{finding.severity}[", 1)


def short(findings: Sequence[Finding], color: bool) -> str:
    """One line for each."""
    return "\n".join([f"{f.span}: {f.diagnostic.code} {f.diagnostic.headline}" for f in findings])


def as_json(findings: Sequence[Finding], color: bool) -> str:
    """A list of objects."""
    return json.dumps([_object(finding) for finding in findings], indent=2)


def _object(finding: Finding) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    return {
        "code": diagnostic.code,
        "severity": finding.severity,
        **_range(finding.span),
        "message": diagnostic.headline,
        "notes": [_note(note) for note in diagnostic.notes],
        "help": diagnostic.advice or None,
        "function": finding.function or None,
    }


def _range(span: Span) -> dict[str, Any]:
    """A place, with columns from 1; the end column is exclusive."""
    end = {"line": span.end_line, "column": span.end_column + 1}
    return {"file": span.file, "line": span.line, "column": span.column + 1, "end": end}


def _note(note: Note) -> dict[str, Any]:
    return {"message": note.text, **({} if note.span is None else _range(note.span))}


def sarif(findings: Sequence[Finding], color: bool) -> str:
    """SARIF 2.1.0, the OASIS format for results of static analysis."""
    kinds = {f.diagnostic.code: type(f.diagnostic) for f in findings}
    codes = sorted(kinds)
    driver = {"name": "pystage", "version": __version__, "rules": [_rule(c, kinds[c]) for c in codes]}
    results = [_result(finding, codes) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str, kind: type[Diagnostic]) -> dict[str, Any]:
    about = " ".join((kind.__doc__ or "").split())
    return {
        "id": code,
        "name": kind.__name__,
        "shortDescription": _message(about),
        "help": _message(f"pystage explain {code}"),
    }


def _result(finding: Finding, codes: list[str]) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    notes = [note for note in diagnostic.notes if note.span is not None]
    plain = [note.text for note in diagnostic.notes if note.span is None]
    message = "\n".join([diagnostic.headline, *plain, *([diagnostic.advice] if diagnostic.advice else [])])
    place: dict[str, Any] = {"physicalLocation": _physical(finding.span)}
    if finding.function:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": finding.severity,
        "message": _message(message),
        "locations": [place],
    }
    if notes:
        result["relatedLocations"] = [
            {"id": i, "message": _message(note.text), "physicalLocation": _physical(note.span)}
            for i, note in enumerate(notes, 1)
            if note.span is not None
        ]
    return result


def _message(text: str) -> dict[str, str]:
    """A message; single braces would be placeholders in it (3.11.5)."""
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _physical(span: Span) -> dict[str, Any]:
    path = PurePath(span.file)
    region = {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    return {"artifactLocation": {"uri": uri}, "region": region}


def github(findings: Sequence[Finding], color: bool) -> str:
    """Workflow commands, which annotate the lines of a change."""
    return "\n".join([_command(finding) for finding in findings])


def _command(finding: Finding) -> str:
    diagnostic, span = finding.diagnostic, finding.span
    properties = {
        "file": span.file,
        "line": span.line,
        "endLine": span.end_line,
        "col": span.column + 1,
        "endColumn": span.end_column,
        "title": diagnostic.code,
    }
    told = ",".join([f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items()])
    notes = [note.text if note.span is None else f"{note.text} ({note.span})" for note in diagnostic.notes]
    message = "\n".join([diagnostic.headline, *notes, *([diagnostic.advice] if diagnostic.advice else [])])
    return f"::{finding.severity} {told}::{_escaped(message, '')}"


def _escaped(text: str, more: str) -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMATS: dict[str, Format] = {
    "text": text,
    "short": short,
    "json": as_json,
    "sarif": sarif,
    "github": github,
}
"""By the name on the command line."""
