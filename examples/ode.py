"""Dormand–Prince, an adaptive Runge–Kutta method of order 5 with an error estimate of order 4.

In: the right-hand side of `y' = f(t, y)` as a Python function, a starting value, an interval, tolerances.
Out: the value at the end, with the numbers of accepted and rejected steps. How many steps it takes depends
on the data; the loop over the seven stages is over Python lists of coefficients and is unrolled.

Source of the coefficients and of the step control: J. R. Dormand, P. J. Prince, "A family of embedded
Runge–Kutta formulae", J. Comp. Appl. Math. 6 (1980); E. Hairer, S. P. Nørsett, G. Wanner, "Solving Ordinary
Differential Equations I", section II.4.

Run it: `python examples/ode.py`
"""

from __future__ import annotations

import time

import numpy as np

import pystage

NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
ROWS = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
FOURTH = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)


def combine(weights, slopes):
    """The weighted sum of the slopes; there may be more slopes than weights."""
    total = weights[0] * slopes[0]
    for weight, slope in zip(weights[1:], slopes[1:]):
        if weight != 0.0:
            total = total + weight * slope
    return total


def dormand_prince_step(f, t, y, h):
    """One step from `(t, y)` over `h`: the value of order 5, and its difference from that of order 4."""
    slopes = [f(t, y)]
    for node, row in zip(NODES, ROWS):
        slopes.append(f(t + node * h, y + h * combine(row, slopes)))
    fifth = y + h * combine(ROWS[-1], slopes)
    fourth = y + h * combine(FOURTH, slopes)
    return fifth, fifth - fourth


def integrate(f, y, start, end, rtol, atol):
    """Integrates `y' = f(t, y)` from `start` to `end`, with as many steps as the tolerances ask for.

    `y`: float64 of shape `[n]`. Returns the value at `end` and the numbers of accepted and rejected steps.
    """
    t = start
    h = 0.01 * (end - start)
    accepted = rejected = 0
    while t < end:
        h = min(h, end - t)
        new, difference = dormand_prince_step(f, t, y, h)
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(new))
        square = np.mean((difference / scale) ** 2)  # no root: it has no slope where a step is exact
        if square <= 1.0:
            t = t + h
            y = new
            accepted += 1
        else:
            rejected += 1
        h = h * min(5.0, max(0.2, 0.9 * max(square, 1e-20) ** -0.1))
    return y, accepted, rejected


def lotka_volterra(t, y):
    """Hares and lynxes: each population's rate of change."""
    hares, lynxes = y
    return np.array([1.1 * hares - 0.4 * hares * lynxes, 0.1 * hares * lynxes - 0.4 * lynxes])


def forced_oscillator(t, y):
    """A pendulum for small angles, damped, pushed by a slow force."""
    position, speed = y
    return np.array([speed, np.sin(0.5 * t) - 0.2 * speed - 4.0 * position])


PROGRAMS = [
    (integrate, lambda: (lotka_volterra, np.array([10.0, 5.0]), 0.0, 6.0, 1e-6, 1e-9)),
    (integrate, lambda: (forced_oscillator, np.array([1.0, 0.0]), 0.0, 5.0, 1e-5, 1e-8)),
]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Integrates both systems, staged and plain, to three tolerances."""
    staged = pystage.compile(integrate, tier="compiled")
    for system, y0, end in (
        (lotka_volterra, np.array([10.0, 5.0]), 60.0),
        (forced_oscillator, np.array([1.0, 0.0]), 50.0),
    ):
        for rtol in (1e-4, 1e-7, 1e-10):
            arguments = (system, y0, 0.0, end, rtol, rtol * 1e-3)
            staged(*arguments)
            start = time.perf_counter()
            y, accepted, rejected = staged(*arguments)
            staged_seconds = time.perf_counter() - start
            start = time.perf_counter()
            plain, plain_accepted, plain_rejected = integrate(*arguments)
            plain_seconds = time.perf_counter() - start
            print(
                f"{system.__name__}, rtol {rtol:g}:\n"
                f"  plain  y({end:g}) = {plain}, {plain_accepted} steps and {plain_rejected} rejected,"
                f" {plain_seconds * 1e3:.2f} ms\n"
                f"  staged y({end:g}) = {y}, {accepted} steps and {rejected} rejected,"
                f" {staged_seconds * 1e3:.2f} ms"
            )


if __name__ == "__main__":
    main()
