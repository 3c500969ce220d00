"""Each PS1xx error, rendered: one small source file and the text beside it.

`PYSTAGE_UPDATE_GOLDENS=1` writes the texts anew. What no source file of its own can show (a file that
changes, an expression of a thousand terms, syntax of a newer Python) is made here.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
from dataclasses import fields
from pathlib import Path

import pytest

from pystage.compiler.diagnostics import codes_syntax
from pystage.compiler.diagnostics.diagnostic import REGISTRY, Diagnostic
from pystage.compiler.diagnostics.errors import StagingError
from pystage.compiler.diagnostics.render import render_all
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.frontend import FrontendError, stage_function
from pystage.compiler.frontend.build import build
from pystage.compiler.frontend.parse import parse
from pystage.compiler.frontend.source import FunctionSource, find_source

GOLDENS = Path(__file__).parent.parent / "goldens" / "PS1xx"
FILES = sorted(GOLDENS.glob("*.py"))


def load(path: Path, name: str = "f"):
    """The function `name` of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def diagnostics_of(function) -> tuple[Diagnostic, ...]:
    with pytest.raises(FrontendError) as error:
        stage_function(function)
    return error.value.diagnostics


def compare(name: str, diagnostics: tuple[Diagnostic, ...], directory: Path) -> None:
    """Compares the rendered text with the golden file, directories left out."""
    text = str(StagingError(diagnostics)).replace(f"{directory}{os.sep}", "") + "\n"
    golden = GOLDENS / f"{name}.txt"
    if os.environ.get("PYSTAGE_UPDATE_GOLDENS"):
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(path: Path) -> None:
    diagnostics = diagnostics_of(load(path))
    if path.stem.startswith("PS"):
        assert {d.code for d in diagnostics} == {path.stem.partition("_")[0]}
    compare(path.stem, diagnostics, GOLDENS)


def test_no_source(tmp_path: Path) -> None:
    module: dict[str, object] = {}
    exec(compile("def f(x):\n    return x\n", "<stdin>", "exec"), module)
    compare("PS101_source_not_found", diagnostics_of(module["f"]), tmp_path)


def test_not_python(tmp_path: Path) -> None:
    compare("PS102_not_a_python_function", diagnostics_of(len), tmp_path)


def test_source_changed(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x + 1\n")
    function = load(path)
    path.write_text("def f(x):\n    return x + 2  # edited\n")
    compare("PS103_source_changed", diagnostics_of(function), tmp_path)


def test_ambiguous_lambda(tmp_path: Path) -> None:
    path = tmp_path / "twins.py"
    path.write_text("f, g = (lambda x: x + 1), (lambda x: x + 2)\n")
    function = load(path)
    function.__code__ = function.__code__.replace(co_linetable=b"")
    compare("PS104_ambiguous_lambda", diagnostics_of(function), tmp_path)


def test_cannot_parse(tmp_path: Path) -> None:
    path = tmp_path / "newer.py"
    path.write_text("def f(x):\n    return x\n")
    found = find_source(load(path))
    text = "def f(x):\n    return x 1\n"
    path.write_text(text)
    linecache.checkcache(str(path))
    newer = FunctionSource(found.code, found.file, text, 1, 0, False)
    with pytest.raises(FrontendError) as error:
        parse(newer)
    compare("PS105_cannot_parse", error.value.diagnostics, tmp_path)


def test_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    path.write_text("def f(x):\n    return x" + " + x" * 900 + "\n")
    compare("PS106_too_deep", diagnostics_of(load(path)), tmp_path)


NEWER = {
    codes_syntax.GenericFunction: "def f(x):\n    def inner[T](y: T) -> T:\n        return y\n    return inner(x)\n",
    codes_syntax.TypeStatement: "def f(x):\n    type Vector = list[float]\n    return x\n",
    codes_syntax.TemplateString: "def f(x):\n    return t'{x}'\n",
    codes_syntax.UnpackingComprehension: "def f(xs):\n    return [*x for x in xs]\n",
}


@pytest.mark.parametrize("kind", NEWER, ids=lambda k: f"{k.code}")
def test_syntax_of_a_newer_python(kind: type[Diagnostic], tmp_path: Path) -> None:
    """Built from the text alone, since the Python that runs the tests may not compile it."""
    path = tmp_path / "newer.py"
    path.write_text("def f(x):\n    return x\n")
    found = find_source(load(path))
    path.write_text(NEWER[kind])
    linecache.checkcache(str(path))
    try:
        parsed = parse(FunctionSource(found.code, found.file, NEWER[kind], 1, 0, False))
    except FrontendError as error:
        pytest.skip(f"this libcst does not know it either: {error}")
    with pytest.raises(FrontendError) as error:
        build(parsed, frozenset())
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__)
    compare(f"{kind.code}{words}", error.value.diagnostics, tmp_path)


def test_every_code_has_a_golden_or_cannot_be_reached_here() -> None:
    shown = {path.stem.partition("_")[0] for path in GOLDENS.glob("PS*.txt")}
    codes = {code for code, kind in REGISTRY.items() if kind.__module__ == codes_syntax.__name__}
    unreachable = {"PS120", "PS199"}  # syntax that no released Python accepts in a function
    assert codes - shown == unreachable


def test_every_code_has_words() -> None:
    place = Span("file.py", 1, 0, 1, 1)
    for code, kind in REGISTRY.items():
        if kind.__module__ == codes_syntax.__name__:
            names = {field.name for field in fields(kind)} - {"span", "notes"}
            made = kind(span=place, **{name: 2 if name == "count" else "name" for name in names})
            assert made.headline and made.caret_label is not None and made.advice, code
            assert render_all([made])
