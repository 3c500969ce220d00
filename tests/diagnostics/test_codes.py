"""The registry of codes: each has a golden and a page, words for every template, and a class that says what it is."""

from __future__ import annotations

import re
from dataclasses import fields
from string import Formatter

import pytest

import pystage
from pystage.compiler.diagnostics.catalogue import codes, examples_of, page_of
from pystage.compiler.diagnostics.codes_control import NeverSettles
from pystage.compiler.diagnostics.diagnostic import REGISTRY, Diagnostic
from pystage.compiler.diagnostics.span import Span

from .errors_pages import PAGES, REWRITES, WRITTEN, pages, rewrites
from .goldens import GOLDENS, shown_codes

CODES = sorted(code for code, kind in REGISTRY.items() if kind.__module__.startswith("pystage."))

EXEMPT = {
    # A mistake in pystage itself: a program that showed it would be a defect to mend, not a golden to keep.
    "PS699",
}


def test_the_registry_is_that_of_the_package() -> None:
    assert pystage.StagingError.__module__.startswith("pystage.")
    assert len(CODES) > 50
    assert all(re.fullmatch(r"PS[1-8]\d\d", code) for code in CODES)


def test_every_code_has_a_golden() -> None:
    assert set(CODES) - shown_codes() == EXEMPT


def test_every_golden_belongs_to_a_code() -> None:
    assert shown_codes() <= set(CODES)


def test_every_program_has_its_text() -> None:
    texts = {path.with_suffix("") for path in GOLDENS.glob("PS*/*.txt")}
    programs = {path.with_suffix("") for path in GOLDENS.glob("PS*/PS*.py")}
    assert programs <= texts


@pytest.mark.parametrize("code", CODES)
def test_templates_name_fields_of_the_class(code: str) -> None:
    kind = REGISTRY[code]
    names = {field.name for field in fields(kind)} - {"span", "notes"}
    used = {
        name
        for template in (kind.title, kind.label, kind.help)
        for _, name, _, _ in Formatter().parse(template)
        if name
    }
    assert used <= names
    assert kind.title
    assert kind.__doc__ and not kind.__doc__.startswith(kind.__name__ + "("), "no docstring of its own"


def test_codes_are_unique() -> None:
    with pytest.raises(TypeError, match="PS201 is used by"):
        type("Another", (Diagnostic,), {"code": "PS201"})


@pytest.mark.parametrize("code", CODES)
def test_a_page_is_what_the_script_makes(code: str) -> None:
    """`python docs/generate_errors.py` writes the pages anew."""
    assert page_of(code) == page_of(code.lower()) == pages()[f"{code}.md"]


def test_the_index_is_what_the_script_makes_and_nothing_else_is_there() -> None:
    made = pages()
    assert (PAGES / "index.md").read_text() == made["index.md"]
    assert {path.name for path in PAGES.iterdir()} - WRITTEN == set(made)


def test_the_package_has_the_rewrites() -> None:
    assert REWRITES.read_text() == rewrites()
    found = [*examples_of("PS301"), *examples_of("PS305")]
    assert found and {each.is_rewrite for each in found} == {True, False}
    assert all(re.match(r"def (rewritten|alternative)\(", each.rewritten) for each in found)


def test_the_catalogue_has_nothing_else() -> None:
    assert codes() == tuple(CODES)
    assert [page_of(name) for name in ("PS000", "../errors", "index", "coming-from")] == [None] * 4


def test_spans_are_places_as_editors_count() -> None:
    assert str(Span("file.py", 3, 0, 3, 5)) == "file.py:3:1"


def test_a_loop_between_things_that_read_alike() -> None:
    found = NeverSettles(what="the variable 'state'", first="a text", second="a text")
    assert found.headline == (
        "the variable 'state' is one text before an iteration of this loop and another after it"
    )
    assert found.advice.startswith("let a number stand for each text")
    other = NeverSettles(what="the variable 'n'", first="an int", second="a float")
    assert (
        other.headline == "the variable 'n' is an int before an iteration of this loop and a float after it"
    )
