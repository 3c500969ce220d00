"""Writes `docs/images/explain.svg`: what `pystage explain` shows in a terminal.

In: a function that cannot be staged. Out: a picture that refers to nothing outside of it. Run it as
`python docs/generate_pictures.py` after the look of an explanation changed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pystage.cli import main

PICTURE = Path(__file__).resolve().parent / "images" / "explain.svg"
COMMAND = "pystage explain clock.py::timed --arg x='f64[3]'"
PROGRAM = """import time

def timed(x):
    start = time.time()
    total = 0.0
    for v in x:
        total += v * start
    return total
"""


def shown() -> str:
    """What the command prints, with its colours."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        Path("clock.py").write_text(PROGRAM, encoding="utf-8")
        main(["explain", "clock.py::timed", "--arg", "x=f64[3]"])
        return out.getvalue().replace(f"{os.path.realpath(folder)}/", "")


def picture(text: str) -> str:
    """A terminal with this text, in whatever fixed font the reader has."""
    console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {COMMAND}"))
    console.print(Text.from_ansi(text))
    svg = console.export_svg(title="pystage explain", unique_id="explain")
    svg = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", svg, flags=re.S)
    return svg.replace("Fira Code", "ui-monospace, Menlo, Consolas")


if __name__ == "__main__":
    os.environ["FORCE_COLOR"] = "1"
    PICTURE.write_text(picture(shown()), encoding="utf-8")
