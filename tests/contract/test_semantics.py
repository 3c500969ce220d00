"""What docs/semantics.md says is different, shown: the plain run and the staged run of each, side by side.

Each test has the name of its section there. What these tests say is wanted or tolerated; everything else that
differs is a defect, for which the other files of this directory look.
"""

from __future__ import annotations

import copy
import re
import signal
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pystage
import pytest
from tests.runtime.growing import total_below

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

    fuses = jax.__version_info__ < (0, 11)  # in this program; that of `difference` is fused by all
    assert (branch(0.1, 0.1, 0.01), staged(branch, 0.1, 0.1, 0.01)) == (1, 2 if fuses else 1)


def test_the_tail_of_the_normal_distribution():
    def tail(rng, x):
        while rng.random() < x:
            x -= 0.1
        numbers = rng.normal(size=300_000)
        return numbers[np.abs(numbers) > 3.65], rng.exponential(size=300_000), rng.random()

    plain, found = tail(np.random.default_rng(7), 0.5), staged(tail, np.random.default_rng(7), 0.5)
    assert plain[2] == found[2]
    for numbers, others, start in zip(plain[:2], found[:2], (3.65, 7.69), strict=True):
        assert np.all(np.abs(numbers[numbers != others]) > start)
        np.testing.assert_allclose(numbers, others, rtol=2.3e-16, atol=0)


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


def test_sums_of_bfloat16_ndarrays_are_not_rounded_at_each_step():
    def total(x):
        return x.sum()

    def chain(x, y):
        return (x * y + x) / (y - x) * x

    ones = np.ones(1000, ml_dtypes.bfloat16)
    assert (total(ones), staged(total, ones), staged(total, jnp.asarray(ones))) == (256, 1000, 1000)
    for dtype, tolerance in (
        (ml_dtypes.bfloat16, 0.0),
        (np.float16, 2e-3),
    ):  # float16: `x * y + x` may be one operation
        x, y = np.linspace(-2.0, 2.0, 99).astype(dtype), np.linspace(3.0, 9.0, 99).astype(dtype)
        np.testing.assert_allclose(staged(chain, x, y), chain(x, y), rtol=tolerance, atol=0.0)


def test_products_under_autocast():
    def product(a):
        return a @ a

    a = np.full((2, 2), 1.01, np.float32)
    with pystage.autocast("bfloat16"):
        rounded = staged(product, a)
    assert rounded.dtype == np.float32
    assert (rounded == 2 * 1.0078125**2).all()
    np.testing.assert_allclose(rounded, product(a), rtol=5e-3)


def test_the_order_of_equal_elements():
    def order(x):
        return np.argsort(x)

    x = np.tile([2.0, 1.0, 1.0], 100)
    np.testing.assert_array_equal(staged(order, x), order(x))
    few = x[:60]
    np.testing.assert_array_equal(staged(order, few), np.argsort(few, kind="stable"))


def test_the_order_of_sets_that_have_lost_elements():
    def kept(x, lost):
        found = set()
        for v in x:
            found.add(int(v))
        for v in x[:lost]:
            found.discard(int(v))
        return found

    x = np.random.default_rng(0).integers(0, 1000, 60)
    assert list(staged(kept, x, 0)) == list(kept(x, 0))
    assert staged(kept, x, 5) == kept(x, 5)


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
    assert x[0] == 0.0, "a refused run changes nothing"


def test_indices_of_jax_arrays_beyond_32_bits():
    def load(x, i):
        return x[i]

    x = jnp.arange(4.0)
    far = np.int64(2**33 + 1)
    assert (load(x, far), staged(load, x, far), staged(load, x, 2**33)) == (1.0, 3.0, 3.0)
    with pytest.raises(OverflowError):
        load(x, 2**33)


def test_floats_out_of_the_range_of_an_integer_type():
    def words(x):
        return x.astype(np.uint32)

    def others(x):
        return x.astype(np.uint8), x.astype(np.int32), x.astype(np.int64)

    x = np.array([300.0, -1.0, 3.7, np.nan, -1e20, 2.0**32 + 5])
    np.testing.assert_array_equal(staged(words, x), np.array([300, 2**32 - 1, 3, 0, 0, 5], np.uint32))
    least = np.iinfo(np.int32).min, np.iinfo(np.int64).min
    expected = [44, 255, 3, 0, 0, 0], [300, -1, 3, *[least[0]] * 3], [300, -1, 3, *[least[1]] * 2, 2**32 + 5]
    for found, wanted in zip(staged(others, x), expected, strict=True):
        np.testing.assert_array_equal(found, np.array(wanted, found.dtype))


