"""`LazyNumber`: a Python number among the arguments of a step, while the step is recorded.

Computations with it are recorded. A request for the value gets it; the value is part of the step's key from then on.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..array import binary, call, unary
from ..tensor import Tensor, host_view

_CLASSES = {"b": bool, "i": int, "f": float, "c": complex}


class LazyNumber(Tensor):
    """An int, float or complex, or a bool computed from them."""

    __slots__ = ()
    __array_priority__ = 50.0

    @property
    def __class__(self) -> Any:
        return _CLASSES[self._kind.type.dtype.kind]

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("__class__ assignment only supported for mutable types or ModuleType subclasses")

    def known(self, cause: str) -> Any:
        """The value. StepError where it depends on an argument that is no number."""
        return host_view(self, cause).item()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return getattr(self.known(f"the attribute {name}"), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.known("np.asarray"), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if (out := kwargs.get("out")) is not None and len(out) == 1:
            kwargs["out"] = out[0]
        return call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return call(func, tuple(args), dict(kwargs))

    def __bool__(self) -> bool:
        return bool(self.known("bool"))

    def __int__(self) -> int:
        return int(self.known("int"))

    def __float__(self) -> float:
        return float(self.known("float"))

    def __complex__(self) -> complex:
        return complex(self.known("complex"))

    def __index__(self) -> int:
        return operator.index(self.known("an index"))

    def __hash__(self) -> int:
        return hash(self.known("hash"))

    def __repr__(self) -> str:
        return repr(self.known("repr"))

    def __str__(self) -> str:
        return str(self.known("print"))

    def __format__(self, spec: str) -> str:
        return format(self.known("format"), spec)

    def __round__(self, *digits: Any) -> Any:
        return round(self.known("round"), *digits)

    def __trunc__(self) -> int:
        return int(self.known("int"))

    def __floor__(self) -> int:
        return self.known("floor").__floor__()  # type: ignore[no-any-return]

    def __ceil__(self) -> int:
        return self.known("ceil").__ceil__()  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return self.__class__, (self.known("pickle"),)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    __add__ = binary(operator.add)
    __radd__ = binary(operator.add, turned=True)
    __sub__ = binary(operator.sub)
    __rsub__ = binary(operator.sub, turned=True)
    __mul__ = binary(operator.mul)
    __rmul__ = binary(operator.mul, turned=True)
    __truediv__ = binary(operator.truediv)
    __rtruediv__ = binary(operator.truediv, turned=True)
    __floordiv__ = binary(operator.floordiv)
    __rfloordiv__ = binary(operator.floordiv, turned=True)
    __mod__ = binary(operator.mod)
    __rmod__ = binary(operator.mod, turned=True)
    __pow__ = binary(operator.pow)
    __rpow__ = binary(operator.pow, turned=True)
    __matmul__ = binary(operator.matmul)
    __rmatmul__ = binary(operator.matmul, turned=True)
    __lshift__ = binary(operator.lshift)
    __rlshift__ = binary(operator.lshift, turned=True)
    __rshift__ = binary(operator.rshift)
    __rrshift__ = binary(operator.rshift, turned=True)
    __and__ = binary(operator.and_)
    __rand__ = binary(operator.and_, turned=True)
    __or__ = binary(operator.or_)
    __ror__ = binary(operator.or_, turned=True)
    __xor__ = binary(operator.xor)
    __rxor__ = binary(operator.xor, turned=True)
    __divmod__ = binary(divmod)
    __rdivmod__ = binary(divmod, turned=True)
    __eq__ = binary(operator.eq)
    __ne__ = binary(operator.ne)
    __lt__ = binary(operator.lt)
    __le__ = binary(operator.le)
    __gt__ = binary(operator.gt)
    __ge__ = binary(operator.ge)
    __neg__ = unary(operator.neg)
    __pos__ = unary(operator.pos)
    __abs__ = unary(operator.abs)
    __invert__ = unary(operator.invert)
