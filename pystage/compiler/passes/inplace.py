"""The passes that keep stores in place, remove cheap branches, and take invariant concatenations out of loops, in order.

In: a simplified program. Out: the same program, in which no branch returns an array that it stores into, stores write no
more than what differs, stores are forwarded to loads, cheap branches are if-converted, and lists are concatenated before
loops. This is for every platform; what XLA:CPU needs beyond it is in `load_fences.py` and `store_fences.py`, and runs once
the platform is known.
"""

from __future__ import annotations

from collections.abc import Callable

from ..hlo.ir import Function
from ..hlo.walk import kinds
from ..ops import Concatenate, DynamicUpdateSlice, If, Scatter, Slice, While
from .concatenations import rewrite_concatenations
from .conditional_loops import conditional_loops
from .if_conversion import if_convert
from .simplify import Simplified, simplify_again
from .single_trip_loops import single_trip_loops
from .store_forwarding import forward_stores
from .store_narrowing import narrow_stores
from .view_hoisting import hoist_views


def in_place(simplified: Simplified) -> Simplified:
    """Rewrites a program that `simplify` gave; it may lose parameters that nothing reads any more."""
    found = kinds(simplified.function)
    passes: list[Callable[[Function], Function]] = []
    if If in found and While in found:
        passes.append(conditional_loops)
    if If in found:
        passes.append(if_convert)
    if DynamicUpdateSlice in found:
        passes.append(narrow_stores)
    if found & {DynamicUpdateSlice, Scatter}:
        passes.append(forward_stores)
        if If in found:
            passes.append(single_trip_loops)
        if While in found:
            passes.append(hoist_views)
    if Concatenate in found and found & {While, Slice}:
        passes.append(rewrite_concatenations)
    for rewrite in passes:
        simplified = simplify_again(simplified, rewrite(simplified.function))
    return simplified
