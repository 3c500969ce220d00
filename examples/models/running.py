"""What the scripts of this folder print: a step at full size, lowered and counted, and the same source at a reduced one."""

from __future__ import annotations

import copy
import time

import jax
import jax.numpy as jnp
import numpy as np
from layers import arrays_of, with_arrays

import pystage
from pystage import lazy


def count(model):
    """How many numbers of a model learn."""
    return sum(int(np.prod(getattr(layer, name).shape)) for layer, name in arrays_of(model))


def on_lazy_tensors(arguments):
    """Arguments of a step whose arrays are lazy tensors; keys of `jax.random` stay, which draws at once."""
    model, optimizer, *rest = arguments
    made = [with_arrays(each, lambda x: lazy.asarray(np.asarray(x))) for each in (model, optimizer)]
    return *made, *[lazy.asarray(np.asarray(each)) if _is_array(each) else each for each in rest]


def _is_array(value):
    return hasattr(value, "shape") and not jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def show(name, step, full, reduced, steps=5) -> None:
    """Prints the size of the step with the arguments `full`, and losses and times of some steps with `reduced`."""
    begin = time.perf_counter()
    lowered = pystage.compile(step).lower(*full)
    seconds = time.perf_counter() - begin
    counts = lowered.instruction_counts()
    print(
        f"{name}: {count(full[0]) / 1e6:.1f} million numbers learn; source to StableHLO in {seconds:.2f} s, "
        f"{counts.entry} HLO instructions in the entry, {counts.total} in all"
    )
    ways = {
        "compiled": (pystage.compile(step), copy.deepcopy(reduced)),
        "lazy": (step, on_lazy_tensors(reduced)),
    }
    for way, (function, arguments) in ways.items():
        losses, times = [], []
        for _ in range(steps):
            begin = time.perf_counter()
            losses.append(float(function(*arguments)))
            times.append(time.perf_counter() - begin)
        print(f"{way:9}", " ".join([f"{value:.4f}" for value in losses]), end="; ")
        print(f"the first step took {times[0]:.2f} s, the last one {times[-1]:.3f} s")
