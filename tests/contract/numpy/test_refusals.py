"""Calls that NumPy refuses, whatever numbers the arrays hold: the exception is its own, with its text."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(5.0)
A = np.arange(6.0).reshape(3, 2)
INTS = np.array([1, 2, 4])


@cases(X)
@cases(X.astype(np.float32))
def arguments_that_it_does_not_take(x):
    try:
        np.sum(x, foo=1)
    except TypeError as error:
        first = str(error)
    try:
        np.clip(x, 2)
    except TypeError as error:
        second = str(error)
    try:
        np.argsort(x, kind=3)
    except TypeError as error:
        return first, second, str(error)


@cases(X, INTS)
def options_that_ufuncs_do_not_have(x, other):
    try:
        text = np.divide(x, other)
    except ValueError as error:
        text = str(error)
    try:
        np.absolute(text, casting="bogus")
    except ValueError as error:
        first = str(error)
    try:
        np.absolute(text, order="bogus")
    except ValueError as error:
        return first, str(error)


@cases(X, 2, raises=ValueError)
def limits_by_both_names(x, n):
    return np.clip(x, n, 3, max=n)


@cases(X, 2, raises=TypeError)
def a_limit_that_is_missing(x, n):
    return np.clip(x, a_max=n)


@cases(X, 2)
def a_limit_by_keyword(x, n):
    return np.clip(x, max=n), np.clip(x, n, None), x.clip(min=n), x.clip(n, max=3)


@cases(INTS, 2, raises=ValueError)
def choices_that_are_too_many(x, n):
    return x.choose([x] * 62 + [n, n])


@cases(X, raises=TypeError)
def a_cast_of_joined_arrays(x):
    return np.concatenate((x, x), dtype=np.int64)


@cases(X, raises=TypeError)
def a_safe_cast_that_is_asked_for(x):
    return np.hstack((x, x), casting="safe", dtype=np.int64)


@cases(INTS, raises=TypeError)
def a_cast_of_an_end(x):
    return np.ediff1d(x, to_begin=1.5)


@cases(X, raises=TypeError)
def a_cast_of_products(x):
    return np.einsum("i,i", x, x, dtype=np.int64)


@cases(X, raises=TypeError)
def a_mean_of_fractions_in_integers(x):
    return np.nanmean(x, dtype=np.int64)


@cases(X, raises=TypeError)
def a_ufunc_of_other_types(x):
    return np.bitwise_and(x, x)


@cases(INTS, raises=TypeError)
def conditions_that_are_numbers(x):
    return np.select([x], [x])


@cases(X, raises=TypeError)
def a_bool_as_an_extent(x):
    return np.reshape(x, (True, -1))


@cases(X, raises=ValueError)
def extents_that_do_not_fit(x):
    return x.reshape(4, -1)


@cases(np.ones((3, 1, 2)), np.ones((3, 2, 2)), raises=ValueError)
def shapes_that_do_not_join(x, y):
    return np.concatenate((x, y))


@cases(X, raises=ValueError)
def a_plane_that_is_not_there(x):
    return np.rot90(x)


@cases(A, raises=ValueError)
def three_axes_for_a_plane(x):
    return np.rot90(x, axes=(0, 1, 2))


@cases(X, raises=ValueError)
def a_vector_that_is_split_into_rows(x):
    return np.vsplit(x, 5)


@cases((X, X), raises=TypeError)
def blocks_in_a_tuple(blocks):
    return np.block(blocks)


@cases(raises=TypeError)
def a_number_to_stack():
    return np.hstack(1)


@cases(X, raises=ValueError)
def a_triangle_of_a_vector(x):
    return np.triu_indices_from(x)


@cases(X, raises=ValueError)
def a_kind_of_search_that_is_not_there(x):
    return np.isin(x, x, kind="other")


@cases(np.array([1.0, 2.0]), raises=IndexError)
def places_that_are_fractions(places):
    return np.insert([0, 1, 2], places, [10, 20])


@cases(np.ones((3, 3, 3)), np.ones((1, 3, 1)), raises=ValueError)
@cases(np.ones((3, 3)), np.ones(3), raises=ValueError)
@cases(np.ones((3, 3)), np.ones((2, 3, 3)), raises=ValueError)
@cases(np.ones((3, 3)), np.ones((1, 3, 3)))
@cases(np.ones(3), np.eye(3))
def a_product_in_place(a, b):
    a @= b
    return a


@cases(X, 0.0, raises=TypeError)
@cases(X, False, raises=ValueError)
def a_step_of_a_slice(x, step):
    return x[::step]


@cases(X, raises=ValueError)
def a_shape_in_which_one_extent_is_open(x):
    return x.reshape(5000, -1)


@cases(X, raises=IndexError)
def a_result_of_too_many_axes(x):
    return x[(None,) * 64]


@cases(X, raises=ValueError)
def a_kind_of_sort_of_selected_elements(x):
    return np.sort(x[x > 1], kind="other")


@cases(X, raises=ValueError)
def columns_that_no_memory_holds(x):
    return np.vander(x, 1 << 61)


@cases(np.zeros((0, 3)), raises=ValueError)
def a_percentile_of_nothing_that_is_out_of_range(x):
    return np.nanpercentile(x, 101, axis=0)


@cases(np.full((2, 3), np.nan), raises=ValueError)
@cases(np.ones((2, 3)), raises=TypeError)
@cases(np.array([[1, np.nan]]), raises=ValueError)
def the_place_of_the_greatest_number_along_no_axis(x):
    return np.nanargmax(x, axis=())


@cases(np.arange(30).reshape(6, 5), -2, raises=ValueError)
def means_of_a_negative_number_of_edges(x, n):
    return np.pad(x, 2, "mean", stat_length=n)


@cases(np.array(1), 10, raises=ValueError)
@cases(np.array(1), -1)
def an_order_along_an_axis_that_is_not_there(x, axis):
    try:
        return np.lexsort((x,), axis=axis)
    except ValueError as error:
        raise ValueError(str(error)) from None


@cases(np.eye(3), np.zeros((3, 3)))
@cases(np.eye(3), np.zeros((3, 3), np.float32), raises=ValueError)
def a_product_into_an_array(x, out):
    return np.dot(x, x, out=out)


@cases(np.eye(2), np.array(2.0), np.ones(2), raises=np.linalg.LinAlgError)
@cases(np.eye(2), np.ones(2), np.eye(2), raises=np.linalg.LinAlgError)
@cases(np.ones(2), np.eye(2), np.ones(2))
def products_of_several_matrices(a, b, c):
    return np.linalg.multi_dot([a, b, c])


@cases(np.array([2**64 - 1, 1], np.uint64), raises=ValueError)
@cases(np.array([2, 1], np.uint64))
def counts_of_large_numbers(x):
    return np.bincount(x, minlength=4)


@cases(np.array(2.0), raises=TypeError)
def an_inverse_without_axes(x):
    return np.linalg.tensorinv(x)


@cases(np.ones(2))
def what_is_no_sequence_of_arrays(x):
    texts = []
    for arrays in ({1, 2}, {1: x, 2: x}.values()):
        try:
            np.stack(arrays)
        except TypeError as error:
            texts.append(str(error))
        try:
            np.concatenate(arrays)
        except TypeError as error:
            texts.append(str(error))
    return texts, np.trim_zeros(x, axis=())


@cases(2.0, raises=IndexError)
@cases(np.ones(3), raises=IndexError)
def a_transform_along_axes_that_are_not_there(x):
    return np.fft.rfft2(x)


@cases(np.float64(2))
@cases(np.array(2.0))
def more_axes_than_there_are(x):
    texts = []
    for index in ((None,) * 65, (..., ...)):
        try:
            x[index]
        except IndexError as error:
            texts.append(str(error))
    try:
        return np.array(x, ndmax=65)
    except ValueError as error:
        return texts, str(error)


@cases.each((A, 2**31), (A, -(2**31) - 1), (A, 2**63), raises=OverflowError)
def diagonals_that_no_array_has(a, k):
    return np.diag(a, k)


@cases(A, 2**31, raises=OverflowError)
def traces_of_diagonals_that_no_array_has(a, k):
    return np.trace(a, k)


def test_a_product_into_what_does_not_lie_row_by_row_is_refused():
    check(a_product_into_an_array, np.eye(3), np.zeros((3, 3)).T, refused="PS814")


def test_a_product_into_what_may_not_lie_row_by_row_is_refused():
    def into(x):
        return np.dot(x, x, out=x.T * 2)

    check(into, np.eye(3), refused="PS606")


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
