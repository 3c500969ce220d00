"""What a user asks of the recorder: programs as text, calls at once, counts of transfers and times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pystage import lazy

DATA = np.linspace(-1.0, 1.0, 20_000).reshape(100, 200)


def test_a_program_is_shown_with_the_lines_of_its_calls() -> None:
    x = lazy.asarray(DATA)
    y = np.tanh(x) * 3.0
    lazy.reset_metrics()
    graph = lazy.dump(y)
    line = Path(__file__).read_text(encoding="utf-8").splitlines().index("    y = np.tanh(x) * 3.0") + 1
    (tanh,) = [each for each in graph.splitlines() if " tanh " in each]
    assert tanh.endswith(f"# test_control.py:{line}")
    for form, word in (
        ("stablehlo", "stablehlo.tanh"),
        ("hlo", "tanh("),
        ("optimized", "is_scheduled=true"),
    ):
        text = lazy.dump(y, form=form)
        assert word in text, text
        assert "test_control.py" in text
        assert "jit_lazy_test_a_program_is_shown_with_the_lines_of_its_calls" in text
    assert lazy.metrics().barriers == 0
    lazy.sync()
    assert lazy.dump(y) == ""
    with pytest.raises(ValueError, match="\"optimized\", not 'jaxpr'"):
        lazy.dump(y, form="jaxpr")


def test_named_calls_are_computed_at_once() -> None:
    x = lazy.asarray(DATA)

    def program(x: Any) -> Any:
        y = x * 2.0
        y += 1.0
        z = y.reshape(-1, 50)
        return z @ z.T

    lazy.sync()
    lazy.reset_metrics()
    with lazy.eager("add", "matmul"):
        found = program(x)
        with lazy.eager("multiply"):
            pass
    causes = [cause for cause, _ in lazy.metrics().barriers_by_cause]
    assert causes == ["`add` is eager", "`matmul` is eager"]
    assert lazy.dump(found) == ""
    assert lazy.dump(program(x)) != ""
    np.testing.assert_allclose(found, program(DATA))
    with pytest.raises(ValueError, match="takes the names"), lazy.eager():
        pass


def test_transfers_and_times_are_counted() -> None:
    lazy.sync()
    lazy.reset_metrics()
    x = lazy.asarray(DATA)
    counted = lazy.metrics()
    assert (counted.to_device, counted.bytes_to_device) == (1, DATA.nbytes)
    for _ in range(2):
        (x + 1.0).tolist()
    counted = lazy.metrics()
    assert (counted.from_device, counted.bytes_from_device) == (2, 2 * DATA.nbytes)
    assert counted.executing > 0.0
    assert "arrays to devices" in lazy.report()
