"""NumPy functions that are refused for a reason of their own, each with a rewrite.

In: a call of one of them. Out: PS606. `reason_of` gives `docs/support.md` the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...values.lattice import Abstract
from ..registry import meaning, meaning_of
from .unsupported import refused

_FILES = ("it reads or writes what is not an array of the program", "call it outside of the staged function")
_SETTINGS = ("it is about settings of NumPy, which no program has", "call it outside of the staged function")
_TEXTS = ("it makes a text of an array", "return the array, and write it outside of the staged function")
_DATES = ("XLA has no dates", "count in int64 days or seconds")
_SIZE = "the size of its result depends on the values"
_REASONS: tuple[tuple[str, str, str], ...] = (
    (
        "nditer nested_iters",
        "it walks through memory in an order of its own",
        "use np.ndenumerate or np.ndindex",
    ),
    ("frompyfunc", "it gives arrays of Python objects", "use np.vectorize"),
    ("unique_all unique_counts unique_inverse unique_values", _SIZE, "use jnp.unique with `size=`"),
    (
        "shares_memory may_share_memory",
        "memory has no addresses in a program",
        "call it outside of the staged function",
    ),
    (
        "roots",
        "they may be real or complex, which the values decide",
        "find them outside, or by Newton's method",
    ),
    ("load save savez savez_compressed loadtxt savetxt genfromtxt fromfile fromregex", *_FILES),
    ("array2string array_repr array_str format_float_positional format_float_scientific", *_TEXTS),
    (
        "seterr seterrcall geterr geterrcall setbufsize getbufsize set_printoptions get_printoptions",
        *_SETTINGS,
    ),
    ("frombuffer fromstring from_dlpack", *_FILES),
    ("datetime_as_string busday_count busday_offset is_busday", *_DATES),
)


def _refusal(name: str, why: str, instead: str) -> Callable[..., Abstract]:
    call = refused(name, why, instead)
    call.__name__, call.__doc__ = name, f"Refused: {why}."
    call.reason = why  # type: ignore[attr-defined]
    return call


def reason_of(function: object) -> str | None:
    """Why a call to `function` is refused, or None where it is not refused as such."""
    found: Any = getattr(meaning_of(function), "reason", None)
    return None if found is None else str(found)


def _declare() -> None:
    for names, why, instead in _REASONS:
        for name in names.split():
            if hasattr(np, name):
                meaning(getattr(np, name))(_refusal(f"np.{name}", why, instead))


_declare()
