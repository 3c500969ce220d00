"""The laws of the join of two sides, as branches use it: idempotent, commutative, an upper bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pystage.compiler.hlo.types import BOOL, FLOAT64, INT64
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.lattice import Abstract, Array, Const, Ref, Tuple
from tests.values.samples import label, number, program, samples

from .joins import HEAP, Joined, X, shape

constants = st.sampled_from([None, True, 1, 2, 2.0, -0.0, np.int64(1), "a", len])
"""One string: of two, each join makes a longer template. No float32 beside 2.0: the first type that holds both wins."""
dtypes = st.sampled_from([BOOL, INT64, FLOAT64])
numbers = st.one_of(
    st.builds(number, dtypes, st.sampled_from([Form.PYTHON, Form.SCALAR, Form.JAX])),
    st.builds(lambda n: number(FLOAT64, Form.JAX, n), st.sampled_from([2, 3])),
    st.builds(lambda low: Array(program(INT64), Form.PYTHON, False, (low, 9)), st.sampled_from([0, 5])),
)
leaves = st.one_of(st.builds(Const, constants), numbers, st.builds(Ref, st.sampled_from(list(HEAP))))
values = st.recursive(leaves, lambda each: st.builds(lambda *i: Tuple(i), each, each), max_leaves=4)
laws = settings(max_examples=200, deadline=None, derandomize=True)


@pytest.mark.parametrize("x", [x for x in samples() if isinstance(x, Abstract)], ids=label)
def test_the_join_of_a_value_with_itself_is_that_value(x: Abstract) -> None:
    j = Joined(x, x)
    assert j.value is x and not j.join.conflicts.found and list(j.join.entries) == [X]


@laws
@given(values, values)
def test_the_join_is_commutative_up_to_selectors(a: Abstract, b: Abstract) -> None:
    assert shape(a, b) == shape(b, a)


@laws
@given(values, values)
def test_the_join_is_an_upper_bound(a: Abstract, b: Abstract) -> None:
    j = Joined(a, b)
    for x in (a, b):
        changed = {cell: entry[0] for cell, entry in j.join.entries.items() if isinstance(cell, int)}
        again = Joined(j.value, x, changed, changed)
        assert again.shape(again.value, aliases=False) == j.shape(j.value, aliases=False)
