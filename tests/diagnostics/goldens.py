"""What the golden tests of all families share: loading a program from its file, and comparing its error.

A golden is a text beside the program that it belongs to; `PYSTAGE_UPDATE_GOLDENS=1` writes the texts anew.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType

from pystage.compiler.diagnostics.diagnostic import Diagnostic
from pystage.compiler.diagnostics.errors import StagingError

_IN_A_LIBRARY = re.compile("why: this is in .*, to which")
"""Names a line of Python's own library, which each version of Python has elsewhere."""

GOLDENS = Path(__file__).parent.parent / "goldens"
OF_CHECK = ("PS122", "PS123", "PS222", "PS223")
"""The codes that `pystage check` alone reports; tests/cli compares their goldens."""


def load(path: Path) -> ModuleType:
    """A file as a module of its own, never kept."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(golden: Path, diagnostics: tuple[Diagnostic, ...], directory: Path) -> None:
    """Compares the rendered diagnostics with a golden text; `directory` is left out of the places."""
    text = str(StagingError(diagnostics)).replace(f"{directory}{os.sep}", "") + "\n"
    text = _IN_A_LIBRARY.sub("why: this is in …, to which", text)
    if os.environ.get("PYSTAGE_UPDATE_GOLDENS"):
        golden.write_text(text)
    assert text == golden.read_text()


def shown_codes() -> set[str]:
    """The codes that have a golden text."""
    return {path.stem.partition("_")[0] for path in GOLDENS.glob("PS*/PS*.txt")}
