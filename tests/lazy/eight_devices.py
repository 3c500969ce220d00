"""Collectives on lazy tensors of meshes of eight devices, beside `jax.shard_map`: a script, as `two_devices.py` is."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pystage
from pystage import lazy

LINE = Mesh(np.array(jax.devices()), ("data",))
GRID = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
DATA = np.cos(np.arange(64.0 * 16)).reshape(64, 16)
BOTH = ("data", "model")
SHIFT = [(i, (i + 1) % 4) for i in range(4)]

Block = Callable[[Any], Any]
Case = tuple[str, Callable[[Any], Any], Block, P, P]


def cases() -> list[Case]:
    """A call, what it is on one device's block, and how the operand and the result are laid out, on `GRID`."""
    made: list[Case] = []

    def case(spec: P, out: P, block: Block, name: str, *args: Any, **options: Any) -> None:
        made.append((name, lambda x: getattr(lazy, name)(x, *args, **options), block, spec, out))

    def both(axes: Hashable, spec: P, out: P) -> None:
        case(spec, out, lambda b: lax.psum(b, axes), "all_reduce", axes)
        case(spec, out, lambda b: lax.pmean(b, axes), "all_reduce", axes, op="mean")
        case(spec, out, lambda b: lax.all_gather(b, axes, tiled=True), "all_gather", axes)
        case(spec, spec, lambda b: lax.psum_scatter(b, axes, tiled=True), "reduce_scatter", axes)
        case(spec, spec, lambda b: lax.all_to_all(b, axes, 0, 0, tiled=True), "all_to_all", axes)

    spread = P("data", "model")
    case(spread, P(None, "model"), lambda b: lax.pmax(b, "data"), "all_reduce", "data", op="max")
    case(spread, P("data"), lambda b: lax.pmin(b, "model"), "all_reduce", "model", op="min")
    gathered = lambda b: jnp.prod(lax.all_gather(b, "data"), axis=0)  # noqa: E731
    case(spread, P(None, "model"), gathered, "all_reduce", "data", op="prod")
    gathered = lambda b: lax.all_gather(b, "data", axis=1, tiled=True)  # noqa: E731
    case(spread, P(None, "model"), gathered, "all_gather", "data", axis=1)
    scattered = lambda b: lax.psum_scatter(b, "data", scatter_dimension=1, tiled=True) / 4  # noqa: E731
    case(spread, spread, scattered, "reduce_scatter", "data", op="mean", axis=-1)
    exchanged = lambda b: lax.all_to_all(b, "data", 1, 0, tiled=True)  # noqa: E731
    case(spread, spread, exchanged, "all_to_all", "data", split_axis=1)
    case(spread, spread, lambda b: lax.ppermute(b, "data", SHIFT), "ppermute", "data", SHIFT)
    case(P("data"), P("data"), lambda b: lax.ppermute(b, "data", [(0, 3)]), "ppermute", "data", [(0, 3)])
    both("data", spread, P(None, "model"))
    both(BOTH, P(BOTH), P())
    both("data", P(BOTH), P("model"))
    return made


def mapped(block: Block, spec: P, out: P) -> Block:
    """A block's function as JAX runs it on all devices."""
    return jax.shard_map(block, mesh=GRID, in_specs=spec, out_specs=out, check_vma=False)


def results_are_those_of_shard_map(spec: P, group: list[Case]) -> None:
    x = lazy.asarray(DATA, device=NamedSharding(GRID, spec))
    lazy.sync()
    lazy.reset_metrics()
    made = [call(x) for _, call, *_ in group]
    kept = [y.sharding for y in made]
    assert kept == [NamedSharding(GRID, out) for *_, out in group]
    assert lazy.metrics().barriers == lazy.metrics().compiles == lazy.metrics().unlowered == 0
    lazy.sync()
    assert lazy.metrics().barriers == lazy.metrics().compiles == 1
    assert [y.sharding for y in made] == kept
    with jax.enable_x64(True):
        wanted = jax.jit(lambda x: [mapped(block, spec, out)(x) for _, _, block, _, out in group])(DATA)
    for (name, *_), ours, theirs in zip(group, made, wanted, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, name
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-14, err_msg=name)


