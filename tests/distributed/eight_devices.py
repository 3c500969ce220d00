"""Plain and staged programs among eight devices and under maps with axis names; `test_on_eight_devices.py` runs them."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from sampling import ALL

import pystage
from pystage.compiler import ops
from pystage.compiler.batch.batching import Batch
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.types import ArrayType
from pystage.compiler.ops.collectives.base import Collective
from pystage.compiler.ops.foreign.named_axes import NamedAxis

sys.path.append(str(Path(__file__).parents[2] / "examples" / "models"))  # its modules import each other

from layers import arrays_of

Program = Callable[..., Any]
Wrap = Callable[[Program], Program]

MESH = Mesh(np.array(jax.devices()), ("i",))
GRID = Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))
W = jnp.arange(1.0, 4.0)
X = jnp.sin(jnp.arange(64 * 3.0)).reshape(64, 3)
LANES = X.reshape(8, 8, 3)


def sharded(ins: Any, outs: Any, checked: bool = True, mesh: Mesh = MESH) -> Wrap:
    """A wrapper in `jax.shard_map`."""
    return lambda f: jax.jit(jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=checked))


def mapped(f: Program) -> Program:
    """`f` under `jax.vmap` with an axis name."""
    return jax.jit(jax.vmap(f, axis_name="i"))


def both(wrap: Wrap, f: Program, *args: Any) -> None:
    """The plain and the staged function give the same, wrapped in the same way."""
    plain, staged = wrap(f)(*args), wrap(pystage.compile(f, fallback="error"))(*args)
    assert jax.tree.structure(plain) == jax.tree.structure(staged)
    for x, y in zip(jax.tree.leaves(plain), jax.tree.leaves(staged), strict=True):
        assert (x.dtype, x.shape, x.weak_type) == (y.dtype, y.shape, y.weak_type)
        np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=1e-5, atol=1e-6)


SPLIT = P("i")
COLLECTIVES: dict[str, tuple[Program, Any]] = {
    "psum": (lambda x: lax.psum({"a": x, "b": (x > 0, x.sum())}, "i"), P()),
    "pmean": (lambda x: x - lax.pmean(x, "i"), SPLIT),
    "pmax": (lambda x: (lax.pmax(x, "i"), lax.pmin(x.argmax(), "i")), P()),
    "gather": (lambda x: (lax.all_gather(x, "i", axis=1), lax.all_gather(x, "i", tiled=True)), SPLIT),
    "scatter": (lambda x: (lax.psum_scatter(x, "i"), lax.psum_scatter(x, "i", tiled=True)), SPLIT),
    "to_all": (
        lambda x: [lax.all_to_all(x, "i", 0, n, tiled=t) for n in (0, 1) for t in (False, True)],
        SPLIT,
    ),
    "permute": (lambda x: (lax.ppermute(x, "i", [(j, (j + 3) % 8) for j in range(8)]), x), SPLIT),
    "shuffle": (lambda x: lax.pshuffle(lax.pswapaxes(x, "i", 0), "i", [7, 6, 5, 4, 3, 2, 1, 0]), SPLIT),
    "index": (lambda x: x * lax.axis_index("i") / lax.axis_size("i") + lax.psum(1, "i"), SPLIT),
}
"""Programs of a shard, and the layout of what they give."""


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.parametrize("checked", [True, False])
def test_among_devices(name: str, checked: bool) -> None:
    program, outs = COLLECTIVES[name]
    both(sharded(SPLIT, outs, checked), program, X)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_among_elements_of_a_batch(name: str) -> None:
    both(mapped, COLLECTIVES[name][0], LANES)


def test_pmap() -> None:
    program = pystage.compile(lambda x: x / lax.psum(x, "i"), fallback="error")
    np.testing.assert_allclose(jax.pmap(program, axis_name="i")(LANES), LANES / LANES.sum(0), rtol=1e-4)


@pytest.mark.parametrize("checked", [True, False])
def test_several_axes(checked: bool) -> None:
    def program(x: Any) -> Any:
        place = lax.axis_index(("a", "b"))
        total, part = lax.psum(x, ("a", "b")), lax.psum(x, "a")
        whole = lax.all_gather(x, ("a", "b"), tiled=True)
        return x * place + total - part, whole[:1] + lax.psum_scatter(whole, ("b", "a"), tiled=True)

    both(sharded(P(("a", "b")), P(("a", "b")), checked, GRID), program, X)


# ---------------------------------------------------------------- derivatives


def loss(w: Any, x: Any) -> Any:
    return lax.pmean(jnp.mean(jnp.tanh(x @ w) ** 2), "i") + jnp.sum(w**3)


def step(w: Any, x: Any) -> Any:
    """A training step: the gradient by a number that all devices share is summed over them where JAX checks that."""
    value, slope = jax.value_and_grad(loss)(w, x)
    local = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return value, w - 0.1 * slope, lax.pmean(local, "i")


def exchanged(w: Any, x: Any) -> Any:
    """The gradient through all that moves."""

    def f(w: Any) -> Any:
        whole = lax.all_gather(jnp.tanh(x * w), "i", tiled=True)
        part = lax.ppermute(lax.psum_scatter(whole**2, "i", tiled=True) * w, "i", [(0, 1), (3, 4)])
        return lax.psum((lax.all_to_all(part, "i", 0, 0, tiled=True) * x * lax.axis_index("i")).sum(), "i")

    return jax.grad(f)(w)


def steered(w: Any, x: Any) -> Any:
    """Loops and branches."""

    def f(w: Any) -> Any:
        def body(h: Any, _: Any) -> Any:
            return jnp.tanh(h * w) + lax.pmean(h, "i"), h.sum()

        h, sums = lax.scan(body, x, None, length=4)
        alike = lax.cond(lax.psum(x.sum(), "i") > 0, lambda: lax.pmean((x * w).sum(), "i"), lambda: w.sum())
        return lax.pmean(h.sum() + sums.sum(), "i") + alike

    return jax.value_and_grad(f)(w)


def curved(w: Any, x: Any) -> Any:
    """Second derivatives, and tangents."""
    hessian = jax.hessian(lambda w: lax.pmean(((x @ w) ** 3).sum(), "i"))(w)
    return hessian, jax.jvp(lambda w: lax.psum(x * w**2, "i"), (w,), (w * 2,))


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("program", [step, exchanged, steered, curved])
def test_derivatives_inside(program: Program, checked: bool) -> None:
    both(sharded((P(), SPLIT), P(), checked), program, W, X)


def test_derivatives_of_what_devices_decide_differently() -> None:
    """What the branches have found for a number that all devices share is summed behind them, not in them: some would wait.

    JAX itself sums in the branches, and what it then gives is arbitrary.
    """

    def own(w: Any, x: Any) -> Any:
        return lax.cond(x.sum() > 0, lambda: (w * x).sum(), lambda: x.sum() - w.sum())

    program = pystage.compile(jax.grad(lambda w, x: lax.pmean(own(w, x), "i")), fallback="error")
    wanted = sum(jax.grad(own)(W, x) for x in LANES) / 8
    np.testing.assert_allclose(sharded((P(), SPLIT), P())(program)(W, X), wanted, rtol=1e-5)


@pytest.mark.parametrize("checked", [True, False])
def test_derivatives_outside(checked: bool) -> None:
    """Also of a program without a collective: its number that all devices share has one gradient, the sum."""
    place = sharded((P(), SPLIT), P(), checked)
    both(lambda f: jax.jit(jax.grad(place(f), (0, 1))), loss, W, X)
    both(lambda f: sharded((P(), SPLIT), (P(), SPLIT), checked)(jax.grad(f, (0, 1))), loss, W, X)
    both(lambda f: place(jax.hessian(f)), loss, W, X)
    both(lambda f: place(jax.grad(f)), lambda w, x: jnp.sum(w * x), W, X)


@pytest.mark.parametrize("checked", [True, False])
def test_inside_other_transformations(checked: bool) -> None:
    place = sharded((P(), SPLIT), P(), checked)

    def descent(f: Program) -> Program:
        return place(
            lambda w, x: lax.scan(lambda w, _: (w - 0.1 * jax.grad(f)(w, x), None), w, None, length=5)[0]
        )

    both(descent, loss, W, X)
    both(lambda f: place(lambda w, x: jax.grad(jax.checkpoint(jax.jit(f)))(w, x)), loss, W, X)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: lax.psum((x**2).sum(), "i"),
        lambda x: (lax.all_gather(x, "i") ** 2).sum() * x.sum(),
        lambda x: (lax.psum_scatter(x**2, "i", tiled=True) * x[:1]).sum(),
    ],
)
def test_derivatives_of_maps(program: Program) -> None:
    both(lambda f: mapped(jax.grad(f)), program, LANES)
    both(lambda f: jax.jit(jax.grad(lambda x: mapped(f)(x).sum())), program, LANES)
    both(jax.jit, lambda x: jax.vmap(jax.grad(program), axis_name="i")(x), LANES)


def test_maps_inside_and_around() -> None:
    def row(r: Any) -> Any:
        return r / lax.psum(r.sum(), "i")

    both(sharded(SPLIT, SPLIT), lambda x: jax.vmap(row)(x), X)
    both(lambda f: sharded(SPLIT, SPLIT)(jax.vmap(f)), row, X)
    both(lambda f: jax.jit(jax.vmap(sharded(SPLIT, SPLIT)(f))), row, jnp.stack([X, X * 2]))
    both(
        lambda f: jax.jit(jax.vmap(jax.vmap(f, axis_name="b"), axis_name="a")),
        lambda x: lax.psum(x, ("a", "b")),
        LANES,
    )


# ---------------------------------------------------------------- `jax.shard_map` in staged source

LAYOUT = (P(), SPLIT)


def _shard(w: Any, x: Any) -> Any:
    return lax.pmean(jnp.tanh(x @ w).sum(), "i"), x * w


def _whole(w: Any, x: Any) -> Any:
    total, rows = jax.shard_map(_shard, mesh=MESH, in_specs=LAYOUT, out_specs=LAYOUT)(w, x * 2)
    return total + rows.sum(), rows


def _unchecked(w: Any, x: Any) -> Any:
    total, rows = jax.shard_map(_shard, mesh=MESH, in_specs=LAYOUT, out_specs=LAYOUT, check_vma=False)(w, x)
    return total + rows.sum(), rows


def _captured(w: Any, x: Any) -> Any:
    """What the function uses of the program around it is the same on all devices."""

    @jax.shard_map(mesh=MESH, in_specs=SPLIT, out_specs=SPLIT)
    def rows(x: Any) -> Any:
        return x * w + lax.psum(x.sum(), "i")

    return rows(x).sum() * w.sum(), w


def _trained(w: Any, x: Any) -> Any:
    def step(w: Any, x: Any) -> Any:
        return w - 0.1 * lax.pmean(jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w), "i")

    shared = jax.shard_map(step, mesh=MESH, in_specs=LAYOUT, out_specs=P())
    for _ in range(3):
        w = shared(w, x)
    return w.sum(), w


MADE = jax.shard_map(_shard, mesh=MESH, in_specs=LAYOUT, out_specs=LAYOUT)


def _made_before(w: Any, x: Any) -> Any:
    return MADE(w, x)


def _structures(w: Any, x: Any) -> Any:
    def body(parts: Any) -> Any:
        return {"s": parts["x"].sum(0) + lax.axis_index("i"), "l": [parts["w"]]}

    ins, outs = ({"x": SPLIT, "w": P()},), {"s": SPLIT, "l": P()}
    made = jax.shard_map(body, mesh=MESH, in_specs=ins, out_specs=outs)({"x": x, "w": w})
    return made["s"].sum(), made


@pytest.mark.parametrize("program", [_whole, _unchecked, _captured, _trained, _made_before, _structures])
def test_shard_map_in_source(program: Program) -> None:
    both(jax.jit, program, W, X)
    both(jax.jit, lambda w, x: jax.grad(lambda w, x: program(w, x)[0], (0, 1))(w, x), W, X)


@pytest.mark.parametrize("program", [_whole, _unchecked])
def test_shard_map_in_source_is_transformed(program: Program) -> None:
    both(lambda f: jax.jit(jax.grad(lambda w, x: f(w, x)[0], (0, 1))), program, W, X)
    both(lambda f: jax.jit(jax.vmap(f, (0, None))), program, jnp.stack([W, W * 2]), X)
    both(jax.jit, lambda w, x: jax.hessian(lambda w: program(w, x)[0])(w), W, X)
    both(jax.jit, lambda w, x: jax.vmap(lambda w: program(w, x))(jnp.stack([w, w * 2])), W, X)


def test_results_lie_as_they_are_said_to() -> None:
    rows = pystage.compile(_whole, fallback="error")(W, X)[1]
    assert rows.sharding == jax.jit(_whole)(W, X)[1].sharding


@pytest.mark.parametrize(
    "program",
    [
        lambda x: jax.shard_map(lambda x: x, mesh=MESH, in_specs=SPLIT, out_specs=P())(x),
        lambda x: jax.shard_map(lambda x: x, mesh=MESH, in_specs=SPLIT, out_specs=SPLIT)(x[:3]),
        lambda x: jax.shard_map(lambda x: x.sum(), mesh=MESH, in_specs=SPLIT, out_specs=SPLIT)(x),
    ],
    ids=["varies", "extent", "rank"],
)
def test_layouts_are_checked(program: Program) -> None:
    with pytest.raises(ValueError):
        program(X)
    with pytest.raises(pystage.StagingError, match="PS651"):
        pystage.compile(program, fallback="error")(X)


# ---------------------------------------------------------------- layouts

ROWS, WHOLE = NamedSharding(MESH, SPLIT), NamedSharding(MESH, P())


def _laid_out(w: Any, x: Any) -> Any:
    y = lax.with_sharding_constraint({"y": jnp.tanh(x * w)}, ROWS)["y"]
    return (y**2).sum(), jax.device_put(x + 1, ROWS)


def test_layouts_in_source() -> None:
    both(jax.jit, _laid_out, W, X)
    both(lambda f: jax.jit(jax.grad(lambda w, x: f(w, x)[0])), _laid_out, W, X)
    both(lambda f: jax.jit(jax.vmap(f, (0, None))), _laid_out, jnp.stack([W, W * 2]), X)
    rows = pystage.compile(_laid_out, fallback="error")(W, X)[1]
    assert rows.sharding == ROWS


def _pair(w: Any, x: Any) -> Any:
    return {"y": x * w, "s": (x.sum(), w + 1)}


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"in_shardings": (None, ROWS)}, SPLIT),
        ({"in_shardings": {"x": ROWS}, "out_shardings": {"y": WHOLE, "s": None}}, P()),
        ({"in_shardings": WHOLE, "out_shardings": {"y": ROWS, "s": (WHOLE, None)}, "donate": "x"}, SPLIT),
    ],
)
def test_layouts_of_arguments_and_results(options: dict[str, Any], first: Any) -> None:
    program = pystage.compile(_pair, fallback="error", **options)
    for run in (program, program, jax.jit(program)):
        found = run(W, jnp.array(X))
        np.testing.assert_allclose(found["y"], X * W, rtol=1e-6)
        assert found["y"].sharding.spec == first


def test_layouts_that_are_none() -> None:
    with pytest.raises(ValueError, match="no parameter `q`"):
        pystage.compile(_pair, in_shardings={"q": ROWS})
    with pytest.raises(TypeError, match="in_shardings takes shardings"):
        pystage.compile(_pair, in_shardings=3)
    with pytest.raises(ValueError, match=r"out_shardings has the items \[0\]"):
        pystage.compile(_pair, fallback="error", out_shardings=(ROWS,))(W, X)


def test_arguments_keep_their_layout() -> None:
    """A program serves every layout of its arguments, and its results lie as theirs."""
    program = pystage.compile(lambda x: x * 2, fallback="error")
    for place in (ROWS, WHOLE, NamedSharding(MESH, SPLIT)):
        assert program(jax.device_put(X, place)).sharding == place
    assert len(program.signatures()) == 1


def _stores(x: Any, y: Any) -> Any:
    """A loop that stores rows, and one that appends."""
    out = np.zeros((64, 3), np.float32)
    for i in range(64):
        out[i] = x[i] * 2 + (out[i - 1] if i else 0.0)
    kept = []
    for j in range(8):
        if y[j, 0] > 0:
            kept.append(y[j])
    return out, len(kept), sum(kept)


def _searched(x: Any, y: Any) -> Any:
    """Sorts, masks, scans, a product, a decomposition, a window."""
    near = np.cumsum(np.sort(x, axis=0), axis=1)
    count = np.sum(x > y)
    return (
        near,
        count,
        (x.T @ y).trace(),
        jnp.linalg.inv(x.T @ x + jnp.eye(3)),
        jnp.convolve(x[:, 0], y[:5, 1]),
    )


def _advanced(x: Any, y: Any) -> Any:
    """A loop that ends by what it computes, and takes by index."""
    steps = 0
    while abs(x).sum() > 1.0 and steps < 50:
        x = x * 0.9 + y[::-1] * 0.001
        steps += 1
    return x.at[3:9].add(1.0), jnp.take(y, jnp.argsort(x[:, 1]), axis=0), steps


@pytest.mark.parametrize("program", [_stores, _searched, _advanced])
@pytest.mark.parametrize("seed", range(3))
def test_layouts_change_no_value(program: Program, seed: int) -> None:
    """Of arguments that lie in some way over a mesh of two axes."""
    rng = np.random.default_rng(seed)
    specs = [P("a"), P("b"), P(("a", "b")), P(("b", "a")), P()]
    places = [NamedSharding(GRID, specs[n]) for n in rng.integers(len(specs), size=2)]
    staged = pystage.compile(program, fallback="error")
    args = X, jnp.cos(X)
    wanted, found = staged(*args), staged(*map(jax.device_put, args, places))
    for x, y in zip(jax.tree.leaves(wanted), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=1e-4, atol=1e-5)


def test_arguments_on_two_devices_are_both_named() -> None:
    first, second = [jax.device_put(X, d) for d in jax.devices()[:2]]
    with pytest.raises(
        ValueError, match=r"argument x of .* device ids \[0\].* argument y of .* device ids \[1\]"
    ):
        pystage.compile(lambda x, y: x + y, fallback="error")(first, second)


def test_a_training_step_gathers_nothing() -> None:
    """Of a batch that is split, each device computes its part: only what all share is summed."""

    def step(w: Any, x: Any) -> Any:
        def total(w: Any) -> Any:
            h = x
            for _ in range(20):
                h = jnp.tanh(h * w)
            return (h**2).mean()

        return w - 0.1 * jax.grad(total)(w)

    args = jax.device_put(W, WHOLE), jax.device_put(X, ROWS)
    staged = jax.jit(pystage.compile(step, fallback="error"))
    np.testing.assert_allclose(staged(*args), jax.jit(step)(*args), rtol=1e-5)
    text = staged.lower(*args).compile().as_text()
    assert "all-reduce" in text and "all-gather" not in text and "all-to-all" not in text


# ---------------------------------------------------------------- what is refused, and what the axes decide


def _early(x: Any) -> Any:
    return lax.psum(x, "i") if x.sum() > 1.0 else x


def _until(x: Any) -> Any:
    return lax.while_loop(lambda s: s.sum() < 100.0, lambda s: s + lax.pmean(s, "i") + 1, x)


@pytest.mark.parametrize("program", [_early, _until])
@pytest.mark.parametrize("wrap", [sharded(SPLIT, SPLIT), sharded(SPLIT, SPLIT, False), mapped])
def test_who_might_wait_forever_is_refused(program: Program, wrap: Wrap) -> None:
    with pytest.raises(pystage.StagingError, match=r"PS606.*all_reduce"):
        wrap(pystage.compile(program, fallback="error"))(X if wrap is not mapped else LANES)


def test_a_loop_that_all_leave_together_is_staged() -> None:
    def program(x: Any) -> Any:
        return lax.while_loop(
            lambda s: lax.psum(s.sum(), "i") < 1000.0, lambda s: s + lax.pmean(s, "i") + 1, x
        )

    both(sharded(SPLIT, SPLIT), program, X)


def test_an_unchecked_promise_of_equal_results_is_none() -> None:
    """JAX refuses to call a result equal on all devices that is not, as for the plain function."""
    with pytest.raises(ValueError, match="out_specs"):
        sharded(SPLIT, P())(pystage.compile(lambda x: x * 2, fallback="error"))(X)


def test_the_axes_are_a_part_of_the_signature() -> None:
    program = pystage.compile(lambda x: lax.psum(x, "i"), fallback="error")
    for _ in range(2):
        with pytest.raises(NameError, match="unbound axis name: i"):
            program(X)
        for count in (8, 4):
            np.testing.assert_allclose(
                jax.vmap(program, axis_name="i")(X[:count]), [X[:count].sum(0)] * count, rtol=1e-5
            )
        with pytest.raises(NameError, match="unbound axis name: i"):
            jax.vmap(program, axis_name="j")(X)
    assert "<lambda>(jax float32[3]) -> jax float32[3] among i:8" in program.signatures()


def test_without_a_traced_argument() -> None:
    """The program would not know which participant it is."""
    program = pystage.compile(lambda: lax.axis_index("i"), fallback="error")
    with pytest.raises(pystage.StagingError, match=r"PS606.*none of the arguments"):
        sharded(SPLIT, SPLIT)(lambda x: x[:1, 0] * 0 + program())(X)


# ---------------------------------------------------------------- whole models


@pytest.mark.skipif(not ALL, reason="XLA takes long for them")
@pytest.mark.parametrize("name", ["resnet50", "roberta"])
def test_steps_of_whole_models(name: str) -> None:
    """Rows of the batch on eight devices, weights on each: the results of one device, and no collective but sums."""
    module = importlib.import_module(name)
    sizes = {"resnet50": {"size": 16, "width": 4, "classes": 5, "blocks": (1,)}}.get(name)
    sizes = sizes or {
        "length": 6,
        "vocabulary": 11,
        "longest": 8,
        "features": 8,
        "heads": 2,
        "hidden": 12,
        "encoders": 1,
    }
    model, optimizer, *batch, rate = module.make_step(batch=16, **sizes)
    plain = copy.deepcopy((model, optimizer, *batch, rate))
    everywhere, rows = NamedSharding(MESH, P()), NamedSharding(MESH, P("i"))
    places = (everywhere, everywhere, *[rows] * len(batch))
    staged = pystage.compile(module.train_step, fallback="error", in_shardings=places)
    lowered = staged.lower(model, optimizer, *batch, rate).compile()
    opcodes = set(lowered.instruction_counts().by_opcode)
    assert "all-reduce" in opcodes
    assert not opcodes & {"all-gather", "all-to-all", "collective-permute", "reduce-scatter"}
    np.testing.assert_allclose(
        staged(model, optimizer, *batch, rate),
        module.train_step(*plain),
        rtol=1e-3 if name == "roberta" else 1e-5,
    )
    for ours, theirs in zip(arrays_of(model, state=True), arrays_of(plain[0], state=True), strict=True):
        assert getattr(*ours).sharding.is_fully_replicated
        np.testing.assert_allclose(getattr(*ours), getattr(*theirs), rtol=1e-3, atol=2e-3)


# ---------------------------------------------------------------- the operations

EIGHT = (NamedAxis("i", 8),)


@pytest.mark.parametrize("kind", ops.concrete(Collective), ids=lambda k: k.__name__)
def test_references(kind: type[Collective]) -> None:
    """What eight devices give is the reference, and what the batching rule makes of it."""
    for sample in kind.samples():
        op = dataclasses.replace(sample.op, **({"axes": EIGHT} | _pairs(sample.op)))
        assert isinstance(op, Collective)
        stacked = [np.stack([np.roll(x, n) for n in range(8)]) for x in sample.operands]
        wanted = op.along(stacked[0]) if stacked else np.arange(8, dtype=np.int32)
        place = jax.shard_map(
            lambda *xs, op=op: op(*[x[0] for x in xs])[0][None],
            mesh=MESH,
            in_specs=SPLIT,
            out_specs=SPLIT,
            check_vma=False,
        )
        with jax.enable_x64(True):
            found = np.asarray(jax.jit(place)(*stacked))
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
        body = Region(tuple([ArrayType(x.dtype, x.shape) for x in sample.operands]))
        body.results = Builder(body).apply(op, body.params).results
        batch, function = Batch(8, name="i"), Function("main", body)
        flags = (True,) * len(stacked)
        (made,) = interpret(batch.function(function, flags), stacked)
        batched = batch.results(function, flags)[0]
        np.testing.assert_allclose(made if batched else np.stack([made] * 8), wanted, rtol=1e-6, atol=1e-6)


def _pairs(op: Any) -> dict[str, Any]:
    return {"pairs": ((0, 1), (1, 0), (5, 7))} if isinstance(op, ops.CollectivePermute) else {}


def test_what_lowering_refuses_runs_plainly_in_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(x: Any) -> Any:
        print("sum")
        return x.sum()

    x = jax.device_put(jnp.arange(8.0), NamedSharding(MESH, P("i")))
    compiled = pystage.compile(printed, fallback="python")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [float(compiled(x)) for _ in range(3)] == [28.0] * 3
    assert capsys.readouterr().out == "sum\n" * 3
