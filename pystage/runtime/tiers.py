"""Tiers: whether a call runs as plain Python or as a compiled program.

Compiling pays once plain runs have cost as much as it does: the ski-rental rule (Karlin, Manasse, Rudolph and Sleator
1988, "Competitive snoopy caching"). A function whose compilations never cost more than its plain runs did before them takes
at most twice the time of the better of the two. What a compilation costs is estimated, before the first one by the lines of
the function, afterwards by those that were made. A call that is expected to run longer than that is compiled at once.
"""

from __future__ import annotations

import _thread
import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np

from ..deferred import deferred
from ..records import dataclass
from .executables.jax_private import is_tracing
from .outcomes import Lazy
from .work_estimate import Nesting, Outline, may_take_long, nesting_of, outline_of

if TYPE_CHECKING:
    from .executables.background import Job
    from .on_stack import LoopHeads
    from .recursive_runs import RecursiveRuns

Tier = Literal["auto", "compiled", "plain"]

INFERENCE = 0.5
"""The share of inference in what compiling costs: the median of `examples/scripts`."""
AT_FIRST = 0.2
"""Seconds that the first program of a process takes to infer and to compile at least: modules are loaded for it."""
BY_LINE = 0.01
"""Seconds for each line of the function and of what it calls: the median of `examples/scripts`, where `slowness` is 1."""
WORTH = 1.15
"""A program is given up that takes longer than this many times the plain run."""
TRIALS = 3
"""Calls of a program after which it is known how long it takes."""
FAR = 10
"""A program is given up at once if its first call takes this many times as long as the plain run, and `NOTICED`."""
NOTICED = 0.1
"""Seconds that are more than what only the first call of a program does."""
WATCHED = 0.05
"""A plain run is watched where such calls take longer, in seconds, or none was made yet."""
LONGER = 4
"""A program that was given up is tried again where plain runs take this many times as long as then."""
SOON = 1e-3
"""Seconds of plain runs after which it is asked again whether XLA is ready."""
OFTEN = 1e-2
"""Seconds of plain runs after which it is asked again whether one of the function's programs serves a call."""
LOADED = 0.1
"""Seconds of inference that say how much of the processor is there for it."""

LONG = 1.0
"""Seconds after which a plain run is replaced on the stack at the earliest."""
EVERY = 0.25
"""Seconds between two looks at the plain runs."""

DEPTH = 4
"""Nested plain runs of a function from which on all calls among the functions of a recursion are plain."""

_slowness = deferred("pystage.runtime.processor_speed", "slowness")
_now = time.perf_counter
_processor = time.thread_time


class _Running(threading.local):
    plainly = False
    depth = 0

    def __init__(self) -> None:
        self.in_main = threading.current_thread() is threading.main_thread()


class NotReady(Exception):
    """A call for which a program would have to be compiled first, or is: by `job`.

    `outgrown`: its program has exceeded a capacity. `xla`: the program is inferred, and XLA is expected to take so many
    seconds, for which the call does not wait.
    """

    def __init__(self, job: Job | None = None, outgrown: bool = False, xla: float | None = None) -> None:
        super().__init__(job, outgrown, xla)
        self.job = job
        self.outgrown = outgrown
        self.xla = xla


Missing = Literal["wait", "beside", "refuse"]
"""What happens where a program is missing: the call waits until it is compiled; it is inferred, and then compiled beside the
program; or nothing."""


class _Where:
    """What happens where a program is missing. Inference is given up `budget` seconds after it has begun."""

    def __init__(self, missing: Missing, budget: float) -> None:
        self.missing: Missing = missing
        self.budget = budget
        self.until: float | None = None
        """When inference is given up; None before it begins."""
        self.began = _now(), _processor()


class _Asked(threading.local):
    where = _Where("wait", float("inf"))


_asked = _Asked()


@contextmanager
def _where_missing(missing: Missing, budget: float = float("inf")) -> Iterator[None]:
    """The behaviour where a program is missing.

    `budget`: the seconds after which inference ends with `NotReady`. XLA may take what is left.
    """
    before, _asked.where = _asked.where, _Where(missing, budget)
    try:
        yield
    finally:
        _asked.where = before


only_ready = functools.partial(_where_missing, "refuse")
"""In the `with` block nothing is compiled: `NotReady` is raised instead."""
compiled_beside = functools.partial(_where_missing, "beside")
"""In the `with` block programs are inferred, and XLA compiles them in a thread: `NotReady` is raised meanwhile."""
anything = functools.partial(_where_missing, "wait")
"""In the `with` block whatever is missing is compiled."""


