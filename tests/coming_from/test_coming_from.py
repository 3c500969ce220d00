"""Each program plain and staged; and the page that is made of them."""

from __future__ import annotations

import copy
from pathlib import Path

import jax
import numpy as np
import pytest
from checking import check
from diagnostics.goldens import load

import pystage

from . import jax_users, other_tools  # noqa: F401  (declare their programs)
from .entries import QUESTIONS, Question

SCRIPT = load(Path(__file__).parents[2] / "docs" / "generate_coming_from.py")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.program.__name__)
def test_what_the_page_says_is_true(question: Question) -> None:
    if question.code is None:
        check(question.program, *copy.deepcopy(question.args), runs=1, interpreted=False)
        return
    with pytest.raises(pystage.StagingError) as error:
        pystage.compile(question.program, fallback="error")(*copy.deepcopy(question.args))
    assert {d.code for d in error.value.diagnostics} == {question.code}


def test_the_gradient_that_the_page_speaks_of() -> None:
    assert pystage.grad(jax_users.root)(2.0) == pytest.approx(0.5 / 2.0**0.5)


def test_a_global_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = pystage.compile(jax_users.with_a_global)
    for rate in (2.0, 3.0):
        monkeypatch.setattr(jax_users, "RATE", rate)
        assert list(staged(np.ones(2))) == [rate, rate]


OF_JAX = [q for q in QUESTIONS if q.tool == "JAX" and hasattr(jax.errors, q.name.partition(" ")[0])]


@pytest.mark.parametrize("question", OF_JAX, ids=lambda q: q.program.__name__)
def test_jax_says_so(question: Question) -> None:
    if question.name.startswith("Unexpected"):  # comes later, when the leaked value is used
        return
    args = [jax.numpy.asarray(a) for a in question.args]
    with pytest.raises(getattr(jax.errors, question.name.partition(" ")[0])):
        jax.jit(question.program)(*args)


def test_enough_are_asked() -> None:
    assert len(QUESTIONS) >= 40
    assert len({q.name for q in QUESTIONS}) == len(QUESTIONS)


def test_the_page_is_what_the_script_makes() -> None:
    """`python docs/generate_coming_from.py` writes it anew."""
    assert SCRIPT.PAGE.read_text() == SCRIPT.page(QUESTIONS)
