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


@pytest.mark.filterwarnings("ignore:Degrees of freedom")
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
