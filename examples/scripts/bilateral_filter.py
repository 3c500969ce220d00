"""Bilateral filter of a noisy grey image, pixel by pixel, and the PSNR against the clean one before and after."""

import math

import numpy as np


def gaussian(x, sigma):
    return math.exp(-(x * x) / (2 * sigma * sigma))


def bilateral(img, radius, sigma_s, sigma_r):
    h, w = img.shape
    out = np.zeros_like(img)
    spatial = {}
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            spatial[dy, dx] = gaussian(math.hypot(dy, dx), sigma_s)
    for y in range(h):
        for x in range(w):
            acc = 0.0
            norm = 0.0
            centre = img[y, x]
            for (dy, dx), ws in spatial.items():
                yy, xx = y + dy, x + dx
                if yy < 0 or yy >= h or xx < 0 or xx >= w:
                    continue
                wt = ws * gaussian(img[yy, xx] - centre, sigma_r)
                acc += wt * img[yy, xx]
                norm += wt
            out[y, x] = acc / norm
    return out


def psnr(a, b):
    mse = np.mean((a - b) ** 2)
    if mse == 0:
        return float("inf")
    return 10 * np.log10(1.0 / mse)


def main(noisy, clean, radius=2, sigma_s=1.5, sigma_r=0.2):
    filtered = bilateral(noisy, radius, sigma_s, sigma_r)
    before = psnr(noisy, clean)
    after = psnr(filtered, clean)
    print(f"PSNR {before:.2f} dB -> {after:.2f} dB")
    return filtered, before, after


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    clean = np.zeros((40, 48))
    clean[8:30, 10:25] = 0.8
    clean[20:36, 28:44] = 0.5
    noisy = clean + 0.08 * rng.standard_normal(clean.shape)
    return noisy, clean


if __name__ == "__main__":
    main(*inputs())
