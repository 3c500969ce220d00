"""Compiles the draws of a program to Python source, as fast as the draws of the plain run.

In: the steps. Out: a function of a performance (`draws.py`), the generators by number and the inputs of distributions,
which gives the draws in order. A loop that only draws numbers of one distribution becomes one call for all of its trips.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compiler.hlo.types import ArrayType
from ...compiler.ops.host.draw import Action, Operand
from ...compiler.values.boundary import GeneratorSlot, Perform, Repeat, Taken

Take = Callable[[Any, list[Any], Sequence[Any]], list[Any]]


class _Enough(Exception):
    """Raised when the requested number of actions has been performed."""


class _Writer:
    """Writes the function; `counted`: it stops after the number of actions that the performance says."""

    def __init__(self, types: Sequence[ArrayType], taken: Sequence[Taken], counted: bool) -> None:
        self._types = types
        self._taken = taken
        self._counted = counted
        self._lines: list[str] = []
        self._names: dict[int, str] = {}
        self._methods: dict[tuple[int, str], str] = {}
        self._made: set[int] = set()
        self.objects: dict[str, Any] = {"empty": np.empty, "Enough": _Enough}
        self.steps: list[Perform] = []

    def source(self, steps: Sequence[Perform | Repeat]) -> str:
        """The function `take`."""
        self._note_created(steps)
        self._all(steps, [], "        ")
        head = ["def take(p, o, t):", "    at = 0", "    left = p.left", "    try:"]
        for i, type in enumerate(self._types):
            if type.shape:
                head.append(f"        v{i} = empty({type.shape}, {self._name(type.dtype)})")
            else:
                head.append(f"        v{i} = 0")
        head += [f"        {name} = o[{n}].{method}" for (n, method), name in self._methods.items()]
        tail = [
            "    except Enough:",
            "        pass",
            "    except Exception as error:",
            "        p.failed(at, error)",
        ]
        values = "".join([f"v{i}, " for i in range(len(self._types))])
        return "\n".join([*head, *self._lines, "        pass", *tail, f"    return [{values}]"])

    def _note_created(self, steps: Sequence[Perform | Repeat]) -> None:
        for step in steps:
            if isinstance(step, Repeat):
                self._note_created(step.steps)
            elif step.action.makes and step.into is not None:
                self._made.add(step.into)

    def _name(self, value: Any) -> str:
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = f"c{len(self._names)}"
            self.objects[found] = value
        return found

    def _all(self, steps: Sequence[Perform | Repeat], trips: list[int], indent: str) -> None:
        for step in steps:
            if isinstance(step, Perform):
                self._one(step, trips, indent)
                continue
            batch = None if self._counted else _batch(step)
            if batch is not None:
                self._at_once(*batch, trips, indent)
                continue
            self._lines.append(f"{indent}for i{len(trips)} in range({step.trips}):")
            self._all(step.steps, [*trips, step.trips], indent + "    ")
            self._lines.append(f"{indent}    pass")

    def _one(self, step: Perform, trips: list[int], indent: str) -> None:
        """One action."""
        if self._counted:
            self._lines += [f"{indent}if not left: raise Enough", f"{indent}left -= 1"]
        call = self._call(step, {}, indent)
        if step.into is None:
            self._lines.append(f"{indent}{call}")
        elif step.action.makes:
            self._lines.append(f"{indent}p.made({step.into}, lambda: {call})")
        else:
            self._lines.append(f"{indent}{self._location(step.into, trips)} = {call}")

    def _at_once(
        self, steps: Sequence[Perform], inner: tuple[int, ...], trips: list[int], indent: str
    ) -> None:
        """All actions of one kind, for all trips of the loops around them, by one call."""
        count = len(steps)
        own = dict(steps[0].action.kwargs).get("size")
        rest = () if own is None else (own,) if isinstance(own, int | np.integer) else tuple(own)
        size = (*inner, *([count] if count > 1 else []), *map(int, rest))
        call = self._call(steps[0], {"size": size}, indent)
        self._lines.append(f"{indent}w = {call}")
        for i, step in enumerate(steps):
            assert step.into is not None
            part = f"w[{':, ' * len(inner)}{i}]" if count > 1 else "w"
            self._lines.append(f"{indent}{self._location(step.into, trips)} = {part}")

    def _location(self, draw: int, trips: list[int]) -> str:
        index = ", ".join([f"i{n}" for n in range(len(trips))])
        return f"v{draw}[{index}]" if trips else f"v{draw}"

    def _call(self, step: Perform, more: dict[str, Any], indent: str) -> str:
        action = step.action
        self._lines.append(f"{indent}at = {len(self.steps)}")
        self.steps.append(step)
        kwargs = {**dict(action.kwargs), **more}
        given = [self._value(step, a) for a in action.args]
        named = [f"{k}={self._value(step, v)}" for k, v in kwargs.items()]
        if not isinstance(action.function, str):
            return f"{self._name(action.function)}({', '.join([*given, *named])})"
        return f"{self._method(step, action.function)}({', '.join([*given[1:], *named])})"

    def _method(self, step: Perform, name: str) -> str:
        receiver = step.operands[step.action.args[0].index]
        assert isinstance(receiver, GeneratorSlot)
        if receiver.number in self._made:
            return f"o[{receiver.number}].{name}"
        return self._methods.setdefault((receiver.number, name), f"m{len(self._methods)}")

    def _value(self, step: Perform, given: Any) -> str:
        if not isinstance(given, Operand):
            return self._name(given)
        operand = step.operands[given.index]
        return (
            f"o[{operand.number}]"
            if isinstance(operand, GeneratorSlot)
            else f"t[{self._taken.index(operand)}]"
        )


def _batch(step: Repeat) -> tuple[list[Perform], tuple[int, ...]] | None:
    """The repeated action of nested loops and their trip counts, if it is one kind of draw that can be batched."""
    trips: list[int] = []
    inner: Perform | Repeat = step
    while isinstance(inner, Repeat):
        trips.append(inner.trips)
        steps = inner.steps
        if len(steps) != 1 and not all(isinstance(s, Perform) for s in steps):
            return None
        inner = steps[0]
    actions = [s for s in steps if isinstance(s, Perform) and _same(s, inner)]
    return (actions, tuple(trips)) if inner.action.batched and len(actions) == len(steps) else None


def _same(a: Perform, b: Perform) -> bool:
    """True if two actions are the same draw of the same generator."""
    return a.into is not None and (a.operands, key_of(a.action)) == (b.operands, key_of(b.action))


def key_of(action: Action) -> tuple[Any, ...]:
    """A key, equal for two actions that make the same call."""
    function = action.function if isinstance(action.function, str) else id(action.function)
    return action.name, function, _key(action.args), _key(action.kwargs)


def _key(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value), tuple(map(_key, value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype, value.tobytes()
    return type(value), repr(value)


def compiled(
    steps: Sequence[Perform | Repeat], types: Sequence[ArrayType], taken: Sequence[Taken], counted: bool
) -> tuple[Take, list[Perform]]:
    """The function that performs the steps, and the actions by the numbers that it reports."""
    writer = _Writer(types, taken, counted)
    source = writer.source(steps)
    scope: dict[str, Any] = dict(writer.objects)
    exec(compile(source, "<pystage draws>", "exec"), scope)
    take: Take = scope["take"]
    return take, writer.steps
