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
    assert f"g  Cell In[{number}]:3" in text and f"--> Cell In[{number}]:4:15, in g" in text


def test_a_function_under_timeit_has_a_source(shell: Any) -> None:
    shell.run_cell("import pystage\nfound = []", store_history=True).raise_error()
    cell = COMPILED.replace("\nimport pystage\n", "").replace("np.cos(x) * FACTOR", "x + 1.0")
    shell.run_cell("%%timeit -n1 -r1\n" + cell + "found.append(g(2.0))", store_history=True).raise_error()
    assert shell.user_ns["found"] == [3.0]
