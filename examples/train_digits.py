"""A convolutional network learns handwritten digits: its whole training loop is one HLO program.

In: scikit-learn's digits (1,797 images of 8×8 pixels), split into training, validation and test images. Out: the
network with the least validation loss, and both losses of every epoch. The program shuffles, takes batches, computes
gradients, applies Adam with a decaying rate, prints a line per epoch while it runs, and stops when the validation
loss has not improved for a while. All of it is plain Python: dataclasses, loops, a `break`.

Source of the optimiser: D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980),
algorithm 1.

Run it: `python examples/train_digits.py [picture.png]`
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import pystage


@dataclass
class Conv:
    """A 3×3 convolution with bias, then `relu`: `[n, h, w, in]` to `[n, h, w, out]`."""

    weight: jax.Array  # [3, 3, in, out]
    bias: jax.Array  # [out]

    def __call__(self, x):
        y = jax.lax.conv_general_dilated(
            x, self.weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return jax.nn.relu(y + self.bias)


@dataclass
class Dense:
    """A matrix product with bias: `[n, in]` to `[n, out]`."""

    weight: jax.Array  # [in, out]
    bias: jax.Array  # [out]

    def __call__(self, x):
        return x @ self.weight + self.bias


@dataclass
class Network:
    """Two convolutions, a maximum over 2×2 blocks, two more, another maximum, and two dense layers."""

    convolutions: list[Conv]
    hidden: Dense
    output: Dense

    def __call__(self, images):
        x = images
        for i, convolution in enumerate(self.convolutions):
            x = convolution(x)
            if i % 2 == 1:
                x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(self.hidden(jnp.reshape(x, (x.shape[0], -1))))
        return self.output(x)

    def layers(self):
        """All layers that learn."""
        return [*self.convolutions, self.hidden, self.output]


@dataclass
class Adam:
    """Adam's running means of the gradient and of its square, as networks."""

    mean: Network
    square: Network
    steps: int = 0

    def update(self, network, gradient, rate):
        """Moves every weight of `network` against its gradient."""
        self.steps += 1
        scale = rate * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps)
        parts = (network.layers(), gradient.layers(), self.mean.layers(), self.square.layers())
        for layer, slope, mean, square in zip(*parts):
            mean.weight = 0.9 * mean.weight + 0.1 * slope.weight
            mean.bias = 0.9 * mean.bias + 0.1 * slope.bias
            square.weight = 0.999 * square.weight + 0.001 * slope.weight**2
            square.bias = 0.999 * square.bias + 0.001 * slope.bias**2
            layer.weight = layer.weight - scale * mean.weight / (jnp.sqrt(square.weight) + 1e-8)
            layer.bias = layer.bias - scale * mean.bias / (jnp.sqrt(square.bias) + 1e-8)


def loss(network, images, labels):
    """The mean cross-entropy, and how many of the images are told right."""
    scores = jax.nn.log_softmax(network(images))
    hits = jnp.sum(jnp.argmax(scores, axis=1) == labels)
    return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(labels, 10), axis=1)), hits


def train(network, adam, best, training, validation, key, epochs=60, batch=64, rate=2e-3, patience=5):
    """Trains `network` in place; leaves in `best` the state with the least validation loss.

    `training` and `validation` are pairs of images, float32 `[n, 8, 8, 1]`, and labels, int32 `[n]`. Returns both
    losses of each epoch, float32 `[epochs]` (NaN after the last one), and the number of epochs.
    """
    images, labels = training
    steps = len(images) // batch
    train_losses = np.full(epochs, np.nan, np.float32)
    validation_losses = np.full(epochs, np.nan, np.float32)
    least, waited, done = np.inf, 0, 0
    for epoch in range(epochs):
        key, own = jax.random.split(key)
        order = jnp.reshape(jax.random.permutation(own, len(images))[: steps * batch], (steps, batch))
        total = 0.0
        for step in range(steps):
            rows = order[step]
            slope = pystage.value_and_grad(loss, has_aux=True)
            (value, _), gradient = slope(network, images[rows], labels[rows])
            adam.update(network, gradient, rate * 0.95**epoch)
            total += float(value)
        train_losses[epoch] = total / steps
        value, hits = loss(network, *validation)
        held_out = float(value)
        validation_losses[epoch] = held_out
        done = epoch + 1
        print(f"epoch {done:2d}: loss {total / steps:.4f}, validation {held_out:.4f}, {hits} right")
        if held_out < least:
            least, waited = held_out, 0
            for mine, kept in zip(network.layers(), best.layers()):
                kept.weight, kept.bias = mine.weight, mine.bias
        else:
            waited += 1
            if waited == patience:
                break
    return train_losses, validation_losses, done


