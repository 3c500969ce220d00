"""What docs/semantics.md says is different, shown: the plain run and the staged run of each, side by side.

Each test has the name of its section there. What these tests say is wanted or tolerated; everything else that
differs is a defect, for which the other files of this directory look.
"""

from __future__ import annotations

import copy
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pystage
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "semantics.md"


def staged(function, *args):
    """The result of the staged run, on a copy of the arguments."""
    return pystage.compile(function, fallback="error")(*copy.deepcopy(args))


def raises(function, *args):
    """The class of the exception that the plain run raises."""
    with pytest.raises(Exception) as caught:
        function(*copy.deepcopy(args))
    return caught.type


def test_every_section_of_the_page_has_a_test():
    sections = re.findall(r"^### (.*)$", PAGE.read_text(), re.MULTILINE)
    names = {re.sub(r"\W+", "_", section.lower().replace("'", "")).strip("_") for section in sections}
    shown = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert names == shown - {"every_section_of_the_page_has_a_test"}


# ---------------------------------------------------------------- floats


def test_rounding_order_and_fused_multiply_add():
    def difference(a, b, c):
        return a * b - c

    plain, fused = difference(0.1, 0.1, 0.01), staged(difference, 0.1, 0.1, 0.01)
    assert plain == 2.0**-59 and fused == pytest.approx(9.020562075079397e-19)

    def branch(a, b, c):
        if a * b - c > 1.2e-18:
            return 1
        return 2

    assert (branch(0.1, 0.1, 0.01), staged(branch, 0.1, 0.1, 0.01)) == (1, 2)


def test_numbers_too_small_to_be_normal_are_zero():
    def half(x):
        return x * 0.5

    def positive(x):
        return x > 0

    tiny = np.array([2.5e-308])
    assert half(tiny)[0] > 0.0 and staged(half, tiny)[0] == 0.0
    assert positive(tiny / 100)[0] and not staged(positive, tiny / 100)[0]


def test_rounding_to_digits():
    def rounded(x):
        return round(x, 2)

    assert (rounded(2.675), staged(rounded, 2.675)) == (2.67, 2.68)
    assert staged(rounded, 1.234) == 1.23


def test_a_negative_number_to_a_fractional_power_is_nan():
    def power(x, y):
        return x**y

    assert type(power(-8.0, 0.5)) is complex
    found = staged(power, -8.0, 0.5)
    assert type(found) is float and math.isnan(found)
    assert staged(power, complex(-8.0), 0.5) == pytest.approx(power(-8.0, 0.5))


# ---------------------------------------------------------------- integers


def test_python_integers_have_64_bits():
    def double(n):
        return n + n

    def product(n):
        return math.factorial(n)

    assert double(2**62) == 2**63 and staged(double, 2**62) == -(2**63)
    assert product(21) == 21 * math.factorial(20) and staged(product, 21) == math.factorial(20)

    def equal(n, x):
        return n == x

    assert not equal(2**53 + 1, 2.0**53) and staged(equal, 2**53 + 1, 2.0**53)


def test_numbers_out_of_range_saturate_or_wrap():
    def as_int(x):
        return int(x)

    assert raises(as_int, math.nan) is ValueError and staged(as_int, math.nan) == 0
    assert raises(as_int, math.inf) is OverflowError and staged(as_int, math.inf) == 2**63 - 1
    assert as_int(1e30) == int(1e30) and staged(as_int, 1e30) == 2**63 - 1

    def bytes_of(x):
        return x.astype(np.uint8)

    found = staged(bytes_of, np.array([300.0, -1.0, 3.7, np.nan]))
    np.testing.assert_array_equal(found, np.array([255, 0, 3, 0], np.uint8))

    def store(x, n):
        x[0] = n
        return x

    assert raises(store, np.zeros(1, np.uint8), 300) is OverflowError
    assert staged(store, np.zeros(1, np.uint8), 300)[0] == 300 % 256


