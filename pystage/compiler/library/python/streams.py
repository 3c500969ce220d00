"""`print`, and the standard streams that it writes to.

In: abstract arguments. Out: text that the program prints; the host formats it from the values of the arguments at that
time. `sys.stdout` and `sys.stderr` are looked up at each write.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from ...diagnostics.codes_calls import NotServed
from ...values.lattice import NONE, Abstract, Const, Meaning, Stream, Unknown
from ..context import Context, Raw
from ..kernels.structures import abstract
from ..registry import meaning
from ..rules.classes import class_of
from .strings import asks_objects, is_open_string, is_string, join, str_

STREAMS = {name: Stream(name) for name in ("stdout", "stderr")}
"""The attributes of `sys` that are streams to write to."""


@meaning(print)
def print_(
    ctx: Context, *args: Raw, sep: Raw = None, end: Raw = None, file: Raw = None, flush: Raw = False
) -> Abstract:
    """`print(*args)`: what precedes an object whose own methods make its string is printed before they run."""
    stream = _stream(ctx, file)
    between, last = _separator(ctx, sep, "sep", " "), _separator(ctx, end, "end", "\n")
    flushed = bool(ctx.known(ctx.truth(flush), "whether print flushes"))
    parts: list[Abstract] = []
    for position, each in enumerate(args):
        if position:
            parts.append(between)
        if parts and asks_objects(ctx, each):
            ctx.print(stream, join(ctx, parts), False)
            parts.clear()
        parts.append(str_(ctx, each))
    ctx.print(stream, join(ctx, [*parts, last]), flushed)
    return NONE


def _stream(ctx: Context, file: Raw) -> Stream:
    if isinstance(file, Stream):
        return file
    given = abstract(file)
    if isinstance(given, Const) and given.value is None:
        return STREAMS["stdout"]
    instead = "print to `sys.stdout` or `sys.stderr`, or return what is to be written"
    ctx.fail(
        NotServed(
            span=ctx.span, name="print", why="it writes to a file of the program's own", instead=instead
        )
    )


def _separator(ctx: Context, given: Raw, name: str, default: str) -> Abstract:
    value = abstract(given)
    if isinstance(value, Const) and value.value is None:
        return Const(default)
    if not is_string(value):
        ctx.raise_(TypeError(f"{name} must be None or a string, not {class_of(ctx, value)[0].__name__}"))
    return value


def stream_attribute(ctx: Context, stream: Stream, name: str) -> Abstract:
    """`sys.stdout.name`: its methods `write` and `flush`."""
    if name in _METHODS:
        return Meaning(f"sys.{stream.name}.{name}", functools.partial(_METHODS[name], stream=stream))
    instead = "use `print`, or `write` and `flush`"
    ctx.fail(
        NotServed(span=ctx.span, name=f"sys.{stream.name}.{name}", why="it is not known", instead=instead)
    )


def _write(ctx: Context, string: Raw, /, *, stream: Stream) -> Abstract:
    value = abstract(string)
    if not is_string(value):
        ctx.raise_(TypeError(f"write() argument must be str, not {class_of(ctx, value)[0].__name__}"))
    ctx.print(stream, value, False)
    if is_open_string(value):
        why = "it gives the number of characters, which only the run time knows"
        instead = "do not use what `write` gives"
        name = f"sys.{stream.name}.write"
        return Unknown(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    return Const(len(ctx.known(value, "a string")))


def _flush(ctx: Context, /, *, stream: Stream) -> Abstract:
    ctx.print(stream, Const(""), True)
    return NONE


_METHODS: dict[str, Callable[..., Abstract]] = {"write": _write, "flush": _flush}
