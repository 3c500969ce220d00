"""Content-aware narrowing: removes the vertical seams of least gradient energy from a colour image."""

import numpy as np


def energy(img):
    grey = img @ np.array([0.299, 0.587, 0.114])
    dx = np.abs(np.roll(grey, -1, axis=1) - np.roll(grey, 1, axis=1))
    dy = np.abs(np.roll(grey, -1, axis=0) - np.roll(grey, 1, axis=0))
    return dx + dy


def find_seam(e):
    rows, cols = e.shape
    cost = e.copy()
    back = np.zeros((rows, cols), dtype=int)
    for i in range(1, rows):
        for j in range(cols):
            lo = max(j - 1, 0)
            hi = min(j + 2, cols)
            k = lo + np.argmin(cost[i - 1, lo:hi])
            back[i, j] = k
            cost[i, j] += cost[i - 1, k]
    j = int(np.argmin(cost[-1]))
    total = cost[-1, j]
    seam = [j]
    for i in range(rows - 1, 0, -1):
        j = back[i, j]
        seam.append(j)
    return seam[::-1], total


def remove_seam(img, seam):
    rows, cols, ch = img.shape
    keep = np.ones((rows, cols), dtype=bool)
    keep[np.arange(rows), seam] = False
    return img[keep].reshape(rows, cols - 1, ch)


def main(img, n_seams):
    costs = []
    for _ in range(n_seams):
        seam, total = find_seam(energy(img))
        costs.append(total)
        img = remove_seam(img, seam)
    return img, costs


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    h, w = 36, 56
    y, x = np.mgrid[0:h, 0:w]
    img = np.stack([np.sin(x / 9.0), np.cos(y / 7.0), np.sin((x + y) / 11.0)], axis=-1)
    img = 0.5 + 0.4 * img + 0.05 * rng.standard_normal((h, w, 3))
    return img, 8


if __name__ == "__main__":
    out, costs = main(*inputs())
    print(out.shape, costs)