# ---------------------------------------------------------------- errors that are not raised


def test_an_index_out_of_bounds_is_moved_to_the_edge():
    def item(x, i):
        return x[i]

    x = np.arange(4.0)
    assert raises(item, x, 7) is IndexError
    assert (staged(item, x, 7), staged(item, x, -9)) == (3.0, 0.0)
    np.testing.assert_array_equal(staged(item, x, np.array([1, 7, -9])), [1.0, 3.0, 0.0])

    def store(x, i):
        x[i] = 5.0
        return x

    assert raises(store, x, 7) is IndexError
    np.testing.assert_array_equal(staged(store, x, 7), [0.0, 1.0, 2.0, 5.0])
    np.testing.assert_array_equal(staged(store, x, -9), [5.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(staged(store, x, np.array([0, 7, -9])), [5.0, 1.0, 2.0, 3.0])

    def known(x):
        return x[9]

    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        staged(known, x)


def test_a_division_by_zero_does_not_raise():
    def divided(a, b):
        return a / b

    def floored(a, b):
        return a // b, a % b

    assert raises(divided, 1.0, 0.0) is ZeroDivisionError
    assert staged(divided, 1.0, 0.0) == math.inf and math.isnan(staged(divided, 0.0, 0.0))
    assert staged(divided, -1, 0) == -math.inf
    assert raises(floored, 7, 0) is ZeroDivisionError and staged(floored, 7, 0) == (0, 0)
    whole, rest = staged(floored, 7.0, 0.0)
    assert whole == math.inf and math.isnan(rest)


def test_a_number_outside_of_a_functions_domain_gives_nan_or_infinity():
    def root(x):
        return math.sqrt(x)

    def logarithm(x):
        return math.log(x)

    def exponential(x):
        return math.exp(x)

    def squared(x):
        return x**2

    assert raises(root, -1.0) is ValueError and math.isnan(staged(root, -1.0))
    assert raises(logarithm, 0.0) is ValueError and staged(logarithm, 0.0) == -math.inf
    assert raises(exponential, 1000.0) is OverflowError and staged(exponential, 1000.0) == math.inf
    assert raises(squared, 1e200) is OverflowError and staged(squared, 1e200) == math.inf

    def powers(n, k):
        return n**k

    integers = np.array([2, 3]), np.array([-1, 1])
    assert raises(powers, *integers) is ValueError
    np.testing.assert_array_equal(staged(powers, *integers), [0, 3])

    def shifted(n, k):
        return n << k

    assert raises(shifted, 1, -1) is ValueError and staged(shifted, 1, -1) == 0


def test_numpys_warnings_are_not_given():
    def inverse(x):
        return 1.0 / x

    x = np.array([0.0, 1.0])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        plain = inverse(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(staged(inverse, x), plain)


# ---------------------------------------------------------------- types


def test_the_type_after_a_loop_of_zero_trips():
    def total(x, n):
        acc = 0
        for i in range(n):
            acc = acc + x[i]
        return acc

    x = np.arange(3.0)
    assert type(total(x, 0)) is int
    found = staged(total, x, 0)
    assert type(found) is np.float64 and found == 0.0
    assert type(total(x, 2)) is type(staged(total, x, 2)) is np.float64


def test_a_number_that_is_int_or_float_by_path_is_a_float():
    def either(x):
        if x > 0:
            y = 1
        else:
            y = 2.5
        return y

    assert type(either(1.0)) is int
    found = staged(either, 1.0)
    assert type(found) is float and found == 1.0
    assert staged(either, -1.0) == 2.5


def test_new_arrays_are_stored_row_by_row():
    def scaled(x):
        return x.T * 2.0

    x = np.arange(6.0).reshape(2, 3)
    assert scaled(x).flags.f_contiguous and not scaled(x).flags.c_contiguous
    found = staged(scaled, x)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, scaled(x))
