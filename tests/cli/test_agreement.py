"""`explain`, `dump`, `check` and a call tell the same of a function whose integer is a size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pystage.compiler.diagnostics.errors import StagingError

from .commands import main

SOURCE = """
import numpy as np
import pystage


@pystage.compile
def table(n: int):
    out = np.zeros(n)
    for i in range(n):
        out[i] = 2.0 * i
    return out


@pystage.compile
def dates(x: "f64[8]", n: int):
    z = np.zeros(n)
    y = np.busday_count(x, x)
    return z.sum() + np.busday_offset(x, 1)


@pystage.compile
def in_a_branch(x: "f64[8]", n: int):
    if x[0] > 0:
        y = np.busday_count(x, x)
        z = np.busday_offset(x, n)
    return np.zeros(n)


@pystage.compile
def in_a_class(x: "f64[8]", n: int):
    class A:
        pass

    return np.zeros(n)
"""
PROBLEMS = {"table": 0, "dates": 2, "in_a_branch": 2, "in_a_class": 1}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "agreement_of_commands.py"
    path.write_text(SOURCE)
    return path


def test_commands_agree_with_each_other(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, count in PROBLEMS.items():
        target = f"{file}::{name}"
        assert main(["explain", target, "--json"]) == bool(count)
        explained = json.loads(capsys.readouterr().out)
        assert len(explained["problems"]) == count
        assert explained["assumed"] == ({} if name == "in_a_class" else {"n": 8})
        assert main(["dump", target]) == bool(count)
        written = capsys.readouterr()
        assert written.err.count("error[") == count
        assert ("`n = 8` stands for any value" in written.err) == (not count)
        assert bool(written.out) == (not count)
        page = file.with_suffix(".html")
        assert main(["dump", target, "--html", "-o", str(page)]) == bool(count)
        assert capsys.readouterr().err.count("error[") == count
        assert ("n, which stands for any value" in page.read_text()) == (not count)
    main(["check", "--format", "json", str(file)])
    assert len(json.loads(capsys.readouterr().out)) == sum(PROBLEMS.values())


def test_they_agree_with_a_call(file: Path) -> None:
    space: dict[str, object] = {"__name__": "agreement"}
    exec(compile(SOURCE, str(file), "exec"), space)
    for name, count in PROBLEMS.items():
        call = space[name]
        args = (5,) if name == "table" else (np.ones(8), 5)
        assert callable(call)
        if count:
            with pytest.raises(StagingError):
                call(*args)
        else:
            assert call(*args).tolist() == [0, 2, 4, 6, 8]
