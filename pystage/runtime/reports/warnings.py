"""Warnings of the runtime, at the user's line."""

from __future__ import annotations

import inspect
import warnings

from ...compiler.policy import is_library_file, is_own_file


class FallbackWarning(UserWarning):
    """A call that could not be staged was run by plain Python, as `fallback="python"` asks."""


class SpecialisationWarning(UserWarning):
    """A function is compiled again and again, because something that it captures keeps changing."""


class CacheWarning(UserWarning):
    """The cache folder cannot be used, or not be written to (`pystage.config.cache_dir`)."""


def warn(text: str, category: type[Warning]) -> None:
    """Warns at the innermost line that is the user's, or else that is not pystage's own: JAX may stand between."""
    files, frame = [], inspect.currentframe()
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    foreign = (
        i
        for is_foreign in (is_library_file, is_own_file)
        for i, file in enumerate(files)
        if not is_foreign(file)
    )
    warnings.warn(text, category, stacklevel=next(foreign, 0) + 1)
