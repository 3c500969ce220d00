"""Huffman coding of bytes: the tree, its canonical codes, the packed bits, and the text decoded again."""

import heapq
import itertools

import numpy as np


class Leaf:
    def __init__(self, symbol):
        self.symbol = symbol

    def walk(self, depth, lengths):
        lengths[self.symbol] = max(depth, 1)


class Branch:
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def walk(self, depth, lengths):
        self.left.walk(depth + 1, lengths)
        self.right.walk(depth + 1, lengths)


def code_lengths(data):
    counts = np.bincount(data, minlength=256)
    tie = itertools.count()
    heap = [(int(counts[s]), next(tie), Leaf(int(s))) for s in np.flatnonzero(counts)]
    heapq.heapify(heap)
    while len(heap) > 1:
        n1, _, a = heapq.heappop(heap)
        n2, _, b = heapq.heappop(heap)
        heapq.heappush(heap, (n1 + n2, next(tie), Branch(a, b)))
    lengths = {}
    heap[0][2].walk(0, lengths)
    return lengths


def canonical(lengths):
    codes = {}
    code = 0
    previous = 0
    for symbol, n in sorted(lengths.items(), key=lambda kv: (kv[1], kv[0])):
        code <<= n - previous
        codes[symbol] = (code, n)
        code += 1
        previous = n
    return codes


def encode(data, codes):
    bits = []
    for s in data:
        code, n = codes[int(s)]
        for k in range(n - 1, -1, -1):
            bits.append((code >> k) & 1)
    return np.packbits(bits), len(bits)


def decode(packed, n_bits, codes):
    table = {(n, code): s for s, (code, n) in codes.items()}
    out = []
    code = n = 0
    for bit in np.unpackbits(packed)[:n_bits]:
        code = (code << 1) | int(bit)
        n += 1
        symbol = table.get((n, code))
        if symbol is not None:
            out.append(symbol)
            code = n = 0
    return np.array(out, dtype=np.uint8)


def main(data):
    codes = canonical(code_lengths(data))
    packed, n_bits = encode(data, codes)
    back = decode(packed, n_bits, codes)
    p = np.bincount(data) / len(data)
    p = p[p > 0]
    entropy = -np.sum(p * np.log2(p))
    return packed, n_bits / len(data), entropy, bool(np.array_equal(back, data)), codes


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    letters = np.frombuffer(b"etaoinshrdlu cmfwypvbgkjqxz.", dtype=np.uint8)
    p = 1 / np.arange(1, len(letters) + 1)
    return (rng.choice(letters, 5000, p=p / p.sum()),)


if __name__ == "__main__":
    packed, rate, entropy, ok, _ = main(*inputs())
    print(f"{len(packed)} bytes, {rate:.4f} bits per symbol, entropy {entropy:.4f}, round trip {ok}")
