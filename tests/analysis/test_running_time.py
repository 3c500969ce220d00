"""The longest time that a run of a program takes, by estimate."""

from __future__ import annotations

import math

from pystage.compiler.analysis.running_time import STEP, longest_run
from pystage.compiler.hlo.types import FLOAT32, INT64, ArrayType
from pystage.compiler.ops import DotGeneral
from tests.passes.programs import Code, array


def test_a_store_takes_the_time_of_the_part_that_it_writes() -> None:
    c = Code(array(1_000_000, dtype=FLOAT32))
    stored = c.for_(1_000, [c.params[0]], lambda i, x: [c.store(x, c.load(x, i), i)])[0]
    assert 1_000 * STEP < longest_run(c.done(stored)) < 1_000 * 20 * STEP


def test_a_counter_limits_a_loop_and_an_argument_does_not() -> None:
    for limit, known in (100, True), (None, False):
        c = Code(ArrayType(INT64))
        end = c.params[0] if limit is None else limit
        (last,) = c.while_([0], lambda i, end=end, c=c: c.compare("LT", i, end), lambda i, c=c: [c.add(i, 1)])
        assert (longest_run(c.done(last)) < math.inf) == known


def test_a_product_takes_the_time_of_its_multiplications() -> None:
    c = Code(array(1_000, 1_000, dtype=FLOAT32))
    product = c.b.op(DotGeneral((), (), (1,), (0,)), c.params[0], c.params[0])
    assert longest_run(c.done(product)) > 0.1
