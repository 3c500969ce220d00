"""Differential evolution with bounds on Rastrigin's and Ackley's functions, and on the design of a pressure vessel."""

import numpy as np


def rastrigin(x):
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def ackley(x):
    n = len(x)
    a = -20 * np.exp(-0.2 * np.sqrt(np.sum(x**2) / n))
    b = -np.exp(np.sum(np.cos(2 * np.pi * x)) / n)
    return a + b + 20 + np.e


def pressure_vessel(x):
    ts, th, r, length = x
    cost = 0.6224 * ts * r * length + 1.7781 * th * r**2 + 3.1661 * ts**2 * length + 19.84 * ts**2 * r
    violations = [
        0.0193 * r - ts,
        0.00954 * r - th,
        (1296000 - np.pi * r**2 * length - 4 / 3 * np.pi * r**3) / 1e4,
        length - 240,
    ]
    return cost + sum(1e5 * max(0.0, v) ** 2 + (1e3 if v > 0 else 0.0) for v in violations)


class DE:
    def __init__(self, f, bounds, pop_size=30, F=0.7, CR=0.9, rng=None):
        self.f = f
        self.lo, self.hi = np.asarray(bounds, dtype=float).T
        self.F, self.CR = F, CR
        self.rng = rng if rng is not None else np.random.default_rng()
        self.pop = self.rng.uniform(self.lo, self.hi, (pop_size, len(self.lo)))
        self.cost = np.array([f(p) for p in self.pop])

    def mutant(self, i):
        choices = np.delete(np.arange(len(self.pop)), i)
        a, b, c = self.pop[self.rng.choice(choices, 3, replace=False)]
        v = a + self.F * (b - c)
        # reflect at the bounds
        v = np.where(v < self.lo, 2 * self.lo - v, v)
        v = np.where(v > self.hi, 2 * self.hi - v, v)
        return np.clip(v, self.lo, self.hi)

    def generation(self):
        for i in range(len(self.pop)):
            v = self.mutant(i)
            cross = self.rng.random(len(v)) < self.CR
            cross[self.rng.integers(len(v))] = True
            trial = np.where(cross, v, self.pop[i])
            c = self.f(trial)
            if c <= self.cost[i]:
                self.pop[i] = trial
                self.cost[i] = c

    def run(self, max_gen, tol=1e-8):
        generations = 0
        while generations < max_gen:
            self.generation()
            generations += 1
            if self.cost.max() - self.cost.min() < tol:
                break
        k = self.cost.argmin()
        return self.pop[k].copy(), self.cost[k], generations


def main(generations, seed):
    problems = {
        "rastrigin": (rastrigin, [(-5.12, 5.12)] * 3),
        "ackley": (ackley, [(-30, 30)] * 4),
        "vessel": (pressure_vessel, [(0.1, 6), (0.1, 6), (10, 200), (10, 240)]),
    }
    out = {}
    for name, (f, bounds) in problems.items():
        de = DE(f, bounds, rng=np.random.default_rng(seed))
        out[name] = de.run(generations)
    return out


def inputs(seed=0):
    return 80, seed


if __name__ == "__main__":
    for name, (x, cost, gens) in main(*inputs()).items():
        print(name, x, cost, gens)
