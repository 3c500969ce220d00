"""Usage of a compiled function: how its calls ran, what each way has cost, and why it was chosen."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...records import dataclass
from .ledger import ledger

if TYPE_CHECKING:
    from ..function import CompiledFunction


WHY_GIVEN_UP = "it took longer than half of what plain runs had taken by then"
"""Why inference was given up."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which calls ran: their number (None where they are not counted), the seconds that it has cost, and why.

    `"given up"` are attempts to compile, `"outgrown"` runs that exceeded a capacity, after which the call ran plainly.
    """

    name: str
    calls: int | None
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a compiled function so far: `print` it, or look at it in a notebook.

    `now` says how calls run now. `ways` are those in which calls ran, with their cost; `"programs"` cost what inference and
    XLA took, since calls of a program are not counted. `signatures` are the types of the programs that are kept.
    """

    name: str
    now: str
    ways: tuple[Way, ...]
    signatures: tuple[str, ...]

    def __str__(self) -> str:
        rows = [("", "calls", "seconds", ""), *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        table = [
            f"  {a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {why}".rstrip() for a, b, c, why in rows
        ]
        signatures = [f"  {signature}" for signature in self.signatures]
        return "\n".join([f"{self.name}: calls run {self.now}", *(table if self.ways else ()), *signatures])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, ...], tag: str = "td") -> str:
            return f"<tr>{''.join([f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells])}</tr>"

        table = "".join([row(("", "calls", "seconds", "why"), "th"), *map(row, self._rows())])
        signatures = "".join([f"<li><code>{html.escape(each)}</code></li>" for each in self.signatures])
        return (
            f"<p><code>{html.escape(self.name)}</code>: calls run {html.escape(self.now)}</p>"
            + (f"<table>{table}</table>" if self.ways else "")
            + (f"<ul>{signatures}</ul>" if signatures else "")
        )

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for way in self.ways:
            calls = "not counted" if way.calls is None else f"{way.calls:,}"
            yield way.name, calls, f"{way.seconds:.2f}", way.why


def usage_of(function: CompiledFunction[..., Any], staged: bool) -> Usage:
    """The usage of a compiled function so far; `staged`: the compiler has been asked for it."""
    ways: list[Way] = []
    calls, seconds = function.tiers.plainly
    if calls:
        ways.append(Way("plain", calls, seconds, function.tiers.why_plainly))
    if attempts := function.tiers.given_up:
        ways.append(Way("given up", len(attempts), sum(attempts), f"inference of types: {WHY_GIVEN_UP}"))
    if runs := function.tiers.outgrown:
        ways.append(Way("outgrown", len(runs), sum(runs), "runs of programs: a capacity was exceeded"))
    if staged:
        ways += _staged_ways(function)
    signatures = tuple(dict.fromkeys(function.signatures())) if staged else ()
    now = function.now
    if now.startswith("as programs") and any(way.name == "as Python" for way in ways) and not signatures:
        now = "as Python, beside the parts that are compiled"
    return Usage(str(getattr(function, "__name__", "")), now, tuple(ways), signatures)


def _staged_ways(function: CompiledFunction[..., Any]) -> Iterator[Way]:
    account = ledger.account(*function.identity)
    for fallback in account.fallbacks.values():
        why = f"{fallback.code}: {fallback.headline}"
        yield Way("as Python", fallback.calls, fallback.seconds, why)
    if account.programs:
        best = min([kind.best for kind in function.tiers.all_kinds], default=float("inf"))
        number = "1 program" if account.programs == 1 else f"{account.programs:,} programs"
        why = f"{number}: inference {account.inference:.2f} s, XLA {account.xla:.2f} s"
        if best < float("inf"):
            why += f"; the quickest call took {best * 1e3:.3g} ms"
        yield Way("programs", None, account.inference + account.xla, why)