def gradients_are_those_of_shard_map(spec: P, group: list[Case]) -> None:
    group = [case for case in group if not {"pmax", "pmin"} & {*case[2].__code__.co_names}]  # JAX has none
    weights = np.sin(np.arange(4096.0))

    def weighed(results: Any) -> Any:
        return sum([(y**2 * weights[: y.size].reshape(y.shape)).sum() for y in results])

    def loss(x: Any) -> Any:
        y = np.tanh(x)
        return weighed([call(y) for _, call, *_ in group])

    def loss_of_jax(x: Any) -> Any:
        y = jnp.tanh(x)
        return weighed([mapped(block, spec, out)(y) for _, _, block, _, out in group])

    value, slope = pystage.value_and_grad(loss)(lazy.asarray(DATA, device=NamedSharding(GRID, spec)))
    with jax.enable_x64(True):
        expected, wanted = jax.jit(jax.value_and_grad(loss_of_jax))(DATA)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-13)


def pending_tensors_are_one_program() -> None:
    rows = NamedSharding(LINE, P("data"))
    x, w = lazy.asarray(DATA, device=rows), lazy.asarray(DATA[:16], device=LINE)
    lazy.sync()
    for trip in range(2):
        lazy.reset_metrics()
        y = np.tanh(x @ w) * 2
        total = lazy.all_reduce(y, "data")
        assert total.shape == (8, 16) and lazy.metrics().barriers == 0
        assert "shard_map" in lazy.dump(total)
        text = lazy.dump(total, form="optimized")
        assert "all-reduce" in text and "all-gather" not in text
        lazy.sync()
        assert lazy.metrics().barriers == 1 and lazy.metrics().unlowered == 0
        assert lazy.metrics().compiles == (0 if trip else 2)  # for the layout of `y`, and all
        wanted = (np.tanh(DATA @ DATA[:16]) * 2).reshape(8, 8, 16).sum(axis=0)
        np.testing.assert_allclose(total, wanted, rtol=1e-13, atol=1e-14)
    columns = lazy.all_reduce(x, "data", op="mean").to(NamedSharding(LINE, P(None, "data")))
    whole = lazy.all_gather(columns, "data", axis=1)
    assert whole.shape == (8, 16) and whole.sharding.is_fully_replicated
    assert lazy.metrics().barriers == 1, lazy.metrics()


def a_layout_is_recorded_where_the_tensor_is_pending() -> None:
    x = lazy.asarray(DATA, device=NamedSharding(GRID, P("data")))
    lazy.sync()
    lazy.reset_metrics()
    y = (x + 1.0).to(NamedSharding(GRID, P(None, BOTH)))
    assert y.sharding.spec == P(None, BOTH) and lazy.metrics().barriers == 0
    lazy.sync()
    assert y.sharding.spec == P(None, BOTH) and np.array_equal(y, DATA + 1.0)
    slope = pystage.grad(lambda x: (x.to(NamedSharding(GRID, P("model"))) ** 2).sum())(x)
    assert np.array_equal(slope, 2 * DATA)
    assert "divide" in refused(lambda: (x[1:] + 1).to(NamedSharding(GRID, P("data"))))


def steps_are_by_layout() -> None:
    step = lazy.step(lambda x: lazy.all_reduce(x * 2, "data"))
    for spec in (P("data"), P("data", "model"), P(None, "data")):
        lazy.reset_metrics()
        for trip in range(4):
            found = step(lazy.asarray(DATA + trip, device=NamedSharding(GRID, spec)))
            blocks = (DATA + trip) * 2
            wanted = blocks.reshape(4, 16, 16).sum(axis=0)
            if spec[0] is None:
                wanted = blocks.reshape(64, 4, 4).sum(axis=1)
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)
        assert lazy.metrics().steps.total() == 4 and lazy.metrics().recorded.total() == 2
    assert "the same" in refused(lambda: step(lazy.asarray(DATA, device=GRID)))


