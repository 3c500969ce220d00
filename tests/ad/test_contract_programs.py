"""The gradient of every program of the contract that is differentiable, against differences of its plain run.

The programs are those that the test modules collect with `Cases`. Which of them have a gradient is for the programs
to say: numbers with a fraction go in and come out, and the slopes to both sides are one. Every third is checked to
second order, every sixteenth is compiled by XLA. `make test` takes a sixth of the programs of every
other module, those up to the first that has a gradient, and one of their inputs, `make test-all` all.
"""

from __future__ import annotations

import importlib
from collections import Counter

import numpy as np
import pytest
from collected_cases import MODULES
from gradient_checks import check_gradient
from sampling import ALL

WITHOUT = {
    "contract.language.test_printing",
    "contract.numpy.test_draws",
    "contract.numpy.test_draws_in_programs",
    "contract.numpy.test_normal_draws_in_programs",
    "contract.exceptions.test_contexts",
    "contract.language.test_type_errors",
    "contract.paths.test_nan_elements",
    "contract.language.test_computed_sets",
    "contract.containers.test_dicts_of_lists",
    "contract.exceptions.test_builtin_arguments",
    "contract.containers.test_lists_of_each_trip",
    "errors.test_messages",
}
"""Modules of which no program has a derivative: how far a program has come is for the host to know, and what it draws;
and all programs of some raise."""

ELSEWHERE = {
    "contract.language.test_computed_items",
    "contract.language.test_computed_lists",
    "contract.language.test_computed_sizes",
    "contract.numpy.test_bounded",
    "contract.sizes.test_computed_sizes",
    "contract.sizes.test_short_slices",
    "contract.numpy.test_triangular_loops",
}
"""Modules of which `make test` takes only the programs up to the first that has a gradient: the gradients of programs
with what has no known size are in `test_bounded.py`, and among those of the random programs."""


@pytest.mark.parametrize("name", MODULES if ALL else MODULES[::2])
def test_gradients_are_slopes(name: str, record_property: pytest.RecordProperty) -> None:
    outcomes: Counter[str] = Counter()
    wrong = []
    seen = set()
    for number, param in enumerate(importlib.import_module(name).cases.params):
        function, args, options = param.values
        enough = (number % 6 or name in ELSEWHERE) and (outcomes["same"] or name in WITHOUT)
        draws = any(isinstance(each, np.random.Generator) for each in args)
        if draws or options.get("refused") or (not ALL and (function in seen or enough)):
            continue
        seen.add(function)
        checked = sum(outcomes.values())
        second, compiled = checked % 3 == 0, checked % 16 == 2
        outcome = check_gradient(function, args, options.get("kwargs"), second, compiled)
        outcomes[outcome.what] += 1
        if outcome.is_wrong:
            wrong.append(f"{param.id}: {outcome.what} {outcome.text}")
    record_property("gradients of contract programs", dict(outcomes))
    assert not wrong, "\n\n".join(wrong)
    assert outcomes["same"] or name in WITHOUT, dict(outcomes)