def check_ready(outgrown: bool = False) -> None:
    """Raises `NotReady` where nothing may be compiled. `outgrown`: in place of a program that has exceeded a capacity."""
    if _asked.where.missing == "refuse":
        raise NotReady(outgrown=outgrown)


def check_worth(xla: Callable[[], float]) -> None:
    """Raises `NotReady` where nothing may be compiled, or XLA is expected to take longer than compiling is worth.

    `xla` estimates the seconds of a processor that it will take. Where other programs use the processor, too, it takes as
    many times as long as inference has taken.
    """
    check_ready()
    where = _asked.where
    if where.budget == float("inf"):
        return
    passed, used = [now - began for now, began in zip((_now(), _processor()), where.began)]
    seconds = xla() * (max(passed / used, 1.0) if used > LOADED else 1.0)
    if passed + seconds > where.budget:
        raise NotReady(xla=seconds)


def is_beside() -> bool:
    """True where XLA compiles in a thread, and the call does not wait for it."""
    return _asked.where.missing == "beside"


def patience() -> float:
    """The seconds left until inference is given up, from when this is first asked: modules are loaded by then."""
    where, now = _asked.where, _now()
    if where.until is None:
        where.until = now + where.budget
    return where.until - now


def waits() -> bool:
    """True where a call waits for the compilation of its program."""
    return _asked.where.missing == "wait"


def is_for_jax(arguments: Any, *, lazy: bool = True) -> bool:
    """True for a call with `jax.Array`s or, if `lazy`, with lazy tensors, and for one under a transformation of JAX."""
    if is_tracing():
        return True
    of_jax = jax.Array | Lazy if lazy else jax.Array
    level: list[Any] = [arguments]
    seen: dict[int, Any] = {}  # which keeps them alive, for their ids
    while kinds := {*map(type, level)} - _ATOMS:
        new = {id(value): value for value in level if type(value) in kinds and id(value) not in seen}
        if not kinds <= _CONTAINERS and any(isinstance(value, of_jax) for value in new.values()):
            return True
        seen |= new
        children = new.values() if kinds <= _SEQUENCES else map(_children, new.values())
        level = list(itertools.chain.from_iterable(children))
    return False


_ATOMS = {bool, int, float, complex, str, bytes, type(None), np.ndarray, *np.sctypeDict.values()}
_SEQUENCES = {list, tuple}
_CONTAINERS = {list, tuple, dict}


