"""The rates of hares and lynxes found from counts of both: gradients through an adaptive solver's `while`.

In: noisy counts at some times. Out: the four rates of the Lotka–Volterra equations that fit them best, and the sum of
squared errors of every round. The solver is that of `ode.py`: how many steps it takes depends on the data, the rates
among them, and its loop is differentiated in reverse, with no bound on its length. All rounds of the descent (Adam)
are one HLO program.

Run it: `python examples/ode_fit.py`
"""

from __future__ import annotations

import importlib.util
import itertools
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pystage

_spec = importlib.util.spec_from_file_location("ode", Path(__file__).with_name("ode.py"))
ode = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(ode)


@dataclass
class Rates:
    """How fast hares are born and eaten, and lynxes fed and dying: the logarithms, so that all stay positive."""

    logs: np.ndarray  # [4]

    def __call__(self, t, y):
        birth, eaten, fed, death = np.exp(self.logs)
        hares, lynxes = y
        return np.array([birth * hares - eaten * hares * lynxes, fed * hares * lynxes - death * lynxes])


def errors(rates, times, counts, rtol):
    """The sum of squared differences of the logarithms: each count predicted from the one before."""
    total = 0.0
    for i in range(1, len(times)):
        y, _, _ = ode.integrate(rates, counts[i - 1].copy(), times[i - 1], times[i], rtol, rtol)
        total += np.sum((np.log(y) - np.log(counts[i])) ** 2)
    return total


def fit(rates, times, counts, rounds, rate, rtol):
    """Moves `rates` downhill, in place, with Adam. Returns the errors of each round."""
    mean, square = np.zeros(4), np.zeros(4)
    found = np.zeros(rounds)
    for step in range(rounds):
        found[step], slope = pystage.value_and_grad(errors)(rates, times, counts, rtol)
        mean = 0.9 * mean + 0.1 * slope.logs
        square = 0.999 * square + 0.001 * slope.logs**2
        ahead = (mean / (1 - 0.9 ** (step + 1))) / (np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8)
        rates.logs -= rate * ahead
    return found


TRUE = np.log([1.1, 0.4, 0.1, 0.4])


def counted(points=16, noise=0.02, seed=0):
    """Times, and the counts of both populations then, with some noise."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, 15.0, points)
    counts = [np.array([10.0, 5.0])]
    for start, end in itertools.pairwise(times):
        counts.append(ode.integrate(Rates(TRUE), counts[-1], start, end, 1e-9, 1e-9)[0])
    return times, np.array(counts) * np.exp(noise * rng.standard_normal((points, 2)))


def few():
    """Four counts, three rounds."""
    times, counts = counted(points=4)
    return Rates(np.log([0.8, 0.3, 0.2, 0.5])), times, counts, 3, 0.05, 1e-6


PROGRAMS = [(fit, few)]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Fits the rates from a bad guess."""
    times, counts = counted()
    rates = Rates(np.log([0.8, 0.3, 0.2, 0.5]))
    staged = pystage.compile(fit, tier="compiled")
    start = time.perf_counter()
    found = staged(rates, times, counts, 300, 0.02, 1e-6)
    seconds = time.perf_counter() - start
    print(f"300 rounds in {seconds:.1f} s, with compiling: squared errors {found[0]:.3f} to {found[-1]:.5f}")
    for name, guess, true in zip(("birth", "eaten", "fed", "death"), np.exp(rates.logs), np.exp(TRUE)):
        print(f"  {name:6} {guess:.4f}, {true:.4f} in truth")


if __name__ == "__main__":
    main()
