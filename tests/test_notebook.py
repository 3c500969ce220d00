"""IPython: `%pystage explain`, functions of cells, and what a notebook shows of a compiled function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pystage.explain import Explanation

pytest.importorskip("IPython")
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

CELL = """%%pystage explain
import numpy as np
def f(x, explains=3):
    return np.sin(x) * 2

f(np.ones(3))
"""
COMPILED = """
import pystage
@pystage.compile(tier="compiled", fallback="error")
def g(x):
    return np.cos(x) * FACTOR
"""


@pytest.fixture
def shell() -> Iterator[Any]:
    InteractiveShell.clear_instance()
    shell: Any = InteractiveShell.instance()
    shell.displayhook.write_format_data = lambda *_: None
    shell.run_line_magic("load_ext", "pystage")
    yield shell
    InteractiveShell.clear_instance()


def test_the_magic_explains_a_call(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell(CELL).raise_error()
    (found,) = [each for each in shell.user_ns["Out"].values() if isinstance(each, Explanation)]
    assert found.staged is not None and found.staged.takes_and_gives.startswith("f(float64[3]")
    again = shell.run_cell("%pystage explain f(np.ones(4))").result
    assert again.staged.takes_and_gives.startswith("f(float64[4]")
    for wrong in ("%pystage", "%pystage explain", "%pystage dump f(1)", "%%pystage explain\nx = 1"):
        assert isinstance(shell.run_cell(wrong).error_in_exec, UsageError)


def test_a_cell_that_is_run_again_defines_another_function(shell: Any) -> None:
    shell.run_cell("import numpy as np").raise_error()
    for factor in ("2.0", "3.0"):
        shell.run_cell(COMPILED.replace("FACTOR", factor)).raise_error()
        assert shell.run_cell("g(0.0)").result == float(factor)
    shown, _ = shell.display_formatter.format(shell.user_ns["g"])
    assert "1 program: inference" in shown["text/html"] and "g(float) -&gt; np.float64" in shown["text/html"]


def test_places_in_cells_have_the_numbers_of_the_cells(shell: Any) -> None:
    shell.run_cell(
        "import time, pystage\n@pystage.compile\ndef g(x):\n    return x, time.time()", store_history=True
    )
    number = shell.execution_count - 1
    text = str(shell.run_cell("g.explain(0.0)").result)
    refused = shell.run_cell(
        "pystage.compile(g.__wrapped__, tier='compiled', fallback='error')(0.0)", store_history=True
    ).error_in_exec
    assert any(
        line.startswith(f"  Cell In[{number + 1}], line 1") for line in refused._render_traceback_()
    ), refused._render_traceback_()
    assert f"g  Cell In[{number}]:3" in text and f"--> Cell In[{number}]:4:15, in g" in text


TIMED = """%%MAGIC
weights = np.ones(4)
@pystage.compile(tier="compiled", fallback="error")
def dot(x):
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * x * factor
    return total
found.append(dot(2.0))
"""


@pytest.mark.parametrize("magic", ["time", "timeit -n1 -r1", "timeit -n1 -r1 factor = 5.0", "prun -q"])
def test_a_function_under_a_magic_has_a_source(shell: Any, magic: str) -> None:
    """`%%timeit` makes variables of the cell those of a function, with what stands in its own line."""
    shell.run_cell("import numpy as np, pystage\nfound, factor = [], 3.0", store_history=True).raise_error()
    shell.run_cell(TIMED.replace("MAGIC", magic), store_history=True).raise_error()
    assert shell.user_ns["found"] == [40.0 if "factor" in magic else 24.0]


def test_a_function_in_the_line_of_a_magic_has_no_source(shell: Any) -> None:
    shell.run_cell("import pystage", store_history=True).raise_error()
    text = "%timeit -n1 -r1 pystage.compile(tier='compiled', fallback='error')(lambda x: x + 1)(2.0)"
    found = shell.run_cell(text, store_history=True).error_in_exec
    assert found.diagnostics[0].code == "PS101" and "in the line of a magic" in str(found)
