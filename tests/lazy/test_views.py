"""Stores and views in random order, with barriers and errors at random places: every name of a piece of memory agrees.

Whatever memory may be overwritten is, however little. In place of XLA, whose compilation would take most of the time, the
reference interpreter runs most programs, and deletes what XLA might overwrite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pytest

from pystage import lazy
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.pipeline import Staged
from pystage.lazy import barrier, liveness

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


def places(x: Any, r: Any) -> Any:
    """Rows of `x`, each once; one time in eight one that is not there."""
    found = r.permutation(len(x))[: int(r.integers(1, len(x) + 1))]
    return np.append(found, len(x)) if r.integers(8) == 0 else found


def into_itself(x: Any, r: Any, other: Any) -> None:
    """Stores the first half of the rows in the last."""
    half = x.shape[0] // 2
    x[half:] = x[: x.shape[0] - half]


def some(x: Any, r: Any, other: Any) -> Any:
    """Rows by an array of indices, computed with."""
    return x[places(x, r)] * 0.5


def some_more(x: Any, r: Any, other: Any) -> None:
    """Adds to rows by an array of indices."""
    x[places(x, r)] += 1.0


def inverse(x: Any, r: Any, other: Any) -> Any:
    """The inverse of a matrix, or LinAlgError."""
    matrix = x.reshape(-1)[:4].reshape(2, 2) if x.size >= 4 else np.zeros((2, 2)) * x.sum()
    return np.linalg.inv(matrix if r.integers(2) else matrix * 0.0)


STORES: list[Callable[[Any, Any, Any], Any]] = [
    lambda x, r, other: x.__iadd__(1.5),
    lambda x, r, other: x.__setitem__(..., 0.25),
    lambda x, r, other: x.__imul__(-1),
    lambda x, r, other: x.__setitem__(int(r.integers(len(x))), 7.0),
    lambda x, r, other: x[-1:].__isub__(2.0),
    lambda x, r, other: np.add(x, 3.0, out=x),
    into_itself,
    lambda x, r, other: x.__setitem__(..., other) if other.shape == x.shape else None,
    lambda x, r, other: x.__setitem__(places(x, r), 5.0),
    some_more,
    lambda x, r, other: np.put(x, places(x, r), [2.0, 3.0]),
    lambda x, r, other: x.__setitem__(x > 0, 0.5),
    lambda x, r, other: np.add.at(x, places(x, r), 1.0),
]
"""Stores; those by an array of indices may raise IndexError. The last two are run by NumPy."""
LOOKS: list[Callable[[Any, Any, Any], Any]] = [
    some,
    lambda x, r, other: np.take(x, places(x, r), axis=0),
    lambda x, r, other: x[places(x, r)].sum() if other.ndim else x.sum(),
    inverse,
    lambda x, r, other: np.sort(x.reshape(-1) + other.sum()),
    lambda x, r, other: np.unique(x),
    lambda x, r, other: np.asarray(x).sum(),
]
"""Reads; the last two are run by NumPy."""


def outcome(call: Callable[[Any, Any, Any], Any], x: Any, seed: int, other: Any) -> Any:
    """What a call gives, or the name and the text of what it raises."""
    try:
        return call(x, np.random.default_rng(seed), other)
    except (IndexError, np.linalg.LinAlgError) as error:
        return f"{type(error).__name__}: {error}"


class Pair:
    """Arrays, and lazy tensors in their places: views of one piece of memory, and what was computed from them."""

    def __init__(self, seed: int) -> None:
        self._decide = np.random.default_rng(seed)
        shape = tuple(int(n) for n in self._decide.integers(2, 5, size=int(self._decide.integers(1, 4))))
        start = self._decide.normal(size=shape)
        self._sides: tuple[list[Any], list[Any]] = [start.copy()], [lazy.asarray(start)]

    def run(self, steps: int) -> None:
        """Does the same to both, so many times, and compares all of them at the end."""
        for _ in range(steps):
            self._step()
            if self._decide.integers(10) == 0:
                lazy.sync()
        for array, tensor in zip(*self._sides, strict=True):
            assert tensor.shape == array.shape
            np.testing.assert_allclose(np.array(tensor), array, rtol=1e-9, atol=1e-9)

    def _step(self) -> None:
        arrays = self._sides[0]
        i, j = (int(self._decide.integers(len(arrays))) for _ in range(2))
        kind, seed = int(self._decide.integers(8)), int(self._decide.integers(1 << 30))
        if not (arrays[i].ndim and arrays[i].size):
            return
        if kind < 2:
            view = VIEWS[seed % len(VIEWS)]
            for side in self._sides:
                side.append(view(side[i], np.random.default_rng(seed)))
        elif kind == 2 and len(arrays) > 4:  # of the views and results only some live on
            for side in self._sides:
                del side[i]
        else:
            self._call((STORES if kind < 6 else LOOKS), i, j, seed)

    def _call(self, calls: Any, i: int, j: int, seed: int) -> None:
        call = calls[seed % len(calls)]
        plain, found = (outcome(call, side[i], seed, side[j]) for side in self._sides)
        if isinstance(plain, str) or isinstance(found, str):
            assert found == plain
        elif calls is LOOKS and isinstance(plain, np.ndarray) and seed % 3:
            for side, made in zip(self._sides, (plain, found), strict=True):
                side.append(made)
        elif calls is LOOKS:
            np.testing.assert_allclose(np.array(found), plain, rtol=1e-9, atol=1e-9)


class Interpreted:
    """A program that is interpreted, and after whose run the donated inputs are gone."""

    def __init__(self, staged: Staged, donated: tuple[int, ...], name: str) -> None:
        self._staged, self._donated = staged, donated

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        operands = [np.asarray(arrays[i]) for i in self._staged.kept]
        with jax.enable_x64(True):
            results = [
                jax.device_put(np.array(found)) for found in interpret(self._staged.function, operands)
            ]
        del operands
        for i in self._donated:
            if isinstance(arrays[i], jax.Array):
                arrays[i].delete()
        return results


def overwrite(monkeypatch: pytest.MonkeyPatch, *, interpreted: bool) -> None:
    """Lets barriers overwrite all that they may."""
    monkeypatch.setattr(liveness, "DONATE_BYTES", 1)
    if interpreted:
        monkeypatch.setattr(barrier, "Executable", Interpreted)


@pytest.mark.parametrize("seed", range(80))
def test_random_views_and_stores(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    overwrite(monkeypatch, interpreted=seed % 16 != 0)
    Pair(seed).run(30)


@pytest.mark.parametrize("n", [5, 5000])
def test_arrays_without_axes_bound_slices(n: int) -> None:
    x, end = lazy.zeros(n), lazy.asarray(3)
    view = x[:end]
    assert isinstance(view, lazy.LazyTensor)
    view += 1.0
    x[end:] = lazy.asarray(2.0)
    assert np.array_equal(np.asarray(x)[:5], [1.0, 1.0, 1.0, 2.0, 2.0])
