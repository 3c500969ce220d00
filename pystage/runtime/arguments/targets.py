"""Resolves a callable to a plain function, and a call's arguments to its parameters.

A callable becomes a `Target`: a plain function and its leading arguments (the object of a bound method or of a callable
object, the arguments of a `functools.partial`). `Calling` checks a call against the function's parameters with Python's
own rules and messages and brings it into canonical form: arguments by position where possible, keywords in the order of
the parameters.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import types
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

from ...compiler.diagnostics.span import Span
from ...records import dataclass
from .signature import Signature

_VAR_POSITIONAL = 0x04  # inspect.CO_VARARGS
_VAR_KEYWORD = 0x08  # inspect.CO_VARKEYWORDS
_DECORATOR_LINES = 50
"""The number of lines after the first decorator on which a `def` is searched."""


@dataclass(frozen=True, slots=True)
class Target:
    """A plain function and the arguments that come before those of a call."""

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


def definition_of(fn: Callable[..., Any]) -> Span | None:
    """The span of `def name` or `lambda`; None for a callable without Python code."""
    code = getattr(fn, "__code__", None)
    if not isinstance(code, types.CodeType):
        return None
    first, what = code.co_firstlineno, "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    for number in range(first, first + _DECORATOR_LINES):
        column = linecache.getline(code.co_filename, number).find(what)
        if column >= 0:
            return Span(code.co_filename, number, column, number, column + len(what), code.co_qualname)
    return Span(code.co_filename, first, 0, first, 0, code.co_qualname)


def target_of(obj: Callable[..., Any]) -> Target:
    """The function that a call of `obj` runs."""
    if isinstance(obj, types.FunctionType):
        return Target(obj)
    if isinstance(obj, types.MethodType):
        inner = target_of(obj.__func__)
        return replace(inner, args=(*inner.args, obj.__self__))
    if isinstance(obj, functools.partial):
        inner = target_of(obj.func)
        return Target(inner.fn, (*inner.args, *obj.args), {**inner.kwargs, **obj.keywords})
    if isinstance(obj, staticmethod | classmethod):
        return target_of(obj.__func__)
    call = inspect.getattr_static(type(obj), "__call__", None)
    if isinstance(call, types.FunctionType):
        return Target(call, (obj,))
    return Target(obj)


class Calling:
    """The parameters of a plain function, and canonical calls of it."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._stub: Callable[..., None] | None = None
        self._positional: tuple[str, ...] = ()
        self._positional_only = 0
        self._keyword_only: tuple[str, ...] = ()
        self._var_positional: str | None = None
        self._var_keyword: str | None = None
        self._orders: dict[tuple[int, tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]] = {}
        if isinstance(fn, types.FunctionType):
            self._read(fn)

    def _read(self, fn: types.FunctionType) -> None:
        code = fn.__code__
        names = code.co_varnames
        count, last = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        self._positional = names[:count]
        self._positional_only = code.co_posonlyargcount
        self._keyword_only = names[count:last]
        if code.co_flags & _VAR_POSITIONAL:
            self._var_positional = names[last]
            last += 1
        if code.co_flags & _VAR_KEYWORD:
            self._var_keyword = names[last]
        self._stub = _stub(fn, self)

    def order(self, count: int, keywords: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """For a call with `count` positional arguments and these keywords: those that move to the positions after them, and
        the others, each in the order of the canonical call.
        """
        key = (count, tuple(keywords))
        found = self._orders.get(key)
        if found is None:
            moved: list[str] = []
            for name in self._positional[max(count, self._positional_only) :]:
                if count < self._positional_only or name not in keywords:
                    break
                moved.append(name)
            named = [n for n in (*self._positional, *self._keyword_only) if n in keywords and n not in moved]
            rest = [n for n in keywords if n not in moved and n not in named]
            found = self._orders[key] = (tuple(moved), (*named, *rest))
        return found

    def check(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Raises the plain call's `TypeError` if the arguments do not fit the parameters."""
        if self._stub is not None:
            self._stub(*args, **kwargs)

    def signature(self, count: int, keywords: Sequence[str]) -> Signature:
        """The positions of parameters in canonical calls with `count` positional arguments and these keywords."""
        return Signature(
            self._positional,
            count,
            tuple(keywords),
            self._var_positional,
            self._var_keyword,
            self._keyword_only,
        )

    def has(self, parameter: int | str) -> bool:
        """True if a call may pass an argument at this position, or by this name."""
        if isinstance(parameter, int):
            return parameter < len(self._positional) or self._var_positional is not None
        named = (*self._positional, *self._keyword_only)
        return parameter in named or self._var_keyword is not None

    def argument_names(self, count: int) -> list[str]:
        """Words for the first `count` positional arguments: parameter names, `args[0]` beyond them."""
        extra = max(0, count - len(self._positional))
        more = [f"{self._var_positional or 'args'}[{i}]" for i in range(extra)]
        return [*self._positional[:count], *more]

    def parameters(self) -> str:
        """The parameter list in Python's syntax, without annotations and values of defaults."""
        only = self._positional_only
        parts = [*self._positional[:only], *(["/"] if only else []), *self._positional[only:]]
        if self._var_positional:
            parts.append("*" + self._var_positional)
        elif self._keyword_only:
            parts.append("*")
        parts += self._keyword_only
        if self._var_keyword:
            parts.append("**" + self._var_keyword)
        return ", ".join(parts)


def _stub(fn: types.FunctionType, calling: Calling) -> Callable[..., None]:
    """An empty function with the parameters of `fn`: a call of it fails as one of `fn` would."""
    scope: dict[str, Any] = {}
    exec(compile(f"def stub({calling.parameters()}): pass", "<pystage>", "exec"), scope)
    stub = scope["stub"]
    stub.__qualname__ = fn.__qualname__
    stub.__defaults__ = fn.__defaults__
    stub.__kwdefaults__ = fn.__kwdefaults__
    return stub  # type: ignore[no-any-return]
