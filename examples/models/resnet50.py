"""ResNet-50: a training step whose batch norms keep running means, as plain dataclasses with `__call__`.

In: images, float32 `[batch, size, size, 3]`, and labels, int32 `[batch]`. Out: the mean cross-entropy; the step changes the
weights, the optimiser's velocities, and the running mean and variance of each batch norm, which is an attribute that
a call assigns.

Source of the architecture and of the optimiser's constants: K. He, X. Zhang, S. Ren, J. Sun, "Deep Residual Learning for
Image Recognition" (arXiv:1512.03385), table 1, figure 5 and section 3.4; of batch norm: S. Ioffe, C. Szegedy, "Batch
Normalization" (arXiv:1502.03167), algorithms 1 and 2.

Run it: `python examples/models/resnet50.py`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
from layers import (
    Conv,
    Dense,
    Maker,
    MaxPool,
    Momentum,
    cross_entropy,
    functions_of,
    zeros_like,
)
from running import show

import pystage

BLOCKS = (3, 4, 6, 3)
"""How many blocks each stage has."""


@dataclass
class BatchNorm:
    """Each channel brought to mean zero and variance one, scaled and shifted.

    In training by the mean and the variance of the batch, which running means take up; else by those.
    """

    scale: Any  # [channels]
    shift: Any  # [channels]
    mean: Any  # [channels]
    variance: Any  # [channels]
    keep: float = 0.9
    STATE: ClassVar = ("mean", "variance")

    def __call__(self, x, training):
        _, lax = functions_of(x)
        mean, variance = self.mean, self.variance
        if training:
            mean = x.mean(axis=(0, 1, 2))
            variance = ((x - mean) ** 2).mean(axis=(0, 1, 2))
            self.mean = self.keep * self.mean + (1 - self.keep) * mean
            self.variance = self.keep * self.variance + (1 - self.keep) * variance
        return (x - mean) * (lax.rsqrt(variance + 1e-5) * self.scale) + self.shift


@dataclass
class NormedConv:
    """A convolution without bias and a batch norm, then `relu` where asked."""

    convolution: Conv
    norm: BatchNorm
    relu: bool = True

    def __call__(self, x, training):
        nn, _ = functions_of(x)
        y = self.norm(self.convolution(x), training)
        return nn.relu(y) if self.relu else y


@dataclass
class Block:
    """A bottleneck: convolutions of 1×1, 3×3 and 1×1, added to what came in, or to a projection of it."""

    layers: list[NormedConv]
    projection: NormedConv | None = None

    def __call__(self, x, training):
        nn, _ = functions_of(x)
        y = x
        for layer in self.layers:
            y = layer(y, training)
        if self.projection is not None:
            x = self.projection(x, training)
        return nn.relu(x + y)


@dataclass
class ResNet:
    """A convolution of 7×7, blocks, the mean over all pixels, a dense layer: scores `[batch, classes]`."""

    stem: NormedConv
    pool: MaxPool
    blocks: list[Block]
    head: Dense

    def __call__(self, images, training=False):
        x = self.pool(self.stem(images, training))
        for block in self.blocks:
            x = block(x, training)
        return self.head(x.mean(axis=(1, 2)))


def predict(model, images):
    """The class probabilities of `images`, by the running means."""
    scores = model(images)
    nn, _ = functions_of(scores)
    return nn.softmax(scores)


def loss(model, images, labels):
    """The mean cross-entropy; changes the running means of `model`."""
    return cross_entropy(model(images, training=True), labels)


def train_step(model, optimizer, images, labels, rate):
    """One step of training; changes `model` and `optimizer`, and gives the loss before it."""
    value, gradient = pystage.value_and_grad(loss)(model, images, labels)
    optimizer.update(model, gradient, rate)
    return value


def make_resnet50(width=64, classes=1000, blocks=BLOCKS, seed=0):
    """ResNet-50: 25.6 million numbers that learn. Smaller `width` and `blocks`: the same program, narrower and shorter.

    `width`: the channels of the first stage. Without a seed: descriptions of arrays.
    """
    make = Maker(seed)

    def normed(size, channels, out, stride=1, relu=True):
        norm = BatchNorm(*[make.full(value, out) for value in (1.0, 0.0, 0.0, 1.0)])
        return NormedConv(make.conv(size, channels, out, stride), norm, relu)

    stem = normed(7, 3, width, stride=2)
    channels = width
    made = []
    for stage, count in enumerate(blocks):
        inner, outer = width * 2**stage, 4 * width * 2**stage
        for i in range(count):
            stride = 2 if i == 0 and stage > 0 else 1
            layers = [normed(1, channels, inner, stride), normed(3, inner, inner)]
            layers.append(normed(1, inner, outer, relu=False))
            made.append(Block(layers, normed(1, channels, outer, stride, relu=False) if i == 0 else None))
            channels = outer
    return ResNet(stem, MaxPool(3, 2), made, make.dense(channels, classes, scale=channels**-0.5))


def make_step(batch=32, size=224, width=64, classes=1000, blocks=BLOCKS, seed=0):
    """The arguments of `train_step`."""
    model = make_resnet50(width, classes, blocks, seed)
    make = Maker(None if seed is None else seed + 1)
    images, labels = make.normal(1.0, batch, size, size, 3), make.integers(classes, batch)
    return model, Momentum(zeros_like(model)), images, labels, 0.1


def small():
    """The arguments of `train_step`, small enough for a test: one block."""
    return make_step(batch=4, size=16, width=4, classes=5, blocks=(1,))


PROGRAMS = [(train_step, small), (predict, lambda: (small()[0], small()[2]))]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Lowers the step at full size, and runs it at a reduced one."""
    show("ResNet-50", train_step, make_step(seed=None), make_step(batch=8, size=64, width=16, classes=10))


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    main()
