"""Writes the pictures of the pages: `docs/images/explain.svg`, what `pystage explain` shows in a terminal, and
`docs/images/home.svg`, what the first example takes.

Out: pictures that refer to nothing outside of them. Run it as `python docs/generate_pictures.py` after the look of an
explanation changed, and as `python docs/generate_pictures.py home`, on a machine that does nothing else, to measure anew.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
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


HOME = PICTURE.with_name("home.svg")
INDEX = PICTURE.parents[1] / "index.md"


def bars(plain: float, program: float, gradient: float) -> tuple[str, str]:
    """Bars of what the first example takes, in ms, and what they say in words."""
    rows = (("plain loop", plain, "slow"), ("compiled", program, "fast"), ("its gradient", gradient, "grad"))
    shown = [f"{ms:.2g}" if ms < 10 else f"{ms:.0f}" for _, ms, _ in rows]
    words = f"The loop in plain Python takes {shown[0]} ms, compiled {shown[1]} ms, and its gradient {shown[2]} ms"
    lines = []
    for i, ((label, ms, kind), text) in enumerate(zip(rows, shown, strict=True)):
        y, width = 14 + 36 * i, max(3, round(400 * ms / max(plain, program, gradient)))
        lines += [
            f'  <text x="16" y="{y + 17}" class="label">{label}</text>',
            f'  <rect x="150" y="{y}" width="{width}" height="24" rx="3" class="{kind}"/>',
            f'  <text x="{160 + width}" y="{y + 17}" class="value">{text} ms</text>',
        ]
    before, _, after = HOME.read_text(encoding="utf-8").partition('  <text x="16" y="31"')
    note = after[after.index('  <text x="16" y="138"') :]
    before = re.sub(r'aria-label="[^"]*"', f'aria-label="{words}"', before)
    return before + "\n".join(lines) + "\n" + note, words


def measure_home() -> None:
    """Writes the picture of the home page, and its words there."""
    sys.path.insert(0, str(INDEX.parents[1]))
    measured = importlib.import_module("benchmarks.first_example").milliseconds()
    svg, words = bars(*measured)
    HOME.write_text(svg, encoding="utf-8")
    page = INDEX.read_text(encoding="utf-8")
    INDEX.write_text(
        re.sub(r"!\[[^]]*\]\(images/home.svg\)", f"![{words}](images/home.svg)", page), encoding="utf-8"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["home"]:
        measure_home()
    else:
        os.environ["FORCE_COLOR"] = "1"
        PICTURE.write_text(picture(shown()), encoding="utf-8")
