"""Infinities, NaN and zeros with a sign: what XLA's simplifications would lose of them is there, bit by bit."""

import math
import warnings
from itertools import product

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

VALUES = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, 2.0, -3.0, 7.0]
PAIRS = list(product(VALUES, VALUES))
X, Y = [np.array(column) for column in zip(*PAIRS)]


def truth_times_number(x, y):
    return x * (x > 1), (x > y) * y, (y < 0.5) * x * y, (x > 1).astype(np.float64) * y


def truth_times_complex(x, y):
    return (x > 1) * (y + 0j * 0.0), (x > 1) * x.astype(np.complex64)


def sums_with_zero(x, y):
    return 0.0 + x, x + 0, 0 + y, x + -0.0, x - 0.0, 0.0 - x, x + np.zeros(x.shape), x * y + 0.0


def sums_of_one(x, y):
    few = (
        np.sum([x, x], axis=0),
        np.sum(x[1]),
        np.sum(y, axis=()),
        np.mean(-np.zeros(())),
        np.convolve(x[:3], -np.zeros(1)),
    )
    return (
        x[:, None].sum(axis=1),
        np.sum(y.reshape(-1, 1), 1),
        x[:, None].mean(1),
        np.nansum(x[:, None], 1),
        *few,
    )


def running_sums(x, y):
    z = np.cumsum(np.array([complex(-0.0, -0.0), complex(-0.0, 1.0)]))
    return np.cumsum(x[:2]), np.cumsum(-np.zeros(3)), np.cumsum(np.stack([x, y]), axis=0), z.real, z.imag


def medians(x, y):
    return np.median(x[:, None], axis=1), np.median(np.stack([x, x]), axis=0)


def sizes(x, y):
    z = np.empty(x.shape, complex)
    z.real = x
    z.imag = y
    return np.abs(z), abs(z)


def choices(x, y):
    return np.where(x > y, x, 0.0) + 0.0, -np.where(x > 0, x, y) * (y > 0)


ARRAYS = [
    truth_times_number,
    truth_times_complex,
    sums_with_zero,
    sums_of_one,
    running_sums,
    medians,
    sizes,
    choices,
]


def same_bits(a, b):
    """Equal, with the same signs of zeros, and NaN where the other is."""
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    for part in ("real", "imag") if np.iscomplexobj(a) else ("real",):
        p, q = getattr(a, part), getattr(b, part)
        np.testing.assert_array_equal(p, q)
        numbers = ~np.isnan(p)
        np.testing.assert_array_equal(np.signbit(p)[numbers], np.signbit(q)[numbers])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", ARRAYS)
def test_arrays(function, dtype):
    args = X.astype(dtype), Y.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = function(*args)
    staged = pystage.compile(function, fallback="error")(*args)
    for expected, found in zip(plain, staged, strict=True):
        same_bits(expected, found)


CUT = np.array([complex(a, b) for a in (-2.0, -0.5, -0.0, 0.0, 0.5, 2.0) for b in (0.0, -0.0, 2.0, -2.0)])


