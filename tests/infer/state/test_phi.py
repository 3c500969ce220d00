"""Templates: filled with the values that they were made of, they are what they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.types import BOOL, FLOAT64, INT32, INT64, ArrayType
from pystage.compiler.infer.control.join import Join, Merge
from pystage.compiler.infer.state.phi import (
    Placeholder,
    joined_path,
    outline,
    phi_operands,
    placeholder_for,
    placeholders_of,
)
from pystage.compiler.infer.state.structural_equality import same_template
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.gated import Gated, GatedNumber
from pystage.compiler.values.host_functions import joined
from pystage.compiler.values.lattice import (
    NONE,
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    ErrorCell,
    ListCell,
    NumberKind,
    Ref,
    Text,
    Tuple,
    Undef,
)
from pystage.compiler.values.state import MISSING, Content, State
from pystage.compiler.values.views import Permuted, Window
from pystage.compiler.values.walk import rebuild, values_of
from tests.values.samples import REASON, equal, label, merged, number, program, row, samples

ROUND = [x for x in samples() if not getattr(x, "versions", ())]
"""What is a template of its own: versions of what has changed, a join makes apart."""


def builder() -> Builder:
    return Builder(Region())


def filled(b: Builder, template: Content, content: Content) -> list[Value]:
    """The values for the placeholders, of which there must be as many, of the types of the placeholders."""
    into: list[Value] = []
    phi_operands(b, template, content, into)
    assert [v.type for v in into] == [h.type for h in placeholders_of(template)]
    return into


def put(template: Content, values: list[Value]) -> Any:
    """The template with these values in its placeholders."""
    by_placeholder: dict[Value, Value] = dict(zip(placeholders_of(template), values, strict=True))
    return rebuild(template, lambda v: by_placeholder.get(v, v))


def evaluated(
    b: Builder, values: list[Value], given: Mapping[Value, Any] = MappingProxyType({})
) -> list[Any]:
    """What the program that has been built gives for these values, where those of `given` are as they say."""
    body = Region()
    known = {v: body.add_param(v.type) for v in given}

    def own(v: Value) -> Value:
        return known.get(v, v)

    for op in b.open[-1][0].ops:
        op.operands = tuple(map(own, op.operands))
        body.ops.append(op)
    body.results = tuple(map(own, values))
    results = interpret(Function("f", body), [np.asarray(g, v.type.dtype) for v, g in given.items()])
    return [r.tolist() for r in results]


@pytest.mark.parametrize("x", ROUND, ids=label)
def test_a_pattern_is_made_of_holes(x: Abstract | Cell) -> None:
    template = rebuild(x, placeholder_for)
    assert [v.type for v in placeholders_of(template)] == [v.type for v in values_of(x)]
    assert len(placeholders_of(template)) == len(values_of(template))
    assert same_template(template, rebuild(x, placeholder_for))


@pytest.mark.parametrize("x", ROUND, ids=label)
def test_filled_with_its_own_values_a_pattern_is_what_it_was_made_of(x: Abstract | Cell) -> None:
    b, template = builder(), rebuild(x, placeholder_for)
    values = filled(b, template, x)
    assert values == values_of(x)
    assert equal(put(template, values), x)
    assert not b.open[-1][0].ops


@pytest.mark.parametrize("alternative", [NONE, number(), Tuple((number(),)), Undef()], ids=label)
def test_the_tags_say_which_alternative_a_side_has(alternative: Abstract) -> None:
    options = (Undef(), NONE, number(), Tuple((number(),)))
    template = rebuild(Gated(options, tuple([program(BOOL) for _ in range(3)]), REASON), placeholder_for)
    b = builder()
    *_, undefined, none, of_number = filled(b, template, alternative)
    kinds = [type(x) for x in options[:-1]]
    expected = [type(alternative) is kind for kind in kinds]
    assert evaluated(b, [undefined, none, of_number]) == expected


@pytest.mark.parametrize(("tags", "found"), [((0, 1), False), ((1, 0), False), ((0, 0), True)])
def test_the_tags_of_fewer_alternatives_in_another_order_are_handed_on(tags: Any, found: bool) -> None:
    options = Undef(), NONE, number(), Ref(1)
    template = rebuild(Gated(options, tuple([program(BOOL) for _ in range(3)]), REASON), placeholder_for)
    x = Gated((NONE, Ref(1), number()), (program(BOOL), program(BOOL)), REASON)
    b = builder()
    value, undefined, none, of_number = filled(b, template, x)
    assert value is values_of(x)[0] and none is x.tags[0]
    assert evaluated(b, [undefined, of_number], dict(zip(x.tags, tags))) == [False, found]


@pytest.mark.parametrize("x", ROUND, ids=label)
@pytest.mark.parametrize("nothing", [MISSING, Undef()], ids=["missing", "undefined"])
def test_where_there_is_nothing_zeros_fill_the_holes(x: Abstract | Cell, nothing: Any) -> None:
    b, template = builder(), rebuild(x, placeholder_for)
    values = filled(b, template, nothing)
    zeros = evaluated(b, values)
    unassigned = isinstance(template, Gated) and isinstance(template.options[0], Undef)
    own = [i for i, h in enumerate(placeholders_of(template)) if unassigned and h is template.tags[0]]  # type: ignore[union-attr]
    for i, (found, value) in enumerate(zip(zeros, values)):
        assert np.all(np.asarray(found) == (i in own)) and np.shape(found) == value.type.shape


def test_a_pattern_without_holes_takes_nothing() -> None:
    b, x = builder(), Tuple((number(), row(1)))
    assert filled(b, x, Tuple((number(), row(1)))) == []


def test_constants_are_converted_to_the_type_of_the_hole() -> None:
    b = builder()
    template = Array(Placeholder(ArrayType(FLOAT64)), Form.PYTHON)
    n = number(INT64)
    values = filled(b, template, Const(3)) + filled(b, template, n)
    assert evaluated(b, values, {n.value: 5}) == [3.0, 5.0]


def test_where_a_view_begins_is_filled() -> None:
    b, start = builder(), program(INT64)
    paths = [(Permuted((1, 0)), Window((s, 0), (1, 3))) for s in (start, 2)]
    path = joined_path(*paths)
    assert path is not None and outline(Ref(1, path)) == outline(Ref(1, paths[0]))
    assert filled(b, Ref(1, path), Ref(1, paths[0])) == [start]
    assert evaluated(b, filled(b, Ref(1, path), Ref(1, paths[1]))) == [2]
    assert joined_path(paths[0], paths[0][:1]) is None
    assert joined_path(paths[0], (Permuted((0, 1)), paths[0][1])) is None


def test_a_source_that_a_side_does_not_have_begins_anywhere() -> None:
    x = ArrayCell(program(FLOAT64, 1, 3), True, merged(3, views=True), program(INT32))
    b, template = builder(), rebuild(x, placeholder_for)
    own = ArrayCell(program(FLOAT64, 1, 3))
    value, start, selector = filled(b, template, own)
    assert value is own.value and evaluated(b, [start, selector]) == [0, 0]


def test_what_is_none_or_not_assigned_says_so() -> None:
    value = Array(Placeholder(ArrayType(FLOAT64)), Form.PYTHON)
    optional = Gated((NONE, value), (Placeholder(ArrayType(BOOL)),), REASON)
    maybe = Gated((Undef(), value), (Placeholder(ArrayType(BOOL)),))
    b = builder()
    values = [
        v
        for template, content in [
            (optional, Const(None)),
            (optional, Const(2.0)),
            (maybe, Undef()),
            (maybe, Const(2.0)),
        ]
        for v in filled(b, template, content)
    ]
    assert evaluated(b, values) == [0.0, True, 2.0, False, 0.0, True, 2.0, False]


def test_a_number_of_several_kinds_is_told_apart() -> None:
    kinds = NumberKind(INT64, Form.PYTHON), NumberKind(FLOAT64, Form.PYTHON)
    placeholder, tag, whole = (
        Placeholder(ArrayType(FLOAT64)),
        Placeholder(ArrayType(BOOL)),
        Placeholder(ArrayType(INT64)),
    )
    template = GatedNumber(placeholder, Form.PYTHON, kinds=kinds, tags=(tag,), whole=whole)
    b = builder()
    assert evaluated(b, filled(b, template, Const(3)) + filled(b, template, Const(2.5))) == [
        *[3.0, True, 3],
        *[2.5, False, 0],
    ]


def test_strings_are_alternatives() -> None:
    text = Text(joined, (Const("a"), number(INT64)))
    join = Join(State(), Merge())
    template = join.join(text, Const("b"))
    assert isinstance(template, Gated)
    b = builder()
    value, tag = filled(b, template, text)
    assert value is values_of(text)[0] and evaluated(b, [tag]) == [True]
    b = builder()
    assert evaluated(b, filled(b, template, Const("b"))) == [0, False]


def test_the_code_and_the_payload_of_a_raise_are_filled() -> None:
    key, other = (ArrayType(INT64), 0), (ArrayType(FLOAT64), 0)
    template = ErrorCell(
        Placeholder(ArrayType(INT32)), {key: Placeholder(key[0]), other: Placeholder(other[0])}
    )
    value, b = program(INT64), builder()
    code, first, second = filled(b, template, ErrorCell(3, {key: value}))
    assert first is value and evaluated(b, [code, second]) == [3, 0.0]


def test_patterns_are_the_same_by_the_types_of_their_holes() -> None:
    def placeholder(*shape: int) -> ListCell:
        return ListCell((Array(Placeholder(ArrayType(FLOAT64, shape)), Form.JAX),))

    assert same_template(placeholder(2), placeholder(2)) and not same_template(placeholder(2), placeholder(3))
    known = ListCell((number(FLOAT64, Form.JAX),))
    assert not same_template(placeholder(), known) and not same_template(known, placeholder())
    assert not same_template(placeholder(), ListCell(()))
