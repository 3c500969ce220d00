"""Functions that the tests of the command look at, and running the command."""
# ruff: noqa: F821, UP037, SIM115

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import pystage
from pystage.cli import main

HERE = str(Path(__file__).resolve())


def target(function: str) -> str:
    """How the command names a function of this file."""
    return f"{HERE}::{function}"


def step(x, w):
    """One layer."""
    return np.tanh(x @ w)


def fit(x: "f64[4, 8]", w: "f64[8, 8]", n: int):
    """A loop over a call, and a branch."""
    total = 0.0
    for _i in range(n):
        x = step(x, w)
        total += x.sum()
    if total > 3.0:
        x = x * 2.0
    return x, total


def ten(x: "f64[4, 8]"):
    """A loop of known length."""
    for _i in range(10):
        x = np.tanh(x)
    return x


def refused(x: "f64[4]"):
    """What cannot be staged."""
    y = x * 2.0
    open("<&>")
    return y


def raising(x: "f64[4]"):
    """What raises for any values."""
    return x @ np.ones(3)


def unreadable(x: "f64[4]"):
    """What the front end refuses."""

    class Local:
        pass

    return x


def unsaid(x):
    """A function whose argument nothing describes."""
    return x + 1.0


def pick(x: "f64[4]"):
    """Functions in a function: a lambda, a method, recursion on a constant."""
    halve = lambda v: v / 2.0  # noqa: E731
    return Scale(3.0).apply(halve(x)) + power(x, 3)


def power(x, n: int):
    """Recursion that a constant ends."""
    return x if n == 0 else x * power(x, n - 1)


def factors(x):
    """What JAX lowers."""
    q, r = jnp.linalg.qr(x)
    return q @ r


class Scale:
    """An object with a method."""

    def __init__(self, by: float) -> None:
        self.by = by

    def apply(self, x):
        """The product."""
        return x * self.by


def total(x: "f64[4, 8]"):
    """A number, to be differentiated."""
    return ten(x).sum()


compiled = pystage.compile(ten)
slope = pystage.grad(total)

__all__ = ["HERE", "main", "target"]
