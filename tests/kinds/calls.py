"""A call or two of every function of NumPy that the library knows: the lines of `calls.txt`.

The names in a call are its array arguments, one of `ARRAYS` each, so that whoever runs the call can say of what kind each
of them is. What is stored into comes back as a result.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

from kinds.programs import words

ARRAYS: dict[str, np.ndarray] = {
    "x": np.array([0.5, -1.25, 2.0, 0.75]),
    "y": np.array([1.5, 0.25, 3.0, 1.0]),
    "u": np.array([0.25, 0.5, 0.75, 0.125]),  # between 0 and 1
    "v": np.array([1.0, 2.0, 4.0, 7.0]),  # grows
    "a": np.array([[2.0, -1.0, 0.5], [0.25, 3.0, -0.5], [1.0, 0.5, 4.0]]),
    "p": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),  # positive definite
    "q": np.array([[1.0, -2.0, 0.5, 3.0]]),
    "t": np.arange(16.0).reshape(2, 2, 2, 2) / 8 + np.eye(4).reshape(2, 2, 2, 2),
    "r": np.array([1.0, 0.0, -0.5]),
    "o": np.array([-0.5, 0.25, 2.0]),
    "z": np.array([1 + 2j, -0.5j, 3.0, 0.25 - 1j]),
    "i": np.array([2, 0, 1]),
    "j": np.array([1, 2, 2]),
    "k": np.array([3, 0, 2, 1]),
    "c": np.array([True, False, True, True]),
    "e": np.array([1.0, np.nan, -np.inf, 2.0]),
    "n": np.array(2.5),  # without axes
}

CALLS: dict[str, list[str]] = {}
"""Texts by the name of the function."""

for _line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
    _name, _, _call = _line.partition(": ")
    CALLS.setdefault(_name, []).append(_call)

WITHOUT_ARRAYS = words("""
indices tril_indices triu_indices diag_indices logspace geomspace hanning hamming blackman bartlett kaiser
broadcast_shapes fft.fftfreq fft.rfftfreq issubdtype promote_types isdtype mintypecode base_repr binary_repr
typename normalize_axis_index normalize_axis_tuple ndarray _array_converter
""")
"""Functions that take no array, or only what is known while compiling, or that no user calls."""


def names_in(text: str) -> list[str]:
    """The names of the arrays in a call."""
    return sorted({n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)} & set(ARRAYS))
