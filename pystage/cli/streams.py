"""Writes answers to terminals of any encoding, to closed pipes and to full disks."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .targets import UsageError

_READER_LEFT = 141
"""The exit status of what SIGPIPE ends, as a shell tells it."""
_ASCII = {"→": "->", "×": "x", "─": "-", "│": "|", "…": "...", "⋮": ":", "—": "-", "“": '"', "”": '"'}
_REPLACE = "pystage.replace"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """For characters that an encoding lacks such as are like them, or question marks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join([_ASCII.get(c, "?") for c in error.object[error.start : error.end]]), error.end


codecs.register_error(_REPLACE, _replaced)


@contextmanager
def answering() -> Iterator[None]:
    """For a block that writes the answer to standard output, all of which is written at its end.

    Characters that the encoding lacks are replaced. SystemExit, with the status of what SIGPIPE ends, if nobody reads
    on; UsageError if the answer cannot be written for another reason.
    """
    try:
        with replacing(sys.stdout, sys.stderr):
            try:
                yield
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
    except BrokenPipeError:
        _discard_the_rest()
        raise SystemExit(_READER_LEFT) from None
    except OSError as error:
        if error.filename is not None:  # of opening a file, not of writing the answer
            raise
        _discard_the_rest()
        raise UsageError(f"standard output cannot be written: {error.strerror or error}") from None


@contextmanager
def replacing(*streams: Any) -> Iterator[None]:
    """Replaces the characters that the encodings of streams lack."""
    streams = tuple([stream for stream in streams if isinstance(stream, io.TextIOWrapper)])
    before = [stream.errors for stream in streams]
    for stream in streams:
        stream.reconfigure(errors=_REPLACE)
    try:
        yield
    finally:
        for stream, errors in zip(streams, before, strict=True):
            stream.reconfigure(errors=errors)


def _discard_the_rest() -> None:
    """What standard output still holds goes nowhere, so that Python does not try to write it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def write_file(file: str, text: str) -> None:
    """Writes an answer to the file that the user names. UsageError if that does not work."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None
