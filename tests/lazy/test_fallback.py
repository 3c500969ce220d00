"""`fallback="lazy"`: what cannot be staged runs on lazy tensors, and nobody sees them."""

from __future__ import annotations

import collections
import functools
import os
import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from lazy.comparing import compare
from pystage import lazy
from pystage.config import Config
from pystage.lazy.fallback import run_lazily
from pystage.lazy.lending import Lending, lending_of

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
    assert not pystage.lazy.fallback.run_lazily(lambda x: x.imag, (np.ones(3),), {}, 0).flags.writeable


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


def kinds(w: Any, found: Any, data: Any) -> Any:
    w -= 0.5
    found["new"] = w * 2
    data[0] = w[0]
    new = np.zeros(3)
    new[0] = w[1]
    return w, w.sum(), w[1:3], w[0], np.asarray(w), new, w + data, float(w[2]), np.float64(w.max())


@pytest.mark.parametrize("fallback", ["lazy", "python"])
def test_a_compiled_function_of_lazy_tensors_gives_what_the_plain_one_gives(fallback: Any) -> None:
    def run(function: Any) -> Any:
        w, found, data = lazy.asarray(np.ones(4)), {}, np.zeros(4)
        w_after, *rest = function(w, found, data)
        assert w_after is w
        values = [w, found["new"], data, *rest]
        return [type(v) for v in values], [np.asarray(v).tolist() for v in values]

    assert run(pystage.compile(kinds, fallback=fallback)) == run(kinds)


def test_what_a_function_of_lazy_tensors_raises_has_no_context() -> None:
    def fails(x: Any) -> Any:
        raise ValueError(x.shape)

    with pytest.raises(ValueError) as error:
        pystage.compile(fails, fallback="lazy")(lazy.asarray(np.ones(4)))
    assert error.value.__context__ is None


def test_with_fallback_error_lazy_tensors_are_refused() -> None:
    with pytest.raises(pystage.StagingError, match="`x` is a LazyTensor"):
        pystage.compile(lambda a, x: x * a, fallback="error")(2.0, lazy.asarray(np.ones(4)))


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


def in_rows(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i : i + 1].sum()
    return total


def first_alone(x: Any) -> Any:
    return x[0] + x[-1]


def while_loop(x: Any) -> Any:
    i = 0
    while i < 3:
        x[i] = 1.0
        i += 1
    return x


@functools.wraps(peaks)
def wrapped(*args: Any) -> Any:
    return peaks(*args)


@pytest.mark.parametrize(
    ("function", "waits"),
    [
        (peaks, True),
        (while_loop, True),
        (wrapped, True),
        (in_rows, False),
        (first_alone, False),
        (unstageable, False),
    ],
)
def test_loops_over_elements_get_ndarrays_first(function: Any, waits: bool) -> None:
    assert lending_of(function, (LARGE, waits)).lends() is not waits


def test_what_gets_ndarrays_first_may_get_lazy_tensors_once() -> None:
    for seconds, after in ((4.9, True), (5.1, False)):
        lending = Lending(waits=True)
        for _ in range(32):
            assert not lending.lends()
            lending.note(False, 1.0)
        assert lending.lends()
        lending.note(True, seconds)
        assert lending.lends() is after
        assert lending.settled is (None if after else False)


def in_a_closure(a: Any) -> Any:
    os.getpid()
    return lambda: a


def test_a_returned_function_holds_the_callers_array() -> None:
    x = LARGE.copy()
    assert run_lazily(in_a_closure, (x,), {})() is x


class Latest:
    value: Any = None


def in_a_class(a: Any) -> None:
    for i in range(3):
        os.getpid()
        Latest.value = a[i : i + 5]


def test_classes_hold_views_of_the_callers_array() -> None:
    x = LARGE.copy()
    Latest.value = None
    run_lazily(in_a_class, (x,), {})
    assert type(Latest.value) is np.ndarray
    assert np.shares_memory(Latest.value, x)
    np.testing.assert_array_equal(Latest.value, x[2:7])


class Listing(list[Any]):
    """A list of a class of its own."""


class Mapping(dict[Any, Any]):
    """A dict of a class of its own."""


LOCAL = threading.local()


def in_a_local(a: Any) -> None:
    LOCAL.value = [(a, 1)]


def with_attributes(a: Any) -> Any:
    def made(b: Any = a, *, c: Any = a) -> Any:
        return b, c

    made.a = a  # type: ignore[attr-defined]
    return made


