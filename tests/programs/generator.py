"""Random programs: source text that plain Python runs, and that exercises what inference joins and carries.

In: a seed. Out: a `Program`, whose `source()` is a function `program(x, y, m, q, p, n, k)` with its helpers. A
program is a tree of statements, so that `shrink` can leave out parts of it. Branches depend on integers only, so
that rounding never decides; numbers stay small, indices stay inside. Names are aliased, swapped, rebound and
stored through as freely as plain code can; what pystage must refuse is part of the game.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Kind:
    """What a variable holds: `int`, `float`, `scalar`, `array`, `ints` (a list), `arrays` (a list), `object`."""

    name: str
    dtype: str = ""
    shape: Shape = ()


INT = Kind("int")
FLOAT = Kind("float")
INTS = Kind("ints")
ARRAYS = Kind("arrays")
OBJECT = Kind("object")
VECTOR = Kind("array", "float64", (3,))

PARAMETERS = {
    "x": VECTOR,
    "y": VECTOR,
    "m": Kind("array", "float32", (2, 3)),
    "q": Kind("array", "int64", (3,)),
    "p": OBJECT,
    "n": INT,
    "k": INT,
}

HELPERS = """
import numpy as np


class Pair:
    def __init__(self, a, k):
        self.a = a
        self.k = k

    def step(self, by):
        self.a[0] += by
        self.k = (self.k + by) % 9
        return self

    def renewed(self):
        return Pair(self.a * 0.5, self.k + 1)


def bump(a, by):
    a[0] += by
    a[-1] *= 0.5
    return a


def mix(a, b):
    a[1] = b[0]
    b[0] += 1
    return a + b


def pick(a, b, c):
    if c > 0:
        return a
    return b


def first(a, b):
    return a


def put(xs, i, v):
    xs[i % len(xs)] = v
    return xs


def total(a, *rest, by=1):
    s = 0.0
    for r in rest:
        s += r[0] * by
    return a * 0.5 + s
"""


@dataclass(eq=False)
class Node:
    """A statement: its text, or the headers and bodies of a compound one (an empty body is `pass`)."""

    text: str = ""
    blocks: list[tuple[str, list[Node]]] = field(default_factory=list)

    def lines(self, depth: int) -> Iterator[str]:
        """The statement as source lines."""
        pad = "    " * depth
        if self.text:
            yield pad + self.text
        for header, body in self.blocks:
            yield pad + header
            if not body:
                yield pad + "    pass"
            for node in body:
                yield from node.lines(depth + 1)


@dataclass
class Program:
    """A program and the arguments `n` and `k` that it is called with."""

    body: list[Node]
    n: int
    k: int

    def source(self) -> str:
        """The whole module."""
        lines = [f"def program({', '.join(PARAMETERS)}):"]
        for node in self.body:
            lines += node.lines(1)
        return HELPERS + "\n\n" + "\n".join(lines) + "\n"


def generate(seed: int) -> Program:
    """The program of a seed, always the same."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    return Program(writer.program(), rng.choice((0, 1, 2, 3, 4)), rng.choice((-2, 0, 1, 3)))


