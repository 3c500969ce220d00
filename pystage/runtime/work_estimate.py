"""How long a plain run of a function may take, by its source and the sizes of the arguments: a rough guess.

Each node of the syntax tree takes the time of an instruction of CPython, times the trips of the loops around it: a loop
makes as many trips as the largest argument says, an integer, or an array or a list that has so many elements. What the
function calls is looked at as far as it is a function of its own module.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

from ..records import dataclass

NODE = 3e-8
"""Seconds for a node of the syntax tree."""
ELEMENT = 1e-9
"""Seconds for an element of an array in a statement."""
CALLEES = 40
"""How many functions are looked at."""


@dataclass(frozen=True, slots=True)
class Outline:
    """`lines`: how many lines a function and what it calls have. `weights[d]`: how many nodes lie in `d` loops."""

    lines: int
    weights: tuple[int, ...]

    def seconds(self, args: Sequence[Any]) -> float:
        """The time of a plain run with these arguments."""
        trips, elements = _sizes(args)
        nodes = sum(weight * float(trips) ** depth for depth, weight in enumerate(self.weights))
        return nodes * NODE + self.lines * elements * ELEMENT


_NOTHING = Outline(0, (1,))


def outline_of(function: Callable[..., Any]) -> Outline:
    """The outline of a function; that of an empty one where it has no source."""
    lines, weights = 0, [0] * 8
    seen: set[int] = set()
    open_: list[tuple[Any, int]] = [(function, 0)]
    while open_ and len(seen) < CALLEES:
        each, depth = open_.pop()
        code = getattr(each, "__code__", None)
        if not isinstance(each, types.FunctionType) or id(code) in seen:
            continue
        seen.add(id(code))
        try:
            source = textwrap.dedent(inspect.getsource(each))
            tree = ast.parse(source)
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
        lines += source.count("\n")
        called: dict[str, int] = {}
        _weigh(tree, depth, weights, called)
        for name, at in called.items():
            found = each.__globals__.get(name)
            found = getattr(found, "__wrapped__", found)
            if getattr(found, "__module__", None) == each.__module__:
                open_.append((found, at))
    return Outline(lines, tuple(weights)) if lines else _NOTHING


def _weigh(node: ast.AST, depth: int, weights: list[int], called: dict[str, int]) -> None:
    weights[min(depth, len(weights) - 1)] += 1
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        called[node.func.id] = max(depth, called.get(node.func.id, 0))
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        depth += len(node.generators)
    deeper = depth + isinstance(node, ast.For | ast.While)
    for child in ast.iter_child_nodes(node):
        _weigh(child, deeper, weights, called)


def _sizes(args: Sequence[Any]) -> tuple[int, int]:
    """The largest extent or integer of the arguments, and the number of elements of the largest."""
    trips, elements = 4, 1
    for arg in args:
        if isinstance(arg, int):
            trips = max(trips, min(arg, 1 << 24))
        elif isinstance(arg, list | tuple | dict | set | str):
            trips = max(trips, len(arg))
        else:
            shape = getattr(arg, "shape", None)
            if isinstance(shape, tuple) and all(isinstance(extent, int) for extent in shape):
                trips = max((trips, *shape))
                elements = max(elements, int(getattr(arg, "size", 1)))
    return trips, elements
