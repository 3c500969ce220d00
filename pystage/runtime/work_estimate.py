"""How long a plain run of a function may take, by its source and the sizes of the arguments: a rough guess.

Each node of the syntax tree takes the time of an instruction of CPython, times the trips of the loops around it, where these
follow from the arguments: `for i in range(n)`, `for row in x`, `range(len(x))`, `range(x.shape[1] - 1)`, also of a variable
that was assigned such a value, and in functions of the same module that are called with it. Other loops make a few trips.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..records import dataclass

NODE = 3e-8
"""Seconds for a node of the syntax tree."""
ELEMENT = 1e-9
"""Seconds for an element of an array in a statement."""
CALLEES = 40
"""How many functions are looked at."""


UNKNOWN = 3.0
"""Trips of a loop of which nothing is known."""

Extent = tuple[tuple[int, int], ...]
"""A product of sizes: of parameters, by their positions, along axes. The size of an integer is its value."""


@dataclass(frozen=True, slots=True)
class Outline:
    """`lines`: how many lines a function and what it calls have. `weights`: how many nodes run so many times."""

    lines: int
    weights: dict[Extent, float]

    def seconds(self, args: Sequence[Any]) -> float:
        """The time of a plain run with these arguments."""
        nodes = 0.0
        for extent, weight in self.weights.items():
            for position, axis in extent:
                weight *= _size(args[position], axis) if position < len(args) else 1.0
            nodes += weight
        elements = max(
            [int(getattr(arg, "size", 1)) for arg in args if isinstance(arg, np.ndarray)], default=1
        )
        return nodes * NODE + self.lines * elements * ELEMENT


def _size(arg: Any, axis: int) -> float:
    if isinstance(arg, int):
        return float(min(abs(arg), 1 << 24))
    if isinstance(arg, np.ndarray):
        return float(arg.shape[axis]) if axis < arg.ndim else 1.0
    return float(len(arg)) if isinstance(arg, list | tuple | dict | set | str) else 1.0


def outline_of(function: Callable[..., Any]) -> Outline:
    """The outline of a function; that of an empty one where it has no source."""
    weights: dict[Extent, float] = {}
    lines = 0
    seen: set[int] = set()
    open_: list[tuple[Any, list[Extent | None] | None, Extent, float]] = [(function, None, (), 1.0)]
    while open_ and len(seen) < CALLEES:
        each, given, around, times = open_.pop(0)
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
        names = each.__code__.co_varnames[: each.__code__.co_argcount]
        extents = [((i, 0),) for i in range(len(names))] if given is None else given
        known = {name: extent for name, extent in zip(names, extents) if extent is not None}
        walk = _Walk(known, weights)
        walk.visit(tree, around, times)
        for name, passed, at, trips in walk.calls:
            found = each.__globals__.get(name)
            found = getattr(found, "__wrapped__", found)
            if getattr(found, "__module__", None) == each.__module__:
                open_.append((found, passed, at, trips))
    return Outline(lines, weights)


class _Walk:
    """One pass over a function: the variables whose sizes are `known`, and the calls with what is passed."""

    def __init__(self, known: dict[str, Extent], weights: dict[Extent, float]) -> None:
        self._known, self._weights = known, weights
        self.calls: list[tuple[str, list[Extent | None], Extent, float]] = []

    def visit(self, node: ast.AST, around: Extent, times: float) -> None:
        """Weighs a node that runs `times` times in each of the trips `around`."""
        self._weights[around] = self._weights.get(around, 0.0) + times
        match node:
            case ast.For(iter=iterated) | ast.ListComp(generators=[ast.comprehension(iter=iterated), *_]):
                inner = self.extent(iterated)
                around, times = (around, times * UNKNOWN) if inner is None else ((*around, *inner), times)
            case ast.While():
                times *= UNKNOWN
            case ast.Call(func=ast.Name(id=name), args=args):
                self.calls.append((name, [self.extent(arg) for arg in args], around, times))
        for child in ast.iter_child_nodes(node):
            self.visit(child, around, times)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, self.extent(value))
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Attribute(attr="shape", value=array)
            ):
                for axis, target in enumerate(targets):
                    if isinstance(target, ast.Name):
                        self._assign(target.id, self._along(array, axis))

    def _assign(self, name: str, extent: Extent | None) -> None:
        self._known.pop(name, None)
        if extent is not None:
            self._known[name] = extent

    def _along(self, array: ast.expr, axis: int) -> Extent | None:
        extent = self.extent(array)
        return ((extent[0][0], axis),) if extent is not None and len(extent) == 1 else None

    def extent(self, node: ast.expr) -> Extent | None:
        """The size of a value, or the value of an integer, where it follows from the parameters."""
        match node:
            case ast.Name(id=name):
                return self._known.get(name)
            case ast.Call(func=ast.Name(id="range"), args=[_, stop, *_]):
                return self.extent(stop)
            case ast.Call(
                func=ast.Name(id="range" | "len" | "enumerate" | "zip" | "reversed" | "list"),
                args=[inner, *_],
            ):
                return self.extent(inner)
            case ast.Subscript(
                value=ast.Attribute(attr="shape", value=array), slice=ast.Constant(value=int(axis))
            ):
                return self._along(array, axis)
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=ast.Constant()):
                return self.extent(left)
        return None
