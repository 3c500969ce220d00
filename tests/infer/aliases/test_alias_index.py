"""Which of many cells may be one object, found at once: as pair by pair."""

from __future__ import annotations

import random

import pytest

from pystage.compiler.infer.state.merged import AliasIndex, no_alias
from pystage.compiler.values.lattice import Alias, ListCell, MemberCell, Ref, Stamp
from pystage.compiler.values.state import State


def random_state(seed: int) -> State:
    """Lists, lists that may be one of those before them, with what joins and loops say of them, and members of a pool."""
    draw, state = random.Random(seed), State()
    for number in range(1, 40):
        before = list(range(1, number))
        chosen = draw.sample(before, min(len(before), draw.choice((0, 0, 1, 2, 3))))
        cell = state.new_cell(ListCell((), tuple([Alias(Ref(c), Stamp.OUT_OF_DATE) for c in chosen])))
        if chosen or draw.random() < 0.2:
            state.merged[cell] = None
        if len(chosen) > 1 and draw.random() < 0.5:
            state.pairs[cell] = (draw.choice("ab"), chosen[0], chosen[1])
        if draw.random() < 0.3:
            state.apart[cell] = state
        if draw.random() < 0.1:
            state.set(cell, MemberCell(list, 50, number))
    for _ in range(20):
        state.may_alias.add(frozenset(draw.sample(range(1, 40), 2)))
    return state


@pytest.mark.parametrize("seed", range(20))
def test_at_once_as_pair_by_pair(seed: int) -> None:
    state = random_state(seed)
    cells = random.Random(seed).sample(range(1, 40), 30)
    index, find = AliasIndex(state, cells), state.slots.get
    found = {each: index.may_alias(each) for each in cells}
    assert found == {each: {c for c in cells if not no_alias(state, find, each, c)} for each in cells}
    assert any(1 < len(each) < len(cells) for each in found.values())
