"""Growth of programs: the unrolled loops and recursions that make one large, and the diagnostic that blames one of them."""

from __future__ import annotations

from ...records import dataclass
from .. import limits
from ..diagnostics.codes_constant import Growth, KnownInTrips, ProgramTooLarge
from ..diagnostics.codes_control import LENGTH
from ..diagnostics.diagnostic import Note
from ..diagnostics.span import Span

LIMIT = "or raise `pystage.config.program_limit`"


@dataclass(frozen=True, slots=True)
class Multiplied:
    """A loop at `span` whose body was inferred or built `times` times, and its share of the whole.

    `written`: it was unrolled, otherwise its body was inferred so often. `why`: the reason for unrolling.
    `function`: it is no loop but this function, which calls itself at `span`.
    """

    span: Span
    written: bool
    times: int
    share: float
    why: Note | None = None
    function: str | None = None

    @property
    def gain(self) -> float:
        """The share that would be saved if it were done once."""
        return self.share * (1 - 1 / self.times)


def too_large(
    size: str, limit: float, multiplied: tuple[Multiplied, ...], line: Span | None, share: float
) -> ProgramTooLarge:
    """The diagnostic for a program of this size: for the loop that made it so, else for the line with the largest share."""
    worst = max(multiplied, key=lambda r: r.gain, default=None)
    growing = max([r for r in multiplied if isinstance(r.why, Growth)], key=lambda r: r.times, default=None)
    if growing is not None and (
        worst is None or worst is growing or worst.gain < max(limits.BLAMED_SHARE, share / 2)
    ):
        reason = f"written out {growing.times:,} times so far, because something in it gets longer"
        return ProgramTooLarge(
            span=growing.span,
            notes=() if growing.why is None else (growing.why,),
            size=size,
            limit=f"{limit:g}",
            reason=reason,
            instead=f"{LENGTH}; {LIMIT}",
        )
    if worst is None or worst.gain < max(limits.BLAMED_SHARE, share / 2):
        instead = (
            f"loop over an array or a range where the same is done often, or compile parts of it; {LIMIT}"
        )
        reason = f"{share:.0%} of the program" if share else "compiling came this far"
        return ProgramTooLarge(span=line, size=size, limit=f"{limit:g}", reason=reason, instead=instead)
    if worst.function is not None:
        reason = (
            f"recursion: `{worst.function}` calls itself, and {worst.times:,} calls are parts of the program"
        )
        instead = f"write the recursion as a loop, or compile what it calls and leave the recursion to Python; {LIMIT}"
    elif worst.written:
        reason = f"each trip is written out; {worst.times:,} of them make {worst.share:.0%} of the program"
        same = "make that the same in all trips, or do it outside of the loop"
        alike = "loop over an array or a range, and let all trips work on the same shapes and types"
        instead = f"{same if isinstance(worst.why, KnownInTrips) else alike}; {LIMIT}"
    else:
        reason = f"gone through {worst.times:,} times to find out its types: {worst.share:.0%} of the work"
        instead = f"let the variables of the loop have the types before it that they have in it; {LIMIT}"
    notes = () if worst.why is None else (worst.why,)
    return ProgramTooLarge(
        span=worst.span, notes=notes, size=size, limit=f"{limit:g}", reason=reason, instead=instead
    )
