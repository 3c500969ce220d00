"""Random programs over integers, floats, arrays, lists and objects, as text.

In: a seed. Out: the source of a function `program(n, m, x, a, b, box)` that always ends, never raises, and
whose floats stay small integers: exact, so that fused multiply-add cannot turn a branch.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

INTS = ("n", "m", "k")
FLOATS = ("x", "y")
ARRAYS = ("a", "b", "c")
RESULT = "return n, m, k, x, y, a, b, c, items, box"
SIZE = 4
"""The length of every array."""


class Box:
    """An object that programs read, store into and call."""

    def __init__(self, level: float, cells: np.ndarray) -> None:
        self.level = level
        self.cells = cells

    def fill(self, i: int, value: float) -> float:
        """Stores into the cells, and returns early sometimes."""
        if value > 3.0:
            self.cells[i] = value
            return 1.0
        self.level = (self.level + value) % 8.0
        return self.level


@dataclass
class Block:
    """A statement, with what it holds."""

    text: str
    body: list[Block] = field(default_factory=list)

    def lines(self, indent: int) -> Iterator[str]:
        """The source of the statement."""
        yield "    " * indent + self.text
        for block in self.body:
            yield from block.lines(indent + 1)


class Writer:
    """Writes one random program; with `aliases`, names come to stand for each other's arrays."""

    def __init__(self, seed: int, aliases: bool = True) -> None:
        self.random = random.Random(seed)
        self.aliases = aliases
        self.loops = 0
        self.counters = 0
        self.functions: list[str] = []

    def pick(self, *choices: Any) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def program(self) -> list[Block]:
        """The statements of the body."""
        start = [
            Block("k, y, c = 1, 2.0, np.zeros(4)"),
            Block("items = [x, 1.0]"),
        ]
        helpers = [self.helper(i) for i in range(self.random.randrange(3))]
        body = self.block(depth=0, length=self.random.randint(3, 6))
        return [*start, *helpers, *body, Block(RESULT)]

    def source(self) -> str:
        """The source of the function."""
        return render(self.program())

    # -- expressions

    def integer(self) -> str:
        """An integer from 0 to 6."""
        name = self.pick(*INTS)
        return str(
            self.pick(
                name,
                name,
                f"({name} + {self.pick(1, 2, 5)}) % 7",
                f"({name} * {self.pick(*INTS)}) % 5",
                f"int({self.pick(*FLOATS)})",
                f"({name} if {self.condition()} else {self.pick(*INTS)})",
                f"int({self.pick(*ARRAYS)}.sum()) % 7",
                f"{name} // 2",
                self.pick("0", "1", "3"),
            )
        )

    def index(self) -> str:
        """A valid index into an array."""
        return str(self.pick("0", "2", "-1", f"({self.integer()}) % 4", f"{self.pick(*INTS)} % 4"))

    def number(self) -> str:
        """A float that is an integer from 0 to 15."""
        name = self.pick(*FLOATS)
        return str(
            self.pick(
                name,
                name,
                f"({name} * 3.0 + {self.pick(*FLOATS)}) % 16.0",
                f"({name} + {self.integer()}) % 8.0",
                f"float({self.pick(*ARRAYS)}[{self.index()}])",
                f"float({self.pick(*ARRAYS)}.max())",
                f"abs({name} - 5.0)",
                f"min({name}, {self.pick(*FLOATS)})",
                f"({name} if {self.condition()} else {self.pick('1.0', 'x', 'items[0]')})",
                "items[-1]",
                "box.level",
                self.pick("0.0", "2.0", "7.0"),
            )
        )

    def array(self) -> str:
        """An array of integers from 0 to 15."""
        name = self.pick(*ARRAYS)
        return str(
            self.pick(
                f"{name}.copy()",
                f"({name} + {self.number()}) % 16.0",
                f"({name} * 2.0 + {self.pick(*ARRAYS)}) % 16.0",
                f"np.maximum({name}, {self.number()})",
                f"np.where({name} > {self.pick(1, 4)}, {self.pick(*ARRAYS)}, {self.number()})",
                f"{name}[np.array([1, 0, 3, 3])]",
                f"{name}[::-1] + 0.0",
                "box.cells * 1.0",
            )
        )

    def condition(self) -> str:
        """A condition."""
        left, right = self.pick(*INTS), self.pick(*FLOATS)
        return str(
            self.pick(
                f"{left} > {self.pick(0, 2, 4)}",
                f"{right} < {self.pick(1.0, 4.0, 9.0)}",
                f"{left} % 2 == 0 and {right} > 1.0",
                f"{right} > 5.0 or {left} == 1",
                f"not {left}",
                f"0 < {left} <= {self.pick(*INTS)}",
                f"{self.pick(*ARRAYS)}[{self.pick(0, 1, -1)}] > {right}",
                f"{self.pick(*ARRAYS)}.sum() > 9.0",
                "True",
            )
        )

    # -- statements

    def block(self, depth: int, length: int | None = None) -> list[Block]:
        """Some statements."""
        out: list[Block] = []
        for _ in range(length or self.random.randint(1, 3)):
            compound = depth < 3 and self.random.random() < 0.5
            out += self.compound(depth) if compound else [self.simple()]
        return out

    def simple(self) -> Block:
        """A statement without a body."""
        jumps = ["break", "continue"] if self.loops else []
        if jumps and self.random.random() < 0.12:
            return Block(f"if {self.condition()}: {self.pick(*jumps)}")
        if self.random.random() < 0.05:
            return Block(f"if {self.condition()}: {RESULT}")
        return Block(
            self.pick(*[self.scalar] * 4, *[self.store] * 4, self.binding, self.structure, self.structure)()
        )

    def scalar(self) -> str:
        """Binds a number."""
        return str(
            self.pick(
                f"{self.pick(*INTS)} = {self.integer()}",
                f"{self.pick(*FLOATS)} = {self.number()}",
                "n += 1; n %= 7",
                "x, y = y, x",
                "n, m, k = m, k, n",
                f"k = (len(items) + {self.integer()}) % 7",
            )
        )

    def store(self) -> str:
        """Stores into an array."""
        name = self.pick(*ARRAYS)
        return str(
            self.pick(
                f"{name}[{self.index()}] = {self.number()}",
                f"{name}[{self.index()}] = {self.pick(*ARRAYS)}[{self.index()}]",
                f"{name}[1:3] = {self.number()}",
                f"{name} %= 8.0",
                f"{name}[{self.index()}] += 1.0",
                f"{name}[0], {name}[2] = {name}[2], {name}[0]",
                f"{name}[{name} > 6.0] = 1.0",
                f"{name}[:] = {self.array()}",
                f"box.cells[{self.index()}] = {self.number()}",
            )
        )

    def binding(self) -> str:
        """Binds an array, or rebinds names to each other's arrays."""
        if not self.aliases:  # a store after a name was bound to one of two arrays is refused
            return f"{self.pick(*ARRAYS)}[:] = {self.array()}"
        if self.random.random() < 0.5:
            return f"{self.pick(*ARRAYS)} = {self.array()}"
        return str(
            self.pick(
                f"{self.pick(*ARRAYS)} = {self.pick(*ARRAYS)}",
                "a, b = b, a",
                f"c = {self.pick('a', 'b')} if {self.condition()} else {self.pick('b', 'c')}",
            )
        )

    def structure(self) -> str:
        """Changes a list or an object, or calls."""
        calls = [f"y = {f}({self.number()}, {self.pick(*ARRAYS)})" for f in self.functions]
        return str(
            self.pick(
                f"items[0] = {self.number()}",
                "items[0], items[-1] = items[-1], items[0]",
                f"box.level = {self.number()}",
                f"y = box.fill({self.index()}, {self.number()})",
                "y = sum([item for item in items]) % 16.0",
                *calls,
                *calls,
            )
        )

    def compound(self, depth: int) -> list[Block]:
        """A statement with a body."""
        kind = self.pick("if", "if", "else", "for", "for", "while", "over", "structure")
        match kind:
            case "if":
                return [Block(f"if {self.condition()}:", self.block(depth + 1))]
            case "else":
                then = Block(f"if {self.condition()}:", self.block(depth + 1))
                middle = [Block(f"elif {self.condition()}:", self.block(depth + 1))] * self.pick(0, 1)
                return [then, *middle, Block("else:", self.block(depth + 1))]
        self.counters += 1
        counter = f"i{self.counters}"
        header, start = self.header(kind, counter)
        self.loops += 1
        first = {"while": [Block(f"{counter} += 1")], "over": [Block(f"y = float({counter})")]}.get(kind, [])
        body = [*first, *self.block(depth + 1)]
        self.loops -= 1
        after = [Block("else:", self.block(depth + 1))] if self.random.random() < 0.2 else []
        return [*start, Block(header, body), *after]

    def header(self, kind: str, counter: str) -> tuple[str, list[Block]]:
        """The first line of a loop, and what stands before it."""
        match kind:
            case "for":
                bound = self.pick("3", "n", "m % 4", f"1, {self.integer()}", "4, 0, -1")
                return f"for {self.pick(counter, 'k')} in range({bound}):", []
            case "while":
                limit = self.pick(2, 4)
                return f"while {counter} < {limit} and ({self.condition()}):", [Block(f"{counter} = 0")]
            case "over":
                return f"for {counter} in {self.pick(*ARRAYS)}.copy():", []
        return f"for {self.pick('x', counter)} in {self.pick('(1.0, 3.0, 2.0)', 'list(items)')}:", []

    def helper(self, number: int) -> Block:
        """A nested function that stores into its argument and into what it closes over."""
        name = f"helper{number}"
        closed = self.pick("c[0] = value", "box.level = value", "items[0] = value", "pass")
        body = [
            Block(f"if value > {self.pick(2.0, 6.0)}: return value % 4.0"),
            Block(f"target[{self.pick(0, 1, 'm % 4')}] = value"),
            Block(closed),
            Block(f"return {self.pick('float(target[1]) % 16.0', 'value + 1.0', 'x')}"),
        ]
        self.functions.append(name)
        return Block(f"def {name}(value, target):", body)


def render(blocks: list[Block]) -> str:
    """The source of the function with this body."""
    head = Block("def program(n, m, x, a, b, box):", blocks)
    return "\n".join(head.lines(0)) + "\n"


def load(source: str, name: str) -> Callable[..., Any]:
    """The function of a source, whose lines can be found under the file name `<name>`."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np, "__name__": name}
    exec(compile(source, file, "exec"), namespace)
    function: Callable[..., Any] = namespace["program"]
    return function


def arguments(seed: int) -> tuple[Any, ...]:
    """Arguments of a program; sometimes `a` and `b` are one array."""
    values = random.Random(~seed)
    a = np.array([float(values.randrange(16)) for _ in range(SIZE)])
    b = a if values.random() < 0.15 else np.array([float(values.randrange(16)) for _ in range(SIZE)])
    box = Box(float(values.randrange(8)), np.array([1.0, 5.0, 2.0, 0.0]))
    return values.randrange(7), values.randrange(7), float(values.randrange(16)), a, b, box
