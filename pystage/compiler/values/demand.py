"""Demands: numbers of the arguments or of the environment that inference needs as constants.

A number is an argument leaf, or is in the environment of the program (a `Path`). Most are inputs of the program; inference
demands those that must be constants when it meets the need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from types import MappingProxyType
from typing import Any

from ...records import dataclass
from ..diagnostics.span import Span
from .boundary import Demand, Guard, HiddenInput, Path, PathKey
from .capacity import AllocationSite


class NeedsConstant(Exception):
    """Raised where inference needs a number as a constant: the leaf `place` of the arguments, or the number at a path.

    Whoever called inference calls it again, with the leaf's real value among the `Statics`, or with the path
    among their `fixed`. `span` is what needs the constant and `reason` says what for, as `the shape of
    np.zeros`. `more` are further demands that the same inference made.
    """

    def __init__(
        self, place: int | Path, span: Span | None, reason: str, more: tuple[NeedsConstant, ...] = ()
    ) -> None:
        super().__init__(f"{place} must be known while compiling: {reason}")
        self.place = place
        self.span = span
        self.reason = reason
        self.more = more


@dataclass(slots=True, eq=False)
class LoopDecisions:
    """Decisions about the loops of a program, which one inference makes and the next one begins with.

    By the instruction of the loop: `unrolled` and `appending` say why it is unrolled, or appends what is no row;
    `by_place` whether it is rolled over the positions of a list, and `replaced` why it was unrolled before that.
    `listed`: the lists among the arguments, by their paths, that are inferred element by element. `in_program`: why these
    generators are in the program.
    """

    unrolled: dict[Any, Any] = field(default_factory=dict)
    by_place: dict[Any, bool] = field(default_factory=dict)
    appending: dict[Any, Any] = field(default_factory=dict)
    replaced: dict[Any, Any] = field(default_factory=dict)
    listed: dict[PathKey, bool] = field(default_factory=dict)
    in_program: dict[Any, str | None] = field(default_factory=dict)

    def of_loops(self) -> LoopDecisions:
        """A copy to begin the inference of another call with. Which generators are in the program each call finds out."""
        return LoopDecisions(*map(dict, self._of_loops()))

    def note(self, others: LoopDecisions) -> None:
        """Decides as an inference did that ended in a program."""
        for mine, theirs in zip(self._of_loops(), others._of_loops(), strict=True):
            mine.update(theirs)

    def __bool__(self) -> bool:
        return any(self._of_loops())

    def _of_loops(self) -> tuple[dict[Any, Any], ...]:
        return self.unrolled, self.by_place, self.appending, self.replaced, self.listed

    def forget(self) -> None:
        """Forgets all decisions: more of the program is known."""
        for decisions in (*self._of_loops(), self.in_program):
            decisions.clear()


class Statics(dict[int, Any]):
    """The values of argument leaves that are demanded, and what is known of captured numbers.

    `ask` gives the value of a dynamic leaf, None where only its type is known. Inference goes on with a
    value that it asked for, so that one pass finds all demands. Captured numbers in `fixed` are constants
    under a guard. Of the others floats are inputs, and integers only if they are `changing`: seen to change,
    so that a guard would not hold. `decide`: numbers that alone decide a branch or a trip count are wanted
    as constants; `may_decide`: inference has met such. `capacities` are those that runs turned out to need; `traced`: JAX
    traces the call, so that no program with larger ones can be executed in its place. `skips_writes`: a call that has
    printed may be executed again. `loops`: how an earlier inference of the call went about its loops.
    Inference notes in `inputs` which captured numbers it made inputs, and in `read` all that it read of the environment.
    `expected` is as `ask`, for capacities: what it gives is no demand.
    """

    def __init__(
        self,
        values: Mapping[int, Any],
        ask: Callable[[int], Any],
        fixed: Mapping[PathKey, Demand] | None = None,
        changing: AbstractSet[PathKey] = frozenset(),
        decide: bool = False,
        capacities: Mapping[AllocationSite, int] = MappingProxyType({}),
        skips_writes: bool = False,
        traced: bool = False,
        loops: LoopDecisions | None = None,
        read: list[Guard | HiddenInput] | None = None,
        expected: Callable[[int], Any] | None = None,
    ) -> None:
        super().__init__(values)
        self.ask = ask
        self.fixed: Mapping[PathKey, Demand] = fixed if fixed is not None else {}
        self.changing = changing
        self.decide = decide
        self.may_decide = False
        self.capacities = capacities
        self.skips_writes = skips_writes
        self.traced = traced
        self.loops = loops if loops is not None else LoopDecisions()
        self.read: list[Guard | HiddenInput] = read if read is not None else []
        self.inputs: dict[PathKey, tuple[Path, Any]] = {}
        self.expected: Callable[[int], Any] = expected if expected is not None else no_value


def no_value(leaf: int) -> Any:
    """The `ask` where values are not known, or must not be kept."""
    return None
