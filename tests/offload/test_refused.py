"""The contract programs that are refused run as residual programs, and do what the plain ones do."""

import warnings

import pytest
from collected_cases import programs

from offload.running import compare_offloaded, compiled_at_once

ELSEWHERE = {"changes_a_list-1", "the_address_of_an_object-1"}
"""Programs of which two runs differ: by a global that they change, or by where an object lies."""


def refused_programs():
    for module, param in programs("contract"):
        function, args, options = param.values
        if "refused" in options and "kwargs" not in options and param.id not in ELSEWHERE:
            yield pytest.param(function, args, id=f"{module}-{param.id}")


@pytest.mark.parametrize("function, args", list(refused_programs()))
def test_refused_programs_run(function, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_offloaded(function, compiled_at_once(function), args)
