"""Methods and items of lists, dicts, sets, tuples, strings and ranges, against the plain ones."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
import pytest

from library.harness import Known, NeedsKnown, PlainContext, check
from pystage.compiler.library.python.containers import (
    attribute_of_container,
    container_delitem,
    container_getitem,
    container_setitem,
)
from pystage.compiler.values.lattice import Abstract


def method(name: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method call as (staged, plain), each giving the result; changes of the receiver are compared too."""

    def staged(ctx: PlainContext, receiver: Any, *lifted: Any) -> Abstract:
        bound = attribute_of_container(ctx, receiver, name)
        assert bound is not None
        return ctx.call(bound, lifted, {k: ctx.lift(v) for k, v in kwargs.items()})

    def plain(receiver: Any, *given: Any) -> Any:
        named = {k: v.value if isinstance(v, Known) else v for k, v in kwargs.items()}
        return getattr(receiver, name)(*given, **named)

    return staged, plain


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("append", (2.5,)),
        ("append", ([1],)),
        ("extend", ((1, 2.5),)),
        ("insert", (Known(1), 2.5)),
        ("pop", ()),
        ("pop", (Known(0),)),
        ("pop", (Known(9),)),
        ("remove", (Known(7),)),
        ("clear", ()),
        ("reverse", ()),
        ("copy", ()),
        ("index", (Known(7),)),
        ("index", (Known(70),)),
        ("count", (Known(7),)),
    ],
)
def test_list_methods(name: str, args: tuple[Any, ...]) -> None:
    known = name in ("remove", "index", "count")
    receiver: list[Any] = [Known(v) for v in (1, 7, 3)] if known else [1.5, [7], "a"]
    staged, plain = method(name, *args)
    if not known:
        check(staged, plain, receiver, *args)
        return

    def after(ctx: PlainContext, *given: Any) -> Any:
        made = ctx.lift(receiver)
        return ctx.call(ctx.lift(Known(tuple)), [ctx.lift([staged(ctx, made, *given), made])])

    def plain_after(*given: Any) -> Any:
        numbers = [1, 7, 3]
        return (plain(numbers, *given), numbers)

    check(after, plain_after, *args)


def test_list_methods_that_look_for_staged_values() -> None:
    check(*method("count", 7.0), [7.0, 2.0, 7.0], 7.0)


def test_sort() -> None:
    check(*method("sort"), [3.5, 1.5, 2.5])
    check(*method("sort", reverse=Known(True)), [3, 1, 2])
    check(*method("sort"), [2.5])


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("get", ("a",)),
        ("get", ("z",)),
        ("get", ("z", 7.5)),
        ("setdefault", ("z", 7.5)),
        ("setdefault", ("a", 7.5)),
        ("pop", ("a",)),
        ("pop", ("z",)),
        ("pop", ("z", 7.5)),
        ("popitem", ()),
        ("update", ({"b": 3, "c": 4.5},)),
        ("update", ([("c", 4.5)],)),
        ("clear", ()),
        ("copy", ()),
    ],
)
def test_dict_methods(name: str, args: tuple[Any, ...]) -> None:
    check(*method(name, *args), {"a": 1.5, "b": [2]}, *args)


@pytest.mark.parametrize("name", ["keys", "values", "items"])
def test_dict_views_follow_the_dict(name: str) -> None:
    def staged(ctx: PlainContext, d: Any) -> Any:
        bound = attribute_of_container(ctx, d, name)
        assert bound is not None
        view = ctx.call(bound, [])
        assert container_setitem(ctx, d, ctx.lift("c"), ctx.lift(4.5))
        return ctx.call(ctx.lift(Known(list)), [view])

    def plain(d: Any) -> Any:
        view = getattr(d, name)()
        d["c"] = 4.5
        return list(view)

    check(staged, plain, {"a": 1.5, "b": 2})


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("add", (Known(7),)),
        ("discard", (Known(2),)),
        ("remove", (Known(9),)),
        ("union", (Known((7, 8)),)),
        ("intersection", (Known((2, 8)),)),
        ("issubset", (Known((1, 2, 3)),)),
        ("update", (Known((7, 8)),)),
        ("clear", ()),
        ("copy", ()),
    ],
)
def test_set_methods(name: str, args: tuple[Any, ...]) -> None:
    check(*method(name, *args), {1, 2}, *args)