class _Writer:
    """Writes statements; `scope` is what may be read here, `closures` what may be called without arguments."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.scope: dict[str, Kind] = {}
        self.closures: list[str] = []
        self.count = 0
        self.loops = 0
        self.tame = (
            rng.random() < 0.5
        )  # names of arrays and objects stay what they are inside of control flow
        self.depth = 0
        self.readonly: set[str] = set()  # counters of `while`, names that a loop goes over

    def program(self) -> list[Node]:
        self.scope = dict(PARAMETERS)
        body = [self.declaration(kind) for kind in self.some_kinds()]
        if self.rng.random() < 0.4:
            body += self.closure()
        body += self.block(self.rng.randint(3, 7), 0)
        names = [v for v in self.scope if self.rng.random() < 0.5 or v not in PARAMETERS]
        body.append(Node(f"return {', '.join(names or ['x'])},"))
        return body

    # -- choosing

    def some_kinds(self) -> list[Kind]:
        kinds = [VECTOR, VECTOR, INT, FLOAT, INTS, ARRAYS, OBJECT, Kind("array", "float32", (2, 3))]
        return self.rng.sample(kinds, self.rng.randint(2, 4))

    def declare(self, kind: Kind) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.scope[name] = kind
        return name

    def declaration(self, kind: Kind) -> Node:
        value = self.made(kind)
        return Node(f"{self.declare(kind)} = {value}")

    def fresh(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def names(self, kind: Kind, stored: bool = False) -> list[str]:
        return [v for v, k in self.scope.items() if k == kind and not (stored and v in self.readonly)]

    def arrays(self) -> list[str]:
        return [v for v, k in self.scope.items() if k.name == "array"]

    def any_of(self, *options: str) -> str:
        return self.rng.choice(options)

    # -- expressions: templates, in which `@name` stands for an expression that is chosen only if needed

    def write(self, *templates: str, depth: int = 0) -> str:
        """One of the templates, its expressions written."""
        meanings: dict[str, Callable[[], str]] = {
            "int": lambda: self.integer(depth + 1),
            "small": lambda: f"({self.integer(depth + 1)}) % 7 - 3",
            "cond": lambda: self.condition(depth + 1),
            "at2": lambda: self.index(2, depth + 1),
            "at3": lambda: self.index(3, depth + 1),
            "num": lambda: self.number(depth + 1),
            "vector": lambda: self.any_of(*self.names(VECTOR)),
            "new": lambda: self.array(VECTOR, depth + 1),
            "view": lambda: self.view(VECTOR, depth + 1),
        }
        return re.sub("@([a-z]+[0-9]?)", lambda found: meanings[found[1]](), self.rng.choice(templates))

    def integer(self, depth: int = 0) -> str:
        names = self.names(INT)
        if depth > 2 or self.rng.random() < 0.4:
            return self.any_of(*names, str(self.rng.randint(-3, 4)))
        options = ["(@int + @int)", "(@int - @int)", "(@int * @int % 5)", "abs(@int)", "min(@int, @int)"]
        options += ["(@int // 2)", "(@int if @cond else @int)", "(-@int)", "max(@int, @int)"]
        options += [f"int({v}[@at3] % 4)" for v in self.names(PARAMETERS["q"])]
        options += [f"len({v})" for v in self.names(INTS)]
        options += [f"{v}[@at2]" for v in self.names(INTS)]
        options += [f"{v}.k" for v in self.names(OBJECT)]
        return self.write(*options, depth=depth)

    def condition(self, depth: int = 0) -> str:
        simple = f"@int {self.any_of('<', '>', '==', '!=', '<=')} @int"
        if depth > 1 or self.rng.random() < 0.7:
            return self.write(f"({simple})", depth=depth)
        return self.write(f"(not {simple})", f"({simple} and @cond)", f"({simple} or @int > 1)", depth=depth)

    def index(self, extent: int, depth: int = 0) -> str:
        """An integer with which an axis of `extent` can be indexed."""
        if depth > 2 or self.rng.random() < 0.4:
            return str(self.rng.randint(-extent, extent - 1))
        return self.write(
            f"@int % {extent}", f"@int % {extent} - 1", f"@int % {extent} - {extent}", depth=depth
        )

    def number(self, depth: int = 0) -> str:
        """A Python float or a NumPy scalar."""
        options = [str(self.rng.choice((0.5, 1.5, -2.0, 0.25))), *self.names(FLOAT)]
        if depth > 2:
            return self.any_of(*options)
        options += ["float(@int)", "(@num * 0.5)", "(@num + @int * 0.25)", "(@num - @num)"]
        options += [self.element(v) for v in self.arrays()[:3]]
        options += [f"{v}.sum()" for v in self.arrays()[:2]]
        return self.write(*options, depth=depth)

    def element(self, name: str) -> str:
        """An element of an array, as a template."""
        return f"{name}[{', '.join([f'@at{extent}' for extent in self.scope[name].shape])}]"

    def array(self, kind: Kind, depth: int = 0) -> str:
        """A new array of a kind."""
        names = self.names(kind)
        cast = f".astype(np.{kind.dtype})"
        if depth > 2 or not names:
            return f"np.full({kind.shape}, {self.rng.randint(-2, 3)}, np.{kind.dtype})"
        a, b = self.rng.choice(names), self.rng.choice(names)
        if kind.dtype.startswith("int"):
            return self.write(f"({a} + @int) % 11", f"({a} - {b}) % 7", f"{a}.copy()", f"-{a}", depth=depth)
        options = [
            f"{a} * 0.5",
            f"{a} + {b} * 0.25",
            f"{a}.copy()",
            f"{a} - 1",
            f"({a} * @num * 0.125){cast}",
        ]
        options += [f"total({a}, {b}){cast}", f"np.zeros_like({a})", f"np.where({a} > 1.5, {b}, {a} - 1)"]
        if kind.shape == (3,):
            options += [f"{v}[@at2]{cast} * 0.5" for v in self.names(PARAMETERS["m"])]
            options += [f"{v}.a * 0.5" for v in self.names(OBJECT)] if kind == VECTOR else []
            options += [f"{v}[@at2] + 1" for v in self.names(ARRAYS)] if kind == VECTOR else []
            options += [f"{a}[{v} % 3]" for v in self.names(PARAMETERS["q"])]
        return self.write(*options, depth=depth)

    def made(self, kind: Kind) -> str:
        """An expression of a kind whose object is new."""
        match kind.name:
            case "int":
                return self.write("@small")
            case "float":
                return self.write("float(@int) * 0.5")
            case "ints":
                return self.write("[@small, @small]")
            case "arrays":
                return self.write("[@new, @vector]", "[@new, @new]")
            case "object":
                return self.write("Pair(@new, @small)", "Pair(@vector, 1)")
        return self.array(kind)

    def view(self, kind: Kind, depth: int = 0) -> str:
        """A name, or a view of one, of an array kind."""
        a, b = self.any_of(*self.names(kind)), self.any_of(*self.names(kind))
        options = [a, a, f"{a}[::-1]"]
        if kind == VECTOR:
            options += [f"{v}.a" for v in self.names(OBJECT)]
            options += [f"{v}[@at2]" for v in self.names(ARRAYS)]
            options += [f"first({a}, {b})"] if self.tame else [f"first({a}, {b})", f"pick({a}, {b}, @int)"]
        return self.write(*options, depth=depth)

    # -- statements

    def block(self, length: int, depth: int) -> list[Node]:
        """Some statements; what they declare is gone behind them unless this is the body of the program."""
        outer, outer_depth = dict(self.scope), self.depth
        self.depth = depth
        body: list[Node] = []
        for _ in range(length):
            body += self.statement(depth)
        self.depth = outer_depth
        if depth:
            self.scope = outer
        return body

    def statement(self, depth: int) -> list[Node]:
        simple: list[Callable[[], list[Node]]] = [self.rebind] * 4 + [self.store] * 5 + [self.inplace] * 2
        simple += [self.alias, self.swap, self.call, self.call, self.declared, self.container, self.attribute]
        if self.closures:
            simple += [self.call_closure] * 2
        compound: list[Callable[[int], list[Node]]] = [self.branch, self.counted, self.over, self.repeated]
        if depth < 3 and self.rng.random() < (0.4 if depth < 2 else 0.15):
            return self.rng.choice(compound)(depth)
        return self.rng.choice(simple)()

    def node(self, *templates: str) -> Node:
        return Node(self.write(*templates))

    def rebind(self) -> list[Node]:
        kinds = [INT, INT, VECTOR, VECTOR, FLOAT, PARAMETERS["m"], PARAMETERS["q"], OBJECT]
        kind = self.rng.choice([k for k in kinds if self.names(k, stored=True)])
        target = self.any_of(*self.names(kind, stored=True))
        if self.keeps and kind == OBJECT:
            return [self.node(f"{target}.k = @small")]
        if self.keeps and kind.name == "array":
            target += "[:]"
        return [Node(f"{target} = {self.made(kind)}")]

    @property
    def keeps(self) -> bool:
        """Whether names of arrays and objects must stay what they are, here."""
        return self.tame and self.depth > 0

    def store(self) -> list[Node]:
        name = self.any_of(*self.arrays())
        kind = self.scope[name]
        value = "@small" if kind.dtype.startswith("int") else "@num * 0.5"
        operator = self.any_of("=", "=", "+=", "-=")
        if self.rng.random() < 0.6:
            return [self.node(f"{self.element(name)} {operator} {value}")]
        window = self.any_of("[1:]", "[:-1]", "[::2]", "[::-1]", "[...]", "[:]")
        if operator == "=" and len(kind.shape) == 1 and self.rng.random() < 0.4:
            return [Node(f"{name}[1:] = {self.any_of(*self.names(kind))}[:-1]")]
        return [self.node(f"{name}{window} {operator} {value}")]

    def inplace(self) -> list[Node]:
        name = self.any_of(*self.arrays())
        kind = self.scope[name]
        if kind.dtype.startswith("int"):
            return [self.node(f"{name} += @small", f"{name} -= @small")]
        other = self.any_of(*self.names(kind))
        changes = ("+= 1", "*= 0.5", f"-= {other} * 0.5", f"+= {other}")
        return [self.node(*[f"{name} {change}" for change in changes])]

    def alias(self) -> list[Node]:
        kind = self.rng.choice([VECTOR, VECTOR, VECTOR, PARAMETERS["m"], OBJECT, INTS, ARRAYS])
        names = self.names(kind)
        if not names or self.keeps:
            return self.rebind()
        value = self.view(kind) if kind.name == "array" else self.any_of(*names)
        free = self.names(kind, stored=True)
        if free and self.rng.random() < 0.5:
            return [Node(f"{self.any_of(*free)} = {value}")]
        return [Node(f"{self.declare(kind)} = {value}")]

    def declared(self) -> list[Node]:
        kind = self.rng.choice([VECTOR, INT, FLOAT, PARAMETERS["m"]])
        return [self.declaration(kind)]

    def swap(self) -> list[Node]:
        kind = INT if self.keeps else self.rng.choice([VECTOR, VECTOR, INT, OBJECT, INTS])
        names = self.names(kind, stored=True)
        if len(names) < 2:
            return self.rebind()
        chosen = self.rng.sample(names, min(len(names), self.rng.choice((2, 2, 3))))
        return [Node(f"{', '.join(chosen)} = {', '.join([*chosen[1:], chosen[0]])}")]

    def call(self) -> list[Node]:
        target = self.any_of(*self.names(VECTOR, stored=True))
        options = ["bump(@view, @small)", "bump(@view, @small)", "mix(@view, @view)"]
        if not self.keeps:
            options += [f"{target} = {call}" for call in (*options, f"bump({target} * 1, @small)")]
        return [self.node(*options)]

    def call_closure(self) -> list[Node]:
        target = self.any_of(*self.names(INT, stored=True))
        return [self.node(*[f"{target} = {f}(@small)" for f in self.closures])]

    def container(self) -> list[Node]:
        ints, arrays = self.names(INTS), self.names(ARRAYS)
        at = self.rng.randint(-2, 1)
        options = [f"{v}[{at}] = @small" for v in ints]
        options += [f"{v}[0], {v}[1] = {v}[1], {v}[0]" for v in (ints if self.keeps else (*ints, *arrays))]
        options += [f"{v}[{at}] = @view" for v in arrays if not self.keeps]
        options += [f"{v}[{at}][@at3] += 1" for v in arrays]
        options += [f"put({v}, {at}, @small)" for v in ints]
        return [self.node(*options)] if options else self.rebind()

    def attribute(self) -> list[Node]:
        name = self.any_of(*self.names(OBJECT))
        options = [f"{name}.k = @small", f"{name}.a[@at3] += 1", f"{name}.step(@small)"]
        if not self.keeps:
            options += [f"{name}.a = {new}" for new in ("@new", "@view")] + [f"{name} = {name}.renewed()"]
        return [self.node(*options)]

    def closure(self) -> list[Node]:
        """A nested function that changes what it captures."""
        name, self.count = f"f{self.count}", self.count + 1
        counter, array = self.declare(INT), self.any_of(*self.names(VECTOR))
        self.closures.append(name)
        inner = [Node(f"nonlocal {counter}"), Node(f"{counter} = ({counter} + j) % 5")]
        inner.append(
            Node(self.any_of(f"{array}[{counter} % 3] += j", f"{array}[0] = {counter}", "j = j + 1"))
        )
        inner.append(Node(f"return {counter} - {self.any_of('j', '1', 'n % 3')}"))
        return [Node(f"{counter} = 0"), Node(blocks=[(f"def {name}(j):", inner)])]

    # -- control flow

    def branch(self, depth: int) -> list[Node]:
        blocks = [(f"if {self.condition()}:", self.arm(depth))]
        if self.rng.random() < 0.3:
            blocks.append((f"elif {self.condition()}:", self.arm(depth)))
        if self.rng.random() < 0.6:
            blocks.append(("else:", self.arm(depth)))
        return [Node(blocks=blocks)]

    def arm(self, depth: int) -> list[Node]:
        body = self.block(self.rng.randint(1, 3), depth + 1)
        if self.loops and self.rng.random() < 0.3:
            body.append(Node(self.any_of("break", "continue")))
        elif self.rng.random() < 0.05:
            body.append(Node("return x, n, k"))
        return body

    def looped(self, depth: int, *counters: tuple[str, Kind]) -> list[Node]:
        """The body of a loop in which some names more are known."""
        outer = dict(self.scope)
        self.scope.update(counters)
        self.loops += 1
        body = self.block(self.rng.randint(1, 4), depth + 1)
        self.loops -= 1
        self.scope = outer
        return body

    def closed(self, depth: int, header: str, body: list[Node]) -> list[Node]:
        blocks = [(header, body)]
        if self.rng.random() < 0.15:
            blocks.append(("else:", self.block(1, depth + 1)))
        return [Node(blocks=blocks)]

    def counted(self, depth: int) -> list[Node]:
        i = self.fresh()
        ranges = ["n", "3", "n, -2, -1", "-2, n", "0, 5, 2", "4, 0, -2", self.write("@small + 3"), "1", "k"]
        header = f"for {i} in {self.any_of('', '', 'reversed')}(range({self.rng.choice(ranges)})):"
        return self.closed(depth, header, self.looped(depth, (i, INT)))

    def over(self, depth: int) -> list[Node]:
        i, row = self.fresh(), self.fresh()
        a = self.any_of(*self.names(VECTOR))
        b = self.any_of(*self.names(PARAMETERS["m"]))
        rows = Kind("array", "float32", (3,))
        lists = self.names(ARRAYS)
        options: list[tuple[str, list[tuple[str, Kind]]]] = [
            (f"for {i} in {a}:", []),
            (f"for {row} in {b}:", [(row, rows)]),
            (f"for {i}, {row} in enumerate({b}):", [(i, INT), (row, rows)]),
            (f"for {i}, {row} in zip(range(4), {b}[::-1]):", [(i, INT), (row, rows)]),
            (f"for {row} in reversed({b}):", [(row, rows)]),
        ]
        options += [(f"for {row} in {v}:", [(row, VECTOR)]) for v in lists]
        options += [(f"for {i}, {row} in enumerate({v}):", [(i, INT), (row, VECTOR)]) for v in lists]
        header, counters = self.rng.choice(options)
        return self.closed(depth, header, self.looped(depth, *counters))

    def repeated(self, depth: int) -> list[Node]:
        """A `while` loop with a counter of its own, so that it ends."""
        i = self.fresh()
        self.readonly.add(i)
        limit = self.any_of("n", "3", "k", "n + 1")
        body = self.looped(depth, (i, INT))
        form = self.rng.randrange(3)
        if form == 0:
            return [
                Node(f"{i} = 0"),
                *self.closed(depth, f"while {i} < {limit}:", [Node(f"{i} += 1"), *body]),
            ]
        if form == 1:
            return [Node(f"{i} = 3"), *self.closed(depth, f"while ({i} := {i} - 1) > -2:", body)]
        stop = Node(blocks=[(f"if {i} >= {limit}:", [Node("break")])])
        return [Node(f"{i} = 0"), Node(blocks=[("while True:", [Node(f"{i} += 1"), stop, *body])])]
