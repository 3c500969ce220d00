"""The training steps of `examples/models`: ResNet-50, RoBERTa-base and VGG19, against `jax.jit` of the same source.

JAX traces the models, losses and optimisers of the examples: a step is a function of the list of all arrays. At full size
steps are lowered and compiled, and nothing runs; times are of reduced sizes. A data-parallel step is compiled for virtual
devices in a process of its own (`python -m benchmarks.models`), which prints what it counts as JSON.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import resnet50
import roberta
import running
import vgg19
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from layers import Adam, arrays_of, with_arrays

import pystage
from pystage.runtime.reports.hlo_text import instruction_counts

from .measuring import Table, in_pairs, seconds


@dataclass(frozen=True)
class Case:
    """A model: its module, its sizes for a run here, the last arguments of its step, and the batch of one device."""

    name: str
    module: Any
    reduced: dict[str, Any]
    batch: int
    last: tuple[Any, ...] = ()
    kept: float | None = None
    """The part of the throughput per device that the LazyTensor paper reports."""

    def step(self, **sizes: Any) -> tuple[Any, ...]:
        """The arguments of its step."""
        return *self.module.make_step(**sizes), *self.last


_WORDS = {"vocabulary": 2000, "longest": 64, "features": 128, "heads": 4, "hidden": 512, "encoders": 4}
FLOAT32 = (None, None)
"""RoBERTa without a key for dropout, all products in float32, as JAX makes them."""
CASES = (
    Case("ResNet-50", resnet50, {"batch": 8, "size": 64, "width": 16, "classes": 10}, 128, kept=0.97),
    Case("RoBERTa-base", roberta, {"batch": 8, "length": 64, **_WORDS}, 16, FLOAT32, kept=0.956),
    Case("VGG19", vgg19, {"batch": 8, "size": 32, "width": 16, "hidden": 256, "classes": 10}, 64),
)
MIXED = replace(CASES[1], name="RoBERTa-base, `autocast`", last=())
DEVICES = (1, 2, 4, 8)


def contents(*parts: Any) -> list[Any]:
    """All arrays of models and optimisers."""
    return [getattr(*place) for part in parts for place in arrays_of(part, state=True)]


def with_contents(parts: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """The same models and optimisers with other arrays."""
    following = iter(arrays)
    return [with_arrays(part, lambda _: next(following)) for part in parts]


@dataclass
class ByJax:
    """A step under `jax.jit`, a function of all arrays, and its arguments."""

    case: Case
    arguments: tuple[Any, ...]
    jitted: Any = field(init=False)
    arrays: list[Any] = field(init=False)
    batch: list[Any] = field(init=False)
    rate: float = field(init=False)

    def __post_init__(self) -> None:
        model, optimizer, *batch, self.rate = self.arguments[: len(self.arguments) - len(self.case.last)]
        if isinstance(optimizer, Adam):
            optimizer = replace(optimizer, steps=jnp.int32(0))  # an array like all that changes
        self.batch, self.arrays = batch, contents(model, optimizer)
        loss = self.case.module.loss

        def step(arrays: Any, batch: Any, rate: Any) -> Any:
            model_, optimizer_ = with_contents((model, optimizer), arrays)

            def by_weights(weights: Any) -> Any:
                (changed,) = with_contents((model_,), weights)
                return loss(changed, *batch), contents(changed)

            (value, after), slopes = jax.value_and_grad(by_weights, has_aux=True)(contents(model_))
            (changed,), (gradient,) = with_contents((model_,), after), with_contents((model_,), slopes)
            optimizer_.update(changed, gradient, rate)
            return value, contents(changed, optimizer_)

        self.jitted = jax.jit(step)

    def lower(self) -> Any:
        """The step, lowered."""
        return self.jitted.lower(self.arrays, self.batch, self.rate)

    def run(self) -> Any:
        """One step."""
        value, self.arrays = self.jitted(self.arrays, self.batch, self.rate)
        return value


def front_end(pairs_of: int) -> Table:
    """The table of lowering at full size."""
    table = Table(
        "Models: front end and program size",
        "One training step at full size, source to StableHLO, a batch size that neither has seen, CPU time of "
        f"{pairs_of} pairs, beside `jax.jit(...).lower()` of the same source. Sizes in HLO instructions before XLA's "
        "optimisation, entry and all. Nothing runs.",
        ("", "numbers that learn", "pystage", "JAX", "ratio", "pystage, size", "JAX, size"),
    )
    table.rows.extend([_lowering(case, pairs_of) for case in CASES])
    return table


def _lowering(case: Case, pairs_of: int) -> tuple[str, ...]:
    described = [case.step(batch=2 + i, seed=None) for i in range(2 * (pairs_of + 1))]
    following = iter(described)
    staged = pystage.compile(case.module.train_step)
    found = in_pairs(
        lambda: staged.lower(*next(following)),
        lambda: ByJax(case, next(following)).lower(),
        pairs_of,
        clock=time.thread_time,
        collect=True,
    )
    ours = staged.lower(*described[0]).instruction_counts()
    theirs = instruction_counts(ByJax(case, described[0]).lower().as_text("hlo"))
    first, second = found.medians
    return (
        case.name,
        f"{running.count(described[0][0]) / 1e6:.1f} million",
        f"{first * 1e3:.0f} ms",
        f"{second * 1e3:.0f} ms",
        found.ratio_text(),
        f"{ours.entry:,} / {ours.total:,}",
        f"{theirs.entry:,} / {theirs.total:,}",
    )


def run_time(pairs_of: int) -> Table:
    """The table of steps that run, at reduced sizes."""
    table = Table(
        "Models: first and steady steps",
        f"Training steps at reduced sizes (`benchmarks/models.py`) with all layers; medians of {pairs_of} pairs after the "
        "first step, which compiles. JAX has no `autocast`: its step is in float32. Lazy tensors: the same source outside "
        "of `pystage.compile`, recorded at each step.",
        ("", "pystage", "JAX", "ratio", "lazy", "first: pystage", "JAX", "lazy"),
    )
    table.rows.extend([_steps(case, pairs_of) for case in (*CASES, MIXED)])
    return table


def _steps(case: Case, pairs_of: int) -> tuple[str, ...]:
    arguments = case.step(**case.reduced)
    on_lazy = running.on_lazy_tensors(arguments)
    staged, jitted = pystage.compile(case.module.train_step), ByJax(case, arguments)

    def ours() -> Any:
        return staged(*arguments)

    def lazily() -> Any:
        return float(case.module.train_step(*on_lazy))

    firsts = [f"{seconds(run):.1f} s" for run in (ours, jitted.run, lazily)]
    for _ in range(3):  # the record is cut at other places in each step, until the cuts repeat
        lazily()
    recorded = statistics.median([seconds(lazily) for _ in range(pairs_of)])
    pairs = in_pairs(ours, jitted.run, pairs_of)
    first, second = pairs.medians
    times = (
        f"{first * 1e3:.1f} ms",
        f"{second * 1e3:.1f} ms",
        pairs.ratio_text(),
        f"{recorded * 1e3:.1f} ms",
    )
    return case.name, *times, *firsts


# ---------------------------------------------------------------- many devices

_COLLECTIVE = re.compile(
    r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
)
_ARRAY = re.compile(r"\b([a-z]+)(\d+)\[([\d,]*)\]")


@dataclass(frozen=True)
class Counted:
    """What one device does in a step: operations, bytes that they read and write, and collectives with their bytes."""

    flops: float
    accessed: float
    collectives: dict[str, int]
    exchanged: dict[str, int]


def counted(compiled: Any) -> Counted:
    """Counts of a compiled program, those of one device."""
    collectives: Counter[str] = Counter()
    exchanged: Counter[str] = Counter()
    for types, kind in _COLLECTIVE.findall(compiled.as_text()):
        collectives[kind] += 1
        for _, bits, shape in _ARRAY.findall(types):
            exchanged[kind] += int(bits) // 8 * int(np.prod([int(n) for n in shape.split(",") if n]))
    costs = compiled.cost_analysis()
    return Counted(costs["flops"], costs["bytes accessed"], dict(collectives), dict(exchanged))


def sharded(case: Case, devices: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """What compiles a data-parallel step at full size for so many devices: pystage's, and JAX's."""
    mesh = Mesh(np.array(jax.devices()[:devices]), ("data",))
    everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    arguments = case.step(batch=case.batch * devices, seed=None)
    jitted = ByJax(case, arguments)
    places = (everywhere, everywhere, *[rows] * len(jitted.batch))
    staged = pystage.compile(case.module.train_step, in_shardings=places)
    by_jax = jax.jit(jitted.jitted, in_shardings=(everywhere, rows, everywhere))
    return (
        lambda: staged.lower(*arguments).compile(),
        lambda: by_jax.lower(jitted.arrays, jitted.batch, jitted.rate).compile(),
    )


def count_on_devices() -> None:
    """Prints a line of JSON for each model and number of devices, and for JAX's step on all devices."""
    for case in CASES:
        for devices in DEVICES:
            for who, compile_ in zip(("pystage", "JAX"), sharded(case, devices), strict=True):
                if who == "pystage" or devices == DEVICES[-1]:
                    found = counted(compile_())
                    print(json.dumps([case.name, who, devices, vars(found)]), flush=True)


