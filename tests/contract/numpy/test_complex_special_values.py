"""Functions of complex numbers on a grid of zeros, ones, tiny, huge, infinite numbers and NaN, bit by bit in signs and NaN.

One staged call for each function and element type; the plain run is the oracle. The tiny and huge numbers are such that no
quotient of two is subnormal.
"""

import itertools
import math

import numpy as np
import pystage
import pytest

ENDS = {"complex128": (1e-140, 1e140), "complex64": (1e-9, 1e9)}
ROUNDING = {"complex128": 1e-12, "complex64": 3e-5}


def grid(dtype):
    """All complex numbers of special parts."""
    tiny, huge = ENDS[dtype]
    sizes = [0.0, tiny, 0.5, 1.0, 1.5, math.pi / 2, 20.0, 95.0, 800.0, huge, math.inf]
    parts = np.array([sign * size for size in sizes for sign in (1, -1)] + [math.nan])
    z = np.empty(parts.size**2, dtype)
    z.real, z.imag = np.repeat(parts, parts.size), np.tile(parts, parts.size)
    return z


def pairs(dtype):
    """Two arrays with all pairs of some special numbers."""
    tiny, huge = ENDS[dtype]
    parts = [0.0, -0.0, 1.0, -1.5, tiny, -huge, math.inf, -math.inf, math.nan]
    z = np.array([complex(x, y) for x, y in itertools.product(parts, parts)])
    z.real, z.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    return np.repeat(z, z.size).astype(dtype), np.tile(z, z.size).astype(dtype)


def assert_same(found, wanted, rounding, what=()):
    """Part by part equal to rounding, NaN where the other is, and zeros of one sign; what is subnormal is zero.

    `what`: the operands, which are shown where the results differ.
    """
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, wanted)
        return
    for x, y in ((found.real, wanted.real), (found.imag, wanted.imag)):
        with np.errstate(all="ignore"):
            y = np.where(np.abs(y) < np.finfo(y.dtype).tiny, np.copysign(0, y), y)
            near = np.isfinite(y) & (np.abs(x - y) <= rounding * np.abs(y))
            same = (x == y) | near | (np.isnan(x) & np.isnan(y))
        same &= (np.signbit(x) == np.signbit(y)) | (y != 0)
        wrong = np.flatnonzero(~same)[:5]
        assert not wrong.size, [(*[a[w] for a in what], found[w], wanted[w]) for w in wrong]


def exponentials(z):
    return np.exp(z), np.expm1(z), np.exp2(z)


def logarithms(z):
    return np.log(z), np.log2(z), np.log10(z), np.log1p(z), np.sqrt(z)


def circular(z):
    return np.sin(z), np.cos(z), np.tan(z)


def hyperbolic(z):
    return np.sinh(z), np.cosh(z), np.tanh(z)


def arcs(z):
    return np.arcsin(z), np.arccos(z), np.arctan(z)


def areas(z):
    return np.arcsinh(z), np.arccosh(z), np.arctanh(z)


def parts(z):
    return np.abs(z), abs(z), np.angle(z), np.sign(z), np.conj(z), -z, np.rint(z), np.isnan(z), np.isinf(z)


def quotients(z):
    return 1 / z, z / 2.0, z / 2j, np.reciprocal(z), z**-1, z * 1j, z * 2.0


def with_constants(z):
    products = z * 1, z * 1.0, (1 - 0j) * z, z * 0.5 * 0.25, z * 1j * 1j
    return *products, z - 1 + 1, (1j + z) - 1j, z - (-0.0), z + (1 + 0j), z - 0j, 0 - z, z / 1


def squares(z):
    return z**2, np.square(z), z**0.5, z**0, z**1


UNARY = [
    exponentials,
    logarithms,
    circular,
    hyperbolic,
    arcs,
    areas,
    parts,
    quotients,
    squares,
    with_constants,
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", list(ENDS))
@pytest.mark.parametrize("function", UNARY)
def test_special_values(function, dtype):
    z = grid(dtype)
    for found, wanted in zip(pystage.compile(function, fallback="error")(z), function(z), strict=True):
        assert_same(found, wanted, ROUNDING[dtype], [z])


def divided(x, y):
    return x / y


def compared(x, y):
    return x < y, x <= y, x > y, x >= y, x == y, x != y


def extrema(x, y):
    return np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", list(ENDS))
def test_pairs(dtype):
    x, y = pairs(dtype)
    assert_same(pystage.compile(divided, fallback="error")(x, y), x / y, ROUNDING[dtype], [x, y])
    for function in (compared, extrema):
        for found, wanted in zip(pystage.compile(function)(x, y), function(x, y), strict=True):
            assert_same(found, wanted, 0.0, [x, y])


def powers(x, y):
    return x**y


EXPONENTS = [0, 1, 2, 3, -1, -2, 7, 99, 100, 0.5, -1.5, 1j, 2 - 1j, math.inf, math.nan, complex(0, math.inf)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", list(ENDS))
def test_powers(dtype):
    bases = [
        complex(x, y) for x, y in itertools.product((0.0, -0.0, 1.0, -1.5, math.inf, math.nan), repeat=2)
    ]
    x = np.repeat(np.array(bases, dtype), len(EXPONENTS))
    y = np.tile(np.array(EXPONENTS, dtype), len(bases))
    found = pystage.compile(powers, fallback="error")(x, y)
    assert_same(found, x**y, 1e3 * ROUNDING[dtype], [x, y])


def known_powers(x):
    return (
        np.power(x, 0),
        np.power(x, 1),
        np.power(x, 3),
        np.power(x, -1),
        x**-2,
        x**7,
        np.power(x, 0.5),
        x ** (1 + 1j),
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_known_powers():
    x = pairs("complex128")[1][:81]
    for found, wanted in zip(pystage.compile(known_powers)(x), known_powers(x), strict=True):
        finite = np.abs(x) < 1e50
        assert_same(found[finite], wanted[finite], 1e-11, [x[finite]])


def sinc(z):
    return np.sinc(z)


def test_sinc_of_the_smallest():
    z = np.array([5e-21j, 0j, 1e-9 + 1e-9j, 0.5])
    assert_same(pystage.compile(sinc)(z), sinc(z), 1e-12)


def sorted_and_searched(z):
    order = np.sort(z)
    return np.searchsorted(order, z), np.searchsorted(order, z, side="right"), np.argmax(z), np.argmin(z)


def test_the_order_with_nan():
    ends = (0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)
    z = np.random.default_rng(1).permutation([complex(x, y) for x, y in itertools.product(ends, repeat=2)])
    found = pystage.compile(sorted_and_searched, fallback="error")(z)
    for a, b in zip(found, sorted_and_searched(z), strict=True):
        np.testing.assert_array_equal(a, b)
