"""Runs the snippets of a page of Markdown as a reader would, and compares what they print with what the page shows.

In: a page. What its fences mean:

- `python`: runs, in the namespace of the page. A `text` fence right behind it is what it prints, or the exception that it
  ends in; `…` stands for anything.
- `python title="name.py"`: a file, which later commands name.
- `console`: each line that begins with `$ pystage` or `$ python` runs, beside these files; the lines below it are what it
  prints. Other commands are for the reader alone.

A comment `<!-- not run: reason -->` before a fence leaves it out, `<!-- takes long -->` anywhere the whole page, unless all
tests run. Out: AssertionErrors with the line of the page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pystage.cli import main

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?P<options>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S
)
LEFT_OUT = re.compile(r"<!-- not run: [^>]+ -->\s*\Z")
TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Snippet:
    """One fence of a page, and the line on which its text begins."""

    language: str
    title: str | None
    text: str
    line: int
    left_out: bool
    follows: bool
    """Whether it stands right behind the fence before it."""


def snippets(page: str) -> Iterator[Snippet]:
    """The fences of a page."""
    end = 0
    for found in FENCE.finditer(page):
        between = page[end : found.start()]
        indent = len(found["indent"])
        lines = [line[indent:] if line.strip() else line for line in found["text"].splitlines(keepends=True)]
        title = TITLE.search(found["options"])
        yield Snippet(
            found["language"],
            title and title[1],
            "".join(lines),
            page.count("\n", 0, found.start("text")) + 1,
            LEFT_OUT.search(between) is not None,
            bool(end) and not between.strip(),
        )
        end = found.end()


class Reader:
    """Runs the snippets of one page in a folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.module = ModuleType("__main__")
        self.shown: str | None = None
        """What the last snippet printed and no `text` has shown yet."""
        self.line = 0

    def read(self) -> None:
        """Runs the whole page."""
        with contextlib.chdir(self.folder), imports_from(self.folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for snippet in snippets(self.page.read_text(encoding="utf-8")):
                if not (snippet.language == "text" and snippet.follows):
                    self._nothing_is_hidden()
                if not snippet.left_out:
                    self._run(snippet)
            self._nothing_is_hidden()

    def _nothing_is_hidden(self) -> None:
        assert not self.shown, (
            f"{self.page.name}:{self.line} prints what the page does not show:\n{self.shown}"
        )
        self.shown = None

    def _run(self, snippet: Snippet) -> None:
        match snippet.language:
            case "python" if snippet.title:
                (self.folder / snippet.title).write_text(snippet.text, encoding="utf-8")
            case "python":
                self.line = snippet.line
                self.shown = self._python(snippet)
            case "text" if self.shown is not None:
                self._compare(snippet.text, self.shown, snippet.line)
                self.shown = None
            case "console":
                self._console(snippet)

    def _python(self, snippet: Snippet) -> str:
        """Runs a snippet out of a file, in which it has its lines of the page; what it prints."""
        file = self.folder / f"{self.page.stem}_{snippet.line}.py"
        file.write_text("\n" * (snippet.line - 1) + snippet.text, encoding="utf-8")
        with printed() as out:
            try:
                exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), vars(self.module))
            except Exception as error:
                print(*traceback.format_exception_only(error), sep="", end="")
        return out.getvalue()

    def _console(self, snippet: Snippet) -> None:
        lines = snippet.text.splitlines()
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)]):
            command = lines[start].removeprefix("$ ").partition("  #")[0]
            given = command_output(command)
            wanted = "\n".join(lines[start + 1 : end]).strip()
            if given is not None and wanted:
                self._compare(wanted, given, snippet.line + start)

    def _compare(self, wanted: str, given: str, line: int) -> None:
        pattern = ".*?".join([re.escape(part) for part in as_lines(wanted).split("…")])
        message = f"{self.page.name}:{line} shows\n{as_lines(wanted)}\n---- and it is\n{as_lines(given)}"
        assert re.fullmatch(pattern, as_lines(given), re.S), message


def as_lines(text: str) -> str:
    """A text without blanks at the ends of its lines and blank lines at its ends."""
    return "\n".join([line.rstrip() for line in text.splitlines()]).strip("\n")


def command_output(command: str) -> str | None:
    """What a command prints; None for one that is not run here."""
    variables: dict[str, str] = {}
    words = shlex.split(command)
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    match words:
        case ["pystage", *arguments]:
            run: Any = lambda: main(arguments)  # noqa: E731
        case ["python", script, *arguments] if script.endswith(".py"):
            run = lambda: runpy.run_path(script, run_name="__main__")  # noqa: E731
        case _:
            return None
    if variables or "--run" in words:  # what a process reads when it begins, and reports when it ends
        done = subprocess.run(
            [sys.executable, *([] if words[0] == "python" else ["-m", "pystage"]), *words[1:]],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr
    argv, path = sys.argv, list(sys.path)
    with printed() as out, contextlib.suppress(SystemExit):
        sys.argv, sys.path[:] = words[1:], [os.getcwd(), *path]
        try:
            run()
        finally:
            sys.argv, sys.path[:] = argv, path
    return out.getvalue()


@contextlib.contextmanager
def imports_from(folder: Path) -> Iterator[None]:
    """In the block, files of a folder can be imported; after it they are forgotten."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(f"{folder}{os.sep}"):
                del sys.modules[name]


@contextlib.contextmanager
def printed() -> Iterator[io.StringIO]:
    """What is printed in a block, on both streams."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out
