"""The pages of the codes, as the package has them: what a code means, an example with its error, and the rewrite.

`docs/generate_errors.py` writes them, from the same classes and goldens as `docs/errors/`.
"""

from __future__ import annotations

from importlib import resources

from .diagnostic import REGISTRY

_PAGES = resources.files(__package__) / "pages"


def codes() -> tuple[str, ...]:
    """Every code that has a page, in order."""
    return tuple(sorted([code for code in REGISTRY if (_PAGES / f"{code}.md").is_file()]))


def page_of(code: str) -> str | None:
    """The page of a code, in Markdown; None for what is no code of pystage."""
    page = _PAGES / f"{code.upper()}.md"
    return page.read_text(encoding="utf-8") if code.isalnum() and page.is_file() else None
