"""The lossy half of JPEG: 8x8 DCT, quantisation, zigzag and run lengths, and back to an image."""

import numpy as np

Q = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61],
        [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56],
        [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77],
        [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101],
        [72, 92, 95, 98, 112, 100, 103, 99],
    ]
)


def dct_matrix(n=8):
    D = np.zeros((n, n))
    for k in range(n):
        for i in range(n):
            D[k, i] = np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    D *= np.sqrt(2 / n)
    D[0] /= np.sqrt(2)
    return D


def zigzag_order(n=8):
    cells = [(i, j) for i in range(n) for j in range(n)]
    return sorted(cells, key=lambda c: (c[0] + c[1], c[0] if (c[0] + c[1]) % 2 else c[1]))


def quality_table(quality):
    scale = 5000 / quality if quality < 50 else 200 - 2 * quality
    return np.clip(np.floor((Q * scale + 50) / 100), 1, 255)


def run_lengths(coeffs):
    """Pairs (zeros before it, value) as in the entropy coder, (0, 0) marks the end of the block."""
    pairs = []
    zeros = 0
    for c in coeffs:
        if c == 0:
            zeros += 1
        else:
            while zeros > 15:
                pairs.append((15, 0))
                zeros -= 16
            pairs.append((zeros, int(c)))
            zeros = 0
    pairs.append((0, 0))
    return pairs


def expand(pairs, n=64):
    out = np.zeros(n)
    pos = 0
    for zeros, value in pairs:
        if (zeros, value) == (0, 0):
            break
        pos += zeros
        out[pos] = value
        pos += 1
    return out


def main(img, quality):
    D = dct_matrix()
    order = zigzag_order()
    table = quality_table(quality)
    rec = np.zeros(img.shape)
    n_pairs = 0
    for y in range(0, img.shape[0], 8):
        for x in range(0, img.shape[1], 8):
            block = img[y : y + 8, x : x + 8].astype(float) - 128
            q = np.round(D @ block @ D.T / table)
            pairs = run_lengths([q[i, j] for i, j in order])
            n_pairs += len(pairs)

            flat = expand(pairs)
            back = np.zeros((8, 8))
            for k, (i, j) in enumerate(order):
                back[i, j] = flat[k]
            rec[y : y + 8, x : x + 8] = D.T @ (back * table) @ D + 128
    rec = np.clip(np.rint(rec), 0, 255).astype(np.uint8)
    mse = np.mean((rec.astype(float) - img) ** 2)
    return rec, n_pairs, mse


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:96, 0:128]
    img = 128 + 60 * np.sin(x / 13) * np.cos(y / 9) + 40 * (x > y) + 4 * rng.standard_normal((96, 128))
    return np.clip(img, 0, 255).astype(np.uint8), 60


if __name__ == "__main__":
    rec, n_pairs, mse = main(*inputs())
    print(f"{n_pairs} pairs for {rec.size} pixels, mse {mse:.2f}")
