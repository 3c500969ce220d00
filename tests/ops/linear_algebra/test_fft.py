"""`Fft` beyond its samples: inverses."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.ops import Fft

from ..running import run_xla, type_of


@pytest.mark.parametrize("lengths", [(7,), (8,), (3, 8), (2, 3, 7)])
@pytest.mark.parametrize("forth, back", [("FFT", "IFFT"), ("RFFT", "IRFFT")])
def test_there_and_back(forth: str, back: str, lengths: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, *lengths)[-3:]) + (0j if forth == "FFT" else 0)
    body = Region((type_of(x),))
    b = Builder(body)
    body.results = (b.op(Fft(back, lengths), b.op(Fft(forth, lengths), *body.params)),)
    (found,) = run_xla(Function("main", body), (x,))
    np.testing.assert_allclose(found, x, atol=1e-13)
