"""A recurrent network learns to write this project's documentation, character by character.

In: the text of `docs/*.md`. Out: a trained network, and some text that it makes up. The whole training loop is one
HLO program: sequences of the text one after another, the loop over the characters of each, its gradient by
`pystage.value_and_grad`, Adam, and a line per epoch that is printed while the program runs. All of it is plain NumPy:
dataclasses, loops, and arrays that are changed in place.

A text of thousands of characters is too long to go back through. So it is cut into sequences of 32: the state goes on
from one to the next, the gradient stops at the first character of each ("truncated backpropagation through time").

Sources: S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory" (1997), with the forget gates of F. Gers and others
(2000); the optimiser is D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980).

Run it: `python examples/lstm.py`
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pystage

DOCS = Path(__file__).parents[1] / "docs"


def sigmoid(x):
    """From 0 to 1: how far a gate is open."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


def log_softmax(scores):
    """The logarithms of the probabilities that scores stand for, along the last axis."""
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    return scores - np.log(np.sum(np.exp(scores), axis=-1, keepdims=True))


@dataclass
class State:
    """What the network remembers of each text: what it keeps, and what it shows of that; both `[batch, size]`."""

    cell: np.ndarray
    hidden: np.ndarray


@dataclass
class Network:
    """One LSTM layer between an embedding of the characters and a score for each as the next one."""

    embedding: np.ndarray  # [characters, size]
    weight: np.ndarray  # [2 size, 4 size]: of the input and the hidden state, for the four gates
    bias: np.ndarray  # [4 size]
    output: np.ndarray  # [size, characters]

    def __call__(self, state, codes):
        """The state after one more character of each text, and the scores of the next; `codes`: `[batch]`."""
        size = state.cell.shape[1]
        seen = np.concatenate([self.embedding[codes], state.hidden], axis=1)
        gates = seen @ self.weight + self.bias
        take, keep, show = [sigmoid(gates[:, i * size : (i + 1) * size]) for i in range(3)]
        cell = keep * state.cell + take * np.tanh(gates[:, 3 * size :])
        hidden = show * np.tanh(cell)
        return State(cell, hidden), hidden @ self.output

    def arrays(self):
        """All arrays that learn."""
        return [self.embedding, self.weight, self.bias, self.output]


def bits(network, state, codes):
    """The mean bits per character that the network needs to tell the next ones, and the state after them.

    `codes`: `[steps + 1, batch]`; each row is read, and predicts the one below it.
    """
    steps, batch = codes.shape[0] - 1, codes.shape[1]
    total = np.float32(0.0)
    for step in range(steps):
        state, scores = network(state, codes[step])
        chosen = log_softmax(scores)[np.arange(batch), codes[step + 1]]
        total = total - np.sum(chosen)
    return total / np.float32(steps * batch * np.log(2.0)), state


def adam(network, gradient, mean, square, steps, rate):
    """Moves every weight against its gradient; the gradient is made shorter where it is longer than one."""
    length = np.sqrt(sum([np.sum(slope * slope) for slope in gradient.arrays()]))
    shorter = 1.0 / np.maximum(length, 1.0)
    scale = rate * (1 - 0.999**steps) ** 0.5 / (1 - 0.9**steps)
    for weight, slope, first, second in zip(
        network.arrays(), gradient.arrays(), mean.arrays(), square.arrays()
    ):
        slope = slope * shorter
        first += 0.1 * (slope - first)
        second += 0.001 * (slope * slope - second)
        weight -= scale * first / (np.sqrt(second) + 1e-8)


def train(network, mean, square, sequences, epochs=24, rate=5e-3):
    """Trains `network` in place; returns the bits per character of each epoch.

    `mean` and `square`: Adam's means of the gradient and of its square, as networks. `sequences`: int32
    `[count, steps + 1, batch]`, each of which begins with the last characters of the one before.
    """
    size, batch = network.output.shape[0], sequences.shape[2]
    losses = np.zeros(epochs)
    steps = 0
    for epoch in range(epochs):
        state = State(np.zeros((batch, size), np.float32), np.zeros((batch, size), np.float32))
        total = 0.0
        for codes in sequences:
            slope = pystage.value_and_grad(bits, has_aux=True)
            (loss, state), gradient = slope(network, state, codes)
            steps += 1
            adam(network, gradient, mean, square, steps, rate * 0.92**epoch)
            total += float(loss)
        losses[epoch] = total / len(sequences)
        print(f"epoch {epoch + 1:2d}: {losses[epoch]:.3f} bits per character")
    return losses


