"""`StagingError`: the exception that carries diagnostics to the user."""

from __future__ import annotations

import os
import traceback

from ...deferred import deferred
from .diagnostic import Diagnostic
from .span import cell_of

_render_all = deferred("pystage.compiler.diagnostics.render", "render_all")
_render_html = deferred("pystage.compiler.diagnostics.render", "render_html")


class StagingError(Exception):
    """A program that cannot be staged. `diagnostics` holds every reason; its text shows them all.

    Where the first reason is one for which the plain run raises too (shapes that do not fit, an operation
    that does not exist), the error is an instance of that exception's class as well: `except ValueError`
    around a staged call catches what it catches around the plain one.
    """

    started = False
    """True if the program had begun, and what it has printed cannot be taken back: it cannot be run again."""

    def __new__(cls, diagnostics: tuple[Diagnostic, ...]) -> StagingError:
        plain = diagnostics[0].plain if diagnostics else None
        return super().__new__(cls if plain is None else _also(cls, plain), diagnostics)

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(*(f"{d.code}: {d.headline}" for d in diagnostics))
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(_render_all(self.diagnostics))

    def _repr_html_(self) -> str:
        """The diagnostics with their marks, for a notebook that shows the exception as a value."""
        return str(_render_html(self.diagnostics))

    def _render_traceback_(self) -> list[str]:
        """IPython's rendering of the exception: the user's frames, and the diagnostics in colour."""
        frames = [
            frame for frame in traceback.extract_tb(self.__traceback__) if not _is_ipython(frame.filename)
        ]
        lines = [_formatted(frame) for frame in frames]
        color = not os.environ.get("NO_COLOR")
        return [f"{type(self).__name__}", *lines, "", _render_all(self.diagnostics, color=color)]


def _formatted(frame: traceback.FrameSummary) -> str:
    """A frame as Python shows it; of a cell its number."""
    (text,) = traceback.format_list([frame])
    cell = cell_of(frame.filename)
    return (text if cell is None else text.replace(f'File "{frame.filename}"', cell)).rstrip("\n")


def _is_ipython(file: str) -> bool:
    """True for a file of IPython itself, which runs the cells."""
    return f"{os.sep}IPython{os.sep}" in file


_WITH: dict[tuple[type, type], type[StagingError]] = {}


def _also(cls: type[StagingError], plain: type[Exception]) -> type[StagingError]:
    """The subclass of both."""
    if issubclass(cls, plain):
        return cls
    found = _WITH.get((cls, plain))
    if found is None:
        members = {"__module__": cls.__module__, "__doc__": cls.__doc__}
        found = _WITH[cls, plain] = type(cls.__name__, (cls, plain), members)
    return found
