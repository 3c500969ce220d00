"""Programs of sizes that only the run knows: what masks and computed bounds cut out, what grows and what shrinks.

An array is known by its name, whether its numbers are integers, and its size: arrays that were cut out by one mask, or
made elementwise of each other, have one size, and are mostly combined with each other. The numbers are whole, so that
they are exact in whatever order they are added, and loops keep them and the arrays small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from .strategy import Program
from .writer import Draw, Writer

INPUTS = (
    (
        "np.array([1.0, -2.0, 3.0, 0.0, 2.0, 3.0])",
        "np.array([2, 0, 1, 2, -1, 4])",
        "np.array([[1.0, -1.0, 2.0], [0.0, 3.0, -2.0], [2.0, 1.0, 1.0], [-3.0, 0.0, 4.0]])",
        "2",
        "0.0",
    ),
    (
        "np.array([-1.0, -2.0, -1.0, -4.0, -2.0, -3.0])",
        "np.array([3, 1, 5, 4, 2, 3])",
        "np.array([[-1.0, -1.0, -2.0], [-2.0, -3.0, -2.0], [-2.0, -1.0, -1.0], [-3.0, -1.0, -4.0]])",
        "0",
        "1.0",
    ),
    (
        "np.array([4.0, 2.0, 1.0, 5.0, 2.0, 3.0])",
        "np.array([-1, -3, 0, -2, -2, -5])",
        "np.array([[1.0, 4.0, 2.0], [5.0, 3.0, 2.0], [2.0, 2.0, 1.0], [3.0, 2.0, 4.0]])",
        "5",
        "0.0",
    ),
)
"""Of the numbers in question some, none and all meet most conditions."""
HELPERS = {
    "kept": ("    def kept(u, s):", "        return u[u > s]"),
    "shrunk": (
        "    def shrunk(u, s):",
        "        while len(u) > s:",
        "            u = u[1:]",
        "        return u",
    ),
    "either": (
        "    def either(u, s):",
        "        if s > 1:",
        "            return u[:s]",
        "        return u[::-1]",
    ),
}
"""The functions of a program, where it calls them."""
MOST_STATEMENTS = 10
LONGEST = 12
"""What grows in a loop is cut off behind so many elements."""


@dataclass(frozen=True)
class Sized:
    """An array of one axis. `whole`: of integers; two of one `size` are of one size in every run."""

    text: str
    whole: bool
    size: int

    def of(self, template: str, whole: bool | None = None) -> Sized:
        """What is made of it elementwise."""
        return replace(self, text=template.format(self.text), whole=self.whole if whole is None else whole)


class _Writer(Writer):
    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.known: dict[str, Sized] = {}
        self.masks: dict[str, tuple[int, int]] = {}
        """The size of what each can cut, and of what it cuts out."""
        self.lists: list[str] = []
        self.integers = ["n"]
        self.fixed: set[str] = set()
        """Names that are not bound again here, as they bound the loop around."""
        self.loops = 0
        self.sizes = 2

    def fresh(self) -> int:
        """A size that nothing else has."""
        self.sizes += 1
        return self.sizes

    # -- numbers

    def length(self) -> str:
        """A number from 0 on that is or may be a size."""
        name = self.pick((*self.known, *self.lists))
        form = self.below(9)
        return (
            "n",
            f"len({name})",
            f"len({name}) // 2",
            self.pick(self.integers),
            f"min(n, len({name}))",
            f"max(len({name}) - 1, 0)",
            f"np.count_nonzero({self.condition(1)})",
            f"len({name}) + 1",
            str(self.below(4)),
        )[form]

    def number(self) -> str:
        """A number that is exact."""
        form = self.below(9)
        if form < 2:
            return self.pick(("1", "c", "0", "2", *self.integers))
        if form == 2 and self.lists:
            xs = self.pick(self.lists)
            return self.pick(
                (f"sum({xs})", f"len({xs})", f"({xs}[-1] if {xs} else 0)", f"max({xs}, default=0)")
            )
        y = self.array(1)
        if form < 7:
            return y.of(
                self.pick(
                    ("len({0})", "{0}.sum()", "{0}.max(initial=0)", "({0}[0] if len({0}) else 0)", "{0}.size")
                )
            ).text
        if form == 7:
            i = self.pick(self.integers)
            return y.of(
                self.pick(
                    ("{0}.min()", "{0}[-1]", "({0} > 1).any()", f"{{0}}[{i} % len({{0}})]", f"{{0}}[{i}]")
                )
            ).text
        return y.of(self.pick(("({0} @ {0}) % 7", "{0}.shape[0]", "{0}.argmax()", "sum({0})"))).text

    def decision(self) -> str:
        """What a branch or a loop asks."""
        name = self.pick((*self.known, *self.lists))
        form = self.below(6)
        if form < 3:
            return f"len({name}) {self.pick(('>', '==', '<', '!='))} {self.pick(('1', '0', '2', 'n'))}"
        if form == 3:
            return f"{self.number()} {self.pick(('>', '<', '=='))} {self.number()}"
        return (
            f"{self.pick(tuple(self.known))}.size"
            if form == 4
            else f"n {self.pick(('>', '<'))} {self.below(4)}"
        )

    # -- arrays

    def leaf(self, whole: bool | None = None, size: int | None = None) -> Sized:
        """An array that has a name; `x` if there is none as is wanted."""
        found = [
            y
            for y in self.known.values()
            if (whole is None or y.whole == whole) and (size is None or y.size == size)
        ]
        return self.pick(found[::-1]) if found else self.known["v" if whole else "x"]

    def condition(self, size: int | None = None) -> str:
        """A mask, for arrays of a size."""
        masks = self.masks_for(size)
        if masks and self.below(2):
            return self.pick((masks[-1], f"~{masks[0]}"))
        y = self.leaf(size=size)
        if self.chance(4):
            return f"({y.text} {self.pick(('>', '<='))} {self.leaf(size=y.size).text})"
        return f"({y.text} {self.pick(('>', '<', '!=', '>='))} {self.pick(('c', '0', '1', '2', 'n'))})"

    def array(self, depth: int) -> Sized:
        """Any array of one axis."""
        return self.expression(lambda: self._array(depth))

    def _array(self, depth: int) -> Sized:
        if depth == 0 or self.chance(5):
            return self.leaf()
        make: tuple[Callable[[int], Sized], ...] = (
            self.selection,
            self.elementwise,
            self.pair,
            self.cut,
            self.found,
            self.rearranged,
            self.joined,
            self.made,
            self.of_rows,
            self.called,
        )
        return self.pick((*make[:4], *make))(depth - 1)

    def selection(self, depth: int) -> Sized:
        """What meets a condition."""
        y = self.array(depth)
        if self.below(2) and (masks := self.masks_for(y.size)):
            mask = self.pick(masks[::-1])
            return Sized(f"{y.text}[{mask}]", y.whole, self.masks[mask][1])
        if y.text in self.known:
            return Sized(f"{y.text}[{self.condition(y.size)}]", y.whole, self.fresh())
        z = self.leaf()
        return Sized(f"{z.text}[{z.text} > {self.pick(('c', '0', '1'))}]", z.whole, self.fresh())

    def masks_for(self, size: int | None) -> list[str]:
        """The masks that have a name, for arrays of a size."""
        return [name for name, (whole, _) in self.masks.items() if whole == size]

    def elementwise(self, depth: int) -> Sized:
        """A function of each element."""
        y = self.array(depth)
        return y.of(
            self.pick(
                ("({0} + 1)", "({0} * 2)", "-{0}", "abs({0})", "({0} - n)", "np.maximum({0}, 0)", "({0} % 3)",
                 "{0}.copy()", "np.where({0} > 0, {0}, 1)", "np.clip({0}, -1, 2)")
            )
        )  # fmt: skip

    def pair(self, depth: int) -> Sized:
        """Two arrays, mostly of one size."""
        y = self.array(depth)
        z = self.leaf(size=y.size) if self.below(12) else self.leaf()
        if z.size != y.size and self.below(12):
            z = y
        whole = y.whole and z.whole
        text = self.pick(("({0} + {1})", "({0} - {1})", "(({0} * {1}) % 7)", "np.minimum({0}, {1})",
                          "np.where({0} > {1}, {0}, {1})"))  # fmt: skip
        text = text.format(y.text, z.text)
        return Sized(f"({text} % 7)" if self.loops else text, whole, y.size)

    def cut(self, depth: int) -> Sized:
        """A slice with computed bounds."""
        y = self.array(depth)
        i, j = self.length(), self.length()
        text = self.pick(
            (f":{i}", f"{i}:", f"{i}:{j}", "::-1", "1:", f"{i}:{i} + 2", f"-{i}:", "::2", f"{j}::-1", ":-1")
        )
        return Sized(f"{y.text}[{text}]", y.whole, y.size if text == "::-1" else self.fresh())

    def found(self, depth: int) -> Sized:
        """Indices of what meets a condition."""
        y = self.leaf()
        condition = self.condition(y.size)
        text = self.pick(
            ("np.flatnonzero({0})", "np.nonzero({0})[0]", "np.where({0})[0]", "np.argwhere({0})[:, 0]")
        )
        found = Sized(text.format(condition), True, self.fresh())
        return found if self.below(2) else Sized(f"{y.text}[{found.text}]", y.whole, found.size)

    def rearranged(self, depth: int) -> Sized:
        """The elements in another order, or made of their neighbours."""
        y = self.array(depth)
        form = self.below(9)
        if form < 4:
            cumsum = "(np.cumsum({0}) % 7)" if self.loops else "np.cumsum({0})"
            return y.of(("np.sort({0})", cumsum, "np.flip({0})", "np.roll({0}, 1)")[form])
        if form == 4:
            return y.of("np.argsort({0}, kind='stable')", True)
        text = (
            "np.unique({0})",
            "np.diff({0})",
            "np.unique({0}, return_counts=True)[1]",
            "np.trim_zeros({0})",
        )
        return replace(y.of(text[form - 5], True if form == 7 else None), size=self.fresh())

    def joined(self, depth: int) -> Sized:
        """Arrays behind each other, or sets."""
        y, z = self.array(depth), self.leaf()
        text = self.pick(
            ("np.concatenate([{0}, {1}])", "np.append({0}, {2})", "np.concatenate(({0}, [{2}]))", "np.append({0}, {1})",
             "np.hstack([{1}, {0}])", "np.repeat({0}, 2)", "np.insert({0}, 0, {2})", "np.union1d({0}, {1})",
             "np.intersect1d({0}, {1})", "np.setdiff1d({0}, {1})", "np.repeat({0}, np.abs({0}).astype(int) % 3)")
        )  # fmt: skip
        text = text.format(y.text, z.text, self.pick(("1", "n")))
        return Sized(f"{text}[:{LONGEST}]" if self.loops else text, y.whole and z.whole, self.fresh())

    def made(self, depth: int) -> Sized:
        """An array of a computed size, or of a list."""
        s = self.length()
        if self.lists and self.chance(3):
            xs = self.pick(self.lists)
            return Sized(f"np.array({xs}, float)", False, self.fresh())
        whole = bool(self.below(2))
        text = ("np.arange({0})", "np.ones({0}, int)", "np.full({0}, n)") if whole else (
            "np.zeros({0})", "np.arange({0}, dtype=float)", "np.full({0}, 2.0)"
        )  # fmt: skip
        return Sized(self.pick(text).format(s), whole, self.fresh())

    def of_rows(self, depth: int) -> Sized:
        """What is made of an array of two axes, cut along one or both."""
        i, j, y = self.length(), self.length(), self.leaf()
        rows = self.pick(
            ("a[a[:, 0] > c]", f"a[:{i}]", f"a[:{i}, :{j}]", "a[:, a[0] > c]", f"a[{i}:, {j}:]",
             "a[a[:, 1] > 0][:, a[0] > 0]", f"np.stack([{y.text}, {y.text}[::-1]])", f"{y.text}[:, None] * {y.text}",
             f"np.zeros((2, {i}))", "a[np.ix_(a[:, 0] > 0, a[1] > 0)]")
        )  # fmt: skip
        more = self.pick((".sum(axis=0)", ".sum(axis=1)", ".ravel()", "[:, 0]", "[-1]", ".max(axis=1, initial=0)",
                          ".T.ravel()", ".reshape(-1)"))  # fmt: skip
        text = f"({rows}){more}"
        return Sized(f"{text}[:{LONGEST}]" if self.loops else text, False, self.fresh())

    def called(self, depth: int) -> Sized:
        """What a function of the program gives."""
        y = self.array(depth)
        name = self.pick(("kept", "shrunk", "either"))
        by = self.pick(("0", "1", "n")) if name == "kept" else self.length()
        return Sized(f"{name}({y.text}, {by})", y.whole, self.fresh())

    # -- statements

    def body(self, depth: int, most: int) -> None:
        """One statement or several."""
        for _ in range(1 + self.below(most)):
            self.statement(lambda: self._statement(depth))

    def _statement(self, depth: int) -> None:
        simple = (
            self.bind,
            self.bind,
            self.rebind,
            self.store,
            self.change,
            self.listed,
            self.grow,
            self.mask,
            self.hold,
        )
        if depth and self.below(2):
            make = (self.branch, self.loop, self.shrink, self.attempt, self.reject, self.count)
            self.pick((*make[:3], *make))(depth - 1)
        else:
            self.pick(simple)()

    def bind(self) -> None:
        """A new name for an array."""
        y = self.array(2)
        name = self.name("y")
        self.add(f"{name} = {y.text}")
        self.known[name] = replace(y, text=name)

    def rebind(self) -> None:
        """A name of an array is bound again."""
        names = [name for name in self.known if name not in self.fixed]
        if not names:
            return self.bind()
        name = self.pick(names[::-1])
        y = self.array(1)
        if self.below(8):
            if y.whole and not self.known[name].whole:
                y = y.of("({0} * 1.0)", False)
            elif self.known[name].whole and not y.whole:
                y = y.of("({0}).astype(int)", True)
        self.add(f"{name} = {y.text}")
        self.known[name] = replace(y, text=name)
        return None

    def store(self) -> None:
        """Something is stored into a part of an array."""
        y = self.leaf()
        i, number = self.length(), self.number()
        number = f"int({number})" if y.whole else number
        whole = self.leaf(y.whole, y.size)
        at, *more = self.pick(
            ((f"[:{i}]",), ("[0]", f"if len({y.text}):"), (f"[{i}:]",), (f"[{self.condition(y.size)}]",), ("[::2]",),
             (f"[{i}]", f"if {i} < len({y.text}):"), ("[...]",), ("[1:]",), (f"[{i}]",),
             (f"[-1 - {i}]", f"if {i} < len({y.text}):"),
             (f"[{i}:{i} + 2]",))
        )  # fmt: skip
        op = self.pick(("=", "=", "+=", "-=")) if not self.loops else "="
        what = number
        if at == "[...]" and self.below(2):
            what = whole.text
        elif at.startswith("[:") and self.chance(4):
            what = f"{whole.text}{at}"
        for header in more:
            self.add(header)
            self.depth += 1
        self.add(f"{y.text}{at} {op} {what}")
        self.depth -= len(more)

    def change(self) -> None:
        """An array is changed in place as a whole."""
        y = self.leaf()
        if self.loops:
            return self.add(f"{y.text} %= {self.pick(('3', '5'))}")
        other = self.leaf(y.whole, y.size).text
        text = self.pick(
            ("{0} *= 2", "{0} += {1}", "{0}.sort()", "{0} -= 1", "np.maximum({0}, 1, out={0})", "{0}.fill(1)")
        )
        return self.add(text.format(y.text, other))

    def mask(self) -> None:
        """A name for a mask, by which several arrays are cut."""
        y = self.leaf()
        name = self.name("p")
        text = self.condition(y.size)
        self.add(f"{name} = {text}")
        self.masks[name] = y.size, self.fresh()

    def listed(self) -> None:
        """A new list."""
        name = self.name("l")
        y = self.array(1).text
        form = self.below(5)
        text = (
            "[]",
            f"[e for e in {y} if e > {self.pick(('c', '1'))}]",
            f"[len({y}), 1, 0]",
            f"[e * 2 for e in {y}]",
            f"[i for i in range(len({y})) if {y}[i] > 0]",
        )[form]
        self.add(f"{name} = {text}")
        self.lists.append(name)

    def grow(self) -> None:
        """A list is changed, or something is made of it."""
        if not self.lists:
            return self.listed()
        xs = self.pick(self.lists[::-1])
        number = self.number()
        i = self.length()
        form = self.below(13)
        if form == 12:
            name = self.name("y")
            self.add(f"{name} = x[[int(e) % len(x) for e in {xs}]]")
            self.known[name] = Sized(name, False, self.fresh())
            return None
        if form == 11:
            name = self.name("l")
            self.add(
                f"{name} = {self.pick((f'{xs}[:{i}]', f'sorted({xs})', f'{xs}[::-1]', f'[e for e in {xs} if e > 0]'))}"
            )
            self.lists.append(name)
            return None
        return self.add(
            (
                f"{xs}.append({number})",
                f"if {self.decision()}: {xs}.append({number})",
                f"if {xs}: {xs}.pop()",
                f"if {xs}: {xs}[{i} % len({xs})] = {number}",
                f"{xs}.sort()",
                f"del {xs}[{i}:]",
                f"{xs}.insert({i}, {number})",
                f"if len({xs}) > {i}: {xs}[{i}] += 1",
                f"{xs}.extend({self.leaf().text}[:{i}])" if not self.loops else f"{xs}.append(1)",
                f"if {xs}: {xs}.pop(0)",
                f"{xs}.reverse()",
            )[form]
        )

    def hold(self) -> None:
        """An array in an attribute, a tuple, a list or a dict."""
        y = self.array(1)
        name = self.name("o")
        text, place = self.pick(
            ((f"Point(1.0, {y.text})", ".v"), (f"({y.text}, n)", "[0]"), (f"[{y.text}, x]", "[0]"),
             (f"{{'u': {y.text}}}", "['u']"))
        )  # fmt: skip
        self.add(f"{name} = {text}")
        self.known[name + place] = replace(y, text=name + place)
        if place == "[0]" and text[0] == "(":
            self.fixed.add(name + place)

    # -- blocks

    def within(self, header: str, write: Callable[[], None], loop: bool = False, fixed: str = "") -> None:
        """A block. What it makes is forgotten; what it binds again has a size of its own afterwards, in a loop at once."""
        outer = self.known, self.masks, self.lists, self.integers, self.fixed
        if loop:
            self.known = {name: replace(y, size=self.fresh()) for name, y in self.known.items()}
            self.masks = {}
        before = self.known
        self.known, self.masks, self.lists = dict(self.known), dict(self.masks), list(self.lists)
        self.integers, self.fixed = list(self.integers), self.fixed | ({fixed} if fixed else set())
        self.loops += loop
        self.add(header)
        self.depth += 1
        start = len(self.lines)
        write()
        if len(self.lines) == start:
            self.add("pass")
        self.depth -= 1
        self.loops -= loop
        after = self.known
        known, self.masks, self.lists, self.integers, self.fixed = outer
        self.known = {
            name: y
            if after[name] == before[name]
            else replace(y, size=self.fresh(), whole=y.whole and after[name].whole)
            for name, y in known.items()
        }

    def branch(self, depth: int) -> None:
        """A branch, mostly about a size."""
        self.within(f"if {self.decision()}:", lambda: self.body(depth, 2))
        if self.below(2):
            self.within("else:", lambda: self.body(depth, 2))

    def loop(self, depth: int) -> None:
        """A loop over an array, its indices or a number of trips."""
        y = self.leaf()
        if self.loops:
            y = y.of("{0}[:3]")
        i, e = self.name("i"), self.name("e")
        form = self.below(5)
        header = (
            f"for {i} in range(len({y.text})):",
            f"for {e} in {y.text}:",
            f"for {i}, {e} in enumerate({y.text}):",
            f"for {i} in range(min({self.length()}, 4)):",
            f"for {e} in {self.pick(self.lists)}[:4]:" if self.lists else f"for {i} in range(n):",
        )[form]

        def write() -> None:
            if i in header:
                self.integers.append(i)
            if self.chance(3) and i in header and form in (0, 2):
                z = self.leaf(size=y.size)
                self.add(f"if {i} < len({z.text}): {z.text}[{i}] = {i} + 1")
            self.body(depth, 3)
            if self.chance(5):
                self.add(f"if {self.decision()}: {self.pick(('break', 'continue'))}")

        self.within(header, write, loop=True)

    def shrink(self, depth: int) -> None:
        """A loop in which an array gets shorter, until it is short enough."""
        names = [name for name in self.known if name not in self.fixed and name not in ("x", "v")]
        if not names:
            return self.bind()
        name = self.pick(names[::-1])
        last = self.pick(
            ("[1:]", "[:-1]", f"[{name} > {name}.min()]", f"[{name} != {name}[0]]", "[1:][::-1]")
        )

        def write() -> None:
            if self.below(2):
                self.body(depth, 2)
            self.add(f"{name} = {name}{last}")
            self.known[name] = replace(self.known[name], size=self.fresh())

        return self.within(f"while len({name}) > {self.pick(('1', '0', '2', 'n'))}:", write, True, name)

    def attempt(self, depth: int) -> None:
        """Sizes that may differ, or indices that may be outside."""
        self.within("try:", lambda: self.body(depth, 2))
        self.within(
            f"except {self.pick(('ValueError', 'IndexError', '(ValueError, IndexError)'))}:",
            lambda: self.body(0, 1),
        )

    def reject(self, depth: int) -> None:
        """An exception of the program's own."""
        self.add(f"if {self.decision()} and n > 3: raise Rejected('size', {self.length()})")

    def count(self, depth: int) -> None:
        """A number that a loop counts up, or that takes a size."""
        name = self.name("m")
        self.add(f"{name} = {self.length()}")
        if self.below(2):
            i = self.name("i")
            self.add(f"{i} = 0")

            def write() -> None:
                self.integers.append(i)
                self.body(depth, 2)
                self.add(f"{i} += 1")

            self.within(f"while {i} < min({name}, 4):", write, loop=True)
        self.integers.append(name)


@st.composite
def sized(draw: Draw) -> Program:
    """A program that plain Python runs, though it may raise."""
    w = _Writer(draw)
    w.known = {"x": Sized("x", False, 1), "v": Sized("v", True, 1)}
    w.lines = ["def program(x, v, a, n, c):"]
    w.depth = 1
    w.bind()
    w.body(2, MOST_STATEMENTS)
    results = [name for name in (*w.known, *w.masks, *w.lists, *w.integers) if not w.chance(5)]
    w.add(f"return {', '.join(results or ['x'])},")
    source = "\n".join(w.lines)
    used = [line for name, helper in HELPERS.items() if source.count(f"{name}(") for line in helper]
    return Program((w.lines[0], *used, *w.lines[1:]), INPUTS)
