"""The door of the front end: `stage_function`, with its cache."""

from __future__ import annotations

import builtins
import threading
import weakref
from types import CodeType, FunctionType, MethodType

from ..diagnostics.codes_syntax import TooDeep
from ..diagnostics.span import Span
from ..stage import ir
from .build import build
from .certain import mark_certain
from .errors import FrontendError
from .jumps import remove_jumps
from .parse import parse
from .source import code_of, find_source

_CONSIDERED = frozenset(
    [
        "any",
        "all",
        "next",
        "sum",
        "min",
        "max",
        "list",
        "tuple",
        "set",
        "frozenset",
        "sorted",
        "dict",
        "super",
    ]
)
"""Builtins that the builder knows by name, unless the module redefines them."""

_Key = frozenset[str]

_lock = threading.RLock()
_cache: weakref.WeakKeyDictionary[CodeType, dict[_Key, ir.Function]] = weakref.WeakKeyDictionary()


def stage_function(function: FunctionType | MethodType | CodeType) -> ir.Function:
    """The stage IR of a function: parsed, built, its jumps removed. Raises `FrontendError`.

    The result is shared by all who ask for it: it must not be changed.
    """
    code = code_of(function)
    module_globals = getattr(function, "__globals__", {})
    shadowed = frozenset(
        name
        for name in _CONSIDERED
        if name in module_globals and module_globals[name] is not getattr(builtins, name)
    )
    with _lock:
        known = _cache.setdefault(code, {})
        found = known.get(shadowed)
        if found is None:
            found = known[shadowed] = _stage(function, code, shadowed)
    return found


def _stage(function: FunctionType | MethodType | CodeType, code: CodeType, shadowed: _Key) -> ir.Function:
    try:
        staged = build(parse(find_source(function)), shadowed)
        mark_certain(staged)
        remove_jumps(staged)
    except RecursionError:
        line = code.co_firstlineno
        place = Span(code.co_filename, line, 0, line, 0, code.co_qualname)
        raise FrontendError((TooDeep(function=code.co_qualname, span=place),)) from None
    return staged
