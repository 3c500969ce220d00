"""`lazy.step`: later calls do what the function would do, on other arguments, without recording."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import pystage
from pystage import lazy


class Pair:
    """An argument, and what it is in the plain run; its stores last from call to call."""

    def __init__(self, plain: Any, given: Any) -> None:
        self.plain, self.given = plain, given

    def __getitem__(self, key: Any) -> Pair:
        return Pair(self.plain[key], self.given[key])


def tensor(array: Any) -> Pair:
    """An ndarray, and a lazy tensor."""
    plain = np.array(array)
    return Pair(plain, lazy.asarray(plain))


def ndarray(array: Any) -> Pair:
    """Two ndarrays."""
    return Pair(np.array(array), np.array(array))


def side(value: Any, name: str) -> Any:
    """A structure with one side of its pairs."""
    if isinstance(value, Pair):
        return getattr(value, name)
    if isinstance(value, list | tuple):
        new = [side(each, name) for each in value]
        return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
    return type(value)({k: side(v, name) for k, v in value.items()}) if isinstance(value, dict) else value


def outcome(function: Callable[..., Any], args: Any) -> Any:
    try:
        return function(*args)
    except lazy.StepError:
        raise
    except Exception as error:
        return type(error), str(error)


def compare(plain: Any, found: Any) -> None:
    if isinstance(plain, list | tuple | dict):
        assert type(found) is type(plain) and len(found) == len(plain)
        if isinstance(plain, dict):
            assert list(found) == list(plain)
            plain, found = list(plain.values()), list(found.values())
        for each in zip(plain, found, strict=True):
            compare(*each)
    elif isinstance(plain, np.ndarray | np.generic):
        assert isinstance(found, type(plain)) and found.dtype == plain.dtype
        np.testing.assert_allclose(np.array(found), plain, rtol=1e-9, atol=1e-12)
    elif isinstance(plain, float):
        assert type(found) is float
        np.testing.assert_allclose(found, plain, rtol=1e-12)
    else:
        assert type(found) is type(plain) and found == plain


def check(function: Callable[..., Any], *calls: tuple[Any, ...], recorded: int | None = None) -> None:
    """Asserts that a step does in these calls what the function does on ndarrays, recorded so often."""
    lazy.reset_metrics()
    step = lazy.step(function)
    for call in calls:
        for _ in range(2 if len(calls) == 1 else 1):
            plain = outcome(function, side(call, "plain"))
            found = outcome(step, side(call, "given"))
            compare(plain, found)
            compare(side(call, "plain"), side(call, "given"))
    if recorded is not None:
        assert lazy.metrics().recorded.total() == recorded


def refused(function: Callable[..., Any], *args: Any, match: str = "") -> None:
    with pytest.raises(lazy.StepError, match=match):
        lazy.step(function)(*args)


ONES = np.ones(3)


# ---------------------------------------------------------------- what repeats


def update(w: Any, x: Any, rate: float) -> Any:
    g = (w - x) * 2
    w -= rate * g
    return (g**2).sum(), {"g": g, "f": [w, rate * 0.5]}


def test_replays_are_what_the_function_does() -> None:
    w = tensor(np.ones((40, 40)))
    calls = [(w, tensor(np.full((40, 40), 0.25 * k)), rate) for k in range(4) for rate in (0.1, 0.2)]
    check(update, *calls, recorded=2)


def test_numbers_are_parameters() -> None:
    w = tensor(ONES)
    lazy.reset_metrics()
    step = lazy.step(lambda w, rate: w * rate + rate)
    for rate in np.linspace(0.1, 0.9, 200).tolist():
        np.testing.assert_allclose(step(w.given, rate), w.plain * rate + rate)
    made = lazy.metrics()
    assert (made.compiles, made.recorded.total(), made.steps.total()) == (1, 2, 200)
    assert "recordings of steps" in lazy.report()


def numbers(w: Any, n: int, rate: float, on: bool, z: complex) -> Any:
    if on:
        w = w + rate**2 / 3
    return w * z, rate > 0.5, -n, n * 2 + 1, divmod(n, 2), w.real.sum(), np.sqrt(rate) * w, abs(z), [n, rate]


def test_python_numbers_give_python_numbers() -> None:
    given = [(3, 0.25, True, 1j), (4, 0.75, True, 2.0 + 1j), (4, 0.5, False, 1j), (-7, 2.5, True, 0j)]
    check(numbers, *[(tensor(ONES), *each) for each in given])
    check(lambda w, n: (w, 6 // n), *[(tensor(ONES), n) for n in (2, 3, 0, 4)])
    check(lambda w, n: (w, n * n), *[(tensor(ONES), n) for n in (2, 3, 1 << 40, 1 << 70)])


def shaped(w: Any, n: int, axis: int) -> Any:
    return (
        w[n : n + 2],
        w.sum(axis),
        w + np.zeros(4 * n)[:4],
        w[n],
        [w * i for i in range(n)],
        w.reshape(n, -1),
    )


def test_numbers_that_are_looked_at_are_part_of_the_program() -> None:
    w = tensor(np.arange(24.0).reshape(6, 4))
    check(shaped, (w, 1, 0), (w, 2, 1), (w, 1, 0), (w, 3, 1), (w, 1, 0), recorded=4)
    check(lambda w, r: w + 1 if r > 0.5 else w - 1, *[(w, r) for r in (0.25, 0.75, 0.25, 0.5)])
    check(lambda w, r: (w, f"{r:.1f}", r.hex(), len({r: 1})), *[(w, r) for r in (0.25, 0.75, 0.25)])
    check(lambda w, r: (w, isinstance(r, float), hasattr(r, "shape")), (w, 0.5))


def test_programs_are_bounded() -> None:
    step = lazy.step(lambda w, n: w * range(n)[-1])
    w = lazy.asarray(ONES)
    for n in range(2, 200):
        step(w, n)
    assert len(step._known) <= 128


def test_programs_of_places_are_one() -> None:
    lazy.reset_metrics()
    w = tensor(np.arange(40.0))
    step = lazy.step(lambda w, i: w[i : i + 3] * 2)
    for i in range(2, 20):
        np.testing.assert_array_equal(step(w.given, i), w.plain[i : i + 3] * 2)
    assert lazy.metrics().compiles == 1


def arrays(w: Any, a: Any, s: Any) -> Any:
    a += 1
    w[1:] += a[1:] * s
    return w.sum(), a


def test_ndarrays_are_parameters() -> None:
    w, a = tensor(ONES), ndarray(ONES)
    check(arrays, *[(w, a, np.float64(k)) for k in range(4)], recorded=2)
    frozen = ndarray(ONES)
    for each in (frozen.plain, frozen.given):
        each.flags.writeable = False
    check(arrays, (w, frozen, np.float64(1)))
    both = np.arange(4.0), np.arange(4.0)
    overlapping = [Pair(*[each[:3] for each in both]), Pair(*[each[1:] for each in both])]
    check(lambda w, a, b: [a.__iadd__(1), b * w], (w, *overlapping))


def test_indices() -> None:
    w = tensor(np.arange(5.0))
    check(lambda w: (w[[0, 2]], w[np.array([1, 1])], np.take(w, [3]), w[-1]), (w,))
    check(lambda w, i: w[i] * 2, *[(w, ndarray(i)) for i in ([0, 1], [4, 2], [0, 5], [-5, 1], [7, 7])])
    check(lambda w, i: w[i] * 2, *[(w, tensor(i)) for i in ([0, 1], [4, 2], [0, 5], [-5, 1])], recorded=2)


def fails_late(w: Any, i: Any) -> Any:
    w += 1
    try:
        found = w[i]
    except IndexError:
        found = w[:2] - 100
    w *= 2
    return found, np.linalg.inv(np.diag(w[:2]))


def test_a_call_that_raises_runs_as_it_is_written() -> None:
    w = tensor(np.arange(5.0))
    check(fails_late, *[(w, tensor(i)) for i in ([0, 1], [4, 2], [0, 5], [4, 2])])
    singular = tensor([[1.0, 1.0], [1.0, 1.0]])
    check(lambda m: np.linalg.inv(m), *[(m,) for m in (tensor(np.eye(2)), tensor(np.eye(2) * 2), singular)])


def raises(w: Any, kind: str) -> Any:
    w += 1
    if kind == "shape":
        return w.reshape(7)
    if kind == "error":
        raise ValueError(f"not {w.shape}")
    return w * 2


def test_exceptions() -> None:
    w = tensor(ONES)
    check(raises, *[(w, kind) for kind in ("", "shape", "error", "", "shape", "error", "")])
    step = lazy.step(raises)
    with pytest.raises(ValueError, match="not"):
        step(w.given, "error")
    assert not step._known


def test_aliases() -> None:
    def function(a: Any, b: Any) -> Any:
        a += 1
        b *= 2
        return a is b, a + b

    x, y = tensor(np.arange(4.0)), tensor(np.arange(4.0))
    views = [(x, x), (x, y), (x[1:], x[:3]), (x, x[::-1]), (y, x), (x[1:], x[:3]), (x, x)]
    check(function, *views, *views)
    x = tensor(np.arange(4.0))
    check(lambda a: (a, a[1:], [a] * 2, a.sum()), (x,), (y,), (x,))

    @lazy.step
    def same(ps: Any) -> Any:
        made = ps[0] * 2
        return ps, ps[0], made, [made], made[1:]

    for _ in range(3):
        given = [x.given, y.given]
        out = same(given)
        assert out[0] is given and out[1] is x.given and out[2] is out[3][0] and out[4].base is out[2]
        out[4][...] = 0
        np.testing.assert_array_equal(out[2][1:], [0, 0, 0])


class Point(NamedTuple):
    x: Any
    y: Any


def test_structures() -> None:
    def function(p: Any) -> Any:
        return {
            "b": p["q"].x,
            "a": list(p),
            "r": Point(p["a"] * 2, None),
            "o": OrderedDict(z=p["a"] + 1, b=2),
        }

    for k in range(3):
        parameters = {"q": Point(tensor(ONES), 1.5), "a": tensor(ONES * k)}
        check(function, (parameters,))
    check(lambda w, s: w[s] * 2, *[(tensor(ONES), s) for s in (slice(1), slice(1, None), slice(1))])
    refused(lambda p: p.update(w=p["w"] + 1), {"w": lazy.asarray(ONES)}, match="a container")
    refused(lambda p: setattr(p, "shape", (1, 3)), lazy.asarray(ONES), match="shape of one")
    for order in ("ab", "ba", "ab"):
        found = lazy.step(lambda p: [list(p), sum(p.values())])({k: lazy.asarray(ONES) for k in order})
        assert found[0] == list(order)


def test_steps_in_steps_and_gradients() -> None:
    inner = lazy.step(lambda w, r: w * r)
    check(lambda w, r: inner(w, r) + 1, *[(tensor(ONES), r) for r in (0.5, 2.5, 0.5)])

    def loss(w: Any, x: Any) -> Any:
        return ((w - x) ** 2).sum()

    def train(w: Any, x: Any) -> Any:
        value, g = pystage.value_and_grad(loss)(w, x)
        w -= 0.1 * g
        return value

    step, w, x = lazy.step(train), lazy.asarray(np.zeros(3)), lazy.asarray(ONES)
    plain = np.zeros(3)
    for _ in range(4):
        np.testing.assert_allclose(step(w, x), ((plain - 1) ** 2).sum())
        plain -= 0.1 * 2 * (plain - 1)
        np.testing.assert_allclose(np.array(w), plain)
    found = pystage.grad(lazy.step(loss))(lazy.asarray(np.zeros(3)), x)
    np.testing.assert_allclose(found, [-2, -2, -2])


def test_methods_and_blocks() -> None:
    class Model:
        rate = 0.5

        @lazy.step
        def scaled(self, x: Any) -> Any:
            return x * self.rate

    model, x = Model(), lazy.asarray(ONES)
    for rate in (0.5, 0.5, 0.25, 0.25, 0.75):
        model.rate = rate
        np.testing.assert_array_equal(model.scaled(x), ONES * rate)
    with lazy.step():
        y = x + 1
    assert y._node.array is not None


def test_a_long_step_is_one_program() -> None:
    def function(x: Any) -> Any:
        for _ in range(600):
            x = x * 1.01
        return x

    check(function, *[(tensor(ONES * k),) for k in range(1, 4)], recorded=2)


def test_memory_that_others_hold() -> None:
    x = lazy.asarray(ONES)
    array = np.asarray(x)
    step = lazy.step(lambda t: t.__iadd__(1))
    for k in range(3):
        assert step(x) is x
        np.testing.assert_array_equal(array, ONES + 2 * k + 1)
        array += 1


# ---------------------------------------------------------------- what the function has besides its arguments


class Config:
    def __init__(self) -> None:
        self.rate, self.table = 1.0, np.ones(3)


CONFIG, TABLE, SCALE = Config(), np.ones(3), 1.0


def helper(x: Any) -> Any:
    return x * SCALE + TABLE


def changes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Any]]:
    config, cell, numbers, table = Config(), 1.0, [1.0], {"a": np.ones(3)}

    def set_cell(k: int) -> None:
        nonlocal cell
        cell = k / 2

    yield lambda x: x * cell
    yield set_cell
    yield lambda x: x * config.rate + config.table
    yield lambda k: setattr(config, "rate", k / 2)
    yield lambda x: x * config.rate + config.table
    yield lambda k: config.table.fill(k / 2)
    yield lambda x, c: x * c.rate
    yield lambda k: setattr(CONFIG, "rate", k / 2)
    yield lambda x: x * numbers[0]
    yield lambda k: numbers.__setitem__(0, k / 2)
    yield lambda x: x * (table["a"] * 2)
    yield lambda k: table.__getitem__("a").fill(k / 2)
    yield helper
    yield lambda k: TABLE.fill(k / 2)
    yield lambda x: helper(x) + 1
    yield lambda k: monkeypatch.setitem(globals(), "SCALE", k / 2)


def test_what_is_captured_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = changes(monkeypatch)
    for function, change in zip(programs, programs, strict=True):
        args = (CONFIG,) if function.__code__.co_argcount == 2 else ()
        step, x = lazy.step(function), lazy.asarray(np.arange(3.0))
        for k in (2, 3, 3, 4, 2, 2, 5):
            change(k)
            np.testing.assert_allclose(np.array(step(x, *args)), function(np.arange(3.0), *args))


def test_settings_are_part_of_the_key() -> None:
    step = lazy.step(lambda a, b: a @ b)
    a = lazy.asarray(np.full((4, 4), 1.001, np.float32))
    full = np.array(step(a, a))
    with pystage.autocast("bfloat16"):
        low = np.array(step(a, a))
        np.testing.assert_array_equal(low, np.array(a @ a))
    assert (low != full).any()
    np.testing.assert_array_equal(np.array(step(a, a)), full)
    with np.errstate(divide="raise"), pytest.raises((FloatingPointError, lazy.StepError)):
        lazy.step(lambda x: 1 / x)(lazy.asarray(np.zeros(3)))


def test_other_threads_do_not_matter() -> None:
    other, x = lazy.asarray(np.zeros(3)), lazy.asarray(ONES)
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        nonlocal other
        begun.wait(60)
        other += 1
        assert float(other.sum()) == 3 and float(x.sum()) == 3
        go_on.set()

    def function(t: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return t * 2

    thread = threading.Thread(target=work)
    thread.start()
    step = lazy.step(function)
    for _ in range(3):
        np.testing.assert_array_equal(step(x), [2, 2, 2])
    thread.join()


# ---------------------------------------------------------------- what does not repeat

WEIGHTS = lazy.asarray(ONES)
KEPT: list[Any] = []
RNG, PYTHON_RNG, STATE = np.random.default_rng(0), random.Random(0), np.random.RandomState(0)


class Holder:
    def __init__(self) -> None:
        self.w = lazy.asarray(ONES)
        self.rng = np.random.default_rng(0)


HOLDER = Holder()


def sets_a_shape(x: Any) -> Any:
    HOLDER.w = x + 1


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: x + np.random.random(3), "draws"),
        (lambda x: x + np.random.normal(), "draws"),
        (lambda x: x + RNG.random(3), "draws"),
        (lambda x: x + HOLDER.rng.random(3), "draws"),
        (lambda x: x + STATE.rand(3), "draws"),
        (lambda x: x + random.random(), "draws"),
        (lambda x: x + PYTHON_RNG.random(), "draws"),
        (lambda x: x if random.random() < 0.5 else -x, "draws"),
        (lambda x: x + lazy.random.default_rng(0).normal(size=3), "draws"),
        (lambda x: x + WEIGHTS, "no argument"),
        (lambda x: x * float(WEIGHTS[0]), "no argument"),
        (lambda x: WEIGHTS.__iadd__(x), "no argument"),
        (lambda x: HOLDER.w + x, "no argument"),
        (lambda x: KEPT.append(x), "keeps"),
        (lambda x: KEPT.append(x[1:]), "keeps"),
        (sets_a_shape, "keeps"),
        (lambda x: np.arange(3), "returns a ndarray"),
    ],
)
def test_what_does_not_repeat_is_refused(function: Any, match: str) -> None:
    refused(function, lazy.asarray(ONES), match=match)
    HOLDER.w = lazy.asarray(ONES)


def test_a_tensor_that_was_kept_has_no_value() -> None:
    for kept in KEPT:
        for use in (np.array, repr, lambda t: t + 1, lambda t: lazy.asarray(2.0) + t, lambda t: t[0].item()):
            with pytest.raises(lazy.StepError, match="has no value"):
                use(kept)
    lazy.sync()


def test_the_second_call_is_compared() -> None:
    numbers = itertools.count(2.5)
    for function in (
        lambda x: x + np.random.default_rng().random(3),
        lambda x: x * time.perf_counter(),
        lambda x: x * next(numbers),
        lambda x: (x, time.perf_counter()),
    ):
        step, x = lazy.step(function), lazy.asarray(ONES)
        step(x)
        with pytest.raises(lazy.StepError, match="what it did the first time"):
            step(x)


def test_what_the_step_changes_itself_is_changed_at_each_call() -> None:
    state, total, seen, table = {"t": 0}, 0, [], np.zeros(3)

    def dictionary(x: Any) -> Any:
        state["t"] += 1
        return x * (state["t"] + 1)

    def cell(x: Any) -> Any:
        nonlocal total
        total += 1
        return x + total

    def array(x: Any) -> Any:
        table[0] += 1
        return x * table

    def only_counts(x: Any) -> Any:
        seen.append(1)
        return x * 2

    x = lazy.asarray(ONES)
    steps = [lazy.step(each) for each in (dictionary, cell, array, only_counts)]
    for k in range(1, 6):
        found = [np.array(step(x)) for step in steps]
        np.testing.assert_array_equal(found, [ONES * (k + 1), ONES + k, [k, 0, 0], ONES * 2])
        assert (state["t"], total, len(seen), table[0]) == (k, k, k, k)


class Layer:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return x * self.scale

    def __getitem__(self, x: Any) -> Any:
        return x + SCALE


def test_special_methods_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer(2.0)
    step, x = lazy.step(lambda x: layer[layer(x)]), lazy.asarray(ONES)
    for k in range(2, 6):
        for _ in range(3):
            np.testing.assert_array_equal(step(x), ONES * layer.scale + SCALE)
        layer.scale = k / 2
        monkeypatch.setitem(globals(), "SCALE", k / 3)


def test_a_checked_step_compares() -> None:
    numbers = iter([1.5, 1.5, 1.5, 2.5])
    x = lazy.asarray(ONES)
    step = lazy.step(check=True)(lambda x: x * next(numbers))
    for _ in range(3):
        step(x)
    with pytest.raises(lazy.StepError, match="what it did the first time"):
        step(x)


def test_a_replay_takes_what_is_recorded_and_not_computed() -> None:
    step = lazy.step(lambda t: t * 2)
    x = lazy.asarray(np.arange(3.0))
    np.testing.assert_array_equal(step(x), [0, 2, 4])
    np.testing.assert_array_equal(step(x + 1), [2, 4, 6])
    np.testing.assert_array_equal(step(step(x + 1) - 1), [2, 6, 10])


def test_memory_is_used_again() -> None:
    step = lazy.step(lambda w, g, t: w.__isub__(g / (1 - 0.9**t)).sum())
    w, g = lazy.asarray(np.ones((40, 40))), lazy.asarray(np.ones((40, 40)))
    for t in (1, 2):
        step(w, g, t)
    place = w._node.array.unsafe_buffer_pointer()
    for t in (3, 4, 5):
        step(w, g, t)
        assert w._node.array.unsafe_buffer_pointer() == place
    check(lambda w, t: w.__isub__(1 / t), *[(tensor(ONES), t) for t in (3, 2, 1, 0, 5)], recorded=2)


def test_threads_share_a_step() -> None:
    step, wrong = lazy.step(lambda w, r: w * r + 1), []

    def work(k: int) -> None:
        w = lazy.asarray(ONES * k)
        for i in range(20):
            if not (np.array(step(w, i / 2)) == ONES * k * (i / 2) + 1).all():
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_no_parameter_can_stand_for_runs_as_it_is_written() -> None:
    step, x = lazy.step(lambda x, a: (x.sum(), a)), lazy.asarray(ONES)
    for other in (np.array([None]), jax.numpy.ones(3), np.array(["a"])):
        assert step(x, other)[1] is other
    assert lazy.step(lambda a: a * 2)(ONES).__class__ is np.ndarray and not step._known


def test_a_step_that_is_too_large_runs_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Any) -> Any:
        for k in range(200):
            x = np.sin(x) + x * (k + 2) / 1000
        return x

    monkeypatch.setattr(pystage.config, "program_limit", 300)
    check(function, *[(tensor(ONES * 1e-3 * k),) for k in range(1, 4)])


# ---------------------------------------------------------------- random steps


class Random:
    """A random function of a tensor, a vector, a number, an integer and indices, as the operations that it does."""

    binary = (np.add, np.subtract, np.multiply, np.maximum)

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        kinds = ("binary", "number", "store", "view", "index", "sum", "integer", "in place", "branch")
        self._calls = [(rng.choice(kinds), rng.random(), rng.random(), rng.random()) for _ in range(8)]
        self.rng = rng

    def __call__(self, w: Any, v: Any, rate: float, n: int, at: Any, on: bool) -> Any:
        values = [w, v]
        for kind, a, b, c in self._calls:
            x, y = values[int(a * len(values))], values[int(b * len(values))]
            match kind:
                case "binary":
                    values.append(self.binary[int(c * 4)](x, y))
                case "number":
                    values.append(x * (rate + c))
                case "store":
                    x[1:3] = y[:2] * 0.5
                case "view":
                    values.append(x[::-1] if c < 0.5 else x[:])
                case "index":
                    values.append(x[at] if c < 0.5 else x[[3, 1, 0, 2]])
                case "sum":
                    values.append(y + x.sum())
                case "integer":
                    values.append(x + n if c < 0.5 else x * y[n])
                case "in place":
                    x += y if c < 0.5 else rate
                case "branch":
                    values.append(x if on and rate > 0.5 else y - 1)
        return values[-1] + 0, values[-2], {"rate": rate * 2, "w": w}


@pytest.mark.parametrize("seed", range(8))
def test_random_steps(seed: int) -> None:
    function = Random(seed)
    rng = function.rng
    w, v = tensor(np.linspace(0, 1, 4)), (tensor if rng.random() < 0.7 else ndarray)(np.linspace(-1, 0, 4))
    calls = []
    for k in range(7):
        at = np.array([rng.randrange(-4, 4) for _ in range(4)] if k != 5 else [0, 1, 2, 9])
        first = (w, v, w[:], w[::-1])[rng.randrange(4)]
        calls.append(
            (first, v, rng.choice((0.25, 0.75, 1.5)), rng.randrange(2), ndarray(at), rng.random() < 0.5)
        )
    check(function, *calls)
