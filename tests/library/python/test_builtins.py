"""Builtins on staged values, against the plain calls."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import operator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, check, check_call, refused
from pystage.compiler.library.registry import meaning_of
from pystage.compiler.values.lattice import Array, Const, Enumerate, Meaning, Range, Zip

NUMBERS: list[Any] = [
    True,
    -7,
    2.5,
    -2.5,
    1 - 2j,
    np.float32(-1.5),
    np.int8(-3),
    np.bool_(True),
    np.complex64(3 + 4j),
]
ARRAYS: list[Any] = [np.array([-1, 2], np.int8), np.array([-1.5, 2.5]), np.array([True, False])]


def seen_through(function: Any) -> Any:
    """A call whose lazy result is listed."""
    return lambda ctx, *args, **kwargs: ctx.call(Const(list), [ctx.call(Const(function), args, kwargs)])


@pytest.mark.parametrize("function", [abs, int, float, bool, complex, round], ids=lambda f: f.__name__)
def test_of_one_number(function: Any) -> None:
    for x in NUMBERS:
        if function in (int, float) and isinstance(x, np.complexfloating):
            continue  # NumPy warns and drops the imaginary part
        check_call(function, x)
        check_call(function, Known(x))
    for x in (jnp.asarray(2.5), jnp.asarray(-3), np.array(2.5), np.array(3)):
        check_call(function, x)


def test_of_arrays() -> None:
    for x in ARRAYS:
        check_call(abs, x)
        check_call(abs, jnp.asarray(x))
        check_call(float, x)
        check_call(len, x)
    check_call(len, 2.5)
    check_call(len, np.float32(1))
    check_call(float, jnp.ones(2))


@pytest.mark.parametrize("digits", [0, 1, -1])
def test_round_to_digits(digits: int) -> None:
    for x in (2.5, 3.5, 12.34, 25, np.float32(12.25), np.int32(15), jnp.asarray(12.25)):
        check_call(round, x, Known(digits))


def test_numbers_in_range() -> None:
    ctx = PlainContext()
    i = ctx.lift(3)
    assert isinstance(i, Array)
    bounded = dataclasses.replace(i, range=(-2, 5))
    result = ctx.call(Const(abs), [bounded])
    assert isinstance(result, Array)
    assert result.range == (0, 5)
    result = ctx.call(Const(max), [bounded, Const(0)])
    assert isinstance(result, Array)
    assert result.range == (0, 5)
    result = ctx.call(Const(min), [bounded, Const(3)])
    assert isinstance(result, Array)
    assert result.range == (-2, 3)


@pytest.mark.parametrize("function", [min, max])
def test_extremes(function: Any) -> None:
    check_call(function, 3, -7)
    check_call(function, 3, -7, 5)
    check_call(function, [2.5, -1.5, 0.5])
    check_call(function, (np.float32(2.5), np.float32(3)))
    check_call(function, np.array([3, 1, 2]))
    check_call(function, jnp.asarray([3, 1, 2]))
    check_call(function, np.array([3.5, 1, 2]))
    check_call(function, Known(1), Known(2.5))
    check_call(function, [], default=2.5)
    check_call(function, ())


def test_extremes_by_a_key() -> None:
    check(
        lambda ctx, *x: ctx.call(Const(max), x, {"key": Const(abs)}),
        lambda *x: max(*x, key=abs),
        2.0,
        -3.0,
    )


def test_sum() -> None:
    check_call(sum, (1, 2.5, 3))
    check_call(sum, [np.float32(1), 2])
    check_call(sum, [], 2.5)
    check_call(sum, [[1], [2]], [])
    for dtype in ("int8", "float32", "float64", "bool"):
        check_call(sum, np.array([1, 0, 1], dtype))
    check_call(sum, np.arange(6.0).reshape(2, 3))
    check_call(sum, np.ones((0,)))
    check_call(sum, jnp.asarray([1.5, 2.5]))


def test_pow_and_divmod() -> None:
    check_call(pow, 2.5, 2.0)
    check_call(pow, Known(3), Known(4), Known(5))
    for x, y in (
        (7, 2),
        (-7, 2),
        (7.5, -2),
        (np.float32(7), 2),
        (np.array([7, 8]), 3),
        (jnp.asarray([7, 8]), 3),
    ):
        check_call(divmod, x, y)


@pytest.mark.parametrize("function", [any, all])
def test_quantifiers(function: Any) -> None:
    for items in ((1, 0, 2), (), (0, 0.0), (1, 2.5), [np.bool_(True), 0], (Known(0), 2), (Known(1), 2)):
        plain = [i.value if isinstance(i, Known) else i for i in items]
        check(lambda ctx, x: ctx.call(Const(function), [x]), lambda _, p=plain: function(p), items)
    check_call(function, np.array([True, False]))
    check_call(function, jnp.asarray([1.5, 2.5]))


def test_kinds_of_objects() -> None:
    for x in [*NUMBERS, *ARRAYS, [1], (1, 2), {"a": 1}, {1}, "a", None]:
        check_call(type, x)
        for cls in (int, float, complex, bool, np.ndarray, np.floating, np.generic, list, tuple, (dict, str)):
            check_call(isinstance, x, Known(cls))
        check_call(callable, x)
        check_call(hasattr, x, "shape")
        check_call(hasattr, x, "append")
    check_call(isinstance, jnp.ones(2), Known(np.ndarray))
    check_call(issubclass, Known(bool), Known(int))
    check_call(getattr, (1, 2), "missing", 2.5)


# ---------------------------------------------------------------- iterables


def test_lazy_iterables_stay_lazy() -> None:
    ctx = PlainContext()
    n = ctx.lift(5)
    made = ctx.call(Const(range), [n])
    assert isinstance(made, Range)
    assert isinstance(ctx.call(Const(enumerate), [made]), Enumerate)
    assert isinstance(ctx.call(Const(zip), [made, made]), Zip)
    length = ctx.call(Const(len), [made])
    assert isinstance(length, Array)
    assert length.range[0] == 0


def test_ranges() -> None:
    check_call(range, 5)
    check_call(range, 2, 9, 3)
    check_call(range, Known(2), 9)
    check_call(range, np.int32(4))
    check_call(range, 2.5)
    check_call(range, 1, 2, Known(0))
    for args in ((5,), (0,), (2, 9, Known(3)), (9, 2, Known(-2)), (4, 2)):
        plain = [a.value if isinstance(a, Known) else a for a in args]
        check(
            lambda ctx, *a: ctx.call(Const(len), [ctx.call(Const(range), a)]),
            lambda *_, p=plain: len(range(*p)),
            *args,
        )


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (enumerate, ([1.5, 2.5],)),
        (enumerate, ([1.5, 2.5], Known(3))),
        (zip, ([1, 2], (3.5, 4.5))),
        (reversed, ([1, 2.5],)),
        (range, (Known(4),)),
        (list, ((1, 2.5),)),
        (list, ("abc",)),
        (list, ({"a": 1, "b": 2.5},)),
        (map, (Known(abs), [-1, 2.5])),
        (sorted, ([3, 1, 2],)),
        (sorted, ([3.5, 1.5, 2.5],)),
        (sorted, (Known((3, 1, 2)),)),
        (itertools.product, ([1, 2], [3.5])),
        (itertools.chain, ([1, 2], (3.5,))),
        (itertools.islice, ([1, 2, 3], Known(2))),
        (itertools.permutations, ([1, 2, 3], Known(2))),
        (itertools.combinations, ([1, 2, 3], Known(2))),
        (itertools.accumulate, ([1, 2.5, 3],)),
        (itertools.pairwise, ([1, 2, 3],)),
        (itertools.zip_longest, ([1, 2], [3])),
        (itertools.repeat, (1.5, Known(3))),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_listed(function: Any, args: tuple[Any, ...]) -> None:
    check(seen_through(function), lambda *a: list(function(*a)), *args)


def test_sorting_backwards_and_by_key() -> None:
    check_call(sorted, [3.5, 1.5, 2.5], reverse=Known(True))
    check(
        lambda ctx, x: ctx.call(Const(sorted), [x], {"key": Const(operator.neg)}),
        lambda x: sorted(x, key=operator.neg),
        Known((3, 1, 2)),
    )


def test_containers_are_made() -> None:
    check_call(tuple, [1, 2.5])
    check_call(dict, {"a": 1.5}, b=2)
    check_call(dict, [("a", 1), ("b", 2.5)])
    check_call(set, Known((1, 2, 1)))
    check_call(slice, 2, 5)
    check_call(slice, Known(3))
    check_call(list)


def test_iterators_are_used_up() -> None:
    def staged(ctx: PlainContext, items: Any) -> Any:
        iterator = ctx.call(Const(iter), [items])
        first = ctx.call(Const(next), [iterator])
        rest = ctx.call(Const(list), [iterator])
        return ctx.call(Const(tuple), [ctx.lift([first, rest])])

    def plain(items: Any) -> Any:
        iterator = iter(items)
        return (next(iterator), list(iterator))

    check(staged, plain, [1, 2.5, 3])
    check(
        lambda ctx, x: ctx.call(Const(next), [ctx.call(Const(iter), [x])]),
        lambda x: next(iter(x)),
        (),
    )


def test_reduce_and_operators() -> None:
    check_call(functools.reduce, Known(operator.add), [1, 2.5, 3])
    check_call(functools.reduce, Known(operator.mul), [1, 2.5], 4)
    check_call(operator.add, 1, 2.5)
    check_call(operator.iadd, np.ones(2), 1.0)
    check_call(operator.neg, 2.5)
    check_call(operator.lt, 1, 2)
    check_call(operator.not_, 2.5)
    check_call(operator.contains, (1, 2), 2)
    check_call(operator.is_not, None, 2.5)
    check_call(operator.index, np.int8(3))


@dataclasses.dataclass
class Point:
    x: float
    y: Any


def test_copies() -> None:
    def staged(ctx: PlainContext, x: Any) -> Any:
        made = ctx.call(Const(copy.deepcopy), [x])
        ctx.call(ctx.getattr(made, "append"), [Const(1)])
        return ctx.call(Const(tuple), [ctx.lift([x, made])])

    def plain(x: Any) -> Any:
        made = copy.deepcopy(x)
        made.append(1)
        return (x, made)

    check(staged, plain, [np.ones(2), [2.5]])
    check_call(copy.copy, {"a": [1]})
    check_call(copy.copy, np.ones(2))


def test_what_is_refused() -> None:
    for function, args in ((id, (1,)), (itertools.cycle, ((1, 2),))):
        meaning = meaning_of(function)
        assert meaning is not None
        refused("PS604", meaning, *args)
    assert isinstance(Meaning("f", lambda ctx: Const(1)), Meaning)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (ord, ("a",)),
        (chr, (Known(97),)),
        (hex, (Known(255),)),
        (str, (Known(2.5),)),
        (format, (Known(2.5), ".2f")),
    ],
)
def test_of_known_objects(function: Any, args: tuple[Any, ...]) -> None:
    check_call(function, *args)
