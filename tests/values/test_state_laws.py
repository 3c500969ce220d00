"""Any sequence of steps, forks and speculations on the store of slots, compared with copies of the whole store."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pystage.compiler.values.lattice import ListCell
from pystage.compiler.values.state import State

from .test_state import ONE, TEMPORARY, THREE, TWO, X, Y, state

SLOTS = [X, Y, TEMPORARY, 5, 6]
steps = st.recursive(
    st.tuples(st.sampled_from(["set", "forget"]), st.sampled_from(SLOTS), st.sampled_from([ONE, TWO, THREE])),
    lambda inner: st.tuples(
        st.sampled_from(["fork", "committed", "rolled back"]), st.lists(inner, max_size=6), st.just(None)
    ),
    max_leaves=20,
)


def run(s: State, step: tuple[str, Any, Any]) -> None:
    """Does a step to the state; at the end of each fork and speculation compares with what was there before."""
    name, what, content = step
    if name == "set":
        s.set(what, content)
    elif name == "forget":
        if what in s.slots:
            s.forget(what)
    elif name == "fork":
        before = dict(s.slots)
        with s.fork() as changes:
            for inner in what:
                run(s, inner)
            end = dict(s.slots)
        assert s.slots == before
        changed = {slot for slot in end if end[slot] is not before.get(slot)}
        again = set(changes) - changed
        assert changed <= set(changes) and again <= {TEMPORARY}
        assert all(changes[slot] is end[slot] for slot in changes)
    else:
        before = dict(s.slots)
        mark = s.begin()
        for inner in what:
            run(s, inner)
        if name == "committed":
            before = dict(s.slots)
            s.commit(mark)
        else:
            s.roll_back(mark)
        assert s.slots == before


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(steps, max_size=8))
def test_forks_and_speculations_put_back_what_copies_would(program: list[tuple[str, Any, Any]]) -> None:
    s = state(x=ONE)
    s.set(5, ListCell(()))
    run(s, ("fork", program, None))
    assert not s.journals and s.speculations == 0
