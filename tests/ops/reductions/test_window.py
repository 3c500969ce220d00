"""Window operations beyond their samples: random windows against XLA, NaN."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.op import Sample
from pystage.compiler.ops import Add, ReduceWindow, SelectAndScatter
from pystage.compiler.ops.reductions.window import WindowAxis

from ..running import batch, run_xla, type_of
from ..test_generic import assert_same


def check(samples: list[Sample]) -> None:
    """XLA and the reference agree on all samples."""
    made = batch(samples)
    found, wanted = run_xla(made.function, made.arguments), interpret(made.function, made.arguments)
    for sample, part in made.parts:
        assert_same(found[part][0], wanted[part][0], sample)


def ints(rng: np.random.Generator, low: int, high: int, count: int) -> tuple[int, ...]:
    return tuple([int(i) for i in rng.integers(low, high, count)])


def test_random_windows_agree_with_xla() -> None:
    rng = np.random.default_rng(1)
    samples = []
    for _ in range(30):
        rank = int(rng.integers(1, 4))
        padding = tuple([(int(a), int(b)) for a, b in rng.integers(-1, 4, (rank, 2))])
        op = ReduceWindow(
            Add(),
            ints(rng, 1, 4, rank),
            ints(rng, 1, 4, rank),
            padding,
            ints(rng, 1, 4, rank),
            ints(rng, 1, 3, rank),
        )
        x = rng.integers(-9, 9, ints(rng, 2, 6, rank)).astype(np.int32)
        samples.append(Sample(op, (x, np.array(0, np.int32))))
    check(samples)


def test_random_selections_agree_with_xla() -> None:
    rng = np.random.default_rng(1)
    samples = []
    for _ in range(20):
        rank = int(rng.integers(1, 3))
        window = ints(rng, 1, 4, rank)
        padding = tuple([(int(rng.integers(0, n)), int(rng.integers(0, n))) for n in window])
        select = "GE" if rng.integers(0, 2) else "LE"
        op = SelectAndScatter(select, Add(), window, ints(rng, 1, 4, rank), padding)
        x = rng.integers(0, 4, ints(rng, 3, 7, rank)).astype(np.float32)
        zero = np.array(0, np.float32)
        places = ReduceWindow(Add(), op.window, op.strides, op.padding).infer(type_of(x), type_of(zero))
        source = rng.integers(1, 9, places.shape).astype(np.float32)
        samples.append(Sample(op, (x, source, zero)))
    check(samples)


def test_a_later_element_replaces_nan() -> None:
    """IEEE's comparison with NaN is false, so the window gives its NaN up for any later element."""
    x = np.array([np.nan, 1, 3, 2, np.nan, np.nan], np.float32)
    source = np.array([10, 20, 30], np.float32)
    op = SelectAndScatter("GE", Add(), (2,), (2,), ((0, 0),))
    check([Sample(op, (x, source, np.array(0, np.float32)))])
    np.testing.assert_array_equal(op.reference(x, source, np.float32(0)), [0, 10, 20, 0, 0, 30])


@pytest.mark.parametrize("size", range(1, 4))
@pytest.mark.parametrize("stride", range(1, 4))
@pytest.mark.parametrize("dilation", range(1, 3))
def test_places_are_counted_as_windows_fit(size: int, stride: int, dilation: int) -> None:
    """By trying: the window fits at a place if it ends within the padded array."""
    for extent in range(6):
        axis = WindowAxis(size, stride, 1, 2, dilation, 2)
        padded = ((extent - 1) * dilation + 1 if extent else 0) + 3
        fits = [p for p in range(0, padded, stride) if p + axis.reach <= padded]
        assert axis.places("window", extent) == len(fits)


def test_the_reference_combines_at_all_places_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    combined: list[int] = []
    reference = Add.reference

    def counted(self: Add, *operands: np.ndarray) -> np.ndarray:
        combined.append(1)
        return reference(self, *operands)

    monkeypatch.setattr(Add, "reference", counted)
    sums = ReduceWindow(Add(), (64, 8), (1, 1), ((63, 0), (7, 0))).reference(np.ones((64, 8)), np.zeros(()))
    assert np.array_equal(sums, np.cumsum(np.cumsum(np.ones((64, 8)), 0), 1))
    assert len(combined) == 64 * 8
