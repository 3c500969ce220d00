"""Removes noise from a signal by soft thresholding its Haar wavelet coefficients, level by level."""

import numpy as np


def haar_step(x):
    even, odd = x[0::2], x[1::2]
    return (even + odd) / np.sqrt(2), (even - odd) / np.sqrt(2)


def decompose(x, max_levels):
    details = []
    approx = x
    while len(approx) % 2 == 0 and len(details) < max_levels:
        approx, d = haar_step(approx)
        details.append(d)
    return approx, details


def reconstruct(approx, details):
    for d in reversed(details):
        x = np.empty(2 * len(d))
        x[0::2] = (approx + d) / np.sqrt(2)
        x[1::2] = (approx - d) / np.sqrt(2)
        approx = x
    return approx


def soft(d, t):
    return np.sign(d) * np.maximum(np.abs(d) - t, 0)


def denoise(x, levels):
    approx, details = decompose(x, levels)
    sigma = np.median(np.abs(details[0])) / 0.6745
    t = sigma * np.sqrt(2 * np.log(len(x)))
    kept = 0
    for i in range(len(details)):
        details[i] = soft(details[i], t)
        kept += np.count_nonzero(details[i])
    return reconstruct(approx, details), sigma, kept


def cycle_spin(x, levels, shifts):
    """Averages over shifts, which takes away the blocks that Haar leaves."""
    out = np.zeros_like(x)
    kept = []
    for s in range(shifts):
        y, sigma, k = denoise(np.roll(x, s), levels)
        out += np.roll(y, -s)
        kept.append(k)
    return out / shifts, sigma, kept


def main(noisy, levels=6, shifts=32):
    simple, sigma, _ = denoise(noisy, levels)
    spun, _, kept = cycle_spin(noisy, levels, shifts)
    return {"simple": simple, "spun": spun, "sigma": sigma, "kept": kept}


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, 8192)
    clean = np.where(t < 0.3, 1.0, np.where(t < 0.55, -1.0, 2.0)) + np.sin(12 * t)
    return (clean + 0.3 * rng.standard_normal(len(t)),)


if __name__ == "__main__":
    result = main(*inputs())
    print(result["sigma"], result["kept"])
