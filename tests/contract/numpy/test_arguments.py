"""NumPy's functions with the less usual of their arguments."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

A = np.arange(6.0).reshape(3, 2)
LINES = np.arange(12.0).reshape(3, 4, 1)
PLACES = np.array([[[0, 1, 2, 3, 0], [1, 2, 3, 0, 1]]])
WITH_NAN = np.array([np.nan, 1.0, 0.0, np.nan])
BYTES = np.frombuffer(b"\xff\x00\x02\x01" * 5, dtype=bool)
TABLE = np.arange(12.0).reshape(3, 4)
GAPS = np.array([[1.0, np.nan, 3.0, -2.0], [0.5, 4.0, 2.5, np.nan], [np.nan, np.nan, np.nan, np.nan]])
SOME = np.array([[True, False, True, True], [True, True, False, True], [True, False, True, False]])
WEIGHTS = np.array([[1.0, 2.0, 0.0, 3.0], [1.0, 0.0, 2.0, 1.0], [1.0, 1.0, 1.0, 4.0]])
STACK = np.arange(24.0).reshape(2, 3, 4)


@cases(A, np.array([7.0, 8.0]))
def insertions_along_the_first_axis(x, y):
    return (
        np.insert(x, 1, y, axis=0),
        np.insert(x, -1, y[:, None], axis=0),
        np.insert(x, [0, 2], y[:, None], axis=0),
        np.insert(x, [0, -1], 5.0, axis=0),
        np.insert(x, slice(0, 2), y, axis=0),
        np.insert(x, np.array([True, False, True]), y, axis=0),
        np.insert(x, [1, 1], y),
        np.insert(x, [], []),
    )


@cases(np.array([18014398509481984]), np.array([18014398509481985, 18014398509481983]), A[:0])
def what_looks_like_nothing_to_do(x, edges, empty):
    return (
        np.digitize(x, edges),  # as float64 the edges are equal
        np.diff(x, n=0),
        np.diff([1, 2, 4], n=0),
        np.pad(empty, [(0, 0), (0, 0)], mode="empty"),
        np.array(edges, copy=np.False_),
    )


@cases(A)
def insertions_along_the_last_axis(x):
    column = [[1], [2], [3]]
    return (
        np.insert(x, 1, [1, 2, 3], axis=1),
        np.insert(x, 1, column, axis=1),
        np.insert(x, [1], column, axis=1),
        np.insert(x, [0, 2], column, axis=1),
    )


@cases(A, raises=IndexError)
def an_insertion_outside(x):
    return np.insert(x, [0, 9], 0.0, axis=0)


@cases(np.array([0, 2, 4]), np.array([3, 2, 1], np.uint8))
def a_slope_by_falling_coordinates_without_sign(y, x):
    return np.gradient(y, x)


@cases(LINES.copy(), PLACES)
def lines_of_one_element_that_are_repeated(x, places):
    taken = np.take_along_axis(x, places, axis=1)
    np.put_along_axis(x, places, 20.0, axis=1)
    return taken


@cases(np.arange(5.0))
def products_along_a_path(x):
    return np.einsum("i,i", x, x, optimize=True), np.einsum("i,i", x, x), np.einsum("i->", x, optimize=True)


@cases(WITH_NAN)
def what_is_unique_along_the_only_axis(x):
    return np.unique(x, axis=0), np.unique(x, axis=-1, return_inverse=True, return_counts=True)


@cases([1, 2, 3], 2.5)
def lists_in_an_element_type(numbers, y):
    return np.int64(numbers), np.float32([y, 1.5]), np.int8((1, 2))


@cases(np.arange(3.0, dtype=np.float32), np.float32(1.0), 2.5)
def numbers_beside_narrow_arrays(x, one, y):
    return np.concatenate((x, y), axis=None), np.concatenate((one, 1), axis=None), np.append(x, y)


@cases(A, np.int32(3))
def an_extent_of_a_narrow_integer(x, n):
    return np.resize(x, n)


@cases(raises=ValueError)
def a_diagonal_of_a_list_is_read_only():
    np.diagonal([[1, 2], [3, 4]])[0] = 5


@cases(np.array([1.0, np.nan, 3.0]))
def more_degrees_of_freedom_than_numbers(x):
    return np.nanvar(x, ddof=2), np.nanstd(x, ddof=3), np.nanvar(x, ddof=1)


@cases(np.array(2.0))
def no_axis_to_pad(x):
    return np.pad(x, (2, 1)), np.pad(x, 1, mode="edge")


@cases(A)
def no_axis_to_flip(x):
    y = np.flip(x, axis=())
    y[0, 0] = 9.0
    return y


@cases(np.array([0, 1, 0, 2, 0]))
def zeros_at_one_end(x):
    return np.trim_zeros(x, "f"), np.trim_zeros(x, "B"), np.trim_zeros(x * 0)


@cases([0, 1, 2, 0], refused="PS220")
@cases(np.eye(3), refused="PS220")
def zeros_around_what_is_no_vector(x):
    return np.trim_zeros(x)


@cases(BYTES, BYTES[::2])
def bools_of_other_bytes_than_one(x, y):
    return x.sum(), np.count_nonzero(y), x | x, y * 2


@cases(np.arange(4), np.array([1.0, 5.0, 2.0, 3.0]))
def methods_with_the_arguments_that_they_have(i, x):
    x.put([1], values=2.0)
    return (
        (i.clip(2), i.clip(max=2), i.clip(None, 1), x.clip(1.5, 2.5, i * 0.5)),
        (
            i[:2].choose(x[:2], x[2:]),
            i[:1].choose([x]),
            i.choose(1.0, 2.0, 3.0, 4.0),
            i.choose(x[:1], x, mode="wrap"),
        ),
    )


@cases(np.arange(3.0), np.eye(3), np.zeros((2, 3, 3)), np.array(0.0), np.array([True, False, True]))
def products_with_an_output(x, a, c, number, mask):
    return (
        (np.matmul(a, x, out=c[0]), np.matmul(a, a + 1, out=c), np.dot(x, x, out=number), number),
        (np.matmul(a[:, mask], x[mask], out=c[1, 0]), np.matmul(x, x, out=c[0, 0, :1]), x.dot(x, number)),
    )


@cases(np.arange(4.0), np.uint32(1))
@cases(np.arange(4.0), np.uint64(7))
def resized_to_an_unsigned_size(x, n):
    return np.resize(x, n), np.resize(x, (2, n))


@cases([[1, 2], [3, 4]], np.array([0.0, 2.0]))
def lists_at_places_that_are_found(rows, x):
    return (
        np.compress([0, 1], rows, axis=0),
        np.take(rows, np.flatnonzero(x), axis=0),
        np.compress(x > 1, (3, 4)),
    )


@cases(np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0]))
@cases(np.arange(6.0).reshape(1, 6), np.array([1.0]))
def numbers_that_contractions_give(a, v):
    return (
        np.einsum("ab,ab,c->", a, a, v, optimize="greedy"),
        np.einsum("ab,ab,cd,cd->", a, a, a, a, optimize=True),
        (np.einsum("a,a->", v, v, optimize=None), np.einsum("a,b->", v, v, optimize=True)),
    )


@cases(np.full((2, 3), 100, np.int8), np.full((3, 2), 100, np.int8), np.ones((2, 1)))
def contractions_of_several_types(a, b, c):
    return np.einsum("ab,bc,cd->ad", a, b, c, optimize=True), np.einsum("ab,bc,cd->ad", a, b, c)


@cases(GAPS, SOME)
@cases(GAPS.astype(np.float32), SOME)
@cases(np.arange(12).reshape(3, 4), SOME)
def numbers_that_count(x, some):
    return (
        np.nansum(x, axis=1, initial=2),
        np.nanprod(x, axis=0, where=some, initial=3),
        np.nanmax(x, axis=1, initial=2),
        np.nanmin(x, axis=0, where=some, initial=1),
        np.nanmean(x, axis=1, where=some),
        np.nanvar(x, axis=1, where=some, correction=1),
        np.nanstd(x, axis=0, ddof=1),
    )


@cases(GAPS, SOME, raises=ValueError)
def an_extremum_of_perhaps_nothing(x, some):
    return np.nanmax(x, where=some)


@cases(TABLE)
def spreads_about_a_mean_that_is_known(x):
    mean = x.mean(axis=1, keepdims=True)
    return np.var(x, axis=1, mean=mean), np.std(x, axis=1, mean=mean), np.nanvar(x, axis=1, mean=mean)


@cases(GAPS)
def quantiles_of_numbers_by_each_method(x):
    found = []
    for method in (
        "inverted_cdf",
        "averaged_inverted_cdf",
        "closest_observation",
        "weibull",
        "median_unbiased",
        "higher",
        "nearest",
        "midpoint",
    ):
        found.append(np.nanquantile(x, [0.0, 0.3, 0.5, 1.0], axis=1, method=method))
    return found, np.nanpercentile(x, 40, method="hazen", keepdims=True)


@cases(GAPS, np.zeros(3), np.zeros((2, 3), np.float32), np.zeros((3, 1)))
def medians_and_quantiles_into_arrays(x, median, quantiles, kept):
    first = np.nanmedian(x, axis=1, out=median)
    second = np.nanquantile(x, [0.2, 0.7], axis=1, out=quantiles)
    np.nanmedian(x, axis=1, out=kept, keepdims=True)
    return first is median, second is quantiles


@cases(np.array([[3, 1, 2, 5], [7, 2, 9, 4], [1, 1, 8, 6]]), WEIGHTS)
def quantiles_with_weights(x, weights):
    return (
        np.quantile(x, [0.3, 0.9, 1.0], axis=1, weights=weights, method="inverted_cdf"),
        np.quantile(x, 0.5, axis=1, weights=weights[0], method="inverted_cdf"),
        np.percentile(x, [20, 80], weights=weights, method="inverted_cdf"),
        np.nanquantile(x, 0.4, weights=weights, method="inverted_cdf"),
    )


@cases([1.0, 2.0], [0.5, 1.0], raises=ValueError)
def weights_for_another_method(x, weights):
    return np.quantile(x, 0.5, weights=weights, method="lower")


@cases([1.0, 2.0], [0.5, 1.0], raises=ValueError)
def weights_for_the_usual_method(x, weights):
    return np.nanpercentile(x, 50, weights=weights)


@cases(TABLE, -WEIGHTS, raises=ValueError)
@cases(TABLE, 0 * WEIGHTS, raises=ValueError)
def weights_that_are_none(x, weights):
    return np.quantile(x, [0.3], axis=1, weights=weights, method="inverted_cdf")


@cases(TABLE[:2] + np.eye(2, 4), np.array([1.0, 2.0, 0.0, 3.0]), np.arange(4) + 1.5)
def covariances_with_weights(x, often, heavy):
    return (
        np.cov(x, fweights=often),
        np.cov(x, aweights=heavy),
        np.cov(x, fweights=often, aweights=heavy),
        often,
    )


@cases(TABLE)
def arrays_in_fortran_order(x):
    made = np.zeros((3, 4), order="F")
    made[1:] += x[1:]
    copied = np.array(x, order="F")
    copied[0] = 7.0
    flat = copied.reshape(-1, order="F")
    flat[1] = -1.0
    return made, copied, np.asfortranarray(x.T), x.astype(np.float32, order="F"), np.eye(3, order="F")


@cases(TABLE, np.array([2, 0]), np.zeros((2, 4)), np.zeros(4, np.int8))
def elements_taken_into_arrays(x, places, rows, flat):
    np.take(x, places, axis=0, out=rows)
    return np.choose([1, 0, 1, 1], [x[0].astype(int), x[1].astype(int)], out=flat) is flat


@cases(TABLE, np.array([2, 0]), np.zeros((4, 2)), raises=ValueError)
@cases(TABLE, np.array([2, 9]), np.zeros((2, 4)), raises=IndexError)
def elements_that_do_not_fit(x, places, out):
    return np.take(x, places, axis=0, out=out)


@cases(STACK, TABLE, np.zeros((2, 3)))
def products_along_other_axes(x, y, out):
    np.vecdot(x, y, out=out)
    return (
        np.matmul(x, x, axes=[(-2, -1), (-1, -2), (0, 1)]),
        np.matmul(x, y[0, :2], axes=[(2, 0), 0, 0]),
        np.vecdot(x[0], y, axis=0),
        np.vecdot(x, y, keepdims=True),
        np.matvec(y, y[:, 0], axes=[(1, 0), 0, 0]),
    )


@cases(STACK, np.zeros(STACK.shape, complex), np.zeros((2, 3, 3), complex))
def spectra_into_arrays(x, whole, half):
    return (
        np.fft.fft2(x, out=whole) is whole,
        np.fft.rfftn(x, out=half) is half,
        np.add(x[0, 0, 0], 1, out=...),
    )


@cases(np.array([0.0, 0.25, 0.75, 1.0]), np.array([-1.0, 0.3, 0.8, np.nan]))
def interpolation_of_complex_numbers_and_of_periods(x, at):
    return (
        np.interp(at, x, x + (1 + x) * 1j, left=3 + 2j),
        np.interp(0.5, [0, 1], np.array([complex(0, np.inf), 10j])),
        np.interp(at, x * 3, x, period=2.0),
        np.interp([-180, 0, 365], [190, -190, 350, -350], [5, 10, 3, 4], period=360),
    )


@cases(np.array([1.0, 2.0, -3.0]), np.arange(5.0))
def polynomials(p, x):
    return (
        np.polyint(p, 2, k=[1, 2]),
        np.polymul(p, [0, 1, 2]),
        np.poly(p),
        np.polyfit(x, x * x, 1, w=1 + x),
        np.polyfit(x, np.sin(x), 2, cov="unscaled"),
    )


@cases(np.sin(np.arange(20.0)), np.cos(3 * np.arange(20.0)))
def histograms_of_points(x, y):
    return (
        np.histogram2d(x, y, bins=4),
        np.histogram2d(x, y, bins=[3, [-1, 0, 0.5, 1]], density=True),
        np.histogramdd(np.stack([x, y], axis=1), bins=(2, 3), weights=x),
    )


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -3.0, 1e-310, -2.3e-308, 1.0, 0.1, 1e300]
NARROW = np.array(
    [0, -0.0, np.inf, np.nan, 6e-8, -6e-8, 1, -1, -1.5, 65504, -65504, 1e-4, -6.1e-5], np.float16
)


@cases(np.array([*SPECIAL, np.finfo(float).max, -np.finfo(float).max, np.finfo(float).tiny]))
@cases(np.array(SPECIAL[:5] + [1e-45, 1e-38, np.finfo(np.float32).max], np.float32))
@cases(NARROW)
@cases(np.array([3, -4, 0]))
def numbers_taken_apart(x):
    return np.frexp(x), np.spacing(x), np.frexp(3.5), np.spacing(-2.0)


@cases(np.array([1.5, -3.0, 8.0]), np.zeros(3), np.zeros(3, np.int32))
def several_results_into_arrays(x, mantissas, exponents):
    both = np.frexp(x, out=(mantissas, exponents))
    return both[0] is mantissas, np.modf(x, out=(None, x)), np.nanvar(x, ddof=0, correction=1)


@cases(np.array([1.5, -3.0, 8.0]), 0.5, raises=ValueError)
def two_corrections(x, n):
    return np.std(x, ddof=n, correction=n)


@cases(STACK)
def axes_and_grids(x):
    rolled = np.rollaxis(x, 2)
    rolled[0, 0] = -1.0
    copied = x.reshape((6, 4), copy=True)
    copied[0] = 5.0
    view = x.reshape((6, 4), copy=False)
    view[5] = 6.0
    return (
        rolled,
        np.rollaxis(x, 0, 3),
        copied,
        np.fromfunction(lambda i, j: i + 2 * j, (2, 3)),
        np.mask_indices(3, np.triu),
    )


@cases(TABLE, SOME, np.array([44.0, 55.0]))
@cases(np.arange(12), SOME, np.array([1.5, 7.0]), raises=TypeError)
@cases(TABLE, SOME, np.zeros(0), raises=ValueError)
def values_placed_again_and_again(x, some, values):
    np.place(x, some, values)


@cases(np.arange(10), np.array([True, False] * 5), np.array([0, 2, 4, 6, 8]))
@cases(np.arange(10), np.array([True, False] * 5), np.array([0, 2, 4, 6]), raises=ValueError)
def one_value_for_each_true_element(x, some, values):
    np.add.at(x, some, values)


@cases([1, [2]], raises=ValueError)
@cases([[1], 2], raises=ValueError)
@cases([[1], []], raises=ValueError)
@cases([], raises=ValueError)
def blocks_at_several_depths(blocks):
    return np.block(blocks)


@cases(np.arange(2), np.arange(3))
def arrays_that_are_not_equivalent(x, y):
    return np.array_equiv(x, y), np.array_equiv(x, np.array([[0, 1], [0, 1]])), np.can_cast(x, "f4")


@cases([1, 2], raises=ValueError)
def a_copy_that_is_asked_for_by_a_string(x):
    return np.array(x, copy="always")


@cases(np.array([1e308, -1e308, 1.0]), raises=ValueError)
@cases(np.array([1.0, -1.0, 0.0]))
def a_histogram_of_a_range_that_overflows(x):
    return np.histogram2d(x, x, bins=2)


@cases([1.0, 2.0])
@cases([1.0j, 2.0])
def parts_of_a_list(x):
    return np.real(x), np.imag(x)


@cases(np.ones(3), np.array([0, 1, 1]), np.array([1j, 2.0, 3.0]))
def complex_numbers_added_to_real_ones(x, places, values):
    np.add.at(x, places, values)
    np.multiply.at(x, places, values)
    return x


@cases(np.float64(2.5), np.zeros(()), np.zeros(1))
@cases(np.float32(2.5), np.zeros((), np.float32), np.zeros(1, np.float32))
@cases(np.array(2.5), np.zeros(()), np.zeros(1))
@cases(2.5, np.zeros(()), np.zeros(1))
def arrays_without_axes_for_results(n, out, vector):
    """Methods of NumPy's scalars give scalars; its functions convert Python's numbers."""
    results = [np.sum(n, out=out), np.mean(n, out=out), np.clip(n, 0, 2, out=out), np.round(n, 1, out=out)]
    more = (
        np.take(n, 0, out=out),
        np.std(n, out=out),
        np.add.reduce(n, axis=None, out=out),
        np.add(n, 1, out=out),
    )
    return results, more, np.cumsum(n, out=vector), np.max(n, axis=None, out=out, keepdims=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_a_store_into_an_array_that_overlaps_itself_is_refused() -> None:
    def store(windows):
        windows[0, 1] = 9.0

    x = np.arange(5.0)
    windows = np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
    with pytest.raises(pystage.StagingError, match="PS806.*elements of `windows` lie at one place in memory"):
        pystage.compile(store, fallback="error")(windows)
    assert x[1] == 1.0
    turned = np.zeros((3, 4))[:, ::2].T
    pystage.compile(store, fallback="error")(turned)
    assert turned[0, 1] == 9.0


def test_what_stays_refused() -> None:
    @pystage.compile(fallback="error")
    def maximum(x):
        return np.nanmax([x[0], x[1]], initial=3.0)

    with pytest.raises(pystage.StagingError, match="PS203"):
        maximum(TABLE[0])
    with pytest.raises(pystage.StagingError, match="PS211"):
        pystage.compile(np.unique, fallback="error")("text")
