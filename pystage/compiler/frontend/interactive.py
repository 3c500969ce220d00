"""Source text that stands in no file: of `python -c`, of a script on standard input, of Python's prompt, of a cell under
IPython's `%%prun`, `%%time` or `%%timeit`, of what was unpickled.

In: a code object. Out: the texts that its file may be, the newest first, which the caller compares with the code; or
why there is none.
"""

from __future__ import annotations

import linecache
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType
from typing import Any

UNPICKLED = "<dynamic-code>"
"""The file of all code that cloudpickle has pickled by value."""
TIMED = "<magic-timeit>"
"""The file of code under IPython's `%timeit`, which puts a cell into a function and runs that."""
_MOST = 64
_remembered: dict[str, None] = {}


def remember_text(text: str) -> None:
    """Notes a text that code of the file `UNPICKLED` may come from."""
    _remembered.pop(text, None)
    _remembered[text] = None
    for old in list(_remembered)[:-_MOST]:
        del _remembered[old]


def texts_without_a_file(code: CodeType) -> Iterator[str]:
    """The texts that `code` may come from, if it comes from no file."""
    name = code.co_filename
    if name[:1] != "<":
        return
    kept: Callable[[CodeType], list[str]] | None = getattr(linecache, "_getlines_from_code", None)
    if kept is not None and (lines := kept(code)):  # of a prompt and of `-c`, in newer Pythons
        yield "".join(lines)
    if name == "<string>":
        yield from _commands()
    elif name == "<stdin>":
        yield from _redirected()
    elif name == UNPICKLED:
        yield from reversed(list(_remembered))
    if name in ("<string>", "<timed exec>", TIMED) and "IPython" in sys.modules:
        yield from _cells()


def why_no_text(name: str) -> tuple[str, str]:
    """Why a file of this name has no text, and what to do."""
    if os.path.isfile(name):
        return (
            "its file cannot be decoded",
            "save the file as UTF-8, or name its encoding in the first line: `# -*- coding: latin-1 -*-`",
        )
    if name == "<stdin>" and not os.isatty(0):
        return (
            "Python read the script from a pipe or a here-document, which cannot be read again",
            "save the script and run `python script.py`, or `python - < script.py`",
        )
    if name.startswith(("<stdin>", "<python-input")):
        return (
            "this prompt keeps no text",
            "define the function in IPython, in a notebook, or in a .py file that you import",
        )
    if name in ("<timed exec>", TIMED):
        return (
            "it was defined in the line of a magic, or by a cell that the history has lost",
            "define the function in a cell, below the line of the magic or without one",
        )
    if name[:1] == "<":
        return (
            "it was defined by a text that `exec` or `eval` ran",
            "write the text to a .py file and import it: pystage compiles from the source text",
        )
    return (
        f"there is no file {name}",
        "run Python where the file is: pystage compiles from the source text, not from bytecode",
    )


def _commands() -> Iterator[str]:
    """What may stand behind `-c`, also of `-Bc` or `-cprint()`."""
    words = sys.orig_argv
    for word, following in zip(words[1:], [*words[2:], ""], strict=True):
        options, option, attached = word.partition("c")
        if option and options[:1] == "-":
            yield attached or following


def _redirected() -> Iterator[str]:
    """Standard input, where it is a file: Python has read it, and it can be read again."""
    with suppress(OSError, ValueError):
        if stat.S_ISREG((status := os.fstat(0)).st_mode):
            yield os.pread(0, status.st_size, 0).decode()


def _cells() -> Iterator[str]:
    """The cells of this session that a magic runs, without its line: `%%prun`, `%%time`, `%%timeit`."""
    shell: Any = sys.modules["IPython"].get_ipython()
    history = getattr(shell, "history_manager", None)
    for cell in reversed(getattr(history, "input_hist_raw", ())):
        magic, _, body = cell.lstrip().partition("\n")
        if magic.startswith("%%"):
            yield body
