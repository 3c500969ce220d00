"""What a shell is told that could follow on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("argcomplete")


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("pystage ", {"explain", "check", "dump", "doctor"}),
        ("pystage dump --stage ", {"typed", "optimized"}),
        ("pystage explain mod", {"model.py"}),
        ("pystage explain model.py::", {"model.py::loss", "model.py::Model.predict"}),
        ("pystage dump model.py::Mo", {"model.py::Model.predict"}),
    ],
)
def test_completion(line: str, some: set[str], tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("class Model:\n    def predict(self): ...\n\ndef loss(): ...\n")
    answer = tmp_path / "answer"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    asked |= {"COMP_LINE": line, "COMP_POINT": str(len(line))}
    subprocess.run(
        [sys.executable, "-m", "pystage"],
        env={**os.environ, **asked},
        cwd=tmp_path,
        check=False,
        capture_output=True,
    )
    assert some <= {word.strip() for word in answer.read_text().split("\n")}
