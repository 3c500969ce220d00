"""New arrays made of transposed ones: NumPy stores them in the order of the operands, a program row by row."""

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

A = np.arange(12.0).reshape(4, 3)


@cases(A)
def a_copy_is_row_major(x):
    y = (x.T * 2).copy()
    z = y.reshape(-1)
    z[0] = 5
    y[1] = z[2]
    w = x.T.copy()
    v = w.ravel()
    v[1] = 7
    return y, w


@cases(A)
def only_one_of_the_shapes_is_used(x):
    z = (x.T * 2).reshape(-1)
    z[0] = 5
    y = x.T + 1
    total = y.ravel().sum()
    y[0] = total
    return z, y


@cases(A)
def both_are_read(x):
    y = x.T * 2 + x.T
    z = y.reshape(-1)
    return y * 1, z * 1, y.T.ravel() + 1, np.copy(x.T).ravel() * 2


@cases(A)
def what_is_not_transposed(x):
    y = x * 2
    z = y.reshape(-1)
    z[0] = 5
    y[1] = z[2]
    w = np.zeros_like(x)
    w.ravel()[1] = 3
    u = x[::-1] * 2
    u.ravel()[0] = 4
    return y, w, u


@cases(A)
def a_transposed_row_has_one_order(x):
    y = x[:, :1].T * 2
    z = y.reshape(-1)
    z[0] = 5
    return y * 1


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_memory_order(function, args, options):
    check(function, *args, **options)


def of_an_operation(x):
    y = x.T * 2
    z = y.reshape(-1)
    z[0] = 5
    return y


def of_a_copy(x):
    y = np.copy(x.T)
    z = y.ravel()
    y[0] = 5
    return z


def of_its_like(x):
    y = np.zeros_like(x.T)
    z = y.ravel()
    z[1] = 7
    return y * 1


def in_another_type(x):
    y = x.T.astype(np.float32)
    z = y.ravel()
    z[1] = 7
    return y * 1


def what_may_be_a_view(x):
    y = x.T * 2
    z = y.T.reshape(-1)
    z[0] = 5
    return y


def what_may_be_contiguous(x):
    y = x.T * 2
    z = np.ascontiguousarray(y)
    z[0] = 5
    return y


@pytest.mark.parametrize(
    "function",
    [of_an_operation, of_a_copy, of_its_like, in_another_type, what_may_be_a_view, what_may_be_contiguous],
)
def test_a_store_into_what_may_be_a_copy_is_refused(function):
    check(function, A, refused="PS606")


def in_the_order_of_the_memory(x):
    return (x.T * 2).ravel(order="K")


def test_the_order_in_memory_is_not_known():
    check(in_the_order_of_the_memory, A, refused="PS203")


STRIDED = np.arange(30.0)[::2]
STRIDED_ROWS = np.arange(48.0).reshape(4, 12)[:, ::2]


@pytest.mark.parametrize("x", [A, A.T, STRIDED, STRIDED_ROWS, A[:, 0]], ids=str)
def test_ravel_of_an_argument_copies_what_has_gaps(x):
    def flat(x):
        return x.ravel(), x.ravel()[1:], x.reshape(-1), np.ravel(x.T).sum()

    for plain, staged in zip(flat(x), pystage.compile(flat, fallback="error")(x)):
        assert np.array_equal(plain, staged)
        assert np.shares_memory(plain, x) == np.shares_memory(staged, x)


def in_row_major_order(x):
    return np.ascontiguousarray(x)


def a_part_of_it(x):
    return [np.asarray(x, order="C")[1:]]


def identities(x):
    return np.ascontiguousarray(x) is x, np.ascontiguousarray(x) is np.ascontiguousarray(x)


def no_copy(x):
    return np.array(x, copy=False, order="C") * 2


@pytest.mark.parametrize("function", [in_row_major_order, a_part_of_it, identities, no_copy])
def test_what_is_a_copy_of_a_strided_argument_is_refused(function):
    staged = pystage.compile(function, fallback="error")
    check(function, A, staged=staged)
    for x in (A.T, STRIDED_ROWS, STRIDED):
        with pytest.raises(pystage.StagingError, match="PS814"):
            staged(x)


def test_whether_an_equal_element_type_is_the_same_object():
    def is_itself(x, dtype):
        return np.asarray(x, dtype) is x

    staged = pystage.compile(is_itself, fallback="error")
    assert staged(A, A.dtype) is is_itself(A, A.dtype) is True
    check(is_itself, A, np.dtype("f8", copy=True), staged=staged, refused="PS606")
    check(is_itself, A, np.float64, staged=staged)


def test_the_elements_of_a_strided_argument_in_order():
    def elements(x):
        return np.ascontiguousarray(x).sum(), np.ascontiguousarray(x, np.float32), np.ascontiguousarray(x) * 2

    staged = pystage.compile(elements, fallback="error")
    for x in (A.T, STRIDED_ROWS, STRIDED):
        for found, wanted in zip(staged(x), elements(x)):
            assert np.array_equal(found, wanted) and found.dtype == wanted.dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, [0, 1]].ravel("K"),
        lambda x: np.copy(x[:, [0, 1]]).reshape(-1, order="A"),
        lambda x: np.sort(x.T, axis=0).ravel("K"),
        lambda x: np.concatenate([x.T, x.T]).flatten("A"),
        lambda x: np.pad(x.T, 1).ravel("K"),
    ],
    ids=["index", "copy", "sort", "concatenate", "pad"],
)
def test_what_may_lie_by_columns_is_not_read_in_the_order_of_its_memory(function):
    check(function, np.arange(6.0).reshape(2, 3), refused="PS203")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[[1, 0]].ravel("K"),
        lambda x: np.sort(x, axis=0).ravel("K"),
        lambda x: np.concatenate([x, x]).flatten("A"),
    ],
    ids=["index", "sort", "concatenate"],
)
def test_what_lies_in_rows_is_read_in_the_order_of_its_memory(function):
    check(function, np.arange(6.0).reshape(2, 3))
