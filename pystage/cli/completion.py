"""What a shell is told that could follow on the command line; argcomplete asks it."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..deferred import deferred

complete = deferred("argcomplete", "autocomplete")
"""Completes a command line for a shell, which calls pystage for it."""
_FilesCompleter = deferred("argcomplete.completers", "FilesCompleter")


def complete_target(action: argparse.Action) -> None:
    """Has this argument be completed as a `TARGET`: a file, and behind `FILE::` the functions that it defines."""
    action.completer = _targets  # type: ignore[attr-defined]


def _targets(prefix: str, **asked: Any) -> Sequence[str]:
    place, separator, _ = prefix.partition("::")
    if not separator:
        files: Sequence[str] = _FilesCompleter()(prefix)
        return files
    try:
        module = ast.parse(Path(place).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    return [f"{place}::{name}" for name in _functions(module)]


def _functions(definition: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The functions of a module, and methods by `Class.method`."""
    for statement in definition.body:
        match statement:
            case ast.FunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield from [f"{name}.{inner}" for inner in _functions(statement)]
