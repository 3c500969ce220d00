"""`RngBitGenerator` beyond its samples: published vectors, streams that continue, the default algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.types import UINT32, UINT64, ArrayType
from pystage.compiler.ops import RngBitGenerator

from .running import application, run_xla, type_of


def test_published_vectors() -> None:
    """The known answers for key 0 and counter 0 of Random123, the authors' implementation."""
    zero = np.zeros(2, np.uint64)
    _, words = RngBitGenerator("THREE_FRY", ArrayType(UINT32, (2,))).reference(zero)
    assert [hex(w) for w in words] == ["0x6b200159", "0x99ba4efe"]
    _, words = RngBitGenerator("PHILOX", ArrayType(UINT32, (4,))).reference(np.zeros(3, np.uint64))
    assert [hex(w) for w in words] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


@pytest.mark.parametrize("algorithm, length", [("THREE_FRY", 2), ("PHILOX", 3)])
def test_the_state_continues_the_stream(algorithm: str, length: int) -> None:
    state = np.arange(3, 3 + length, dtype=np.uint64)
    whole = RngBitGenerator(algorithm, ArrayType(UINT64, (8,)))
    half = RngBitGenerator(algorithm, ArrayType(UINT64, (4,)))
    between, first = run_xla(application(half, type_of(state)), (state,))
    after, second = run_xla(application(half, type_of(state)), (between,))
    end, words = run_xla(application(whole, type_of(state)), (state,))
    np.testing.assert_array_equal(np.concatenate([first, second]), words)
    np.testing.assert_array_equal(after, end)


def test_the_default_is_left_to_the_backend() -> None:
    op = RngBitGenerator("DEFAULT", ArrayType(UINT32, (1000,)))
    state = np.array([1, 2], np.uint64)
    _, words = run_xla(application(op, type_of(state)), (state,))
    assert len(set(words)) > 990
    with pytest.raises(NotImplementedError, match="the backend's choice"):
        op.reference(state)
