"""A light pulse in one dimension by FDTD: it meets a slab of glass, part of it returns; the energy on either side."""

import numpy as np


def gaussian_pulse(t, t0, width):
    return np.exp(-0.5 * ((t - t0) / width) ** 2)


def run(eps, steps, source, snapshot_every):
    n = len(eps)
    ez = np.zeros(n)
    hy = np.zeros(n)
    left = [0.0, 0.0]
    right = [0.0, 0.0]
    snapshots = []
    for t in range(steps):
        for k in range(1, n):
            ez[k] += 0.5 / eps[k] * (hy[k - 1] - hy[k])
        ez[source] += gaussian_pulse(t, 40, 12)

        # absorbing ends: what leaves the last cell arrives two steps later
        ez[0] = left.pop(0)
        left.append(ez[1])
        ez[n - 1] = right.pop(0)
        right.append(ez[n - 2])

        for k in range(n - 1):
            hy[k] += 0.5 * (ez[k] - ez[k + 1])
        if t % snapshot_every == 0:
            snapshots.append(ez.copy())
    return ez, hy, snapshots


def main(n, slab, eps_r, steps, source):
    eps = np.ones(n)
    start, stop = slab
    eps[start:stop] = eps_r
    ez, hy, snapshots = run(eps, steps, source, 100)
    density = 0.5 * eps * ez**2 + 0.5 * hy**2
    energy = {
        "before": density[:start].sum(),
        "inside": density[start:stop].sum(),
        "behind": density[stop:].sum(),
    }
    return np.stack(snapshots), energy


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return 300, (150, 220), float(rng.uniform(3, 5)), 500, 60


if __name__ == "__main__":
    snaps, energy = main(*inputs())
    print(snaps.shape, energy)
