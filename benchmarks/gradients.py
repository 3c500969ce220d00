"""Gradients: VGG19 forward and backward against `jax.grad`, and a training loop as one program.

The gradient is the paper's, of `sum(model(x))` by all weights. The training loop is that of
`examples/train_digits.py`, without its early stop, against the same loop in Python around a `jax.jit` step.

Where PyTorch is installed, both also run in it (`with_torch.py`), eager and under `torch.compile`.

The paper's numbers: K. Fischer, E. Saba, "Automatic Full Compilation of Julia Programs and ML Models to Cloud
TPUs" (arXiv:1810.09868), figure 3, VGG19 backward, unoptimised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import train_digits
import vgg19

import pystage
from pystage.runtime.reports.hlo_text import instruction_counts

from .measuring import Pairs, Table, in_pairs, in_turn
from .model import described, images
from .model import with_weights as model_with

try:
    from . import with_torch
except ImportError:  # the rows of PyTorch are left out
    with_torch = None

Run = Callable[[], Any]

PAPER = (577, 2775)
"""Instructions of the entry computation, and of all."""
EPOCHS = 5


def by_jax(model: Any) -> Any:
    """The gradient under `jax.jit`, as a function of the list of arrays and the images."""
    return jax.jit(jax.grad(lambda arrays, batch: vgg19.total(model_with(model, arrays), batch)))


def front_end(count: int) -> Pairs:
    """Times from source to StableHLO, each of a batch size that neither has seen."""
    model, arrays = described()
    ours, theirs = pystage.grad(vgg19.total), by_jax(model)
    batches = iter(range(1, 1000))
    return in_pairs(
        lambda: ours.lower(model, images(next(batches))),
        lambda: theirs.trace(arrays, images(next(batches))).lower(),
        count,
        warm=2,
        clock=time.thread_time,
        collect=True,
    )


def vgg(count: int) -> Table:
    """The table of VGG19: front end, sizes, steady time and memory."""
    pairs = front_end(15)
    model, arrays = described()
    lowered, traced = (
        pystage.grad(vgg19.total).lower(model, images(1)),
        by_jax(model).lower(arrays, images(1)),
    )
    sizes = lowered.instruction_counts(), instruction_counts(traced.as_text("hlo"))
    real, batch = vgg19.make_vgg19(), vgg19.make_images()
    weights = vgg19.weights(real)
    ours, theirs = lowered.compile(), traced.compile()
    optimised = instruction_counts(ours.as_text()), instruction_counts(theirs.as_text())
    memory = [c.memory_analysis().temp_size_in_bytes / 2**20 for c in (ours, theirs)]
    run = in_pairs(lambda: vgg19.weights(ours(real, batch)), lambda: theirs(weights, batch), count)
    table = Table(
        "VGG19, forward and backward",
        "The gradient of `sum(model(x))` by all weights, one image. Front end: CPU time of a new signature; goal: "
        f"at most 0.2. Sizes in HLO instructions, entry and all; goal: at most JAX's and the paper's {PAPER[0]} / "
        f"{PAPER[1]}. Steady time: medians of {count} pairs; goal: at most 1.02.",
        ("", "pystage", "JAX", "ratio"),
    )
    for name, found in (("front end", pairs), ("steady time", run)):
        first, second = found.medians
        table.rows.append((name, f"{first * 1e3:.1f} ms", f"{second * 1e3:.1f} ms", found.ratio_text()))
    for name, (a, b) in (("before optimisation", sizes), ("after it", optimised)):
        table.rows.append(
            (name, f"{a.entry} / {a.total}", f"{b.entry} / {b.total}", f"{a.total / b.total:.2f}")
        )
    table.rows.append(
        ("temporary memory", f"{memory[0]:.0f} MiB", f"{memory[1]:.0f} MiB", f"{memory[0] / memory[1]:.2f}")
    )
    return table


def flat(network: Any) -> list[Any]:
    """The arrays of a network of `train_digits`."""
    return [array for layer in network.layers() for array in (layer.weight, layer.bias)]


def with_weights(network: Any, arrays: Any) -> Any:
    """The same network with other arrays."""
    following = iter(arrays)
    convolutions = [train_digits.Conv(next(following), next(following)) for _ in network.convolutions]
    dense = [train_digits.Dense(next(following), next(following)) for _ in range(2)]
    return train_digits.Network(convolutions, *dense)


def why_not(run: Run) -> str | None:
    """Runs it once; the first line of what it raises, None if it runs."""
    try:
        run()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
    return None


def beside_torch(title: str, text: str, ours: dict[str, Run], theirs: dict[str, Run], count: int) -> Table:
    """A table of medians of programs that are run in turn; for one of PyTorch's that cannot run, what it raises."""
    table = Table(title, text, ("", "seconds", "ratio"))
    failed = {name: why_not(run) for name, run in theirs.items()}
    runs = {**ours, **{name: run for name, run in theirs.items() if failed[name] is None}}
    medians = in_turn(list(runs.values()), count)
    for name, median in zip(runs, medians, strict=True):
        table.rows.append((name, f"{median:.2f}", f"{median / medians[0]:.2f}"))
    table.rows.extend([(name, f"cannot run: {why}", "") for name, why in failed.items() if why is not None])
    return table


