"""Warnings of the runtime, at the user's line."""

from __future__ import annotations

import inspect
import warnings

from ...compiler.policy import is_own_file


class FallbackWarning(UserWarning):
    """A call that could not be staged was run by plain Python, as `fallback="python"` asks."""


class SpecialisationWarning(UserWarning):
    """A function is compiled again and again, because something that it captures keeps changing."""


class CacheWarning(UserWarning):
    """The cache folder cannot be used, or not be written to (`pystage.config.cache_dir`)."""


def warn(text: str, category: type[Warning]) -> None:
    """Warns at the innermost line that is not pystage's own."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and is_own_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
