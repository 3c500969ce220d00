"""Answers on terminals of any encoding, into pipes that are closed, on disks that are full."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pystage.cli import main
from tests.explain.programs import __file__ as PROGRAMS

from .running import pystage

APPENDS = ("explain", f"{PROGRAMS}::appends", "--arg", "x=f64[10]")


def test_characters_that_the_encoding_lacks() -> None:
    done = pystage("explain", "--help", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "unrolled xn " in done.stdout
    done = pystage("explain", "PS301", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")


def test_json_is_ascii(tmp_path: Path) -> None:
    file = tmp_path / "checked.py"
    file.write_text('def f(ü: "f32[n, 3]", y: "f32[n, 4]"): return ü + y\n', encoding="utf-8")
    for form in ("json", "sarif"):
        done = pystage("check", str(file), "--format", form, env={"PYTHONIOENCODING": "ascii"})
        assert done.returncode == 1 and json.loads(done.stdout)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is full")
@pytest.mark.parametrize(
    "question", [APPENDS, ("explain", "PS301"), ("explain", "--help"), ("doctor", "--help")]
)
def test_a_disk_that_is_full(question: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = pystage(*question, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "pystage: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("question", [APPENDS, ("explain", "--help")])
def test_a_pipe_that_nobody_reads(question: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = pystage(*question, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_standard_output_that_is_closed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert main(APPENDS) == 2
    assert capsys.readouterr().err == "pystage: standard output is closed\n"


def test_files(tmp_path: Path, capsys: Any) -> None:
    assert main([*APPENDS, "-o", str(tmp_path / "answer")]) == 1
    assert "error[PS301]" in (tmp_path / "answer").read_text()
    assert main([*APPENDS, "-o", str(tmp_path / "no" / "answer")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"pystage: {tmp_path}/no/answer cannot be written: No such file or directory\n"
