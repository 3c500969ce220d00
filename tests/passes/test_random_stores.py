"""Random programs of loads, stores, branches, loops and calls mean the same after the passes.

All numbers are integers, so that every result is exact, whatever is fused.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from pystage.compiler import limits
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.types import INT64
from pystage.compiler.ops import Call, If, Maximum, Reshape, Transpose, While

from .programs import INDEX, Code, Values, array, emitted, kinds, run

ROWS, COLUMNS, LENGTH = 2, 3, 6
TYPES = [
    array(LENGTH, dtype=INT64),
    array(LENGTH, dtype=INT64),
    array(ROWS, COLUMNS, dtype=INT64),
    INDEX,
    INDEX,
]
"""What a program works on: two vectors, a matrix, two numbers."""


class _Random:
    """Writes statements that read and assign five variables; the variables are values of the program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.c = Code(*TYPES)
        self.state = list(self.c.params)
        self.helpers = [self._helper(), self._helper()]

    def program(self) -> Function:
        """A loop over statements, with more of them before and after it."""
        self._statements(2, 2)
        self._loop(3)
        self._statements(1, 2)
        return self.c.done(*self.state)

    def _helper(self) -> Function:
        """A function of the variables that gives them back, changed."""
        outer, self.c, self.helpers = self.c, Code(*TYPES), []
        self.state = list(self.c.params)
        self._statements(2, 1)
        made = self.c.done(*self.state, name="helper")
        self.c, self.state = outer, list(outer.params)
        return made

    def _statements(self, count: int, depth: int) -> None:
        for _ in range(self.random.randint(1, count)):
            options: list[Callable[[int], None]] = [self._assign, self._store_row, self._store_flat]
            options += [self._store] * 3
            if depth:
                options += [self._branch, self._branch, self._loop]
            if self.helpers:
                options.append(self._call)
            self.random.choice(options)(depth)

    def _index(self) -> Value:
        """A number; loads and stores move it into the array."""
        number = self.state[self.random.choice((3, 4))]
        return self.c.add(number, self.random.randint(-1, 2)) if self.random.random() < 0.6 else number

    def _number(self) -> Value:
        x = self.random.randrange(4)
        if x < 2:
            return self.c.load(self.state[x], self._index())
        if x == 2:
            return self.c.load(self.state[2], self._index(), self._index())
        return self._index()

    def _expression(self) -> Value:
        a, b = self._number(), self._number()
        kind = self.random.randrange(4)
        if kind == 0:
            return self.c.b.op(Maximum(), a, b)
        return (self.c.add, self.c.sub, lambda a, _: a)[kind - 1](a, b)

    def _assign(self, _: int) -> None:
        self.state[self.random.choice((3, 4))] = self._expression()

    def _store(self, _: int) -> None:
        x = self.random.randrange(3)
        index = [self._index() for _ in TYPES[x].shape]
        self.state[x] = self.c.store(self.state[x], self._expression(), *index)

    def _store_row(self, _: int) -> None:
        row = self.c.load(self.state[2], self._index())
        self.state[2] = self.c.store(self.state[2], self.c.add(row, row), self._index())

    def _store_flat(self, _: int) -> None:
        """A store through another shape of the matrix."""
        turned = self.random.random() < 0.3
        matrix = self.c.b.op(Transpose((1, 0)), self.state[2]) if turned else self.state[2]
        flat = self.c.b.op(Reshape((LENGTH,)), matrix)
        flat = self.c.store(flat, self.c.add(self.c.load(flat, self._index()), 1), self._index())
        matrix = self.c.b.op(Reshape(matrix.type.shape), flat)
        self.state[2] = self.c.b.op(Transpose((1, 0)), matrix) if turned else matrix

    def _branch(self, depth: int) -> None:
        predicate = self.c.compare(self.random.choice(("LT", "EQ", "GE")), self._number(), self._number())
        before = list(self.state)

        def arm() -> Values:
            self.state = list(before)
            if self.random.random() < 0.7:
                self._statements(3, depth - 1)
            return self.state

        self.state = list(self.c.if_(predicate, arm, arm))

    def _loop(self, depth: int) -> None:
        def body(i: Value, *state: Value) -> Values:
            self.state = list(state)
            if self.random.random() < 0.7:
                self.state[3] = i
            self._statements(4, depth - 1)
            return self.state

        self.state = list(self.c.for_(self.random.randint(0, 4), self.state, body))

    def _call(self, _: int) -> None:
        self.state = list(self.c.call(self.random.choice(self.helpers), *self.state))


def _arguments(seed: int) -> list[np.ndarray]:
    numbers = np.random.default_rng(seed)
    return [np.asarray(numbers.integers(-9, 9, t.shape)) for t in TYPES]


def _check(function: Function, seed: int, compiled: bool) -> None:
    arguments = _arguments(seed)
    made = emitted(function)
    given = [arguments[i] for i in made.kept]
    expected = interpret(function, arguments)
    for found in [interpret(made.function, given), *([run(made.function, given)] if compiled else [])]:
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(60))
def test_interpreted(seed: int) -> None:
    _check(_Random(seed).program(), seed, compiled=False)


@pytest.mark.parametrize("seed", range(100, 108))
def test_compiled(seed: int) -> None:
    _check(_Random(seed).program(), seed, compiled=True)


@pytest.mark.parametrize("seed", range(200, 230))
def test_segments_everywhere(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OUTLINED_FUSIONS", 2)
    monkeypatch.setattr(limits, "SEGMENT_FUSIONS", 1)
    _check(_Random(seed).program(), seed, compiled=seed < 205)


def test_the_programs_have_what_they_are_to_test() -> None:
    found = sum([kinds(_Random(seed).program()) for seed in range(40)], start=kinds(_Random(0).program()))
    assert min(found[If], found[While], found[Call]) > 20
