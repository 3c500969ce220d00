"""The store of slots: what forks and speculations put back, what they tell, and what they keep."""

from __future__ import annotations

from typing import Any

import pytest

from pystage.compiler.values.lattice import Alias, Const, ListCell, Ref, SetCell, Tuple, Undef
from pystage.compiler.values.state import ERROR, OUTPUT, Changes, OrderSensitivity, References, State

from .samples import row

X, Y, TEMPORARY = (1, "x"), (1, "y"), (1, "%t")
ONE, TWO, THREE = Const(1), Const(2), Const(3)


class Back(Exception):
    """Leaves a fork."""


def state(**variables: Any) -> State:
    """A state with variables of frame 1."""
    made = State()
    for name, content in variables.items():
        made.set((1, name), content)
    return made


# -- forks


def test_a_fork_puts_back_what_it_set_forgot_and_allocated() -> None:
    s = state(x=ONE, y=TWO)
    before = dict(s.slots)
    with s.fork() as changes:
        s.set(X, THREE)
        s.forget(Y)
        cell = s.new_cell(ListCell(()))
        s.set((1, "z"), Ref(cell))
        assert s.get(X) is THREE and Y not in s.slots and cell in s.slots
    assert s.slots == before and changes.keys() == {X, cell, (1, "z")}
    assert changes[X] is THREE and isinstance(changes[cell], ListCell)


def test_the_contents_of_cells_are_put_back() -> None:
    s = state()
    cell, old, new = s.new_cell(ListCell(())), ListCell((ONE,)), ListCell((TWO,))
    s.set(cell, old)
    with s.fork() as changes:
        s.set(cell, new)
        s.set(ERROR, SetCell(frozenset()))
    assert s.get(cell) is old and changes[cell] is new and s.get(ERROR) is not changes[ERROR]


def test_what_is_set_back_is_no_change_but_for_temporaries() -> None:
    s = state(x=ONE)
    s.set(TEMPORARY, ONE)
    with s.fork() as changes:
        for slot in (X, TEMPORARY):
            s.set(slot, TWO)
            s.set(slot, ONE)
        s.set(Y, ONE)
        s.forget(Y)
    assert changes == {TEMPORARY: ONE}


def test_what_is_forgotten_and_set_again_is_put_back() -> None:
    s = state(x=ONE)
    with s.fork() as changes:
        s.forget(X)
        s.set(X, TWO)
    assert s.get(X) is ONE and changes == {X: TWO}


def test_what_is_defined_outlasts_every_fork_and_is_no_change() -> None:
    s = state()
    with s.fork() as outer:
        with s.fork() as inner:
            s.define(X, ONE)
        assert s.get(X) is ONE
    assert s.get(X) is ONE and inner == outer == {}


def test_an_inner_fork_is_undone_before_the_outer_one() -> None:
    s = state(x=ONE)
    with s.fork() as outer:
        s.set(X, TWO)
        with s.fork() as inner:
            s.set(X, THREE)
            s.set(Y, THREE)
        assert s.get(X) is TWO and Y not in s.slots
        with s.fork() as second:
            pass
    assert s.get(X) is ONE
    assert (inner, second, outer) == ({X: THREE, Y: THREE}, {}, {X: TWO})


def test_a_fork_that_raises_is_undone() -> None:
    s = state(x=ONE)
    with pytest.raises(Back), s.fork() as changes:
        s.set(X, TWO)
        raise Back
    assert s.get(X) is ONE and changes == {X: TWO} and s.depth == 0


def test_numbers_of_cells_and_frames_are_given_once() -> None:
    s = state()
    with s.fork():
        inside, frame = s.new_cell(ListCell(())), s.new_frame()
    assert s.new_cell(ListCell(())) != inside and s.new_frame() != frame


def test_is_new_asks_the_innermost_fork() -> None:
    s = state(x=ONE)
    assert not s.is_new(X)
    with s.fork():
        s.set(X, TWO)
        s.set(Y, TWO)
        cell = s.new_cell(ListCell(()))
        assert not s.is_new(X) and s.is_new(Y) and s.is_new(cell)
        with s.fork():
            assert not s.is_new(Y)
            s.set(Y, ONE)
            assert not s.is_new(Y)
        s.forget(cell)
        assert s.is_new(cell)  # it would still not be there
    assert not s.is_new(Y)


# -- speculations


