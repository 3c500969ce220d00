"""`LazyNumber`: a Python number among the arguments of a step, while the step is recorded.

Computations with it are recorded. A request for the value gets it; the value is part of the step's key from then on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import Operated, binary, call
from ..tensor import host_view

_CLASSES = {"b": bool, "i": int, "f": float, "c": complex}


class LazyNumber(Operated):
    """An int, float or complex, or a bool computed from them."""

    __slots__ = ()

    @property
    def __class__(self) -> Any:
        return _CLASSES[self._kind.type.dtype.kind]

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("__class__ assignment only supported for mutable types or ModuleType subclasses")

    def _shown(self, cause: str) -> Any:
        """The value. StepError where it depends on an argument that is no number."""
        return host_view(self, cause).item()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return getattr(self._shown(f"the attribute {name}"), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._shown("np.asarray"), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if (out := kwargs.get("out")) is not None and len(out) == 1:
            kwargs["out"] = out[0]
        return call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)

    def __hash__(self) -> int:
        return hash(self._shown("hash"))

    def __round__(self, *digits: Any) -> Any:
        return round(self._shown("round"), *digits)

    def __trunc__(self) -> int:
        return int(self._shown("int"))

    def __floor__(self) -> int:
        return self._shown("floor").__floor__()  # type: ignore[no-any-return]

    def __ceil__(self) -> int:
        return self._shown("ceil").__ceil__()  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return self.__class__, (self._shown("pickle"),)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    __divmod__ = binary(divmod)
    __rdivmod__ = binary(divmod, turned=True)
