"""Diagnostics for calls of callables that pystage does not know: the user's name for them, and advice.

In: a callable at a call. Out: the diagnostic that refuses it, in the words of the source at that place.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from dataclasses import replace
from typing import Any, NamedTuple

from ...diagnostics.codes_calls import NotServed, UnknownCallable, UnsupportedClass
from ...diagnostics.codes_control import HandlerAtRunTime
from ...diagnostics.diagnostic import Diagnostic, Note
from ...diagnostics.span import Span
from ...library.rules.foreign import advice_for, canonical_name, may_be_whole
from ...policy import is_library_file, is_own_file, is_standard_file, package_of_file, short_path
from ..state.frame import Frame


def text_of(span: Span | None) -> str:
    """The source text of a span, stripped; empty where it cannot be read."""
    if span is None:
        return ""
    lines = linecache.getlines(span.file)[span.line - 1 : span.end_line]
    if not lines:
        return ""
    encoded = [line.rstrip("\n") for line in lines]
    encoded[-1] = encoded[-1][: span.end_column]
    encoded[0] = encoded[0][span.column :]
    return "\n".join(encoded)


def called_at(span: Span | None) -> str | None:
    """The dotted name that is called, or subscripted, at a span: `datetime.datetime.now` of `datetime.datetime.now()`."""
    try:
        node = ast.parse(text_of(span).strip() or "()", mode="eval").body
    except SyntaxError:
        return None
    node = (
        node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    )
    text = ast.unparse(node)
    return text if all(part.isidentifier() for part in text.split(".")) else None


def resolved(name: str | None, frame: Frame | None) -> str | None:
    """A dotted name of the source with the module that it begins with in full: `np.random` is `numpy.random`."""
    if name is None or frame is None:
        return None
    first, dot, rest = name.partition(".")
    found = frame.namespace.get(first)
    if isinstance(found, types.ModuleType):
        return f"{found.__name__}{dot}{rest}"
    module = getattr(found, "__module__", None)
    if isinstance(module, str) and isinstance(found, type):
        return f"{module}.{found.__qualname__}{dot}{rest}"
    return None


def names_of(value: Any) -> list[str]:
    """The names under which the table may know a callable, a class or an object of a library."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__
    holder = getattr(value, "__self__", None)
    found = []
    if holder is not None and not isinstance(holder, types.ModuleType):
        cls = holder if isinstance(holder, type) else type(holder)
        found.append(f"{cls.__module__}.{getattr(value, '__name__', name)}")
    if isinstance(module, str):
        found.append(f"{module}.{name}")
    if not callable(value):
        found.append(f"{type(value).__module__}.{type(value).__qualname__}")
    return [canonical_name(each) for each in found]


def unknown_call(
    value: Any, span: Span | None, frame: Frame | None, why: str = "its meaning is not known"
) -> UnknownCallable:
    """The refusal of a call of `value`, by the name that the source gives it, with the advice for it."""
    written = called_at(span)
    names = [n for n in (resolved(written, frame), *names_of(value)) if n is not None]
    advice = advice_for(names)
    shown = written if written is not None and "." in written else canonical_name(callable_name(value))
    if advice is None and any(name.startswith(("numpy.", "jax.")) for name in names):
        why = "it is not among the functions that pystage stages"
        instead = "call it before or after the staged function, or use functions that `docs/support.md` lists"
        return UnknownCallable(span=span, name=shown, why=why, instead=instead)
    if advice is None:
        return UnknownCallable(span=span, name=shown, why=why)
    return UnknownCallable(span=span, name=shown, why=advice.why, instead=advice.instead)


def is_aside(value: Any) -> bool:
    """True for a callable whose calls no result needs: logging, warnings, waiting."""
    advice = None if value is None else advice_for(names_of(value))
    return advice is not None and advice.aside


def unknown_item(value: Any, span: Span | None, frame: Frame | None) -> NotServed:
    """The refusal of an index into an object of a library."""
    found = unknown_call(value, span, frame)
    name = called_at(span) or type(value).__name__
    why = found.why if found.has_advice else "its meaning is not known"
    return NotServed(span=span, name=f"`{name}[…]`", why=why, instead=found.instead)


