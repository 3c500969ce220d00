"""VGG19 forward and backward: plain dataclasses with `__call__`, compiled whole.

In: images, float32 `[batch, size, size, 3]`. Out: probabilities, float32 `[batch, classes]`, and the gradient of their
sum by all weights, which is a model too. The model knows nothing of pystage: a layer is a dataclass that holds its
weights, the network is a list of layers, and a forward pass is a loop over that list. Weights are random, so only the
work is real.

Source of the architecture: K. Simonyan, A. Zisserman, "Very Deep Convolutional Networks for Large-Scale
Image Recognition" (arXiv:1409.1556), table 1, column E.

Run it: `python examples/vgg19.py`
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

import pystage

STAGES = ((2, 1), (2, 2), (4, 4), (4, 8), (4, 8))
"""For each stage: how many convolutions, and how many times the first stage's channels they give."""


@dataclass
class Conv:
    """A 3×3 convolution with bias, then `relu`: `[n, h, w, in]` to `[n, h, w, out]`."""

    kernel: jax.Array  # [3, 3, in, out]
    bias: jax.Array  # [out]

    def __call__(self, x):
        y = jax.lax.conv_general_dilated(
            x, self.kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return jnp.maximum(y + self.bias, 0.0)


@dataclass
class MaxPool:
    """The largest of each 2×2 block: `[n, h, w, c]` to `[n, h/2, w/2, c]`."""

    size: int = 2

    def __call__(self, x):
        window = (1, self.size, self.size, 1)
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")


@dataclass
class Flatten:
    """All but the batch in one axis."""

    def __call__(self, x):
        return jnp.reshape(x, (x.shape[0], -1))


@dataclass
class Dense:
    """A matrix product with bias, then `relu` where asked: `[n, in]` to `[n, out]`."""

    weight: jax.Array  # [in, out]
    bias: jax.Array  # [out]
    relu: bool = True

    def __call__(self, x):
        y = x @ self.weight + self.bias
        return jnp.maximum(y, 0.0) if self.relu else y


@dataclass
class VGG:
    """A chain of layers, then `softmax`."""

    layers: list[Conv | MaxPool | Flatten | Dense]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return jax.nn.softmax(x)


def forward(model, images):
    """The class probabilities of `images`."""
    return model(images)


def total(model, images):
    """What is differentiated, as in the paper: the sum of all probabilities. It is one, so that slopes are rounding.

    K. Fischer, E. Saba, "Automatic Full Compilation of Julia Programs and ML Models to Cloud TPUs" (arXiv:1810.09868),
    figure 3.
    """
    return jnp.sum(model(images))


def backward(model, images):
    """The gradient of `total` by all weights: a model whose layers hold slopes."""
    return pystage.grad(total)(model, images)


def make_vgg19(width=64, size=224, hidden=4096, classes=1000, seed=0):
    """VGG19 with random weights: 16 convolutions and 3 dense layers, 38 arrays, 144 million numbers.

    Smaller `width`, `size` (a multiple of 32) and `hidden` give the same program on smaller arrays.
    """
    rng = np.random.default_rng(seed)

    def normal(*shape):
        fan_in = int(np.prod(shape[:-1]))
        return jnp.asarray(rng.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2 / fan_in)))

    layers: list[Conv | MaxPool | Flatten | Dense] = []
    channels = 3
    for convolutions, factor in STAGES:
        for _ in range(convolutions):
            out = width * factor
            layers.append(Conv(normal(3, 3, channels, out), jnp.zeros(out, jnp.float32)))
            channels = out
        layers.append(MaxPool())
    layers.append(Flatten())
    features = channels * (size // 32) ** 2
    for out in (hidden, hidden, classes):
        layers.append(Dense(normal(features, out), jnp.zeros(out, jnp.float32), relu=out != classes))
        features = out
    return VGG(layers)


def make_images(batch=1, size=224, seed=1):
    """Noise in the shape of images: float32 `[batch, size, size, 3]`."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal((batch, size, size, 3), dtype=np.float32))


def weights(model):
    """The arrays of the model, in the order of its layers."""
    arrays = []
    for layer in model.layers:
        match layer:
            case Conv():
                arrays += [layer.kernel, layer.bias]
            case Dense():
                arrays += [layer.weight, layer.bias]
    return arrays


def with_weights(model, arrays):
    """The same layers with other arrays, in the order of `weights`."""
    following = iter(arrays)
    layers: list[Conv | MaxPool | Flatten | Dense] = []
    for layer in model.layers:
        match layer:
            case Conv():
                layers.append(Conv(next(following), next(following)))
            case Dense():
                layers.append(Dense(next(following), next(following), layer.relu))
            case _:
                layers.append(layer)
    return VGG(layers)


def small():
    """A VGG19 of the same depth, small enough for a test, with two images."""
    return make_vgg19(width=4, size=32, hidden=16, classes=10), make_images(batch=2, size=32)


PROGRAMS = [(forward, small), (backward, small)]
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


def largest(array):
    """The largest size of a number in an array."""
    return float(jnp.max(jnp.abs(array)))


if __name__ == "__main__":
    main()
