"""VGG19 forward, backward, and a training step: plain dataclasses with `__call__`, compiled whole.

In: images, float32 `[batch, size, size, 3]`. Out: probabilities, float32 `[batch, classes]`; the gradient of their
sum by all weights, which is a model too; or the mean cross-entropy of a step, which changes the weights. The network is a
list of layers, and a forward pass is a loop over that list. Weights are random, so only the work is real.

Source of the architecture and of the optimiser's constants: K. Simonyan, A. Zisserman, "Very Deep Convolutional Networks for
Large-Scale Image Recognition" (arXiv:1409.1556), table 1, column E, and section 3.1, without its dropout.

Run it: `python examples/models/vgg19.py`
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from layers import (
    Conv,
    Dense,
    Maker,
    MaxPool,
    Momentum,
    arrays_of,
    cross_entropy,
    functions_of,
    zeros_like,
)
from running import show

import pystage

STAGES = ((2, 1), (2, 2), (4, 4), (4, 8), (4, 8))
"""For each stage: how many convolutions, and how many times the first stage's channels they give."""


@dataclass
class Flatten:
    """All but the batch in one axis."""

    def __call__(self, x):
        return x.reshape(x.shape[0], -1)


@dataclass
class VGG:
    """A chain of layers: scores `[batch, classes]`."""

    layers: list[Conv | Dense | MaxPool | Flatten]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def forward(model, images):
    """The class probabilities of `images`."""
    scores = model(images)
    nn, _ = functions_of(scores)
    return nn.softmax(scores)


def total(model, images):
    """What is differentiated, as in the paper: the sum of all probabilities. It is one, so that slopes are rounding.

    K. Fischer, E. Saba, "Automatic Full Compilation of Julia Programs and ML Models to Cloud TPUs" (arXiv:1810.09868),
    figure 3.
    """
    return forward(model, images).sum()


def backward(model, images):
    """The gradient of `total` by all weights: a model whose layers hold slopes."""
    return pystage.grad(total)(model, images)


def loss(model, images, labels):
    """The mean cross-entropy."""
    return cross_entropy(model(images), labels)


def train_step(model, optimizer, images, labels, rate):
    """One step of training; changes `model` and `optimizer`, and gives the loss before it."""
    value, gradient = pystage.value_and_grad(loss)(model, images, labels)
    optimizer.update(model, gradient, rate)
    return value


def make_vgg19(width=64, size=224, hidden=4096, classes=1000, seed=0):
    """VGG19 with random weights: 16 convolutions and 3 dense layers, 38 arrays, 144 million numbers.

    Smaller `width`, `size` (a multiple of 32) and `hidden` give the same program on smaller arrays. Without a seed:
    descriptions of arrays.
    """
    make = Maker(seed)
    layers: list[Conv | Dense | MaxPool | Flatten] = []
    channels = 3
    for convolutions, factor in STAGES:
        for _ in range(convolutions):
            layers.append(make.conv(3, channels, width * factor, bias=True, relu=True))
            channels = width * factor
        layers.append(MaxPool(2, 2))
    layers.append(Flatten())
    features = channels * (size // 32) ** 2
    for out in (hidden, hidden, classes):
        layers.append(make.dense(features, out, relu=out != classes))
        features = out
    return VGG(layers)


def make_images(batch=1, size=224, seed=1):
    """Noise in the shape of images: float32 `[batch, size, size, 3]`; without a seed its description."""
    return Maker(seed).normal(1.0, batch, size, size, 3)


def make_step(batch=32, size=224, width=64, hidden=4096, classes=1000, seed=0):
    """The arguments of `train_step`."""
    model = make_vgg19(width, size, hidden, classes, seed)
    seed = None if seed is None else seed + 1
    labels = Maker(seed).integers(classes, batch)
    return model, Momentum(zeros_like(model), decay=5e-4), make_images(batch, size, seed), labels, 1e-2


def weights(model):
    """The arrays of the model, in the order of its layers."""
    return [getattr(layer, name) for layer, name in arrays_of(model)]


def small():
    """A VGG19 of the same depth, small enough for a test, with two images."""
    return make_vgg19(width=4, size=32, hidden=16, classes=10), make_images(batch=2, size=32)


def small_step():
    """The arguments of `train_step` for it."""
    return make_step(batch=2, size=32, width=4, hidden=16, classes=10)


PROGRAMS = [(forward, small), (backward, small), (train_step, small_step)]
"""What the tests run: a function, and what makes its arguments."""


def seconds(function, *arguments):
    """How long a call takes, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        best = min(best, time.perf_counter() - start)
    return best


def show_size(name, function, model, images):
    """Stages a function of the model, prints how long that took and how large the program is; gives it compiled."""
    start = time.perf_counter()
    lowered = pystage.compile(function).lower(model, images)
    milliseconds = (time.perf_counter() - start) * 1e3
    counts = lowered.instruction_counts()
    print(
        f"{name}: source to StableHLO in {milliseconds:.1f} ms, the first time; before optimisation {counts.entry} HLO "
        f"instructions in the entry, {counts.total} in all"
    )
    print("  " + ", ".join(f"{count} {opcode}" for opcode, count in counts.by_opcode.items()))
    return lowered.compile()


def main() -> None:
    """Compiles the full-size model forward and backward, and compares probabilities and time with the plain run."""
    model, images = make_vgg19(), make_images()
    arrays = weights(model)
    print(f"VGG19: {len(arrays)} arrays, {sum(a.size for a in arrays) / 1e6:.1f} million numbers")

    staged = show_size("forward", forward, model, images)
    plain, probabilities = forward(model, images), staged(model, images)
    difference = float(jnp.max(jnp.abs(plain - probabilities)))
    print(f"largest difference of a probability from the plain run: {difference:.2g}")
    print(f"plain {seconds(forward, model, images):.3f} s, staged {seconds(staged, model, images):.3f} s")

    gradient = show_size("backward", backward, model, images)
    slopes = weights(gradient(model, images))
    print(f"gradient of the sum by {len(slopes)} arrays, the largest slope {max(map(largest, slopes)):.2g}")
    print(f"forward and backward {seconds(lambda: weights(gradient(model, images))):.3f} s")

    reduced = make_step(batch=8, size=32, width=16, hidden=128, classes=10)
    show("VGG19, a training step", train_step, make_step(seed=None), reduced)


def largest(array):
    """The largest size of a number in an array."""
    return float(jnp.max(jnp.abs(array)))


if __name__ == "__main__":
    main()
