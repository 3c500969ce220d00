"""Draws on the host, by the caller's random generators, before a program runs.

In: the steps of a program's draws, the generators of a call, and the inputs of distributions. Out: the draws as inputs of
the program, and the generators in the state that the plain run leaves. If the program raises, the generators are reset
and repeat the steps up to that point.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from ...compiler.diagnostics.codes_calls import NotServed
from ...compiler.hlo.types import ArrayType
from ...compiler.values.boundary import Draws, Perform, Repeat, Taken
from .draw_source import Take, compiled, key_of

INSTEAD = "check its arguments before the call, or pass constants"


class DrawFailed(Exception):
    """Raised where an action raised `error`, for the values of this call."""

    def __init__(self, step: Perform, error: Exception) -> None:
        super().__init__(step, error)
        self.step = step
        self.error = error

    def refusal(self) -> NotServed:
        """The refusal of a call in which an action failed after the program has changed something."""
        why = f"with the arguments of this call it raises {self.error!r}"
        return NotServed(span=self.step.span, name=self.step.action.name, why=why, instead=INSTEAD)


class Performance:
    """The draws of one call: `results` are the program's inputs."""

    def __init__(self, plan: DrawPlan, objects: Sequence[Any], taken: Sequence[Any], keep: bool) -> None:
        self._plan = plan
        self._taken = taken
        self.objects: list[Any] = [*objects, *[None] * (plan.slots - len(objects))]
        """The generators by their numbers."""
        self.left = -1
        """How many more actions are to be taken; any number if negative."""
        self._keep = keep
        self._made: dict[int, Any] = {}
        self._states = [get_state(o) for o in objects] if keep else None
        values = plan.take(self, self.objects, taken)
        self.results = [
            values[g[0]] if len(g) == 1 else np.array([values[i] for i in g], plan.types[g[0]].dtype)
            for g in plan.groups
        ]

    def made(self, number: int, make: Callable[[], Any]) -> None:
        """A generator that the program makes; the same one if the steps are performed again."""
        if number not in self._made:
            self.objects[number] = made = make()
            self._made[number] = made, get_state(made) if self._keep else None
        else:
            self.objects[number], state = self._made[number]
            set_state(self.objects[number], state)

    def failed(self, number: int, error: Exception) -> NoReturn:
        """Records that the action with this number raised `error`."""
        raise DrawFailed(self._plan.actions[number], error) from error

    def undo(self) -> None:
        """Restores the generators to their states before the call."""
        assert self._states is not None
        for generator, state in zip(self.objects, self._states):
            set_state(generator, state)

    def rewind(self, count: int) -> None:
        """Restores the generators to their states after the first `count` actions."""
        self.undo()
        self.left = count
        self._plan.take_some(self, self.objects, self._taken)


class DrawPlan:
    """The steps of one program, ready to be performed."""

    def __init__(self, draws: Draws) -> None:
        self.steps = draws.steps
        self.types = draws.types
        self.groups = draws.groups
        self.timed = draws.clock is not None
        self.clock = draws.clock
        self.generators = draws.generators
        operands = [operand for action in _actions(draws.steps) for operand in action.operands]
        self.taken = tuple(dict.fromkeys([o for o in operands if isinstance(o, Taken)]))
        """The inputs that actions take."""
        made = [a.into + 1 for a in _actions(draws.steps) if a.action.makes and a.into is not None]
        self.slots = max([len(draws.generators), *made])
        self.take, self.actions = compiled(draws.steps, draws.types, self.taken, counted=False)

    @functools.cached_property
    def take_some(self) -> Take:
        """Performs as many actions as the performance says."""
        return compiled(self.steps, self.types, self.taken, counted=True)[0]

    @property
    def hidden(self) -> tuple[int, ...]:
        """The hidden inputs of actions."""
        return tuple([t.index for t in self.taken if t.hidden])

    @property
    def input_types(self) -> list[ArrayType]:
        """The types of the program's inputs."""
        first = [self.types[group[0]] for group in self.groups]
        return [
            t if len(g) == 1 else ArrayType(t.dtype, (len(g),))
            for g, t in zip(self.groups, first, strict=True)
        ]

    def refusal(self, why: str) -> NotServed:
        """The refusal of a call that could not draw at its own time."""
        first = next(_actions(self.steps))
        instead = "pass a key and use jax.random, or call it outside of jax.jit"
        return NotServed(span=first.span, name=first.action.name, why=why, instead=instead)

    def perform(self, leaves: Sequence[Any], read: Sequence[Any], keep: bool) -> Performance:
        """Performs the steps. `read` are the generators, then the values of `hidden`.

        `keep`: that it may have to be undone. `DrawFailed` where an action raises.
        """
        count = len(self.generators)
        hidden = dict(zip(self.hidden, read[count:], strict=True))
        taken = [hidden[t.index] if t.hidden else leaves[t.index] for t in self.taken]
        return Performance(self, read[:count], taken, keep or self.timed)


def _actions(steps: Sequence[Perform | Repeat]) -> Iterator[Perform]:
    """All actions; those of loops once."""
    for step in steps:
        if isinstance(step, Repeat):
            yield from _actions(step.steps)
        else:
            yield step


def get_state(generator: Any) -> Any:
    """The complete state of a generator."""
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if isinstance(generator, np.random.BitGenerator):
        return generator.state
    return None


def set_state(generator: Any, state: Any) -> None:
    """Restores the state of a generator."""
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.BitGenerator):
        generator.state = state


def same_steps(a: Draws | None, b: Draws | None) -> bool:
    """True if two programs draw the same, so that one performance serves either."""
    if a is None or b is None:
        return a is b
    return (a.types, a.groups, _text(a.steps)) == (b.types, b.groups, _text(b.steps))


def _text(steps: Sequence[Perform | Repeat]) -> list[Any]:
    return [
        (s.trips, _text(s.steps)) if isinstance(s, Repeat) else (key_of(s.action), s.operands, s.into)
        for s in steps
    ]
