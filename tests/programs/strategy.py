"""The strategy of random programs: a whole program and the arguments it is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from .control import LOOPS, SOURCES, body
from .counters import accumulate, collect, count
from .expressions import PYTHON_FLOAT, PYTHON_INT, fit, kept, leaf
from .kinds import COUNT, DictOf, Form, Grade, Kind, ListOf, Number, ObjectOf, TupleOf
from .statements import COUNTER, DOUBLED, POINT, VECTOR
from .writer import Draw, Writer

SIGNED = ("int64", "int32", "int16", "int8")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
LONG = ((6,), (4, 4), (7,), (3, 5), (1,))
"""The shapes of arrays that are long enough for parts of parts."""
SHAPES = ((3,), (2, 3), (3, 1), (1,), (2, 2), (0,), ())
MOST_STATEMENTS = 14
HEAD = "from programs.prelude import *\n\n\n"
"""What each program begins with."""
INPUTS = 3
"""How many tuples of arguments a program is called with."""


@dataclass(frozen=True)
class Program:
    """The lines of a function, and the texts of its arguments for each call."""

    lines: tuple[str, ...]
    inputs: tuple[tuple[str, ...], ...]

    def source(self) -> str:
        """The module."""
        return HEAD + "\n".join(self.lines) + "\n"

    @property
    def first(self) -> tuple[str, ...]:
        """The texts of the arguments of the first call."""
        return self.inputs[0]

    def case(self) -> str:
        """The program as it stands in `test_regressions.py`."""
        calls = ", ".join(f"({', '.join(args)}{',' if len(args) == 1 else ''})" for args in self.inputs)
        return f"@cases.each({calls})\n" + "\n".join(self.lines) + "\n"


def programs() -> st.SearchStrategy[Program]:
    """Programs that plain Python runs, though they may raise."""
    return _programs(looped=False)


def looped() -> st.SearchStrategy[Program]:
    """The same, but most of their statements are about what loops change."""
    return _programs(looped=True)


@st.composite
def _programs(draw: Draw, looped: bool) -> Program:
    w = Writer(draw)
    w.looped = looped
    w.sources = SOURCES
    kinds = [w.expression(lambda: _of_loops(w) if looped else parameter(w)) for _ in range(1 + w.below(4))]
    names = list("abcd"[: len(kinds)])
    w.statements = MOST_STATEMENTS
    w.calm = bool(w.below(2))
    with w.block(f"def program({', '.join(names)}):"):
        for name, kind in zip(names, kinds):
            w.declare(name, kind)
        if w.chance(9 if looped else 3):
            w.scope.results = tuple(kept(leaf(w)) for _ in range(2))
        for _ in range(w.below(4) if looped else 0):
            w.statement(lambda: w.pick((collect, count, accumulate))(w))
        if looped:
            w.statement(lambda: w.pick(LOOPS)(w))
        body(w, MOST_STATEMENTS)
        if w.scope.results:
            results = [fit(w, leaf(w), kind) for kind in w.scope.results]
        else:
            results = [name for name in w.scope.variables if w.below(4)]
        w.add(f"return {', '.join(results or [names[0]])},")
    first = w.below(100)
    inputs = tuple(arguments(kinds, (first + i) * 7) for i in range(INPUTS))
    return Program(tuple(w.lines), inputs)


def _of_loops(w: Writer) -> Kind:
    """The kind of something that loops go over and take parts of."""
    options: tuple[Callable[[], Kind], ...] = (
        lambda: Number(Form.ARRAY, "float64", w.pick(LONG)),
        lambda: COUNT,
        lambda: Number(Form.ARRAY, "float64", w.pick(LONG), w.pick((Grade.SMALL, Grade.ROUGH))),
        lambda: Number(Form.ARRAY, w.pick(("int64", "float32", *SIGNED)), w.pick(LONG)),
        lambda: Number(Form.JAX, "float32", w.pick(LONG)),
        lambda: parameter(w),
    )
    return w.pick(options)()


def parameter(w: Writer) -> Kind:
    """The kind of something that a program is given."""
    options: tuple[Callable[[], Kind], ...] = (
        lambda: PYTHON_INT,
        lambda: VECTOR,
        lambda: VECTOR,
        lambda: PYTHON_FLOAT,
        lambda: Number(Form.ARRAY, "int64", w.pick(SHAPES)),
        lambda: Number(Form.ARRAY, "float32", w.pick(SHAPES)),
        lambda: Number(
            Form.ARRAY, w.pick(SIGNED + UNSIGNED), w.pick(SHAPES), w.pick((Grade.SMALL, Grade.WHOLE))
        ),
        lambda: Number(Form.ARRAY, w.pick(("float64", "float32")), w.pick(SHAPES), Grade.ROUGH),
        lambda: Number(Form.ARRAY, "bool", w.pick(SHAPES)),
        lambda: Number(Form.ARRAY, w.pick(("complex128", "complex64")), w.pick(SHAPES), Grade.ROUGH),
        lambda: Number(Form.NUMPY, w.pick(("float32", "float64", "bool", *SIGNED, *UNSIGNED))),
        lambda: Number(Form.PYTHON, w.pick(("bool", "int64", "complex128")), (), Grade.SMALL),
        lambda: ListOf(w.pick((PYTHON_INT, PYTHON_FLOAT, VECTOR)), 2 + w.below(2)),
        lambda: DictOf((("a", PYTHON_INT), ("b", VECTOR))),
        lambda: w.pick((POINT, COUNTER, DOUBLED)),
        lambda: COUNT,
        lambda: Number(Form.ARRAY, "float64", w.pick(LONG)),
        lambda: Number(Form.JAX, w.pick(("float32", "int32", "bool")), w.pick(SHAPES)),
    )
    kind = w.pick(options)()
    if isinstance(kind, Number) and kind.letter == "c":
        return Number(kind.form, kind.dtype, kind.shape, Grade.ROUGH)
    return kind


def arguments(kinds: list[Kind], choice: int) -> tuple[str, ...]:
    """The arguments of one call; a choice is a number of any size."""
    return tuple(argument(kind, choice + 5 * i) for i, kind in enumerate(kinds))


def argument(kind: Kind, choice: int) -> str:
    """The text of a value of a kind."""
    match kind:
        case ListOf(item, length):
            return f"[{', '.join(argument(item, choice + i) for i in range(length))}]"
        case DictOf(items):
            return "{" + ", ".join(f"{key!r}: {argument(item, choice)}" for key, item in items) + "}"
        case TupleOf(items):
            return f"({', '.join(argument(item, choice) for item in items)},)"
        case ObjectOf(cls, fields):
            return f"{cls}({', '.join(argument(item, choice) for _, item in fields)})"
        case Number():
            numbers = [_number(kind, (choice + 5 * i) % 12) for i in range(max(kind.elements, 1))]
            if kind.form is Form.PYTHON:
                return numbers[0]
            dtype = "bool_" if kind.dtype == "bool" else kind.dtype
            if kind.form is Form.NUMPY:
                return f"np.{dtype}({numbers[0]})"
            if kind.form is Form.JAX:
                numpy = argument(replace(kind, form=Form.ARRAY), choice)
                return f"jnp.asarray({numpy})"
            if kind.shape == ():
                return f"np.array({numbers[0]}, np.{dtype})"
            flat = f"np.array([{', '.join(numbers[: kind.elements])}], np.{dtype})"
            return flat if len(kind.shape) == 1 else f"{flat}.reshape{kind.shape}"
    raise AssertionError(kind)


WHOLE = {
    "i": (1, -2, 100, -128, 127, 5, -1, 0, 77, -100, 3, 12),
    "u": (1, 2, 200, 255, 0, 5, 16, 77, 3, 12, 129, 254),
}
SMALL = (1, -1, 2, 0, 3, -3, 4, 5, -2, 1, 2, -4)


def _number(kind: Number, choice: int) -> str:
    """One of twelve numbers for a kind."""
    number = SMALL[choice]
    if kind.letter == "b":
        return str(number > 0)
    if kind.letter in "iu":
        if kind.grade is Grade.WHOLE:
            return str(WHOLE[kind.letter][choice])
        return str(abs(number) if kind.letter == "u" or kind.grade is Grade.COUNT else number)
    if kind.letter == "c":
        return f"{number} + {choice / 4}j"
    if kind.grade is Grade.ROUGH:
        return str(round(number * 0.7 + 0.1, 2))
    return str(number + (choice % 4) / 4)
