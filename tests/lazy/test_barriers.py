"""When lazy tensors compute, what, how often it is compiled, and what happens when it fails."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import pystage
from pystage import lazy
from pystage.lazy.arena import LIMIT
from pystage.lazy.segment import Executable, Segment, program_of


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    lazy.sync()
    lazy.reset_metrics()
    yield


def tensor(*shape: int) -> Any:
    return lazy.asarray(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))


def test_shapes_are_known_without_computing() -> None:
    x = tensor(3, 4)
    y = (x @ x.T).sum(axis=0)[1:]
    assert (y.shape, y.ndim, y.size, y.dtype, len(y), y.nbytes) == ((2,), 1, 2, np.float64, 2, 16)
    assert lazy.metrics().barriers == 0


@pytest.mark.parametrize(
    "look",
    [
        bool,
        int,
        float,
        complex,
        str,
        repr,
        np.asarray,
        lambda y: y.item(),
        lambda y: y.tolist(),
        lambda y: f"{y:.1f}",
    ],
)
def test_who_looks_computes(look: Any) -> None:
    x = np.array(2.0)
    y = lazy.asarray(x) * 2
    assert np.array_equal(look(y), look(x * 2))
    assert lazy.metrics().barriers == 1


def test_a_line_that_makes_an_error_raises_it() -> None:
    x = tensor(3)
    with pytest.raises(ValueError, match="operands could not be broadcast together with shapes"):
        x + np.ones(4)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        x[7]
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(lazy.asarray(np.zeros((2, 2))))
    assert x.tolist() == [1, 2, 3]


def test_one_compilation_for_each_program() -> None:
    for number in (3.0, 5.0, -2.5):
        x = tensor(5)
        assert ((x * number + 1) ** 2).tolist() == ((np.arange(1.0, 6.0) * number + 1) ** 2).tolist()
    found = lazy.metrics()
    assert (found.compiles, found.cache_hits, found.barriers) == (1, 2, 3)


def test_the_order_of_independent_calls_does_not_matter() -> None:
    x = tensor(5)
    a, b = x + 1.5, x * 2.5
    lazy.sync()
    d = x * 3.5
    c = x + 7.5
    lazy.sync()
    assert lazy.metrics().compiles == 1
    assert (a[0], b[0], c[0], d[0]) == (2.5, 2.5, 8.5, 3.5)


def test_common_subexpressions_are_one() -> None:
    x = tensor(4)
    y = np.exp(x) + np.exp(x)
    assert y._node.call is not None
    assert len(program_of(Segment([y._node])).function.body.ops) == 2
    np.testing.assert_allclose(np.array(y), np.exp(np.arange(1.0, 5.0)) * 2, rtol=1e-14)


def test_elements_of_what_is_computed_compile_nothing() -> None:
    x = tensor(4, 5)
    lazy.sync()
    total = sum(float(x[i, j]) for i in range(4) for j in range(5))
    assert total == 210.0
    assert [float(v) for v in x[1]] == [6, 7, 8, 9, 10]
    repr(x)
    assert lazy.metrics().compiles == 0


def test_going_through_positions_compiles_once() -> None:
    x = tensor(20)
    found = [float((x[i : i + 3] * 2.0).sum()) for i in range(2, 12)]
    assert found == [float(2 * (3 * i + 6)) for i in range(2, 12)]
    assert lazy.metrics().compiles == 1


def test_what_nobody_holds_is_not_computed() -> None:
    x = tensor(4)
    y = x + 1
    z = y * 2
    del y
    w = x - 1
    del w
    lazy.sync()
    assert lazy.metrics().calls == [2]
    assert z.tolist() == [4, 6, 8, 10]


def test_a_loop_without_barriers_is_cut_and_compiles_twice_at_most() -> None:
    x, y = tensor(4), tensor(4)
    for _ in range(LIMIT * 2):
        x = x * 0.5 + y
        y = y - 0.001
    lazy.sync()
    found = lazy.metrics()
    assert found.barriers >= 4
    assert found.compiles <= 4
    a, b = np.arange(1.0, 5.0), np.arange(1.0, 5.0)
    for _ in range(LIMIT * 2):
        a = a * 0.5 + b
        b = b - 0.001
    np.testing.assert_allclose(np.array(x), a, rtol=1e-12)


def test_thousands_of_calls_in_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pystage.lazy.recorder.LIMIT", 100_000)
    x = tensor(2)
    for _ in range(3000):
        x = -x
    assert x.tolist() == [1, 2]


def pointer(x: Any) -> int:
    return int(x._node.array.unsafe_buffer_pointer())


def test_an_update_in_place_takes_the_memory_of_what_it_replaces() -> None:
    w = lazy.asarray(np.ones((64, 64)))
    g = lazy.asarray(np.ones((64, 64)))
    w -= 0.25 * g
    lazy.sync()  # its first memory is NumPy's, which XLA does not give back
    before = pointer(w)
    w -= 0.25 * g
    lazy.sync()
    assert pointer(w) == before
    assert w[0, 0] == 0.5
    assert g[0, 0] == 1.0


def test_what_others_hold_is_not_overwritten() -> None:
    """The paper's conditions: the barrier covers all tensors, and nobody else has the memory."""
    w = lazy.asarray(np.ones((64, 64)))
    old = w + 0
    lazy.sync()
    other = old * 2
    held = old._node.array
    old -= 1
    lazy.sync()
    assert other[0, 0] == 2 and old[0, 0] == 0
    assert np.asarray(held)[0, 0] == 1