def sides_of_branch_cuts(z):
    return (
        np.sqrt(z),
        np.arcsin(z),
        np.arccos(z),
        np.arcsinh(z),
        np.arccosh(z),
        np.log(z),
        np.arctan(z),
        np.arctanh(z),
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_sides_of_branch_cuts(dtype):
    check(sides_of_branch_cuts, CUT.astype(dtype), tolerance=1e-6)


def sums_of_products(x, y):
    rows = x.reshape(-1, 1), y.reshape(1, -1)
    products = (
        np.dot(2.0, x),
        np.dot(x[0], y),
        rows[0] @ rows[1],
        np.einsum("i,j", x, y),
        np.inner(rows[0], y[:1]),
    )
    return *products, np.vdot(x[:1], x[:1]), np.dot(x[:1], y[:1]), np.linspace(x, y, 3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("count", [1, 3])
def test_signs_of_sums_of_products(count, dtype):
    x, y = np.full(count, -0.0, dtype), np.array([1.0, -1.0, 1.0], dtype)[:count]
    for expected, found in zip(sums_of_products(x, y), pystage.compile(sums_of_products)(x, y), strict=True):
        same_bits(expected, found)


def sums_of_jax(x):
    return jnp.sum(x), jnp.mean(x), jnp.cumsum(x), jnp.median(x), x + 0.0, jnp.nansum(x)


@pytest.mark.parametrize("count", [1, 2])
def test_sums_of_jax_are_its_own(count):
    x = -jnp.zeros(count)
    for expected, found in zip(sums_of_jax(x), pystage.compile(sums_of_jax)(x), strict=True):
        same_bits(expected, found)


def complex_of(x, y):
    return complex(x, y), complex(complex(x, y), 1.0), complex(1.0, complex(x, y))


def complex_sum(x, y):
    return complex(x, y) + 1, complex(x, y) - 0.5


def complex_size(x, y):
    return round(abs(complex(x, y)), 9)


def power(x, y):
    return x**y


def products(x, y):
    return x * (y > 0), (x > 0) * y, 0 + x, x + 0, 0.0 + x, sum([x]), sum([x, y])


def ieee_remainder(x, y):
    return math.remainder(x, y)


def exact_sum(x, y):
    return math.fsum([x, y])


def in_order(x, y):
    return sorted([x, y, 1.0]), sorted([y, 0.5, x], reverse=True)


SCALARS = [
    complex_of,
    complex_sum,
    complex_size,
    power,
    products,
    ieee_remainder,
    exact_sum,
    in_order,
]


def outcome(function, x, y):
    """The result as Python shows it, or the exception."""
    try:
        return repr(function(x, y))
    except pystage.StagingError as error:
        return error.diagnostics[0].code
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", SCALARS)
def test_numbers(function):
    staged = pystage.compile(function, fallback="error")
    for x, y in PAIRS:
        found = outcome(staged, x, y)
        if found != "PS811":  # a complex power of a negative number
            assert found == outcome(function, x, y), (x, y)


@pytest.mark.parametrize("x, y", [(1e300, 7.0), (7.0, 1e-300), (-5.5, 2.0), (5.0, 2.0), (1e308, -3.0)])
def test_remainders_are_exact(x, y):
    assert pystage.compile(ieee_remainder, fallback="error")(x, y) == math.remainder(x, y)


@pytest.mark.parametrize("x, y", [(1.7e308, 1.7e308), (3.0, 4.0)])
def test_a_size_that_is_too_large(x, y):
    staged = pystage.compile(complex_size, fallback="error")
    assert outcome(staged, x, y) == outcome(complex_size, x, y)


def four_in_order(x, y):
    return sorted([x, y, 1.0, 0.5])


def test_the_order_of_four_numbers_with_nan_is_refused():
    staged = pystage.compile(four_in_order, fallback="error")
    assert staged(3.0, -0.0) == [-0.0, 0.5, 1.0, 3.0]
    with pytest.raises(pystage.StagingError, match="PS401"):
        staged(3.0, math.nan)


def quotients_by_what_is_broadcast(x):
    return x / x[0], x / x[0, 0], x / x[:, :1], 1e308 / (x * 1e305)


def test_quotients_are_those_of_a_division():
    staged = pystage.compile(quotients_by_what_is_broadcast, fallback="error")
    x = np.arange(1.0, 301.0).reshape(60, 5)
    for plain, found in zip(quotients_by_what_is_broadcast(x), staged(x)):
        np.testing.assert_array_equal(found, plain)


def sums_that_are_rounded(x):
    return (x + 1e16) - 1e16, (1 - x) - 1, x - 1 + 1, x - (-0.0), 6755399441055744.0 + x - 6755399441055744.0


def test_sums_with_constants_are_rounded_one_by_one():
    x = np.array([-0.0, 0.1234567, -7.7e-5, 2.5, 3.5])
    found = pystage.compile(sums_that_are_rounded, fallback="error")(x)
    for plain, staged in zip(sums_that_are_rounded(x), found, strict=True):
        np.testing.assert_array_equal(staged, plain)
        np.testing.assert_array_equal(np.signbit(staged), np.signbit(plain))


REAL_ENDS = {"float64": (1e-140, 1e140), "float32": (1e-15, 1e15)}


def unary_functions(x):
    return (
        *(
            np.sqrt(x),
            np.cbrt(x),
            np.exp(x),
            np.exp2(x),
            np.expm1(x),
            np.log(x),
            np.log2(x),
            np.log10(x),
            np.log1p(x),
        ),
        *(
            np.sin(x),
            np.cos(x),
            np.tan(x),
            np.arcsin(x),
            np.arccos(x),
            np.arctan(x),
            np.sinh(x),
            np.cosh(x),
            np.tanh(x),
        ),
        *(
            np.arcsinh(x),
            np.arccosh(x),
            np.arctanh(x),
            np.sign(x),
            np.reciprocal(x),
            np.square(x),
            np.rint(x),
        ),
        *(
            np.floor(x),
            np.ceil(x),
            np.trunc(x),
            *np.modf(x),
            np.signbit(x),
            np.sinc(x),
            np.abs(x),
            np.degrees(x),
        ),
    )


def binary_functions(x, y):
    return (
        *(x + y, x - y, x * y, x / y, x // y, x % y, np.fmod(x, y), x**y, np.arctan2(x, y), np.hypot(x, y)),
        *(np.copysign(x, y), np.logaddexp(x, y), np.logaddexp2(x, y), np.heaviside(x, y), *np.divmod(x, y)),
        *(x < y, x >= y, x == y, np.isclose(x, y)),
    )


def near(found, wanted, rounding):
    """Equal to rounding, with the signs of zeros, NaN and infinities; what is subnormal is zero."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
        return
    wanted = np.where(np.abs(wanted) < np.finfo(wanted.dtype).tiny, np.copysign(0, wanted), wanted)
    np.testing.assert_allclose(found, wanted, rtol=rounding, atol=0)
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))


def chains(x, y):
    """What no rule of algebra may shorten, since what is between overflows or vanishes."""
    return [
        np.log(np.exp(x)),
        np.exp(x) * np.exp(y),
        np.exp(x) / np.exp(y),
        np.log(np.abs(x) ** y),
        (x / y) / x,
        x / (y / x),
        np.exp(x) ** 0.001,
        (x**2.0) ** 0.5,
        np.sqrt(x * x),
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_chains_are_not_shortened():
    check(chains, np.array([1000.0, -1000.0, 2.0, 1e200]), np.array([-1000.0, 1000.0, 700.0, 1e-200]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", list(REAL_ENDS))
def test_real_functions(dtype):
    sizes = (0.0, 0.5, 1.0, 1.5, 2.0, 20.0, 95.0, 800.0, *REAL_ENDS[dtype], math.inf)
    x = np.array([sign * size for size in sizes for sign in (1, -1)] + [math.nan], dtype)
    pairs = np.repeat(x, x.size), np.tile(x, x.size)
    for function, args in ((unary_functions, (x,)), (binary_functions, pairs)):
        staged = pystage.compile(function, fallback="error")(*args)
        for found, wanted in zip(staged, function(*args), strict=True):
            near(found, wanted, 1e-12 if dtype == "float64" else 3e-5)


POINTS = np.array([0.0, 1.0, 2.5])
BETWEEN = np.array([-1.0, -0.0, 0.0, 0.5, 1.0, 1.7, 2.5, 4.0, math.nan, math.inf, -math.inf])


def between_points(at, positions, values):
    return np.interp(at, positions, values), np.interp(at, positions, values, left=-0.0, right=1.0)


def between_computed_points(at, positions, values, n):
    return np.interp(at, positions[:n], values[:n])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_interpolation_gives_the_points_themselves(count):
    staged = pystage.compile(between_points, fallback="error")
    for values in product([-0.0, 0.0, 1.0, math.inf, math.nan], repeat=count):
        for y in (np.array(values), np.array([complex(v, -v) for v in values])):
            check(between_points, BETWEEN, POINTS[:count], y, staged=staged, runs=1, zeros=True)
        check(
            between_computed_points,
            BETWEEN,
            POINTS,
            np.array([*values, *POINTS[count:]]),
            count,
            runs=1,
            zeros=True,
        )


def products_of_polynomials(x, y):
    return np.polymul(x, y), np.polymul(x, [0.0]), np.convolve(x, y), np.correlate(x, y)


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
@pytest.mark.parametrize("factor", [[0.0], [-0.0, 0.0], [1.0, -0.0, 2.0], [0.0, 1.0, -1.0]])
def test_zeros_in_products_of_polynomials(factor, dtype):
    for x in ([1.0, -2.0, 3.0, -0.0, 0.0], [-2.0]):
        check(products_of_polynomials, np.array(x, dtype), np.array(factor, dtype), runs=1, zeros=True)


def scaled_spectra(x):
    of_real = np.fft.ihfft(x), np.fft.rfft(x, norm="ortho"), np.fft.rfft(x, norm="forward")
    return of_real, np.fft.fft(x, norm="ortho"), np.fft.fft(x, norm="forward"), np.fft.ifft(x, norm="ortho")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_spectra_are_scaled_part_by_part():
    """A part that is 0 stays 0 beside one that is infinite."""
    for x in ([math.inf, 0.0], [1.0, math.inf, -0.0], [-0.0, 0.0, -0.0, 1.0], [-0.0, -0.0, -0.0, -0.0]):
        check(scaled_spectra, np.array(x), runs=1, zeros=True)


def counts_between(x, edges, weights):
    return np.histogram(x, bins=edges), np.histogram(x, bins=edges, weights=weights)


def counts_between_known(x, edges, weights):
    return np.histogram(x, bins=[0.0, 1.0, math.nan]), edges, weights


@pytest.mark.parametrize(
    "edges", [[0.0, 1.0, 2.0], [math.nan] * 3, [0.0, 1.0, math.nan], [0.0, math.nan, 2.0]]
)
@pytest.mark.parametrize("program", [counts_between, counts_between_known])
def test_bins_between_edges_that_are_nan(program, edges):
    x = np.array([0.5, math.nan, 2.0, 1.0, -3.0, math.inf, 5.0])
    check(program, x, np.array(edges), np.arange(7.0), runs=1)


def sums_of_diagonals(a):
    by_name = (
        np.einsum("...ij->...", a),
        np.einsum("...ij->...i", a),
        np.einsum("...ij->...j", a, optimize=True),
    )
    return np.trace(a), a.trace(1), np.linalg.trace(a), by_name


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (2, 1, 1)])
def test_sums_of_one_element_begin_with_zero(shape):
    check(sums_of_diagonals, -np.zeros(shape), runs=1, zeros=True)
    check(sums_of_diagonals, -np.zeros(shape, np.complex64), runs=1, zeros=True)


def between_literal_points(at):
    return (
        np.interp(at, [0.0, 10.0], [0.0, 1.0]),
        np.interp(at, [0.0, 2.0, 3.0], [0.0, 1.0, 2.0]),
        np.interp(at, [0.0, 1.0, 2.5], [0.0, -1.0, -0.0]),
        np.interp(at, [-1.0, 1.0, 2.5], [-0.0, 0.0, 0.0]),
        np.interp(at[at > -2], [0.0, 10.0], [0.0, 1.0]),
        np.interp([0.0, 1.0], [0.0, 10.0], [0.0, 1.0]),
    )


def test_interpolation_between_literals_keeps_the_sign_of_zeros():
    check(between_literal_points, BETWEEN, zeros=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "positions",
    [[0.0, 0.0, 2.0], [-0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0, 2.5]],
    ids=str,
)
def test_of_points_that_coincide_interpolation_takes_the_last(positions):
    values = np.arange(1.0, len(positions) + 1)
    check(between_points, BETWEEN, np.array(positions), values, zeros=True)


def sums_with_parts_of_constants(x):
    c = np.array([1.0, 0.0, -0.0])
    d = np.zeros(3)
    at = int(x[0] > 1)
    by_place = x * c[0] + c[1], x + d[:1], d[1] + x, x - c[2], x + c[2], x + d[at], d[[at, 0]] + x
    joined = np.concatenate([x, d])
    padded = np.pad(x, 2)
    return by_place, joined[2:4] + x, joined[::2] + x[0], padded[:2] - (-x), padded[4:] + x, padded[1] + x[0]


def sums_with_computed_constants(x):
    d = np.zeros(3)
    k = int(x[0] > 1)
    many = np.zeros((300, 300))
    sums = x + d.sum(), x + many.sum(), x + many.sum(axis=0)[:2], many[5, :2] + x, x + np.sin(many)[0, 7:9]
    of_integers = x + float(k * 0), x + float(k - k), (np.arange(2) * 0) + x, x + (np.arange(2) * k * 0.0)
    of_nothing = x + x[:0].sum(), x + (x[:0] @ np.ones((0, 2))), x - -np.ones(0).sum()
    tiny = x + np.full(2, 1e-60).astype(np.float32), x - -np.float64(np.array([1e-60])[0].astype(np.float32))
    chosen = np.where(x > 0, d[:2], d[1:]) + x, np.where(x > 0, 0.0, d[:2]) + x
    return sums, of_integers, of_nothing, tiny, chosen, np.diff(-d), -d - -d, d - d, -d + d


def quotients_by_computed_constants(x):
    by = (np.ones(3) * 49)[0]
    return (
        (x + 49.0) / by,
        (x + 49.0) / (np.ones((300, 300)).sum(axis=0)[0] - 251.0),
        (x + 1e16) - (by * 1e16),
    )


def complex_with_computed_constants(x):
    z = np.zeros(2, complex)
    one, zero = np.ones(2, complex)[:1], (z * -1)[1:]
    return x * 1j + z, z[0] + x * (1 - 1j), (x * 1j) * one, x * zero, (x * 1j) ** (one + 1), x - z.conj()


def polynomials(x):
    z = np.zeros(3)
    of_zeros = np.polyval(z, z), np.polyval(-z, -z), np.polyval(z, x), np.polyval(x, z), np.polyval(-z, z)
    return (
        of_zeros,
        np.polyval([1.0, 0.0], x),
        np.polyval(x, 1.0),
        np.polyval([x[0], x[1]], 1.0),
        np.polyval(x[:1], -1.0),
        np.gradient(-np.zeros(3)),
    )


def angles_of_constants(x):
    z, i = np.zeros(3), np.arange(3.0)
    return np.arctan2(i, i), np.arctan2(z[0], z[[int(x[0] > 1), 0]]), np.arctan2(-z, i), np.arctan2(x, z[:2])


def iotas_with_a_sign(x):
    a, b = np.array([-0.0, 1.0, 2.0]), np.array([-0.0, 1.0])
    arrays = a, b, a.astype(np.float32), b.astype(np.float16), np.array([[-0.0, 1.0], [2.0, 3.0]]), a[::-1]
    computed = -np.array([0.0, -1.0]), np.array([5.0, -0.0, 1.0])[1:], np.concatenate([-np.zeros(1), b[1:]])
    used = x + b, x * b, b / x, np.copysign(1.0, b), np.where(x > 0, x, b), b.reshape(1, 2) * x, a.prod()
    parts = np.array([complex(0.0, -0.0), 1, 2]), np.array([complex(-0.0, -0.0), complex(1, -0.0)])
    return arrays, computed, used, parts, b.astype(complex), np.append(-0.0, np.arange(1.0, 9.0)), a.tolist()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "function",
    [
        sums_with_parts_of_constants,
        sums_with_computed_constants,
        quotients_by_computed_constants,
        complex_with_computed_constants,
        polynomials,
        angles_of_constants,
        iotas_with_a_sign,
    ],
)
def test_what_xla_computes_from_constants_keeps_signs(function):
    check(function, -np.zeros(2), zeros=True)
    check(function, np.array([0.0, math.nan]), zeros=True)
    check(function, np.array([1.5, -0.0]), zeros=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [float, complex])
def test_constants_are_not_combined(dtype):
    def scaled(x, y):
        large, small = np.array([1e200, 1e-200]), 1e-200
        products = (x * 1e200) * 1e-200, (x * 1e200) * (y * 1e-200), x * large * small, 1e200 * (small * x)
        return products, (x / 1e-200) / 1e200, x + (y - x), (1.0 - x) + x, (x + y) - y, x - (x - y)

    check(scaled, np.array([1e200, 1e-200], dtype), np.array([1e-200, 1e200], dtype), zeros=True)
    check(scaled, np.array([1e20, 0.7], dtype), np.array([1.0, 0.1], dtype), zeros=True)