def test_a_speculation_is_rolled_back() -> None:
    s = state(x=ONE, y=TWO)
    before = dict(s.slots)
    mark = s.begin()
    s.set(X, THREE)
    s.forget(Y)
    cell = s.new_cell(ListCell(()))
    assert s.changed() == [X, Y]
    s.roll_back(mark)
    assert s.slots == before and cell not in s.slots


def test_what_a_speculation_commits_the_outer_fork_still_undoes() -> None:
    s = state(x=ONE, y=TWO)
    before = dict(s.slots)
    with s.fork() as changes:
        s.set(X, TWO)
        mark = s.begin()
        s.set(X, THREE)
        s.forget(Y)
        s.set((1, "z"), ONE)
        s.commit(mark)
        assert s.get(X) is THREE and Y not in s.slots and s.is_new((1, "z"))
    assert s.slots == before and changes == {X: THREE, (1, "z"): ONE}


def test_an_outer_speculation_takes_back_what_an_inner_one_committed() -> None:
    s = state(x=ONE)
    outer = s.begin()
    inner = s.begin()
    s.set(X, TWO)
    s.set(Y, TWO)
    s.commit(inner)
    s.roll_back(outer)
    assert s.get(X) is ONE and Y not in s.slots


def test_what_is_defined_in_a_speculation_stays() -> None:
    s = state()
    mark = s.begin()
    cell, content = s.cell_number(), ListCell(())
    s.define(cell, content)
    s.set(cell, ListCell((ONE,)))
    s.roll_back(mark)
    assert s.get(cell) is content


def test_speculations_are_no_forks() -> None:
    s = state()
    assert s.depth == 0
    outer = s.begin()
    assert s.depth == 0
    with s.fork():
        inner = s.begin()
        with s.fork():
            assert s.depth == 2
        s.commit(inner)
    assert s.depth == 0
    s.roll_back(outer)
    assert not s.journals


# -- what refers to what


def test_the_cells_that_roots_reach() -> None:
    s = state()
    leaf = s.new_cell(ListCell(()))
    middle = s.new_cell(ListCell((Ref(leaf),)))
    own = s.cell_number()
    s.set(own, ListCell((Ref(middle), Ref(own), Ref(99))))
    assert list(s.reachable([Ref(own)])) == [own, middle, 99, leaf]
    assert list(s.reachable([])) == []


def test_who_else_refers_to_a_cell() -> None:
    s = state(x=Tuple((ONE, Ref(1))))
    s.next_cell = 1
    holder = s.new_cell(ListCell((Ref(7),)))
    other = s.new_cell(SetCell(frozenset(), (Alias(Ref(8), SetCell(frozenset())),)))
    s.set(TEMPORARY, Ref(9))
    assert (
        References(s).elsewhere(1, holder)
        and References(s).elsewhere(7, other)
        and References(s).elsewhere(8, holder)
    )
    assert (
        not References(s).elsewhere(7, holder)
        and not References(s).elsewhere(8, other)
        and not References(s).elsewhere(9, 1)
    )
    s.apart = {holder: s, other: s}
    assert (
        s.are_no_alias(other, holder)
        and not s.are_no_alias(8, holder)
        and not References(s).elsewhere(8, holder)
    )
    s.may_alias.add(frozenset((holder, other)))
    assert not s.are_no_alias(other, holder) and References(s).elsewhere(8, holder)


def test_the_paths_to_an_array_leave_temporaries_out() -> None:
    view = row(4)
    s = state(x=view, y=Ref(4))
    s.set(TEMPORARY, row(4))
    assert sorted(s.paths_to(4), key=len) == [(), view.path]


def test_a_new_state_has_raised_and_printed_nothing() -> None:
    s = State()
    assert s.slots.keys() == {ERROR, OUTPUT} and s.get(ERROR).code == 0 and s.get(OUTPUT).token == 0
    with pytest.raises(KeyError):
        s.get(X)
    assert isinstance(Changes(), dict) and not isinstance(Undef(), Const)


def test_each_reliance_on_a_layout_stays() -> None:
    s = State()
    s.rely_on_layout([1, 2], OrderSensitivity.IF_ANY_STORED)
    s.rely_on_layout([1], OrderSensitivity.IF_STORED)
    s.rely_on_layout([2], OrderSensitivity.ALWAYS)
    stored, any_stored = OrderSensitivity.IF_STORED, OrderSensitivity.IF_ANY_STORED
    assert s.laid_out == {1: any_stored | stored, 2: any_stored | OrderSensitivity.ALWAYS}
