"""NumPy: creation, shape manipulation (results are copies here), products."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

INTEGERS = np.array([[3, -1, 4], [1, 5, -9]])
A = np.arange(6.0).reshape(2, 3)
B = np.arange(12.0).reshape(3, 4) - 5.0
CUBE = np.arange(24.0).reshape(2, 3, 4)


# ---------------------------------------------------------------- creation


@cases(3)
def creation(n):
    return (
        (
            np.zeros(3),
            np.ones((2, 2)),
            np.full(3, 2.5),
            np.full((2,), 7),
            np.eye(3),
            np.identity(2),
            np.eye(2, 3),
        ),
        (
            np.arange(5),
            np.arange(2, 8, 3),
            np.arange(3.0),
            np.arange(0.0, 1.0, 0.25),
            np.arange(3, dtype=np.int8),
        ),
        (np.linspace(0.0, 1.0, 5), np.linspace(0, 10, 3, endpoint=False), np.logspace(0.0, 2.0, 3)),
        n,
    )


@cases.each((3,), (5,))
def creation_of_a_given_length(n):
    x = np.zeros(n)
    return x, np.ones((n, 2)), np.arange(n), x.shape, np.eye(n).sum(), [0.0] * n


@cases(np.array([[1.0, 2.0]], np.float32))
def creation_like(x):
    return (
        np.zeros_like(x),
        np.ones_like(x, dtype=int),
        np.full_like(x, 3),
        np.zeros(x.shape, x.dtype),
        np.zeros(x.shape[1]),
        np.array(x),
        x.copy(),
        np.copy(x),
    )


@cases(2.0, 3)
def arrays_from_scalars(x, n):
    return (
        np.array([x, 1.0, x * x]),
        np.array([[x, n], [1, 2]]),
        np.array([n, 1]),
        np.array((x, x), np.float32),
        np.array([x]),
        np.array(x),
        np.asarray([1, 2, 3]),
        np.array([True, False]),
    )


@cases(np.array([1.0, 2.0]))
def arrays_from_arrays(x):
    return np.array([x, x * 2]), np.array([x[0], x[1], 5]), np.array([[x], [x]]), np.asarray([x.sum(), 1])


@cases(np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))
def grids(x, y):
    a, b = np.meshgrid(x, y)
    c, d = np.meshgrid(x, y, indexing="ij")
    return a, b, c, d, np.outer(x, y), np.add.outer(x, y), np.tri(3), np.indices((2, 2))


@cases(A)
def triangles_and_diagonals(x):
    return np.tril(x), np.triu(x, 1), np.diag(x).copy(), np.diag(x[0]), np.trace(x), np.diagonal(x).copy()


# ---------------------------------------------------------------- shape manipulation


@cases(CUBE)
def reshaping(x):
    return (
        x.reshape(6, 4) + 0,
        x.reshape((4, -1)) + 0,
        np.reshape(x, -1) + 0,
        x.ravel() + 0,
        x.flatten(),
        x.reshape(2, 3, 2, 2) + 0,
        x.reshape(x.shape[0], -1) + 0,
    )


@cases(CUBE)
def transposing(x):
    return (
        x.T + 0,
        x.transpose(2, 0, 1) + 0,
        np.transpose(x, (1, 0, 2)) + 0,
        np.swapaxes(x, 0, 2) + 0,
        np.moveaxis(x, 0, -1) + 0,
        x.swapaxes(1, 2) + 0,
    )


@cases(A)
def adding_and_dropping_axes(x):
    y = np.expand_dims(x, 1)
    return (
        y + 0,
        y.squeeze() + 0,
        np.squeeze(y, axis=1) + 0,
        x[:, None] + 0,
        x[np.newaxis] + 0,
        x[..., None] + 0,
        np.expand_dims(x, (0, -1)) + 0,
        np.atleast_2d(x[0]) + 0,
        np.atleast_1d(2.0) + 0,
    )


@cases(A, A * 10)
def joining(x, y):
    return (
        np.concatenate([x, y]),
        np.concatenate((x, y), axis=1),
        np.stack([x, y]),
        np.stack([x, y], axis=-1),
        np.vstack([x, y]),
        np.hstack([x, y]),
        np.append(x, y),
        np.concatenate([x[0], [1.0, 2.0]]),
        np.column_stack([x[0], y[0]]),
    )


@cases(np.arange(12.0).reshape(6, 2))
def splitting(x):
    a, b, c = np.split(x, 3)
    d, e = np.array_split(x, [4])
    return a + b * c, d.sum(), e + 0, [part.sum() for part in np.split(x, 2, axis=1)]


@cases(A)
def repeating(x):
    return (
        np.tile(x, 2),
        np.tile(x, (2, 1)),
        np.repeat(x, 2),
        np.repeat(x, 3, axis=0),
        np.broadcast_to(x, (2, 2, 3)) + 0,
    )


@cases(A)
def reordering(x):
    return (
        np.flip(x) + 0,
        np.flip(x, axis=0) + 0,
        x[::-1] + 0,
        np.roll(x, 1),
        np.roll(x, -1, axis=1),
        np.rot90(x) + 0,
    )


@cases(A, np.array([1, 2]))
def padding(x, n):
    return (
        np.pad(x, 1),
        np.pad(n, (1, 2)),
        np.pad(x, ((0, 1), (2, 0)), constant_values=9.0),
        np.pad(n, 1, mode="edge"),
    )


@cases(A, np.array([10.0, 20.0, 30.0]), np.array([[1.0], [2.0]]))
def broadcasting(x, row, column):
    return (
        x + row,
        x * column,
        row + column,
        x - 1.0,
        column - column.T,
        row[None, :] * x,
        (x, row)[1] + column,
    )


@cases(np.float32(2.0), np.array(3.0), A)
def functions_of_scalars_and_lists(s, z, x):
    return (
        np.sum([1.0, 2.0]),
        np.max((3, 4)),
        np.shape(x),
        np.ndim(z),
        np.size(x),
        np.mean([s, s]),
        np.sqrt([4.0, 9.0]),
    )


# ---------------------------------------------------------------- products


@cases.each((A, B), (A.astype(np.float32), B.astype(np.float32)), (INTEGERS, INTEGERS.T.copy()))
def matrix_products(x, y):
    return x @ y, np.dot(x, y), np.matmul(x, y), x.dot(y), y.T @ x.T


@cases(A, np.array([1.0, 2.0, 3.0]), CUBE, B)
def products_of_other_ranks(m, v, t, b):
    return (
        m @ v,
        v @ v,
        v @ b,
        t @ b[:, :2].repeat(2, axis=0)[:4],
        np.dot(v, 2.0),
        np.dot(m, v),
        np.inner(v, v),
        np.vdot(v, v),
        m[0] @ m.T,
    )


@cases(A, B, CUBE)
def einsum(x, y, t):
    return (
        (
            np.einsum("ij,jk->ik", x, y),
            np.einsum("ij->ji", x) + 0,
            np.einsum("ij->", x),
            np.einsum("ij,ij->i", x, x),
        ),
        np.einsum("bij,bkj->bik", t, t),
        np.einsum("bij->bj", t),
        (np.einsum("ij,jk", x, y), np.einsum("i,j->ij", x[0], x[1]), np.einsum("...j->...", t)),
        (np.einsum("ii->i", x[:, :2] + 0) + 0, np.einsum("ij,jk,kl->il", x, y, y.T)),
    )


@cases(CUBE, A)
def tensor_products(t, x):
    return (
        np.tensordot(t, x, axes=([1, 0], [1, 0])),
        np.tensordot(x, t, axes=([1], [1])),
        np.kron(x, np.eye(2)),
        np.matmul(t, t.transpose(0, 2, 1)),
        np.cross(x[0], x[1]),
        np.outer(x, x[0]),
    )


@cases(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))
def linear_algebra(m, v):
    return np.linalg.norm(v), np.linalg.norm(m, axis=1), np.linalg.cholesky(m), m @ np.linalg.cholesky(m)


@cases(A, CUBE)
@cases(A.T, CUBE.T)
def diagonals_are_views(x, t):
    pair = np.einsum("ii->i", x[:2, :2])
    pair *= 10.0
    return (
        pair,
        np.diagonal(x[:, 1:]),
        (np.diag(x.T, -1), x[::-1].diagonal()),
        (np.diagonal(t, 1, 0, 2), np.einsum("ijj->ji", t[:, :2, :2])),
        np.einsum("iii->i", t[:2, :2, :2]),
    )


@cases(A, raises=ValueError)
def a_diagonal_is_read_only(x):
    np.diagonal(x)[0] = 5.0


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
