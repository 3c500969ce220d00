"""`pystage explain` on the command line: what it prints, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pystage.cli import main
from pystage.cli.explain import MEANINGS
from pystage.explain import Mark

PROGRAMS = str(Path(__file__).parent.parent / "explain" / "programs.py")


@pytest.mark.parametrize(
    ("arguments", "status", "printed"),
    [
        (["rolled", "--dim", "n=3"], 0, "rolled is compiled: rolled(float32[3]) -> np.float32"),
        (["rolled", "--arg", "x=f64[4]"], 0, "x: float64[4]"),
        (["run", "--args", "Model([np.ones((3, 3))]), np.ones((3, 3))"], 0, "through JAX"),
        (["appends", "--arg", "x=f64[10]"], 1, "error[PS301]"),
        (["rolled", "--args", "spec('f64[5]')"], 0, "x: float64[5]"),
        (["product", "--arg", "x=f64[3,3]", "--arg", "w=np.ones(4)"], 1, "raises"),
        (["Model.__call__", "--args", "Model([np.ones((3, 3))]), np.ones((3, 3))"], 0, "unrolled ×1"),
    ],
)
def test_functions(
    arguments: list[str], status: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = arguments
    assert main(["explain", f"{PROGRAMS}::{name}", *rest]) == status
    assert printed in capsys.readouterr().out


def test_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PS301"]) == 0
    assert capsys.readouterr().out.startswith("# PS301: ")
    assert main(["explain", "PS300"]) == 2
    assert "there is no code PS300; there is PS30" in capsys.readouterr().err
    assert main(["explain", "ps301", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert (page["code"], page["name"], page["page"][:9]) == ("PS301", "NoCommonType", "# PS301: ")
    assert all(
        example.keys() == {"headline", "advice", "program", "rewritten"} for example in page["examples"]
    )


def test_the_help_has_all_marks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "--help"])
    told = capsys.readouterr().out.partition("what stands beside a line:\n")[2]
    assert {*MEANINGS} == {*Mark} - {Mark.NONE}
    assert [line[2:16].strip().removesuffix(" ×n") for line in told.splitlines()] == [
        m.value for m in MEANINGS
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a function"),
        (["rolled"], "neither module:function nor"),
        ([f"{PROGRAMS}::rolls"], "; there is `rolled`"),
        ([f"{PROGRAMS}::np2"], "there is no `np2` in"),
        ([f"{PROGRAMS}::np2"], "; there is `Model`, `"),
        ([f"{PROGRAMS}:rolled"], f"by two colons: {PROGRAMS}::rolled"),
        (["301"], "301 names no function; the code is PS301"),
        ([f"{PROGRAMS}::rolled", "--args", "1, 2, 3"], "takes 1 positional argument"),
        ([f"{PROGRAMS}::rolled", "--args", "exit()"], "SystemExit"),
        ([f"{PROGRAMS}::rolled", "--arg", "x=f32[3]", "--arg", "x=f32[4]"], "--arg x is given twice"),
        ([f"{PROGRAMS}::rolled", "--dim", f"n={10**22}"], "no array is so long"),
        ([f"{PROGRAMS}::rolled"], "the size of the dimension `n` is not given; give it by --dim n=32"),
        ([f"{PROGRAMS}::appends"], "nothing says what the argument `x` is"),
    ],
)
def test_wrong_questions(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


def test_colours(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    question = ["explain", f"{PROGRAMS}::appends", "--arg", "x=f64[10]"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(question)
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(question)
    assert "\x1b[" not in capsys.readouterr().out


def test_other_forms(capsys: pytest.CaptureFixture[str]) -> None:
    question = ["explain", f"{PROGRAMS}::appends", "--arg", "x=f64[10]"]
    main([*question, "--short"])
    (line,) = capsys.readouterr().out.splitlines()
    assert "PS301" in line
    assert main([*question, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["compiled"] is False
