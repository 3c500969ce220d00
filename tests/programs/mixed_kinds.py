"""Programs of numbers that are of one kind on some paths and of another on others: Python's and NumPy's, of all widths.

They bind a few variables again and again, to anything, under branches, in loops that may have no trip, in handlers, and say
what has become of them: by value, class and string. All numbers are small multiples of powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from .strategy import Program

NAMES = ("p", "q", "r", "s")
ATOMS = (
    *("1", "0.5", "2", "-3", "-1.5", "2.0", "True", "False", "n", "x", "a[0]", "a[1]", "b", "k"),
    *("np.float32(1.5)", "np.int32(3)", "np.uint8(7)", "np.float64(-2.0)"),
)
CLASSES = ("int", "float", "np.floating", "bool", "(int, np.integer)")
INPUTS = (
    ("1.5", "3", "0", "1", "np.array([2.0, -1.0, 0.5, 4.0])", "np.float32(2.5)"),
    ("-1.0", "2", "2", "0", "np.array([0.5, 3.0, -2.0, 1.0])", "np.float32(-1.0)"),
    ("0.0", "0", "1", "2", "np.array([-2.0, 0.0, 1.0, 0.5])", "np.float32(0.0)"),
)
HELPERS = (
    "    def grown(y):",
    "        if isinstance(y, float):",
    "            return y + 1",
    "        return y * 2",
    "    def greater(y, z):",
    "        if y > z:",
    "            return y",
    "        return z",
)


class _Writer:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.counter = ""  # of the loop around

    def pick(self, options: Sequence[str]) -> str:
        """One of several texts; the first is the simplest."""
        return self.draw(st.sampled_from(options))

    def below(self, count: int) -> int:
        """A number from 0 on."""
        return self.draw(st.integers(0, count - 1))

    # -- expressions

    def expression(self, depth: int) -> str:
        """A number of any kind."""
        if not depth or not self.below(4):
            names = NAMES if self.below(3) else (*ATOMS, *([self.counter] if self.counter else []))
            return self.pick(names)
        make = (self.arithmetic, self.choice, self.call)[min(self.below(4), 2)]
        return make(depth - 1)

    def arithmetic(self, depth: int) -> str:
        """An operator."""
        left, right = self.expression(depth), self.expression(depth)
        match self.below(5):
            case 0:
                return f"({left} {self.pick('+-*')} {right})"
            case 1:
                divisor = self.pick(("2", "4", "-2", "0.5", "2.0", "n", right))
                return f"({left} {self.pick(('//', '%', '/'))} {divisor})"
            case 2:
                return f"({left} {self.pick(('<', '<=', '==', '!=', '>'))} {right})"
            case 3:
                return f"({self.pick(('-', 'not '))}{left})"
        return f"min(max({left}, -8), 8)"

    def choice(self, depth: int) -> str:
        """One of two numbers."""
        left, right = self.expression(depth), self.expression(depth)
        if self.below(2):
            return f"({left} if {self.condition(0)} else {right})"
        return f"({left} {self.pick(('and', 'or'))} {right})"

    def call(self, depth: int) -> str:
        """A call of one of the program's functions, of a builtin or of NumPy's."""
        left, right = self.expression(depth), self.expression(depth)
        if self.below(2):
            one = ("abs", "grown", "int", "float", "bool", "round", "np.float32", "np.float64", "np.int64")
            return f"{self.pick(one)}({left})"
        two = ("min", "max", "greater", "np.add", "np.subtract", "np.multiply", "np.maximum", "np.minimum")
        return f"{self.pick(two)}({left}, {right})" if self.below(4) else f"sum([{left}, {right}])"

    def condition(self, depth: int) -> str:
        """What decides a branch."""
        match self.below(5):
            case 0:
                return f"x > {self.pick(('0', '1', '-1.5'))}"
            case 1:
                return f"n % 2 == {self.below(2)}"
            case 2:
                return f"isinstance({self.pick(NAMES)}, {self.pick(CLASSES)})"
            case 3:
                return self.pick(NAMES)
        return f"{self.expression(depth)} {self.pick(('<', '>', '==', '<='))} {self.expression(depth)}"

    # -- statements

    def body(self, indent: int, depth: int, most: int) -> None:
        """One statement or several."""
        for _ in range(1 + self.below(most)):
            self.statement("    " * indent, indent, depth)

    def statement(self, margin: str, indent: int, depth: int) -> None:
        """A statement, with those inside it."""
        match self.below(9) if depth else 4 + self.below(5):
            case 0 | 1:
                self.lines.append(f"{margin}if {self.condition(1)}:")
                self.body(indent + 1, depth - 1, 2)
                if self.below(2):
                    self.lines.append(f"{margin}else:")
                    self.body(indent + 1, depth - 1, 2)
            case 2:
                self.loop(margin, indent, depth)
            case 3:
                self.lines.append(f"{margin}try:")
                self.body(indent + 1, depth - 1, 2)
                self.lines.append(f"{margin}except (ZeroDivisionError, OverflowError):")
                self.lines.append(f"{margin}    {self.pick(NAMES)} = {self.expression(1)}")
            case 4:
                self.lines.append(f"{margin}{self.pick(NAMES)} {self.pick('+-*')}= {self.expression(1)}")
            case 5:
                place = self.pick(("d['u']", "d['v']", "a[1]", "a[3]"))
                self.lines.append(f"{margin}{place} = {self.expression(1)}")
            case 6 if indent == 1:
                name = self.pick(NAMES)
                told = self.pick((f"f'{{{name}}}'", f"repr({name})", f"[{name}, 1]", self.expression(1)))
                self.lines.append(f"{margin}log.append({told})")
            case _:
                self.lines.append(f"{margin}{self.pick(NAMES)} = {self.expression(2)}")

    def loop(self, margin: str, indent: int, depth: int) -> None:
        """A loop that may have no trip, and may end early."""
        outer, self.counter = self.counter, f"i{indent}"
        self.lines.append(f"{margin}for {self.counter} in range({self.pick(('m', 'n % 3', '2', 'k'))}):")
        self.body(indent + 1, depth - 1, 2)
        if not self.below(3):
            self.lines.append(f"{margin}    if {self.condition(1)}:")
            self.lines.append(f"{margin}        {self.pick(('break', 'continue'))}")
        self.counter = outer


@st.composite
def mixed(draw: st.DrawFn) -> Program:
    """A program that plain Python runs, though it may raise."""
    w = _Writer(draw)
    w.lines += ["def program(x, n, m, k, a, b):", *HELPERS, "    log = []", "    d = {'u': 0, 'v': x}"]
    w.lines += [f"    {name} = {w.pick(ATOMS)}" for name in NAMES]
    w.body(1, 2, 10)
    w.lines.append(f"    return [{', '.join(NAMES)}], log, d, a")
    return Program(tuple(w.lines), INPUTS)
