"""Program size before XLA's optimisation: VGG19 forward by opcode, and rolled loops of any length.

The paper's numbers: K. Fischer, E. Saba, "Automatic Full Compilation of Julia Programs and ML Models to Cloud
TPUs" (arXiv:1810.09868), figure 3, VGG19 forward, unoptimised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import vgg19

import pystage
from pystage.runtime.reports.hlo_text import InstructionCounts, instruction_counts

from .measuring import Table
from .model import described, for_jax, images

PAPER = (183, 361)
"""Instructions of the entry computation, and of all."""


def vgg() -> tuple[InstructionCounts, InstructionCounts]:
    """Instructions of VGG19 forward: pystage's and JAX's."""
    model, arrays = described()
    ours = pystage.compile(vgg19.forward).lower(model, images(1)).instruction_counts()
    theirs = instruction_counts(for_jax(model).lower(arrays, images(1)).as_text("hlo"))
    return ours, theirs


def accumulate(x: Any, n: Any) -> Any:
    """A loop of `n` trips."""
    total = 0.0
    for i in range(n):
        total = 0.5 * total + x * i
    return total


def ten(x: Any) -> Any:
    """A loop of ten trips, which are known."""
    return accumulate(x, 10)


def ten_million(x: Any) -> Any:
    """A loop of ten million trips, which are known."""
    return accumulate(x, 10_000_000)


def measure() -> list[Table]:
    """The tables of instructions."""
    ours, theirs = vgg()
    sizes = Table(
        "Program size",
        "VGG19 forward before XLA's optimisation, in HLO instructions. The opcodes count all computations; "
        "of the paper (arXiv:1810.09868, figure 3) the totals are given. The goal: at most either of the others.",
        ("", "pystage", "JAX", "the paper"),
    )
    sizes.rows.append(("entry computation", str(ours.entry), str(theirs.entry), str(PAPER[0])))
    sizes.rows.append(("all computations", str(ours.total), str(theirs.total), str(PAPER[1])))
    for opcode in sorted({*ours.by_opcode, *theirs.by_opcode}):
        counts = [str(c.by_opcode.get(opcode, 0)) for c in (ours, theirs)]
        sizes.rows.append((f"`{opcode}`", *counts, ""))
    loops = Table(
        "Rolled loops",
        "A `for` loop over a range of known length, before XLA's optimisation. The goal: the same size.",
        ("trips", "entry", "all computations"),
    )
    for trips, function in ((10, ten), (10_000_000, ten_million)):
        counts_ = pystage.compile(function).lower(np.float64(1)).instruction_counts()
        loops.rows.append((f"{trips:,}", str(counts_.entry), str(counts_.total)))
    return [sizes, loops]
