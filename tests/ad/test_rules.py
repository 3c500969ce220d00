"""Every rule of every operation, on its samples: forward against differences, backward against forward."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from ops.running import application, type_of

from pystage import compiler  # noqa: F401
from pystage.compiler import ops
from pystage.compiler.ad.calculus import Calculus, accumulated, differentiable
from pystage.compiler.ad.rules import contributions, tangents
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.calculus import NotDifferentiable
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import ShapeError
from pystage.compiler.hlo.verify import verify

CONTROL = {"If", "Case", "While", "Call", "ReduceWith", "JaxCall", "StopGradient"}
KINDS = sorted(
    {
        k
        for k in vars(ops).values()
        if isinstance(k, type) and issubclass(k, HloOp) and k.__name__ not in CONTROL
    },
    key=lambda k: k.__name__,
)
NO_RULE = {"BitcastConvert", "CustomCall", "Digamma", "NextAfter", "Sign"}
"""Operations of floating-point numbers that have no derivative here."""
WIDE = (np.dtype(np.float64), np.dtype(np.complex128))


def random_like(x, seed):
    rng = np.random.default_rng(seed)
    if x.dtype.kind == "c":
        return (rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape)).astype(x.dtype)
    return rng.standard_normal(x.shape).astype(x.dtype)


def forward(sample, varied):
    """The tangents of the results as a function of the operands and the tangents of `varied`."""
    types = [type_of(x) for x in sample.operands]
    body = Region((*types, *[types[i] for i in varied]))
    b = Builder(body)
    operands = body.params[: len(types)]
    given = dict(zip(varied, body.params[len(types) :]))
    op = b.apply(sample.op, operands)
    c = Calculus(b)
    found = tangents(c, op, [given.get(i) for i in range(len(types))])
    body.results = tuple(
        [c.zeros(r.type) if t is None else t for r, t in zip(op.results, found) if differentiable(r.type)]
    )
    return Function("forward", body)


def backward(sample, varied):
    """The cotangents of `varied` as a function of the operands and the cotangents of the results."""
    types = [type_of(x) for x in sample.operands]
    body = Region(tuple(types))
    b = Builder(body)
    op = b.apply(sample.op, body.params)
    cts = [body.add_param(r.type) if differentiable(r.type) else None for r in op.results]
    c = Calculus(b)
    found = contributions(c, op, cts)
    made = [accumulated(c, None, found[i], types[i]) for i in varied]
    body.results = tuple([c.zeros(types[i]) if v is None else v for i, v in zip(varied, made)])
    return Function("backward", body)


def widened(sample):
    """The same sample in 64 bits, where differences show slopes."""
    wide = {np.dtype(np.float32): WIDE[0], np.dtype(np.complex64): WIDE[1]}
    operands = tuple([x.astype(wide.get(x.dtype, x.dtype)) for x in sample.operands])
    return dataclasses.replace(sample, operands=operands)


@functools.cache
def samples(kind):
    found = []
    for sample in kind.samples():
        try:
            application(sample.op, *[type_of(x) for x in widened(sample).operands])
        except ShapeError:
            found.append(sample)
        else:
            found.append(widened(sample))
    return found


def smooth_samples(kind):
    for number, sample in enumerate(samples(kind)):
        floats = [x for x in sample.operands if x.dtype in WIDE]
        if (
            floats
            and all(np.isfinite(x).all() for x in floats)
            and sum(x.size for x in sample.operands) < 200
        ):
            yield number, sample


def differences(sample, varied, directions, step=1e-6):
    function = application(sample.op, *[type_of(x) for x in sample.operands])

    def at(sign):
        moved = list(sample.operands)
        for i, t in zip(varied, directions):
            moved[i] = moved[i] + sign * step * t
        with np.errstate(all="ignore"):
            return [r for r in interpret(function, moved) if r.dtype.kind in "fc"]

    middle = at(0)
    slopes = [(high - low) / (2 * step) for high, low in zip(at(1), at(-1))]
    return [np.where(np.isfinite(y), slope, np.nan) for y, slope in zip(middle, slopes)]


def direction_of(kind, x, seed):
    """Matrices that are to be factorised stay Hermitian."""
    t = random_like(x, seed)
    return t + np.conj(np.swapaxes(t, -1, -2)) if kind is ops.Cholesky else t


def inner(xs, ys):
    with np.errstate(all="ignore"):
        return sum(float(np.real(np.sum(x * y))) for x, y in zip(xs, ys))


CASES = [
    pytest.param(kind, number, id=f"{kind.__name__}-{number}")
    for kind in KINDS
    for number, _ in smooth_samples(kind)
]


def prepared(kind, number):
    sample = samples(kind)[number]
    neutral = 1 if kind is ops.ReduceWindow else None
    varied = [i for i, x in enumerate(sample.operands) if x.dtype in WIDE and i != neutral]
    function = application(sample.op, *[type_of(x) for x in sample.operands])
    if not any(t.dtype in WIDE for t in function.result_types):
        pytest.skip("the results have no derivatives that differences would show")
    return sample, varied


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_forward_is_the_slope(kind, number):
    sample, varied = prepared(kind, number)
    directions = [direction_of(kind, sample.operands[i], 7 + i) for i in varied]
    try:
        function = forward(sample, varied)
    except NotDifferentiable:
        assert kind.__name__ in NO_RULE or isinstance(getattr(sample.op, "combine", None), HloOp)
        return
    verify(function)
    with np.errstate(all="ignore"):
        found = interpret(function, [*sample.operands, *directions])
    wanted = differences(sample, varied, directions)
    for ours, theirs in zip(found, wanted, strict=True):
        usable = np.isfinite(theirs) & (np.abs(theirs) < 1e4)
        np.testing.assert_allclose(ours[usable], theirs[usable], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_backward_is_forward_transposed(kind, number):
    sample, varied = prepared(kind, number)
    directions = [direction_of(kind, sample.operands[i], 7 + i) for i in varied]
    try:
        ahead, back = forward(sample, varied), backward(sample, varied)
    except NotDifferentiable:
        assert kind.__name__ in NO_RULE or isinstance(getattr(sample.op, "combine", None), HloOp)
        return
    verify(back)
    with np.errstate(all="ignore"):
        moved = interpret(ahead, [*sample.operands, *directions])
        cts = [random_like(x, 70 + i) for i, x in enumerate(moved)]
        sent = interpret(back, [*sample.operands, *cts])
    left, right = inner(cts, moved), inner(sent, directions)
    if np.isfinite(left) and np.isfinite(right):
        assert left == pytest.approx(right, rel=1e-8, abs=1e-8)


def test_what_has_no_rule_says_so():
    for name in NO_RULE - {"Sign"}:  # which has one for real numbers
        for _, sample in smooth_samples(getattr(ops, name)):
            varied = [i for i, x in enumerate(sample.operands) if x.dtype in WIDE]
            function = application(sample.op, *[type_of(x) for x in sample.operands])
            if any(differentiable(t) for t in function.result_types):
                with pytest.raises(NotDifferentiable):
                    forward(sample, varied)