def make_network(seed=0, fill=None, width=32, hidden=128):
    """A network with random weights; `fill`: with this number everywhere."""
    rng = np.random.default_rng(seed)

    def normal(*shape):
        if fill is not None:
            return jnp.full(shape, fill, jnp.float32)
        scale = np.float32(np.sqrt(2 / np.prod(shape[:-1])))
        return jnp.asarray(rng.standard_normal(shape, dtype=np.float32) * scale)

    convolutions, channels = [], 1
    for out in (width, width, 2 * width, 2 * width):
        convolutions.append(Conv(normal(3, 3, channels, out), jnp.zeros(out, jnp.float32)))
        channels = out
    dense = Dense(normal(channels * 4, hidden), jnp.zeros(hidden, jnp.float32))
    return Network(convolutions, dense, Dense(normal(hidden, 10), jnp.zeros(10, jnp.float32)))


def digits(seed=0):
    """Training, validation and test images with their labels: 1,257, 180 and 360 of them."""
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    images = jnp.asarray(data.images[order, :, :, None] / 16, jnp.float32)
    labels = jnp.asarray(data.target[order], jnp.int32)
    return [(images[part], labels[part]) for part in (slice(1257), slice(1257, 1437), slice(1437, None))]


def start():
    """The arguments of `train`, but for those with defaults; the last is the test set."""
    training, validation, test = digits()
    adam = Adam(make_network(fill=0.0), make_network(fill=0.0))
    return (make_network(), adam, make_network(), training, validation, jax.random.key(0)), test


def few_digits():
    """A small network, three epochs of two batches each."""
    parts = [(images[:40], labels[:40]) for images, labels in digits()]
    networks = [make_network(fill=fill, width=2, hidden=8) for fill in (None, 0.0, 0.0, None)]
    adam = Adam(*networks[1:3])
    return networks[0], adam, networks[3], parts[0], parts[1], jax.random.key(0), 3, 16


PROGRAMS = [(train, few_digits)]
"""What the tests run: a function, and what makes its arguments."""


def draw(train_losses, validation_losses, path):
    """Writes a picture of the losses."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    epochs = np.arange(1, len(train_losses) + 1)
    axes.plot(epochs, train_losses, label="training")
    axes.plot(epochs, validation_losses, label="validation")
    axes.set(xlabel="epoch", ylabel="mean cross-entropy", yscale="log", title="A network learns digits")
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Compiles the training loop, runs it, and says how well the network reads digits that it never saw."""
    arguments, (images, labels) = start()
    staged = pystage.compile(train)
    begin = time.perf_counter()
    compiled = staged.lower(*arguments).compile()
    print(
        f"compiled in {time.perf_counter() - begin:.1f} s: one program of {compiled.instruction_counts().total} instructions"
    )
    begin = time.perf_counter()
    train_losses, validation_losses, epochs = compiled(*arguments)
    seconds = time.perf_counter() - begin
    _, hits = loss(arguments[2], images, labels)
    print(
        f"trained for {epochs} epochs in {seconds:.1f} s: {int(hits)} of {len(labels)} test images right "
        f"({100 * int(hits) / len(labels):.2f} %)"
    )
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "build/train_digits.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(train_losses[:epochs], validation_losses[:epochs], path)
    print(f"losses drawn in {path}")


if __name__ == "__main__":
    main()
