"""The PS1xx errors that no source file of its own can show, for which `test_goldens.py` does not serve.

A file that changes, an expression of a thousand terms, syntax of a newer Python are made here.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import fields, replace
from pathlib import Path

import pytest

from pystage.compiler.diagnostics import codes_syntax
from pystage.compiler.diagnostics.diagnostic import REGISTRY, Diagnostic
from pystage.compiler.diagnostics.render import render_all
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.frontend import FrontendError, fence, stage_function
from pystage.compiler.frontend.build import build
from pystage.compiler.frontend.source import find_source

from .goldens import GOLDENS, compare, load

SYNTAX = GOLDENS / "PS1xx"


def diagnostics_of(function) -> tuple[Diagnostic, ...]:
    with pytest.raises(FrontendError) as error:
        stage_function(function)
    return error.value.diagnostics


def test_no_source(tmp_path: Path) -> None:
    module: dict[str, object] = {}
    exec("def f(x):\n    return x\n", module)
    compare(SYNTAX / "PS101_source_not_found.txt", diagnostics_of(module["f"]), tmp_path)


def test_not_python(tmp_path: Path) -> None:
    compare(SYNTAX / "PS102_not_a_python_function.txt", diagnostics_of(len), tmp_path)


def test_source_changed(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x + 1\n")
    function = load(path).f
    path.write_text("def f(x):\n    return x + 2  # edited\n")
    compare(SYNTAX / "PS103_source_changed.txt", diagnostics_of(function), tmp_path)


def test_ambiguous_lambda(tmp_path: Path) -> None:
    path = tmp_path / "twins.py"
    path.write_text("def shifts(y):\n    return (lambda x: x + y), (lambda x: x - y)\n")
    function = load(path).shifts(1)[0]
    function.__code__ = function.__code__.replace(co_linetable=b"")
    compare(SYNTAX / "PS104_ambiguous_lambda.txt", diagnostics_of(function), tmp_path)


def test_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    path.write_text("def f(x):\n    return x" + " + x" * 900 + "\n")
    compare(SYNTAX / "PS106_too_deep.txt", diagnostics_of(load(path).f), tmp_path)


NEWER = {
    codes_syntax.GenericFunction: "def f(x):\n    def inner[T](y: T) -> T:\n        return y\n    return inner(x)\n",
    codes_syntax.TypeStatement: "def f(x):\n    type Vector = list[float]\n    return x\n",
    codes_syntax.TemplateString: "def f(x):\n    return t'{x}'\n",
    codes_syntax.UnsupportedImport: "def f(x):\n    from math import *\n    return sqrt(x)\n",
    codes_syntax.UnpackingComprehension: "def f(xs):\n    return [*x for x in xs]\n",
}


@pytest.mark.parametrize("kind", NEWER, ids=lambda k: f"{k.code}")
def test_syntax_of_a_newer_python(kind: type[Diagnostic], tmp_path: Path) -> None:
    """Built from the tree alone, since the Python that runs the tests may parse, but not compile it."""
    path = tmp_path / "newer.py"
    path.write_text("def f(x):\n    return x\n")
    found = find_source(load(path).f)
    path.write_text(NEWER[kind])
    linecache.checkcache(str(path))
    try:
        tree = ast.parse(NEWER[kind])
    except SyntaxError as error:
        pytest.skip(f"this Python does not know it either: {error}")
    newer = replace(found, node=tree.body[0], lines=NEWER[kind].splitlines(keepends=True))
    with pytest.raises(FrontendError) as error:
        build(newer, frozenset())
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__)
    compare(SYNTAX / f"{kind.code}{words}.txt", error.value.diagnostics, tmp_path)


def test_syntax_that_pystage_has_never_heard_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node without an entry in the fence, as one of a newer Python would be."""
    monkeypatch.delitem(fence.TABLE, ast.Assert)
    path = tmp_path / "newer.py"
    path.write_text("def f(x):\n    assert x > 0\n    return x\n")
    compare(SYNTAX / "PS199_unknown_syntax.txt", diagnostics_of(load(path).f), tmp_path)


def test_every_code_has_words() -> None:
    place = Span("file.py", 1, 0, 1, 1)
    for code, kind in REGISTRY.items():
        if kind.__module__ == codes_syntax.__name__:
            names = {field.name for field in fields(kind)} - {"span", "notes"}
            made = kind(span=place, **{name: 2 if name == "count" else "name" for name in names})
            assert made.headline and made.caret_label is not None and made.advice, code
            assert render_all([made])
