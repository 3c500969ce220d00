"""Tracebacks without the frames of pystage: of `StagingError` down to the user's call, of others on in the user's function.

In: the exception as it leaves an entry point of pystage. Out: the same exception without references to internal frames.
`PYSTAGE_TRACEBACK=full` keeps every frame.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from types import TracebackType

from ..policy import is_own_file
from .errors import StagingError


def shows_all_frames() -> bool:
    """True if the user wants tracebacks with the frames of pystage."""
    return os.environ.get("PYSTAGE_TRACEBACK") == "full"


def end_at_the_call(error: StagingError) -> None:
    """Forgets the frames below; a bare `raise` after it, which must be the next statement, adds none."""
    if not shows_all_frames():
        error.__traceback__ = None


def leave_out_own_frames(error: BaseException, name: str) -> None:
    """Forgets the frames of pystage above functions of the user or of other libraries, of what a plain run raises.

    As after `end_at_the_call`, a bare `raise` must follow. Those at the inner end stay, but for that of a call of the
    user's function `name` whose arguments do not fit.
    """
    frames = list(_frames(error.__traceback__))
    kept = [frame for frame in frames if not is_own_file(frame.tb_frame.f_code.co_filename)]
    misfit = type(error) is TypeError and f".{error}".partition("() ")[0].endswith(f".{name}")
    if shows_all_frames() or not (kept or misfit):
        return
    inner = frames[frames.index(kept[-1]) + 1 :] if kept else []
    kept += [] if misfit else inner
    for frame, following in itertools.zip_longest(kept, kept[1:]):
        frame.tb_next = following
    error.__traceback__ = kept[0] if kept else None


def _frames(outermost: TracebackType | None) -> Iterator[TracebackType]:
    """The frames of a traceback, from the outermost to the innermost."""
    while outermost is not None:
        yield outermost
        outermost = outermost.tb_next


class AtTheCall:
    """A `with` block around an entry of pystage: a `StagingError` leaves it as if the caller had raised it.

    CPython adds a frame to a traceback where an exception is raised, or comes from a call; not where the end of a
    `with` block, or a bare `raise`, hands it on. So what is forgotten here is not added again.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        if isinstance(error, StagingError):
            end_at_the_call(error)


AT_THE_CALL = AtTheCall()
"""The block; it has no state."""
