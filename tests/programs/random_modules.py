"""The strategy of random modules: variables, functions that read and store into them, and what the caller changes.

A module has numbers, arrays, containers and objects of its own, some of them under several names; a class with attributes;
functions, some with mutable defaults; and closures that it keeps. `program` is called several times. Between the calls the
caller changes what the module holds: other numbers, arrays of the same or of another shape or dtype, a list that grew,
another function.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from .control import SOURCES, body
from .expressions import PYTHON_FLOAT, PYTHON_INT, kept, leaf
from .kinds import DictOf, Form, Grade, Kind, ListOf, Number, ObjectOf, TupleOf
from .statements import POINT, VECTOR, result
from .strategy import HEAD, SHAPES, argument, parameter
from .writer import Callee, Draw, Writer

CALLS = 4
"""How often a program is called."""
MOST_STATEMENTS = 10
OF_A_HELPER = 4


@dataclass(frozen=True)
class Step:
    """A call of the program: the statements that the caller runs before it, and the texts of the arguments."""

    changes: tuple[str, ...]
    args: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """The lines of a module with a function `program`, and its calls."""

    lines: tuple[str, ...]
    steps: tuple[Step, ...]

    def source(self) -> str:
        """The module."""
        return HEAD + "\n".join(self.lines) + "\n"

    @property
    def first(self) -> tuple[str, ...]:
        """The texts of the arguments of the first call."""
        return self.steps[0].args

    def case(self) -> str:
        """The program as it stands in `captured.py`."""
        steps: list[str | tuple[str, ...]] = []
        for step in self.steps:
            steps += [*step.changes, step.args]
        lines = list(self.lines)
        at = next(i for i, line in enumerate(lines) if line.startswith("def program("))
        return "\n".join([*lines[:at], f"@steps({', '.join(map(repr, steps))})", *lines[at:], ""])


@st.composite
def worlds(draw: Draw) -> World:
    """A module that plain Python runs, though its program may raise."""
    w = Writer(draw)
    w.sources = SOURCES
    w.calm = bool(w.below(2))
    for _ in range(2 + w.below(4)):
        w.expression(lambda: _variable(w))
    if w.chance(4):
        w.expression(lambda: _class(w))
    replaced = []
    for _ in range(1 + w.below(2)):
        replaced += w.statement(lambda: _helper(w))
    if w.chance(3):
        w.statement(lambda: _closures(w))
    kinds: dict[str, Kind] = {letter: w.expression(lambda: parameter(w)) for letter in "ab"[: 1 + w.below(2)]}
    with _function(w, f"def program({', '.join(kinds)}):", kinds, MOST_STATEMENTS):
        found = [text for text, kind, _ in w.places() if not _is_class(kind) and w.below(3) == 0]
        w.add(f"return {', '.join(found or kinds)},")
    steps = [_step(w, kinds, None)]
    steps += [_step(w, kinds, replaced) for _ in range(CALLS - 1)]
    return World(tuple(w.lines), tuple(steps))


# ---------------------------------------------------------------- what the module holds


def _variable(w: Writer) -> None:
    """A variable of the module: something new, another name for what is there, a view of it, a container of it."""
    name = w.name("M")
    arrays = w.arrays()
    containers = [(text, kind) for text, kind, _ in w.places() if not isinstance(kind, Number)]
    form = w.below(12)
    kind: Kind
    if form == 11 and arrays:
        base, number, _ = w.pick(arrays)
        view = w.pick(("{}", "{}[1:]", "{}[::-1]"))
        fewer = "1:" in view and number.shape[0] > 1
        text = view.format(base) if fewer or "1:" not in view else base
        kind = replace(number, shape=(number.shape[0] - 1, *number.shape[1:])) if fewer else number
    elif form == 10 and containers:
        text, kind = w.pick(containers)
    elif form in (8, 9):
        text, kind = _container(w)
    else:
        kind = parameter(w)
        text = argument(kind, w.below(12))
    w.add(f"{name} = {text}")
    w.declare(name, kind)


def _container(w: Writer) -> tuple[str, Kind]:
    """A container of what is there already."""
    form = w.below(4)
    array, number = _held(w, VECTOR), _held(w, PYTHON_FLOAT)
    if form == 0:
        return f"[{array}, {_held(w, VECTOR)}]", ListOf(VECTOR, 2)
    if form == 1:
        return f"{{'a': {number}, 'b': {array}}}", DictOf((("a", PYTHON_FLOAT), ("b", VECTOR)))
    if form == 2:
        return f"({number}, {array})", TupleOf((PYTHON_FLOAT, VECTOR))
    return f"Point({number}, {array})", POINT


def _held(w: Writer, kind: Kind) -> str:
    """Something of a kind that is there, or new."""
    found = [text for text, other, _ in w.places() if other == kind]
    return w.pick([argument(kind, w.below(12)), *found])


def _class(w: Writer) -> None:
    """A class whose attributes are variables."""
    fields = []
    with w.block("class Settings:"):
        for letter in "pq"[: 1 + w.below(2)]:
            kind = w.pick((PYTHON_FLOAT, VECTOR, PYTHON_INT, ListOf(PYTHON_FLOAT, 2)))
            w.add(f"{letter} = {_held(w, kind)}")
            fields.append((letter, kind))
    w.declare("Settings", ObjectOf("Settings", tuple(fields)), assignable=False)


def _is_class(kind: Kind) -> bool:
    return isinstance(kind, ObjectOf) and kind.cls == "Settings"


# ---------------------------------------------------------------- functions of the module


@contextmanager
def _function(w: Writer, header: str, params: dict[str, Kind], most: int, outer: str = "") -> Iterator[None]:
    """A function that may assign to some variables of the module, and to `outer`; the caller writes its end."""
    names = [name for name in w.scope.variables if name.startswith("M")]
    assigned = {w.pick(names) for _ in range(w.below(3))} if names else set()
    w.statements = most
    with w.block(header, captured=frozenset(w.scope.variables) - {outer}):
        if assigned:
            w.add(f"global {', '.join(sorted(assigned))}")
        if outer:
            w.add(f"nonlocal {outer}")
        for name in names:
            w.declare(name, w.scope.variables[name].kind, name in assigned)
        for name, kind in params.items():
            w.declare(name, kind)
        body(w, most)
        yield


def _helper(w: Writer) -> list[str]:
    """A function of the module, and perhaps another that takes its place: gives the statements that do that."""
    name = w.name("h")
    params = tuple(kept(leaf(w)) for _ in range(w.below(3)))
    of_result = kept(leaf(w))
    kinds: dict[str, Kind] = {f"p{i}": kind for i, kind in enumerate(params)}
    written = list(kinds)
    replaced = []
    if w.chance(3):
        default, kind = w.pick(DEFAULTS)
        kinds["kept"] = kind
        written.append(f"kept={default}")
        replaced.append(f"{name}.__defaults__ = ({argument(kind, w.below(12))},)")
    names = [name]
    if w.chance(3):
        names.append(f"{name}_again")
        replaced += [f"{name} = {name}_again", f"{name}.__code__ = {name}_again.__code__"]
    for each in names:
        with _returning(w, of_result), _function(w, f"def {each}({', '.join(written)}):", kinds, OF_A_HELPER):
            result(w)
    w.scope.callees.append(Callee(name, params, 0, False, of_result))
    return replaced


DEFAULTS: tuple[tuple[str, Kind], ...] = (
    ("[1, 2]", ListOf(PYTHON_INT, 2)),
    ("np.zeros(3)", VECTOR),
    ("{'a': 1.5}", DictOf((("a", PYTHON_FLOAT),))),
    ("1.5", PYTHON_FLOAT),
)


@contextmanager
def _returning(w: Writer, kind: Number) -> Iterator[None]:
    """Functions written meanwhile give a number of this kind."""
    before, w.scope.results = w.scope.results, (kind,)
    yield
    w.scope.results = before


def _closures(w: Writer) -> None:
    """A function that makes closures over a number of its own, and two closures that the module keeps."""
    name = w.name("make")
    kind = w.pick((PYTHON_FLOAT, PYTHON_INT, VECTOR))
    of_result = kept(leaf(w))
    with w.block(f"def {name}(p0):"):
        w.add("v0 = p0")
        w.declare("v0", kind)
        with _returning(w, of_result), _function(w, "def inner(p1):", {"p1": kind}, OF_A_HELPER, "v0"):
            result(w)
        w.add("return inner")
    made = f"{name}({argument(kind, w.below(12))})"
    for closure in "cd":
        w.add(f"{closure} = {made}")
    for text in ("c", "d", made):
        w.scope.callees.append(Callee(text, (kind,), 0, False, of_result))


# ---------------------------------------------------------------- what the caller does


def _step(w: Writer, kinds: dict[str, Kind], replaced: list[str] | None) -> Step:
    """A call with arguments that are new, or the module's own; before it, unless it is the first, changes."""
    changes = (
        ()
        if replaced is None
        else tuple(w.statement(lambda: _change(w, replaced)) for _ in range(w.below(3)))
    )
    args = []
    for i, kind in enumerate(kinds.values()):
        own = [text for text, other, _ in w.places() if other == kind]
        args.append(w.pick(own) if own and w.chance(20) else argument(kind, w.below(12) + 5 * i))
    return Step(changes, tuple(args))


