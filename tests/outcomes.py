"""What came of a program that was checked, and of many."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What came of a program.

    `endless`: the plain run was stopped.
    `same`: nothing tells the runs apart, or the gradient is the slope. `raises`: so does the plain run. `constant`: no
    number with a fraction goes in, or none comes out. `rough`: the slopes to both sides differ. `differs`: it is wrong.
    Otherwise the code of the refusal.
    """

    what: str
    text: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.what in ("differs", "PS699")

    @property
    def is_refused(self) -> bool:
        return self.what.startswith("PS")


def summary(outcomes: Counter[str]) -> str:
    """How many programs, how many of them refused, and with which codes."""
    total = outcomes.total()
    refused = {what: count for what, count in outcomes.most_common() if what.startswith("PS")}
    share = 100 * sum(refused.values()) / max(total, 1)
    codes = ", ".join(f"{code} {count}" for code, count in refused.items())
    same, raises = outcomes["same"], outcomes["raises"]
    return (
        f"{total} random programs: {same} the same, {raises} raise the same, {share:.1f} % refused ({codes})"
    )


def summary_of_gradients(outcomes: Counter[str], of: str = "random programs") -> str:
    """How many programs have a gradient that was held against differences, and what became of the others."""
    others = ", ".join(f"{what} {count}" for what, count in outcomes.most_common() if what != "same")
    return f"gradients of {outcomes.total()} {of}: {outcomes['same']} are the slopes ({others})"


def summary_of_kinds(outcomes: Counter[str]) -> str:
    """How many programs ran with arguments of other kinds, and what became of them."""
    total = outcomes.total()
    refused = {what: count for what, count in outcomes.most_common() if what.startswith("PS")}
    share = 100 * sum(refused.values()) / max(total, 1)
    codes = ", ".join(f"{code} {count}" for code, count in refused.items())
    same, raises, endless = (outcomes[what] for what in ("same", "raises", "endless"))
    return (
        f"{total} programs with arguments of other kinds: {same} the same, {raises} raise the same, "
        f"{endless} endless, {share:.1f} % refused ({codes})"
    )
