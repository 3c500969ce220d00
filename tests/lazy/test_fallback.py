"""`fallback="lazy"`: what cannot be staged runs on lazy tensors, and nobody sees them."""

from __future__ import annotations

import time
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from lazy.comparing import compare
from pystage import lazy
from pystage.config import Config
from pystage.lazy.lending import Lending

LARGE = np.arange(200_000.0)
KEPT: dict[str, Any] = {}


def unstageable(x: Any) -> Any:
    scope: dict[str, Any] = {}
    exec("factor = 2.0", scope)
    return x * scope["factor"] + 1


def test_it_is_the_default() -> None:
    assert Config().fallback == "lazy"
    staged = pystage.compile(unstageable, fallback="lazy")
    with pytest.warns(pystage.FallbackWarning, match=r"`unstageable` runs as Python, staged in part"):
        result = staged(LARGE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = staged(LARGE)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, LARGE * 2 + 1)
    np.testing.assert_array_equal(again, result)


def test_the_environment_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = pystage.compile(unstageable, fallback="lazy")
    monkeypatch.setenv("PYSTAGE_FALLBACK", "error")
    with pytest.raises(pystage.StagingError):
        staged(LARGE)
    monkeypatch.setenv("PYSTAGE_FALLBACK", "sometimes")
    with pytest.raises(ValueError, match="PYSTAGE_FALLBACK must be one of lazy, error, python"):
        staged(LARGE)


def test_the_setting() -> None:
    staged = pystage.compile(unstageable)
    before = pystage.config.fallback
    try:
        pystage.config.fallback = "python"
        with pytest.warns(pystage.FallbackWarning, match="runs as plain Python"):
            assert staged(1.0) == 3.0
    finally:
        pystage.config.fallback = before
    with pytest.raises(ValueError, match="fallback must be one of"):
        pystage.config.fallback = "sometimes"


def leaves_some_behind(x: Any, found: list[Any], box: Any) -> Any:
    found.append(x + 1)
    box["view"] = x[1:]
    KEPT["last"] = x * 2
    box["pair"] = (x, {"deep": x - 1})
    return found


def test_none_is_left_behind() -> None:
    found: list[Any] = []
    box: dict[str, Any] = {}
    x = LARGE[:20000].copy()
    lazily = pystage.lazy.fallback.run_lazily(leaves_some_behind, (x, found, box), {})
    assert lazily is found
    assert [type(v) for v in (found[0], box["view"], KEPT["last"], box["pair"][1]["deep"])] == [
        np.ndarray
    ] * 4
    assert box["pair"][0] is x
    assert np.shares_memory(box["view"], x)
    np.testing.assert_array_equal(KEPT.pop("last"), x * 2)


def raises_from(x: Any) -> Any:
    try:
        raise ValueError(x[1])
    except ValueError as error:
        raise KeyError(x[2:]) from error


def test_exceptions_and_what_they_came_from_hold_no_tensors() -> None:
    with pytest.raises(KeyError) as caught:
        pystage.lazy.fallback.run_lazily(raises_from, (np.arange(4.0),), {}, 0)
    assert type(caught.value.args[0]) is np.ndarray
    assert type(caught.value.__cause__.args[0]) is np.float64


def test_imaginary_parts_of_real_tensors_are_read_only() -> None:
    for x in (np.ones(3), lazy.asarray(np.ones(3))):
        for part in (x.imag, np.imag(x)):
            assert not part.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                part[:0] = 1.0


HELD = np.zeros(5)


def by_another_name(x: Any) -> Any:
    before = x + 0
    HELD[1] = 7.0
    after = x + 0
    x[2] = 5.0
    return before, after, HELD[2], np.asarray(x)[1]


def test_other_names_agree() -> None:
    HELD[:] = 0
    plain = by_another_name(HELD)
    HELD[:] = 0
    lazily = pystage.lazy.fallback.run_lazily(by_another_name, (HELD,), {}, 0)
    assert [np.asarray(v).tolist() for v in lazily] == [np.asarray(v).tolist() for v in plain]


def classes(x: Any) -> Any:
    s = x.sum()
    return isinstance(x, np.ndarray), isinstance(s, np.float64), isinstance(s, float), {s: 1}[s], x.shape


def handles(x: Any) -> Any:
    try:
        x[len(x)] = 1
    except IndexError as error:
        return str(error)


def of_jax(x: Any) -> Any:
    return jnp.sin(x), jnp.ones(len(x)) + x