def _change(w: Writer, replaced: list[str]) -> str:
    """A statement that changes what the module holds."""
    if replaced and w.chance(3):
        return w.pick(replaced)
    text, kind = w.pick([(text, kind) for text, kind, assignable in w.places() if assignable])
    if isinstance(kind, Number):
        return _other_number(w, text, kind)
    new = f"{text} = {argument(kind, w.below(12))}"
    match kind:
        case ListOf(item, _):
            number = argument(item, w.below(12))
            return w.pick((f"{text}.append({number})", f"{text}[0] = {number}", f"{text}.pop(0)", new))
        case DictOf(items):
            key = items[0][0]
            return w.pick((f"{text}['z'] = 1.5", f"{text}[{key!r}] = {text}.pop({key!r})", new))
        case _:
            return new


def _other_number(w: Writer, text: str, kind: Number) -> str:
    """A statement that gives a variable another number: of its kind, or of another."""
    new = argument(kind, w.below(12))
    if kind.form is not Form.ARRAY:
        other = w.pick(
            (Number(Form.PYTHON, "int64"), Number(Form.PYTHON, "float64"), Number(Form.NUMPY, "float64"))
        )
        return f"{text} = {new if w.below(4) else argument(other, w.below(12))}"
    other = replace(kind, shape=w.pick(SHAPES))
    if kind.grade is Grade.SMALL and kind.letter in "if":
        other = replace(other, dtype=w.pick(("float64", "int64", "float32")))
    return w.pick(
        (
            f"{text}[...] = {new}",
            f"{text} = {new}",
            f"{text} = {text}.copy()",
            f"{text} = {argument(other, w.below(12))}",
            f"{text}.flags.writeable = False",
        )
    )
