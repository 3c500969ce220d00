"""What a program did with compiled functions while it ran: `pystage explain --run`."""

from __future__ import annotations

import functools
import io
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..compiler.diagnostics.span import Span
from ..lazy.counting import metrics
from ..runtime.function import CompiledFunction
from ..runtime.ledger import Account, ledger

_UNKNOWN = "it was made ahead of its call, or is another function of the same source"
_SHOWN = 8
"""So many further programs of a function are shown."""


@contextmanager
def watching_calls() -> Iterator[None]:
    """Counts the calls of compiled functions, and takes their time, that of calls in them left out."""
    plain: Any = CompiledFunction.__call__
    inner = threading.local()

    @functools.wraps(plain)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer, inner.seconds = getattr(inner, "seconds", 0.0), 0.0
        began = time.perf_counter()
        try:
            return plain(self, *args, **kwargs)
        finally:
            seconds = time.perf_counter() - began
            account = ledger.account(*self.identity)
            account.calls += 1
            account.running += seconds - inner.seconds
            inner.seconds = outer + seconds

    CompiledFunction.__call__ = counted  # type: ignore[method-assign]
    try:
        yield
    finally:
        CompiledFunction.__call__ = plain  # type: ignore[method-assign]


def report(*, color: bool = False, width: int = 110) -> str:
    """What became of the compiled functions so far, as text: programs, why there are several, fallbacks, lazy barriers."""
    target = io.StringIO()
    console = Console(
        file=target,
        force_terminal=color,
        color_system="standard" if color else None,
        width=width,
        highlight=False,
    )
    accounts = list(ledger.accounts.values())
    if not accounts:
        console.print("no compiled function was called")
    else:
        console.print(_table(accounts))
        for account in accounts:
            for text in _details(account):
                console.print(text)
    _lazily(console)
    return "\n".join([line.rstrip() for line in target.getvalue().splitlines()]).strip("\n")


def _table(accounts: list[Account]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("function", overflow="fold")
    for title in ("calls", "programs", "inference", "XLA", "the rest", "as Python"):
        table.add_column(title, justify="right", no_wrap=True)
    for account in accounts:
        fallen = sum(each.calls for each in account.fallen.values())
        python = sum(each.seconds for each in account.fallen.values())
        rest = max(account.running - account.inference - account.xla - python, 0.0)
        table.add_row(
            f"{account.name}  {_place(account.span)}",
            f"{account.calls:,}",
            f"{account.programs:,}",
            _seconds(account.inference),
            _seconds(account.xla),
            _seconds(rest),
            f"{fallen:,} calls, {_seconds(python)}" if fallen else "",
        )
    return table


def _details(account: Account) -> Iterator[Text]:
    again = account.made[1:]
    if again:
        yield Text()
        yield Text(f"{account.name} was compiled {account.programs} times, again because of", "bold")
        for made in again[:_SHOWN]:
            yield Text("  " + ("; ".join(map(str, made.changes)) or _UNKNOWN))
        if len(again) > _SHOWN:
            yield Text(f"  and {len(again) - _SHOWN} more")
    for fallen in account.fallen.values():
        yield Text()
        yield Text.assemble(
            (f"{account.name} ran as Python", "bold"),
            f" {fallen.calls:,} times, {_seconds(fallen.seconds)}: {fallen.code}: {fallen.headline}",
            f"  {_place(fallen.span)}",
        )


def _lazily(console: Console) -> None:
    counts = metrics()
    for title, lines in (
        ("lazy tensors were looked at", counts.barriers_by_cause),
        ("calls on lazy tensors that NumPy ran", counts.unlowered_by_name),
    ):
        if lines:
            console.print()
            console.print(Text(title, "bold"))
            for (what, line), times in lines.most_common(_SHOWN):
                console.print(Text(f"  {times:,} times  {what}  {os.path.relpath(line)}"))
    if counts.compiles:
        console.print(Text(f"  {counts.compiles} programs for them, {_seconds(counts.seconds)}"))


def _place(span: Span | None) -> str:
    return "" if span is None else f"{os.path.relpath(span.file)}:{span.line}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1e3:.1f} ms"
