"""Flax's models, evaluated."""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

from . import Program, integers, normal


class Network(nnx.Module):
    """A perceptron with batch normalisation and dropout."""

    def __init__(self, rngs):
        self.first = nnx.Linear(64, 128, rngs=rngs)
        self.norm = nnx.BatchNorm(128, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.second = nnx.Linear(128, 128, rngs=rngs)
        self.last = nnx.Linear(128, 10, rngs=rngs)

    def __call__(self, x):
        x = self.dropout(nnx.relu(self.norm(self.first(x))))
        return self.last(nnx.relu(self.second(x)))


def evaluated(model, x, labels):
    """The accuracy and the loss of a network of NNX."""
    logits = model(x)
    losses = -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return (logits.argmax(-1) == labels).mean(), losses.mean()


def evaluated_by_hand(graph, state, x, labels):
    return evaluated(nnx.merge(graph, state), x, labels)


def evaluated_inputs():
    model = Network(nnx.Rngs(0))
    model.eval()
    return model, normal(128, 64), integers(10, 128)


class Convolutions(nn.Module):
    """A small convolutional network of Linen."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), (2, 2)).reshape((x.shape[0], -1))
        return nn.Dense(10)(nn.relu(nn.Dense(64)(x)))


LINEN = Convolutions()


def applied(parameters, x):
    return jax.nn.softmax(LINEN.apply(parameters, x))


def applied_inputs():
    x = normal(8, 28, 28, 1)
    return LINEN.init(jax.random.key(0), x), x


PROGRAMS = (
    Program(
        "Flax NNX, evaluation",
        evaluated,
        jax.jit(evaluated_by_hand, static_argnums=0),
        evaluated_inputs,
        lambda model, *rest: (*nnx.split(model), *rest),
    ),
    Program("Flax Linen, convolutions", applied, applied, applied_inputs),
)
