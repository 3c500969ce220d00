"""Whose memory the elements of lazy tensors are in: what a barrier may overwrite, what NumPy is lent, what threads share."""

from __future__ import annotations

import threading
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage
from pystage import lazy
from pystage.compiler.hlo.types import FLOAT64, ArrayType
from pystage.lazy import liveness
from pystage.lazy.graph import GradientTape, Node, RecordedCall, tape
from pystage.lazy.recipes import Recipe, path_recipe
from pystage.lazy.segment import Segment

ROWS = np.arange(900.0).reshape(30, 30)


TYPE = ArrayType(FLOAT64, ROWS.shape)
ITSELF: Recipe = path_recipe(TYPE, ())[0]


def computed_and_read_twice() -> tuple[Node, Node]:
    """Both results of a call whose operand is pending, and computed from an array that nobody holds."""
    start = Node(TYPE, None, ROWS.copy())
    between = Node(TYPE, None, None, RecordedCall(ITSELF, (start,), None))
    call = RecordedCall(ITSELF, (between,), None)
    return Node(TYPE, None, None, call), Node(TYPE, None, None, call, 1)


def donated(*outputs: Node) -> tuple[int, ...]:
    segment = Segment(outputs)
    return liveness.donated_inputs(segment.inputs, segment.outputs, segment.calls)


def test_an_input_is_donated_if_nothing_reaches_it_afterwards() -> None:
    first, second = computed_and_read_twice()
    assert donated(first) == ()
    assert donated(first, second) == (0,)
    del second
    assert donated(first) == (0,)
    assert first.call is not None
    operand = first.call.operands[0]
    assert donated(first) == ()
    assert donated(first, operand) == (0,)
    del operand
    assert donated(first) == (0,)
    with tape(GradientTape(set())):
        first, second = computed_and_read_twice()
    assert donated(first, second) == ()


def stores_rows(x: Any, v: Any) -> Any:
    v[[0, 1]] = 5.0
    return x


def reads_rows(x: Any, v: Any) -> Any:
    return v[[0, 2]]


def takes(x: Any, v: Any) -> Any:
    return np.take(v, [0, 2], axis=0)


def puts(x: Any, v: Any) -> Any:
    np.put(v, [1, 2], 3.0)
    return x


def inverts(x: Any, v: Any) -> Any:
    square = v[:, 1:]
    square += np.eye(29) * 1e6
    return np.linalg.inv(square)


def fails_and_goes_on(x: Any, v: Any) -> Any:
    for failing in (lambda: v[[0, 99]], lambda: np.linalg.inv(v[:, 1:] * 0.0), lambda: np.take(v, 10_000)):
        with pytest.raises((IndexError, np.linalg.LinAlgError)):
            failing()
        v[[3, 1]] *= 2.0
    return x


def stores_again_and_again(x: Any, v: Any) -> Any:
    for i in range(4):
        v[[i, 5]] += 1.0
        v *= 0.5
    return x


@pytest.mark.parametrize(
    "function", [stores_rows, reads_rows, takes, puts, inverts, fails_and_goes_on, stores_again_and_again]
)
def test_what_a_second_result_reads_is_not_overwritten(function: Callable[[Any, Any], Any]) -> None:
    found = []
    for x in (ROWS.copy(), lazy.asarray(ROWS)):
        view = x[1:]
        view += 1.0
        found.append([np.array(each) for each in (function(x, view), x, view, x.sum())])
    for plain, tensor in zip(*found, strict=True):
        np.testing.assert_allclose(tensor, plain, rtol=1e-12)


def test_plain_runs_of_compiled_functions_keep_what_they_need() -> None:
    def body(x: Any) -> Any:
        y = x * 2.0
        if eval("y")[0, 0] > -1:
            y = y + 1.0
        s = float(y.sum())
        v = y[1:]
        v += 1.0
        v[[0, 1]] = 5.0
        return y + s

    x = np.ones((130, 130))
    compiled = pystage.compile(body, fallback="lazy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pystage.FallbackWarning)
        for _ in range(2):
            np.testing.assert_allclose(compiled(x), body(x))


def test_what_a_tape_needs_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "DONATE_BYTES", 1)

    def cubes(w: Any) -> Any:
        y = w * eval("1.0")
        for _ in range(2):
            y *= w
            lazy.sync()
        v = y[1:]
        v[[0]] = v[[0]] * 2.0
        return y.sum()

    w = np.array([1.0, 2.0, 3.0])
    gradient = pystage.grad(cubes)(lazy.asarray(w))
    np.testing.assert_allclose(np.array(gradient), 3 * w**2 * [1, 2, 1])


