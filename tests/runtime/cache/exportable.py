"""Functions that the tests of exported programs export, with the classes of their arguments and results."""

from __future__ import annotations

import collections
import dataclasses
import enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pystage


@dataclasses.dataclass
class Particle:
    x: np.ndarray
    hits: int


Pair = collections.namedtuple("Pair", "first second")


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class TooMany(ValueError):
    pass


WEIGHTS = np.array([1.0, 2.0])
SCALE = 3.0
JAX_WEIGHTS = jnp.arange(3.0)
KEY = jax.random.key(3)
LOG: list[Any] = []


@pystage.compile(fallback="error")
def step(particle: Particle, seen: list[Any], mode: Mode) -> Any:
    particle.x = particle.x * WEIGHTS * SCALE
    particle.hits += 1
    seen.append(particle.x.sum())
    if particle.hits > 10:
        raise TooMany(f"{particle.hits} hits", seen[-1])
    return (
        Particle(particle.x + 1, particle.hits),
        Pair(particle.hits, None),
        mode,
        {"view": particle.x[1:]},
        WEIGHTS,
    )


@pystage.compile(fallback="error")
def noisy(x: Any) -> Any:
    return x + jax.random.normal(KEY, x.shape) * JAX_WEIGHTS


@pystage.compile(fallback="error")
def loss(w: Any, x: Any) -> Any:
    return jnp.sum(jnp.tanh(w * x) ** 2)


@pystage.compile(fallback="error")
def drawn(rng: Any, x: Any) -> Any:
    print("x is", x)
    return rng.normal(size=3) + x


@pystage.compile(fallback="error")
def logged(x: Any) -> Any:
    LOG.append(x)
    return x


@pystage.compile(fallback="error")
def repeated(x: Any, n: Any, *, start: Any = 1.5) -> Any:
    out = np.zeros(n)
    for i in range(n):
        out[i] = x.sum() * i + start
    return out


@pystage.compile(fallback="error")
def applied(function: Any, x: Any) -> Any:
    return function(x)


@pystage.compile(fallback="error")
def collected(n: Any) -> Any:
    found = []
    k = 0
    while k < n:
        found.append(k * 2)
        k += 1
    return found


class Model:
    def __init__(self) -> None:
        self.w = np.ones(2)
        self.calls = 0

    @pystage.compile(fallback="error")
    def run(self, x: Any) -> Any:
        self.calls += 1
        return self.w @ x * self.calls


@pystage.compile(fallback="error")
def step_into(x: Any, out: Any, *, scale: Any) -> Any:
    out += x * scale
    return out.sum()


class Inner:
    eps = 0.5

    def __init__(self) -> None:
        self.weights = [1.0, 2.0]
        self.owner = loss


class Held:
    offset = 2.5

    def __init__(self) -> None:
        self.inner = Inner()
        self.function = loss
        self.trips = 2.0
        self.rng: Any = None

    @pystage.compile(fallback="error")
    def run(self, x: Any) -> Any:
        self.trips += 1
        return x * self.offset + self.inner.eps + self.inner.weights[1] + self.trips

    @pystage.compile(fallback="error")
    def rolled(self) -> Any:
        return self.rng.normal()

    @pystage.compile(fallback="error")
    def itself(self) -> Any:
        return self


class Scaled:
    def __init__(self) -> None:
        self.factor = 2.0

    @pystage.compile(fallback="error")
    def run(self, x: Any) -> Any:
        return x * self.factor
