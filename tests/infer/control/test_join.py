"""What the join of two values is, kind by kind: which absorb, which stay apart, and what is said of a conflict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pystage.compiler import limits
from pystage.compiler.diagnostics.codes_control import NeverSettles, NoCommonType
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hlo.types import BOOL, FLOAT32, FLOAT64, INT32, INT64
from pystage.compiler.infer.control.joined_objects import place
from pystage.compiler.infer.state.merged import stamp_versions
from pystage.compiler.infer.state.phi import Placeholder, placeholders_of
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.gated import Gated, GatedNumber, alternatives, assigned_alternatives, is_absent
from pystage.compiler.values.host_functions import joined
from pystage.compiler.values.lattice import (
    NONE,
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    DictCell,
    DictView,
    IteratorCell,
    ListCell,
    Range,
    Ref,
    Text,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
)
from pystage.compiler.values.views import Flipped, Window
from tests.values.samples import REASON, equal, label, number, program, samples

from .joins import HEAP, Joined

UNKNOWN = Unknown(REASON)
VALUES = [x for x in samples() if isinstance(x, Abstract)]
ASSIGNED = [
    x
    for x in VALUES
    if not isinstance(x, Unknown | Undef) and alternatives(x) == tuple(assigned_alternatives(x))
]


@pytest.mark.parametrize("x", VALUES, ids=label)
def test_what_cannot_be_staged_absorbs(x: Abstract) -> None:
    for a, b in ((UNKNOWN, x), (x, UNKNOWN)):
        assert isinstance(Joined(a, b).value, Unknown)
        assert Joined(a, b).value in (UNKNOWN, x)
        assert isinstance(Joined(Tuple((a,)), Tuple((b,))).value, Unknown)


@pytest.mark.parametrize("x", ASSIGNED, ids=label)
def test_what_one_side_does_not_assign_may_not_be_assigned(x: Abstract) -> None:
    options = (Undef(), *alternatives(x))
    maybe = Gated(options, tuple([program(BOOL) for _ in options[1:]]), getattr(x, "reason", None))
    for a, b in ((Undef(), x), (x, Undef()), (maybe, Undef()), (Undef(), maybe), (maybe, x)):
        for loop in (False, True):
            j = Joined(a, b, loop=loop)
            assert isinstance(j.value, Gated) and all(isinstance(tag, Placeholder) for tag in j.value.tags)
            first, *others = j.value.options
            assert isinstance(first, Undef) and list(map(type, others)) == list(map(type, alternatives(x)))
    assert isinstance(Joined(Undef(), Undef()).value, Undef)
    place = Span("f.py", 1, 0, 1, 1)
    assert Joined(Undef(), Undef(place)).value.span is place


@pytest.mark.parametrize("x", ASSIGNED, ids=label)
def test_none_on_one_side_is_an_alternative(x: Abstract) -> None:
    none = Const(None)
    for a, b in ((none, x), (x, none)):
        j = Joined(a, b)
        assert isinstance(j.value, Gated) and isinstance(j.value.tags[0], Placeholder) and j.state.gated
        assert isinstance(j.value.reason, NoCommonType)
        present = [each for each in alternatives(x) if not is_absent(each)]
        assert j.value.options[0] is NONE
        assert list(map(type, j.value.options[1:])) == list(map(type, present))
    assert isinstance(Joined(none, Const(None)).value, Const)


def test_a_variable_that_is_not_there_is_not_assigned() -> None:
    j = Joined(number(), number(), {(1, "y"): Const(1)})
    assert isinstance(j.join.entries[(1, "y")][0].options[0], Undef)  # type: ignore[union-attr]


def test_numbers_of_one_type_are_one_number() -> None:
    known = Joined(Const(1), Const(2)).value
    assert type(known) is Array and isinstance(known.value, Placeholder)
    assert (known.dtype, known.form, known.range) == (INT64, Form.PYTHON, (1, 2))
    value = program(INT64)
    same = Joined(Array(value, Form.JAX, True, (0, 3)), Array(value, Form.JAX, False, (1, 9))).value
    assert (same.value, same.weak, same.range) == (value, False, (0, 9))
    assert not Joined(Array(value, Form.JAX), Array(value, Form.JAX, True)).value.weak
    shapes = Joined(number(FLOAT64, Form.JAX, 3), number(FLOAT64, Form.JAX, 3)).value
    assert shapes.shape == (3,) and isinstance(shapes.value, Placeholder)


@pytest.mark.parametrize(
    ("a", "b", "dtype", "whole"),
    [
        (Const(1), Const(1.0), FLOAT64, False),
        (Const(1), Const(True), INT64, False),
        (number(INT64), number(FLOAT64), FLOAT64, True),
        (number(INT32), number(FLOAT64), FLOAT64, False),
        (number(FLOAT32, Form.SCALAR), number(FLOAT64), FLOAT64, False),
        (Const(1), Const(np.int64(1)), INT64, False),
    ],
)
def test_numbers_of_two_types_keep_both(a: Abstract, b: Abstract, dtype: Any, whole: bool) -> None:
    for first, second in ((a, b), (b, a)):
        j = Joined(first, second)
        assert type(j.value) is GatedNumber and j.value.dtype == dtype and j.state.gated
        assert len(j.value.kinds) == 2 == 1 + len(j.value.tags) and (j.value.whole is not None) == whole
        assert type(Joined(j.value, first).value) is GatedNumber
        assert Joined(j.value, first).value.kinds == j.value.kinds


def test_structures_are_joined_part_by_part() -> None:
    shared = number()
    a, b = Tuple((shared, Const(1))), Tuple((shared, Const(2)))
    j = Joined(a, b)
    assert j.value.items[0] is shared and len(placeholders_of(j.value)) == 1
    assert equal(Joined(a, Tuple((shared, Const(1)))).value, a)
    assert isinstance(Joined(a, Tuple(a.items, type("Pair", (tuple,), {}))).value, Gated)
    r = Joined(Range(Const(0), Const(3), Const(1)), Range(Const(0), number(INT64), Const(1))).value
    assert isinstance(r, Range) and r.start.value == 0 and isinstance(r.stop, Array)
    text = Joined(Text(joined, (number(),)), Text(joined, (number(),))).value
    assert type(text) is Text and len(placeholders_of(text)) == 1


def test_strings_are_alternatives() -> None:
    value: Any = Const("0")
    for n in range(1, limits.GATED_STRINGS):
        value = Joined(value, Const(str(n))).value
        assert isinstance(value, Gated) and len(value.options) == n + 1
    assert isinstance(Joined(value, Const("more")).value, Unknown)


def test_what_has_no_common_meaning_is_one_or_the_other() -> None:
    a, b = number(), Ref(4)
    j = Joined(a, b)
    first, second = alternatives(j.value)
    assert isinstance(j.value, Gated) and isinstance(first, Array) and second is not None
    assert isinstance(j.value.tags[0], Placeholder) and [side for side, _ in j.value.sides] == [a, b]
    assert "a Python float" in j.value.reason.headline and "a list" in j.value.reason.headline
    third = Joined(j.value, Tuple((number(),)))
    assert len(alternatives(third.value)) == 3
    assert len(alternatives(Joined(j.value, number()).value)) == 2


def test_too_many_alternatives_are_no_value() -> None:
    value: Abstract = Const(len)
    for n in range(1, limits.GATED_ALTERNATIVES + 1):
        j = Joined(value, Tuple((number(),) * n))
        assert isinstance(j.value, Gated if n < limits.GATED_ALTERNATIVES else Unknown)
        value = j.value
    assert j.join.conflicts.found == [value]


def test_in_a_loop_what_has_no_common_meaning_never_settles() -> None:
    j = Joined(number(), Const("a"), loop=True)
    assert isinstance(j.value, Unknown) and isinstance(j.value.reason, NeverSettles)
    assert j.join.conflicts.found == [j.value] and not j.join.grows


# -- cells

RANGE = Range(Const(0), Const(1), Const(1))
"""What lists of rows do not hold."""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (ListCell((Const(1),)), ListCell((Const(1), RANGE)), ("a list of length 1", "a list of length 2")),
        (
            DictCell({"a": Const(1), "b": RANGE}),
            DictCell({"a": Const(1)}),
            ("a dict with the keys ['a', 'b']", "a dict with the keys ['a']"),
        ),
    ],
)
@pytest.mark.parametrize("loop", [False, True])
def test_containers_of_two_lengths_conflict_and_say_so(
    old: Cell, new: Cell, words: tuple[str, str], loop: bool
) -> None:
    j = Joined(Ref(4), Ref(4), {4: old}, {4: new}, loop)
    found = j.content(4)
    assert isinstance(found, Unknown) and j.join.conflicts.found == [found] and j.join.grows == loop
    assert (found.reason.first, found.reason.second) == words  # type: ignore[attr-defined]
    assert type(found.reason) is (NeverSettles if loop else NoCommonType)


def test_the_contents_of_cells_are_joined() -> None:
    x, y = number(), number()
    for old, new, kind in [
        (ListCell((x, Const(1))), ListCell((x, Const(2))), ListCell),
        (DictCell({1: x, 2: x}), DictCell({1: x, 2: y}), DictCell),
        (VariableCell(x), VariableCell(y), VariableCell),
        (IteratorCell(x, 1), IteratorCell(y, 1), IteratorCell),
        (ArrayCell(program(FLOAT64, 3)), ArrayCell(program(FLOAT64, 3)), ArrayCell),
    ]:
        j = Joined(Ref(4), Ref(4), {4: old}, {4: new})
        assert (
            type(j.content(4)) is kind
            and len(placeholders_of(j.content(4))) == 1
            and not j.join.conflicts.found
        )
    for old, new in [
        (IteratorCell(x, 1), IteratorCell(x, 2)),
        (IteratorCell(x), IteratorCell()),
        (DictCell({"a": x, "b": RANGE}), DictCell({"b": RANGE, "a": x})),
        (ListCell(()), DictCell({})),
    ]:
        assert isinstance(Joined(Ref(4), Ref(4), {4: old}, {4: new}).content(4), Unknown)


def test_two_objects_become_a_merged_cell_that_knows_which_it_is() -> None:
    j = Joined(Ref(1), Ref(2))
    cell = j.value.cell
    assert (
        cell not in HEAP
        and cell in j.state.merged
        and j.join.objects.merged == {(place(Ref(1)), place(Ref(2))): cell}
    )
    assert {s.cell for s in j.content(cell).aliases} == {1, 2} and isinstance(
        j.content(cell).selector, Placeholder
    )
    assert (
        Joined(Tuple((Ref(1), Ref(1))), Tuple((Ref(2), Ref(2)))).join.objects.merged.keys()
        == j.join.objects.merged.keys()
    )
    for slot, (template, _, _) in j.join.entries.items():
        j.state.set(slot, template)
    stamp_versions(j.state, j.join.entries)
    known = [s.stamp for s in j.state.slots[cell].aliases]  # type: ignore[union-attr]
    assert known == [HEAP[1], HEAP[2]]
    assert isinstance(Joined(Ref(1), Ref(3)).value, Gated)  # of another type


def test_views_that_differ_in_where_they_begin_are_one_view() -> None:
    first, second = [Ref(3, (Window((i, 0), (1, 3)),)) for i in (0, 1)]
    j = Joined(first, second)
    assert j.value.cell == 3 and [h.type.dtype for h in placeholders_of(j.value)] == [INT64]
    again = Joined(first, Ref(3, first.path)).value
    assert (again.cell, again.path) == (3, first.path) and again is not first  # two views are two objects
    assert Joined(first, first).value is first
    assert Joined(Ref(3, (Flipped((0,)),)), Ref(3)).value.cell != 3
    view = Joined(DictView("keys", 7), DictView("keys", 8)).value
    assert isinstance(view, DictView) and {s.cell for s in Joined(Ref(7), Ref(8)).content(9).aliases} == {
        7,
        8,
    }


def test_objects_made_on_the_two_sides_are_one_object_after_it() -> None:
    j = Joined(Ref(50), Ref(60), {50: ListCell((Const(1),))}, {60: ListCell((Const(2),))})
    content = j.content(j.value.cell)
    assert content.aliases == () and content.selector == 0 and len(placeholders_of(content)) == 1
