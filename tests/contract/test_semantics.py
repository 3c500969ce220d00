"""What docs/semantics.md says is different, shown: the plain run and the staged run of each, side by side.

Each test has the name of its section there. What these tests say is wanted or tolerated; everything else that
differs is a defect, for which the other files of this directory look.
"""

from __future__ import annotations

import copy
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


def test_the_greater_of_two_zeros():
    def greatest(x, y):
        return np.maximum(x, y)

    zeros = np.array([0.0, -0.0])
    assert (greatest(zeros, zeros[::-1]) == 0.0).all()
    assert not np.signbit(staged(greatest, zeros, zeros[::-1].copy())).any()


def test_the_order_of_equal_elements():
    def order(x):
        return np.argsort(x)

    x = np.tile([2.0, 1.0, 1.0], 100)
    assert (x[order(x)] == np.sort(x)).all()
    np.testing.assert_array_equal(staged(order, x), np.argsort(x, kind="stable"))


def test_a_negative_number_to_a_fractional_power_is_refused():
    def power(x, y):
        return x**y

    assert type(power(-8.0, 0.5)) is complex
    with pytest.raises(pystage.StagingError, match="PS811"):
        staged(power, -8.0, 0.5)
    assert staged(power, complex(-8.0), 0.5) == pytest.approx(power(-8.0, 0.5))


def test_numpys_warnings_are_not_given():
    def inverse(x):
        return 1.0 / x

    x = np.array([0.0, 1.0])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        plain = inverse(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(staged(inverse, x), plain)


# ---------------------------------------------------------------- integers


def test_python_integers_have_64_bits():
    def double(n, x):
        x[0] = n
        return n + n

    x = np.zeros(1)
    assert double(2**62, x.copy()) == 2**63
    with pytest.raises(pystage.StagingError, match="PS810"):
        pystage.compile(double)(2**62, x)
    assert x[0] == 2.0**62


def test_arrays_of_numbers_out_of_range_saturate():
    def bytes_of(x):
        return x.astype(np.uint8)

    found = staged(bytes_of, np.array([300.0, -1.0, 3.7, np.nan]))
    np.testing.assert_array_equal(found, np.array([255, 0, 3, 0], np.uint8))


def test_factorisations_of_matrices_with_infinities_or_nan():
    def factor(a):
        return np.linalg.cholesky(a)

    def determinant(a):
        return np.linalg.slogdet(a)

    def values(a):
        return np.linalg.svd(a, compute_uv=False)

    unknown = np.array([[4.0, 1.0], [1.0, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert factor(unknown)[0, 0] == 2.0 and determinant(unknown)[0] == 1.0
    assert np.isnan(staged(factor, unknown)).all() and np.isnan(staged(determinant, unknown)[0])
    infinite = np.array([[4.0, 1.0], [1.0, np.inf]])
    for function in (factor, values):
        with pytest.raises(np.linalg.LinAlgError):
            staged(function, infinite)


# ---------------------------------------------------------------- types


def test_new_arrays_are_stored_row_by_row():
    def scaled(x):
        return x.T * 2.0

    x = np.arange(6.0).reshape(2, 3)
    assert scaled(x).flags.f_contiguous and not scaled(x).flags.c_contiguous
    found = staged(scaled, x)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, scaled(x))
