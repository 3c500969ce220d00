"""`pystage explain --run`: reports what a program did with compiled functions while it ran."""

from __future__ import annotations

import functools
import io
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from types import FunctionType, ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..compiler.diagnostics.span import Span
from ..compiler.diagnostics.traceback import shows_all_frames
from ..lazy.counting import Lines, metrics
from ..runtime.arguments.targets import definition_of
from ..runtime.function import CompiledFunction
from ..runtime.reports.ledger import Account, Change, in_words, ledger
from ..runtime.reports.usage import WHY_GIVEN_UP
from .text import console_to

_UNKNOWN = "it was made ahead of its call, or is another function of the same source"
_SHOWN = 8
"""How many further programs of a function are shown."""
_NAMED = 3
"""How many functions that could be compiled are named."""


def watch_calls() -> None:
    """From now on counts the calls of compiled functions, and takes their time, that of calls in them left out."""
    plain: Any = CompiledFunction.__call__
    inner = threading.local()

    @functools.wraps(plain)
    def counted(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        outer, inner.seconds = getattr(inner, "seconds", 0.0), 0.0
        began = time.perf_counter()
        try:
            return plain(self, *args, **kwargs)
        except BaseException as error:
            if not shows_all_frames() and error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            seconds = time.perf_counter() - began
            account = ledger.account(*self.identity)
            account.calls += 1
            account.tiers = self.tiers
            account.running += seconds - inner.seconds
            inner.seconds = outer + seconds

    call: Any = counted
    CompiledFunction.__call__ = call  # type: ignore[method-assign]
    ledger.records_changes = True


def as_data() -> dict[str, Any]:
    """What became of the compiled functions so far, as data for JSON: lines count from 1, columns from 0."""
    counts = metrics()
    return {
        "functions": [_account(account) for account in ledger.accounts.values()],
        "lazy": {
            "programs": counts.compiles,
            "seconds": counts.seconds,
            "barriers": _lines(counts.barriers_by_cause),
            "numpy": _lines(counts.unlowered_by_name),
        },
    }


def _account(account: Account) -> dict[str, Any]:
    _, seconds = account.as_python
    return {
        "name": account.name,
        "place": _data(account.span),
        "calls": account.calls,
        "programs": account.programs,
        "plain calls": account.plainly[0],
        "given up": len(account.given_up),
        "seconds": {
            "inference": account.inference,
            "xla": account.xla,
            "rest": account.rest,
            "python": seconds,
            "plain": account.plainly[1],
            "given up": sum(account.given_up),
        },
        "compiled": [
            {
                "types": program.types,
                "changes": [
                    {"what": c.what, "old": c.old, "new": c.new, "reason": c.reason, "place": _data(c.span)}
                    for c in program.changes
                ],
            }
            for program in account.compilations
        ],
        "fallbacks": [
            {
                "code": fallback.code,
                "headline": fallback.headline,
                "place": _data(fallback.span),
                "calls": fallback.calls,
                "seconds": fallback.seconds,
            }
            for fallback in account.fallbacks.values()
        ],
    }


def _lines(lines: Lines) -> list[dict[str, Any]]:
    return [{"what": what, "line": line, "times": times} for (what, line), times in lines.most_common()]


def _data(span: Span | None) -> dict[str, Any] | None:
    return None if span is None else asdict(span)


def as_text(main: ModuleType, here: str, *, color: bool = False, width: int = 110) -> str:
    """What became of the compiled functions so far: programs, why there are several, fallbacks, lazy barriers.

    `main` is the script's module, from which advice comes where nothing was compiled; places are as seen from `here`.
    """
    target = io.StringIO()
    console = console_to(target, color, width)
    accounts = list(ledger.accounts.values())
    if accounts:
        console.print(_table(accounts, here))
        for account in accounts:
            for text in _details(account, here):
                console.print(text)
    else:
        console.print("no compiled function was called")
        if not any(isinstance(value, CompiledFunction) for value in vars(main).values()):
            console.print(Text(_advice(main, here)))
    _lazily(console, here)
    return "\n".join([line.rstrip() for line in target.getvalue().splitlines()]).strip("\n")


def _advice(main: ModuleType, here: str) -> str:
    """What to decorate: functions of the script that name NumPy or JAX."""
    found = [
        f"`{name}` ({_location(definition_of(value), here)})"
        for name, value in vars(main).items()
        if isinstance(value, FunctionType) and value.__globals__ is vars(main) and _is_over_arrays(value)
    ]
    such = f", such as {', '.join(found[:_NAMED])}" if found else ""
    return f"decorate functions over arrays with `@pystage.compile`{such}"


def _is_over_arrays(function: FunctionType) -> bool:
    """Whether a function with parameters uses something of NumPy's or of JAX's."""
    used = [function.__globals__.get(name) for name in function.__code__.co_names]
    homes = [
        getattr(each, "__name__" if isinstance(each, ModuleType) else "__module__", None) for each in used
    ]
    return function.__code__.co_argcount > 0 and any(
        isinstance(home, str) and home.partition(".")[0] in ("numpy", "jax") for home in homes
    )


def _table(accounts: list[Account], here: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("function", overflow="fold")
    for title in ("calls", "programs", "inference", "XLA", "the rest", "as Python"):
        table.add_column(title, justify="right", no_wrap=True)
    for account in accounts:
        fallen, python = account.as_python
        table.add_row(
            f"{account.name}  {_location(account.span, here)}",
            f"{account.calls:,}",
            f"{account.programs:,}",
            _seconds(account.inference),
            _seconds(account.xla),
            _seconds(account.rest),
            f"{_count(fallen, 'call')}, {_seconds(python)}" if fallen else "",
        )
    return table


def _details(account: Account, here: str) -> Iterator[Text]:
    calls, seconds = account.plainly
    if account.tiers is not None and calls:
        yield Text()
        why = f"{account.tiers.why_plainly}; calls run {account.tiers.now}"
        yield Text.assemble(
            (f"{account.name} ran plainly", "bold"), f" {_count(calls, 'time')}, {_seconds(seconds)}: {why}"
        )
    if attempts := account.given_up:
        yield Text()
        yield Text.assemble(
            (f"{account.name}: inference of types was given up", "bold"),
            f" {_count(len(attempts), 'time')}, {_seconds(sum(attempts))}: {WHY_GIVEN_UP}",
        )
    again = account.compilations[1:]
    if again:
        yield Text()
        yield Text(f"{account.name} was compiled {account.programs} times, again because of", "bold")
        for program in again[:_SHOWN]:
            yield Text("  " + (in_words([_seen(c, here) for c in program.changes]) or _UNKNOWN))
        if len(again) > _SHOWN:
            yield Text(f"  and {len(again) - _SHOWN} more")
    for fallback in account.fallbacks.values():
        yield Text()
        yield Text.assemble(
            (f"{account.name} ran as Python", "bold"),
            f" {_count(fallback.calls, 'time')}, {_seconds(fallback.seconds)}: {fallback.code}: {fallback.headline}",
            f"  {_location(fallback.span, here)}",
        )


def _lazily(console: Console, here: str) -> None:
    counts = metrics()
    for title, lines in (
        ("lazy tensors were looked at", counts.barriers_by_cause),
        ("calls on lazy tensors that NumPy ran", counts.unlowered_by_name),
    ):
        if lines:
            console.print()
            console.print(Text(title, "bold"))
            for (what, line), times in lines.most_common(_SHOWN):
                console.print(Text(f"  {_count(times, 'time')}  {what}  {os.path.relpath(line, here)}"))
    if counts.compiles:
        console.print(Text(f"  {_count(counts.compiles, 'program')} for them, {_seconds(counts.seconds)}"))


def _seen(change: Change, here: str) -> Change:
    """The change with its place as seen from a folder."""
    span = change.span and replace(change.span, file=os.path.relpath(change.span.file, here))
    return replace(change, span=span)


def _location(span: Span | None, here: str) -> str:
    return "" if span is None else f"{os.path.relpath(span.file, here)}:{span.line}"


def _count(number: int, what: str) -> str:
    """`1 call`, `1,200 calls`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1e3:.1f} ms"
