"""What the models of this folder share: layers as plain dataclasses, losses, optimisers, and how arrays are made.

A layer holds its weights and says how it acts on arrays. The source is for arrays of JAX, in plain Python and compiled,
and for lazy tensors, which record the same calls: `functions_of` is all that differs.

Sources: K. He, X. Zhang, S. Ren, J. Sun, "Delving Deep into Rectifiers" (arXiv:1502.01852), section 2.2, for the size of
random weights; D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980), algorithm 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pystage import lazy


def functions_of(x):
    """The modules `nn` and `lax` for `x`: JAX's, or those that record what is done to lazy tensors."""
    return (lazy.nn, lazy.lax) if type(x) is lazy.LazyTensor else (jax.nn, jax.lax)


@dataclass
class Conv:
    """A convolution: `[n, h, w, in]` to `[n, h / stride, w / stride, out]`; with a bias, and then `relu`, if it has them."""

    weight: Any  # [height, width, in, out]
    bias: Any = None  # [out]
    stride: int = 1
    relu: bool = False

    def __call__(self, x):
        nn, lax = functions_of(x)
        y = lax.conv_general_dilated(
            x, self.weight, (self.stride, self.stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        if self.bias is not None:
            y = y + self.bias
        return nn.relu(y) if self.relu else y


@dataclass
class Dense:
    """A matrix product with bias: `[..., in]` to `[..., out]`; then `relu`, if it has it."""

    weight: Any  # [in, out]
    bias: Any  # [out]
    relu: bool = False

    def __call__(self, x):
        y = x @ self.weight + self.bias
        if self.relu:
            nn, _ = functions_of(y)
            y = nn.relu(y)
        return y


@dataclass
class MaxPool:
    """The largest of each block of `size` × `size`: `[n, h, w, c]` to `[n, h / stride, w / stride, c]`."""

    size: int
    stride: int

    def __call__(self, x):
        _, lax = functions_of(x)
        window, strides = (1, self.size, self.size, 1), (1, self.stride, self.stride, 1)
        return lax.reduce_window(x, -np.inf, jax.lax.max, window, strides, "SAME")


def cross_entropy(scores, labels):
    """The mean of minus the logarithm of the probability of each label; `scores`: `[n, classes]`, `labels`: `[n]`."""
    nn, _ = functions_of(scores)
    chosen = nn.one_hot(labels, scores.shape[-1], dtype=scores.dtype)
    return -(nn.log_softmax(scores) * chosen).sum(axis=-1).mean()


def arrays_of(part, state=False):
    """The places of the arrays of a model that learn: the dataclass that holds it, and the field.

    Those whose names a class lists as `STATE` are changed by calls, and do not learn; `state`: they, too.
    """
    if isinstance(part, list):
        return [place for item in part for place in arrays_of(item, state)]
    places = []
    for each in dataclasses.fields(part):
        value = getattr(part, each.name)
        if isinstance(value, list) or dataclasses.is_dataclass(value):
            places += arrays_of(value, state)
        elif hasattr(value, "shape") and (state or each.name not in getattr(part, "STATE", ())):
            places.append((part, each.name))
    return places


def with_arrays(part, change: Callable[[Any], Any]):
    """A model of the same structure with other arrays: `change(array)` in the place of each, in the order of `arrays_of`."""
    if isinstance(part, list):
        return [with_arrays(item, change) for item in part]
    if dataclasses.is_dataclass(part):
        fields = [each.name for each in dataclasses.fields(part)]
        return type(part)(*[with_arrays(getattr(part, name), change) for name in fields])
    return change(part) if hasattr(part, "shape") else part


@dataclass
class Momentum:
    """Gradient descent with momentum and weight decay; `velocity`: the running sum of the gradients, as a model."""

    velocity: Any
    momentum: float = 0.9
    decay: float = 1e-4

    def update(self, model, gradient, rate):
        """Moves all weights of `model` against their gradient."""
        models = (model, gradient, self.velocity)
        for (layer, name), (slope, _), (velocity, _) in zip(*[arrays_of(each) for each in models]):
            weight = getattr(layer, name)
            push = getattr(slope, name) + self.decay * weight
            moved = self.momentum * getattr(velocity, name) + push
            setattr(velocity, name, moved)
            setattr(layer, name, weight - rate * moved)


@dataclass
class Adam:
    """Adam with weight decay; `mean` and `square`: running means of the gradient and of its square, as models."""

    mean: Any
    square: Any
    steps: int = 0
    keep_mean: float = 0.9
    keep_square: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0

    def update(self, model, gradient, rate):
        """Moves all weights of `model` against their gradient."""
        self.steps += 1
        scale = rate * (1 - self.keep_square**self.steps) ** 0.5 / (1 - self.keep_mean**self.steps)
        models = (model, gradient, self.mean, self.square)
        for (layer, name), (slope, _), (mean, _), (square, _) in zip(*[arrays_of(each) for each in models]):
            weight, g = getattr(layer, name), getattr(slope, name)
            first = self.keep_mean * getattr(mean, name) + (1 - self.keep_mean) * g
            second = self.keep_square * getattr(square, name) + (1 - self.keep_square) * g * g
            setattr(mean, name, first)
            setattr(square, name, second)
            moved = scale * first / (second**0.5 + self.epsilon) + rate * self.decay * weight
            setattr(layer, name, weight - moved)


def zeros_like(model):
    """A model of zeros, for an optimiser to keep its sums in."""
    return with_arrays(model, lambda x: x if isinstance(x, jax.ShapeDtypeStruct) else jnp.zeros_like(x))


@dataclass
class Maker:
    """Makes float32 arrays: random ones by a seed; without one, their descriptions, which can be lowered and not run."""

    seed: int | None
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def full(self, value, *shape):
        """An array of one number."""
        described = self.seed is None
        return jax.ShapeDtypeStruct(shape, jnp.float32) if described else jnp.full(shape, value, jnp.float32)

    def normal(self, scale, *shape):
        """An array of random numbers with this standard deviation."""
        if self.seed is None:
            return jax.ShapeDtypeStruct(shape, jnp.float32)
        return jnp.asarray(self.rng.standard_normal(shape, dtype=np.float32) * np.float32(scale))

    def integers(self, end, *shape):
        """An int32 array of random numbers below `end`."""
        if self.seed is None:
            return jax.ShapeDtypeStruct(shape, jnp.int32)
        return jnp.asarray(self.rng.integers(end, size=shape), jnp.int32)

    def conv(self, size, channels, out, stride=1, bias=False, relu=False):
        """A convolution with windows of `size` × `size`, whose numbers keep the size that they come in with."""
        weight = self.normal((2 / (size * size * channels)) ** 0.5, size, size, channels, out)
        return Conv(weight, self.full(0.0, out) if bias else None, stride, relu)

    def dense(self, features, out, scale=None, relu=False):
        """A dense layer; `scale`: the standard deviation of its weights."""
        scale = (2 / features) ** 0.5 if scale is None else scale
        return Dense(self.normal(scale, features, out), self.full(0.0, out), relu)
