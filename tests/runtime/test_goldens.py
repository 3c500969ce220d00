"""Each PS8xx error, rendered, beside the text that it should give.

`PYSTAGE_UPDATE_GOLDENS=1` writes the texts anew.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
import pystage.compiler.diagnostics.codes_runtime as codes
from pystage.compiler.diagnostics.diagnostic import REGISTRY
from pystage.compiler.diagnostics.render import render_all
from tests.goldens.PS8xx import programs
from tests.runtime.growing import total_of_numbers

GOLDENS = Path(__file__).parent.parent / "goldens" / "PS8xx"

SHARED = np.arange(4.0)


def linked(length: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(length):
        found = [found]
    return found


def cyclic() -> dict[str, Any]:
    state: dict[str, Any] = {"items": []}
    state["items"].append(state)
    return state


CASES: dict[str, Callable[[], Any]] = {
    "PS801_unsupported_argument": lambda: programs.norm({"x": {1.0, 2.0}}),
    "PS802_unsupported_elements": lambda: programs.norm({"x": np.array([1, None])}),
    "PS803_integer_too_large": lambda: programs.double(2**64),
    "PS804_cyclic_argument": lambda: programs.norm(cyclic()),
    "PS805_nested_too_deeply": lambda: programs.double(linked(200_000)),
    "PS806_overlapping_memory": lambda: programs.shift(SHARED[1:], SHARED[:-1]),
    "PS813_print_elsewhere": lambda: jax.export.export(jax.jit(programs.report))(
        jax.ShapeDtypeStruct((), np.float32)
    ),
    "PS807_mutation_under_transformation": lambda: jax.jit(lambda x: programs.shift(np.zeros(3), x))(
        jnp.ones(3)
    ),
    "PS810_integer_beyond_64_bits": lambda: programs.total(np.zeros(1), 2**62),
    "PS811_power_is_complex": lambda: programs.power(-8.0),
    "PS812_shared_object": lambda: programs.remember(programs.LOG, 1.0),
    "PS814_not_in_order": lambda: programs.mark(np.zeros((2, 3)).T),
    "PS817_cannot_export": lambda: programs.remember.export(SHARED, 1.0),
    "PS815_capacity_outgrown": lambda: total_of_numbers.lower(1).compile()(5),
    "PS816_out_of_memory": lambda: programs.middle(np.ones(3), 1 << 50),
    "PS801_generator": lambda: programs.double(x for x in [1.0]),
    "PS801_file": lambda: programs.norm({"x": np.ones(1), "log": io.BytesIO()}),
    "PS802_strings": lambda: programs.double(np.array(["a", "b"])),
    "PS802_dates": lambda: programs.double(np.zeros(2, dtype="datetime64[D]")),
    "PS802_fields": lambda: programs.double(np.zeros(2, dtype=[("x", float), ("name", "U8")])),
    "PS803_in_a_list": lambda: programs.norm({"x": np.ones(1), "seed": [1, 2**80]}),
    "PS806_one_array_twice": lambda: programs.shift(SHARED[:2], SHARED[1:3]),
    "PS810_product": lambda: programs.cubed(2**30),
    "PS811_of_an_array_element": lambda: programs.power(float(np.array([-2.0])[0])),
    "PS809_value_not_given": lambda: programs.zeros.lower(pystage.spec("s64[]", "python")),
}


def test_every_code_has_a_golden() -> None:
    known = {code for code, cls in REGISTRY.items() if cls.__module__ == codes.__name__}
    assert {name.partition("_")[0] for name in CASES} == known


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    with pytest.raises(pystage.StagingError) as caught:
        CASES[name]()
    diagnostics = caught.value.diagnostics
    assert [d.code for d in diagnostics] == [name.partition("_")[0]]
    text = render_all(diagnostics) + "\n"
    for folder in (GOLDENS, Path(__file__).parent):
        text = text.replace(f"{folder}{os.sep}", "")
    golden = GOLDENS / f"{name}.txt"
    if name.startswith("PS805"):
        # How deep Python goes is Python's own affair.
        text = "".join(c for c in text if not c.isdigit())
    if os.environ.get("PYSTAGE_UPDATE_GOLDENS"):
        golden.write_text(text)
    assert text == golden.read_text()
