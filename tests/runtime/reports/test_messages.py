"""A long compilation says so once, while it runs, to whoever reads stderr."""

from __future__ import annotations

import enum
import logging
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pystage
from pystage.runtime.reports import messages

PROGRAM = """
import time
import numpy as np
import pystage
from jax._src import compiler

plain = compiler.backend_compile_and_load

def slow(*args, **kwargs):
    time.sleep(float(sys.argv[1]))
    with open(sys.argv[2], "w") as file:
        file.write("compiled")
    return plain(*args, **kwargs)

import sys
compiler.backend_compile_and_load = slow

@pystage.compile
def f(x):
    x = x * 2
    return np.sin(x) + np.cos(x) + np.tan(x) * x

f(np.ones(3))
f(np.ones(3))
"""


def run(tmp_path: Path, seconds: float, asked: str | None, terminal: bool) -> tuple[str, bool]:
    """What the program writes to stderr; and whether the first of it came while XLA was at work."""
    script, mark = tmp_path / "program.py", tmp_path / "mark"
    script.write_text(PROGRAM)
    environment = {k: v for k, v in os.environ.items() if k != "PYSTAGE_LOG"}
    environment["TERM"] = "xterm"
    if asked is not None:
        environment["PYSTAGE_LOG"] = asked
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, script, str(seconds), mark]
    process = subprocess.Popen(command, stderr=theirs, env=environment)
    os.close(theirs)
    found, early = b"", False
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # a terminal that nobody has open any more
            break
        if not more:
            break
        early = early or (not found and not mark.exists())
        found += more
    os.close(ours)
    assert process.wait(60) == 0, found
    return found.decode().replace("\r\n", "\n"), early


def test_on_a_terminal(tmp_path: Path) -> None:
    text, early = run(tmp_path, 5, None, terminal=True)
    assert early
    plain = re.sub(r"\x1b\[[\d;?]*m", "", text)
    line, *shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "\r", plain).splitlines()
    assert any("XLA of `f` 0:00:0" in each for each in shown)
    assert not shown[-1].strip(), "it is taken away"
    assert re.match("pystage: `f` has been compiling for over 3 s, in (XLA|lowering|inference)", line)
    assert ("operations" in line and "program.py:" in line) or "in lowering" in line  # a busy machine


def test_asked_for(tmp_path: Path) -> None:
    text, early = run(tmp_path, 5, "fallbacks, compiles", terminal=False)
    assert early
    compiled, first, last = text.splitlines()
    assert compiled.startswith("pystage: `f` is compiled: f(")
    assert "has been compiling" in first and last.startswith("pystage: XLA of `f` took ")


@pytest.mark.parametrize(
    ("seconds", "asked", "terminal"), [(5, None, False), (0, None, True), (5, "barriers", False)]
)
def test_silent(seconds: float, asked: str | None, terminal: bool, tmp_path: Path) -> None:
    assert run(tmp_path, seconds, asked, terminal) == ("", False)


def test_inference(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(messages, "SECONDS", 0.0)
    with caplog.at_level(logging.INFO, logger="pystage"):
        pystage.compile(lambda x: x + 1)(np.ones(3))
    told = [r.getMessage() for r in caplog.records if r.name == "pystage"]
    assert any("in inference" in text for text in told)
    assert any("inference of `<lambda>` took" in text for text in told)


def test_the_phases_of_a_compilation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYSTAGE_LOG", "phases")
    pystage.compile(lambda x: x * 2)(np.ones(3))
    inference, lowering, xla = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"pystage: `<lambda>`: inference [\d.]+ s, \d+ steps: \d+ operations.*", inference)
    assert "lowering" in lowering and "XLA" in xla


def test_captured_values(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What else is told on the topic goes the same way."""
    settings = {"mode": "a"}
    staged = pystage.compile(lambda x: x if settings["mode"] == "a" else -x)
    staged(1.0)
    settings["mode"] = "b"
    monkeypatch.setenv("PYSTAGE_LOG", "compiles")
    assert staged(1.0) == -1.0
    assert "is compiled again" in capsys.readouterr().err


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2

    def __repr__(self) -> str:
        raise AssertionError("the user's own code is not asked")


def test_values_are_told_without_code_of_the_users(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYSTAGE_LOG", "compiles")
    staged = pystage.compile(lambda x, mode: x if mode is Mode.FAST else -x)
    assert [staged(1.0, mode) for mode in Mode] == [1.0, -1.0]
    assert "mode: a Mode → a Mode" in capsys.readouterr().err
