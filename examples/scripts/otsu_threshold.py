"""Otsu's threshold of a grey image, the binary mask it gives and the share of foreground in each tile."""

import numpy as np


def histogram(img, bins=256):
    hist = np.zeros(bins, dtype=int)
    for row in img:
        for v in row:
            hist[v] += 1
    return hist


def otsu(hist):
    total = hist.sum()
    sum_all = float(np.dot(np.arange(len(hist)), hist))
    w_b = 0
    sum_b = 0.0
    best, best_t = -1.0, 0
    for t in range(len(hist)):
        w_b += hist[t]
        if w_b == 0:
            continue
        w_f = total - w_b
        if w_f == 0:
            break
        sum_b += t * hist[t]
        m_b = sum_b / w_b
        m_f = (sum_all - sum_b) / w_f
        between = w_b * w_f * (m_b - m_f) ** 2
        if between > best:
            best = between
            best_t = t
    return best_t


def tile_fractions(mask, size):
    h, w = mask.shape
    out = []
    for y in range(0, h, size):
        out.append([mask[y : y + size, x : x + size].mean() for x in range(0, w, size)])
    return np.array(out)


def main(img, tile):
    hist = histogram(img)
    t = otsu(hist)
    mask = img > t
    return t, mask, tile_fractions(mask, tile)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:160, 0:192]
    img = 60 + 12 * rng.standard_normal((160, 192))
    for _ in range(6):
        cy, cx, r = rng.uniform(10, 150), rng.uniform(10, 182), rng.uniform(5, 15)
        img[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] += 90
    return np.clip(img, 0, 255).astype(np.uint8), 16


if __name__ == "__main__":
    t, mask, tiles = main(*inputs())
    print("threshold", t, "foreground", mask.mean())
