"""`lazy.step`: later calls do what the function would do, on other arguments, without recording."""

from __future__ import annotations

import json
import random
import threading
from collections import OrderedDict
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import pystage
from lazy.stepping import ONES, Pair, check, ndarray, refused, tensor
from pystage import lazy
from pystage.lazy.graph import lent
from pystage.lazy.segment import Executable
from pystage.lazy.tensor import LOOKS


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
    check(
        lambda w, n: (w[n], w[n : n + 2], [w * i for i in range(n)]), *[(w, np.int64(k)) for k in (1, 2, 1)]
    )
    check(lambda w, r: (w, json.dumps(r), str(Fraction(r))), *[(w, r) for r in (0.5, 0.25)])
    check(lambda w, s: (w * s, s + 1), *[(w, w[k, 0]) for k in range(3)])
    check(lambda w, r: (w, isinstance(r, float), hasattr(r, "shape")), (w, 0.5))


def test_programs_are_bounded() -> None:
    step = lazy.step(lambda w, n: w * range(n)[-1])
    w = lazy.asarray(ONES)
    for n in range(2, 200):
        step(w, n)
    assert len(step._known) <= 128


def test_programs_of_places_are_one() -> None:
    w = tensor(np.arange(40.0))
    np.asarray(lazy.step(lambda w, i: w[i : i + 2])(w.given, 1))  # compiles what reads a place
    lazy.reset_metrics()
    step = lazy.step(lambda w, i: w[i : i + 3] * 2)
    for i in range(2, 20):
        np.testing.assert_array_equal(np.asarray(step(w.given, i)), w.plain[i : i + 3] * 2)
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

    def closes_over(w: Any, r: float) -> Any:
        return pystage.grad(lambda w: (w * r).sum())(w), pystage.value_and_grad(lambda r: (w * r).sum())(r)

    for r in (0.5, 0.25, 2.0):
        slopes, (value, slope) = lazy.step(closes_over)(x, r)
        np.testing.assert_array_equal(slopes, [r, r, r])
        assert (float(value), slope, type(slope)) == (3 * r, 3.0, float)
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
    del array
    step(x)
    assert x._host is None and x.tolist() == [8, 8, 8]


def test_memory_that_numpy_gets_while_a_step_is_recorded() -> None:
    def function(x: Any) -> Any:
        made = np.zeros_like(x)
        np.add.at(made, [0, 2], [1.0, 5.0])
        view = made[1:]
        made += 1.0
        x[...] = np.zeros(3)
        np.add.at(view, [0], 2.0)
        return made, view

    check(function, *[(tensor(ONES * k),) for k in range(3)], recorded=2)


def test_elements_are_recorded_in_a_function_that_was_lent_tensors() -> None:
    with lent():
        check(
            lambda x: [x[i] for i in range(2 * LOOKS)], *[(tensor(np.arange(150.0) * k),) for k in range(3)]
        )


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


def test_a_step_that_fails_leaves_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs_out(executable: Executable, arrays: Any) -> Any:
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")

    step, w = lazy.step(lambda w: w.__iadd__(1)), lazy.asarray(np.ones((40, 40)))
    step(w)
    with monkeypatch.context() as patch:
        patch.setattr(Executable, "__call__", runs_out)
        with pytest.raises(MemoryError, match="Out of memory"):
            step(w)
    step(w)
    assert w[0, 0] == 3


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
