"""Every function of NumPy gives on lazy tensors what it gives on ndarrays, recorded or not, and changes what it changes."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
from kinds.calls import ARRAYS, CALLS

from lazy.comparing import compare

PARAMS = [
    pytest.param(text, id=f"{name}-{i}") for name, texts in CALLS.items() for i, text in enumerate(texts)
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("text", PARAMS)
def test_calls(text: str) -> None:
    names = [name for name in ARRAYS if name in text]

    def call(*arrays: Any) -> Any:
        return eval(text, {"np": np, "collections": collections, **dict(zip(names, arrays, strict=True))})

    compare(call, *[ARRAYS[name] for name in names])
