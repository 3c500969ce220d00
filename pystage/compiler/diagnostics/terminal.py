"""Capabilities of a stream: colours, and the number of columns."""

from __future__ import annotations

import os
import shutil
from typing import IO, Any

NARROWEST = 40
"""A terminal that says it is narrower is not believed."""


def takes_color(stream: IO[Any]) -> bool:
    """True if text for this stream should have colours.

    `NO_COLOR` (no-color.org) says no and `FORCE_COLOR` yes, if they are set to anything; else a terminal has colours,
    unless it is a dumb one.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return _is_terminal(stream) and os.environ.get("TERM") != "dumb"


def columns_of(stream: IO[Any]) -> int | None:
    """How many columns the stream has; None where it is no terminal, and nothing need be cut."""
    if not _is_terminal(stream):
        return None
    return max(NARROWEST, shutil.get_terminal_size().columns)


def _is_terminal(stream: IO[Any]) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # no real stream, or a closed one
        return False
