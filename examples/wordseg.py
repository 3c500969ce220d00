"""A language model that finds the words: how likely is a text without spaces, however it is cut into words?

In: a text of characters. Out: the logarithm of its probability, summed over all ways to cut it into words of bounded
length, and its gradient. One LSTM reads the text; from what it knows where a word begins, another one spells the word
character by character, until it says that the word ends. The sum over all cuts is a dynamic program: the probability of
a text is that of each beginning times that of the last word. It is plain NumPy, in nested loops over ends and starts.

Sources: K. Kawakami, C. Dyer, P. Blunsom, "Learning to Discover, Ground and Use Words with Segmental Neural Language
Models" (ACL 2019); it is one of the programs of A. Suhan and others, "LazyTensor: combining eager execution with
domain-specific compilers" (arXiv:2102.13267), table 4.

Run it: `python examples/wordseg.py`
"""

import time

import numpy as np

import pystage

TEXT = "itwasthebestoftimesitwastheworstoftimesitwastheageofwisdomitwastheageoffoolishness"


def sigmoid(x):
    """From 0 to 1: how far a gate is open."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


def log_softmax(scores):
    """The logarithms of the probabilities that scores stand for."""
    shifted = scores - np.max(scores)
    return shifted - np.log(np.sum(np.exp(shifted)))


def lstm(weight, bias, state, x):
    """The state of an LSTM, what it keeps and what it shows, after it has seen `x`; all of them `[size]`."""
    cell, hidden = state
    size = len(cell)
    gates = np.concatenate([x, hidden]) @ weight + bias
    take, keep, show = [sigmoid(gates[i * size : (i + 1) * size]) for i in range(3)]
    cell = keep * cell + take * np.tanh(gates[3 * size :])
    return cell, show * np.tanh(cell)


def impossible(count):
    """So many logarithms of zero, to which probabilities are to be added."""
    return np.full(count, -1e30, np.float32)


def log_likelihood(weights, codes, longest=4):
    """The log-probability of a text, `codes`: integers `[length]`; words have up to `longest` characters."""
    embedding, output = weights["embedding"], weights["output"]
    length, end_of_word = len(codes), len(embedding) - 1
    cell = hidden = np.zeros(embedding.shape[1], np.float32)
    sums = impossible(length + 1)  # of all ways to cut what stands before each place
    sums[0] = 0.0
    for start in range(length):
        state = cell, hidden
        word = sums[start]
        previous = end_of_word
        for end in range(start, min(start + longest, length)):
            state = lstm(weights["spell"], weights["spell_bias"], state, embedding[previous])
            word = word + log_softmax(state[1] @ output)[codes[end]]
            previous = codes[end]
            last = lstm(weights["spell"], weights["spell_bias"], state, embedding[previous])
            whole = word + log_softmax(last[1] @ output)[end_of_word]
            sums[end + 1] = np.logaddexp(sums[end + 1], whole)
        cell, hidden = lstm(weights["read"], weights["read_bias"], (cell, hidden), embedding[codes[start]])
    return sums[length]


def make_weights(characters, size, seed=0):
    """Small random weights, as a dict of float32 arrays."""
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return (rng.standard_normal(shape) * shape[0] ** -0.5).astype(np.float32)

    return {
        "embedding": normal(characters + 1, size),
        "read": normal(2 * size, 4 * size),
        "read_bias": np.zeros(4 * size, np.float32),
        "spell": normal(2 * size, 4 * size),
        "spell_bias": np.zeros(4 * size, np.float32),
        "output": normal(size, characters + 1),
    }


def encode(text):
    """The numbers of the characters of a text, `[length]`, and the characters."""
    characters = sorted(set(text))
    return np.array([characters.index(character) for character in text], np.int32), characters


def start(length, size=64):
    """Weights, and so many characters of the text."""
    codes, characters = encode(TEXT)
    return make_weights(len(characters), size), codes[:length]


def few_characters():
    """A small network and the beginning of the text."""
    return start(5, size=4)


PROGRAMS = [(log_likelihood, few_characters)]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Compiles the model and its gradient, and learns the text by heart."""
    weights, codes = start(len(TEXT))
    slope = pystage.value_and_grad(log_likelihood)
    begin = time.perf_counter()
    slope(weights, codes)
    print(f"compiled in {time.perf_counter() - begin:.1f} s")
    begin = time.perf_counter()
    for step in range(61):
        value, gradient = slope(weights, codes)
        if step % 20 == 0:
            print(f"step {step:2d}: {-value / len(codes) / np.log(2.0):.3f} bits per character")
        for name, array in weights.items():
            array += 0.01 * gradient[name]
    print(f"61 steps in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
