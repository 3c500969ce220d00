"""Stores and views in random order, with barriers at random places: every name of a piece of memory agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pystage import lazy
from pystage.lazy import barrier

VIEWS = [
    lambda x, r: x[1:],
    lambda x, r: x[:-1],
    lambda x, r: x[::2],
    lambda x, r: x[::-1],
    lambda x, r: x[int(r.integers(len(x)))] if x.ndim > 1 else x,
    lambda x, r: x[..., None],
    lambda x, r: x.T,
    lambda x, r: x.swapaxes(0, -1),
    lambda x, r: np.moveaxis(x, 0, -1),
    lambda x, r: x[:, 1:] if x.ndim > 1 else x,
    lambda x, r: x.squeeze(),
    lambda x, r: x.reshape(-1),
    lambda x, r: x[...],
]
"""Views; that of `reshape` is a copy where the elements do not lie in order."""


def stores(x: Any, r: Any, other: Any) -> None:
    """One store into `x`, chosen by `r`."""
    match int(r.integers(8)):
        case 0:
            x += 1.5
        case 1:
            x[...] = 0.25
        case 2:
            x *= -1
        case 3 if x.size and x.ndim:
            x[int(r.integers(len(x)))] = 7.0
        case 4 if x.size and x.ndim:
            x[-1:] -= 2.0
        case 5:
            np.add(x, 3.0, out=x)
        case 6 if x.size and x.ndim:
            x[x.shape[0] // 2 :] = x[: x.shape[0] - x.shape[0] // 2]
        case 7 if other.shape == x.shape:
            x[...] = other


@pytest.mark.parametrize("seed", range(40))
def test_random_views_and_stores(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # memory is overwritten, however little
        monkeypatch.setattr(barrier, "DONATE_BYTES", 0)
    decide = np.random.default_rng(seed)
    shape = tuple(int(n) for n in decide.integers(2, 5, size=int(decide.integers(1, 4))))
    start = decide.normal(size=shape)
    plain: list[Any] = [start.copy()]
    tensors: list[Any] = [lazy.asarray(start)]
    for _ in range(25):
        i, k = int(decide.integers(len(plain))), int(decide.integers(len(VIEWS) + 6))
        seeds = int(decide.integers(1 << 30))
        if k < len(VIEWS) and plain[i].ndim and plain[i].size:
            for side in (plain, tensors):
                side.append(VIEWS[k](side[i], np.random.default_rng(seeds)))
        elif k == len(VIEWS) + 5:
            j = int(decide.integers(len(plain)))
            np.testing.assert_array_equal(plain[j], np.array(tensors[j]))
        else:
            j = int(decide.integers(len(plain)))
            for side in (plain, tensors):
                stores(side[i], np.random.default_rng(seeds), side[j])
        if decide.integers(10) == 0:
            lazy.sync()
        if k >= len(VIEWS) and decide.integers(3) == 0:  # look at what was stored into, and store again
            assert plain[i].sum() == pytest.approx(float(tensors[i].sum()), rel=1e-9, abs=1e-9)
            for side in (plain, tensors):
                stores(side[i], np.random.default_rng(seeds), side[j])
    for array, tensor in zip(plain, tensors, strict=True):
        assert tensor.shape == array.shape
        np.testing.assert_allclose(np.array(tensor), array, rtol=1e-12)
