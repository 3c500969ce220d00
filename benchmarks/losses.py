"""Programs that XLA:CPU once ran several times slower than NumPy: staged, plain, and written by hand for JAX.

Each is run on ndarrays, in processes of their own that have one core and all cores, the three in turn; the least time
of many rounds counts, as what disturbs only adds. A new program is one more `Loss` in `LOSSES`.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import pystage

from .measuring import Table, no_collection

ROUNDS = 40
SECONDS = 4.0  # for the rounds of one program, of which there are at least five
LIMIT = 1.3


class Loss(NamedTuple):
    """A program, how to write it for JAX (None where nobody would), what it is given, and how long it may take.

    `by_hand` is what one gives to `jax.jit`; `limit` is in times of the faster of NumPy and JAX; `cause` says why a
    program takes longer.
    """

    name: str
    plain: Callable[..., Any]
    by_hand: Callable[..., Any] | None
    inputs: Callable[[], tuple[Any, ...]]
    limit: float = LIMIT
    cause: str = ""


COPIED = (
    "XLA:CPU reads only buffers that begin at a multiple of 64 bytes, and NumPy's large arrays begin 16 beyond one, so that "
    "each is copied once a call, for JAX by hand too; `jax.Array`s as arguments are not copied"
)
"""Why a program that reads each number of large ndarrays once is slower than NumPy."""


def normal(*shape: int, dtype: Any = np.float64) -> Any:
    """Random numbers, the same in each run; their memory begins where that of `np.empty` does."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def perceptron(x, w1, b1, w2, b2):
    return np.maximum(x @ w1 + b1, 0) @ w2 + b2


def perceptron_by_hand(x, w1, b1, w2, b2):
    return jnp.maximum(x @ w1 + b1, 0) @ w2 + b2


def layers(batch: int, *sizes: int) -> Callable[[], tuple[Any, ...]]:
    """A batch of inputs and the weights of a perceptron, in float32."""

    def inputs() -> tuple[Any, ...]:
        arrays = [normal(batch, sizes[0], dtype=np.float32)]
        for a, b in itertools.pairwise(sizes):
            arrays += [normal(a, b, dtype=np.float32) / np.float32(a**0.5), normal(b, dtype=np.float32)]
        return tuple(arrays)

    return inputs


def two_products(alpha, a, x, beta, b):
    return alpha * a @ x + beta * b @ x


def matrices(n: int) -> Callable[[], tuple[Any, ...]]:
    """The arguments of `two_products`, for square matrices of `n` rows."""
    return lambda: (1.5, normal(n, n), normal(n), 1.2, normal(n, n))


def lower_factor(a):
    return np.linalg.cholesky(a)


def lower_factor_by_hand(a):
    return jnp.linalg.cholesky(a)


def solution(a, b):
    return np.linalg.solve(a, b)


def solution_by_hand(a, b):
    return jnp.linalg.solve(a, b)


def positive(n: int) -> Callable[[], tuple[Any, ...]]:
    """A symmetric positive-definite matrix of `n` rows."""

    def inputs() -> tuple[Any, ...]:
        a = normal(n, n)
        return (a @ a.T / n + 4 * np.eye(n),)

    return inputs


def ordered(x):
    return np.sort(x)


def ordered_by_hand(x):
    return jnp.sort(x)


def order(x):
    return np.argsort(x)


def order_by_hand(x):
    return jnp.argsort(x)


def middle(x):
    return np.median(x)


def middle_by_hand(x):
    return jnp.median(x)


def percentiles(x):
    return np.percentile(x, [5, 50, 95])


def percentiles_by_hand(x):
    return jnp.percentile(x, jnp.array([5.0, 50.0, 95.0]))


def counts(x):
    return np.histogram(x, 50)[0]


def counts_by_hand(x):
    return jnp.histogram(x, 50)[0]


MILLION = 1_000_000


def jacobi(u):
    change = 0.0
    for _ in range(20):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.abs(v[1:-1, 1:-1] - u[1:-1, 1:-1]).max()
        u = v
    return u, change


def jacobi_by_hand(u):
    def step(_, state):
        u, _ = state
        v = u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
        return v, jnp.abs(v[1:-1, 1:-1] - u[1:-1, 1:-1]).max()

    return jax.lax.fori_loop(0, 20, step, (u, jnp.zeros(())))


def heat(u0):
    u, v = u0.copy(), u0.copy()
    for _ in range(20):
        flow = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * flow
        v[0], v[-1] = v[1], v[-2]
        v[:, 0], v[:, -1] = v[:, 1], v[:, -2]
        u, v = v, u
    return u


def heat_by_hand(u):
    def step(_, u):
        flow = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u = u.at[1:-1, 1:-1].add(0.1 * flow)
        u = u.at[0].set(u[1]).at[-1].set(u[-2])
        return u.at[:, 0].set(u[:, 1]).at[:, -1].set(u[:, -2])

    return jax.lax.fori_loop(0, 20, step, u)


def square(n: int) -> Callable[[], tuple[Any, ...]]:
    """A grid of `n` by `n` numbers."""
    return lambda: (normal(n, n),)


