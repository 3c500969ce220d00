"""Losses, their gradients and steps of optimisers."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from . import Program, integers, normal

EXPERTS, CHOSEN = 4, 2


def experts_loss(weights, x, target):
    """A mixture of experts: each token goes to its two best ones."""
    gates = jax.nn.softmax(x @ weights["router"])
    best, which = jax.lax.top_k(gates, CHOSEN)
    best = best / best.sum(-1, keepdims=True)
    out = jnp.zeros_like(x)
    for e in range(EXPERTS):
        share = jnp.where(which == e, best, 0).sum(-1)
        hidden = jax.nn.relu(x @ weights["up"][e])
        out = out + share[:, None] * (hidden @ weights["down"][e])
    return jnp.mean((out - target) ** 2)


def experts(weights, x, target):
    return jax.value_and_grad(experts_loss)(weights, x, target)


def experts_loss_by_hand(weights, x, target):
    gates = jax.nn.softmax(x @ weights["router"])
    best, which = jax.lax.top_k(gates, CHOSEN)
    best = best / best.sum(-1, keepdims=True)

    def step(out, expert):
        e, up, down = expert
        share = jnp.where(which == e, best, 0).sum(-1)
        return out + share[:, None] * (jax.nn.relu(x @ up) @ down), None

    experts = jnp.arange(EXPERTS), weights["up"], weights["down"]
    out, _ = jax.lax.scan(step, jnp.zeros_like(x), experts)
    return jnp.mean((out - target) ** 2)


def experts_by_hand(weights, x, target):
    return jax.value_and_grad(experts_loss_by_hand)(weights, x, target)


def experts_inputs():
    return (
        {
            "router": normal(64, EXPERTS, scale=0.1),
            "up": normal(EXPERTS, 64, 128, scale=0.1),
            "down": normal(EXPERTS, 128, 64, scale=0.1),
        },
        normal(256, 64),
        normal(256, 64, seed=1),
    )


def routed_loss(weights, x, target):
    """The same in which each token is taken to its experts by itself."""
    gates = jax.nn.softmax(x @ weights["router"])
    best, which = jax.lax.top_k(gates, CHOSEN)
    best = best / best.sum(-1, keepdims=True)
    total = 0.0
    for t in range(x.shape[0]):
        out = jnp.zeros(x.shape[1])
        for k in range(CHOSEN):
            e = which[t, k]
            hidden = jax.nn.relu(x[t] @ weights["up"][e])
            out = out + best[t, k] * (hidden @ weights["down"][e])
        total = total + jnp.sum((out - target[t]) ** 2)
    return total / target.size


def routed(weights, x, target):
    return jax.value_and_grad(routed_loss)(weights, x, target)


def routed_loss_by_hand(weights, x, target):
    gates = jax.nn.softmax(x @ weights["router"])
    best, which = jax.lax.top_k(gates, CHOSEN)
    best = best / best.sum(-1, keepdims=True)

    def step(total, token):
        x, target, best, which = token
        out = jnp.zeros(x.shape)
        for k in range(CHOSEN):
            hidden = jax.nn.relu(x @ weights["up"][which[k]])
            out = out + best[k] * (hidden @ weights["down"][which[k]])
        return total + jnp.sum((out - target) ** 2), None

    total, _ = jax.lax.scan(step, jnp.float32(0), (x, target, best, which))
    return total / target.size


def routed_by_hand(weights, x, target):
    return jax.value_and_grad(routed_loss_by_hand)(weights, x, target)


def normalised(x, scale):
    return scale * (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(layer, x, heads):
    length, size = x.shape
    q, k, v = (
        (x @ layer[name]).reshape(length, heads, size // heads).transpose(1, 0, 2)
        for name in ("query", "key", "value")
    )
    scores = q @ k.transpose(0, 2, 1) / (size // heads) ** 0.5
    mask = jnp.tril(jnp.ones((length, length), bool))
    shares = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return (shares @ v).transpose(1, 0, 2).reshape(length, size) @ layer["output"]


def gpt_loss(weights, tokens):
    """A small GPT: the cross-entropy of the next token."""
    x = weights["embedding"][tokens[:-1]] + weights["position"][: len(tokens) - 1]
    for layer in weights["layers"]:
        x = x + attention(layer, normalised(x, layer["scale"]), 4)
        x = x + jax.nn.gelu(normalised(x, layer["scale_2"]) @ layer["up"]) @ layer["down"]
    logits = jax.nn.log_softmax(x @ weights["embedding"].T)
    return -jnp.mean(jnp.take_along_axis(logits, tokens[1:, None], axis=1))


def gpt(weights, tokens):
    return jax.value_and_grad(gpt_loss)(weights, tokens)


def gpt_inputs():
    size = 64

    def matrix(rows, columns, seed):
        return normal(rows, columns, scale=rows**-0.5, seed=seed)

    layers = [
        {
            **{
                name: matrix(size, size, 10 * i + j)
                for j, name in enumerate(("query", "key", "value", "output"))
            },
            "up": matrix(size, 4 * size, i),
            "down": matrix(4 * size, size, i),
            "scale": jnp.ones(size),
            "scale_2": jnp.ones(size),
        }
        for i in range(2)
    ]
    return {
        "embedding": normal(128, size, scale=0.1),
        "position": normal(65, size, scale=0.1),
        "layers": layers,
    }, integers(128, 65)


def attended(layer, x):
    """Masked attention of four heads, forward."""
    return attention(layer, x, 4)


def attended_inputs():
    names = ("query", "key", "value", "output")
    return {name: normal(64, 64, scale=0.2, seed=i) for i, name in enumerate(names)}, normal(128, 64)


def mlp_loss(weights, x, labels):
    for w, b in weights[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = weights[-1]
    logits = jax.nn.log_softmax(x @ w + b)
    return -jnp.mean(logits[jnp.arange(len(labels)), labels])


def adam(weights, means, squares, count, x, labels):
    """A step of Adam on a perceptron, weight by weight."""
    loss, slopes = jax.value_and_grad(mlp_loss)(weights, x, labels)
    count = count + 1
    new_weights, new_means, new_squares = [], [], []
    for layer, ms, ss, gs in zip(weights, means, squares, slopes):
        moved = []
        new_ms, new_ss = [], []
        for p, m, s, g in zip(layer, ms, ss, gs):
            m = 0.9 * m + 0.1 * g
            s = 0.999 * s + 0.001 * g**2
            moved.append(p - 1e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8))
            new_ms.append(m)
            new_ss.append(s)
        new_weights.append(tuple(moved))
        new_means.append(tuple(new_ms))
        new_squares.append(tuple(new_ss))
    return new_weights, new_means, new_squares, count, loss


def adam_by_hand(weights, means, squares, count, x, labels):
    loss, slopes = jax.value_and_grad(mlp_loss)(weights, x, labels)
    count = count + 1
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
    squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, squares, slopes)

    def moved(p, m, s):
        return p - 1e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

    return jax.tree.map(moved, weights, means, squares), means, squares, count, loss


def adam_inputs():
    sizes = 64, 128, 128, 10
    weights = [(normal(a, b, scale=a**-0.5), jnp.zeros(b)) for a, b in itertools.pairwise(sizes)]
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return weights, zeros, zeros, jnp.int32(0), normal(64, 64), integers(10, 64)


def logistic(x, y):
    """Logistic regression by a hundred steps of gradient descent, in NumPy."""
    w = np.zeros(x.shape[1], np.float32)
    b = np.float32(0)
    losses = np.zeros(100, np.float32)
    for i in range(100):
        p = 1 / (1 + np.exp(-(np.dot(x, w) + b)))
        losses[i] = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
        error = p - y
        w -= 0.1 * np.dot(x.T, error) / len(y)
        b -= 0.1 * error.mean()
    return w, b, losses


def logistic_by_hand(x, y):
    def step(carry, _):
        w, b = carry
        p = 1 / (1 + jnp.exp(-(x @ w + b)))
        loss = -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))
        error = p - y
        return (w - 0.1 * (x.T @ error) / len(y), b - 0.1 * error.mean()), loss

    start = jnp.zeros(x.shape[1]), jnp.float32(0)
    (w, b), losses = jax.lax.scan(step, start, length=100)
    return w, b, losses


def logistic_inputs():
    x = normal(500, 20)
    return x, (x @ normal(20) > 0).astype(jnp.float32)


PROGRAMS = (
    Program("mixture of experts, gradient", experts, experts_by_hand, experts_inputs),
    Program("the same, token by token", routed, routed_by_hand, experts_inputs),
    Program("GPT, loss and gradient", gpt, gpt, gpt_inputs),
    Program("masked attention", attended, attended, attended_inputs),
    Program("Adam on a perceptron", adam, adam_by_hand, adam_inputs),
    Program("logistic regression", logistic, logistic_by_hand, logistic_inputs),
)
