"""Which parameters of the widest tests run: one in 24, or all with `PYSTAGE_ALL_TESTS=1` (`make test-all`).

Of tests that start processes, or that run much for each parameter, a quarter runs; of others with many parameters a third.

Those tests run each function of JAX for every element type, form and setting, or programs that other tests run too; JAX
compiles each of the calls by itself. Of the programs of `checking.Cases` a fifth runs, on a third of their inputs.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ALL = bool(os.environ.get("PYSTAGE_ALL_TESTS"))
TESTS = Path(__file__).resolve().parent
KEPT = 24
"""One of so many parameters is kept."""
KEPT_OF_SLOW = 4
"""One of so many parameters of a slow test is kept."""
MANY = 8
KEPT_OF_MANY = 3
"""One of so many parameters is kept of another test that has `MANY`, but of one that runs programs of `checking.Cases`."""
KEPT_OF_INPUTS = 3
"""One of so many inputs of a program is kept: of programs side by side, other inputs."""
KEPT_OF_PROGRAMS = 5
"""One of so many programs is kept, by its name, whatever else is collected."""

WIDE = {
    "ad/test_custom.py": {"test_under_transformations_of_jax"},
    "ad/test_edges.py": {"test_edges_are_those_of_jax"},
    "ad/test_functions.py": {"test_second_order"},
    "ad/test_printing.py": {"test_printed_once"},
    "ad/test_transforms.py": {"test_grad_outside"},
    "contract/numpy/test_out_of_range.py": {"test_integers_of_the_program"},
    "contract/numpy/test_stores_out_of_bounds.py": {"test_what_is_raised_first"},
    "contract/numpy/test_draws.py": {"test_every_method_draws_in_loops_what_it_draws_trip_by_trip"},
    "kinds/test_contract.py": {"test_programs_of_the_contract"},
    "kinds/test_numpy.py": {"test_functions"},
    "kinds/test_programs.py": {"test_programs"},
    "lazy/test_numpy.py": {"test_calls"},
    "lazy/test_views.py": {"test_random_views_and_stores"},
    "library/numpy/test_array_attributes.py": {"test_data"},
    "library/kernels/test_exact_numbers.py": {"test_exact"},
    "library/numpy/test_elementwise.py": {"test_unary_jax", "test_binary_jax"},
    "library/numpy/bounded/test_types.py": {"test_types"},
    "library/numpy/bounded/test_walk.py": {"test_calls"},
    "library/numpy/indexing/test_indexing.py": {"test_at", "test_at_a_mask", "test_stores_cast"},
    "library/jax/test_traced_calls.py": {"test_calls"},
    "library/jax/lax/test_lax.py": {
        "test_unary",
        "test_binary",
        "test_convert",
        "test_named_reductions",
        "test_operands_of_other_kinds",
        "test_shapes",
        "test_what_goes_to_jax_as_a_whole",
    },
    "library/jax/lax/test_control.py": {"test_scan", "test_while_loop", "test_fori_loop"},
    "library/numpy/test_manipulation.py": {"test_joins"},
    "library/jax/test_nn.py": {"test_along_axes", "test_activations", "test_parameters_of_activations"},
    "library/python/test_operators.py": {"test_jax", "test_jax_with_python_scalars", "test_numpy_arrays"},
    "library/numpy/linalg/test_products.py": {"test_types"},
    "library/numpy/reductions/test_quantiles.py": {"test_methods"},
    "library/numpy/reductions/test_reductions.py": {"test_types", "test_axes", "test_dtype"},
    "test_no_trace.py": {"test_staging_runs_no_user_code"},
}
"""By module, the tests that are sampled."""

SLOW = {
    "ad/test_contract_programs.py": {"test_gradients_are_slopes"},
    "cli/test_streams.py": {"test_a_disk_that_is_full", "test_a_pipe_that_nobody_reads"},
    "contract/packages/test_linen.py": {"test_apply", "test_init"},
    "lazy/test_contract.py": {"test_programs_of_the_contract"},
    "runtime/dispatch/test_eviction.py": {"test_signatures"},
    "runtime/executables/test_interrupts.py": {"test_interrupt"},
    "runtime/reports/test_messages.py": {"test_silent"},
    "runtime/results/test_memory_reserve.py": {
        "test_a_second_call_gets_no_new_pages",
        "test_the_allocator_is_left_alone",
    },
}
"""By module, the tests of which a quarter runs."""

CHEAP = {"test_docs.py", "test_support.py", "test_public_api.py", "ops/test_generic.py"}
"""Modules all of whose parameters run: they read declarations, or pages of which each stands for itself."""

LONG = {
    "explain/test_run_reports.py": {
        "test_folders_archives_and_modules",
        "test_the_report_as_data",
        "test_the_report_comes_last",
    },
    "contract/packages/test_linen.py": {
        "test_a_whole_training[trained]",
        "test_no_code_of_the_program_runs",
    },
    "contract/test_examples.py": {
        "test_a_fit_by_derivatives_of_solvers",
    },
    "contract/test_models.py": {
        "test_full_sizes[roberta-124695129]",
        "test_full_sizes[vgg19-143667240]",
        "test_programs[roberta-loss-2]",
        "test_programs[vgg19-backward-1]",
        "test_programs[vgg19-forward-0]",
        "test_training[roberta with dropout]",
        "test_training[vgg19]",
        "test_gradients_are_slopes[roberta]",
        "test_gradients_are_slopes[vgg19]",
        "test_the_gradient_of_vgg19_is_that_of_jax",
    },
    "test_no_trace.py": {
        "test_staging_runs_no_user_code[resnet50-train_step-0]",
        "test_staging_runs_no_user_code[roberta-train_step-0]",
        "test_staging_runs_no_user_code[roberta-train_step-1]",
        "test_staging_runs_no_user_code[vgg19-train_step-2]",
    },
    "lazy/test_fallback.py": {"test_loops_over_elements_are_about_as_fast_as_plain"},
}
"""By module, tests that run only with all: what they compile, others compile too."""


def is_chosen(each: int) -> bool:
    """True in one of so many tests, by the name of the one that runs, and in all with all tests."""
    return ALL or zlib.crc32(os.environ.get("PYTEST_CURRENT_TEST", "").encode()) % each == 0


def sampled(items: list[Any]) -> tuple[list[Any], list[Any]]:
    """The tests that run, and those that are left out.

    By the sum of the places of a test's parameters, each among those of its `parametrize`: so every parameter is
    used, with some of the others.
    """
    kept: list[Any] = []
    left_out: list[Any] = []
    places: defaultdict[tuple[Any, str], dict[int, int]] = defaultdict(dict)
    inputs = _Inputs(items)
    counts = Counter(getattr(item, "function", None) for item in items)
    for item in items:
        module = Path(item.path).relative_to(TESTS).as_posix()
        name = getattr(item, "originalname", item.name)
        place = 0
        for argument in _first_arguments(item):
            seen = places[item.function, argument]
            place += seen.setdefault(id(item.callspec.params[argument]), len(seen))
        if name in WIDE.get(module, ()):
            each = KEPT
        elif name in SLOW.get(module, ()):
            each = KEPT_OF_SLOW
        else:
            many = counts[item.function] >= MANY and _program(item) is None
            each = KEPT_OF_MANY if many and module not in CHEAP else 1
        long = not {name, item.name}.isdisjoint(LONG.get(module, ()))
        left = long or place % each != 0
        left = left or inputs.left(item)
        (left_out if left and not ALL else kept).append(item)
    return kept, left_out


class _Inputs:
    """The inputs of each program of a test: how many there are, and how many were met so far."""

    def __init__(self, items: list[Any]) -> None:
        self.all = Counter([found for found in map(_program, items) if found is not None])
        self.met: Counter[Any] = Counter()

    def left(self, item: Any) -> bool:
        """True for a test of a program, or an input, that is left out, by the program's name; one of each kept is not."""
        program = _program(item)
        if program is None:
            return False
        number = zlib.crc32(program[1].__name__.encode())
        if number % KEPT_OF_PROGRAMS:
            return True
        each = min(KEPT_OF_INPUTS, self.all[program])
        met = self.met[program]
        self.met[program] += 1
        return met % each != number // KEPT_OF_PROGRAMS % each


def _program(item: Any) -> Any:
    """The test and the program of `checking.Cases` that it runs; None for another test."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    if "args" not in params or "options" not in params:
        return None
    return item.function, params.get("function", params.get("program"))


def _first_arguments(item: Any) -> list[str]:
    """Of each `parametrize` of a test, the first of the arguments that it gives."""
    names = [mark.args[0] for mark in item.iter_markers("parametrize")]
    return [each.partition(",")[0].strip() if isinstance(each, str) else each[0] for each in names]