LOSSES = (
    *[
        Loss(f"20 steps of Jacobi and their change, {n}²", jacobi, jacobi_by_hand, square(n))
        for n in (50, 200, 1_000)
    ],
    *[Loss(f"20 steps of heat, two grids, {n}²", heat, heat_by_hand, square(n)) for n in (50, 200, 1_000)],
    *[
        Loss(
            f"perceptron, {' × '.join(f'{size:,}' for size in sizes)}",
            perceptron,
            perceptron_by_hand,
            layers(*sizes),
            cause=COPIED,
        )
        for sizes in ((8, 300, 20_000, 1_000), (64, 784, 512, 10))
    ],
    *[
        Loss(
            f"`alpha * A @ x + beta * B @ x`, n = {n:,}",
            two_products,
            two_products,
            matrices(n),
            cause=COPIED,
        )
        for n in (500, 2_000, 4_000)
    ],
    Loss("`np.linalg.cholesky`, n = 1,000", lower_factor, lower_factor_by_hand, positive(1_000)),
    Loss(
        "`np.linalg.solve`, n = 1,000",
        solution,
        solution_by_hand,
        lambda: (*positive(1_000)(), normal(1_000)),
    ),
    Loss("`np.sort` of 10⁶", ordered, ordered_by_hand, lambda: (normal(MILLION),), 1.5),
    Loss(
        "`np.sort` of 10⁶, float32",
        ordered,
        ordered_by_hand,
        lambda: (normal(MILLION, dtype=np.float32),),
        1.5,
    ),
    Loss("`np.argsort` of 10⁶", order, order_by_hand, lambda: (normal(MILLION),), 1.5),
    Loss("`np.median` of 10⁶", middle, middle_by_hand, lambda: (normal(MILLION),)),
    Loss("`np.percentile` of 10⁶", percentiles, percentiles_by_hand, lambda: (normal(MILLION),)),
    Loss("`np.histogram` of 10⁶", counts, counts_by_hand, lambda: (normal(MILLION),)),
)


def on_host(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function compiled by JAX, its results as ndarrays."""

    def called(*args: Any) -> Any:
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, run(*args))

    return called


def times(loss: Loss) -> list[float]:
    """The least time of a call, staged, plain and by hand, in seconds; it fails where the results differ."""
    args = loss.inputs()
    runs: list[Callable[..., Any]] = [pystage.compile(loss.plain, fallback="error"), loss.plain]
    if loss.by_hand is not None:
        runs.append(on_host(jax.jit(loss.by_hand)))
    results = [jax.tree.leaves(run(*args)) for run in runs]
    for others in results[1:]:
        for ours, theirs in zip(results[0], others, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)
    least = [float("inf")] * len(runs)
    end = time.perf_counter() + SECONDS
    with no_collection():
        for done in range(ROUNDS):
            if done >= 5 and time.perf_counter() > end:
                break
            for i, run in enumerate(runs):
                start = time.perf_counter()
                run(*args)
                least[i] = min(least[i], time.perf_counter() - start)
    return least


def measured(cores: Sequence[int], names: Sequence[str]) -> dict[str, list[float]]:
    """The times of these programs in a process that runs on these cores."""
    command = ["taskset", "-c", ",".join(map(str, cores)), sys.executable, "-m", "benchmarks.losses", *names]
    found: dict[str, list[float]] = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    )
    return found


def _row(loss: Loss, found: Sequence[float]) -> tuple[str, ...]:
    ms = [f"{seconds * 1e3:.{1 if seconds >= 0.01 else 2}f}" for seconds in found]
    ratios = [f"{found[0] / seconds:.2f}" for seconds in found[1:]]
    if loss.by_hand is None:
        ms, ratios = [*ms, ""], [*ratios, ""]
    return (loss.name, *ms, *ratios, f"{loss.limit:.1f}")


def measure() -> list[Table]:
    """A table for one core, one for all cores, and the causes of what is above its limit in either."""
    available = sorted(os.sched_getaffinity(0))
    tables = []
    above: dict[str, str] = {}
    for cores in {1: available[:1], len(available): available}.values():
        table = Table(
            f"Losses, {len(cores)} core{'s' if len(cores) > 1 else ''}",
            f"One call on ndarrays, in ms; the least of at most {ROUNDS} rounds of the three in turn. The goal: neither "
            "ratio above the limit.",
            ("", "pystage", "NumPy", "JAX by hand", "of NumPy", "of JAX", "limit"),
        )
        found = measured(cores, [loss.name for loss in LOSSES])
        table.rows.extend(_row(loss, found[loss.name]) for loss in LOSSES)
        tables.append(table)
        above |= {
            loss.name: loss.cause or "not known yet"
            for loss in LOSSES
            if found[loss.name][0] > loss.limit * min(found[loss.name][1:])
        }
    tables.append(Table("Losses above their limit", "And why.", ("", "cause"), list(above.items())))
    return tables


if __name__ == "__main__":
    json.dump({loss.name: times(loss) for loss in LOSSES if loss.name in sys.argv[1:]}, sys.stdout)
