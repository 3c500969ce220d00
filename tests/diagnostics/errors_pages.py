"""The script that writes the pages of the errors, as a module."""

from __future__ import annotations

from pathlib import Path

from .goldens import load

_SCRIPT = load(Path(__file__).parents[2] / "docs" / "generate_errors.py")

PAGES: Path = _SCRIPT.PAGES
REWRITES: Path = _SCRIPT.REWRITES
WRITTEN: set[str] = _SCRIPT.WRITTEN
pages = _SCRIPT.pages
rewrites = _SCRIPT.rewrites
