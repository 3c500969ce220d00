"""The programs of the contract on lazy tensors, as plain Python: those that stage, and those that are refused."""

from __future__ import annotations

import importlib

import pytest
from collected_cases import MODULES
from sampling import ALL

from lazy.comparing import compare

EVERY = 1 if ALL else 24
ALLOWED = {
    "contract.numpy.test_draws:into_out-1": "a generator stores into ndarrays only: ValueError",
    "contract.numpy.test_draws:into_out-2": "a generator stores into ndarrays only: ValueError",
    "errors.test_messages:called-5": "Python's text has the name of the class",
    "contract.language.test_type_errors:called-5": "Python's text has the name of the class",
    "contract.language.test_computed_items:of_unsigned_places-1": "Python's text has the name of the class",
    "contract.language.test_printing:containers-1": "it prints the class",
    "contract.numpy.test_flat:as_an_array-1": "the class of `flat` is its own",
    "contract.paths.test_views_by_path:contiguous_on_one_path-2": "`np.ascontiguousarray` asks for an ndarray",
    "contract.exceptions.test_made_exceptions:changes_a_list-1": "it counts its own runs",
}
"""Programs that differ, and why."""


def check(name: str) -> None:
    """Compares the programs of a module of the contract."""
    found = []
    for number, param in enumerate(importlib.import_module(name).cases.params):
        function, args, options = param.values
        if number % EVERY or f"{name}:{param.id}" in ALLOWED:
            continue
        try:
            compare(function, *args, tolerance=options.get("tolerance"), **(options.get("kwargs") or {}))
        except AssertionError as error:
            found.append(f"{param.id}: {error}")
    assert not found, "\n\n".join(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", MODULES)
def test_programs_of_the_contract(name: str) -> None:
    check(name)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", MODULES)
def test_programs_of_the_contract_interpreted(name: str) -> None:
    check(name)


@pytest.mark.usefixtures("at_once", "interpreted")
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", MODULES)
def test_programs_of_the_contract_at_once(name: str) -> None:
    check(name)
