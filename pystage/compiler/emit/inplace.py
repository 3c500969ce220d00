"""Stores that stay in place and branches that cost little: the passes for arrays, in their order.

In: a simplified program. Out: the same program, in which no branch gives an array that it stores into, what was
just stored is not loaded again, and cheap branches are straight-line code. It holds for every platform; what
XLA:CPU needs beyond it is in `fence.py`, and happens where the platform is known.
"""

from __future__ import annotations

from collections.abc import Callable

from ..hlo.ir import Function
from ..hlo.walk import kinds
from ..ops import DynamicUpdateSlice, If, Scatter, While
from .forward import forward
from .once import loop_once
from .select import select
from .simplify import Simplified, simplify_again
from .views import carry_views


def in_place(simplified: Simplified) -> Simplified:
    """Rewrites a program that `simplify` gave; it may lose parameters that nothing reads any more."""
    found = kinds(simplified.function)
    passes: list[Callable[[Function], Function]] = []
    if If in found:
        passes.append(select)
    if found & {DynamicUpdateSlice, Scatter}:
        passes.append(forward)
        if If in found:
            passes.append(loop_once)
        if While in found:
            passes.append(carry_views)
    for rewrite in passes:
        simplified = simplify_again(simplified, rewrite(simplified.function))
    return simplified
