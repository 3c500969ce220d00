"""`Diagnostic`: the base class of all diagnostics, the registry of codes, and the exception that carries one internally.

A diagnostic is a frozen dataclass: its class declares code, title and help as templates over its fields; an
instance adds the span and the reasons. Exceptions, terminal text, JSON and pages are rendered from it.
"""

from __future__ import annotations

import re
from dataclasses import asdict, fields
from typing import ClassVar

from ...records import dataclass
from .span import Span

_NUMPY = {"s": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex", "pred": "bool"}
_TYPE = re.compile(
    r"\b(?:([su](?=8|16|32|64)|f(?=16|32|64)|bf(?=16)|c(?=64|128))(\d+)|(pred))(?=\[[\w+*/, -]*\])"
)
"""A type, whose extents may be names (`pystage check`)."""


def in_numpys_words(text: str) -> str:
    """`text` with the types of HLO as NumPy and JAX write them: `float32[2,3]` for `f32[2,3]`."""
    return _TYPE.sub(lambda found: _NUMPY[found[1] or found[3]] + (found[2] or ""), text)


@dataclass(frozen=True, slots=True)
class Note:
    """One link of the chain that explains a diagnostic: a sentence, and its place where it has one.

    `label` is the sentence as it stands beside the place, in the excerpt of the diagnostic itself.
    """

    text: str
    span: Span | None = None
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One problem in one place.

    Subclasses set `code` (`PS` and three digits, stable), and the templates `title` (the headline),
    `label` (what stands beside the caret) and `help` (a rewrite that works); `{name}` in a template is
    the field of that name.
    """

    code: ClassVar[str] = ""
    title: ClassVar[str] = ""
    label: ClassVar[str] = ""
    help: ClassVar[str] = ""
    plain: ClassVar[type[Exception] | None] = None
    """What the plain run raises at this place, where it raises too."""
    ever: ClassVar[bool | None] = None
    """True if pystage could stage it one day, False if no compiled program can; None if the program is to be mended."""

    span: Span | None = None
    notes: tuple[Note, ...] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.code:
            return
        other = REGISTRY.setdefault(cls.code, cls)
        if other.__qualname__ != cls.__qualname__:
            raise TypeError(f"diagnostic code {cls.code} is used by {other.__name__} and {cls.__name__}")
        REGISTRY[cls.code] = cls  # a slotted dataclass is made twice; the later class is the real one

    def used(self, span: Span | None) -> Diagnostic:
        """The diagnostic as it is told where the value that it explains is needed."""
        return self

    def _fill(self, template: str) -> str:
        return in_numpys_words(template.format(**{f.name: getattr(self, f.name) for f in fields(self)}))

    def as_dict(self) -> dict[str, object]:
        """The diagnostic as data, for JSON: lines count from 1, columns from 0."""
        return {
            "code": self.code,
            "headline": self.headline,
            "label": self.caret_label,
            "help": self.advice,
            "place": None if self.span is None else asdict(self.span),
            "notes": [
                {"text": note.text, "place": None if note.span is None else asdict(note.span)}
                for note in self.notes
            ],
        }

    @property
    def headline(self) -> str:
        """The title with its fields filled in."""
        return self._fill(self.title)

    @property
    def caret_label(self) -> str:
        """The text beside the caret, filled in; may be empty."""
        return self._fill(self.label)

    @property
    def advice(self) -> str:
        """The help, filled in; may be empty."""
        return self._fill(self.help)


REGISTRY: dict[str, type[Diagnostic]] = {}
"""Every diagnostic class by its code."""


class DiagnosticError(Exception):
    """Raised inside the compiler to give up on the current construct, for one stated reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.headline)
        self.diagnostic = diagnostic
