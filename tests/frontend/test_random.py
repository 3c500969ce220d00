"""Random programs: nested control flow with every jump, run in CPython and as stage IR."""

from __future__ import annotations

import linecache

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .compare import check

NAMES = "abc"
EXPRESSIONS = ("a", "b", "c", "1", "a + b", "b - 1", "a * c % 7", "-c", "a if b else c", "(b := a + 1)")
TESTS = ("a < b", "b % 2", "a < b < c", "not c", "a and b", "a or c > 3", "any(x > a for x in xs)", "c == 2")


class Writer:
    """Writes one random function; `draw` takes a choice from Hypothesis."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.lines = ["def program(a, b, c, xs, log):"]
        self.budget = 25
        self.counters = 0

    def pick(self, options):
        return self.draw(st.sampled_from(options))

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, loops: int, in_final: bool = False) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(depth, loops, in_final)

    def statement(self, depth: int, loops: int, in_final: bool) -> None:
        self.budget -= 1
        simple = ["assign", "assign", "log", "augment", "raise", "delete"]
        jumps = [] if in_final else ["return"] + ["break", "continue"] * (loops > 0)
        nested = ["if", "if", "ifelse", "while", "for", "try", "with", "match"]
        kind = self.pick(simple + jumps * 2 + (nested * 2 if depth < 5 and self.budget > 0 else []))
        compound = getattr(self, f"{kind}_", None)
        if compound is None:
            self.plain(depth, kind)
        else:
            compound(depth, loops, in_final)

    def plain(self, depth: int, kind: str) -> None:
        name, value = self.pick(NAMES), self.pick(EXPRESSIONS)
        text = {
            "assign": f"{name} = {value}",
            "augment": f"{name} += {value}",
            "log": f"log.append({value})",
            "raise": f"if {self.pick(TESTS)}: raise {self.pick(('KeyError', 'ValueError'))}({name})",
            "delete": f"del {name}",
            "return": f"return {value}, {len(self.lines)}",
            "break": "break",
            "continue": "continue",
        }[kind]
        if kind in ("delete", "return", "break", "continue") and self.draw(st.booleans()):
            text = f"if {self.pick(TESTS)}: {text}"
        self.add(depth, text)

    def ifelse_(self, depth, loops, in_final) -> None:
        self.if_(depth, loops, in_final)
        self.add(depth, "else:")
        self.block(depth + 1, loops, in_final)

    def if_(self, depth, loops, in_final) -> None:
        self.add(depth, f"if {self.pick(TESTS)}:")
        self.block(depth + 1, loops, in_final)
        if self.draw(st.booleans()):
            self.add(depth, f"elif {self.pick(TESTS)}:")
            self.block(depth + 1, loops, in_final)

    def while_(self, depth, loops, in_final) -> None:
        self.counters += 1
        counter = f"n{self.counters}"
        self.add(depth, f"{counter} = 0")
        endless = self.draw(st.booleans())
        self.add(depth, "while True:" if endless else f"while {counter} < 3 and ({self.pick(TESTS)}):")
        self.add(depth + 1, f"{counter} += 1")
        if endless:
            self.add(depth + 1, f"if {counter} > 3: break")
        self.block(depth + 1, loops + 1, in_final)
        self.orelse(depth, loops, in_final)

    def for_(self, depth, loops, in_final) -> None:
        source = self.pick(("range(3)", "xs", "(x + 1 for x in xs if x)", "[x for x in xs if x > a]"))
        self.add(depth, f"for {self.pick(NAMES)} in {source}:")
        self.block(depth + 1, loops + 1, in_final)
        self.orelse(depth, loops, in_final)

    def orelse(self, depth, loops, in_final) -> None:
        if self.draw(st.booleans()):
            self.add(depth, "else:")
            self.block(depth + 1, loops, in_final)

    def try_(self, depth, loops, in_final) -> None:
        self.add(depth, "try:")
        self.block(depth + 1, loops, in_final)
        handlers = self.draw(st.integers(0, 2))
        for kind in ("KeyError", "(ValueError, NameError)")[:handlers]:
            bound = " as e" if self.draw(st.booleans()) else ""
            self.add(depth, f"except {kind}{bound}:")
            self.block(depth + 1, loops, in_final)
        if handlers:
            self.orelse(depth, loops, in_final)
        if not handlers or self.draw(st.booleans()):
            self.add(depth, "finally:")
            self.block(depth + 1, 0, True)

    def with_(self, depth, loops, in_final) -> None:
        self.add(depth, f"with Manager(log, {len(self.lines)}):")
        self.block(depth + 1, loops, in_final)

    def match_(self, depth, loops, in_final) -> None:
        self.add(depth, f"match ({self.pick(EXPRESSIONS)}, {self.pick(EXPRESSIONS)}):")
        for pattern in ("(0 | 1, a)", f"(b, 2) if {self.pick(TESTS)}", "(int() as c, _)", "_"):
            self.add(depth + 1, f"case {pattern}:")
            self.block(depth + 2, loops, in_final)


class Manager:
    """Swallows `KeyError`, logs."""

    def __init__(self, log, name) -> None:
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(("enter", self.name))

    def __exit__(self, kind, error, trace):
        self.log.append(("exit", self.name, kind))
        return kind is KeyError


@st.composite
def programs(draw) -> str:
    writer = Writer(draw)
    for _ in range(draw(st.integers(1, 4))):
        writer.statement(1, 0, False)
    writer.add(1, f"return {draw(st.sampled_from(EXPRESSIONS))}, 'end'")
    return "\n".join(writer.lines) + "\n"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.lists(st.integers(-2, 3), max_size=3))
def test_random_programs(text: str, xs: list[int]) -> None:
    file = f"<random {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module: dict[str, object] = {"Manager": Manager}
    exec(compile(text, file, "exec"), module)
    try:
        check(module["program"], (0, 1, 2, xs, []), (2, 1, 1, xs, []), (1, 1, 0, xs, []))
    except BaseException:
        print(text)
        raise
    finally:
        del linecache.cache[file]
