"""The canonical form of a call's arguments: equal where a callee can tell nothing apart, different elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from pystage.compiler.hlo.types import BOOL, FLOAT32, FLOAT64, INT32, INT64
from pystage.compiler.infer.calls.canonical import Canonical
from pystage.compiler.infer.interpreter import Interpreter
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.demand import LoopDecisions
from pystage.compiler.values.gated import Gated, GatedNumber
from pystage.compiler.values.lattice import (
    NONE,
    Abstract,
    Alias,
    Array,
    ArrayCell,
    Cell,
    Closure,
    Const,
    DictCell,
    IteratorCell,
    ListCell,
    NumberKind,
    ObjectCell,
    Ref,
    SetCell,
    Tuple,
    Undef,
    VariableCell,
)
from pystage.compiler.values.vector import Vector
from pystage.compiler.values.views import Permuted, Reshaped, Strided, Window
from pystage.compiler.values.walk import nodes, rebuild
from tests.values.samples import REASON, function, kinds_of_content, label, number, program, row, samples


def key(cells: dict[int, Cell], *arguments: Abstract, first: int = 0) -> list[Any]:
    """The key of these arguments where the cells have these contents; they are numbered from `first` on."""
    engine = Interpreter(True, LoopDecisions())
    state = engine.state
    for cell, content in cells.items():
        state.set(cell + first, rebuild(content, lambda v: v, lambda c: c + first))
    canonical = Canonical(engine)
    for x in arguments:
        canonical.describe(rebuild(x, lambda v: v, lambda c: c + first))
    return canonical.tokens


def array(*shape: int, writable: bool = True) -> ArrayCell:
    return ArrayCell(program(FLOAT64, *shape), writable)


PERSON = type("Person", (), {})
HEAP: Callable[[], dict[int, Cell]] = lambda: {  # noqa: E731
    1: array(1, 3),
    2: ListCell((Ref(1), Ref(3), Const(1))),
    3: DictCell({"a": Ref(2), "b": number()}),
    4: ObjectCell(PERSON, {"x": Ref(1), "y": Const("s")}),
    5: VariableCell(Ref(6)),
    6: SetCell(frozenset([1])),
    7: IteratorCell(Ref(2), 1),
    8: array(2),
    9: ListCell(()),
}


@pytest.mark.parametrize("x", [x for x in samples() if isinstance(x, Abstract)], ids=label)
def test_keys_do_not_depend_on_the_numbers_of_cells_nor_on_the_program_values(x: Any) -> None:
    heap = HEAP()
    fresh = {n: rebuild(cell, lambda v: program(v.type.dtype, *v.type.shape)) for n, cell in heap.items()}
    other = rebuild(x, lambda v: program(v.type.dtype, *v.type.shape))
    assert key(heap, x) == key(fresh, other) == key(heap, x, first=70)
    assert key(heap, x, Ref(2)) == key(heap, x, Ref(2), first=3)


def test_all_of_the_heap_that_is_reached_is_in_the_key() -> None:
    before = key(HEAP(), Ref(2))
    for changed, content in {1: array(1, 4), 3: DictCell({"a": Ref(2), "b": Const(1)})}.items():
        assert key({**HEAP(), changed: content}, Ref(2)) != before
    assert key({**HEAP(), 8: array(3)}, Ref(2)) == before


x, y = number(), number()
ALIASES = {
    "the same array twice": (Ref(1), Ref(1)),
    "two arrays": (Ref(1), Ref(8)),
    "an array and the list that holds it": (Ref(1), Ref(10)),
    "an array and a list that holds another": (Ref(8), Ref(10)),
    "an array and a row of it": (Ref(1), row(1)),
    "an array and a row of another": (Ref(8), row(1)),
    "one number twice": (x, x),
    "two numbers": (x, y),
    "one list twice": (Ref(9), Ref(9)),
    "two empty lists": (Ref(9), Ref(11)),
}


def test_aliases_are_told_apart() -> None:
    same = array(2)
    heap = {**HEAP(), 1: same, 8: replace(same, value=program(FLOAT64, 2)), 10: ListCell((Ref(1),))}
    heap[11] = ListCell(())
    keys = {name: key(heap, *pair) for name, pair in ALIASES.items()}
    names = list(keys)
    equal = [(a, b) for i, a in enumerate(names) for b in names[:i] if keys[a] == keys[b]]
    assert equal == []
    assert key(heap, Ref(1), Ref(8)) == key(heap, Ref(8), Ref(1))
    assert key(heap, Ref(1), Ref(8), Ref(1)) != key(heap, Ref(1), Ref(8), Ref(8))


CONSTANTS = [
    *[1, 1.0, True, np.int64(1), np.int32(1), np.float64(1), np.bool_(True), 1 + 0j, "1", b"1"],
    *[0.0, -0.0, 0, False, None, "", (), (1,), (1.0,), 2, complex(0.0, -0.0), complex(0.0, 0.0), int, abs],
]


def test_constants_are_told_apart_by_kind_and_value() -> None:
    keys = [key({}, Const(value)) for value in CONSTANTS]
    equal = [(CONSTANTS[i], CONSTANTS[j]) for i in range(len(keys)) for j in range(i) if keys[i] == keys[j]]
    assert equal == []
    for value in (1, 1.5, float("nan"), True, "abc", b"b", None, -0.0, 2 - 1j):
        assert key({}, Const(value)) == key({}, Const(type(value)(value) if value is not None else None))
    assert key({}, Const(float("nan"))) == key({}, Const(float("nan")))


DIFFERENT: list[Abstract] = [
    *[number(dtype) for dtype in (BOOL, INT32, INT64, FLOAT32, FLOAT64)],
    number(FLOAT64, Form.SCALAR),
    number(FLOAT64, Form.JAX),
    number(FLOAT64, Form.JAX, 1),
    number(FLOAT64, Form.JAX, 3),
    number(FLOAT64, Form.JAX, 3, 1),
    Array(program(FLOAT64), Form.JAX, weak=True),
    Array(program(INT64), Form.PYTHON, range=(0, math.inf)),
    Array(program(INT64), Form.PYTHON, range=(-math.inf, 0)),
    Array(program(INT64), Form.JAX, key_impl="fry"),
    *[Tuple(tuple([number() for _ in range(n)])) for n in range(3)],
    Tuple((number(),), type("Single", (tuple,), {})),
    Tuple((Tuple((number(),)),)),
    Tuple((Tuple((number(), number())),)),
    Tuple((Tuple((number(),)), number())),
    Gated((NONE, number()), (program(BOOL),), REASON),
    Gated((Undef(), number()), (program(BOOL),)),
    Gated((Undef(), NONE, number()), (program(BOOL), program(BOOL)), REASON),
    Gated((number(), Const("a")), (program(BOOL),), REASON),
    Gated((Const("a"), number()), (program(BOOL),), REASON),
    *[
        GatedNumber(program(), Form.SCALAR, kinds=kinds, tags=(program(BOOL),), whole=whole)
        for kinds in [
            (NumberKind(INT64, Form.PYTHON), NumberKind(FLOAT64, form)) for form in (Form.PYTHON, Form.SCALAR)
        ]
        for whole in (None, program(INT64))
    ],
    *[Ref(cell) for cell in range(1, 8)],
    Ref(8),
    row(1),
    Ref(1, (Permuted((1, 0)),)),
    Ref(1, (Permuted((0, 1)),)),
    Ref(1, (Reshaped((3, 1)),)),
    Ref(1, (Strided((0, 0), (1, 3), (1, 2)),)),
    Ref(1, (Window((0, 0), (1, 2)),)),
    Ref(1, (Window((0, 1), (1, 2)),)),
    Ref(1, (Permuted((1, 0)), Window((0, 0), (1, 2)))),
    Closure(function(), {}, "m", (), (), ()),
    Closure(function(), {}, "m", (), (), (("v", 5),)),
    *[
        x
        for x in samples()
        if isinstance(x, Abstract) and type(x).__name__ in ("Range", "Slice", "Zip", "Super")
    ],
]


def test_types_shapes_and_structures_are_told_apart() -> None:
    heap = HEAP()
    keys = [key(heap, x) for x in DIFFERENT]
    assert [
        (DIFFERENT[i], DIFFERENT[j]) for i in range(len(keys)) for j in range(i) if keys[i] == keys[j]
    ] == []


def test_cells_are_told_apart() -> None:
    source = Alias(Ref(8), array(2))
    contents: list[Cell] = [
        *[array(3), array(4), array(3, 1), array(3, writable=False), ArrayCell(program(FLOAT32, 3))],
        *[ArrayCell(program(FLOAT64, 3), program(BOOL)), ArrayCell(program(FLOAT64, 3), True, (source,), 1)],
        *[ListCell(()), ListCell((Const(1),)), ListCell((Const(1.0),)), ListCell((Const(1), Const(1)))],
        *[DictCell({}), DictCell({1: x}), DictCell({1.0: x}), DictCell({True: x}), DictCell({1: x, 2: x})],
        *[DictCell({2: x, 1: x}), ObjectCell(PERSON, {}), ObjectCell(int, {}), ObjectCell(PERSON, {"a": x})],
        *[ObjectCell(PERSON, {"b": x}), VariableCell(x), IteratorCell(x), IteratorCell(x, 1), IteratorCell()],
    ]
    keys = [key({1: content, 8: array(2)}, Ref(1)) for content in contents]
    assert [
        (contents[i], contents[j]) for i in range(len(keys)) for j in range(i) if keys[i] == keys[j]
    ] == []


def test_arguments_are_not_run_together() -> None:
    heap = HEAP()
    assert key(heap, Tuple((x,)), y) != key(heap, Tuple((x, y)))
    assert key(heap, Tuple(()), x) != key(heap, x, Tuple(()))


def test_whether_the_program_may_have_raised_is_in_the_key() -> None:
    keys = []
    for code in (0, 3, 4, program(INT32)):
        canonical = Canonical(Interpreter(True, LoopDecisions()))
        canonical.describe_code(code)
        keys.append(canonical.tokens)
    never, third, fourth, maybe = keys
    assert third == fourth and never != third and maybe not in (never, third)


def test_every_kind_of_content_can_be_described() -> None:
    described = {
        type(x).__name__ for x in samples() if key(HEAP(), *([x] if isinstance(x, Abstract) else []))
    }
    described |= {
        type(node).__name__
        for x in samples()
        if isinstance(x, Cell) and key({1: cast(Any, x)}, Ref(1))
        for node in nodes(x)
        if isinstance(node, Cell | Vector)
    }
    assert described == {name.rpartition(".")[2] for name in kinds_of_content()}
