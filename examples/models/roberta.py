"""RoBERTa-base: a training step of its masked language model in mixed precision, as plain dataclasses with `__call__`.

In: token numbers, int32 `[batch, length]`, some of them masked; the numbers that stood there; and which places count,
float32 of the same shape. Out: the mean cross-entropy at these places; the step changes the weights and what Adam keeps.
Products are made in bfloat16 (`pystage.autocast`), weights and all else stay float32.

Sources: Y. Liu and others, "RoBERTa: A Robustly Optimized BERT Pretraining Approach" (arXiv:1907.11692), sections 2 and 4
and table 9; of the layers: J. Devlin, M.-W. Chang, K. Lee, K. Toutanova, "BERT" (arXiv:1810.04805), sections 3 and A.2, and
A. Vaswani and others, "Attention Is All You Need" (arXiv:1706.03762), section 3.

Run it: `python examples/models/roberta.py`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from layers import Adam, Dense, Maker, functions_of, zeros_like
from running import show

import pystage

MASK, FIRST_WORD = 3, 4
"""The number of the mask; those before it mark beginnings, ends and padding."""


@dataclass
class LayerNorm:
    """Each vector along the last axis brought to mean zero and variance one, scaled and shifted."""

    scale: Any  # [features]
    shift: Any  # [features]

    def __call__(self, x):
        _, lax = functions_of(x)
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred * lax.rsqrt(variance + 1e-5) * self.scale + self.shift


@dataclass
class Attention:
    """Each token's mean of the values of all tokens, weighted by how its query meets their keys; in several heads."""

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    heads: int

    def __call__(self, x, dropout):
        batch, length, features = x.shape
        size = features // self.heads
        nn, _ = functions_of(x)

        def split(y):
            return y.reshape(batch, length, self.heads, size).transpose(0, 2, 1, 3)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = nn.softmax(query @ key.transpose(0, 1, 3, 2) * size**-0.5, axis=-1)
        met = dropout(weights) @ value
        return self.output(met.transpose(0, 2, 1, 3).reshape(batch, length, features))


@dataclass
class Encoder:
    """Attention and two dense layers, each added to what came in, and normed."""

    attention: Attention
    attention_norm: LayerNorm
    hidden: Dense
    output: Dense
    norm: LayerNorm

    def __call__(self, x, dropout):
        nn, _ = functions_of(x)
        x = self.attention_norm(x + dropout(self.attention(x, dropout)))
        return self.norm(x + dropout(self.output(nn.gelu(self.hidden(x), approximate=False))))


@dataclass
class Dropout:
    """Sets a part `rate` of the numbers to zero, others each time; none without a key."""

    key: Any
    rate: float = 0.1
    count: int = 0

    def __call__(self, x):
        if self.key is None:
            return x
        self.count += 1
        kept = jax.random.bernoulli(jax.random.fold_in(self.key, self.count), 1 - self.rate, x.shape)
        return x * kept * (1 / (1 - self.rate))


@dataclass
class Roberta:
    """Embeddings of tokens and places, encoders, and a score for each token of the vocabulary at each place."""

    tokens: Any  # [vocabulary, features]
    places: Any  # [longest, features]
    norm: LayerNorm
    encoders: list[Encoder]
    transform: Dense
    transform_norm: LayerNorm
    bias: Any  # [vocabulary]

    def __call__(self, tokens, key=None):
        dropout = Dropout(key)
        x = dropout(self.norm(self.tokens[tokens] + self.places[: tokens.shape[1]]))
        for encoder in self.encoders:
            x = encoder(x, dropout)
        nn, _ = functions_of(x)
        x = self.transform_norm(nn.gelu(self.transform(x), approximate=False))
        return x @ self.tokens.T + self.bias


