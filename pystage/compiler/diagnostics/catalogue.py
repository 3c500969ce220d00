"""The pages of the codes: the meaning of a code, an example with its error, and the rewrite.

`docs/generate_errors.py` writes them into `docs/errors/`, to which `pages` is a link; a wheel has copies.
"""

from __future__ import annotations

import functools
import json
from importlib import resources

from ...records import dataclass
from . import (  # noqa: F401  (they enter the registry)
    codes_calls,
    codes_constant,
    codes_control,
    codes_differentiation,
    codes_jax,
    codes_mutation,
    codes_runtime,
    codes_syntax,
    codes_types,
)
from .diagnostic import REGISTRY

_HERE = resources.files(__package__)
_PAGES = _HERE / "pages"


def codes() -> tuple[str, ...]:
    """Every code that has a page, in order."""
    return tuple(sorted([code for code in REGISTRY if (_PAGES / f"{code}.md").is_file()]))


@dataclass(frozen=True, slots=True)
class Example:
    """A program, the headline and the advice that it is refused with, and one that is staged.

    That is a function `rewritten`, which gives what the program gives where that does not raise, or an `alternative`, which
    gives something else.
    """

    headline: str
    advice: str
    program: str
    rewritten: str

    @property
    def is_rewrite(self) -> bool:
        """True if what is staged gives the same as the program."""
        return is_rewrite(self.rewritten)


def is_rewrite(source: str) -> bool:
    """True for the source of a function that gives what the refused program gives."""
    return source.startswith("def rewritten(")


@functools.cache
def examples_of(code: str) -> tuple[Example, ...]:
    """The programs with a rewrite that there are for a code; tests run the rewrites."""
    found = json.loads((_HERE / "rewrites.json").read_text(encoding="utf-8"))
    return tuple([Example(**each) for each in found.get(code, ())])


def page_of(code: str) -> str | None:
    """The page of a code, in Markdown; None for what is no code of pystage."""
    page = _PAGES / f"{code.upper()}.md"
    return page.read_text(encoding="utf-8") if code.isalnum() and page.is_file() else None
