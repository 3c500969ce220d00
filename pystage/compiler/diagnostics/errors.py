"""The exception by which diagnostics reach the user."""

from __future__ import annotations

from .diagnostic import Diagnostic
from .render import render_all


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
        return render_all(self.diagnostics)


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
