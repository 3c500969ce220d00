"""Writes the tutorials and some examples as notebooks, with their output: `make notebooks`, into `build/notebooks`.

In: the pages and scripts, whose text is the only source of a notebook (jupytext reads both). Each notebook is run from its
first cell to its last; an exception in one of them ends it. What a page names as a file is written as one; Python blocks
that it marks as not run are left out. The plot that a tutorial draws is written where its page shows it, and is no link in
the notebook, which has it as output.
"""

from __future__ import annotations

import base64
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
TO = ROOT / "build" / "notebooks"
EXAMPLES = ("newton", "mandelbrot", "ode")
IMAGES = ROOT / "docs" / "images"
SHOWN = re.compile(r"^!\[[^]]*\]\(\.\./images/(\S+\.png)\)$", re.MULTILINE)
NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*```python.*?^```$", re.MULTILINE | re.DOTALL)


def notebook_of(source: Path) -> nbformat.NotebookNode:
    """The notebook of a page or a script."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".md":
        text = SHOWN.sub("", NOT_RUN.sub("", text))
    book = jupytext.reads(text, fmt=source.suffix[1:])
    for cell in book.cells:
        if cell.cell_type == "code" and "title" in cell.metadata:
            cell.source = f"%%writefile {cell.metadata['title']}\n{cell.source}"
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return book


def plots(book: nbformat.NotebookNode) -> list[bytes]:
    """The pictures among the outputs."""
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    found = [output["data"].get("image/png") for output in outputs if "data" in output]
    return [base64.b64decode(picture) for picture in found if picture]


def main() -> int:
    """Writes and runs all; 1 if one of them raises."""
    TO.mkdir(parents=True, exist_ok=True)
    failed = 0
    pages = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    for source in (*pages, *[ROOT / "examples" / f"{name}.py" for name in EXAMPLES]):
        book = notebook_of(source)
        try:
            with tempfile.TemporaryDirectory() as folder:
                NotebookClient(book, timeout=600, resources={"metadata": {"path": folder}}).execute()
            drawn = plots(book)
            for name, picture in zip(SHOWN.findall(source.read_text(encoding="utf-8")), drawn, strict=True):
                (IMAGES / name).write_bytes(picture)
            print(f"{source.relative_to(ROOT)}: {len(book.cells)} cells, {len(drawn)} plots")
        except Exception as error:
            failed += 1
            print(f"{source.relative_to(ROOT)}: {error}", file=sys.stderr)
        nbformat.write(book, TO / f"{source.stem}.ipynb")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
