"""What lazy tensors do where there are two devices: a script, as the number of devices is settled when JAX starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pystage
from pystage import lazy
from pystage.lazy import in_numpy

FIRST, SECOND = jax.devices()
DATA = np.arange(6.0).reshape(2, 3)


def refused(call: Callable[[], Any]) -> str:
    """The text of the error that a call on tensors of two devices ends with."""
    try:
        call()
    except lazy.DeviceMismatch as error:
        return str(error)
    raise AssertionError("tensors of two devices met")


def tensors() -> tuple[Any, Any]:
    """The data on the one device and on the other."""
    return lazy.asarray(DATA), lazy.asarray(DATA, device=SECOND)


def where_results_are() -> None:
    x, y = tensors()
    assert (x.device, y.device) == (FIRST, SECOND)
    made = [
        y + 1,
        y.T,
        y[0],
        np.exp(y),
        y @ y.T,
        np.concatenate([y, y]),
        y.sum(),
        np.linalg.norm(y),
        np.sort(y),
    ]
    made += [
        lazy.zeros_like(y),
        lazy.zeros(3, device=SECOND),
        lazy.arange(3, device="cpu:1"),
        y[y > 1],
        2 - y,
    ]
    lazy.sync(*made)
    assert {tensor.device for tensor in made} == {SECOND}
    generator = lazy.random.default_rng(3, device=SECOND)
    assert generator.standard_normal(2).device == SECOND


def who_meets_is_told() -> None:
    calls: list[Callable[[Any, Any], Any]] = [
        lambda x, y: x + y,
        lambda x, y: np.add(x, y),
        lambda x, y: np.concatenate([x, y]),
        lambda x, y: np.where(x > 1, x, y),
        lambda x, y: x @ y.T,
        lambda x, y: x[y[0].astype(np.int64)],
        lambda x, y: np.add(x, 1, out=y),
        lambda x, y: x.__setitem__(0, y[0]),
        lambda x, y: x.__iadd__(y),
        lambda x, y: np.linalg.solve(x[:, :2], y[:, :2]),
        lambda x, y: np.interp(x, y[0], y[1]),
    ]
    for call in calls:
        x, y = tensors()
        text = refused(lambda call=call, x=x, y=y: call(x, y))
        assert "cpu:0" in text and "cpu:1" in text, text
        assert ".to(" in text
        assert np.array_equal(x, DATA) and np.array_equal(y, DATA)


def who_moves_may_meet() -> None:
    x, y = tensors()
    moved = y.to(FIRST)
    assert (moved.device, y.device) == (FIRST, SECOND)
    assert np.array_equal(x + moved, 2 * DATA)
    moved += 1
    assert np.array_equal(y, DATA)
    assert y.to_device("cpu:0").device == FIRST
    assert lazy.asarray(y, device=FIRST).device == FIRST


def barriers_are_of_one_device() -> None:
    x, y = tensors()
    lazy.sync()
    lazy.reset_metrics()
    a, b = x * 3, y * 3
    assert np.array_equal(a, 3 * DATA)
    assert lazy.metrics().barriers == 1
    assert np.array_equal(b, 3 * DATA)
    assert lazy.metrics().barriers == 2


def views_and_stores_stay() -> None:
    _, y = tensors()
    view = y[1]
    view[:2] = 7
    y.T[0] += 1
    expected = DATA.copy()
    expected[1, :2] = 7
    expected.T[0] += 1
    assert np.array_equal(y, expected) and np.array_equal(view, expected[1])
    assert view.device == SECOND


def gradients_and_steps_stay() -> None:
    _, y = tensors()

    def loss(w: Any) -> Any:
        return (np.tanh(w) ** 2).sum()

    _, slope = pystage.value_and_grad(loss)(y)
    assert slope.device == SECOND
    assert np.allclose(slope, 2 * np.tanh(DATA) / np.cosh(DATA) ** 2)
    step = lazy.step(lambda w: w - 0.5 * w)
    for _ in range(3):
        y = step(y)
    assert y.device == SECOND
    assert np.allclose(y, DATA / 8)


def the_default_device_counts() -> None:
    with jax.default_device(SECOND):
        assert lazy.asarray(DATA).device == SECOND
        assert lazy.ones(2).device == SECOND


MESH = Mesh(np.array(jax.devices()), ("data",))
ROWS = NamedSharding(MESH, P("data"))
LARGE = np.sin(np.arange(4096.0)).reshape(64, 64)


def a_mesh_is_one_device() -> None:
    x, w = lazy.asarray(LARGE, device=ROWS), lazy.asarray(LARGE, device=MESH)
    assert x.device == w.device == MESH and x.sharding == ROWS and w.sharding.is_fully_replicated
    lazy.reset_metrics()
    y = np.tanh(x @ w) + np.arange(64.0)
    total = y.sum(axis=0)
    assert "all-reduce" in lazy.dump(total, form="optimized")
    lazy.sync(y, total)
    assert lazy.metrics().barriers == lazy.metrics().compiles == 1
    assert y.sharding.spec == ROWS.spec and total.sharding.is_fully_replicated
    wanted = np.tanh(LARGE @ LARGE) + np.arange(64.0)
    assert np.allclose(y.numpy(), wanted) and np.allclose(total.numpy(), wanted.sum(axis=0))
    y[:2] = 0.0
    view = np.asarray(y)  # the memory of y, on the host
    view[2] = 1.0
    assert (y + 1.0).sharding.spec == ROWS.spec  # what is in the host's memory goes back to where it was
    del view
    assert (y + 1.0).sharding.spec == ROWS.spec
    assert np.array_equal(y.numpy()[:3], np.repeat([[0.0], [0.0], [1.0]], 64, axis=1))
    other = x.to(NamedSharding(MESH, P(None, "data")))
    assert other.sharding.spec == P(None, "data") and np.array_equal(other, LARGE)
    assert other.to(FIRST).device == FIRST and other.to(FIRST).to(ROWS).sharding == ROWS
    alone = lazy.asarray(LARGE)
    assert "t.to(mesh)" in refused(lambda: x + alone)
    assert lazy.asarray(jax.device_put(LARGE.astype(np.float32), ROWS)).sharding == ROWS


def training_on_a_mesh_is_that_on_one_device() -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.mean((np.tanh(x @ w) - 1.0) ** 2)

    def train(w: Any, x: Any) -> Any:
        value, slope = pystage.value_and_grad(loss)(w, x)
        w -= 0.1 * slope
        return value

    for f in (train, lazy.step(train)):
        w, x = lazy.asarray(LARGE, device=MESH), lazy.asarray(LARGE, device=ROWS)
        u, z = lazy.asarray(LARGE), lazy.asarray(LARGE)
        assert np.allclose([float(f(w, x)) for _ in range(4)], [float(f(u, z)) for _ in range(4)], rtol=1e-12)
        assert np.allclose(w.numpy(), u.numpy(), rtol=1e-12) and w.sharding.is_fully_replicated


def arrays_of_jax_enter_the_recording() -> None:
    x = lazy.asarray(LARGE, device=ROWS)
    lazy.sync()
    lazy.reset_metrics()
    made = [x + jnp.ones(64), np.add(x, jnp.ones(64)), x + jax.device_put(jnp.ones((64, 64)), ROWS)]
    assert all(type(each) is lazy.LazyTensor for each in made) and lazy.metrics().barriers == 0
    assert all(np.array_equal(each, LARGE + 1.0) for each in made)
    assert "cpu:1" in refused(lambda: x + jax.device_put(jnp.ones(64), SECOND))


def batches_are_loaded_ahead() -> None:
    given = [(LARGE + i, np.arange(64), i) for i in range(5)]
    found = list(lazy.Loader(given, sharding=ROWS, prefetch=3))
    assert [number for *_, number in found] == [0, 1, 2, 3, 4]
    for (x, labels, number), (wanted, *_) in zip(found, given, strict=True):
        assert x.sharding == ROWS and labels.sharding.spec == P("data") and np.array_equal(x, wanted), number

    def broken() -> Iterator[Any]:
        yield LARGE
        raise RuntimeError("no more files")

    batches = iter(lazy.Loader(broken(), sharding=NamedSharding(MESH, P("data", None))))
    assert np.array_equal(next(batches), LARGE)
    try:
        next(batches)
    except RuntimeError as error:
        assert str(error) == "no more files"
    else:
        raise AssertionError("the error of the batches is lost")
    assert next(iter(lazy.Loader([np.float64(2.0), np.ones(())], sharding=ROWS))) == 2.0


def sizes_on_a_mesh_share_programs() -> None:
    columns, pairs = NamedSharding(MESH, P(None, "data")), NamedSharding(MESH, P("data"))

    def loss(w: Any, x: Any) -> Any:
        return np.mean((np.tanh(x @ w) - 1.0) ** 2)

    def train(w: Any, x: Any) -> Any:
        value, slope = pystage.value_and_grad(loss)(w, x)
        w -= 0.1 * slope
        return value, x[1:] * 2.0

    for place in (columns, pairs):
        for f in (train, lazy.step(train)):
            w, v = lazy.asarray(LARGE, device=MESH), LARGE.copy()
            counts = []
            for size in (36, 48, 62, 40):
                lazy.reset_metrics()
                x = lazy.asarray(LARGE[:size], device=place, bucket={0: "pow2"})
                value, rest = f(w, x)
                lazy.sync()
                counts.append(lazy.metrics().compiles)
                h = np.tanh(LARGE[:size] @ v)
                assert np.allclose(value, np.mean((h - 1.0) ** 2), rtol=1e-12)
                v -= 0.1 * LARGE[:size].T @ (2 * (h - 1.0) * (1 - h**2) / h.size)
                assert np.allclose(w.numpy(), v, rtol=1e-12) and np.array_equal(rest, LARGE[1:size] * 2.0)
                assert rest.sharding.mesh == MESH and (place is columns or w.sharding.is_fully_replicated)
            assert counts[0] <= 1 and counts[1:] == [0, 0, 0], counts
    counts = []
    for rule in (64, (37, 64)):  # 37 rows cannot be divided
        for size in (44, 46, 36, 38):
            lazy.reset_metrics()
            x = lazy.asarray(LARGE[:size] * 2, device=pairs, bucket={0: rule})
            y = np.sin(x)  # alive at the barrier
            total = y.sum(axis=0)
            lazy.sync()
            assert np.allclose(total, np.sin(LARGE[:size] * 2).sum(axis=0))
            counts.append(lazy.metrics().compiles)
    assert counts == [1, 0, 0, 0, 0, 0, 1, 0], counts


def collectives_do_not_see_buckets() -> None:
    for size in (8, 12):
        x = lazy.asarray(LARGE[:size], device=ROWS, bucket={0: 16})
        total = lazy.all_reduce(x, "data")
        assert total.shape == (size // 2, 64)
        assert np.allclose(total, LARGE[: size // 2] + LARGE[size // 2 : size])


if __name__ == "__main__":
    for size in (in_numpy.SMALL, 0):  # computed at once, and recorded
        in_numpy.SMALL = size
        where_results_are()
        who_meets_is_told()
        who_moves_may_meet()
        views_and_stores_stay()
        gradients_and_steps_stay()
        the_default_device_counts()
    barriers_are_of_one_device()
    in_numpy.SMALL = 1 << 14
    a_mesh_is_one_device()
    training_on_a_mesh_is_that_on_one_device()
    arrays_of_jax_enter_the_recording()
    batches_are_loaded_ahead()
    sizes_on_a_mesh_share_programs()
    collectives_do_not_see_buckets()
