"""`np.ldexp` by exponents far outside of those of its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from checking import check


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:underflow encountered:RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ldexp_keeps_zeros_infinities_and_nan(dtype: type) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5], dtype)
    for exponent in (5000, 100, 3, -5000):
        check(lambda x, e: np.ldexp(x, e), x, np.full(6, exponent, np.int32))