def loss(model, tokens, labels, counts, key=None):
    """The mean cross-entropy at the places that count."""
    scores = model(tokens, key)
    nn, _ = functions_of(scores)
    chosen = nn.one_hot(labels, scores.shape[-1], dtype=scores.dtype)
    by_place = -(nn.log_softmax(scores) * chosen).sum(axis=-1)
    return (by_place * counts).sum() / counts.sum()


def train_step(model, adam, tokens, labels, counts, rate, key=None, precision="bfloat16"):
    """One step of training; changes `model` and `adam`, and gives the loss before it. No dropout without a key."""
    with pystage.autocast(precision):
        value, gradient = pystage.value_and_grad(loss)(model, tokens, labels, counts, key)
    adam.update(model, gradient, rate)
    return value


def masked(tokens, vocabulary, rng):
    """What a batch is trained on: masked tokens, labels, and which places count; `tokens`: int32 `[batch, length]`.

    Of 15 % of the places, 80 % get the mask, 10 % another word, and 10 % keep theirs.
    """
    counts = rng.random(tokens.shape) < 0.15
    counts[:, 0] = True  # at least one
    fate = rng.random(tokens.shape)
    others = rng.integers(FIRST_WORD, vocabulary, tokens.shape)
    read = np.where(counts & (fate < 0.8), MASK, np.where(counts & (fate >= 0.9), others, tokens))
    return [
        jnp.asarray(x, type_) for x, type_ in ((read, np.int32), (tokens, np.int32), (counts, np.float32))
    ]


def make_roberta(vocabulary=50265, longest=512, features=768, heads=12, hidden=3072, encoders=12, seed=0):
    """RoBERTa-base: 124.7 million numbers that learn. Smaller sizes: the same program on smaller arrays, or fewer layers.

    Without a seed: descriptions of arrays.
    """
    make = Maker(seed)

    def norm():
        return LayerNorm(make.full(1.0, features), make.full(0.0, features))

    def dense(inside, out):
        return make.dense(inside, out, scale=0.02)

    def encoder():
        attention = Attention(*[dense(features, features) for _ in range(4)], heads)
        return Encoder(attention, norm(), dense(features, hidden), dense(hidden, features), norm())

    tokens, places = make.normal(0.02, vocabulary, features), make.normal(0.02, longest, features)
    made = [encoder() for _ in range(encoders)]
    return Roberta(
        tokens, places, norm(), made, dense(features, features), norm(), make.full(0.0, vocabulary)
    )


def make_step(batch=8, length=512, seed=0, **sizes):
    """The arguments of `train_step`, without dropout; `sizes`: those of `make_roberta`."""
    model = make_roberta(seed=seed, **sizes)
    adam = Adam(zeros_like(model), zeros_like(model), keep_square=0.98, epsilon=1e-6, decay=0.01)
    vocabulary = model.tokens.shape[0]
    if seed is None:
        make = Maker(None)
        read = [make.integers(vocabulary, batch, length) for _ in range(2)] + [make.full(1.0, batch, length)]
    else:
        rng = np.random.default_rng(seed + 1)
        read = masked(rng.integers(FIRST_WORD, vocabulary, (batch, length)), vocabulary, rng)
    return model, adam, *read, 6e-4


def small():
    """The arguments of `train_step`, small enough for a test: one encoder of two heads."""
    return make_step(batch=2, length=6, vocabulary=11, longest=8, features=8, heads=2, hidden=12, encoders=1)


def small_with_dropout():
    """The same, with a key."""
    return *small(), jax.random.key(0)


PROGRAMS = [
    (train_step, small),
    (train_step, small_with_dropout),
    (loss, lambda: (small()[0], *small()[2:5])),
]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Lowers the step at full size, and runs it at a reduced one."""
    sizes = {"vocabulary": 1000, "longest": 64, "features": 64, "heads": 4, "hidden": 256, "encoders": 2}
    show("RoBERTa-base", train_step, make_step(seed=None), make_step(batch=8, length=64, **sizes))


if __name__ == "__main__":
    main()
