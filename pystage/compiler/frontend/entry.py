"""The entry point of the front end: `stage_function`, with its cache."""

from __future__ import annotations

import builtins
import collections
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FunctionType, MethodType

from ..diagnostics.codes_syntax import TooDeep
from ..diagnostics.span import Span
from ..stage import ir
from .build import build
from .definite_assignment import mark_assigned
from .errors import FrontendError
from .jumps import remove_jumps
from .source import code_of, find_source

_USUAL: dict[str, object] = {
    function.__name__: function
    for function in (
        any,
        all,
        next,
        sum,
        min,
        max,
        list,
        tuple,
        set,
        frozenset,
        sorted,
        dict,
        super,
        collections.Counter,
        collections.deque,
    )
}
"""What the builder knows by name, unless the name stands for something else in the module."""

_Staged = dict[frozenset[str], ir.Function]
"""The results for one code object, by the names that stood for something else."""

_lock = threading.RLock()
_cache: dict[int, tuple[weakref.ref[CodeType], _Staged]] = {}
"""By identity: code objects of different files can be equal."""

_substitute: ContextVar[tuple[CodeType, CodeType] | None] = ContextVar("pystage substitute", default=None)


@contextmanager
def substituted(code: CodeType, by: CodeType) -> Iterator[None]:
    """In the `with` block, and in this thread, functions of one code object are staged as if they had another."""
    token = _substitute.set((code, by))
    try:
        yield
    finally:
        _substitute.reset(token)


def stage_function(function: FunctionType | MethodType | CodeType) -> ir.Function:
    """The stage IR of a function: parsed, built, its jumps removed. Raises `FrontendError`.

    The result is shared by all who ask for it: it must not be changed.
    """
    code = code_of(function)
    module_globals = getattr(function, "__globals__", {})
    substitute = _substitute.get()
    if substitute is not None and code is substitute[0]:
        function = code = substitute[1]
    shadowed = frozenset(
        name
        for name, usual in _USUAL.items()
        if module_globals.get(name, getattr(builtins, name, None)) is not usual
    )
    with _lock:
        known = _known(code)
        found = known.get(shadowed)
        if found is None:
            found = known[shadowed] = _stage(function, code, shadowed)
    return found


def _known(code: CodeType) -> _Staged:
    """The cached results for a code object, for as long as it lives."""
    key = id(code)
    if key not in _cache:
        _cache[key] = (weakref.ref(code, lambda _: _cache.pop(key, None)), {})
    return _cache[key][1]


def _stage(
    function: FunctionType | MethodType | CodeType, code: CodeType, shadowed: frozenset[str]
) -> ir.Function:
    try:
        staged = build(find_source(function), shadowed)
        mark_assigned(staged)
        remove_jumps(staged)
    except RecursionError:
        line = code.co_firstlineno
        place = Span(code.co_filename, line, 0, line, 0, code.co_qualname)
        raise FrontendError((TooDeep(function=code.co_qualname, span=place),)) from None
    return staged
