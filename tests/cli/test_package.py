"""`pystage explain FOLDER`: how many functions of a package compile, and why others do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .commands import main

MODEL = """
import numpy as np
import pystage
from .dates import days

@pystage.compile
def table(n: int):
    return np.zeros(n)

def scaled(x: "f64[n]", k: float):
    return x * k

def elapsed(x: "f64[n]"):
    return days(x)

def twice(x: "f64[n]"):
    return np.busday_count(x, x), np.busday_count(x, x)

def wrong(x: "f64[n]"):
    return x + np.zeros((2, 3, 4)).reshape(5, 5)
"""
DATES = """
import numpy as np

class Calendar:
    def nothing(self, x):
        return x

def days(x):
    return np.busday_count(x, x)

def local(x):
    class A:
        pass
    return A
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "calendar_of_tests"
    folder.mkdir()
    for name, text in (("__init__", ""), ("model", MODEL), ("dates", DATES), ("broken", "1 / 0")):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.mark.parametrize("by_name", [False, True])
def test_the_functions_and_the_reasons(
    package: Path, capsys: pytest.CaptureFixture[str], by_name: bool
) -> None:
    assert main(["explain", package.name if by_name else str(package), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    functions = {each["name"]: each for each in found["functions"]}
    assert {name for name, each in functions.items() if each["compiles"]} == {"table", "scaled"}
    assert {name for name, each in functions.items() if each["inferred"] and each["problems"]} == {
        "elapsed",
        "twice",
        "wrong",
    }
    assert not functions["Calendar.nothing"]["problems"] and not functions["Calendar.nothing"]["inferred"]
    assert [(each["code"], each["functions"]) for each in found["reasons"]] == [
        ("PS606", 2),
        ("PS112", 1),
        ("PS223", 1),
    ]
    assert [Path(each["file"]).name for each in found["not imported"]] == ["broken.py"]


def test_the_tables(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(package)]) == 1
    text = capsys.readouterr().out
    assert "8 functions; annotations say what 5 of them take: 2 of these compile" in text
    assert "calendar_of_tests/model.py" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["2", "PS606"] in [row[:2] for row in rows]
    assert "broken.py does not import: ZeroDivisionError" in " ".join(text.split())
    (package / "broken.py").unlink()
    (package / "dates.py").write_text("def days(x): return x")
    (package / "model.py").write_text("def f(x: 'f64[n]'): return x")
    assert main(["explain", str(package)]) == 0
