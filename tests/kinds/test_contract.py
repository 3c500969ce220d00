"""Every program of the contract with arguments of other kinds.

The programs are those that the test modules collect with `Cases`; a program whose arguments have no array that becomes
another is left out. Where the plain run raises, because a `jax.Array` cannot be stored into, the staged run must too.
Every eighth program is compiled by XLA, the others run in the reference interpreter. `make test` takes some programs of
some modules, `make test-kinds` all.
"""

from __future__ import annotations

import importlib
from collections import Counter

import pytest
from collected_cases import MODULES
from sampling import ALL

from kinds.running import SAMPLED, Kind, run_with

BEYOND = "an index of a jax.Array beyond 32 bits: `docs/semantics.md`"
ALLOWED = {
    **{f"errors.test_indices:load-{number}": BEYOND for number in (7, 8, 11)},
    "errors.test_indices:load_of_two_beyond_64_bits-2": BEYOND,
    "errors.test_indices:load_of_two_beyond_64_bits-3": BEYOND,
    "errors.test_indices:load_of_two_beyond_64_bits-4": BEYOND,
    "errors.test_indices:add_at-1": "np.add.at that converts looks at all indices before it stores",
    **{
        f"contract.numpy.test_bounded:negative_powers-{number}": "JAX's text has the bound as the size"
        for number in (1, 2)
    },
    "contract.sizes.test_computed_sizes:tile_by_a_value-1": "np.tile of a jax.Array, once, is read-only",
    "contract.numpy.test_sliding_windows:of_vectors-9": "two read-only views of one jax.Array share its memory",
    "contract.language.test_type_errors:reversed_-5": "JAX raises from an IndexError of its own",
    "errors.test_messages:numbers_have_no_items-1": "ml_dtypes' numbers have another text for `del x[0]`",
}
"""Programs that may differ, and why."""

OF_BFLOAT16 = {
    "contract.language.test_computed_items": ("of_arrays_in_an_order_that_each_trip_computes",),
    "contract.language.test_computed_lists": ("columns_of_pairs",),
    "contract.language.test_type_errors": ("filled", "a_complex_number_stored", "put_where_it_is_masked"),
    "contract.numpy.test_bounded": ("unique", "counts"),
    "contract.sizes.test_computed_sizes": ("prefixes_of_many_lengths", "scales_of_a_tuple"),
    "contract.sizes.test_growing_arrays": ("five_ifs",),
    "contract.sizes.test_short_slices": ("between_found_places",),
}
"""Those that differ for numbers of ml_dtypes: by its conversions' exceptions, and by how NumPy sorts and adds them up."""

EACH = 8
"""Of so many programs one runs in `make test`, and one is compiled by XLA in `make test-kinds`."""


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("kind", SAMPLED, ids=lambda kind: kind.name)
def test_programs_of_the_contract(kind: Kind, name: str, record_property: pytest.RecordProperty) -> None:
    outcomes: Counter[str] = Counter()
    found = []
    for number, param in enumerate(importlib.import_module(name).cases.params):
        function, args, options = param.values
        if options.get("refused") or (not ALL and number % EACH):
            continue
        outcome = run_with(function, args, options.get("kwargs"), kind, number % EACH != 3)
        if outcome is None:
            continue
        outcomes[outcome.what] += 1
        program, _, _ = str(param.id).rpartition("-")
        if "bfloat16" in kind.name and program in OF_BFLOAT16.get(name, ()):
            continue
        if outcome.is_wrong and f"{name}:{param.id}" not in ALLOWED:
            found.append(f"{param.id}: {outcome.what} {outcome.text}")
    record_property("programs with arguments of other kinds", dict(outcomes))
    assert not found, "\n\n".join(found)
