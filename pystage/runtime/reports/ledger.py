"""The ledger of compiled functions in this process: their programs with the reason for each, fallbacks, and times.

Entries are recorded at compilations and fallbacks, which take far longer. Calls are counted and timed only while somebody
asks for it (`explain/run_reports.py`).
"""

from __future__ import annotations

import reprlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from ...compiler.diagnostics.errors import StagingError
from ...compiler.diagnostics.span import Span
from ...compiler.pipeline import Staged
from ...compiler.values.boundary import GuardKind, LeafSpec, RowsSpec, Spec, StaticSpec, StructureSpec
from ...records import dataclass
from ..tiers import Tiers
from .messages import Topic, is_heard, tell

_MOST = 200
"""For how many programs of one function the reason is kept."""
_TOLD = 3
"""How many of the changes that led to one program are reported."""


@dataclass(slots=True)
class Change:
    """A reason for a further program: a value that was `old` in the one before, and where the program depends on it."""

    what: str
    old: str
    new: str
    reason: str = ""
    span: Span | None = None

    def __str__(self) -> str:
        where = f", {self.span.at}" if self.span is not None else ""
        because = f" ({self.reason}{where})" if self.reason else ""
        return f"{self.what}: {self.old} → {self.new}{because}"


def in_words(changes: Sequence[Change]) -> str:
    """The changes as one sentence; of many, the first."""
    more = [f"{len(changes) - _TOLD} more"] if len(changes) > _TOLD else []
    return "; ".join([*map(str, changes[:_TOLD]), *more])


@dataclass(slots=True)
class CompiledProgram:
    """One program. `changes`: the differences from the program before; none for the first."""

    types: str
    changes: tuple[Change, ...]


@dataclass(slots=True)
class Fallback:
    """Calls that ran as Python, for one reason."""

    code: str
    headline: str
    span: Span | None
    calls: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Account:
    """The account of one compiled function. Times are seconds; `calls` and `running` are counted while somebody asks."""

    name: str
    span: Span | None
    programs: int = 0
    compilations: list[CompiledProgram] = field(default_factory=list)
    inference: float = 0.0
    xla: float = 0.0
    calls: int = 0
    running: float = 0.0
    fallbacks: dict[tuple[str, Span | None], Fallback] = field(default_factory=dict)
    tiers: Tiers | None = None
    """What its plain runs and its compilations have cost, of a function that is compiled when that pays."""

    @property
    def plainly(self) -> tuple[int, float]:
        """The number and time of calls that ran plainly because compiling did not pay."""
        return self.tiers.plainly if self.tiers is not None else (0, 0.0)

    @property
    def given_up(self) -> list[float]:
        """The seconds of each attempt to compile that was given up."""
        return self.tiers.given_up if self.tiers is not None else []

    @property
    def as_python(self) -> tuple[int, float]:
        """The number and time of calls that ran as Python."""
        return sum(f.calls for f in self.fallbacks.values()), sum(f.seconds for f in self.fallbacks.values())

    @property
    def rest(self) -> float:
        """The time of calls outside of inference, XLA, Python and attempts that were given up."""
        elsewhere = self.inference + self.xla + self.as_python[1] + self.plainly[1] + sum(self.given_up)
        return max(self.running - elsewhere, 0.0)


class Ledger:
    """The accounts of all compiled functions."""

    def __init__(self) -> None:
        self.accounts: dict[tuple[str, Span | None], Account] = {}
        self.records_changes = False
        """Whether the changes that led to each program are recorded (`explain/run_reports.py`)."""
        self._lock = threading.Lock()

    def account(self, name: str, span: Span | None) -> Account:
        """The account of a function."""
        with self._lock:
            return self.accounts.setdefault((name, span), Account(name, span))

    def note_program(
        self,
        name: str,
        span: Span | None,
        staged: Staged,
        why: Callable[[], tuple[Change, ...]],
        seconds: float,
        number: int,
    ) -> None:
        """Records an inferred program, the `number`-th of a compiled function; calls `why` only if changes are recorded."""
        account = self.account(name, span)
        account.programs += 1
        account.inference += seconds
        if not self.records_changes and not is_heard(Topic.COMPILES):
            return
        changes = why()
        if len(account.compilations) < _MOST:
            account.compilations.append(CompiledProgram(staged.takes_and_gives, changes))
        if number > 1:
            reasons = in_words(changes) or "it was given up for others"
            tell(Topic.COMPILES, f"`{name}` is compiled again, {number} programs: {reasons}")
        else:
            tell(Topic.COMPILES, f"`{name}` is compiled: {staged.takes_and_gives}")

    def note_fallback(self, name: str, span: Span | None, error: StagingError, seconds: float) -> None:
        """Counts a call that ran as Python."""
        first = error.diagnostics[0]
        account = self.account(name, span)
        key = (first.code, first.span)
        fallback = account.fallbacks.setdefault(key, Fallback(first.code, first.headline, first.span))
        fallback.calls += 1
        fallback.seconds += seconds
        if fallback.calls == 1:
            where = f" ({first.span.at})" if first.span is not None else ""
            tell(Topic.FALLBACKS, f"`{name}` runs as Python: {first.code}: {first.headline}{where}")


