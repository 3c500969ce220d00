"""Every rule of every operation, on its samples: forward against differences, backward against forward.

On every third sample the way back is differentiated once more: forward against differences, backward against forward.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from ops.running import application, type_of

from pystage import compiler  # noqa: F401
from pystage.compiler import ops
from pystage.compiler.ad.calculus import CalculusBuilder, accumulated, differentiable
from pystage.compiler.ad.forward import ForwardMode
from pystage.compiler.ad.reverse import ReverseMode
from pystage.compiler.ad.rules import contributions, tangents
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.calculus import NotDifferentiable
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import ShapeError
from pystage.compiler.hlo.verify import verify
from pystage.compiler.hlo.walk import functions

from .programs import PROGRAMS
from .test_functions import typed

CONTROL = {"ShardMap", "If", "Case", "While", "Call", "ReduceWith", "JaxCall", "StopGradient"}
"""Operations that hold programs, or stand for one: they are checked in whole functions."""
KINDS = [kind for kind in ops.concrete() if kind.__name__ not in CONTROL]
NO_RULE = {"BitcastConvert", "CustomCall", "NextAfter", "Sign"}
"""Operations of floating-point numbers that have no derivative here."""
MOST_ELEMENTS = 1000
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
    c = CalculusBuilder(b)
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
    c = CalculusBuilder(b)
    found = contributions(c, op, cts)
    made = [accumulated(c, None, found[i], types[i]) for i in varied]
    body.results = tuple([c.zeros(types[i]) if v is None else v for i, v in zip(varied, made)])
    return Function("backward", body)


def promoted(sample):
    """The same sample in 64 bits, where differences show slopes."""
    wide = {np.dtype(np.float32): WIDE[0], np.dtype(np.complex64): WIDE[1]}
    operands = tuple([x.astype(wide.get(x.dtype, x.dtype)) for x in sample.operands])
    return dataclasses.replace(sample, operands=operands)


@functools.cache
def samples(kind):
    found = []
    for sample in kind.samples():
        try:
            application(sample.op, *[type_of(x) for x in promoted(sample).operands])
        except ShapeError:
            found.append(sample)
        else:
            found.append(promoted(sample))
    return found


def smooth_samples(kind):
    """The samples that have derivatives which differences show, with their numbers."""
    for number, sample in enumerate(samples(kind)):
        floats = [x for x in sample.operands if x.dtype in WIDE]
        results = application(sample.op, *[type_of(x) for x in sample.operands]).result_types
        if (
            floats
            and any(t.dtype in WIDE for t in results)
            and all(np.isfinite(x).all() for x in floats)
            and sum(x.size for x in sample.operands) < MOST_ELEMENTS
        ):
            yield number, sample


def differences(function, operands, varied, directions, step=1e-6):
    """The slopes of the results with a fraction along the directions; NaN where those to both sides are not alike."""

    def at(sign):
        moved = list(operands)
        for i, t in zip(varied, directions):
            moved[i] = moved[i] + sign * step * t
        with np.errstate(all="ignore"):
            return [r for r in interpret(function, moved) if r.dtype.kind in "fc"]

    with np.errstate(all="ignore"):
        for low, middle, high in zip(at(-1), at(0), at(1)):
            ahead, behind = (high - middle) / step, (middle - low) / step
            slope = (ahead + behind) / 2
            yield np.where(np.abs(ahead - behind) <= 1e-2 * (1 + np.abs(slope)), slope, np.nan)


def assert_slopes(found, wanted, error):
    """Asserts that derivatives are the slopes, wherever these can be told."""
    for ours, theirs in zip(found, wanted, strict=True):
        usable = np.isfinite(theirs) & (np.abs(theirs) < 1e4)
        np.testing.assert_allclose(ours[usable], theirs[usable], rtol=error, atol=error / 10)


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


class Prepared:
    """A sample, its function, which operands are differentiated by, and directions for them."""

    def __init__(self, kind, number):
        self.kind = kind
        self.sample = samples(kind)[number]
        self.operands = list(self.sample.operands)
        neutral = 1 if kind is ops.ReduceWindow else None
        self.varied = [i for i, x in enumerate(self.operands) if x.dtype in WIDE and i != neutral]
        self.function = application(self.sample.op, *[type_of(x) for x in self.operands])
        self.directions = [direction_of(kind, self.operands[i], 7 + i) for i in self.varied]

    def has_no_rule(self):
        return self.kind.__name__ in NO_RULE or isinstance(getattr(self.sample.op, "combine", None), HloOp)


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_forward_is_the_slope(kind, number):
    case = Prepared(kind, number)
    try:
        function = forward(case.sample, case.varied)
    except NotDifferentiable:
        assert case.has_no_rule()
        return
    verify(function)
    with np.errstate(all="ignore"):
        found = interpret(function, [*case.operands, *case.directions])
    assert_slopes(found, differences(case.function, case.operands, case.varied, case.directions), 1e-4)


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_backward_is_forward_transposed(kind, number):
    case = Prepared(kind, number)
    try:
        ahead, back = forward(case.sample, case.varied), backward(case.sample, case.varied)
    except NotDifferentiable:
        assert case.has_no_rule()
        return
    verify(back)
    with np.errstate(all="ignore"):
        moved = interpret(ahead, [*case.operands, *case.directions])
        cts = [random_like(x, 70 + i) for i, x in enumerate(moved)]
        sent = interpret(back, [*case.operands, *cts])
    left, right = inner(cts, moved), inner(sent, case.directions)
    if np.isfinite(left) and np.isfinite(right):
        assert left == pytest.approx(right, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("kind", "number"), CASES[::3])
def test_second_order(kind, number):
    """The way back of a sample is a function with a slope and a transpose of its own."""
    case = Prepared(kind, number)
    try:
        back = backward(case.sample, case.varied)
    except NotDifferentiable:
        assert case.has_no_rule()
        return
    if any(type(op.kind).__name__ in NO_RULE for op in back.body.ops[1:]):
        return
    count = len(case.operands)
    cts = [random_like(np.zeros(t.shape, t.dtype), 70) for t in back.param_types[count:]]
    operands = [*case.operands, *cts]
    varied = [*case.varied, *range(count, len(operands))]
    directions = [*case.directions, *[random_like(ct, 90) for ct in cts]]
    mask = tuple([i in varied for i in range(len(operands))])
    kept = ForwardMode().results(back, mask)
    ahead = ForwardMode().function(back, mask)
    twice = ReverseMode().function(back, mask, kept)
    verify(ahead)
    verify(twice)
    with np.errstate(all="ignore"):
        moved = interpret(ahead, [*operands, *directions])[len(kept) :]
        outer = [random_like(x, 110 + i) for i, x in enumerate(moved)]
        sent = interpret(twice, [*operands, *outer])[len(kept) :]
    wanted = differences(back, operands, varied, directions)
    assert_slopes(moved, [slope for slope, k in zip(wanted, kept, strict=True) if k], 1e-4)
    left, right = inner(outer, moved), inner(sent, directions)
    if np.isfinite(left) and np.isfinite(right):
        assert left == pytest.approx(right, rel=1e-8, abs=1e-8)


def a_case(index):
    """Sine, square or a constant of three numbers, times others."""
    body = Region((type_of(np.asarray(index)), *[type_of(np.zeros(3))] * 2))
    b = Builder(body)
    c = CalculusBuilder(b)
    chosen, x, y = body.params
    arms = []
    for arm in (lambda: c.op(ops.Sine(), x), lambda: c.mul(x, x), lambda: c.filled(x.type, 2.0)):
        arms.append(Region())
        with b.region(arms[-1]):
            arms[-1].results = (c.mul(arm(), y),)
    body.results = b.apply(ops.Case(), (chosen,), arms).results
    return Function("cases", body)


@pytest.mark.parametrize("index", [0, 1, 2, 7])
def test_the_chosen_case_is_differentiated(index):
    index = np.asarray(index, np.int32)
    function = a_case(index)
    operands = [index, *[random_like(np.zeros(3), seed) for seed in (1, 2)]]
    directions = [random_like(np.zeros(3), seed) for seed in (3, 4)]
    mask = (False, True, True)
    ahead, back = ForwardMode().function(function, mask), ReverseMode().function(function, mask, (True,))
    verify(ahead)
    verify(back)
    moved = interpret(ahead, [*operands, *directions])[1:]
    assert_slopes(moved, differences(function, operands, (1, 2), directions), 1e-6)
    ct = random_like(np.zeros(3), 5)
    sent = interpret(back, [*operands, ct])[1:]
    assert inner([ct], moved) == pytest.approx(inner(sent, directions), rel=1e-12)


ELSEWHERE = {"Case", "ReduceWith", "ShardMap", "StopGradient"}
"""The case has its test here, `stop_gradient` in `test_transforms`, `shard_map` in `distributed`;
a reduction with a function is refused."""


def test_every_operation_is_covered():
    """Each has a sample that is checked, or neither takes nor gives numbers, or stands in a program that is."""
    checked = {case.values[0] for case in CASES}
    for kind in KINDS:
        types = [application(s.op, *map(type_of, s.operands)) for s in kind.samples()]
        numbers = [f for f in types if any(map(differentiable, f.param_types))]
        without = not any(any(map(differentiable, f.result_types)) for f in numbers)
        assert without or kind in checked or kind in (ops.CustomCall, ops.HostCall), kind.__name__
    programs = [f for function, args in PROGRAMS for f in functions(typed(function, args))]
    found = {type(op.kind).__name__ for f in programs for op in f.body.walk()}
    assert found >= CONTROL - ELSEWHERE


def test_what_has_no_rule_says_so():
    for name in NO_RULE - {"Sign"}:  # which has one for real numbers
        for _, sample in smooth_samples(getattr(ops, name)):
            varied = [i for i, x in enumerate(sample.operands) if x.dtype in WIDE]
            function = application(sample.op, *[type_of(x) for x in sample.operands])
            if any(differentiable(t) for t in function.result_types):
                with pytest.raises(NotDifferentiable):
                    forward(sample, varied)
