"""Which of the widest tests run: every fourth of their parameters, or all with `PYSTAGE_ALL_TESTS=1`.

Those tests run each function of JAX for every element type, form and setting, and JAX compiles each of those calls by
itself; `make test-all` runs them all.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

WIDE = {
    "test_nn.py": {"test_along_axes", "test_activations", "test_parameters_of_activations"},
    "test_operators.py": {"test_jax", "test_jax_with_python_scalars"},
    "test_jaxtail.py": {"test_calls"},
    "test_reductions.py": {"test_types", "test_axes"},
    "test_elementwise.py": {"test_unary_jax", "test_binary_jax"},
    "test_indexing.py": {"test_at", "test_at_a_mask"},
    "test_lax.py": {"test_unary", "test_named_reductions"},
    "test_products.py": {"test_types"},
}
KEPT = 4
"""One of so many parameters is kept."""


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leaves out what is not kept, by its place among the parameters of its test."""
    if os.environ.get("PYSTAGE_ALL_TESTS"):
        return
    seen: Counter[tuple[str, str]] = Counter()
    kept, left_out = [], []
    for item in items:
        name = getattr(item, "originalname", item.name)
        if name in WIDE.get(item.path.name, ()) and item.path.parent.name == "library":
            place = seen[item.path.name, name]
            seen[item.path.name, name] += 1
            (kept if place % KEPT == 0 else left_out).append(item)
        else:
            kept.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
