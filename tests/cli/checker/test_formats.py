"""The formats of `pystage check`: for people, for editors, for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pystage.cli import main

from .checking import Check
from .sarif import violations

PROGRAM = """
def add(x, y):
    return x + y

def f(x: "f32[n]", y: "f32[m]"):
    return add(x, y)

@pystage.compile
def g(x):
    return x  # pystage: ignore

def h(x: "f32[n]"): return x  # pystage: ignore[PS201]
"""


def test_text(check: Check) -> None:
    result = check(PROGRAM, format="text")
    error, warning, unchecked, last = result.out.split("\n\n")
    assert [line.strip() for line in error.splitlines()[:5]] == [
        "error[PS201]: operands of add have shapes that do not broadcast: (n,) and (m,)",
        "--> checked.py:7:12, in add", "|", "7 |     return x + y", "|            ^^^^^ these shapes do not fit",
    ]  # fmt: skip
    assert "need not be equal; it fits where they are" in error
    assert warning.startswith("warning[PS123]: this comment ignores nothing: there is no PS201 here\n")
    assert unchecked == "checked.py:13:1: g is not checked: nothing says what the argument `x` is"
    assert last == "checked 2 functions in 1 file: 1 problem, 1 not checked\n"
    assert result.err == ""


def test_short(check: Check) -> None:
    result = check(PROGRAM, format="short")
    assert result.out.splitlines() == [
        "checked.py:7:12: PS201 operands of add have shapes that do not broadcast: (n,) and (m,)",
        "checked.py:16:31: PS123 this comment ignores nothing: there is no PS201 here",
    ]
    assert result.err.splitlines()[-1] == "checked 2 functions in 1 file: 1 problem, 1 not checked"


def test_json(check: Check) -> None:
    error, warning = check(PROGRAM).found
    assert error == {
        "code": "PS201",
        "severity": "error",
        "file": "checked.py",
        "line": 7,
        "column": 12,
        "end": {"line": 7, "column": 17},
        "message": "operands of add have shapes that do not broadcast: (n,) and (m,)",
        "notes": [
            {"message": "`n` and `m` need not be equal; it fits where they are"},
            {
                "message": "add is called here",
                "file": "checked.py",
                "line": 10,
                "column": 12,
                "end": {"line": 10, "column": 21},
            },
        ],
        "help": "along axis -1, `x` has n and `y` has m: make them equal, or one of them 1",
        "function": "f",
    }
    assert (warning["severity"], warning["function"]) == ("warning", None)
    assert check('def f(x: "f32[n]"): return x', format="json").out == "[]\n"


def test_sarif(check: Check) -> None:
    log = json.loads(check(PROGRAM, format="sarif").out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "pystage"
    assert [(rule["id"], rule["name"], rule["help"]["text"]) for rule in driver["rules"]] == [
        ("PS123", "IgnoresNothing", "pystage explain PS123"),
        ("PS201", "ShapesDoNotBroadcast", "pystage explain PS201"),
    ]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    error, warning = run["results"]
    assert (error["ruleId"], error["ruleIndex"], error["level"]) == ("PS201", 1, "error")
    assert (warning["ruleId"], warning["ruleIndex"], warning["level"]) == ("PS123", 0, "warning")
    (place,) = error["locations"]
    assert place == {
        "physicalLocation": {
            "artifactLocation": {"uri": "checked.py"},
            "region": {"startLine": 7, "startColumn": 12, "endLine": 7, "endColumn": 17},
        },
        "logicalLocations": [{"fullyQualifiedName": "f", "kind": "function"}],
    }
    (related,) = error["relatedLocations"]
    assert related["message"] == {"text": "add is called here"}
    assert "need not be equal" in error["message"]["text"]


def test_sarif_is_as_specified(check: Check) -> None:
    text = "\ndef fails(x: 'f32[n]'):\n    raise ValueError('{0} [x](1) {1: 2}')\n"
    files = {
        "with space/ü": "def f(x: 'f32[n]', y: 'f32[m]'): return x + y\n",
        "100%#?": text,
        "broken": "import pystage\ndef f(:\n",
        "empty": "import pystage, no_module_",
    }
    result = check(PROGRAM + text, format="sarif", **files)
    log = json.loads(result.out)
    assert list(violations(log)) == []
    results = log["runs"][0]["results"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert {"checked.py", "with%20space/%C3%BC.py", "100%25%23%3F.py", "broken.py", "empty.py"} <= uris
    assert any("{{0}} [x](1) {{1: 2}}" in result["message"]["text"] for result in results)


def test_sarif_of_files_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "ü.py").write_text("def f(x: 'f32[n]'): return x[:, 0]\n")
    monkeypatch.chdir(tmp_path / "here")
    assert main(["check", "../ü.py", "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert list(violations(log)) == []
    (result,) = log["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"{tmp_path.resolve().as_uri()}/%C3%BC.py"


def test_sarif_of_nothing(check: Check) -> None:
    (run,) = json.loads(check('def f(x: "f32[n]"): return x', format="sarif").out)["runs"]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


def test_sarif_paths_are_uris(check: Check) -> None:
    files = {"with space/ü": 'def f(x: "f32[n]"): return x[:, 0]\n'}
    (run,) = json.loads(check("", format="sarif", **files).out)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "with%20space/%C3%BC.py"}


def test_github(check: Check) -> None:
    error, warning = check(PROGRAM, format="github").out.splitlines()
    assert error == (
        "::error file=checked.py,line=7,endLine=7,col=12,endColumn=16,title=PS201::"
        "operands of add have shapes that do not broadcast: (n,) and (m,)%0A"
        "`n` and `m` need not be equal; it fits where they are%0Aadd is called here (checked.py:10:12)%0A"
        "along axis -1, `x` has n and `y` has m: make them equal, or one of them 1"
    )
    assert warning.startswith("::warning file=checked.py,line=16,")


def test_github_escapes(check: Check) -> None:
    text = 'def f(x: "f32[n]"):\n    raise ValueError("100%\\r\\n::error::")'
    (line,) = check("", format="github", **{"a,b:c%": text}).out.splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%25.py,line=2,")
    assert "::this raises ValueError: 100%25%0D%0A::error::%0A" in line
