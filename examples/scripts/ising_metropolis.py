"""The two-dimensional Ising model by single-spin Metropolis: magnetisation and energy over a range of temperatures."""

import numpy as np


def energy(spins, J):
    return -J * np.sum(spins * (np.roll(spins, 1, axis=0) + np.roll(spins, 1, axis=1)))


def sweep(spins, beta, J, rng):
    n = spins.shape[0]
    accepted = 0
    for _ in range(n * n):
        i, j = rng.integers(0, n, 2)
        nb = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
        dE = 2 * J * spins[i, j] * nb
        if dE <= 0 or rng.random() < np.exp(-beta * dE):
            spins[i, j] *= -1
            accepted += 1
    return accepted


def main(n, temperatures, warmup, samples, J=1.0, seed=42):
    rng = np.random.default_rng(seed)
    mags = []
    energies = []
    rates = []
    for T in temperatures:
        spins = np.ones((n, n), dtype=int)
        for _ in range(warmup):
            sweep(spins, 1 / T, J, rng)
        m, e, acc = 0.0, 0.0, 0
        for _ in range(samples):
            acc += sweep(spins, 1 / T, J, rng)
            m += abs(spins.sum()) / n**2
            e += energy(spins, J) / n**2
        mags.append(m / samples)
        energies.append(e / samples)
        rates.append(acc / (samples * n * n))
    return np.array(mags), np.array(energies), np.array(rates)


def inputs(seed=0):
    return 12, np.linspace(1.5, 3.5, 5), 10, 20, 1.0, seed


if __name__ == "__main__":
    args = inputs()
    for T, m, e, a in zip(args[1], *main(*args)):
        print(f"T={T:.2f}  |m|={m:.3f}  e={e:.3f}  acceptance={a:.2f}")
