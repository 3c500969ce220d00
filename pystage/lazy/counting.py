"""Counters of the work of lazy tensors, by cause, name and user line."""

from __future__ import annotations

import copy
import io
import sys
import types
from collections import Counter
from dataclasses import field

from rich.console import Console
from rich.table import Table

from ..compiler.policy import is_own_file
from ..records import dataclass
from ..runtime.function import functions_in_tiers
from ..runtime.reports.messages import Topic, tell

Lines = Counter[tuple[str, str]]
"""Counts by cause or name, and line (`file:number`)."""


def users_frame() -> types.FrameType:
    """The innermost frame that is not pystage's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def user_line() -> str:
    """The innermost line that is not pystage's own, as `file:number`."""
    frame = users_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@dataclass(slots=True)
class Metrics:
    """The counters since the start, or since `reset_metrics`.

    `compiles` programs were made for barriers, `cache_hits` barriers found theirs, `interpreted` segments had none yet.
    `at_once` counts the small calls that were computed without a record. `compiled` counts the first by the line of the
    barrier, with the `calls` in each program and the `seconds` that it took to make and first run them all. `recorded` and
    `steps` count the recordings and the runs of the programs of steps.
    `to_device` and `from_device` count arrays that went to devices and were read from them, with their bytes; `executing` is
    the time in seconds that calls waited for programs, or for their results. On a CPU what is read is not moved.
    `barriers_by_cause` and `unlowered_by_name` count barriers that computed something, and calls that NumPy ran.
    """

    compiles: int = 0
    cache_hits: int = 0
    interpreted: int = 0
    at_once: int = 0
    compiled: Lines = field(default_factory=Counter)
    calls: list[int] = field(default_factory=list)
    seconds: float = 0.0
    to_device: int = 0
    bytes_to_device: int = 0
    from_device: int = 0
    bytes_from_device: int = 0
    executing: float = 0.0
    steps: Lines = field(default_factory=Counter)
    recorded: Lines = field(default_factory=Counter)
    barriers_by_cause: Lines = field(default_factory=Counter)
    unlowered_by_name: Lines = field(default_factory=Counter)

    @property
    def barriers(self) -> int:
        """The number of barriers that computed something."""
        return self.barriers_by_cause.total()

    @property
    def unlowered(self) -> int:
        """The number of calls that NumPy ran."""
        return self.unlowered_by_name.total()

    def note_barrier(self, cause: str) -> None:
        """Counts a barrier that computes something."""
        line = user_line()
        self.barriers_by_cause[cause, line] += 1
        tell(Topic.BARRIERS, f"barrier at {line}: {cause}")

    def note_compile(self, cause: str, calls: int, seconds: float) -> None:
        """Counts a program that was made, and ran for the first time."""
        line = user_line()
        self.compiles += 1
        self.compiled[cause, line] += 1
        self.calls.append(calls)
        self.seconds += seconds
        tell(Topic.COMPILES, f"a lazy program of {calls} calls for the barrier at {line}: {seconds:.2f} s")

    def note_run(self, seconds: float) -> None:
        """Counts a run of an existing program; XLA may still compute after these seconds."""
        self.cache_hits += 1
        self.executing += seconds

    def note_recording(self, name: str) -> None:
        """Counts the recording of a step."""
        line = user_line()
        self.recorded[name, line] += 1
        tell(Topic.COMPILES, f"the step `{name}` is recorded at {line}")

    def note_step(self, name: str) -> None:
        """Counts a run of the program of a step."""
        self.steps[name, user_line()] += 1

    def note_unlowered(self, name: str, reason: str) -> None:
        """Counts a call that NumPy ran."""
        line = user_line()
        self.unlowered_by_name[name, line] += 1
        tell(Topic.FALLBACKS, f"`{name}` at {line} runs in NumPy: {reason}")


counts = Metrics()
"""The counts of this process."""


def metrics() -> Metrics:
    """The counters of lazy tensors: a copy, which does not change any more."""
    return copy.deepcopy(counts)


def reset_metrics() -> None:
    """Resets the counters."""
    fresh = Metrics()
    for name in Metrics.__slots__:
        setattr(counts, name, getattr(fresh, name))


def report() -> str:
    """What lazy tensors have done so far, and compiled functions by their tiers, as text for people.

    The most frequent causes come first, and the functions that took longest.
    """
    console = Console(width=110, record=True, file=io.StringIO(), color_system=None, force_jupyter=False)
    calls = f", {min(counts.calls)} to {max(counts.calls)} calls each" if counts.calls else ""
    console.print(
        f"{counts.compiles} programs compiled in {counts.seconds:.2f} s{calls}; found {counts.cache_hits} times; "
        f"{counts.interpreted} segments interpreted; {counts.at_once} small calls computed at once; "
        f"{counts.to_device} arrays to devices ({counts.bytes_to_device / 1e6:.1f} MB), {counts.from_device} from them "
        f"({counts.bytes_from_device / 1e6:.1f} MB); waited {counts.executing:.2f} s for programs",
        highlight=False,
    )
    for title, lines in (
        ("barriers", counts.barriers_by_cause),
        ("programs compiled for barriers", counts.compiled),
        ("recordings of steps", counts.recorded),
        ("programs of steps that ran", counts.steps),
        ("calls that NumPy ran", counts.unlowered_by_name),
    ):
        if not lines:
            continue
        table = Table("times", "what", "line", title=title, title_justify="left", box=None)
        for (what, line), times in lines.most_common(20):
            table.add_row(str(times), what, line)
        console.print(table, markup=False, highlight=False)
    functions = sorted(functions_in_tiers(), key=lambda function: -function.tiers.plainly[1])
    if functions:
        table = Table("function", "plain calls", "s", "compilations", "s", "calls run now", box=None)
        for function in functions[:20]:
            tiers = function.tiers
            plain_calls, seconds = tiers.plainly
            given_up = f" and {len(tiers.given_up)} given up" if tiers.given_up else ""
            compilations = f"{tiers.compilations}{given_up}"
            texts = str(plain_calls), f"{seconds:.2f}", compilations, f"{tiers.compiling:.2f}"
            table.add_row(str(getattr(function, "__name__", "")), *texts, function.now)
        console.print(table, markup=False, highlight=False)
    return console.export_text()
