"""Modules in small whose functions were not the same staged: what they capture, and what their caller did to it.

A tuple of texts is a call with these arguments, a text a statement that the caller runs before the next call. Each
function is called in a module of its own, made anew of this file (`test_captured.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
STEPS: dict[str, tuple[str | tuple[str, ...], ...]] = {}


def steps(*given: str | tuple[str, ...]) -> Callable[[F], F]:
    """Notes what is done with the function below."""

    def note(function: F) -> F:
        STEPS[function.__name__] = given
        return function

    return note


class Restored:
    """Puts back what stood in an array."""

    def __init__(self, a):
        self.a = a

    def __enter__(self):
        self.old = self.a.copy()
        return self.a

    def __exit__(self, cls, error, traceback):
        self.a[...] = self.old


class Settings:
    p = 1.5
    q = np.zeros(3)


A = np.array([1.0, 2.0, 3.0])
B = np.array([1, 2, 3])
N = 3
HELD = [A, A]


@steps(("1",), "A.flags.writeable = False", ("2",), "A = A.copy()", ("3",))
def an_array_is_read_only_for_a_while(n):
    A[...] += n
    return A


@steps(
    ("1.0",), ("1.0",), "B = np.array([1.0, 2.5])", "N = 4", ("1.0",), "B.flags.writeable = False", ("1.0",)
)
def an_array_of_another_type_makes_other_things_read(x):
    if B.dtype == np.float64:
        return B * N
    return B * x


@steps(("1",), "A.flags.writeable = False", ("2",))
def the_end_of_a_block_raises(n):
    with Restored(A) as a:
        b = a * n
        if n > 1:
            b = b * 2
    return b


@steps(("2.0",), ("1.0",), "Settings.p = 4", ("2.0",), "Settings.q = A", ("2.0",))
def attributes_of_a_class(x):
    Settings.q[0] += Settings.p
    Settings.p = Settings.p * x
    Settings.q = Settings.q + 1
    return Settings.q


@steps(("0",), "HELD[0] = np.array(5)", ("0",), "HELD = [np.zeros(0), A]", ("0",))
def an_array_without_axes_takes_the_place_of_a_vector(n):
    HELD[0], HELD[1] = HELD[1], HELD[0]
    return (-HELD[1])[n]


ONE = [np.array([1.0, -2.75, 2.5])]
OTHER = [np.array([1.0, -2.75, 2.5])]


@steps(("0.5",), "ONE[0] = OTHER[0]", ("0.5",), "OTHER[0] = OTHER[0].copy()", ("0.5",))
def arrays_that_become_one(x):
    ONE[0][0] = x
    OTHER[0] += 2
    return OTHER[0]


@steps(("1",), ("1",), ("0",))
def arrays_that_the_function_makes_one(n):
    for _ in range(n):
        ONE[0][0] = 7.0
        ONE[0] = OTHER[0]
    OTHER[0] += 2
    return OTHER[0]
