"""Matrices of computed size joined along several axes and indexed on grids; membership and covariances of such arrays."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

M = np.arange(16.0).reshape(4, 4) % 5
K = [np.array([k]) for k in (0, 1, 2, 4)]


@cases.each(*[(M, k) for k in K])
def with_a_row_and_a_column(m, k):
    part = m[: k[0], : k[0]]
    row = m[0, : k[0]]
    more = np.vstack((part, row))
    both = np.column_stack((more, np.append(row, np.inf)))
    return (
        more,
        both,
        np.concatenate((part, part), axis=1),
        np.concatenate([part[:1], m[: k[0]].T[:, : k[0]]]),
    )


@cases.each(*[(M, k) for k in K])
def of_masks(m, k):
    kept = m[0] < k[0]
    part = m[kept][:, kept]
    return (
        np.concatenate((part, part + 1)),
        np.hstack([part, part[:, ::-1], part[:, :1]]),
        np.vstack([part, part.T]),
    )


@cases(M, K[2], raises=ValueError)
@cases(M, K[1], raises=ValueError)
def of_unequal_rows(m, k):
    return np.concatenate((m[: k[0], : k[0]], m[: k[0], : k[0] + 1]))


@cases(M, K[2], raises=ValueError)
@cases.each((M, K[3]))
def beside_known_ones(m, k):
    return np.concatenate((m[: k[0], : k[0]], m))


@cases.each((M, K[0]), (M, K[1]), (M, K[2]))
def grown_along_both(m, k):
    part = m[: k[0], : k[0]]
    for _ in range(3):
        row = part.sum(axis=0)
        part = np.vstack((part, row))
        part = np.column_stack((part, np.append(row, 1.0)))
    return part


@cases.each(*[(M, k) for k in K])
def among(m, k):
    some = np.flatnonzero(m[0] < k[0])
    return np.isin(m, some), np.isin(3, some), np.isin(some, [0, 1], invert=True), np.isin(m[0, 0], some)


@cases.each(*[(M, k) for k in K])
def on_grids_of_lists(m, k):
    inside, outside = [i for i in range(4) if i < k[0]], [i for i in range(4) if i >= k[0]]
    found = m[np.ix_(inside, outside)], m[np.ix_(outside, [0, 2])], np.ix_(inside, outside)
    m[np.ix_(inside, inside)] = -1
    m[np.ix_([3], inside)] += 10
    return found, m


@cases.each(*[(M, k) for k in K])
def on_grids_of_growing_lists(m, k):
    inside, outside, total = [0], [1, 2, 3], 0.0
    while outside and len(inside) < k[0] + 1:
        part = m[np.ix_(inside, outside)]
        i, j = np.unravel_index(part.argmin(), part.shape)
        total = total * 2 + part[i, j]
        inside.append(outside.pop(int(j)))
    return inside, outside, total, m[np.ix_(inside, outside)]


@cases.each((M, 2), (jnp.asarray(M), 2))
def rows_of_a_growing_list_beside_a_total(m, n):
    inside, total = [0], 0.0
    while len(inside) < n + 1:
        part = m[np.array(inside)]
        total = total * 2 + part[0, 0]
        inside.append(1)
    return inside, total


@cases.each((M, K[0]), (M, K[2]), (M, K[3]))
@cases(M, K[1], refused="PS221")
def covariances_of_rows(m, k):
    return np.cov(m[: k[0]]), np.cov(m[: k[0]].T, rowvar=False)


@cases.each((M, K[2]), (M, K[3]))
@cases(M, K[1], refused="PS221")
def squeezed(m, k):
    part = m[: k[0], None]
    return np.squeeze(part), np.squeeze(part, 1), part[None].squeeze()


@cases.each((M, K[1]))
@cases(M, K[0], raises=ValueError)
@cases(M, K[2], raises=ValueError)
def squeezed_along_a_computed_axis(m, k):
    return np.squeeze(m[: k[0]], axis=0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_gradient() -> None:
    def total(m):
        kept = m[:, 0] > 0.5
        part = m[kept][:, kept]
        joined = np.column_stack((np.vstack((part, part.sum(axis=0))), np.append(part[:, 0], 1.0)))
        return (joined**2).sum()

    found, step = pystage.grad(total)(M), 1e-6
    for at in np.ndindex(M.shape):
        change = np.zeros(M.shape)
        change[at] = step
        assert np.isclose(found[at], (total(M + change) - total(M - change)) / (2 * step), atol=1e-5)