def callable_name(value: Any) -> str:
    """How a user calls this callable."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__
    return f"{module}.{name}" if module not in (None, "builtins", "__main__") else name


def whole_refusal(value: Any, span: Span | None, frame: Frame | None) -> UnknownCallable | None:
    """The refusal of a Python function or class none of which can be staged, whatever its source says."""
    holder = getattr(value, "__self__", None)
    module = str(getattr(value if holder is None else type(holder), "__module__", ""))
    if not may_be_whole(module.partition(".")[0]) or not _is_in_library(value, module):
        return None
    advice = advice_for(names_of(value))
    return unknown_call(value, span, frame) if advice is not None and advice.whole else None


def _is_in_library(value: Any, module: str) -> bool:
    """False for the user's own function or class in a module that has the name of a library's."""
    code = getattr(value, "__code__", None)
    file = code.co_filename if code is not None else getattr(sys.modules.get(module), "__file__", None)
    return file is None or package_of_file(file) is not None


def unsupported_class(cls: type, why: str, span: Span | None) -> UnsupportedClass:
    """The refusal of a class, with the advice for it."""
    advice = advice_for(names_of(cls))
    if advice is None:
        return UnsupportedClass(span=span, name=cls.__qualname__, why=why)
    return UnsupportedClass(span=span, name=cls.__qualname__, why=advice.why, instead=advice.instead)


class UsersCall(NamedTuple):
    """The place in the user's source that led to another one, if there is one; its frame, and that of what it calls."""

    span: Span | None
    caller: Frame | None
    inside: Frame | None


def users_call(span: Span | None, frame: Frame | None) -> UsersCall:
    """The user's call that led to a place: that itself, where it is in no library."""
    own = _own_package(frame)
    inside: Frame | None = None
    while frame is not None and (span is None or _is_foreign(span, own)):
        inside, span, frame = frame, frame.call, frame.caller
    return UsersCall(None if span is None or _is_foreign(span, own) else span, frame, inside)


def at_users_call(diagnostic: Diagnostic, frame: Frame | None, current: Span | None) -> Diagnostic:
    """The diagnostic at the user's call of a library's function, where it stands in the source of that library.

    The frames of an installed package become one note; those of Python's own library are nothing that the user can do
    something about, nor is any of a function of which the table says what to do instead. A function of the package that
    the program itself belongs to is the user's.
    """
    if diagnostic.span is None or package_of_file(diagnostic.span.file) is None:
        return diagnostic
    own, found = _own_package(frame), users_call(current, frame)
    span, inside = found.span, found.inside
    if inside is None or span is None:
        return diagnostic
    name = called_at(span) or inside.function.name
    kept = [n for n in diagnostic.notes if n.span is None or not _is_foreign(n.span, own)]
    told = (*kept, Note(_inside(diagnostic.span, name)))
    if not _is_about_calls(diagnostic):
        return replace(diagnostic, span=span, notes=told)
    advice = advice_for(_names_in(name, found.caller, inside))
    shown = called_at(span) or f"{inside.module}.{inside.function.qualname}"
    why = f"in its source, {diagnostic.headline}"
    if advice is None:
        return UnknownCallable(span=span, name=shown, why=why, notes=told)
    return UnknownCallable(span=span, name=shown, why=advice.why, instead=advice.instead, notes=tuple(kept))


def _inside(place: Span, name: str) -> str:
    """The location of a problem in a library, in the words of one who calls `name`."""
    if is_standard_file(place.file):
        return f"this is inside of `{name}`, a function of Python's library"
    where = f" ({place.function})" if place.function else ""
    return f"this is in {short_path(place.file)}:{place.line}{where}, to which `{name}` leads"


def _names_in(name: str, caller: Frame | None, inside: Frame) -> list[str]:
    qualified = f"{inside.module}.{inside.function.qualname}"
    return [n for n in (resolved(name, caller), qualified) if n is not None]


def _is_about_calls(diagnostic: Diagnostic) -> bool:
    """True if the library's source has what is not staged; otherwise the arguments do not fit, which the user decides."""
    return diagnostic.plain is None and (
        diagnostic.code[:3] in ("PS1", "PS6") or isinstance(diagnostic, HandlerAtRunTime)
    )


def _own_package(frame: Frame | None) -> str | None:
    """The package that the program itself belongs to, if it is a library's."""
    while frame is not None and frame.caller is not None:
        frame = frame.caller
    return None if frame is None else package_of_file(frame.function.span.file)


def is_foreign(span: Span | None, frame: Frame | None) -> bool:
    """True for a place in the source of a library that the program does not belong to."""
    return span is not None and is_library_file(span.file) and _is_foreign(span, _own_package(frame))


def _is_foreign(span: Span, own: str | None) -> bool:
    return is_own_file(span.file) or package_of_file(span.file) not in (None, own)