def _children(value: Any) -> Iterable[Any]:
    """What a pytree consists of, one level down. Of a dict JAX would sort the keys, which may have no order."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple):
        return value
    visited = itertools.count()
    leaves: list[Any] = jax.tree.leaves(value, is_leaf=lambda _: next(visited) > 0)
    return leaves


# Not dataclasses, whose `__init__` would be written in the first call, which takes as long as many a plain run.


class Kind:
    """Calls with arguments of the same types and of about the same size: how long they take, in seconds."""

    def __init__(self, usual: float = float("inf")) -> None:
        self.plain = 0.0
        self.plain_calls = 0
        self.until = 0.0
        """What plain runs take in all before it is asked again whether compiling pays."""
        self.noted = 0.0
        """The time of the plain runs when it was last asked."""
        self.noted_calls = 0
        self.best = float("inf")
        """The shortest call of a program."""
        self.trials = 0
        """How many calls of a program were timed."""
        self.usual = usual
        """How long a plain run took when the program was given up, because it was slower."""
        self.settled = False
        """True where the program is taken, without being timed."""
        self.outgrown = False
        """True where the program has exceeded a capacity, and the next one is not being compiled yet."""
        self.replaced = False
        """True where a plain run has been replaced on the stack: how long it would have taken is not known."""

    @property
    def given_up(self) -> bool:
        """True where the program turned out to be slower than the plain run."""
        return self.usual < float("inf")

    @property
    def mean(self) -> float:
        """The mean time of a plain call."""
        return self.plain / self.plain_calls if self.plain_calls else 0.0


class Run:
    """A plain run in the main thread."""

    __slots__ = ("began", "compiling", "due", "tiers")

    def __init__(self, tiers: Tiers, began: float) -> None:
        self.tiers = tiers
        self.began = began
        self.due = LONG
        """Seconds after which it is to be replaced."""
        self.compiling = 0.0
        """The seconds of it in which its rest was compiled."""

    def seconds(self, now: float) -> float:
        """How long it has run, without the time in which its rest was compiled."""
        return now - self.began - self.compiling


class Replaced(BaseException):
    """Leaves the frame of a run, whose result is what `rest` gives."""

    def __init__(self, run: Run, rest: Callable[[], Any]) -> None:
        super().__init__()
        self.run = run
        self.rest = rest


plain_runs: list[Run] = []
"""The plain runs in the main thread, from the outermost on, that may be replaced."""
watchers: list[int] = []
"""The thread that looks at them, while there is one."""
_look_on = deferred("pystage.runtime.on_stack", "watch")


def _watch() -> None:
    time.sleep(EVERY)
    _look_on()


def _begin(tiers: Tiers) -> Run:
    """Adds a plain run of the main thread."""
    run = Run(tiers, _now())
    plain_runs.append(run)
    if not watchers:
        watchers.append(_thread.start_new_thread(_watch, ()))  # a `threading.Thread` would cost 0.5 ms
    return run


class Kinds:
    """Calls with arguments of the same types, by their size: `size` gives its binary logarithm.

    What a program costs before it does something weighs less the longer the run is. So it is taken for more than what it
    served well, and given up for less than what it served badly.
    """

    def __init__(self, size: Callable[..., int], at_once: bool) -> None:
        self.size = size
        self.at_once = at_once
        """True where calls are compiled without a plain run."""
        self.by_size: dict[int, Kind] = {}

    def add(self, size: int) -> Kind:
        """A new kind."""
        worse = [kind.usual for at, kind in self.by_size.items() if at > size and kind.given_up]
        made = self.by_size[size] = Kind(min(worse, default=float("inf")))
        return made

    def serves_less(self, size: int) -> bool:
        """True if the program is used for smaller arguments."""
        return any(kind.settled for at, kind in self.by_size.items() if at < size)


@dataclass(slots=True)
class Tiers:
    """The account of one function: what its plain runs and its compilations have cost, in seconds."""

    function: Callable[..., Any]
    find_continuations: Callable[[Callable[..., Any]], LoopHeads | None] | None
    runs: RecursiveRuns
    """What plain runs execute."""
    plain: float = 0.0
    """The time of plain runs for which a program was not given up."""
    compiling: float = 0.0
    compilations: int = 0
    least: float = 0.0
    """What the next inference costs at least: the last one did not end in time."""
    given_up: list[float] = field(default_factory=list)
    """How long each inference took that did not end in time."""
    outgrown: list[float] = field(default_factory=list)
    """How long each run of a program took that has exceeded a capacity, so that the call ran plainly."""
    xla: float | None = None
    """What XLA is expected to take for the latest program, which is inferred; None where it has begun."""
    kinds: dict[Any, Kinds] = field(default_factory=dict)
    _outline: Outline | None = None
    _nesting: Nesting | None = None
    _continuations: list[LoopHeads | None] = field(default_factory=list)
    replaced: int = 0
    """How many plain runs have gone on as programs."""
    job: Job | None = None
    """What XLA compiles beside the program."""
    awaiting: Kind | None = None
    """The calls that it is for."""
    spent: float = 0.0
    """What inference has cost of it."""
    inferring: threading.Lock = field(default_factory=threading.Lock)
    """Locked while a call of the function compiles; other ones run plainly."""
    running: _Running = field(default_factory=_Running)
    """`running.plainly`: a plain run of the function is on in this thread; calls in it are parts of that. `running.depth`:
    so many are nested in it."""

    @property
    def outline(self) -> Outline:
        """The outline of the function, by its source."""
        if self._outline is None:
            self._outline = outline_of(self.function)
        return self._outline

    @property
    def price(self) -> float:
        """The expected cost of the next compilation, or of what is left of it."""
        if self.xla is not None:
            return self.xla
        if self.compilations:
            return max(self.compiling / self.compilations, self.least)
        slowness: float = _slowness()
        return max((AT_FIRST + BY_LINE * self.outline.lines) * slowness, self.least)

    @property
    def cost(self) -> float:
        """What programs have cost: their compilations, and runs that were in vain."""
        return self.compiling + sum(self.outgrown)

    @property
    def deposit(self) -> float:
        """What plain runs cost before the next step of a compilation begins.

        The first program is inferred for its part of the price: then it is known what XLA will take.
        """
        return self.price if self._is_known else max(INFERENCE * self.price, self.least)

    @property
    def least_deposit(self) -> float:
        """The deposit, or what it is at least while the source has not been read."""
        if self._outline is not None or self._is_known:
            return self.deposit
        return max(INFERENCE * AT_FIRST, self.least)

    @property
    def _is_known(self) -> bool:
        """True if the price is more than an estimate by the source."""
        return self.xla is not None or self.compilations > 0

    @property
    def continuations(self) -> LoopHeads | None:
        """What a run may go on with at the head of a loop."""
        if not self._continuations:
            find = self.find_continuations
            self._continuations.append(None if find is None else find(self.function))
        return self._continuations[0]

    def _may_be_long(self, kind: Kind, args: Sequence[Any]) -> bool:
        """False if the plain run of such a call certainly takes less than compiling does."""
        if kind.plain_calls:
            return self.expected(kind, args) >= self.least_deposit
        if self._nesting is None:
            self._nesting = nesting_of(self.function)
        return may_take_long(self._nesting, args)

    @property
    def all_kinds(self) -> list[Kind]:
        """The calls by types and size."""
        return [kind for kinds in list(self.kinds.values()) for kind in list(kinds.by_size.values())]

    @property
    def plainly(self) -> tuple[int, float]:
        """The number and time of plain calls."""
        kinds = self.all_kinds
        return sum(kind.plain_calls for kind in kinds), sum(kind.plain for kind in kinds)

    @property
    def now(self) -> str:
        """A description of how calls run now."""
        if self.job is not None:
            return "plainly, while XLA compiles their program"
        if any(kind.settled for kind in self.all_kinds):
            return "as programs"
        of_jax = [kinds.at_once for kinds in list(self.kinds.values())]
        if of_jax and all(of_jax):
            return "as programs, as all with arrays of JAX do"
        beside = "; those with arrays of JAX are programs" if any(of_jax) else ""
        return f"plainly: {self._why}{beside}"

    @property
    def _slower(self) -> list[Kind]:
        """The calls of which a program was tried and given up."""
        return [kind for kind in self.all_kinds if kind.given_up and kind.trials]

    @property
    def _why(self) -> str:
        """A description of why the next call runs plainly, or of what it waits for."""
        if slower := self._slower:
            best, mean = slower[0].best, slower[0].usual
            return f"compiled, a call takes {best * 1e3:.3g} ms; plainly, {mean * 1e3:.3g} ms"
        if any(kind.replaced for kind in self.all_kinds):
            return "a run took so long that the next call of its kind waits for a program"
        begins = f"begins once plain runs have taken {self.cost + self.deposit:.2g} s in all"
        if self.xla is not None:
            return f"types are inferred; XLA is expected to take {self.xla:.2g} s, and {begins}"
        if self.given_up and self.least >= self.deposit:
            return f"inference of types took too long; another attempt {begins}"
        what = "compiling one more program" if self.compilations else "compiling"
        return f"{what} is expected to take {self.price:.2g} s, and {begins}"

    @property
    def why_plainly(self) -> str:
        """A description of why calls ran plainly so far."""
        if self.job is not None:
            why = "until their program is ready"
        elif self._slower:
            why = "before a program was tried, and after it had turned out to be slower"
        elif any(kind.settled for kind in self.all_kinds):
            why = "before compiling had paid"
        else:
            why = "compiling has not paid so far"
        if not self.replaced:
            return why
        return f"{self.replaced:,} of them went on as a program at the head of a loop; {why}"

    def pays(self, kind: Kind, args: Sequence[Any]) -> bool:
        """True if such a call is to be compiled now."""
        saved = self._saved(kind)
        if saved < self.least_deposit and not self._may_be_long(kind, args):
            return False
        return saved >= self.deposit or self.is_long(kind, args)

    def _saved(self, kind: Kind) -> float:
        """What plain runs have cost beyond what programs have, without one that has exceeded a capacity."""
        return self.plain - self.cost + (self.price if kind.outgrown else 0.0)

    def is_long(self, kind: Kind, args: Sequence[Any]) -> bool:
        """True if such a call is expected to take longer than compiling it, so that it waits for that."""
        return self.expected(kind, args) >= self.price

    def expected(self, kind: Kind, args: Sequence[Any]) -> float:
        """The expected time of a plain run of such a call."""
        if kind.replaced:
            return max(kind.mean, self.price)
        return kind.mean if kind.plain_calls else self.outline.seconds(args)

    def budget(self, kind: Kind, args: Sequence[Any]) -> float:
        """What inference and XLA may cost now: what plain runs have cost, or this one may."""
        return max(self._saved(kind), self.expected(kind, args))

    def note_late(self, seconds: float) -> None:
        """Records that inference was given up after so long: it costs at least twice as much as expected."""
        self.least = 2 * self.deposit
        self.xla = None
        self.compiling += seconds
        self.given_up.append(seconds)

    def note_inferred(self, seconds: float, xla: float) -> None:
        """Records that a program was inferred in so long, and that XLA is expected to take more than pays by now."""
        self.compiling += seconds
        self.xla = xla

    def begin(self, job: Job, kind: Kind, seconds: float) -> None:
        """Starts XLA's compilation of a program for such calls beside the program; its inference has taken so long."""
        self.job, self.awaiting, self.spent, self.xla = job, kind, seconds, None

    def end(self) -> BaseException | None:
        """Accounts for XLA's compilation beside the program, if it has ended; gives its exception."""
        job, kind = self.job, self.awaiting
        if job is None or kind is None or not job.done:
            return None
        self.job = self.awaiting = None
        self.note_compiling(self.spent + job.seconds)
        if job.error is not None:
            kind.usual = kind.mean
        return job.error

    def take_stock(self, kind: Kind) -> None:
        """Accounts for the plain runs since the last time: they are a reason to compile.

        A program that was given up is tried again once plain runs that took much longer have cost as much as compiling.
        """
        seconds, calls = kind.plain - kind.noted, kind.plain_calls - kind.noted_calls
        kind.noted, kind.noted_calls = kind.plain, kind.plain_calls
        if not kind.given_up:
            self.plain += seconds
        elif calls and seconds > LONGER * kind.usual * calls:
            self.plain += seconds
            kind.usual = kind.best = float("inf")
            kind.trials = 0
            kind.settled = False

    def rest(self, kind: Kind) -> None:
        """Sets how long such calls run plainly."""
        if self.job is not None:
            kind.until = kind.plain + SOON
            return
        price = self.least_deposit
        missing = price if kind.given_up else (price - self._saved(kind)) / 4
        rest = max(missing, price / 100)
        kind.until = kind.plain + (min(rest, OFTEN) if self.compilations and not kind.given_up else rest)

    def note_compiling(self, seconds: float) -> None:
        """Accounts for a compilation, or a refusal, that took so long."""
        self.compiling += seconds
        self.compilations += 1
        self.xla = None

    def note_outgrown(self, kind: Kind, seconds: float) -> None:
        """Accounts for a run of a program that took so long until it exceeded a capacity."""
        kind.outgrown = True
        self.outgrown.append(seconds)

    def note_run(self, kind: Kind, seconds: float) -> None:
        """Accounts for a run of a program that took so long."""
        if kind.settled:
            return
        kind.trials += 1
        kind.best = min(kind.best, seconds)
        is_far = kind.plain_calls and kind.best > max(FAR * kind.mean, NOTICED)
        if kind.trials >= TRIALS or is_far:
            if kind.plain_calls and kind.best > WORTH * kind.mean:
                kind.usual = kind.mean
                self.rest(kind)
            else:
                kind.settled = True

    @property
    def is_part(self) -> bool:
        """True for a call in a plain run, or deep in runs of a call that is refused."""
        return self.running.plainly or self.running.depth >= DEPTH

    @contextmanager
    def nested(self) -> Iterator[None]:
        """A `with` block that runs the function, one level deeper than the block around."""
        self.running.depth += 1
        try:
            yield
        finally:
            self.running.depth -= 1

    def run_nested(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A plain run, which may be inside another one."""
        running = self.running
        running.depth += 1
        try:
            function = self.runs.function if running.depth <= DEPTH else self.runs.deep_function
            return function(*args, **kwargs)
        finally:
            running.depth -= 1

    def run_plainly(self, kind: Kind, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Times a plain run, which may be replaced on the stack."""
        running = self.running
        running.plainly = True
        watched = running.in_main and (not kind.plain_calls or kind.mean > WATCHED)
        run = _begin(self) if watched else None
        began = _now()
        try:
            return self.runs.function(*args, **kwargs)
        except Replaced as replaced:
            if replaced.run is not run:
                raise
            rest = replaced.rest
        finally:
            kind.plain += _now() - began
            running.plainly = False
            kind.plain_calls += 1
            if run is not None:
                kind.plain -= run.compiling
                plain_runs.remove(run)
        kind.replaced = True
        self.replaced += 1
        return rest()
