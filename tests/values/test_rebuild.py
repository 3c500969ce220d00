"""`rebuild` and what it walks: the parts of each kind of abstract value and cell, compared with its fields."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pystage.compiler.hlo.ir import Value
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.gated import Gated, GatedNumber
from pystage.compiler.values.lattice import (
    Array,
    ArrayCell,
    Cell,
    DictCell,
    ErrorCell,
    ListCell,
    ObjectCell,
    Ref,
    SetCell,
    Tuple,
)
from pystage.compiler.values.walk import cells_of, paths_to, rebuild, values_of

from .samples import defaults, equal, kinds_of_content, label, parts, program, row, samples

each_sample = pytest.mark.parametrize("x", samples(), ids=label)


def identity(value: Value) -> Value:
    return value


def test_every_kind_of_content_has_a_sample() -> None:
    assert kinds_of_content() == {f"{type(x).__module__}.{type(x).__name__}" for x in samples()}


def test_every_field_differs_from_its_default_in_some_sample() -> None:
    left: dict[type, set[str]] = {}
    for x in samples():
        left[type(x)] = left.get(type(x), defaults(x)) & defaults(x)
    assert {cls: names for cls, names in left.items() if names} == {}


@each_sample
def test_nothing_mapped_is_the_same_content(x: Any) -> None:
    same = rebuild(x, identity)
    assert equal(same, x)
    assert same is x or getattr(x, "sides", ())


@each_sample
def test_every_program_value_is_mapped(x: Any) -> None:
    made: dict[Value, Value] = {}
    new = rebuild(x, lambda v: made.setdefault(v, Value(v.type, v.owner, v.index)))
    assert set(made) == {v for kind, v in parts(x) if kind == "value"}
    assert values_of(new) == [made[v] for v in values_of(x)]
    back = {new: old for old, new in made.items()}
    assert equal(rebuild(new, back.__getitem__), x)


@each_sample
def test_every_cell_is_mapped(x: Any) -> None:
    seen: list[int] = []

    def renumbered(cell: int) -> int:
        seen.append(cell)
        return cell + 100

    new = rebuild(x, identity, renumbered)
    assert set(seen) == {cell for kind, cell in parts(x) if kind == "cell"}
    assert Counter(cell for kind, cell in parts(new) if kind == "cell") == Counter(
        cell + 100 for kind, cell in parts(x) if kind == "cell"
    )
    assert equal(rebuild(new, identity, lambda cell: cell - 100), x)


@each_sample
def test_the_program_values_are_those_of_the_fields(x: Any) -> None:
    assert Counter(values_of(x)) == Counter(v for kind, v in parts(x) if kind == "value")
    assert values_of(x) == values_of(x)


@each_sample
def test_the_cells_are_those_of_the_fields_but_for_sources_and_versions(x: Any) -> None:
    expected = Counter(cell for kind, cell in parts(x) if kind == "cell")
    if isinstance(x, ErrorCell):
        expected = Counter()
    elif isinstance(x, Cell):
        expected -= Counter([s.cell for s in getattr(x, "aliases", ())])
    assert Counter(cells_of(x)) == expected


def test_the_order_of_values_and_cells_is_that_of_the_parts() -> None:
    a, b, c, d = [program() for _ in range(4)]
    assert values_of(Tuple((Array(a, Form.PYTHON), Array(b, Form.PYTHON)))) == [a, b]
    assert values_of(GatedNumber(a, Form.SCALAR, tags=(b, c), whole=d)) == [a, b, c, d]
    assert values_of(ArrayCell(a, b, (), c)) == [a, b, c]
    assert cells_of(ListCell((Ref(2), Tuple((Ref(1), Ref(2)))))) == [2, 1, 2]


def test_one_view_object_stays_one() -> None:
    view = row(1)
    apart = row(1)
    new = rebuild(Tuple((view, view, apart)), lambda v: program(v.type.dtype))
    first, second, third = new.items
    assert first.identity is second.identity is view.identity
    assert third.identity is apart.identity is not view.identity
    assert values_of(Tuple((view, view))) == 2 * values_of(view)


def test_a_rebuilt_pattern_has_no_sides() -> None:
    for x in samples():
        if isinstance(x, Gated):
            assert rebuild(x, identity).sides == ()


@pytest.mark.parametrize("kind", [ArrayCell, ListCell, DictCell, SetCell, ObjectCell])
def test_what_a_source_held_stays_what_it_was(kind: type) -> None:
    x: Any = next(x for x in samples() if type(x) is kind and x.aliases)  # type: ignore[attr-defined]
    new = rebuild(x, lambda v: program(v.type.dtype, *v.type.shape), lambda cell: cell + 100)
    assert [s.stamp for s in new.aliases] == [s.stamp for s in x.aliases]
    assert [s.cell for s in new.aliases] == [s.cell + 100 for s in x.aliases]


def test_the_paths_to_an_array() -> None:
    view = row(1)
    assert paths_to(Tuple((Ref(1), view, Ref(2))), 1) == {(), view.path}
    assert paths_to(view, 1) == {view.path}
    assert paths_to(Tuple((Ref(2),)), 1) == set()
