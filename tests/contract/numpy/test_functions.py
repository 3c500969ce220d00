"""NumPy: elementwise functions, reductions, sorting and searching, and small programs of them."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([[0.5, -1.5, 2.0], [-0.25, 3.0, 0.0]])
POSITIVE = np.array([0.5, 1.5, 4.0])
INTEGERS = np.array([[3, -1, 4], [1, 5, -9]])
FLAGS = np.array([[True, False, True], [False, False, True]])
A = np.arange(6.0).reshape(2, 3)
B = np.arange(12.0).reshape(3, 4) - 5.0
CUBE = np.arange(24.0).reshape(2, 3, 4)


# ---------------------------------------------------------------- elementwise


@cases.each((X,), (X.astype(np.float32),), (X[0],))
def rounding_and_signs(x):
    return (
        np.abs(x),
        np.floor(x),
        np.ceil(x),
        np.rint(x),
        np.trunc(x),
        np.round(x),
        np.sign(x),
        np.negative(x),
    )


@cases.each((X,), (X.astype(np.float32),))
def exponentials(x):
    return np.exp(x), np.expm1(x), np.exp2(x), np.log1p(np.abs(x)), np.tanh(x), np.logaddexp(x, 1.0)


@cases.each((POSITIVE,), (POSITIVE.astype(np.float32),), (np.array([1, 2, 9]),))
def roots_and_logarithms(x):
    return np.sqrt(x), np.log(x), np.log2(x), np.log10(x), np.cbrt(x), np.square(x), np.reciprocal(x * 1.0)


@cases.each((X / 4,), (X.astype(np.float32) / 4,))
def trigonometry(x):
    return (
        (np.sin(x), np.cos(x), np.tan(x), np.arcsin(x), np.arccos(x), np.arctan(x)),
        (np.sinh(x), np.cosh(x), np.arcsinh(x), np.arctanh(x), np.arctan2(x, 0.5), np.hypot(x, 2.0)),
        (np.deg2rad(x), np.rad2deg(x), np.sinc(x)),
    )


@cases.each((X, A), (INTEGERS, INTEGERS.T.copy().T), (X, 1.0), (INTEGERS, 2))
def two_arguments(x, y):
    return (
        (np.add(x, y), np.subtract(x, y), np.multiply(x, y), np.maximum(x, y), np.minimum(x, y)),
        (np.equal(x, y), np.less(x, y), np.greater_equal(x, y), np.not_equal(x, y)),
    )


@cases(X, np.array([[2.0, -2.0, 0.5], [1.5, 1.0, 3.0]]))
def divisions_and_powers(x, y):
    return (
        np.divide(x, y),
        np.floor_divide(x, y),
        np.mod(x, y),
        np.remainder(x, y),
        np.fmod(x, y),
        np.power(np.abs(x), y),
        np.copysign(x, y),
        np.float_power(np.abs(x), 2),
    )


@cases(INTEGERS, 2)
def integer_functions(n, k):
    return (
        np.power(n, k),
        np.floor_divide(n, k),
        np.mod(n, k),
        np.bitwise_and(n, 3),
        np.bitwise_or(n, 8),
        np.left_shift(n, 1),
        np.invert(n),
        np.gcd(n, 6),
        np.abs(n),
        np.sign(n),
    )


@cases(FLAGS, X)
def logic(flags, x):
    return (
        np.logical_and(flags, x > 0),
        np.logical_or(flags, x),
        np.logical_not(x),
        np.logical_xor(flags, x < 0),
        flags & (x > 0),
        flags | True,
        ~flags,
        flags ^ flags,
    )


@cases(np.array([1.0, np.nan, np.inf, -np.inf, 0.0]))
def special_values(x):
    return (
        (np.isnan(x), np.isinf(x), np.isfinite(x), np.nan_to_num(x), np.maximum(x, 1.0), np.minimum(x, 1.0)),
        (np.fmax(x, 1.0), np.fmin(x, 1.0), np.signbit(x), np.abs(x), x == x, x > 0),
    )


@cases(X, FLAGS)
def selection(x, flags):
    return (
        np.where(flags, x, 0.0),
        np.where(x > 0, 1, -1),
        np.where(flags, x, x[0]),
        np.clip(x, -1.0, 1.0),
        np.clip(x, None, 0.5),
        x.clip(0, 1),
        np.select([x > 1, x > 0], [x, -x], default=9.0),
    )


@cases(np.array([1 + 2j, -0.5j, 3.0]))
def complex_numbers(z):
    return (
        (z.real, z.imag, z.conj(), np.abs(z), np.angle(z), z * z, z / (1 + 1j)),
        (np.exp(z), np.sqrt(z), np.conjugate(z), np.real(z), np.imag(z), z == z, z.sum(), z.mean()),
    )


@cases(np.array([1, 2], np.int8), np.array([1.5, 2.5], np.float16))
def dtype_argument(n, x):
    return np.add(n, n, dtype=np.int32), np.multiply(x, x, dtype=np.float64), np.exp(x, dtype=np.float32)


# ---------------------------------------------------------------- reductions


@cases.each((X,), (INTEGERS,), (X.astype(np.float32),), (CUBE,))
def reductions(x):
    return (
        (x.sum(), x.sum(axis=0), x.sum(axis=-1), x.sum(axis=(0, 1)), x.sum(0, keepdims=True)),
        (x.mean(), np.mean(x, axis=1), np.mean(x, axis=1, keepdims=True)),
        (x.max(), x.min(axis=0), np.max(x, axis=1), np.min(x), np.amax(x, axis=0)),
    )


@cases.each((X,), (INTEGERS,))
def products_and_norms(x):
    return x.prod(), np.prod(x, axis=0), x.var(), x.std(axis=0), np.var(x, axis=1, ddof=1), np.ptp(x, axis=0)


@cases.each((X,), (INTEGERS,), (X.astype(np.float32),))
def positions(x):
    return x.argmax(), x.argmin(), np.argmax(x, axis=0), np.argmin(x, axis=1), x.argmax(axis=1, keepdims=True)


@cases(np.array([3.0, 1.0, 3.0, 1.0]), np.array([1.0, np.nan, 0.0, np.nan]))
def ties_and_nans(x, y):
    return (
        x.argmax(),
        x.argmin(),
        y.argmax(),
        y.argmin(),
        y.max(),
        y.min(),
        y.sum(),
        np.nansum(y),
        np.nanmax(y),
    )


@cases.each((FLAGS,), (X,))
def any_all_count(x):
    return x.any(), x.all(), np.any(x, axis=0), np.all(x, axis=1), np.count_nonzero(x), np.any(x > 1, axis=-1)


@cases.each((X,), (INTEGERS,), (FLAGS,))
def running_totals(x):
    return np.cumsum(x), x.cumsum(axis=0), np.cumsum(x, axis=1), np.cumprod(x, axis=1), np.diff(x * 1, axis=1)


@cases(X)
def reductions_with_dtype_and_start(x):
    return x.sum(dtype=np.float32), np.sum(x, initial=10.0), np.max(x, initial=5.0), x.mean(dtype=np.float32)


@cases(np.zeros((0, 3)), np.zeros((2, 0)))
def reductions_of_nothing(x, y):
    return x.sum(), x.sum(axis=0), y.prod(axis=1), x.any(), y.all(), x.sum(axis=1)


@cases(X, np.array([3.0, 1.0, 2.0]))
def sorting(x, y):
    return np.sort(y), np.argsort(y), np.sort(x, axis=0), np.argsort(x, axis=1), np.median(y), np.sort(-x)


@cases(np.array([3.0, 1.0, 2.0]))
def kinds_of_sorts(y):
    return (
        (
            np.sort(y, kind="quick"),
            np.argsort(y, kind="heap"),
            np.sort(y, kind="Stable"),
            np.argsort(y, kind="m"),
        ),
        (np.sort(y[y > 1], kind="q"), np.sort_complex(y), np.real_if_close(y)),
    )


@cases(np.array([1.0, 3.0, 5.0]), np.array([0.0, 3.0, 4.0, 9.0]))
def searching(edges, x):
    return np.searchsorted(edges, x), np.searchsorted(edges, x, side="right"), np.interp(x, edges, edges * 2)


@cases(X)
def statistics(x):
    return np.average(x, axis=0), np.average(x, axis=1, weights=np.array([1.0, 2.0, 3.0])), np.linalg.norm(x)


@cases(np.array([1.0, 2.0, 4.0]), np.array([0.5, 2.0]))
@cases(np.array([1.0, 2.0, np.inf]), np.array([np.nan, 2.0]))
@cases(np.array([1.0, 2.0, 4.0], np.float32), np.array([np.inf, 0.0, 1.0], np.float32))
def convolutions_of_a_numbered_mode(x, y):
    return (
        [np.convolve(x, y, 0), np.convolve(x, y, 1), np.convolve(x, y, mode=2)],
        [np.correlate(x, y, 0), np.correlate(x, y, 1), np.convolve(x[x > 1], y, 0)],
    )


LEAST = np.array([-32768, -32768, -32768, 6, -4], np.int16)


@cases(LEAST, np.array([24576, 0, -32768, 4, 8], np.int16))
@cases(LEAST.astype(np.uint8), np.array([0, 4, 255, 6, 9], np.uint8))
def common_divisors_and_multiples(x, y):
    return np.gcd(x, y), np.lcm(x, y), np.gcd(x[0], y[0])


@cases(np.zeros(0), np.zeros((0, 3)), np.zeros(0, bool), np.array([1.0, 2.0]))
def reductions_by_ufuncs(x, rows, flags, y):
    return (
        (
            np.hypot.reduce([]),
            np.logaddexp.reduce(x),
            np.logaddexp2.reduce(rows),
            np.logical_xor.reduce(flags),
        ),
        (
            np.pow.reduce(3),
            np.subtract.reduce(2.5, axis=-1),
            np.hypot.reduce(y[y > 5]),
            np.gcd.reduce(True * 4),
        ),
        (np.fmax.reduce(np.array([[1.0, np.nan], [3.0, 2.0]]), axis=None), np.hypot.reduce(rows, axis=1)),
    )


@cases(np.zeros((0, 3)))
def quantiles_of_nothing(x):
    return (
        (np.nanpercentile(x, 40, axis=0), np.nanpercentile(x, 40), np.nanquantile(x, [0.2, 0.5], axis=1)),
        (np.nanpercentile(x, [40, 50], axis=0, keepdims=True), np.nanquantile(x.astype(np.float32), 0.5)),
    )


@cases(np.array([1, 2], np.int32), np.array([-1, 2147483646], np.int32))
@cases(np.array([1, 2], np.int32), np.array([-1, 2147483647], np.int32), raises=RuntimeError)
def members_by_a_table(x, y):
    return np.isin(x, y, kind="table")


@cases(np.array([1.0, 2.0, 3.0]))
def more_steps_than_elements(x):
    return np.diff(x, 100), np.polyder(x, 60), np.diff(x > 1, 7)


# ---------------------------------------------------------------- attributes and small programs


@cases(CUBE, np.float32(1.0))
def attributes(x, s):
    return (
        x.shape,
        x.ndim,
        x.size,
        x.dtype,
        len(x),
        x.itemsize,
        x.nbytes,
        s.shape,
        s.dtype,
        s.ndim,
        x.dtype == np.float64,
    )


@cases(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 0.125]))
def polynomial(x, coefficients):
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return y


@cases(np.array([1.0, -2.0, 0.5]))
def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


@cases(np.array([[3.0, 2.0], [2.0, 6.0]]), np.array([2.0, -8.0]))
def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rounds = 0
    while np.sqrt(r @ r) > 1e-6:
        ap = a @ p
        alpha = (r @ r) / (p @ ap)
        x = x + alpha * p
        new = r - alpha * ap
        p = new + (new @ new) / (r @ r) * p
        r = new
        rounds += 1
    return x, rounds


@cases.each((np.array([[2.0, 1.0], [1.0, 3.0]]),), (np.array([[-2.0, 1.0], [1.0, -3.0]]),))
def subscripts_that_a_branch_chooses(m):
    subscripts = "ij->i" if m.sum() > 0 else "ij->j"
    return np.einsum(subscripts, m * [1.0, 2.0])


@cases(np.array([[2.0, 1.0], [1.0, 3.0]]))
def power_iteration(m):
    v = np.ones(len(m))
    for _ in range(50):
        v = m @ v
        v = v / np.linalg.norm(v)
    return v @ m @ v


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
