"""The `math` and `cmath` modules on staged numbers, against the plain calls."""

from __future__ import annotations

import cmath
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, check_call
from pystage.compiler.library.registry import meaning_of

UNIT = ["asin", "acos", "atanh"]
ABOVE_ONE = ["acosh"]
POSITIVE = ["sqrt", "log", "log2", "log10", "log1p"]
ANY = ["exp", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf", "erfc", "fabs"]
ANY += [
    "degrees",
    "radians",
    "isnan",
    "isinf",
    "isfinite",
    "floor",
    "ceil",
    "trunc",
    "modf",
    "gamma",
    "lgamma",
]
ANY += [n for n in ("cbrt", "exp2") if hasattr(math, n)]
DOMAINS = [
    (UNIT, [0.25, -0.5]),
    (ABOVE_ONE, [1.5, 3.0]),
    (POSITIVE, [0.5, 1.0, 8.0, 1000.0]),
    (ANY, [0.75, -1.25, 4.0, -2.5]),
]
ARGUMENTS = {name: values for names, values in DOMAINS for name in names}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_of_one_float(name: str) -> None:
    function = getattr(math, name)
    for x in ARGUMENTS[name]:
        check_call(function, x)
        check_call(function, Known(x))
        check_call(function, np.float32(x))
    check_call(function, 1 if name != "atanh" else 0)
    check_call(function, np.array(1.0 if name != "atanh" else 0.0))
    check_call(function, jnp.asarray(1.0 if name != "atanh" else 0.0))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("pow", (2.5, 3)),
        ("fmod", (7.5, -2)),
        ("remainder", (7.5, 2)),
        ("copysign", (2.5, -0.0)),
        ("atan2", (1.5, -2)),
        ("hypot", (3, 4)),
        ("hypot", (1.0, 2.0, 2.0)),
        ("log", (8.0, 2)),
        ("ldexp", (1.5, 4)),
        ("isclose", (1.0, 1.0 + 1e-12)),
        ("isclose", (1.0, 1.1)),
        ("gcd", (12, 18)),
        ("gcd", (-12, 18, 8)),
        ("lcm", (4, 6)),
        ("isqrt", (17,)),
        ("isqrt", (2**52 - 1,)),
        ("isqrt", (10**18,)),
        ("factorial", (7,)),
        ("factorial", (0,)),
        ("comb", (Known(7), Known(3))),
        ("perm", (Known(7), Known(3))),
        ("dist", ((1.0, 2.0), [4.0, 6.0])),
        ("nextafter", (1.0, 2.0)),
    ],
)
def test_of_more(name: str, args: tuple[Any, ...]) -> None:
    check_call(getattr(math, name), *args)


@pytest.mark.parametrize("base", [2, 10])
def test_logarithms_of_powers_are_whole(base: int) -> None:
    for i in range(20):
        check_call(getattr(math, f"log{base}"), float(base**i))


@pytest.mark.parametrize("call", [(math.sqrt, -1.0), (math.log, 0.0), (math.acos, 2.0), (math.factorial, -1)])
def test_known_arguments_raise(call: tuple[Any, float]) -> None:
    check_call(call[0], Known(call[1]))


def test_wrong_kinds_raise() -> None:
    check_call(math.sqrt, np.ones(2))
    check_call(math.sqrt, 1j)
    check_call(math.gcd, 1.5, 2)


def test_every_function_of_math_is_served() -> None:
    missing = {"frexp", "ulp", "sumprod", "fma"}
    for name in dir(math):
        if callable(getattr(math, name)) and not name.startswith("_") and name not in missing:
            assert meaning_of(getattr(math, name)) is not None, name


@pytest.mark.parametrize(
    "name", ["sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "phase", "polar"]
)
def test_cmath(name: str) -> None:
    function = getattr(cmath, name)
    check_call(function, 0.5 - 0.75j)
    check_call(function, 0.5)
    check_call(function, Known(0.5 - 0.75j))


def test_cmath_rect() -> None:
    check_call(cmath.rect, 2.0, 0.5)