def test_factorisations_of_matrices_with_infinities_or_nan():
    def determinant(a):
        return np.linalg.slogdet(a)

    def values(a):
        return np.linalg.svd(a, compute_uv=False)

    unknown = np.array([[4.0, 1.0], [1.0, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert determinant(unknown)[0] == 1.0
    assert np.isnan(staged(determinant, unknown)[0])
    infinite = np.array([[4.0, 1.0], [1.0, np.inf]])
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # whose LAPACK says no more that it has converged
        assert np.isnan(values(infinite)).all()
    with pytest.raises(np.linalg.LinAlgError):
        staged(values, infinite)


def test_texts_that_depend_on_what_numpy_has_called_before():
    def without_a_loop(a, b):
        return np.logaddexp(a, b, signature=("e", "d", None))

    numbers = np.float16(1), np.uint64(2)
    function = pystage.compile(without_a_loop, fallback="error")
    for call in (without_a_loop, function):
        with pytest.raises(TypeError, match="No loop matching|did not contain a loop"):
            call(*numbers)
    np.logaddexp(np.float16(1), np.float64(1))
    with pytest.raises(TypeError, match="did not contain a loop"):
        without_a_loop(*numbers)
    with pytest.raises(TypeError, match="No loop matching|did not contain a loop"):
        function(*numbers)


# ---------------------------------------------------------------- types


def test_weak_on_one_path_is_weak_on_none():
    def chosen(x):
        return x * 1.5 if x[0] > 1 else jnp.ones(3, jnp.float32)

    for x in (jnp.arange(3), jnp.arange(2, 5)):
        assert chosen(x).weak_type == (x[0] > 1)
        assert not staged(chosen, x).weak_type


def test_ndarrays_that_one_jax_array_is_converted_to_share_no_memory():
    def arrays(x):
        return np.asarray(x), np.ravel(x)

    x = jnp.arange(4.0)
    assert np.shares_memory(*arrays(x)) and not np.shares_memory(*staged(arrays, x))


def test_new_arrays_are_stored_row_by_row():
    def scaled(x):
        return x.T * 2.0

    x = np.arange(6.0).reshape(2, 3)
    assert scaled(x).flags.f_contiguous and not scaled(x).flags.c_contiguous
    found = staged(scaled, x)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, scaled(x))


# ---------------------------------------------------------------- interrupts


def test_a_field_of_new_records_that_leaves_alone_has_no_gaps():
    def field(x):
        made = np.zeros(3, [("x", "f8"), ("n", "i4")])
        made["x"] = x
        return made["x"]

    def parts(x):
        made = np.zeros(3, [("x", "f8"), ("n", "i4")])
        made["x"] = x
        return made[["x"]], made[["n"]]

    plain, own = field(2.0), staged(field, 2.0)
    assert np.array_equal(plain, own)
    assert (plain.strides, own.strides) == ((12,), (8,))
    assert np.shares_memory(*parts(2.0))
    assert not np.shares_memory(*staged(parts, 2.0))


def test_numbers_and_tuples_have_no_identity():
    def first(pairs):
        return pairs[0]

    pairs = [([1.0], 2.0)]
    result = pystage.compile(first, fallback="error")(pairs)
    assert first(pairs) is pairs[0] and result is not pairs[0]
    assert result == pairs[0] and result[0] is pairs[0][0]

    def same(text):
        return text[:1] + text[1:] is text

    assert same("ab") is False
    with pytest.raises(pystage.StagingError, match="PS210"):
        staged(same, "ab")


def test_what_numpy_leaves_open():
    def median(x):
        return np.median(x, overwrite_input=True), x

    x = np.array([3.0, 1.0, 2.0])
    plain, found = median(x.copy()), staged(median, x)
    assert plain[0] == found[0] and (found[1] == x).all() and sorted(plain[1]) == sorted(x)

    def repeated(x):
        return np.broadcast_arrays(x, np.ones(3))[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repeated(np.array(1.0)).flags.writeable
    assert not staged(repeated, np.array(1.0)).flags.writeable


def test_the_memory_of_what_grows_is_limited(monkeypatch):
    def guarded(n):
        try:
            return total_below(n)
        except MemoryError:
            return -1.0

    monkeypatch.setattr(pystage.config, "capacity_bytes", 1000)
    assert guarded(126) == 7875.0 and staged(guarded, 125) == 7750.0
    with pytest.raises(MemoryError):
        staged(guarded, 126)


def test_a_recursive_function_that_is_rebound_while_it_runs(monkeypatch):
    monkeypatch.delenv("PYSTAGE_TIER", raising=False)

    def runs(compiled):
        @compiled
        def count(n):
            if n == 3:
                rebind()
            return 0 if n == 0 else 1 + count(n - 1)

        def rebind():
            nonlocal count
            count = lambda n: 100

        first = count
        return first(5), first(2)

    assert runs(lambda f: f) == (103, 101)
    assert runs(lambda f: pystage.compile(f, tier="plain")) == (5, 101)


def test_an_interrupted_call_has_stored_nothing():
    class Interrupt(Exception):
        pass

    def interrupt(*_):
        raise Interrupt

    def fill(out, n):
        for i in range(n):
            out[i % 10] += 1.0

    def stopped(function, n):
        out = np.zeros(10)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            function(out, 10)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Interrupt):
                function(out, n)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        return out

    assert stopped(fill, 10**9).min() > 1.0
    np.testing.assert_array_equal(stopped(pystage.compile(fill), 3 * 10**8), np.ones(10))
