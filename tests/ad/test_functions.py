"""Whole functions of HLO IR, forward and backward, against differences of the plain run; and each of the other."""

from __future__ import annotations

import numpy as np
import pytest

import pystage
from pystage.compiler.ad.forward import ForwardMode
from pystage.compiler.ad.reverse import ReverseMode
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Region
from pystage.compiler.hlo.rewrite import Copier
from pystage.compiler.hlo.verify import verify
from pystage.compiler.passes.simplify import simplify

from .programs import PROGRAMS

IDS = [f"{function.__name__}-{i}" for i, (function, _) in enumerate(PROGRAMS)]


def typed(function, args):
    """The typed program of a function, which takes the arguments in their order."""
    typed = pystage.compile(function).lower(*args).staged.program.function
    copier, body = Copier(), Region(typed.param_types)
    with copier.b.isolated(body):
        copier.fill(typed.body, body)
    # What says whether the program raised is no number to differentiate.
    body.results = body.results[:1]
    return typed.rewritten(body)


def differences(function, args, directions, step=1e-6):
    def at(sign):
        return float(
            function(
                *[
                    np.copy(a) + sign * step * t if np.ndim(a) else a + sign * step * t
                    for a, t in zip(args, directions)
                ]
            )
        )

    return (at(1) - at(-1)) / (2 * step)


def directions_for(args, seed=3):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.standard_normal(np.shape(a))) for a in args]


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_forward(function, args):
    hlo = typed(function, args)
    made = ForwardMode().function(hlo, (True,) * len(args))
    verify(made)
    directions = directions_for(args)
    value, slope = interpret(made, [*map(np.asarray, args), *directions])
    assert float(value) == pytest.approx(
        float(function(*[np.copy(a) if np.ndim(a) else a for a in args])), rel=1e-12
    )
    assert float(slope) == pytest.approx(differences(function, args, directions), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_backward(function, args):
    hlo = typed(function, args)
    made = ReverseMode().function(hlo, (True,) * len(args), (True,))
    verify(made)
    small = simplify(made).function
    verify(small)
    directions = directions_for(args)
    inputs = [*map(np.asarray, args), np.asarray(1.0)]
    _, *gradients = interpret(made, inputs)
    slope = sum(float(np.sum(g * t)) for g, t in zip(gradients, directions))
    assert slope == pytest.approx(differences(function, args, directions), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_second_order(function, args):
    """Forward over backward and backward over backward give one Hessian–vector product."""
    hlo = typed(function, args)
    count = len(args)
    back = ReverseMode().function(hlo, (True,) * count, (True,))
    directions = directions_for(args)
    inputs = [*map(np.asarray, args), np.asarray(1.0)]
    over = ForwardMode().function(back, (*[True] * count, False))
    verify(over)
    mask = ForwardMode().results(back, (*[True] * count, False))
    moved = interpret(over, [*inputs, *directions])[1 + count :]
    ahead = dict(zip([i for i, m in enumerate(mask) if m], moved))
    products = [ahead.get(1 + i, np.zeros(np.shape(a))) for i, a in enumerate(args)]
    twice = ReverseMode().function(back, (*[True] * count, False), (False, *[True] * count))
    verify(twice)
    found = interpret(twice, [*inputs, *directions])[1 + count :]
    for ours, theirs in zip(found, products):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
