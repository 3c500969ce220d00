"""What the README, the docs and the docstrings show is what happens."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest
from sampling import ALL
from snippets import Reader, snippets

import pystage

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GENERATED = {"errors"}
"""Pages that scripts write, from programs which other tests run."""

PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if page.relative_to(ROOT).parts[1:2] not in [(name,) for name in GENERATED]
]
WITH_SNIPPETS = [
    page for page in PAGES if re.search(r"^ *```(python|console)", page.read_text(encoding="utf-8"), re.M)
]
DOCSTRINGS = ["staging", "transforms", "autocasting", "introspection", "runtime.arguments.abstract"]
"""The modules whose docstrings have examples."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def as_a_user_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings that a user begins with, not those of the other tests."""
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(pystage.config, "fallback", "lazy")


@pytest.mark.parametrize("page", WITH_SNIPPETS, ids=name_of)
def test_the_snippets_of_a_page(page: Path, tmp_path: Path) -> None:
    if "<!-- takes long -->" in page.read_text(encoding="utf-8") and not ALL:
        pytest.skip("takes long: make test-docs")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    Reader(page, tmp_path).read()


@pytest.mark.parametrize("name", DOCSTRINGS)
def test_the_examples_of_the_docstrings(name: str) -> None:
    module = importlib.import_module(f"pystage.{name}")
    failed, tried = doctest.testmod(
        module, globs={"np": np, "pystage": pystage}, optionflags=doctest.ELLIPSIS
    )
    assert tried and not failed


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_stands_in_fences_with_a_language(page: Path) -> None:
    """Otherwise nobody runs it."""
    text = page.read_text(encoding="utf-8")
    assert all(snippet.language for snippet in snippets(text))


def test_what_the_guide_for_contributors_quotes_is_in_the_code() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for top in ("pystage", "tests")
        for path in (ROOT / top).rglob("*.py")
    ]
    quoted = [
        each
        for each in snippets((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
        if each.language == "python"
    ]
    assert quoted
    for each in quoted:
        forms = (each.text, indent(each.text, "    "))
        assert any(form in source for source in sources for form in forms), each.text
