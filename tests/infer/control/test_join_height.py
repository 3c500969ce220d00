"""The lattice has finite height: what a loop carries is settled after few joins, whatever its trips give."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pystage.compiler.analysis.ranges import ANY
from pystage.compiler.hlo.ir import Region, Value
from pystage.compiler.hlo.types import ArrayType
from pystage.compiler.infer.control.join import Join, LoopHead, Merge
from pystage.compiler.infer.state.structural_equality import same_template
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.lattice import Abstract, Array, Const, NumberKind, Tuple
from pystage.compiler.values.state import State

KINDS = [
    NumberKind(np.dtype(dtype), form, weak)
    for dtype in (np.bool_, np.int32, np.int64, np.float32, np.float64)
    for form, weak in ((Form.PYTHON, False), (Form.SCALAR, False), (Form.JAX, False), (Form.JAX, True))
]

HEIGHT = 1 + len(KINDS) + 2 * 2
"""A number may be of all kinds, and the ends of its range may go one by one; then there is no common meaning."""


def any_value(random: random.Random, depth: int = 2) -> Abstract:
    """A number, an array, a constant, or a tuple of these."""
    choice = random.randrange(8 if depth else 7)
    if choice == 7:
        return Tuple(tuple([any_value(random, depth - 1) for _ in range(random.randrange(3))]))
    if choice < 2:
        return Const(random.choice([None, True, 0, 1, 2, -0.0, 1.5, np.float32(2), "a", "b"]))
    kind = random.choice(KINDS)
    shape = random.choice([(), (), (), (3,), (4,)])
    form = kind.form if not shape else Form.JAX
    known = random.choice([ANY, (0, 5)])
    return Array(Value(ArrayType(kind.dtype, shape), Region(), 0), form, kind.weak, known)


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("seed", range(50))
def test_a_chain_of_joins_settles(seed, loop):
    rng = random.Random(seed)
    pool = [any_value(rng) for _ in range(rng.randrange(1, 7))]
    covers: Abstract = pool[0]
    changes = 0
    for _ in range(60):
        join = Join(State(), Merge(loop=LoopHead() if loop else None))
        wider = join.join(covers, rng.choice(pool))
        changes += not same_template(covers, wider)
        covers = wider
    assert changes <= 4 * HEIGHT
