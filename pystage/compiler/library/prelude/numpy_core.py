"""What NumPy's own programs call in C: the class that converts their arguments.

`numpy/own_source.py` names the functions of NumPy that are staged from NumPy's source.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core._multiarray_umath import _array_converter  # type: ignore[import-not-found]

from ..kernels.python_implementations import composed


class Converter:
    """`_array_converter`: arguments as arrays, and a result as the kind of object that they are."""

    def __init__(self, given: Any) -> None:
        self._given = given
        self._arrays = [np.asarray(each) for each in given]
        self.scalar_input = tuple([not isinstance(each, np.ndarray) and np.ndim(each) == 0 for each in given])

    def __getitem__(self, index: Any) -> Any:
        return self.as_arrays()[index]

    def as_arrays(self, subok: Any = True, pyscalars: Any = "convert_if_no_array") -> Any:
        """The arguments as arrays; Python's numbers stay beside arrays."""
        kept = [type(each) in (int, float, complex) for each in self._given]
        if pyscalars == "convert" or (pyscalars == "convert_if_no_array" and all(kept)):
            return tuple(self._arrays)
        pairs = zip(kept, self._given, self._arrays)
        return tuple([each if is_kept else array for is_kept, each, array in pairs])

    def result_type(self, extra_dtype: Any = None, ensure_inexact: Any = False) -> Any:
        """The common element type, of floating point if asked for."""
        weak = [
            each if type(each) in (int, float, complex) else array.dtype
            for each, array in zip(self._given, self._arrays)
        ]
        if extra_dtype is not None:
            weak.append(extra_dtype)
        if ensure_inexact:
            weak.append(0.0)
        return np.result_type(*weak)

    def wrap(self, arr: Any, /, to_scalar: Any = None) -> Any:
        """The result: of numbers a number."""
        as_scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return arr[()] if as_scalar and np.ndim(arr) == 0 else arr


@composed(_array_converter)
def array_converter(*args: Any) -> Any:
    """The converter of these arguments."""
    return Converter(args)
