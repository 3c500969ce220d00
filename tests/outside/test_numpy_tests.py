"""A fixed sample of NumPy's own tests, staged and on lazy tensors: nothing differs. `make outside` runs them all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from checking import Run

from outside.comparing import Runner
from outside.copies import copies_of
from outside.deviations import deviation
from outside.hooks import Probe
from outside.modules import missing, run_module
from outside.programs import RESULT, OutOfScope, Program, Writer
from outside.results import differences, read

SAMPLE = {
    "lib/twodim_base": ("TestFliplr", "TestFlipud", "TestDiag::test_vector", "TestTriuIndicesFrom"),
    "_core/shape_base": (
        "TestAtleast2d",
        "TestVstack::test_non_iterable",
        "TestConcatenate::test_exceptions",
    ),
}
LINE = {
    "state": "ended",
    "test": "a",
    "plain": "passed",
    "calls": 2,
    "outside": {},
    "findings": [
        {"outcome": "different", "program": "def call(a0):\n    return a0", "args": "1", "text": "1 became 2"}
    ],
}

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")


@pytest.mark.parametrize("lazily", [False, True], ids=["staged", "lazy"])
def test_nothing_differs(tmp_path: Path, lazily: bool) -> None:
    module, names = list(SAMPLE.items())[lazily]
    out = tmp_path / "results.jsonl"
    run_module(module, out, lazily, names)
    results = read(out)
    assert not differences({module: results})
    assert results.outcomes["same"] >= 3
    assert not set(results.outcomes) - {"same", "refused"}


def test_results_are_counted(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    died = {"state": "died", "test": "b"}
    useless = {**LINE, "test": "c", "outside": {"dtype O": 1}, "findings": []}
    out.write_text("\n".join(map(json.dumps, (LINE, {"state": "started", "test": "b"}, died, useless))))
    results = read(out)
    assert results.outcomes == {"different": 1, "died": 1}
    assert results.unusable == 1
    assert differences({"m": results}) == ["return a0\n    1\n    1 became 2\n    a"]


def test_what_a_call_becomes() -> None:
    """The text of a call: arrays and fractions are parameters, all else is written out."""
    x = np.ones(3)
    program = Writer(literal=False).call(np.sum, (x, 0), {"initial": 2.0, "dtype": np.float64})
    assert program.text == "def call(a0, a1):\n    return np.sum(a0, 0, initial=a1, dtype=np.float64)\n"
    assert program.leaves[0] is x
    assert program.function()(*program.leaves) == 5.0
    with pytest.raises(OutOfScope, match="dtype O"):
        Writer(literal=False).call(np.sum, (np.array([None]),), {})


def test_copies_share_memory_as_the_originals_do() -> None:
    x = np.arange(12.0).reshape(3, 4).T
    copies = copies_of([x, x[1:, ::2], x])
    assert copies[0] is copies[2]
    copies[1][0, 0] = -1.0
    assert copies[0][1, 0] == -1.0
    assert x[1, 0] == 1.0
    assert copies[1].strides == x[1:, ::2].strides


@pytest.mark.parametrize("size, found", [(3, 1), (RESULT + 1, 0)])
def test_results_that_would_take_all_memory_are_not_compared(size: int, found: int) -> None:
    probe = Probe(Runner(lazily=True))
    args = size, np.int8
    result = probe.run(lambda: np.zeros(*args), lambda writer: writer.call(np.zeros, args, {}))
    assert result.shape == (size,) and len(probe.findings) == found


@pytest.mark.parametrize(
    "text, a, b, title",
    [
        ("return np.add(a0, a1, where=a2)", [1, 2], [1, 3], "What NumPy leaves open"),
        ("return np.add(a0, a1, where=a2)", [1, 2], [2, 2], None),
        ("return np.sum(a0, axis=0, where=a2)", [1, 2], [1, 3], None),
    ],
)
def test_what_where_leaves_out_is_open(text: str, a: list[int], b: list[int], title: str | None) -> None:
    leaves = [np.ones(2), np.ones(2), np.array([True, False])]
    runs = [Run(tuple(leaves), {}, np.array(result)) for result in (a, b)]
    assert deviation(Program(text, leaves), leaves, *runs) == title


def test_a_view_of_what_lies_in_another_order() -> None:
    x = np.arange(6.0).reshape(2, 3).T
    program = Program("return a0.ravel('K')", [x])
    view, copy = Run((x,), {}, x.ravel("K")), Run((x,), {}, x.ravel("K").copy())
    assert deviation(program, [x], view, copy) == "New arrays are stored row by row"
    assert deviation(program, [x], copy, view) is None


def test_an_equal_element_type_that_is_another_object_is_written_so() -> None:
    writer = Writer(literal=False)
    assert writer.value(np.dtype(np.int8)) == "np.dtype('|i1')"
    assert writer.value(np.dtype("i1", copy=True)) == "np.dtype('|i1', copy=True)"
