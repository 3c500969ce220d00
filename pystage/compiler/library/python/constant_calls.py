"""Functions of Python's library on strings and other constants, called while compiling.

In: functions that access no file, no machine and no process state, and run no user code on plain objects. Out: their
meanings, which take constants. A computed argument is refused like other calls of that module; the parts of a path are
joined after the run.
"""

from __future__ import annotations

import functools
import json
import keyword
import os.path
import re
import string
import struct
import textwrap
import types
import unicodedata
import urllib.parse
import zlib
from collections.abc import Callable
from typing import Any, NoReturn

from ...diagnostics.codes_calls import UnknownCallable
from ...values.lattice import Abstract, Const, DictCell, Tuple
from ..context import Context, Raw
from ..kernels.structures import MISSING, abstract, call_now, cell_of, known_object, sequence_items
from ..registry import meaning
from ..rules.foreign import Advice, advice_for, canonical_name
from .strings import is_open_string, text

_PATHS = (os.path.join, os.path.basename, os.path.dirname, os.path.normpath)
"""Functions that give a string, which the program need not know."""

_OTHERS = (
    os.path.split,
    os.path.splitext,
    os.path.commonprefix,
    os.path.commonpath,
    os.path.isabs,
    re.sub,
    re.split,
    re.findall,
    re.escape,
    json.dumps,
    json.loads,
    keyword.iskeyword,
    string.capwords,
    struct.calcsize,
    struct.pack,
    struct.unpack,
    textwrap.dedent,
    textwrap.fill,
    textwrap.indent,
    textwrap.shorten,
    textwrap.wrap,
    unicodedata.name,
    unicodedata.normalize,
    urllib.parse.quote,
    urllib.parse.unquote,
    zlib.crc32,
    str.maketrans,
)

_METHODS = tuple(
    [
        method
        for cls in (str, bytes)
        for name, method in vars(cls).items()
        if isinstance(method, types.MethodDescriptorType) and name != "format" and not name.startswith("_")
    ]
)
"""Methods that are called through their class: `str.upper(name)`."""

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def _known(ctx: Context, value: Raw) -> Any:
    """An argument as a Python object that runs no user code; MISSING for others.

    It demands nothing of the arguments of the program.
    """
    items = None if isinstance(value, Const) else sequence_items(ctx, value)
    if items is not None:
        parts = [_known(ctx, item) for item in items]
        if any(part is MISSING for part in parts):
            return MISSING
        return parts if not isinstance(value, Tuple) else tuple(parts) if value.cls is tuple else MISSING
    cell = cell_of(ctx, value)
    if isinstance(cell, DictCell):
        entries = {key: _known(ctx, entry) for key, entry in cell.entries.items()}
        plain = all(map(_is_plain, entries)) and not any(v is MISSING for v in entries.values())
        return entries if plain else MISSING
    found = known_object(ctx, value)
    return found if _is_plain(found) else MISSING


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _refuse(ctx: Context, function: Callable[..., Any]) -> NoReturn:
    name = _name(function)
    known = "its arguments are not known while compiling"
    advice = advice_for([name]) or Advice(known, UnknownCallable.instead)
    ctx.fail(UnknownCallable(span=ctx.span, name=name, why=advice.why, instead=advice.instead))


def _name(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None)
    return canonical_name(f"{module}.{function.__qualname__}" if module else function.__qualname__)


def _now(function: Callable[..., Any]) -> Callable[..., Abstract]:
    """The meaning of a function of known arguments."""

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        known = [_known(ctx, a) for a in args]
        named = {k: _known(ctx, v) for k, v in kwargs.items()}
        if any(each is MISSING for each in (*known, *named.values())):
            _refuse(ctx, function)
        return call_now(ctx, functools.partial(function, **named), *known)

    return call


def _path(function: Callable[..., Any]) -> Callable[..., Abstract]:
    """The meaning of a function that makes a path of strings, of which the run may make some."""
    now = _now(function)

    def call(ctx: Context, *args: Raw) -> Abstract:
        texts = [is_open_string(a) or type(known_object(ctx, a)) is str for a in map(abstract, args)]
        return text(ctx, function, *args) if all(texts) else now(ctx, *args)

    return call


for _maker in _PATHS:
    meaning(_maker)(_path(_maker))
_functions: tuple[Callable[..., Any], ...] = (*_OTHERS, *_METHODS)
for _function in _functions:
    meaning(_function)(_now(_function))