ledger = Ledger()
"""That of this process."""


# ---------------------------------------------------------------- why there is a further program


class Known:
    """The arguments, demands and guards of a program."""

    __slots__ = ("args", "demands", "guards")

    def __init__(self, args: Mapping[str, Spec], staged: Staged) -> None:
        self.args = args
        self.demands = staged.demands
        self.guards = staged.program.guards


def changes(before: Sequence[Known], now: Known) -> tuple[Change, ...]:
    """The differences from the most similar program before."""
    return min([_changes(each, now) for each in before[::-1]], key=len, default=())


def _changes(before: Known, now: Known) -> tuple[Change, ...]:
    found: list[Change] = []
    for name in {**before.args, **now.args}:
        old, new = before.args.get(name), now.args.get(name)
        if old is not None and new is not None:
            found += _changes_of(name, old, new)
        else:
            was, is_ = ("not given", "given") if old is None else ("given", "not given")
            found.append(Change(name, was, is_))
    demands = {d.where: d for d in now.demands}
    earlier_demands = {d.where: d for d in before.demands}
    for where, demand in demands.items():
        earlier = earlier_demands.get(where)
        if earlier is not None and repr(earlier.value) != repr(demand.value):
            reason = f"{demand.reason} needs it"
            found.append(
                Change(where, reprlib.repr(earlier.value), reprlib.repr(demand.value), reason, demand.span)
            )
    guards, earlier_guards = [
        {g.path.key: g for g in each.guards if g.kind is GuardKind.EQUAL} for each in (now, before)
    ]
    for key, guard in guards.items():
        earlier_guard, path = earlier_guards.get(key), str(guard.path)
        if earlier_guard is None or path in demands or _is_same(earlier_guard.expected, guard.expected):
            continue
        old_value, new_value = value_text(earlier_guard.expected), value_text(guard.expected)
        found.append(Change(path, old_value, new_value, "captured as a constant"))
    return tuple(found)


def _changes_of(path: str, old: Spec, new: Spec) -> Sequence[Change]:
    match old, new:
        case LeafSpec(), LeafSpec():
            return (
                []
                if (old.type, old.form) == (new.type, new.form)
                else [Change(path, _spec_text(old), _spec_text(new))]
            )
        case StaticSpec(), StaticSpec():
            return [] if _is_same(old.value, new.value) else [Change(path, _spec_text(old), _spec_text(new))]
        case StructureSpec(), StructureSpec() if old.cls is new.cls and old.keys == new.keys:
            children = zip(old.keys, old.children, new.children, strict=True)
            access = "[{!r}]" if issubclass(old.cls, (tuple, list, dict)) else ".{}"
            return [c for key, a, b in children for c in _changes_of(path + access.format(key), a, b)]
        case RowsSpec(), RowsSpec() if old.cls is new.cls and old.length == new.length:
            return _changes_of(f"{path}[:]", old.element, new.element)
    return [Change(path, _spec_text(old), _spec_text(new))]


_PLAIN = (int, float, complex, bool, str, bytes, type(None))


def _is_same(a: object, b: object) -> bool:
    """True for one object, and for equal values of Python's own types: no user code runs."""
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(map(_is_same, a, b))
    return a is b or (type(a) is type(b) and type(a) in _PLAIN and repr(a) == repr(b))


def value_text(value: object) -> str:
    """A value in a few characters; for other than Python's own types the name, since their `repr` is user code."""
    if type(value) not in _PLAIN:
        return str(getattr(value, "__qualname__", None) or f"a {type(value).__name__}")
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]} …"


def _spec_text(spec: Spec) -> str:
    match spec:
        case LeafSpec():
            return f"{spec.type} ({spec.form.value})"
        case StaticSpec(value=value):
            return value_text(value)
        case StructureSpec():
            return f"{spec.cls.__name__} of {len(spec.keys)}"
        case RowsSpec():
            return f"{spec.cls.__name__} of {spec.length}"
    raise AssertionError(type(spec).__name__)
