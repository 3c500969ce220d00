"""The exception of the front end: all syntax diagnostics of one function."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic


class FrontendError(Exception):
    """A function has no source that can be staged; `diagnostics` says why, in source order."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(f"{d.code}: {d.headline}" for d in diagnostics))
        self.diagnostics = diagnostics