def vgg_beside_torch(count: int) -> Table:
    """The table of VGG19 in PyTorch."""
    model, batch = vgg19.make_vgg19(), vgg19.make_images()
    weights = vgg19.weights(model)
    ours = pystage.grad(vgg19.total).lower(model, batch).compile()
    jaxs = by_jax(model).lower(weights, batch).compile()
    return beside_torch(
        "VGG19, forward and backward, beside PyTorch",
        "The same weights, one image, float32, as many threads; "
        f"medians of {count} runs in turn. `torch.compile` of the loss.",
        {"pystage": lambda: vgg19.weights(ours(model, batch)), "`jax.jit`": lambda: jaxs(weights, batch)},
        {
            "PyTorch, eager": with_torch.gradient(with_torch.vgg_total, model, batch),
            "`torch.compile`": with_torch.gradient(
                with_torch.compiled_loss(with_torch.vgg_total), model, batch
            ),
        },
        count,
    )


def training(count: int) -> Table:
    """The table of the training loop."""
    arguments, _ = train_digits.start()
    staged = pystage.compile(train_digits.train).lower(*arguments, EPOCHS).compile()

    network, _, _, (data, labels), validation, key = train_digits.start()[0]
    template = network

    @jax.jit
    def step(weights: Any, means: Any, squares: Any, count: Any, rate: Any, pictures: Any, names: Any) -> Any:
        def loss(arrays: Any) -> Any:
            return train_digits.loss(with_weights(template, arrays), pictures, names)[0]

        value, slopes = jax.value_and_grad(loss)(weights)
        scale = rate * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
        means = [0.9 * m + 0.1 * g for m, g in zip(means, slopes)]
        squares = [0.999 * s + 0.001 * g**2 for s, g in zip(squares, slopes)]
        moved = [w - scale * m / (jnp.sqrt(s) + 1e-8) for w, m, s in zip(weights, means, squares)]
        return moved, means, squares, value

    evaluate = jax.jit(lambda weights: train_digits.loss(with_weights(template, weights), *validation))

    def by_steps() -> Any:
        weights = flat(network)
        means = [jnp.zeros_like(w) for w in weights]
        squares, count, own = list(means), 0, key
        for epoch in range(EPOCHS):
            own, shuffling = jax.random.split(own)
            order = jax.random.permutation(shuffling, len(data))[: len(data) // 64 * 64].reshape(-1, 64)
            losses = 0.0
            for rows in order:
                count += 1
                rate = 2e-3 * 0.95**epoch
                weights, means, squares, value = step(
                    weights, means, squares, count, rate, data[rows], labels[rows]
                )
                losses += float(value)
            evaluate(weights)
        return weights

    def as_one() -> Any:
        fresh, _ = train_digits.start()
        staged(*fresh, EPOCHS)
        return flat(fresh[0])

    theirs = {}
    if with_torch is not None:
        theirs = {
            "PyTorch, eager": with_torch.training(False, EPOCHS),
            "PyTorch, `torch.compile` of loss and Adam": with_torch.training(True, EPOCHS),
        }
    return beside_torch(
        "Training loop",
        f"`examples/train_digits.py`, {EPOCHS} epochs of 19 batches, medians of {count} runs in turn; the others: the same "
        "loop in Python around a compiled step, its losses read at each step.",
        {"one program": as_one, "a loop around a `jax.jit` step": by_steps},
        theirs,
        count,
    )


def measure() -> list[Table]:
    """All tables."""
    return [vgg(21), *([] if with_torch is None else [vgg_beside_torch(11)]), training(7)]