def write(network, codes, chances, length):
    """Reads `codes`, and then makes up `length` more: int64. `chances`: as many numbers between 0 and 1."""
    size = network.output.shape[0]
    state = State(np.zeros((1, size), np.float32), np.zeros((1, size), np.float32))
    scores = np.zeros((1, network.output.shape[1]), np.float32)
    for code in codes:
        state, scores = network(state, np.array([code]))
    written = np.zeros(length, np.int64)
    for i in range(length):
        likely = np.cumsum(np.exp(log_softmax(1.3 * scores)[0]))
        written[i] = np.searchsorted(likely, chances[i] * likely[-1])
        state, scores = network(state, written[i : i + 1])
    return written


def make_network(characters, size=128, seed=0, zeros=False):
    """A network with small random weights, gates that keep what they hold; `zeros`: with zeros everywhere."""
    rng = np.random.default_rng(seed)

    def normal(rows, columns):
        scale = 0.0 if zeros else rows**-0.5
        return (rng.standard_normal((rows, columns)) * scale).astype(np.float32)

    bias = np.zeros(4 * size, np.float32)
    bias[size : 2 * size] = 0.0 if zeros else 1.0
    return Network(normal(characters, size), normal(2 * size, 4 * size), bias, normal(size, characters))


def documentation():
    """The text of the documentation, and the characters that occur in it."""
    text = "\n".join([path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))])
    return text, sorted(set(text))


def encode(text, characters):
    """The numbers of the characters of a text."""
    numbers = {character: number for number, character in enumerate(characters)}
    return np.array([numbers[character] for character in text], np.int32)


def sequences_of(codes, batch, steps):
    """The text as `batch` texts side by side, cut into sequences: `[count, steps + 1, batch]`."""
    count = (len(codes) // batch - 1) // steps
    side_by_side = codes[: len(codes) // batch * batch].reshape(batch, -1).T
    return np.stack([side_by_side[i * steps : (i + 1) * steps + 1] for i in range(count)])


def start(batch=16, steps=32):
    """The arguments of `train`, but for those with defaults, and the characters."""
    text, characters = documentation()
    networks = [make_network(len(characters), zeros=zeros) for zeros in (False, True, True)]
    return (*networks, sequences_of(encode(text, characters), batch, steps)), characters


def few_characters():
    """A small network and the beginning of the text, two epochs of three sequences."""
    text, characters = documentation()
    networks = [make_network(len(characters), size=6, zeros=zeros) for zeros in (False, True, True)]
    return (*networks, sequences_of(encode(text[:100], characters), batch=4, steps=8), 2)


def few_words():
    """A small network that knows nothing, and what it is to go on from."""
    characters = sorted(set("plain Python"))
    return make_network(len(characters), size=6), encode("plain", characters), np.linspace(0.05, 0.95, 9), 9


PROGRAMS = [(train, few_characters), (write, few_words)]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Compiles the training loop, runs it, and shows what the network writes."""
    arguments, characters = start()
    sequences = arguments[3]
    print(
        f"{sequences[:, 1:].size} characters, {len(characters)} different; {len(sequences)} sequences an epoch"
    )
    begin = time.perf_counter()
    compiled = pystage.compile(train).lower(*arguments).compile()
    print(
        f"compiled in {time.perf_counter() - begin:.1f} s: {compiled.instruction_counts().total} instructions"
    )
    begin = time.perf_counter()
    compiled(*arguments)
    print(f"trained in {time.perf_counter() - begin:.1f} s")
    chances = np.random.default_rng(1).random(400)
    written = pystage.compile(write)(arguments[0], encode("A loop ", characters), chances, len(chances))
    print("A loop " + "".join([characters[code] for code in written]))


if __name__ == "__main__":
    main()