def as_attributes(a: Any) -> Any:
    error = ValueError(a)
    error.a = a  # type: ignore[attr-defined]
    return error


def as_elements(a: Any) -> Any:
    made = np.empty(2, object)
    made[0] = a
    return made


HOLDERS: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda a: collections.deque([a]), lambda r: r[0]),
    (lambda a: Listing([a]), lambda r: r[0]),
    (lambda a: Mapping(a=a), lambda r: r["a"]),
    (lambda a: types.SimpleNamespace(a=a), lambda r: r.a),
    (lambda a: types.MappingProxyType({"a": a}), lambda r: r["a"]),
    (lambda a: types.MethodType(lambda self: self, a), lambda r: r()),
    (lambda a: {"a": a}.values(), lambda r: next(iter(r))),
    (lambda a: {"a": (1, a)}.items(), lambda r: next(iter(r))[1][1]),
    (lambda a: iter([a]), next),
    (lambda a: functools.partial(np.asarray, a), lambda r: r()),
    (lambda a: type("New", (), {"a": a}), lambda r: r.a),
    (as_elements, lambda r: r[0]),
    (as_attributes, lambda r: r.args[0]),
    (as_attributes, lambda r: r.a),
    (with_attributes, lambda r: r()[0]),
    (with_attributes, lambda r: r()[1]),
    (with_attributes, lambda r: r.a),
    (in_a_local, lambda _: LOCAL.value[0][0]),
]


@pytest.mark.parametrize(("program", "held"), HOLDERS)
def test_holders(program: Callable[[Any], Any], held: Callable[[Any], Any]) -> None:
    x = LARGE.copy()
    assert held(run_lazily(program, (x,), {})) is x


KEEPING: list[Callable[[Any], Any]] = [
    lambda a: zip([1.0], iter((a,)), strict=True),
    lambda a: ((i, a) for i in range(1)),
]


@pytest.mark.parametrize("program", KEEPING)
def test_iterators_share_the_callers_memory_and_get_its_arrays_later(program: Callable[[Any], Any]) -> None:
    x = LARGE.copy()
    first = run_lazily(program, (x,), {})
    x[0] = 7.0
    ((_, held),) = first
    assert held[0] == 7.0
    held[1] = 8.0
    assert x[1] == 8.0
    ((_, held),) = run_lazily(program, (x,), {})
    assert held is x


def generates(a: Any) -> Any:
    yield a


def test_generators_get_the_callers_arrays() -> None:
    x = LARGE.copy()
    assert next(run_lazily(generates, (x,), {})) is x


def partially(a: Any) -> Any:
    os.getpid()
    return functools.partial(np.dot, a[:5])


def test_partials() -> None:
    x = LARGE.copy()
    made = run_lazily(partially, (x,), {})
    assert type(made.args[0]) is np.ndarray and np.shares_memory(made.args[0], x)
    assert made(np.ones(5)) == 10.0


def contains_itself(a: Any) -> Any:
    os.getpid()
    items: list[Any] = [a[:5]]
    items.append(items)
    items.append((items,))
    return items


@pytest.mark.parametrize("program", [contains_itself, pystage.compile(contains_itself, fallback="lazy")])
@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
def test_cycles(program: Any) -> None:
    made = run_lazily(program, (LARGE,), {})
    assert made[1] is made and made[2][0] is made
    assert type(made[0]) is np.ndarray and np.shares_memory(made[0], LARGE)


def test_tensors_from_before_the_call_stay() -> None:
    before = lazy.asarray(np.ones(3))
    holder = {"before": before}

    def keeps(a: Any) -> Any:
        return a, a[:5], holder

    made = run_lazily(keeps, (LARGE,), {})
    assert made[0] is LARGE and type(made[1]) is np.ndarray
    assert made[2]["before"] is before


def linked(a: Any) -> Any:
    os.getpid()
    found: Any = None
    for i in range(2_000):
        found = (a[i], found)
    return found


def test_long_chains_of_tuples() -> None:
    made, count = run_lazily(linked, (LARGE,), {}), 0
    while made is not None:
        assert type(made[0]) is np.float64
        made, count = made[1], count + 1
    assert count == 2_000


def test_nothing_is_left_where_nothing_was_kept() -> None:
    """The slow way, by the garbage collector, is for what is kept only."""

    def program(a: Any) -> Any:
        os.getpid()
        return [a, (a[1:] * 2.0, {"sum": a.sum()})]

    for _ in range(3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gc.get_referrers", None)
            made = run_lazily(program, (LARGE.copy(),), {})
        assert type(made[1][0]) is np.ndarray
