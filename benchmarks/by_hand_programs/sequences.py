"""Programs that go along a sequence."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from . import Program, integers, normal, uniform

LENGTH, HEADS, WIDTH = 64, 4, 16
SIZE = HEADS * WIDTH


def decoding(weights, token, steps):
    """Greedy decoding with one layer of attention, its keys and values kept in arrays."""
    keys = np.zeros((LENGTH, HEADS, WIDTH), np.float32)
    values = np.zeros((LENGTH, HEADS, WIDTH), np.float32)
    tokens = np.zeros(LENGTH, np.int32)
    for t in range(LENGTH):
        x = weights["embedding"][token]
        q = (x @ weights["query"]).reshape(HEADS, WIDTH)
        keys[t] = (x @ weights["key"]).reshape(HEADS, WIDTH)
        values[t] = (x @ weights["value"]).reshape(HEADS, WIDTH)
        scores = jnp.einsum("hd,thd->ht", q, keys[: t + 1]) / WIDTH**0.5
        context = jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values[: t + 1])
        x = x + context.reshape(SIZE) @ weights["output"]
        token = jnp.argmax(x @ weights["embedding"].T)
        tokens[t] = token
    return tokens


def decoding_by_hand(weights, token, steps):
    def step(carry, t):
        keys, values, token = carry
        x = weights["embedding"][token]
        q = (x @ weights["query"]).reshape(HEADS, WIDTH)
        keys = keys.at[t].set((x @ weights["key"]).reshape(HEADS, WIDTH))
        values = values.at[t].set((x @ weights["value"]).reshape(HEADS, WIDTH))
        scores = jnp.einsum("hd,thd->ht", q, keys) / WIDTH**0.5
        scores = jnp.where(jnp.arange(LENGTH) <= t, scores, -jnp.inf)
        context = jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values)
        x = x + context.reshape(SIZE) @ weights["output"]
        token = jnp.argmax(x @ weights["embedding"].T).astype(jnp.int32)
        return (keys, values, token), token

    cache = jnp.zeros((LENGTH, HEADS, WIDTH))
    return jax.lax.scan(step, (cache, cache, token), jnp.arange(LENGTH))[1]


def masked_decoding(weights, token, steps):
    """The same with masked scores of the whole cache, as one writes it for JAX, in a loop of computed length."""
    keys = jnp.zeros((LENGTH, HEADS, WIDTH))
    values = jnp.zeros((LENGTH, HEADS, WIDTH))
    tokens = jnp.zeros(LENGTH, jnp.int32)
    for t in range(steps):
        x = weights["embedding"][token]
        q = (x @ weights["query"]).reshape(HEADS, WIDTH)
        keys = keys.at[t].set((x @ weights["key"]).reshape(HEADS, WIDTH))
        values = values.at[t].set((x @ weights["value"]).reshape(HEADS, WIDTH))
        scores = jnp.einsum("hd,thd->ht", q, keys) / WIDTH**0.5
        scores = jnp.where(jnp.arange(LENGTH) <= t, scores, -jnp.inf)
        context = jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values)
        x = x + context.reshape(SIZE) @ weights["output"]
        token = jnp.argmax(x @ weights["embedding"].T)
        tokens = tokens.at[t].set(token)
    return tokens


def masked_decoding_by_hand(weights, token, steps):
    def step(t, carry):
        keys, values, token, tokens = carry
        x = weights["embedding"][token]
        q = (x @ weights["query"]).reshape(HEADS, WIDTH)
        keys = keys.at[t].set((x @ weights["key"]).reshape(HEADS, WIDTH))
        values = values.at[t].set((x @ weights["value"]).reshape(HEADS, WIDTH))
        scores = jnp.einsum("hd,thd->ht", q, keys) / WIDTH**0.5
        scores = jnp.where(jnp.arange(LENGTH) <= t, scores, -jnp.inf)
        context = jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values)
        x = x + context.reshape(SIZE) @ weights["output"]
        token = jnp.argmax(x @ weights["embedding"].T).astype(jnp.int32)
        return keys, values, token, tokens.at[t].set(token)

    cache = jnp.zeros((LENGTH, HEADS, WIDTH))
    start = (cache, cache, token, jnp.zeros(LENGTH, jnp.int32))
    return jax.lax.fori_loop(0, steps, step, start)[-1]


def decoding_inputs():
    names = ("query", "key", "value", "output")
    weights = {name: normal(SIZE, SIZE, scale=SIZE**-0.5, seed=i) for i, name in enumerate(names)}
    return weights | {"embedding": normal(256, SIZE, seed=9)}, jnp.int32(3), LENGTH


def gru(weights, xs):
    """A gated recurrent unit over time; the states of all steps."""
    h = jnp.zeros((xs.shape[1], weights["hidden"].shape[0]))
    states = []
    for x in xs:
        gates_x = x @ weights["input"] + weights["bias"]
        gates_h = h @ weights["hidden"]
        rx, zx, nx = jnp.split(gates_x, 3, axis=-1)
        rh, zh, nh = jnp.split(gates_h, 3, axis=-1)
        r = jax.nn.sigmoid(rx + rh)
        z = jax.nn.sigmoid(zx + zh)
        n = jnp.tanh(nx + r * nh)
        h = (1 - z) * n + z * h
        states.append(h)
    return h, jnp.stack(states)


def gru_by_hand(weights, xs):
    def step(h, x):
        gates_x = x @ weights["input"] + weights["bias"]
        gates_h = h @ weights["hidden"]
        rx, zx, nx = jnp.split(gates_x, 3, axis=-1)
        rh, zh, nh = jnp.split(gates_h, 3, axis=-1)
        r = jax.nn.sigmoid(rx + rh)
        z = jax.nn.sigmoid(zx + zh)
        n = jnp.tanh(nx + r * nh)
        h = (1 - z) * n + z * h
        return h, h

    return jax.lax.scan(step, jnp.zeros((xs.shape[1], weights["hidden"].shape[0])), xs)


def gru_inputs():
    return {
        "input": normal(32, 192, scale=0.2),
        "hidden": normal(64, 192, scale=0.2),
        "bias": normal(192),
    }, normal(100, 8, 32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_numpy(weights, xs):
    """The same in NumPy, its states stored into an array."""
    hidden = weights["hidden"]
    h = np.zeros((xs.shape[1], hidden.shape[0]), np.float32)
    states = np.zeros((len(xs), *h.shape), np.float32)
    size = hidden.shape[0]
    for t in range(len(xs)):
        gx = np.dot(xs[t], weights["input"]) + weights["bias"]
        gh = np.dot(h, hidden)
        r = sigmoid(gx[:, :size] + gh[:, :size])
        z = sigmoid(gx[:, size : 2 * size] + gh[:, size : 2 * size])
        n = np.tanh(gx[:, 2 * size :] + r * gh[:, 2 * size :])
        h = (1 - z) * n + z * h
        states[t] = h
    return h, states


class Cell:
    """The weights of a long short-term memory, and its state."""

    def __init__(self, weights, batch):
        self.weights = weights
        self.h = jnp.zeros((batch, weights["hidden"].shape[0]))
        self.c = jnp.zeros((batch, weights["hidden"].shape[0]))

    def step(self, x):
        gates = x @ self.weights["input"] + self.h @ self.weights["hidden"] + self.weights["bias"]
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        self.c = jax.nn.sigmoid(f) * self.c + jax.nn.sigmoid(i) * jnp.tanh(g)
        self.h = jax.nn.sigmoid(o) * jnp.tanh(self.c)


def lstm(weights, xs):
    """A long short-term memory over time, an object with its state."""
    cell = Cell(weights, xs.shape[1])
    for t in range(xs.shape[0]):
        cell.step(xs[t])
    return cell.h, cell.c


def lstm_by_hand(weights, xs):
    def step(carry, x):
        h, c = carry
        gates = x @ weights["input"] + h @ weights["hidden"] + weights["bias"]
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zeros = jnp.zeros((xs.shape[1], weights["hidden"].shape[0]))
    return jax.lax.scan(step, (zeros, zeros), xs)[0]


def lstm_inputs():
    return {
        "input": normal(32, 256, scale=0.2),
        "hidden": normal(64, 256, scale=0.2),
        "bias": normal(256),
    }, normal(100, 8, 32)


def kalman(f, h, q, r, observed):
    """A Kalman filter; the means of all steps and the log-likelihood."""
    n = f.shape[0]
    mean, cov = np.zeros(n, np.float32), np.eye(n, dtype=np.float32)
    means = np.zeros((len(observed), n), np.float32)
    total = np.float32(0)
    for t in range(len(observed)):
        mean, cov = f @ mean, f @ cov @ f.T + q
        error = observed[t] - h @ mean
        s = h @ cov @ h.T + r
        inverse = np.linalg.inv(s)
        gain = cov @ h.T @ inverse
        mean, cov = mean + gain @ error, cov - gain @ h @ cov
        means[t] = mean
        total -= 0.5 * (error @ inverse @ error + np.log(np.linalg.det(s)))
    return means, total


def kalman_by_hand(f, h, q, r, observed):
    n = f.shape[0]

    def step(carry, y):
        mean, cov, total = carry
        mean, cov = f @ mean, f @ cov @ f.T + q
        error = y - h @ mean
        s = h @ cov @ h.T + r
        inverse = jnp.linalg.inv(s)
        gain = cov @ h.T @ inverse
        mean, cov = mean + gain @ error, cov - gain @ h @ cov
        total = total - 0.5 * (error @ inverse @ error + jnp.log(jnp.linalg.det(s)))
        return (mean, cov, total), mean

    (_, _, total), means = jax.lax.scan(step, (jnp.zeros(n), jnp.eye(n), jnp.float32(0)), observed)
    return means, total


def kalman_inputs():
    f = jnp.eye(4) + 0.1 * jnp.eye(4, k=2)
    h = jnp.eye(2, 4)
    return f, h, 0.01 * jnp.eye(4), 0.1 * jnp.eye(2), normal(200, 2)


def viterbi(observed, start, transition, emission):
    """The likeliest path through the states of a hidden Markov model."""
    steps, states = len(observed), len(start)
    score = np.log(start) + np.log(emission[:, observed[0]])
    previous = np.zeros((steps, states), np.int32)
    for t in range(1, steps):
        candidates = score[:, None] + np.log(transition)
        previous[t] = np.argmax(candidates, axis=0)
        score = np.max(candidates, axis=0) + np.log(emission[:, observed[t]])
    path = np.zeros(steps, np.int32)
    path[-1] = np.argmax(score)
    for t in range(steps - 1, 0, -1):
        path[t - 1] = previous[t, path[t]]
    return path, score.max()


def viterbi_by_hand(observed, start, transition, emission):
    def forward(score, seen):
        candidates = score[:, None] + jnp.log(transition)
        return jnp.max(candidates, axis=0) + jnp.log(emission[:, seen]), jnp.argmax(candidates, axis=0)

    def backward(state, previous):
        state = previous[state]
        return state, state

    first = jnp.log(start) + jnp.log(emission[:, observed[0]])
    score, previous = jax.lax.scan(forward, first, observed[1:])
    last = jnp.argmax(score)
    _, path = jax.lax.scan(backward, last, previous, reverse=True)
    return jnp.append(path, last).astype(jnp.int32), score.max()


def viterbi_inputs():
    def rows(*shape):
        x = uniform(*shape) + 0.1
        return x / x.sum(-1, keepdims=True)

    return integers(20, 500), rows(16), rows(16, 16), rows(16, 20)


PROGRAMS = (
    Program("KV-cache decoding, slices", decoding, decoding_by_hand, decoding_inputs),
    Program("KV-cache decoding, masks", masked_decoding, masked_decoding_by_hand, decoding_inputs),
    Program("GRU, a list of states", gru, gru_by_hand, gru_inputs),
    Program("GRU in NumPy", gru_numpy, gru_by_hand, gru_inputs),
    Program("LSTM, an object", lstm, lstm_by_hand, lstm_inputs),
    Program("Kalman filter", kalman, kalman_by_hand, kalman_inputs),
    Program("Viterbi", viterbi, viterbi_by_hand, viterbi_inputs),
)
