"""`pytest --pystage=…`: how compiled functions run in a suite, and what its summary says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SUITE = """
import sys
import numpy as np
import pystage

@pystage.compile(fallback="lazy")
def half(x):
    return x / 2

@pystage.compile(fallback="python")
def days(x):
    return np.busday_count(x, x)

def test_half():
    assert half(np.ones(3)).tolist() == [0.5, 0.5, 0.5]

def test_days():
    assert days(np.array("2026-11-27", dtype="M8[D]")) == 0

def test_programs():
    assert half.programs == PROGRAMS
"""


def _summary(folder: Path, *options: str, programs: int) -> str:
    (folder / "test_suite.py").write_text(SUITE.replace("PROGRAMS", str(programs)))
    environment = {name: value for name, value in os.environ.items() if name != "PYSTAGE_TIER"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "pytest_pystage",
        "-p",
        "no:cacheprovider",
        "-q",
        *options,
    ]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_plain(tmp_path: Path) -> None:
    assert "compiled functions ran as plain Python" in _summary(tmp_path, "--pystage=plain", programs=0)


def test_compiled_in_a_worker(tmp_path: Path) -> None:
    text = _summary(tmp_path, "--pystage=compiled", "-n", "1", programs=1)
    assert "2 functions, 1 ran as Python, whole or in part" in text
    assert "test_suite.py:11 days\n  as Python, 1 call: PS802: the array `x` has the element type" in text


def test_explained(tmp_path: Path) -> None:
    text = _summary(tmp_path, "--pystage=explain", programs=0)
    assert "test_suite.py:7 half: 1 call, 1 of them plain, 0 programs" in text


def test_pystage_is_not_imported_without_the_option(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(
        "import sys\ndef test(): assert 'pystage' not in sys.modules and 'jax' not in sys.modules"
    )
    command = [sys.executable, "-m", "pytest", "-p", "pytest_pystage", "-p", "no:cacheprovider", "-q"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
