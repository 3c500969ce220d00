"""`CompiledFunction.staged`: the program of a function, inferred only."""

from __future__ import annotations

import numpy as np
import pytest

import pystage


def doubled(x, y=2.0):
    x[0] = y
    return x * 2.0


class Model:
    @pystage.compile
    def apply(self, x):
        return x + self.b

    def __init__(self) -> None:
        self.b = np.ones(3)


def stores(x):
    x += 1
    return x[1:]


def test_what_is_stored_into_is_writable():
    f = pystage.compile(stores)
    assert f.lower(pystage.spec("f64[3]")).staged.program.mutations
    assert f.explain(pystage.spec("f64[3]")).staged is not None


def test_a_program_that_is_not_kept() -> None:
    f = pystage.compile(doubled)
    staged = f.staged(pystage.spec("f32[3]"), y=1.0)
    assert [str(t) for t in staged.program.function.result_types][-1] == "f32[3]"
    assert staged.program.mutations
    assert f.signatures() == []


def test_a_method() -> None:
    staged = Model().apply.staged(pystage.spec("f64[3]"))
    assert [str(t) for t in staged.program.function.result_types] == ["f64[3]"]


def test_what_does_not_stage_and_what_does_not_fit_the_parameters() -> None:
    with pytest.raises(pystage.StagingError, match="PS601"):
        pystage.compile(lambda x: open(x)).staged(pystage.spec("f32[3]"))  # noqa: SIM115
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        pystage.compile(doubled).staged()


def test_a_transform_knows_the_function_with_its_arguments() -> None:
    for transform in (pystage.grad, pystage.value_and_grad, pystage.jacobian, pystage.checkpoint):
        assert transform(doubled).transformed is doubled
    assert pystage.vmap(doubled).transformed is None
    assert pystage.compile(doubled).transformed is None
