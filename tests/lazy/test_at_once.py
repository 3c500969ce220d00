"""Small calls are computed at once by NumPy: kinds of results, views of one memory, and a record where one is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage import lazy
from pystage.lazy import in_numpy
from pystage.lazy.graph import lent

pytestmark = [
    pytest.mark.usefixtures("at_once", "interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
LARGE = in_numpy.SMALL
ROWS = np.arange(12.0).reshape(3, 4)


def counted(run: Callable[[], Any]) -> lazy.Metrics:
    """What a run counts."""
    lazy.sync()
    lazy.reset_metrics()
    run()
    return lazy.metrics()


CALLS: dict[str, Callable[[Any], Any]] = {
    "operator": lambda x: x * 2 + 1,
    "of an int": lambda x: 3 - x,
    "two": lambda x: x + x[0],
    "divmod": lambda x: divmod(x, 2.5),
    "ufunc": lambda x: np.exp(x),
    "out": lambda x: np.add(x, 1, out=x),
    "two outs": lambda x: np.divmod(x, 2.0, out=(x[0:1] * np.ones((3, 1)), np.empty((3, 4)))),
    "reduction": lambda x: x.sum(),
    "along an axis": lambda x: x.max(axis=1, keepdims=True),
    "Python's bool": lambda x: np.allclose(x, x),
    "bool": lambda x: x > 3,
    "any": lambda x: (x > 3).any(),
    "indices": lambda x: x[[0, 2]],
    "transposed indices": lambda x: x[:, [0, 2]],
    "a mask": lambda x: x[x > 3],
    "a scalar's arithmetic": lambda x: x[1, 2] * 2 + x.mean(),
    "float32": lambda x: x.astype(np.float32) * 0.1,
    "integers": lambda x: np.arange(3) @ x,
    "concatenate": lambda x: np.concatenate([x, x[:1]], axis=0),
    "split": lambda x: np.split(x, 2, axis=1),
    "matmul": lambda x: x @ x.T,
    "svd": lambda x: np.linalg.svd(x).S,
    "copy in order F": lambda x: np.asfortranarray(x) + 1,
    "histogram": lambda x: np.histogram(x, 3),
    "the tensor itself": lambda x: x.astype(float, copy=False),
    "broadcast": lambda x: np.broadcast_to(x[0], (2, 4)),
    "meshgrid": lambda x: np.meshgrid(x[0], x[:, 0]),
}


def kinds(value: Any) -> Any:
    """What a program can tell of a result: elements, kind, order in memory, and whether it may be stored into."""
    if isinstance(value, tuple | list):
        return type(value), [kinds(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        flags = (array.flags.c_contiguous, array.flags.f_contiguous)
        return (
            value.__class__,
            value.dtype,
            array.shape,
            array.tolist(),
            flags,
            value.ndim and value.flags.writeable,
        )
    return type(value), value


@pytest.mark.parametrize("name", CALLS)
def test_results_are_numpys(name: str) -> None:
    x = lazy.asarray(ROWS)
    plain = ROWS.copy()
    assert kinds(CALLS[name](x)) == kinds(CALLS[name](plain))
    assert np.array_equal(x, plain)


@pytest.mark.parametrize("name", CALLS)
def test_results_are_tensors_as_those_of_recorded_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def classes(value: Any) -> Any:
        return list(map(classes, value)) if isinstance(value, tuple | list) else type(value)

    at_once = classes(CALLS[name](lazy.asarray(ROWS)))
    monkeypatch.setattr(in_numpy, "SMALL", 0)
    assert at_once == classes(CALLS[name](lazy.asarray(ROWS))) or name in ("a mask", "histogram")


def test_nothing_is_recorded_or_compiled() -> None:
    x = lazy.asarray(ROWS)

    def run() -> None:
        s = 0.0
        for i in range(3):
            x[i, 0] = s
            s += np.exp(x[i, 1] / 9) + x[i].sum()
        assert float(s) > 0

    found = counted(run)
    assert (found.barriers, found.interpreted, found.compiles, found.unlowered) == (0, 0, 0, 0)
    assert found.at_once >= 12
    assert f"{found.at_once} small calls computed at once" in lazy.report()


def test_large_arrays_are_recorded() -> None:
    x = lazy.asarray(np.ones(LARGE))
    found = counted(lambda: x * 2 + 1)
    assert found.at_once == 0
    assert counted(lambda: lazy.asarray(np.ones(LARGE // 2)) + lazy.asarray(np.ones(LARGE // 2))).at_once == 0


def test_what_depends_on_a_recorded_call_is_recorded() -> None:
    x, small = lazy.asarray(np.ones(LARGE)), lazy.asarray(np.ones(3))
    lazy.reset_metrics()
    total = x.sum()
    y = small * total
    assert lazy.metrics().at_once == 0
    assert np.array_equal(y, np.full(3, float(LARGE)))
    found = lazy.metrics()
    assert found.barriers == 1


def test_views_and_stores_have_one_memory() -> None:
    x, plain = lazy.asarray(ROWS), ROWS.copy()
    for a in (x, plain):
        row, turned, part = a[1], a.T, a[:, 1:3]
        row += 10
        turned[0] *= 2
        part[...] = part[::-1] + row[0]
        a.reshape(-1)[3] = 7
        np.copyto(part[0], [5, 6])
        a.sort(axis=0)
        a.ravel()[:2] = -1
        row.fill(a[0, 3])
    assert np.array_equal(x, plain) and np.array_equal(x[1], plain[1])
    assert x[1].base is x


def test_an_ndarray_of_the_memory_sees_stores() -> None:
    x = lazy.asarray(ROWS)
    memory = np.asarray(x)
    x += 1
    x[0, 0] = 50
    memory[1] = 3
    assert np.array_equal(x, memory) and x[0, 0] == 50 and x[1, 2] == 3


def test_what_a_program_has_computed_is_stored_into() -> None:
    x = lazy.asarray(ROWS)
    with lazy.step():
        y = x * 2
        z = y + 1
    kept = z * 1
    y += 1
    y[0] = 5
    z[1] *= 2
    expected_y, expected_z = ROWS * 2 + 1, ROWS * 2 + 1
    expected_y[0] = 5
    expected_z[1] *= 2
    assert np.array_equal(y, expected_y) and np.array_equal(z, expected_z)
    assert np.array_equal(kept, ROWS * 2 + 1)


def test_what_a_pending_call_has_read_stays() -> None:
    big = lazy.asarray(np.ones((LARGE, 2)))
    small = lazy.asarray(np.array([1.0, 2.0]))
    pending = big * small
    small += 10
    small[0] = -1
    assert np.array_equal(pending[0], [1, 2]) and np.array_equal(small, [-1, 12])
    again = big * small
    assert np.array_equal(again[-1], [-1, 12])


def test_a_store_of_something_pending_makes_the_owner_pending() -> None:
    x = lazy.asarray(np.zeros(3))
    view = x[1:]
    x[0] = lazy.asarray(np.ones(LARGE)).sum()
    view += 1
    assert np.array_equal(x, [LARGE, 1, 1]) and np.array_equal(view, [1, 1])
    x *= 2
    assert np.array_equal(view, [2, 2])


def test_rows_of_a_large_array_are_read_at_once_and_stored_into() -> None:
    data = np.arange(2.0 * LARGE).reshape(-1, 8)
    x, plain = lazy.asarray(data), data.copy()
    assert counted(lambda: x[3] * 2.0).at_once == 1
    for a in (x, plain):
        row = a[4]
        row *= 2
        a[5] = row + a[6]
        a[7, 1] = 3
    assert np.array_equal(x, plain)
    y, plain = x + 1, plain + 1
    for a in (y, plain):
        a[0] = a[1] * a[2]
    assert np.array_equal(y, plain)


def test_shape_is_set() -> None:
    x, plain = lazy.asarray(ROWS), ROWS.copy()
    plain.shape = x.shape = (4, 3)
    x += 1
    assert np.array_equal(x, plain + 1) and x.shape == (4, 3)
    assert np.array_equal(x.T @ x, (plain + 1).T @ (plain + 1))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + np.ones(5),
        lambda x: x[7],
        lambda x: x[[0, 9]],
        lambda x: x.__setitem__((3, 0), 1),
        lambda x: x.astype(int).__iadd__(1.5),
        lambda x: np.concatenate([x, x[0]]),
        lambda x: np.linalg.inv(x[:, :3] * 0),
        lambda x: x.reshape(5),
        lambda x: x + 2**70 * x.astype(np.int8),
        lambda x: x.sum()[0],
        lambda x: np.broadcast_to(x, (2, 3, 4)).__setitem__(0, 1),
        lambda x: x.nothing,
    ],
)
def test_errors_are_numpys(call: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as plain:
        call(ROWS.copy())
    with pytest.raises(plain.type) as found:
        call(lazy.asarray(ROWS))
    if plain.type is not AttributeError:
        assert str(found.value) == str(plain.value)


def test_warnings_and_errors_of_floats_are_numpys() -> None:
    x = lazy.asarray(np.array([0.0, 1.0]))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        1 / x
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        1 / x


def test_gradients_see_what_was_computed_at_once() -> None:
    w = lazy.asarray(np.array([1.0, 2.0, 3.0]))
    scale = w * 2
    view = w[1:]
    view += 0.5

    def loss(w: Any) -> Any:
        total = (w * scale).sum()
        kept = w * 1
        kept[0] = total
        return kept.sum() + (w[1:] ** 2).sum()

    value, slope = pystage.value_and_grad(loss)(w)
    plain, twice = np.array([1.0, 2.5, 3.5]), np.array([2.0, 4.0, 6.0])
    expected = plain @ twice + plain[1:].sum() + (plain[1:] ** 2).sum()
    assert np.isclose(float(value), expected)
    assert np.allclose(slope, twice + np.array([0, 1, 1]) + np.array([0, *(2 * plain[1:])]))
    w -= 0.1 * slope
    assert np.allclose(w, plain - 0.1 * np.asarray(slope))


def test_a_step_is_recorded_and_shares_its_arguments() -> None:
    @lazy.step
    def step(w: Any, x: Any, rate: float) -> Any:
        w -= rate * (x @ w) * x
        return w.sum()

    w, plain, x = lazy.asarray(np.ones(4)), np.ones(4), np.arange(4.0)
    for i in range(4):
        total = step(w, lazy.asarray(x), 0.1 / (i + 1))
        plain -= 0.1 / (i + 1) * (x @ plain) * x
        w += i
        plain += i
        assert np.isclose(float(total), (plain - i).sum())
    assert np.allclose(w, plain)

    @lazy.step
    def keeps(x: Any) -> Any:
        return x + scale

    scale = w * 2
    with pytest.raises(lazy.StepError, match="no argument"):
        keeps(w)


def test_a_block_of_a_step_records_all() -> None:
    x = lazy.asarray(ROWS)

    def run() -> None:
        with lazy.step():
            y = x + 1
            y *= x[0]
            assert np.array_equal(y, (ROWS + 1) * ROWS[0])

    found = counted(run)
    assert found.at_once == 0 and found.barriers == 1
    assert counted(lambda: x + 1).at_once == 1


def test_autocast_is_recorded() -> None:
    x = lazy.asarray(np.full((2, 2), 1.001, np.float32))
    with pystage.autocast("bfloat16"):
        assert counted(lambda: x @ x).at_once == 0
    assert counted(lambda: x @ x).at_once == 1


def test_in_a_fallback_what_is_made_goes_back_as_ndarrays() -> None:
    big = np.ones(LARGE)
    kept = []

    def function(x: Any) -> Any:
        small = np.array([1.0, 2.0]) * x[0]
        kept.append(small + 1)
        eval("1")
        return small, x[:3] * 2, float(x.sum())

    with pytest.warns(pystage.FallbackWarning):
        small, part, total = pystage.compile(function, fallback="lazy")(big)
    assert type(small) is type(part) is type(kept[0]) is np.ndarray
    assert np.array_equal(small, [1, 2]) and np.array_equal(part, [2, 2, 2]) and total == LARGE


def test_a_tensor_of_before_a_fallback_stays_one() -> None:
    before = lazy.asarray(np.zeros(3))
    with lent():
        start = before._kind.arena.now()
        before[0] = lazy.asarray(np.ones(LARGE)).sum()
        made = lazy.asarray(np.ones(3)) * 2
    found = before._kind.arena.created_since(start)
    assert any(each is made for each in found) and not any(each is before for each in found)
    assert np.array_equal(before, [LARGE, 0, 0])


def test_jax_and_other_operands() -> None:
    x = lazy.asarray(ROWS)
    assert np.array_equal(np.add(x, jnp.ones(4)), ROWS + 1)
    assert np.array_equal(x * np.float32(2), ROWS * 2)
    assert np.array_equal(x + np.ones(4), ROWS + 1) and type(x + np.ones(4)) is lazy.LazyTensor
    out = np.zeros((3, 4))
    assert np.add(x, 1, out=out) is out and np.array_equal(out, ROWS + 1)
    assert (x == "a") is not True and not np.asarray(x == None).any()  # noqa: E711


def test_the_standards_functions() -> None:
    x = lazy.asarray(ROWS)
    total = lazy.sum(x)
    assert type(total) is lazy.LazyTensor and total.__class__ is np.ndarray and total.ndim == 0
    total += 1
    assert float(total) == 67
    with pytest.raises(TypeError):
        lazy.add(x, lazy.asarray(np.arange(4)))


def test_threads_store_into_their_own_parts() -> None:
    x = lazy.zeros((8, 50))

    def fill(row: int) -> None:
        for i in range(50):
            x[row, i] = row
            x[row] += 0.0

    threads = [threading.Thread(target=fill, args=(row,)) for row in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert np.array_equal(x, np.repeat(np.arange(8.0)[:, None], 50, 1))