PEAK, USED = 61.4e12, 0.3
"""Operations a second of one device (a core of TPU v3, products in bfloat16), and the part of them that a step uses."""
LINK, HOP = 70e9, 1e-6
"""Bytes a second from a device to the next one in the ring, and seconds that each of its steps takes besides."""
ON_PAPER = (8, 16, 32, 64, 128)


def throughput_kept(found: Counted, devices: int, hop: float) -> float:
    """The part of the throughput of one device that each of `devices` keeps: t / (t + c).

    `t`: operations / (PEAK × USED). `c`, of a ring all-reduce that nothing overlaps: 2 (n - 1) / n × bytes / LINK, and
    2 (n - 1) × `hop` for each collective.
    """
    computing = found.flops / (PEAK * USED)
    size, number = sum(found.exchanged.values()), sum(found.collectives.values())
    exchanging = 2 * (devices - 1) * (size / devices / LINK + hop * number)
    return computing / (computing + exchanging)


def on_devices() -> list[Table]:
    """The tables of data-parallel steps: what is counted, and what follows from it."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES[-1]}"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.models"],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = {
        (name, who, devices): Counted(**rest)
        for name, who, devices, rest in map(json.loads, done.stdout.splitlines())
    }
    table = Table(
        "Models: a data-parallel step, counted",
        "Full size, compiled by XLA for so many virtual devices, not run: rows of the batch spread over the mesh, weights "
        f"on every device, {', '.join([f'{case.batch} rows a device for {case.name}' for case in CASES])}. Of one device: "
        "operations, bytes that XLA's instructions read and write, collectives. The last row of each model: JAX's own step.",
        ("", "devices", "GFLOP", "GB read and written", "all-reduces", "MB reduced", "other collectives"),
    )
    for (name, who, devices), each in found.items():
        others = sum(each.collectives.values()) - each.collectives.get("all-reduce", 0)
        table.rows.append(
            (
                name if who == "pystage" else f"{name}, JAX",
                str(devices),
                f"{each.flops / 1e9:,.0f}",
                f"{each.accessed / 1e9:,.1f}",
                str(each.collectives.get("all-reduce", 0)),
                f"{each.exchanged.get('all-reduce', 0) / 1e6:,.1f}",
                str(others),
            )
        )
    return [table, _kept(found)]


def _kept(found: dict[tuple[str, str, int], Counted]) -> Table:
    table = Table(
        "Models: throughput kept per device, on paper",
        f"From the counts for 8 devices: t / (t + c), t = operations / ({PEAK / 1e12:.1f} TFLOP/s × {USED:.0%}), c of a "
        f"ring all-reduce that nothing overlaps, 2 (n - 1) / n × bytes / ({LINK / 1e9:.0f} GB/s) and, in the second number, "
        f"2 (n - 1) × {HOP * 1e6:.0f} µs for each collective. The papers' numbers: A. Suhan and others, “LazyTensor” "
        "(arXiv:2102.13267), tables 2 and 3, measured on TPUs.",
        ("", *[f"{n} devices" for n in ON_PAPER], "LazyTensor"),
    )
    for case in CASES:
        each = found[case.name, "pystage", DEVICES[-1]]
        cells = [" / ".join([f"{throughput_kept(each, n, hop):.1%}" for hop in (0.0, HOP)]) for n in ON_PAPER]
        table.rows.append((case.name, *cells, "" if case.kept is None else f"{case.kept:.1%}"))
    return table


def measure() -> list[Table]:
    """All tables."""
    return [front_end(5), run_time(11), *on_devices()]


if __name__ == "__main__":
    pystage.config.fallback = "error"
    count_on_devices()
