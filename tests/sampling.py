"""Which parameters of the widest tests run: every fourth, or all with `PYSTAGE_ALL_TESTS=1` (`make test-all`).

Those tests run each function of JAX for every element type, form and setting, each sample of an operation with every
choice of operands that have lanes, or programs that other tests run too; JAX compiles each of the calls by itself.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

ALL = bool(os.environ.get("PYSTAGE_ALL_TESTS"))
KEPT = 4
"""One of so many parameters is kept."""

WIDE = {
    "batch/test_rules.py": {"test_all_lanes_at_once"},
    "library/test_array_attributes.py": {"test_data"},
    "library/test_elementwise.py": {"test_unary_jax", "test_binary_jax"},
    "library/test_indexing.py": {"test_at", "test_at_a_mask", "test_stores_cast"},
    "library/test_jaxtail.py": {"test_calls"},
    "library/test_lax.py": {
        "test_unary",
        "test_binary",
        "test_convert",
        "test_named_reductions",
        "test_operands_of_other_kinds",
        "test_shapes",
    },
    "library/test_manipulation.py": {"test_joins"},
    "library/test_nn.py": {"test_along_axes", "test_activations", "test_parameters_of_activations"},
    "library/test_operators.py": {"test_jax", "test_jax_with_python_scalars", "test_numpy_arrays"},
    "library/test_products.py": {"test_types"},
    "library/test_quantiles.py": {"test_methods"},
    "library/test_reductions.py": {"test_types", "test_axes", "test_dtype"},
}
"""By module, the tests that are sampled."""


def sampled(items: list[Any]) -> tuple[list[Any], list[Any]]:
    """The tests that run, and those that are left out, by their place among the parameters of their test."""
    seen: Counter[tuple[str, str]] = Counter()
    kept: list[Any] = []
    left_out: list[Any] = []
    for item in items:
        path = Path(item.path)
        module, name = f"{path.parent.name}/{path.name}", getattr(item, "originalname", item.name)
        place = seen[module, name]
        seen[module, name] += 1
        wide = name in WIDE.get(module, ())
        (left_out if wide and place % KEPT and not ALL else kept).append(item)
    return kept, left_out
