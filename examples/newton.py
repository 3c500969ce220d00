"""Newton's square root: a loop whose number of trips only the numbers decide.

In: a number and a tolerance. Out: its square root, and how many steps it took. The staged program is one
HLO `while`, with nothing unrolled and no bound on the trips.

Run it: `python examples/newton.py`
"""

from __future__ import annotations

import pystage


def newton(a, tol):
    """The square root of `a`: a Python float, to `tol` in the square."""
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


def newton_steps(a, tol):
    """The square root of `a`, and the number of steps that it took."""
    x, steps = a, 0
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
        steps += 1
    return x, steps


PROGRAMS = [
    (newton, lambda: (2.0, 1e-9)),
    (newton_steps, lambda: (1234.5, 1e-6)),
]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Takes a few roots both ways and prints the compiled loop."""
    staged = pystage.compile(newton_steps, tier="compiled")
    for a in (2.0, 1234.5, 1e12):
        root, steps = staged(a, a * 1e-9)
        print(f"sqrt({a:g}) = {root:.12g} in {steps} steps; plain Python: {newton_steps(a, a * 1e-9)}")
    print()
    print(staged.lower(2.0, 1e-9).as_text("stablehlo"))


if __name__ == "__main__":
    main()