def types_of_elements() -> None:
    rows = NamedSharding(LINE, P("data"))
    for dtype in (np.int8, np.uint32, np.int64, np.float32, np.complex64, np.bool_):
        x = (DATA * 10).astype(dtype)
        t = lazy.asarray(x, device=rows)
        blocks = x.reshape(8, 8, 16)
        assert np.array_equal(lazy.all_gather(t, "data"), x)
        if dtype is not np.bool_:
            total = lazy.all_reduce(t, "data")
            assert total.dtype == dtype
            np.testing.assert_allclose(total, blocks.sum(axis=0, dtype=dtype), rtol=1e-5, atol=1e-5)
            assert lazy.all_reduce(t, "data", op="prod").dtype == dtype
        if dtype not in (np.bool_, np.complex64):
            assert np.array_equal(lazy.all_reduce(t, "data", op="max"), blocks.max(axis=0))


def refused(call: Callable[[], Any], error: type[Exception] = ValueError) -> str:
    """The text of the error that a call ends with."""
    try:
        call()
    except error as found:
        return str(found)
    raise AssertionError("it is not refused")


def what_is_refused() -> None:
    x = lazy.asarray(DATA, device=NamedSharding(GRID, P("data")))
    assert "axes of the mesh are ('data', 'model')" in refused(lambda: lazy.all_reduce(x, "rows"))
    assert "split over this axis" in refused(lambda: lazy.all_reduce(x, "model"))
    assert "NamedSharding" in refused(lambda: lazy.all_gather(lazy.asarray(DATA), "data"))
    assert "'sum'" in refused(lambda: lazy.all_reduce(x, "data", op="add"))
    assert "'mean'" in refused(lambda: lazy.reduce_scatter(x, "data", op="max"))
    thin = lazy.asarray(DATA[:, :6], device=NamedSharding(GRID, P("data")))
    assert "blocks of 6 along axis 1" in refused(lambda: lazy.reduce_scatter(thin, "data", axis=1))
    assert "blocks of 6 along axis 1" in refused(lambda: lazy.all_to_all(thin, "data", split_axis=1))
    refused(lambda: lazy.all_gather(x, "data", axis=2), np.exceptions.AxisError)
    assert "destination" in refused(lambda: lazy.ppermute(x, "data", [(0, 1), (1, 1)]))
    assert "from 0 to 3" in refused(lambda: lazy.ppermute(x, "data", [(4, 1)]))
    whole = lazy.asarray((DATA * 9).astype(np.int32), device=NamedSharding(GRID, P("data")))
    assert "floating-point" in refused(lambda: lazy.all_reduce(whole, "data", op="mean"), TypeError)
    assert "lazy tensors" in refused(lambda: lazy.all_reduce(DATA, "data"), TypeError)


def where_nothing_is_recorded() -> None:
    x = lazy.asarray(DATA, device=NamedSharding(GRID, P("data", "model")))
    with np.errstate(all="raise"):
        y = lazy.all_reduce(x, "data")
    assert y.sharding.spec == P(None, "model")
    np.testing.assert_allclose(y, DATA.reshape(4, 16, 16).sum(axis=0), rtol=1e-13)
    with lazy.eager("all_reduce"):
        z = lazy.all_reduce(x, "data")
    assert z._node.array is not None and z.sharding.spec == P(None, "model") and np.array_equal(y, z)


def meshes_whose_axes_are_explicit() -> None:
    mesh = jax.make_mesh((4, 2), BOTH)
    x = lazy.asarray(DATA, device=NamedSharding(mesh, P("data")))
    total = lazy.all_reduce(x * 2, "data")
    kept = total.sharding
    np.testing.assert_allclose(
        total + x[:16], (DATA * 2).reshape(4, 16, 16).sum(axis=0) + DATA[:16], rtol=1e-13
    )
    assert total.sharding == kept


if __name__ == "__main__":
    for spec in (P("data", "model"), P("data"), P(BOTH)):
        group = [case for case in cases() if case[3] == spec]
        results_are_those_of_shard_map(spec, group)
        gradients_are_those_of_shard_map(spec, group)
    pending_tensors_are_one_program()
    a_layout_is_recorded_where_the_tensor_is_pending()
    steps_are_by_layout()
    types_of_elements()
    what_is_refused()
    where_nothing_is_recorded()
    meshes_whose_axes_are_explicit()
