"""The exception by which diagnostics reach the user."""

from __future__ import annotations

from .diagnostic import Diagnostic
from .render import render_all


class StagingError(Exception):
    """A program that cannot be staged. `diagnostics` holds every reason; its text shows them all."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(*(f"{d.code}: {d.headline}" for d in diagnostics))
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return render_all(self.diagnostics)