def test_the_device_works_while_more_is_recorded() -> None:
    x = lazy.asarray(np.ones((300, 300)))
    y = x @ x
    lazy.sync(y)
    z = y + 1
    assert z[0, 0] == 301


def test_a_failure_names_the_lines_and_leaves_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs_out(executable: Executable, arrays: Any) -> Any:
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")

    y = tensor(3) + 1
    with monkeypatch.context() as patch:
        patch.setattr(Executable, "__call__", runs_out)
        with pytest.raises(MemoryError, match="Out of memory") as caught:
            lazy.sync()
    assert caught.value.__cause__ is not None
    assert "test_barriers.py:" in "".join(caught.value.__cause__.__notes__)
    assert y.tolist() == [2, 3, 4]


def test_what_is_too_large_for_one_program_is_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pystage.config, "_program_limit", 0.3)

    def turned(x: Any, i: int) -> Any:
        return np.sin(x @ np.ones((4, 4)) * (0.25 + i / 100))

    x, kept = np.linspace(0.1, 0.9, 12).reshape(3, 4), []
    y = lazy.asarray(x)
    for i in range(100):
        x, y = turned(x, i), turned(y, i)
        kept.append((x, y))
    for expected, tensor in kept:
        np.testing.assert_allclose(np.asarray(tensor), expected)
    assert lazy.metrics().barriers == 1 < lazy.metrics().compiles


def test_threads() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for _ in range(20):
                start = rng.normal(size=5)
                x = lazy.asarray(start)
                x *= 2
                y = x[1:] + x[:-1]
                np.testing.assert_allclose(np.array(y), start[1:] * 2 + start[:-1] * 2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_devices() -> None:
    x = tensor(3)
    assert x.to(x.device) is x
    assert x.device == jax.devices()[0]
    with pytest.raises(ValueError, match="no device 'moon'"):
        x.to("moon")


def test_pickles() -> None:
    x = tensor(3) + 1
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is lazy.LazyTensor
    assert again.tolist() == [2, 3, 4]


def test_the_report_names_causes_and_lines() -> None:
    x = tensor(3)
    np.unique(x)
    float(x.sum())
    text = lazy.report()
    assert "unique" in text and "test_barriers.py" in text and "float" in text


def test_memory_is_shared_with_the_ndarray_that_was_looked_at() -> None:
    x = tensor(3)
    array = np.asarray(x)
    array[0] = 10
    assert x.tolist() == [10, 2, 3]
    y = x * 2
    x += 1
    assert array.tolist() == [11, 3, 4]
    assert y.tolist() == [20, 4, 6]
    del array
    x += 1
    assert (x + 0).tolist() == [12, 4, 5]
