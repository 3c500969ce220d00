"""The examples agree with their plain runs, and say where their lines went."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pystage
import pytest
from checking import check, interpreting

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.append(str(EXAMPLES))  # one imports from another
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


def load(name: str) -> ModuleType:
    """The example as a module; it runs nothing when imported."""
    if (module := sys.modules.get(f"examples_{name}")) is not None:
        return module
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


PROGRAMS = [
    pytest.param(function, make_args, id=f"{name}-{function.__name__}-{index}")
    for name in NAMES
    if name != "ode_fit"
    for index, (function, make_args) in enumerate(load(name).PROGRAMS)
]


OPTIONS = {
    "examples_lstm": {"tolerance": 1e-4, "interpreted": False, "runs": 1},
    "examples_data_parallel": {"tolerance": 1e-4, "interpreted": False, "runs": 1},
    "examples_train_digits": {"tolerance": 1e-4, "interpreted": False, "runs": 1},
    "examples_wordseg": {"tolerance": 1e-5},
}
"""How those examples are compared that compute in 32 bits, or for long."""


def test_there_are_examples():
    wanted = {"kmeans_digits", "lstm", "mandelbrot", "newton", "ode", "ode_fit", "train_digits"}
    assert wanted | {"wordseg"} <= set(NAMES)


@pytest.mark.parametrize("function, make_args", PROGRAMS)
def test_plain_and_staged_agree(function, make_args):
    options = OPTIONS.get(function.__module__, {"tolerance": 1e-9})
    check(function, *make_args(), **options)


def test_a_fit_by_derivatives_of_solvers():
    """XLA takes long for the derivative by itself; what the plain run calls is interpreted."""
    example = load("ode_fit")

    def fit(*args):
        with interpreting():
            return example.fit(*args)

    staged = pystage.compile(example.fit, fallback="error")
    check(fit, *example.few(), staged=staged, tolerance=1e-7, interpreted=False, runs=1)


def test_the_digits_are_clustered_alike():
    example = load("kmeans_digits")
    points = example.load_digits().data
    starts = example.choose_starts(points, restarts=2, k=10)
    labels, inertia, rounds = pystage.compile(example.kmeans)(points, starts)
    plain_labels, plain_inertia, plain_rounds = example.kmeans(points, starts)
    np.testing.assert_array_equal(labels, plain_labels)
    assert (rounds, inertia) == (plain_rounds, pytest.approx(plain_inertia, rel=1e-9))


def test_instructions_are_counted_by_their_lines():
    example = load("kmeans_digits")
    points, starts = example.few_digits()
    text = pystage.compile(example.kmeans).lower(points, starts).compile().as_text()
    lines = example.instructions_by_line(text, example.__file__)
    source = Path(example.__file__).read_text(encoding="utf-8").splitlines()
    busy = {source[number - 1].strip() for number in lines}
    assert "distances = ((centres - points[i]) ** 2).sum(axis=1)" in busy
    assert "counts[labels[i]] += 1.0" in busy
