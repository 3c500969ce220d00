"""Every batching rule, on the samples of every operation: the batch at once against one element after another."""

from __future__ import annotations

import numpy as np
import pytest
from ops.running import application, type_of

from pystage.compiler import ops
from pystage.compiler.batch.batching import Batch, NotMapped
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import ArrayType
from pystage.compiler.hlo.verify import verify

BATCH_SIZE = 3
KINDS = sorted(
    {k for k in vars(ops).values() if isinstance(k, type) and issubclass(k, HloOp) and k.opcode},
    key=lambda k: k.__name__,
)
ONE_BY_ONE = {"CustomCall", "RngBitGenerator"}
"""Operations that have no batching rule: the elements are computed in a loop."""


def batched_program(x):
    """A batch of three: the sample, and two that differ from it but are as valid."""
    if x.dtype.kind in "fc" or x.dtype.kind == "V":
        with np.errstate(all="ignore"):
            return np.stack([(x * x.dtype.type(i)).astype(x.dtype) for i in (1, 2, 3)])
    return np.stack([np.roll(x, i) for i in range(BATCH_SIZE)]) if x.size else np.stack([x] * BATCH_SIZE)


def function_of(sample):
    if sample.regions is None:
        return application(sample.op, *[type_of(x) for x in sample.operands])
    body = Region(tuple([type_of(x) for x in sample.operands]))
    b = Builder(body)
    body.results = b.apply(sample.op, body.params, sample.regions(b, body.params)).results
    return Function("sample", body)


def subsets(count):
    """All operands batched, then each alone, then all but each."""
    found = [tuple([True] * count)]
    for i in range(count):
        found.append(tuple([j == i for j in range(count)]))
        found.append(tuple([j != i for j in range(count)]))
    return [s for s in dict.fromkeys(found) if any(s)]


CASES = [
    pytest.param(sample, id=f"{kind.__name__}-{number}")
    for kind in KINDS
    for number, sample in enumerate(kind.samples())
    if sample.operands and sum(x.size for x in sample.operands) < 500
]


@pytest.mark.parametrize("sample", CASES)
def test_batched(sample):
    function = function_of(sample)
    if not sample.op.pure and not isinstance(sample.op, ops.JaxCall):
        with pytest.raises(NotMapped):
            Batch(BATCH_SIZE).function(function, (True,) * len(sample.operands))
        return
    for flags in subsets(len(sample.operands)):
        operands = [batched_program(x) if f else x for x, f in zip(sample.operands, flags)]
        made = Batch(BATCH_SIZE).function(function, flags)
        verify(made)
        if type(sample.op).__name__ not in ONE_BY_ONE and all(flags[:1]) and not sample.regions:
            assert len(made.body.ops) < 20
        with np.errstate(all="ignore"):
            found = interpret(made, operands)
            each = [
                interpret(function, [x[element] if f else x for x, f in zip(operands, flags)])
                for element in range(BATCH_SIZE)
            ]
        given = Batch(BATCH_SIZE).results(function, flags)
        for index, (ours, batched) in enumerate(zip(found, given, strict=True)):
            theirs = np.stack([e[index] for e in each]) if batched else each[0][index]
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(
                ours.astype(theirs.dtype),
                theirs,
                rtol=tolerance(theirs.dtype),
                atol=0 if theirs.dtype.kind in "iub" else 1e-5,
            )


def tolerance(dtype):
    return 1e-2 if dtype.itemsize <= 2 else 1e-4 if dtype.itemsize <= 8 else 1e-7


def test_without_batched_operands_nothing_changes():
    body = Region((ArrayType(np.dtype(np.float32), (2,)),))
    b = Builder(body)
    body.results = (b.op(ops.Negate(), body.params[0]),)
    function = Function("sample", body)
    made = Batch(BATCH_SIZE).function(function, (False,))
    assert Batch(BATCH_SIZE).results(function, (False,)) == (False,)
    assert made.result_types == function.result_types
