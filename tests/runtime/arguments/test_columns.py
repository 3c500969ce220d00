"""Long lists of elements of one structure enter a program as one array for each number, and nobody sees that."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np
import pytest
from checking import Cases, check

import pystage
from pystage.compiler import limits
from pystage.runtime.arguments import columns as columns_module
from pystage.runtime.arguments.columns import columns_of
from pystage.runtime.arguments.flatten import Flattener

N = limits.COLUMN_ROWS + 8
INTS = [*range(N)]
FLOATS = [-0.0, float("inf"), *[i / 4 for i in range(N - 3)], float("nan")]
BOOLS = [i % 3 == 0 for i in range(N)]
PAIRS = [(i, i / 4) for i in range(N)]
NESTED = [(i, (i / 4, i % 2 == 0)) for i in range(N)]


class Point(typing.NamedTuple):
    x: int
    y: float


POINTS = [Point(i, i / 4) for i in range(N)]
cases = Cases()


class OfOneParity(Point):
    def __eq__(self, other):
        return self.x % 2 == other.x % 2

    def __hash__(self):
        return self.x % 2


def test_keys_with_an_equality_of_their_own() -> None:
    points = [OfOneParity(i, 0.5) for i in range(N)]
    assert pystage.compile(lambda xs: len(set(xs)), fallback="python")(points) == 2


@cases.each((INTS, N), (PAIRS, -N - 1), raises=IndexError)
@cases.each((INTS, 3), (FLOATS, -2), (BOOLS, 1), (PAIRS, 0), (NESTED, -N), (POINTS, 5), zeros=True)
def read(xs, k):
    return xs[k], xs[k : k + 3], xs[::-7], len(xs)


@cases.each((INTS,), (FLOATS,), (BOOLS,), (PAIRS,), (NESTED,), (POINTS,))
def changed(xs):
    xs.append(xs[3])
    xs[1], xs[-1] = xs[-1], xs[0]
    del xs[5]
    xs.insert(2, xs.pop(7))
    xs.reverse()
    return xs[4]


@cases.each((INTS,), (PAIRS,), raises=IndexError)
def changed_before_it_raises(xs):
    for i in range(len(xs) + 1):
        xs[i] = xs[i - 1]


@cases.each((PAIRS,), (POINTS,))
def sorted_and_filtered(ps):
    kept = [p for p in ps if p[1] < 5.0]
    ps.sort(key=lambda p: (p[0] % 3, -p[1]))
    best = None
    for p in ps:
        if best is None or p[1] > best[1]:
            best = p
    return kept, best, max(ps), sum(a * b for a, b in ps)


@cases.each((INTS,), (PAIRS,), (BOOLS,), (POINTS,))
def other_kinds_are_stored(xs):
    xs[0] = None
    xs[2] = "a"
    return xs[:4], xs[0] is None


@cases.each((INTS, INTS[:]), (INTS, FLOATS))
def two_lists(xs, ys):
    xs.append(1)
    return len(ys), xs is ys, [a * b for a, b in zip(xs, ys)]


@cases.each((tuple(INTS),), (tuple(PAIRS),), (tuple(FLOATS),))
def of_a_tuple(xs):
    first, second, *others = xs
    return xs, first, second, others[3], (*xs, 1)


@cases.each((INTS,), (POINTS,))
def elements_are_the_same_objects(xs):
    return xs[2] is xs[2], xs.copy() is xs, xs.copy() == xs, xs.index(xs[4]), xs.count(xs[5])


@cases.each(([(1, float("nan")), *PAIRS],))
def a_tuple_with_a_nan_is_equal_to_itself(xs):
    return xs[0] == xs[0], xs[1] == xs[1]


@cases.each(({"a": INTS, "b": [PAIRS, BOOLS]},))
def inside_of_others(d):
    d["a"].append(7)
    d["b"][1][0] = not d["b"][1][2]
    return d["a"][-2:], d["b"][0][1], sum(d["b"][1])


@cases.each((INTS, [*range(N, 2 * N)]), ([5] * N, PAIRS))
def shapes(xs, ys):
    return np.zeros(xs[5]).tolist(), ys[2], ys


@cases.each((INTS,), (FLOATS,), (BOOLS,), (PAIRS,), ([complex(i, -i) for i in INTS],))
def as_an_array(xs):
    return np.array(xs), np.array(xs).dtype.name


@cases.each(([2**63 - 1, -(2**63), *INTS],))
def the_largest_numbers(xs):
    return xs[0], xs[1], xs


@cases.each(([*INTS, "a"],), ([*INTS, 0.5],), ([*PAIRS, (1,)],), ([*PAIRS, [1, 1.0]],), ([(), *[()] * N],))
def of_several_structures(xs):
    return xs[-1], xs[0], len(xs)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_the_plain_and_the_staged_run_agree(
    function: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    check(function, *args, **options)


def append(xs, ys):
    ys.append(1)
    return len(xs), xs is ys


def test_one_object_at_two_places_is_told_from_two() -> None:
    compiled = pystage.compile(append, tier="compiled", fallback="error")
    for _ in range(2):
        same, one, other = INTS[:], INTS[:], INTS[:]
        assert compiled(one, other) == (N, False) and len(other) == N + 1
        assert compiled(same, same) == (N + 1, True)


def test_a_program_has_a_parameter_for_each_number() -> None:
    for xs, count in ((INTS, 1), (PAIRS, 2), (NESTED, 3)):
        function = pystage.compile(changed).staged(xs).function
        assert [t.shape for t in function.param_types] == [(N,)] * count


def test_other_values_need_no_program() -> None:
    compiled = pystage.compile(read, tier="compiled", fallback="error")
    for k in range(4):
        for xs in (INTS, [k] * N, FLOATS, BOOLS, [not b for b in BOOLS]):
            assert repr(compiled(xs, k)) == repr(read(xs, k))
    assert len(compiled.signatures()) == 3


def test_a_shape_that_an_element_decides_is_a_constant() -> None:
    compiled = pystage.compile(shapes, tier="compiled", fallback="error")
    for size in (2, 3, 2):
        xs = [size] * N
        assert compiled(xs, INTS) == shapes(xs, INTS)
    assert len(compiled.signatures()) == 2


def test_a_number_that_is_too_large_is_told_of_itself() -> None:
    with pytest.raises(pystage.StagingError, match=r"xs\[3\]"):
        pystage.compile(read)([1, 2, 3, 1 << 63, *INTS], 0)


def test_lists_that_have_columns() -> None:
    assert columns_of(INTS[: limits.COLUMN_ROWS - 1]) is None
    assert columns_of(["a"] * N) is None
    assert columns_of([[1, 2]] * N) is None
    assert columns_of([(0,) * (limits.COLUMNS + 1)] * N) is None
    structure, columns = columns_of(NESTED) or ((), [])
    assert structure == (tuple, (), (int, (tuple, (), (float, bool))))
    assert [c.tolist() for c in columns] == [INTS, [i / 4 for i in INTS], [i % 2 == 0 for i in INTS]]


def test_long_lists_of_one_structure_are_one_layout() -> None:
    flattener = Flattener()
    shape, leaves = flattener.flatten(tuple, (), (PAIRS, 3))
    again, _ = flattener.flatten(tuple, (), ([(i, 0.0) for i in INTS], 4))
    assert len(leaves) == 3 and again == shape
    for other in (PAIRS[1:], [(i, i) for i in INTS], tuple(PAIRS), POINTS):
        assert flattener.flatten(tuple, (), (other, 3))[0] != shape


def total(xs):
    return sum(xs), xs[3]


def test_ahead_of_time_and_exported() -> None:
    compiled = pystage.compile(total)
    lowered = compiled.lower(INTS)
    assert str(lowered.staged).startswith(f"total({N} × int)")
    assert lowered.compile()(INTS[::-1]) == total(INTS[::-1])
    with pytest.raises(TypeError, match=r"xs\[:\] is .* × float, not .* × int"):
        lowered.compile()([float(i) for i in INTS])
    with pytest.raises(TypeError, match="another structure"):
        lowered.compile()([str(i) for i in INTS])
    assert pystage.load(compiled.export(INTS))(INTS[::-1]) == total(INTS[::-1])


def test_ahead_of_time_of_a_list_that_decides_a_shape() -> None:
    compiled = pystage.compile(shapes).lower([2] * N, INTS).compile()
    assert compiled([2] * N, INTS) == shapes([2] * N, INTS)
    with pytest.raises(TypeError, match=r"xs\[:\] is \(3, 3, .*, not \(2, 2, "):
        compiled([3] * N, INTS)


class Tagged(Point):
    pass


def tagged(count):
    points = [Tagged(i, i / 4) for i in range(count)]
    for point in points:
        point.tag = point.x
    return points


def swapped(ps):
    ps[0], ps[1] = ps[1], ps[0]
    return ps[2]


@pytest.mark.parametrize("count", [3, N])
def test_attributes_of_named_tuples_are_kept(count: int) -> None:
    plain = [Tagged(i, i / 4) for i in range(count)]
    strict = pystage.compile(swapped, tier="compiled", fallback="error")
    assert strict(plain) == (2, 0.5) and strict.signatures()
    points = tagged(count)
    with pytest.warns(pystage.FallbackWarning):
        assert pystage.compile(swapped, fallback="python")(points) is points[2]
    assert [p.tag for p in points] == [1, 0, *range(2, count)]
    with pytest.raises(pystage.StagingError, match=r"ps\[0\].__dict__"):
        strict(points)


LONG = [(i, i / 4) for i in range(300)]


@pytest.mark.parametrize(
    "values",
    [
        LONG,
        tuple(LONG),
        [(i, (i / 4, -i)) for i in range(300)],
        [(float("inf"), -0.0)] * 300,
        [*LONG, (1, float("nan"))],
        [*LONG, (2**31, 1.0)],
        [*LONG, (-(2**63), 1.0)],
        [*LONG, (2**63, 1.0)],
        [*LONG, (True, 1.0)],
        [*LONG, (1, 2)],
        [*LONG, (1, 2.0, 3)],
        [*LONG, [1, 2.0]],
        [*LONG, Point(1, 2.0)],
        [*LONG, (1, object())],
        [*LONG, (1, np.float64(2.0))],
    ],
)
def test_long_lists_of_tuples_have_the_columns_of_short_ones(
    values: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = columns_of(values)
    monkeypatch.setattr(columns_module, "_MANY_TUPLES", len(values) + 1)
    one_by_one = columns_of(values)
    assert repr(at_once) == repr(one_by_one)
    if at_once is not None and one_by_one is not None:
        for column, other in zip(at_once[1], one_by_one[1], strict=True):
            assert column.dtype == other.dtype and column.tobytes() == other.tobytes()
