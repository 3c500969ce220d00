"""Bound methods that the caller gets: its own objects, or new ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


@dataclass
class Model:
    w: Any
    seen: list = field(default_factory=list)

    def apply(self, x):
        return self.w * x

    @classmethod
    def made(cls, w):
        return cls(w)


@dataclass
class Run:
    step: int
    apply: Any
    w: Any


X = np.arange(3.0)


def a_run():
    model = Model(2.0)
    return Run(0, model.apply, X), model


@cases(Run(0, Model(2.0).apply, X))
def kept(run):
    return Run(run.step + 1, run.apply, run.apply(run.w))


@cases(*a_run())
def kept_beside_its_object(run, model):
    model.w += 1.0
    return run.apply, model, run.apply(run.w)


@cases([Run(0, Model(2.0).apply, X), Run(1, Model(3.0).apply, X)])
def exchanged(runs):
    first, second = runs
    first.apply, second.apply = second.apply, first.apply
    return first.apply, first.apply(second.w), [each.apply for each in runs]


@cases.each((Run(0, Model(2.0).apply, X), 3), (Run(0, Model(2.0).apply, X), 30))
def kept_in_a_loop(run, n):
    for _ in range(n):
        run = Run(run.step + 1, run.apply, run.apply(run.w) * 0.5)
    return run


@cases.each((*a_run(), 1.0), (*a_run(), -1.0))
def one_of_two(run, model, x):
    other = Model(3.0)
    chosen = run.apply if x > 0 else other.apply
    return chosen(x), chosen.__self__.w


@cases(*a_run(), 1.0, refused="PS504")
def one_of_two_handed_back(run, model, x):
    return run.apply if x > 0 else model.apply


@cases(Model(2.0), 1.0)
def taken_of_an_object(model, x):
    return {"apply": model.apply, "model": model}, model.apply(x)


@cases(2.0)
def of_a_new_object(w):
    model = Model(w)
    model.seen.append(model.apply(w))
    return model.apply, model


@cases(2.0)
def of_a_class(w):
    return Model.made, Model.made(w)


@cases(Model(2.0), refused="PS504")
def taken_twice(model):
    return model.apply, model.apply


@cases(X, refused="PS504")
def of_an_array(x):
    return x.sum


OWN = Model(2.0)
APPLY = OWN.apply


def test_the_object_is_the_callers() -> None:
    import pystage

    run = a_run()[0]
    assert pystage.compile(kept, fallback="error")(run).apply is run.apply
    given = pystage.compile(lambda x: (APPLY, APPLY(x)), fallback="error")
    assert given(2.0)[0] is APPLY
    OWN.w = 5.0
    assert given(2.0)[1] == 10.0


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
