"""Stores in place: the passes keep what programs mean, and XLA then copies no array in a loop."""

from __future__ import annotations

import re

import jax
import numpy as np
import pytest

import pystage
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.types import BOOL, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.hlo.walk import functions
from pystage.compiler.ops import DynamicSlice, DynamicUpdateSlice, If, Negate, Reshape, Slice, While
from pystage.compiler.passes.inplace import in_place
from pystage.compiler.passes.load_fences import fence_loads
from pystage.compiler.passes.simplify import simplify
from pystage.compiler.passes.single_trip_loops import single_trip_loops
from pystage.compiler.passes.store_forwarding import forward_stores

from .programs import INDEX, Code, Values, array, fences, kinds, optimised, passes, run, whole_arrays
from .stores import PROGRAMS

SIZE = 1000
"""Elements for which the passes matter: XLA's passes leave smaller loops alone in other ways."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_results(name: str) -> None:
    function, arguments = PROGRAMS[name](20)
    expected = interpret(function, arguments)
    rewritten = passes(function)
    for found in (interpret(rewritten, arguments), run(rewritten, arguments)):
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    assert any(not np.array_equal(a, b) for a, b in zip(expected, arguments))


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_array_is_copied_in_a_loop(name: str) -> None:
    function, _ = PROGRAMS[name](SIZE)
    assert whole_arrays(optimised(passes(function)), SIZE) == []


@pytest.mark.parametrize("name", ["swap", "sum_before_store", "read_by_loop"])
def test_without_the_passes_arrays_are_copied(name: str) -> None:
    """If this fails, XLA has learned to do what a pass here is for."""
    function, _ = PROGRAMS[name](SIZE)
    assert whole_arrays(optimised(simplify(function).function), SIZE)


def test_a_recurrence_pays_for_no_fence() -> None:
    assert fences(passes(PROGRAMS["recurrence"](SIZE)[0])) == []


def test_two_stores_fence_their_loads_once() -> None:
    """The load at the place just stored to is gone; of the other two one flows into the next store alone."""
    rewritten = passes(PROGRAMS["two_stores"](SIZE)[0])
    assert fences(rewritten) == ["after", "after", "load"]
    assert kinds(rewritten)[DynamicSlice] == 1


def test_what_flows_into_the_next_store_alone_is_loaded_with_it() -> None:
    """`x[i] += 1; x[j] += 2; …`: only the array goes from a store to the next load, by a call with one result."""
    c = Code(array(SIZE), INDEX, INDEX)

    def body(_: Value, i: Value, j: Value, x: Value) -> Values:
        for place, k in ((i, 1), (j, 2), (c.add(i, 1), 3)):
            x = c.store(x, c.add(c.load(x, place), k), place)
        return [c.next(i, SIZE), c.next(j, SIZE), x]

    function = c.done(c.for_(3, [*c.params[1:], c.params[0]], body)[2])
    rewritten = passes(function)
    assert fences(rewritten) == ["after", "after"]
    assert all(len(f.result_types) == 1 for f in functions(rewritten) if f.fence and not f.kernel)
    assert whole_arrays(optimised(rewritten), SIZE) == []
    arguments = [np.zeros(SIZE), np.asarray(5), np.asarray(6)]
    for found in (interpret(rewritten, arguments), run(rewritten, arguments)):
        np.testing.assert_array_equal(found[0], interpret(function, arguments)[0])


def test_readers_that_are_no_loads_are_followed_by_a_fence() -> None:
    assert fences(passes(PROGRAMS["read_by_loop"](SIZE)[0])) == ["after"]
    assert fences(passes(PROGRAMS["read_by_branch"](SIZE)[0])) == ["after"]


def test_a_fence_that_follows_keeps_a_second_array_in_order() -> None:
    """An inner loop reads x and stores into y, and gives nothing else that depends on x."""
    c = Code(array(SIZE), array(SIZE), INDEX)

    def body(_: Value, i: Value, x: Value, y: Value) -> Values:
        (y,) = c.for_(3, [y], lambda j, y: [c.store(y, c.load(x, c.add(i, j)), j)])
        return [c.next(i, SIZE - 3), c.store(x, 1, i), c.store(y, 2, i)]

    results = c.for_(c.params[2], [0, *c.params[:2]], body)
    rewritten = passes(c.done(*results[1:]))
    assert fences(rewritten) == ["after"]
    assert whole_arrays(optimised(rewritten), SIZE) == []


def test_nothing_outside_of_loops_is_fenced() -> None:
    c = Code(array(SIZE), INDEX)
    x, i = c.params
    total = c.load(x, i)
    x = c.store(x, 1, i)
    total = c.add(total, c.load(x, c.add(i, 1)))
    (y,) = c.for_(3, [c.params[0]], lambda j, y: [c.store(y, 1, j)])
    function = simplify(c.done(total, c.store(x, 2, 3), y)).function
    assert fences(fence_loads(function)) == []


def test_a_program_without_stores_is_left_as_it_is() -> None:
    c = Code(array(4))
    function = c.done(*c.for_(3, [c.load(c.params[0], 0)], lambda i, t: [c.add(t, c.load(c.params[0], i))]))
    assert fence_loads(function) is function
    simplified = simplify(function)
    assert in_place(simplified) is simplified


def test_a_loop_that_reads_what_another_stored_is_not_fenced() -> None:
    c = Code(array(SIZE), array(SIZE))
    x, y = c.params
    (x,) = c.for_(SIZE, [x], lambda i, x: [c.store(x, 1, i)])
    (y,) = c.for_(SIZE, [y], lambda i, y: [c.store(y, c.load(x, i), i)])
    assert fences(passes(c.done(x, y))) == []


def test_an_element_of_a_reshaped_array_is_loaded_from_the_array() -> None:
    """A store through a view of other axes: the loads take the array that is carried."""
    c = Code(array(20, 50), INDEX)

    def body(_: Value, i: Value, total: Value, a: Value) -> Values:
        flat = c.b.op(Reshape((1000,)), a)
        total = c.add(total, c.load(flat, i))
        a = c.store(a, total, c.value(0), i)
        return [c.next(i, 49), c.add(total, c.load(a, c.value(1), i)), a]

    results = c.for_(c.params[1], [0, c.value(0, c.params[0].type.dtype), c.params[0]], body)
    function = c.done(*results[1:])
    rewritten = passes(function)
    assert fences(rewritten) == ["after", "after", "load"]
    assert whole_arrays(optimised(rewritten), 1000) == []
    arguments = [np.arange(1000.0).reshape(20, 50), np.asarray(60)]
    for a, b in zip(interpret(function, arguments), interpret(rewritten, arguments), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_load_at_the_place_just_stored_to_is_what_was_stored() -> None:
    c = Code(array(8), INDEX, array())
    x, i, v = c.params
    stored = c.store(x, v, i)
    function = forward_stores(c.done(stored, c.load(stored, i), c.load(stored, c.add(i, 1))))
    verify(function)
    assert kinds(function)[DynamicSlice] == 1
    arguments = [np.arange(8.0), np.asarray(9), np.asarray(-1.0)]
    found = interpret(function, arguments)
    np.testing.assert_array_equal(found[0], [0, 1, 2, 3, 4, 5, 6, -1])
    np.testing.assert_array_equal(found[1:], [-1, -1])


def test_stores_to_other_known_places_do_not_come_between() -> None:
    c = Code(array(8), INDEX, array())
    x, i, v = c.params
    first = c.store(x, v, 2)
    second = c.store(c.store(first, 5, 3), 6, 0)
    unknown = c.store(second, 7, i)
    function = forward_stores(
        c.done(c.load(second, 2), c.load(unknown, 2), c.load(second, 9), c.load(unknown, i))
    )
    verify(function)
    assert kinds(function)[DynamicSlice] == 2, (
        "one behind a store to an unknown place, one moved into the array"
    )
    found = interpret(function, [np.arange(8.0), np.asarray(2), np.asarray(-1.0)])
    np.testing.assert_array_equal(found, [-1, 7, 7, 7])


@pytest.mark.parametrize("column", [0, 1])
def test_a_block_at_a_known_place_is_what_was_stored_there(column: int) -> None:
    """A row of one element wide stores: only a load of that very element is what was stored."""
    c = Code(array(4, 3))
    (x,) = c.params
    stored = c.store(c.store(x, 5, 1, column), 6, 2, 1)
    element = c.b.op(Slice((1, 0), (2, 1), (1, 1)), stored)
    row = c.b.op(Slice((1, 0), (2, 3), (1, 1)), stored)
    function = forward_stores(c.done(element, row))
    assert kinds(function)[Slice] == 1 + column
    expected = np.zeros(3)
    expected[column] = 5
    found = interpret(function, [np.zeros((4, 3))])
    np.testing.assert_array_equal(found[0], [[expected[0]]])
    np.testing.assert_array_equal(found[1], [expected])


def test_a_row_is_not_loaded_where_an_element_was_stored() -> None:
    c = Code(array(4, 3), INDEX)
    x, i = c.params
    stored = c.store(x, 5, i, c.value(0))
    function = forward_stores(c.done(c.load(stored, i)))
    assert kinds(function)[DynamicSlice] == 1
    np.testing.assert_array_equal(interpret(function, [np.zeros((4, 3)), np.asarray(2)])[0], [5, 0, 0])


def test_a_store_hides_the_one_before_it() -> None:
    c = Code(array(8), INDEX)
    x, i = c.params
    function = simplify(forward_stores(c.done(c.store(c.store(x, 1, i), 2, i)))).function
    assert kinds(function)[DynamicUpdateSlice] == 1
    np.testing.assert_array_equal(interpret(function, [np.zeros(8), np.asarray(3)])[0], np.eye(8)[3] * 2)


SLAB = (slice(1, -1), slice(1, -1))


def _slab(c: Code, x: Value) -> Value:
    return c.b.op(Slice((1, 1), (19, 19), (1, 1)), x)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_slab_is_loaded_again_where_the_store_is_wanted_too(wanted: bool) -> None:
    c = Code(array(20, 20))
    (x,) = c.params
    one = c.value(1)
    stored = c.b.op(DynamicUpdateSlice(), x, c.b.op(Negate(), _slab(c, x)), one, one)
    doubled = c.add(_slab(c, stored), _slab(c, stored))
    last = c.b.op(DynamicUpdateSlice(), stored, doubled, one, one)
    function = c.done(last, stored) if wanted else c.done(last)
    rewritten = simplify(forward_stores(simplify(function).function)).function
    counted = kinds(rewritten)
    assert (counted[Slice], counted[DynamicUpdateSlice]) == ((2, 2) if wanted else (1, 1))
    given = np.arange(400.0).reshape(20, 20)
    expected = given.copy()
    expected[SLAB] *= -2
    np.testing.assert_array_equal(interpret(rewritten, [given])[0], expected)


def _jacobi(u: np.ndarray) -> tuple[np.ndarray, float]:
    change = 0.0
    for _ in range(20):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.abs(v[1:-1, 1:-1] - u[1:-1, 1:-1]).max()
        u = v
    return u, change


def test_a_step_on_whole_arrays_is_loaded_where_it_was_stored() -> None:
    """So XLA computes it once; that of JAX 0.11 undoes the load and computes it twice."""
    lowered = pystage.compile(_jacobi).lower(np.ones((50, 50)))
    (store,) = re.findall(r"(%\w+) = stablehlo.dynamic_update_slice", lowered.as_text())
    assert f"stablehlo.slice {store} [1:49, 1:49]" in lowered.as_text()
    if jax.__version_info__ < (0, 11):
        computed = re.findall(r"= f64\[48,48\]\S* multiply\(", lowered.compile().as_text())
        assert len(computed) == 1


def test_a_store_that_is_read_in_between_is_not_hidden() -> None:
    """Else there would be two arrays that begin from the same one, and one of them would be a copy."""
    c = Code(array(8), INDEX)
    x, i = c.params
    first = c.store(x, 1, i)
    value = c.load(first, c.add(i, 1))
    assert kinds(forward_stores(c.done(c.store(first, value, i))))[DynamicUpdateSlice] == 2


FLAG = ArrayType(BOOL)


def _filling(c: Code, x: Value, value: float) -> Values:
    """`for j in range(3): x[j] = value`."""
    return c.for_(3, [x], lambda j, x: [c.store(x, value, j)])


def _check_once(function: Function, *arguments: np.ndarray, branches: int, loops: int) -> None:
    """How many branches and loops remain, and the same results for either value of the first argument."""
    rewritten = single_trip_loops(function)
    verify(rewritten)
    counted = kinds(rewritten)
    assert (counted[If], counted[While]) == (branches, loops)
    results = []
    for flag in (True, False):
        given = [np.asarray(flag), *arguments]
        results.append(interpret(function, given))
        for a, b in zip(results[-1], interpret(rewritten, given), strict=True):
            np.testing.assert_array_equal(a, b)
    assert any(not np.array_equal(a, b) for a, b in zip(*results))


@pytest.mark.parametrize("side", [0, 1])
def test_an_arm_that_stores_is_a_loop_of_one_trip(side: int) -> None:
    c = Code(FLAG, array(8))
    flag, x = c.params
    arms = [lambda: _filling(c, x, 5.0), lambda: [x]]
    function = c.done(*c.if_(flag, arms[side], arms[1 - side]))
    _check_once(function, np.arange(8.0), branches=0, loops=2)


def test_of_two_arms_that_store_one_loop_runs() -> None:
    c = Code(FLAG, array(8))
    flag, x = c.params
    function = c.done(*c.if_(flag, lambda: _filling(c, x, 5.0), lambda: _filling(c, x, 6.0)))
    _check_once(function, np.arange(8.0), branches=0, loops=4)


def test_the_other_results_are_those_of_the_arm_that_runs() -> None:
    c = Code(FLAG, array(8), INDEX)
    flag, x, n = c.params
    function = c.done(*c.if_(flag, lambda: [*_filling(c, x, 5.0), n], lambda: [x, 7]))
    _check_once(function, np.arange(8.0), np.asarray(3), branches=1, loops=2)


def test_results_from_outside_need_no_branch() -> None:
    c = Code(FLAG, array(8), INDEX)
    flag, x, n = c.params
    function = c.done(*c.if_(flag, lambda: [*_filling(c, x, 5.0), c.add(n, 1)], lambda: [x, n]))
    _check_once(function, np.arange(8.0), np.asarray(3), branches=0, loops=2)


def test_both_arms_may_store_into_several_arrays_and_give_numbers() -> None:
    c = Code(FLAG, array(8), array(8), INDEX)
    flag, x, y, n = c.params
    function = c.done(
        *c.if_(
            flag,
            lambda: [*_filling(c, x, 5.0), c.store(y, 1, n), c.add(n, 1)],
            lambda: [c.store(x, 2, n), y, c.mul(n, 5)],
        )
    )
    _check_once(function, np.arange(8.0), np.arange(8.0), np.asarray(3), branches=0, loops=3)


def test_an_arm_begins_from_the_newest_state_of_the_array() -> None:
    c = Code(FLAG, array(8))
    flag, x = c.params
    stored = c.store(x, -1, 7)
    function = c.done(*c.if_(flag, lambda: _filling(c, stored, 5.0), lambda: [stored]))
    _check_once(function, np.arange(8.0), branches=0, loops=2)


def test_arms_that_begin_from_different_states_stay() -> None:
    c = Code(FLAG, array(8))
    flag, x = c.params
    stored = c.store(x, -1, 7)
    function = c.done(*c.if_(flag, lambda: _filling(c, stored, 5.0), lambda: [x]))
    _check_once(function, np.arange(8.0), branches=1, loops=1)


def test_arms_that_reshape_the_array_first_stay() -> None:
    c = Code(FLAG, array(8))
    flag, x = c.params

    def reshaped(value: float) -> Values:
        return [c.store(c.b.op(Reshape((8, 1)), x), value, 1, 0)]

    function = c.done(*c.if_(flag, lambda: reshaped(5.0), lambda: reshaped(6.0)))
    _check_once(function, np.arange(8.0), branches=1, loops=0)


def test_an_arm_that_makes_a_new_array_stays() -> None:
    c = Code(FLAG, array(100))
    flag, x = c.params
    function = c.done(*c.if_(flag, lambda: _filling(c, x, 5.0), lambda: [c.b.op(Negate(), x)]))
    _check_once(function, np.arange(100.0), branches=1, loops=1)


def test_a_branch_that_also_gives_a_large_array_stays() -> None:
    c = Code(FLAG, array(100))
    flag, x = c.params
    function = c.done(
        *c.if_(flag, lambda: [*_filling(c, x, 5.0), c.b.op(Negate(), x)], lambda: [x, c.add(x, x)])
    )
    _check_once(function, np.arange(100.0), branches=1, loops=1)


def test_branches_in_arms_become_loops_too() -> None:
    c = Code(FLAG, array(8), INDEX)
    flag, x, n = c.params

    def inner() -> Values:
        return c.if_(c.compare("LT", n, 3), lambda: _filling(c, x, 5.0), lambda: [x])

    function = c.done(*c.if_(flag, lambda: [c.store(*inner(), 1, n)], lambda: [x]))
    _check_once(function, np.arange(8.0), np.asarray(3), branches=0, loops=3)
    _check_once(function, np.arange(8.0), np.asarray(2), branches=0, loops=3)


def test_parameters_that_nothing_reads_any_more_are_left_out() -> None:
    """The element that the first store takes from `y` is hidden by the second one."""
    c = Code(array(8), array(8), INDEX)
    x, y, i = c.params
    simplified = in_place(simplify(c.done(c.store(c.store(x, c.load(y, i), i), 2, i))))
    assert simplified.kept == (0, 2)
    assert simplified.function.param_types == (array(8), INDEX)
