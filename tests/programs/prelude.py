"""What random programs use beside NumPy: classes and functions that mutate, alias, override and raise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

__all__ = [
    "Counter",
    "Doubled",
    "Point",
    "Rejected",
    "Restored",
    "bump",
    "first",
    "jnp",
    "math",
    "mixed",
    "np",
    "total",
]


class Rejected(ValueError):
    """An exception of the program's own."""

    def __init__(self, what, value):
        super().__init__(what, value)
        self.value = value


@dataclass
class Point:
    """A number and an array; both stay small."""

    x: float
    v: np.ndarray

    @property
    def height(self):
        return self.x * 0.5 + self.v[0]

    def shift(self, by):
        self.v[0] = by
        self.x = (self.x + by) % 16.0
        return self

    def moved(self, by):
        return Point(self.x * 0.5, (self.v + by) % 16.0)

    def __add__(self, other):
        return Point((self.x + other.x) % 16.0, np.minimum(self.v, other.v))


class Counter:
    """A count and a list of what was counted last."""

    def __init__(self, n, last):
        self.n = n
        self.last = last

    def step(self, by=1):
        self.n = (self.n + by) % 16
        self.last[-1] = by
        return self.n

    def __call__(self, k):
        if k > 2:
            return self.step(k)
        return self.n

    def __len__(self):
        return len(self.last)

    def __getitem__(self, i):
        return self.last[i]


class Doubled(Counter):
    """Counts twice, and refuses what is large."""

    def step(self, by=1):
        if by > 12:
            raise Rejected("too large", by)
        super().step(by)
        return super().step(by)


class Restored:
    """Puts back what stood in an array, and perhaps ends exceptions."""

    def __init__(self, a, ends):
        self.a = a
        self.ends = ends

    def __enter__(self):
        self.old = self.a.copy()
        return self.a

    def __exit__(self, cls, error, traceback):
        self.a[...] = self.old
        return self.ends


def bump(a, by):
    a[0] = by
    a[-1] *= -1
    return a


def mixed(a, b):
    a[-1] = b[0]
    b[0] = 1
    return a


def first(a, b):
    return a


def total(a, *rest, by=1):
    s = a[0] * by
    for r in rest:
        s = (s + r[0]) % 16.0
    return s