def looks(x: Any) -> Any:
    total = 0.0
    for v in x:
        if v > 1:
            total += float(v)
    return total, list(x), f"{x[0]:.2f}", x.tolist(), [0, 1, 2][x.argmax() % 3]


@pytest.mark.parametrize("program", [classes, handles, of_jax, looks])
def test_programs(program: Any) -> None:
    compare(program, np.array([1.5, 2.5, -1.0]))


def test_compiled_functions_take_lazy_tensors() -> None:
    @pystage.compile
    def step(w: Any, found: Any) -> Any:
        w -= 0.5
        found["new"] = w * 2
        return w

    w, found = lazy.asarray(np.ones(4)), {}
    assert step(w, found) is w
    assert w.tolist() == [0.5] * 4
    assert type(found["new"]) is lazy.LazyTensor
    assert found["new"].tolist() == [1.0] * 4


def test_ndarrays_beside_lazy_tensors_stay_ndarrays() -> None:
    @pystage.compile
    def step(w: Any, data: Any) -> Any:
        data[1][0] = 5.0
        return w + data[0]

    data = [np.ones(4), np.zeros(4)]
    first, second = data
    assert step(lazy.asarray(np.ones(4)), data).tolist() == [2.0] * 4
    assert data[0] is first and data[1] is second and second[0] == 5.0


def test_a_gradient_has_nothing_to_fall_back_on() -> None:
    def loss(x: Any) -> Any:
        return eval("x") ** 2

    with pytest.raises(pystage.StagingError):
        pystage.grad(loss)(2.0)


def factorial(n: int) -> int:
    c = 1
    for i in range(1, n):
        c = c * i
    return c


def root(x: Any) -> Any:
    x[0] += 1.0
    return float(x[1]) ** 0.5


@pytest.mark.parametrize("fallback", ["lazy", "python"])
def test_what_is_refused_while_it_runs_runs_as_python(fallback: Any) -> None:
    staged = pystage.compile(factorial, fallback=fallback)
    with pytest.warns(pystage.FallbackWarning, match="PS810"):
        assert [staged(n) for n in (10, 25, 10, 30)] == [factorial(n) for n in (10, 25, 10, 30)]
    staged = pystage.compile(root, fallback=fallback)
    for second in (4.0, -4.0):
        x, y = np.array([1.0, second]), np.array([1.0, second])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert staged(x) == root(y)
        assert x.tolist() == y.tolist()


def test_what_has_printed_is_not_run_again(capsys: Any) -> None:
    def printed(n: int) -> int:
        print("once")
        return n * 2**62

    with pytest.raises(pystage.StagingError, match="PS810"):
        pystage.compile(printed, fallback="lazy")(8)
    assert capsys.readouterr().out == "once\n"


def peaks(x: Any) -> Any:
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] >= x[i + 1]:
            found.append(i)
            x[i] = 0.0
    return found


def runs(x: Any) -> Any:
    found, start = [], None
    for i in range(len(x)):
        if x[i] > 0.6:
            if start is None:
                start = i
        elif start is not None:
            found.append((start, i))
            start = None
    return found


def rows(x: Any) -> Any:
    found = []
    for part in x.reshape(-1, 100):
        total = 0.0
        for v in part:
            total += float(v)
        part[0] = total
        if total > 50.0:
            found.append(total)
    return found


def derived(x: Any) -> Any:
    y = np.sin(x)
    found = []
    for i in range(len(y)):
        if y[i] > 0.5:
            found.append(i)
            y[i] = 0.0
    return found, y


@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
@pytest.mark.parametrize("function", [peaks, runs, rows, derived])
def test_loops_over_elements_are_about_as_fast_as_plain(function: Any) -> None:
    x = np.random.default_rng(0).random(30_000)
    staged = pystage.compile(function, fallback="lazy")
    times = []
    for _ in range(8):
        ours, plain = x.copy(), x.copy()
        began = time.perf_counter()
        result = staged(ours)
        times.append(time.perf_counter() - began)
        np.testing.assert_equal(result, function(plain))
        np.testing.assert_array_equal(ours, plain)
    assert times[0] < 10.0
    assert min(times[5:]) < 0.5


def test_times_decide_whether_to_lend() -> None:
    faster, slower = Lending(), Lending()
    for lending, plain in ((faster, 1.0), (slower, 0.01)):
        for seconds in (5.0, 0.1, 0.1):
            assert lending.lends()
            lending.note(True, seconds)
        assert not lending.lends()
        lending.note(False, plain)
    assert faster.lends()
    assert not slower.lends()