def test_a_pending_result_that_is_not_the_first_has_a_gradient() -> None:
    x = lazy.asarray(np.array([1.0, 2.0, 3.0]))
    x[[0, 2]] = 5.0
    assert pystage.grad(lambda w: (w * w).sum() * eval("1.0"))(x).tolist() == [10, 4, 10]


def test_stores_by_arrays_of_indices_take_the_memory_of_what_they_replace() -> None:
    x = lazy.asarray(ROWS)
    before = []
    for _ in range(4):
        x[[0, 1]] += 1.0
        lazy.sync()
        before.append(x._node.array.unsafe_buffer_pointer())
    assert len(set(before)) < len(before)
    np.testing.assert_array_equal(np.array(x[:2]), ROWS[:2] + 4)


def test_calls_that_numpy_runs_get_the_memory_itself() -> None:
    x = lazy.asarray(np.zeros(1 << 21))
    x += 1.0
    np.add.at(x, [0], 1.0)
    tracemalloc.start()
    for i in range(5):
        np.add.at(x, [i], 1.0)
        np.frexp(x[:2])
        assert x[i] == 2.0 + (i == 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.nbytes / 8
    y = x * 2.0
    np.add.at(x, [0], 1.0)
    assert (float(y[0]), float(x[0]), float((x + 0.0)[0])) == (6.0, 4.0, 4.0)


def test_an_array_from_dlpack_is_the_memory_of_the_tensor() -> None:
    x = lazy.asarray(ROWS) + 0.0
    held = np.from_dlpack(x[1:], copy=False)
    x[1:] -= 1.0
    assert held[0, 0] == 29.0
    if held.flags.writeable:  # NumPy 2.2 makes every such array read-only
        held[0, 0] = 5.0
        assert x[1, 0] == 5.0


def test_the_order_in_memory_that_is_asked_for() -> None:
    x = lazy.asarray(ROWS[:3])
    step = lazy.step(lambda t: t.copy("F"))
    copies = x.copy(order="F"), x.copy("F"), np.copy(x, "F"), x.astype(np.float32, order="F")
    for made in (*copies, step(x), step(x)):
        assert np.asarray(made).flags.f_contiguous and np.array(made).flags.f_contiguous
        flat = made.reshape(-1)
        flat[0] = -1.0
        assert made[0, 0] == 0.0
    assert np.asarray(x.copy()).flags.c_contiguous and np.asarray(x.astype("F")).flags.c_contiguous


def test_bytes() -> None:
    x = np.arange(3.0)
    t = lazy.asarray(x)
    assert [bytes(each) for each in (t, t[1:], t[2], t[:2].astype(int))] == [
        bytes(each) for each in (x, x[1:], x[2], x[:2].astype(int))
    ]


def test_threads_share_tensors_as_they_share_ndarrays(interpreted: None) -> None:
    """Each stores into rows of its own, by views, by arrays of indices and by NumPy, and reads what is the others'."""
    x = lazy.asarray(np.zeros((16, 50)))
    total = lazy.asarray(np.ones(2000))
    failures: list[BaseException] = []

    def work(row: int) -> None:
        try:
            mine = x[row]
            for _ in range(8):
                mine += 1.0
                x[[row + 4]] = x[[row + 4]] + 1.0
                np.add.at(x[row + 8], [0], 1.0)
                x[row + 12, 3:] = float(total.sum()) / len(np.unique(total)) / 2000
                np.asarray(total)
                lazy.sync()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    expected = np.zeros((16, 50))
    expected[:8], expected[8:12, 0], expected[12:, 3:] = 8.0, 8.0, 1.0
    np.testing.assert_array_equal(np.array(x), expected)