@pytest.mark.parametrize(
    ("receiver", "name", "args"),
    [
        ("a-b", "split", ("-",)),
        ("-", "join", (Known(("a", "b")),)),
        ("abc", "startswith", ("ab",)),
        ("{}-{x}", "format", (Known(2),)),
        ("Abc", "upper", ()),
        ("abc", "index", ("z",)),
        ((1, 2), "count", (Known(2),)),
        (b"ab", "hex", ()),
    ],
)
def test_methods_of_known_objects(receiver: Any, name: str, args: tuple[Any, ...]) -> None:
    options = {"x": Known(2.5)} if name == "format" else {}
    check(*method(name, *args, **options), receiver, *args)


class Pair(NamedTuple):
    first: float
    second: Any


def test_named_tuples() -> None:
    for name in ("first", "second", "_asdict"):
        called = name == "_asdict"

        def staged(ctx: PlainContext, p: Any, name: str = name, called: bool = called) -> Any:
            found = attribute_of_container(ctx, p, name)
            assert found is not None
            return ctx.call(found, []) if called else found

        def plain(p: Any, name: str = name, called: bool = called) -> Any:
            return getattr(p, name)() if called else getattr(p, name)

        check(staged, plain, Pair(1.5, [2]))
    check(*method("_replace", first=2.5), Pair(1.5, [2]))


GETTERS: list[tuple[Any, Any]] = [
    ([1.5, 2, 3.5], Known(1)),
    ([1.5, 2, 3.5], Known(-1)),
    ([1.5, 2, 3.5], Known(3)),
    ([1.5, 2, 3.5], Known(slice(1, None))),
    ((1.5, 2, 3.5), Known(slice(None, None, -1))),
    ((1.5, 2), Known(np.int64(1))),
    ((1.5, 2), Known(1.0)),
    ({"a": 1.5}, "a"),
    ({"a": 1.5}, "b"),
    ("abc", Known(1)),
    (Known(range(2, 9, 3)), Known(-1)),
    (Known(range(2, 9, 3)), Known(slice(1, None))),
    (Known(range(2, 9, 3)), Known(9)),
]


@pytest.mark.parametrize(("container", "index"), GETTERS)
def test_getitem(container: Any, index: Any) -> None:
    def staged(ctx: PlainContext, c: Any, i: Any) -> Abstract:
        found = container_getitem(ctx, c, i)
        assert found is not None
        return found

    check(staged, operator.getitem, container, index)


def test_an_index_must_be_known() -> None:
    with pytest.raises(NeedsKnown):
        check(lambda ctx, c, i: container_getitem(ctx, c, i), operator.getitem, [1.5, 2], 1)  # type: ignore[arg-type, return-value]


def test_an_item_of_a_staged_range() -> None:
    check(
        lambda ctx, a, b: container_getitem(
            ctx, ctx.call(ctx.lift(Known(range)), [a, b]), ctx.lift(Known(2))
        ),  # type: ignore[arg-type, return-value]
        lambda a, b: range(a, b)[2],
        3,
        9,
    )


@pytest.mark.parametrize(
    ("container", "index", "value"),
    [
        ([1.5, 2, 3.5], Known(1), 7.5),
        ([1.5, 2, 3.5], Known(-1), [1]),
        ([1.5, 2, 3.5], Known(5), 7.5),
        ([1.5, 2, 3.5], Known(slice(0, 2)), (9, 8, 7)),
        ([1.5, 2, 3.5], Known(slice(None, None, 2)), (9,)),
        ({"a": 1.5}, "a", 2.5),
        ({"a": 1.5}, "b", [2.5]),
    ],
)
def test_setitem(container: Any, index: Any, value: Any) -> None:
    def staged(ctx: PlainContext, c: Any, i: Any, v: Any) -> Any:
        assert container_setitem(ctx, c, i, v)
        return c

    def plain(c: Any, i: Any, v: Any) -> Any:
        c[i] = v
        return c

    check(staged, plain, container, index, value)


@pytest.mark.parametrize(
    ("container", "index"),
    [
        ([1.5, 2, 3.5], Known(1)),
        ([1.5, 2], Known(slice(0, 1))),
        ([1.5], Known(3)),
        ({"a": 1, "b": 2}, "a"),
        ({}, "a"),
    ],
)
def test_delitem(container: Any, index: Any) -> None:
    def staged(ctx: PlainContext, c: Any, i: Any) -> Any:
        assert container_delitem(ctx, c, i)
        return c

    def plain(c: Any, i: Any) -> Any:
        del c[i]
        return c

    check(staged, plain, container, index)


def test_what_is_no_container() -> None:
    ctx = PlainContext()
    assert container_getitem(ctx, ctx.lift(np.ones(2)), 0) is None
    assert not container_setitem(ctx, ctx.lift((1,)), 0, 1)
    assert attribute_of_container(ctx, ctx.lift(2.5), "append") is None
    assert attribute_of_container(ctx, ctx.lift([1]), "missing") is None
