"""LZW with codes of growing width over an array of character codes: compressed, decompressed, compared."""

import numpy as np


def compress(data, max_bits=12):
    table = {(s,): s for s in range(256)}
    out = []
    w = ()
    for c in data.tolist():
        wc = (*w, c)
        if wc in table:
            w = wc
            continue
        out.append(table[w])
        if len(table) < 1 << max_bits:
            table[wc] = len(table)
        w = (c,)
    if w:
        out.append(table[w])
    return out, len(table)


def decompress(codes, max_bits=12):
    table = [[s] for s in range(256)]
    prev = table[codes[0]]
    out = list(prev)
    for code in codes[1:]:
        if code < len(table):
            entry = table[code]
        elif code == len(table):
            entry = [*prev, prev[0]]
        else:
            raise ValueError(f"bad code {code}")
        out.extend(entry)
        if len(table) < 1 << max_bits:
            table.append([*prev, entry[0]])
        prev = entry
    return np.array(out, dtype=np.uint8)


def bit_cost(codes):
    """Bits when the width of a code grows with the table."""
    total = 0
    width = 9
    size = 256
    for _ in codes:
        total += width
        size += 1
        if size >= 1 << width and width < 12:
            width += 1
    return total


def main(data):
    codes, size = compress(data)
    restored = decompress(codes)
    if not np.array_equal(restored, data):
        raise AssertionError("round trip failed")
    bits = bit_cost(codes)
    ratio = 8 * len(data) / bits
    phrases = np.flatnonzero(np.array(codes) >= 256)
    literal_run = np.max(np.diff(phrases, prepend=-1)) - 1
    return np.array(codes), size, bits, ratio, int(literal_run)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    vocabulary = ["".join(rng.choice(list("abcdefghijklmnop"), n)) for n in rng.integers(2, 8, 60)]
    text = " ".join(vocabulary[i] for i in np.minimum(rng.geometric(0.07, 4000), 60) - 1)
    return (np.frombuffer(text.encode(), dtype=np.uint8),)


if __name__ == "__main__":
    codes, size, bits, ratio, run = main(*inputs())
    print(f"{len(codes)} codes, table of {size}, ratio {ratio:.2f}, at most {run} literals in a row")
