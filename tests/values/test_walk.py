"""The children of nodes: each class of abstract values, cells and templates gives them and is made anew of others."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from pystage.compiler.hlo.immutable import immutable
from pystage.compiler.hlo.ir import Value
from pystage.compiler.hlo.types import BOOL, FLOAT64, INT64
from pystage.compiler.values import boundary
from pystage.compiler.values.boundary import (
    AbsentTemplate,
    Box,
    CallableMember,
    CallTemplate,
    ChoiceTemplate,
    ConstantTemplate,
    ContainerTemplate,
    Form,
    GeneratorTemplate,
    MemberTemplate,
    OutputTemplate,
    Path,
    PathTemplate,
    PoolTemplate,
    RowsTemplate,
)
from pystage.compiler.values.bounded import Extent
from pystage.compiler.values.lattice import (
    Abstract,
    Alias,
    ArrayCell,
    Const,
    DictCell,
    ErrorCell,
    ListCell,
    Partial,
    Ref,
    Tuple,
    Version,
)
from pystage.compiler.values.memory import record_class
from pystage.compiler.values.node import NOTE, TreeNode
from pystage.compiler.values.views import View, Window, entire
from pystage.compiler.values.walk import (
    LAYOUTS,
    cells_of,
    children,
    counterparts,
    head,
    map_children,
    nodes,
    with_children,
)

from .samples import label, merged, number, parts, program, row, samples


def templates() -> list[TreeNode]:
    """A sample of each class of templates, and of what is in them."""
    first, second = OutputTemplate(0, Form.NDARRAY), OutputTemplate(1, Form.PYTHON, int)
    pool = PoolTemplate(first, (second, 1), (ConstantTemplate(1), first), 6)
    return [
        first,
        ConstantTemplate(1),
        PathTemplate(Path(CallableMember(1, "x"))),
        ContainerTemplate(dict, ("a", "b"), (first, ConstantTemplate(2)), 3),
        RowsTemplate(ContainerTemplate(tuple, (0, 1), (first, ConstantTemplate(2)), 3), second, 4),
        RowsTemplate(first, 2, 5),
        pool,
        MemberTemplate(pool, second),
        boundary.ViewTemplate(first, (Box((second, 0), (1, 2)), entire((2,))), 4),
        Box((second, 0), (1, 2)),
        boundary.Cut(0, first, 2, second),
        boundary.Subscript("x"),
        boundary.RecordsTemplate(record_class(np.dtype([("x", "f8")])), (first,), 7),
        ChoiceTemplate(second, (first, ConstantTemplate(None))),
        ChoiceTemplate(second, (first, AbsentTemplate())),
        AbsentTemplate(),
        ChoiceTemplate(second, (first, ConstantTemplate(None)), second),
        CallTemplate(str, (first,), (("a", ConstantTemplate(2)),), 5),
        GeneratorTemplate(second),
    ]


def inner() -> list[TreeNode]:
    """Samples of what stands between abstract values and program values."""
    return [
        *merged(3, views=True),
        Version(9, program(), ListCell((number(),))),
        Version((1, "x"), program(), row(2)),
        *row(2).path,
        Extent(0, program(BOOL, 4)),
    ]


def every() -> list[TreeNode]:
    """All samples."""
    return [*samples(), *templates(), *inner()]


each = pytest.mark.parametrize("x", every(), ids=label)


def kinds(cls: type) -> set[str]:
    """The names of the dataclasses of the compiler below a class."""
    found = set()
    for below in cls.__subclasses__():
        found |= kinds(below)
        if below.__module__.startswith("pystage.") and "__dataclass_fields__" in vars(below):
            found.add(f"{below.__module__}.{below.__name__}")
    return found


def test_every_class_of_nodes_has_a_sample_or_is_a_view() -> None:
    assert kinds(TreeNode) - kinds(View) - {"pystage.compiler.values.views.View"} <= {
        f"{type(x).__module__}.{type(x).__name__}" for x in every()
    }


def test_the_children_of_every_class_are_known() -> None:
    pending: list[type] = [TreeNode]
    for cls in pending:
        pending += cls.__subclasses__()
        if cls.__module__.startswith("pystage.") and not cls.__subclasses__():
            assert "__dataclass_fields__" in vars(cls), cls
            noted = [f for f in fields(cls) if "note" in f.metadata]
            layout = LAYOUTS[cls]
            text = "".join([str(f.type) for f in fields(cls) if f not in noted])
            assert layout.parts or not re.search(
                r"Abstract\b(?!])|Template|Output|Value\b|CellNumber", text
            ), cls


def test_children_in_a_form_that_is_not_known_are_refused() -> None:
    @immutable
    class Deep(Abstract):
        items: tuple[tuple[tuple[str, Abstract], ...], ...]

    @immutable
    class Listed(Abstract):
        items: list[Abstract]

    for cls in (Deep, Listed):
        with pytest.raises(TypeError, match="not known"):
            LAYOUTS[cls]


@each
def test_the_same_children_give_the_same_node(x: Any) -> None:
    assert with_children(x, children(x)) is x
    assert map_children(x, lambda child: child) is x


@each
def test_the_children_are_put_in_their_places(x: Any) -> None:
    stand_ins = [_other(child) for child in children(x)]
    made = with_children(x, stand_ins)
    assert type(made) is type(x)
    assert list(children(made)) == stand_ins
    assert head(made) == head(x)
    back = with_children(made, children(x))
    assert head(back) == head(x)
    assert list(map(id, children(back))) == list(map(id, children(x)))


def _other(child: Any) -> Any:
    if isinstance(child, Value):
        return Value(child.type, child.owner, child.index)
    if isinstance(child, TreeNode):
        return Const(1) if isinstance(child, Abstract) else ConstantTemplate(1)
    return child + 1000


@each
def test_too_few_and_too_many_children_are_refused(x: Any) -> None:
    with pytest.raises(ValueError, match="children"):
        with_children(x, [*children(x), Const(1)])
    if children(x):
        with pytest.raises(ValueError, match="children"):
            with_children(x, children(x)[1:])


@each
def test_what_changes_nothing_in_place_changes_nothing(x: Any) -> None:
    before = list(children(x))
    map_children(x, _other)
    assert list(children(x)) == before


@pytest.mark.parametrize("x", samples(), ids=label)
def test_all_that_is_inside_is_what_the_fields_hold(x: Any) -> None:
    found = [child for node in nodes(x) for child in children(node)]
    fields = [v for kind, v in parts(x) if kind != "view"]
    assert sorted(map(id, [c for c in found if isinstance(c, Value)])) == sorted(
        map(id, [v for v in fields if isinstance(v, Value)])
    )
    assert sorted([c for c in found if isinstance(c, int)]) == sorted(
        [v for v in fields if isinstance(v, int)]
    )


def test_children_stand_in_the_order_of_the_fields() -> None:
    a, b, c = number(), number(INT64), program(INT64)
    assert list(children(Partial(a, (b,), (("n", a),)))) == [a, b, a]
    assert list(children(Ref(3, (Window((c, 0), (1, 1)),)))) == [3, Window((c, 0), (1, 1))]
    assert list(children(DictCell({"a": a, 1: b}))) == [a, b]
    x = ArrayCell(program(), True, merged(2), c)
    assert list(children(x)) == [x.value, *x.aliases, c]


def test_heads_tell_data_keys_and_counts_apart() -> None:
    a, b = number(), number()
    assert head(Tuple((a,))) == head(Tuple((b,)))
    assert head(Tuple((a,))) != head(Tuple((a, b)))
    assert head(Partial(a, (), (("n", a),))) == head(Partial(b, (), (("n", b),)))
    assert head(Partial(a, (), (("n", a),))) != head(Partial(a, (), (("m", a),)))
    assert head(DictCell({"a": a})) != head(DictCell({"b": a}))
    assert head(ArrayCell(program(), selector=1)) != head(ArrayCell(program(), selector=2))
    assert head(ArrayCell(program(), selector=1)) != head(ArrayCell(program(), selector=program(INT64)))
    assert head(Window((0, program()), (1, 1))) != head(Window((1, program()), (1, 1)))


def test_notes_are_no_part_of_a_node() -> None:
    noted = [f"{type(x).__name__}.{f.name}" for x in samples() for f in fields(x) if f.metadata == NOTE]  # type: ignore[arg-type]
    objects = {f"{of}.objects" for of in ("ArrayCell", "Bounded", "Vector")}
    assert set(noted) == {
        *objects,
        "Gated.reason",
        "Gated.sides",
        "Ref.identity",
        "Undef.span",
        "Unknown.reason",
    }
    source = Alias(Ref(1), ListCell((Ref(2),)))
    assert list(nodes(source)) == [source, source.ref]


def test_sources_and_versions_are_named_but_not_referred_to() -> None:
    assert cells_of(ListCell((Ref(5),), merged(3))) == [5]
    assert cells_of(ErrorCell(versions=(Version(9, program(), Ref(2)),))) == []


def test_counterparts_are_what_the_other_has_in_the_same_places() -> None:
    hole, other = program(INT64), program(FLOAT64)
    assert counterparts(ArrayCell(other, selector=hole), ArrayCell(other, selector=2)) == [other, 2]
    assert counterparts(Window((3, hole), (1, 1)), Window((3, 7), (1, 1))) == [7]
    x = ErrorCell(hole, {("a", 0): other, ("b", 0): other})  # type: ignore[dict-item]
    assert counterparts(x, ErrorCell(0, {("b", 0): hole})) == [0, None, hole]  # type: ignore[dict-item]


def test_all_nodes_of_a_template() -> None:
    result = OutputTemplate(0, Form.JAX)
    template = ContainerTemplate(tuple, (0,), (ChoiceTemplate(result, (ConstantTemplate(1), result)),), 1)
    found = [ContainerTemplate, ChoiceTemplate, OutputTemplate, ConstantTemplate, OutputTemplate]
    assert [type(n) for n in nodes(template)] == found
