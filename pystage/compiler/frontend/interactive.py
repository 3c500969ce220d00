"""Source text that stands in no file: of `python -c`, of a script on standard input, of a cell under IPython's `%%time` or
`%%timeit`, of what was unpickled.

In: the name that Python gives the text. Out: the texts that it may be, the newest first; the caller compares them with the
code that runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

UNPICKLED = "<dynamic-code>"
"""The file of all code that cloudpickle has pickled by value."""
_MOST = 64
_remembered: dict[str, None] = {}


def remember_text(text: str) -> None:
    """Notes a text that code of the file `UNPICKLED` may come from."""
    _remembered.pop(text, None)
    _remembered[text] = None
    for old in list(_remembered)[:-_MOST]:
        del _remembered[old]


def texts_without_a_file(name: str) -> Iterator[str]:
    """The texts that a code object with this file name may come from."""
    if name == "<string>":
        yield from _command()
    elif name == "<stdin>":
        yield from _redirected()
    elif name == UNPICKLED:
        yield from reversed(list(_remembered))
    elif name in ("<timed exec>", "<magic-timeit>") and "IPython" in sys.modules:
        yield from _cells()


def _command() -> Iterator[str]:
    """What stands behind `-c`."""
    words = sys.orig_argv
    if sys.argv[:1] == ["-c"] and "-c" in words[:-1]:
        yield words[words.index("-c") + 1]


def _redirected() -> Iterator[str]:
    """Standard input, where it is a file: Python has read it, and it can be read again."""
    with suppress(OSError, ValueError):
        size = os.fstat(0).st_size
        yield os.pread(0, size, 0).decode()


def _cells() -> Iterator[str]:
    """The cells of this session that a magic runs, without its line: `%%time`, `%%timeit`."""
    shell: Any = sys.modules["IPython"].get_ipython()
    history = getattr(shell, "history_manager", None)
    for cell in reversed(getattr(history, "input_hist_raw", ())):
        magic, _, body = cell.lstrip().partition("\n")
        if magic.startswith("%%"):
            yield body
