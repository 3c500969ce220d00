"""A call of a plain function on lazy tensors: what a compiled function does where its source cannot be staged.

Large ndarrays among the arguments are lent to the function as lazy tensors whose memory they stay: what either stores the
other sees, under whatever name. The caller sees none of it: what the function returns, raises or leaves in the caller's
objects holds ndarrays again.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ..compiler.hlo.types import SHORT_NAMES
from ..compiler.values.boundary import Form
from ..runtime.function import Lazily
from ..runtime.results import view_maker
from .arena import arenas
from .array import LazyTensor, from_host
from .lending import lending_of
from .recipes import kind_of
from .replacement import Replacement
from .tensor import Tensor, lent, share, to_host
from .unlowered import on_arrays

SIZE = 1 << 14
"""Arrays of fewer elements stay NumPy's: it has computed with them before a program is looked up."""


def run_lazily(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], size: int = SIZE
) -> Any:
    """`function(*args, **kwargs)`, with lazy tensors in place of ndarrays of at least so many elements.

    They stay ndarrays where calls like this one have been faster with these.
    """
    if not any(type(a) is np.ndarray and a.size >= size for a in (*args, *kwargs.values())):
        return _run(function, args, kwargs, size)
    lending = lending_of(function, (*args, *kwargs.values()))
    lends = lending.lends()
    began = time.perf_counter()
    result = _run(function, args, kwargs, size) if lends else function(*args, **kwargs)
    lending.note(lends, time.perf_counter() - began)
    return result


def _run(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], size: int) -> Any:
    loan = _Loan(function, size)
    values = [loan.lend(a) for a in args]
    named = {k: loan.lend(v) for k, v in kwargs.items()}
    try:
        with lent():
            result = function(*values, **named)
    except Exception as error:
        errors = _chain(error)
        for each in errors:
            each.args = loan.replaced(each.args)
        loan.end([*args, *kwargs.values(), *errors])
        raise
    made = loan.replaced(result)
    loan.end([*args, *kwargs.values()])
    return made


def _chain(error: BaseException) -> list[BaseException]:
    """An exception, and those that it was raised from or while handling."""
    found: dict[int, BaseException] = {}
    pending: list[BaseException | None] = [error]
    for each in pending:
        if each is not None and id(each) not in found:
            found[id(each)] = each
            pending += (each.__cause__, each.__context__)
    return list(found.values())


def _run_on_arrays(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return on_arrays(function, args, kwargs, "a compiled function")


LAZILY = Lazily(run_lazily, _run_on_arrays)


def plain_results(value: Any) -> Any:
    """A value with ndarrays in place of lazy tensors."""
    return _Loan(None, SIZE).replaced(value)


class _Loan(Replacement):
    """The ndarrays of one call that lazy tensors stand for."""

    def __init__(self, function: Callable[..., Any] | None, size: int) -> None:
        super().__init__()
        self._function = inspect.unwrap(function) if function is not None else None
        self._size = size
        self._shuffles = "shuffle" in getattr(getattr(self._function, "__code__", None), "co_names", ())
        """`Generator.shuffle` swaps rows as no other array's than NumPy's can be swapped."""
        self._tensors: dict[int, tuple[np.ndarray[Any, Any], LazyTensor]] = {}

    def lend(self, value: Any) -> Any:
        """An argument as the function gets it."""
        if type(value) is not np.ndarray or value.size < self._size or self._shuffles:
            return value
        if value.dtype not in SHORT_NAMES or not value.dtype.isnative:
            return value
        found = self._tensors.get(id(value))
        if found is None:
            if any(np.may_share_memory(value, other) for other, _ in self._tensors.values()):
                return value
            tensor = from_host(value, None)
            kind, flags = tensor._kind, value.flags
            tensor._kind = kind_of(
                kind.type, Form.NDARRAY, kind.device, flags.writeable, ordered=flags.c_contiguous
            )
            share(tensor, value)
            found = self._tensors[id(value)] = value, tensor
            self.made[id(tensor)] = tensor, value
        return found[1]

    def leaf(self, value: Any) -> Any:
        return self._array(value) if isinstance(value, Tensor) else value

    def _array(self, tensor: Tensor) -> Any:
        """The ndarray, or the NumPy scalar, of a lazy tensor: the same for the same tensor, views for views."""
        found = self.made.get(id(tensor))
        if found is not None:
            return found[1]
        owner = tensor._owner
        array: Any
        if owner is None:
            array = tensor._host
            if array is None:
                array = to_host(tensor, "the end of a call")
            if tensor._kind.form is Form.SCALAR:
                array = array[()]
        else:
            array = self._array(owner)[...]
            for step in tensor._path:
                array = view_maker(step)(array)
            if array.flags.writeable and not tensor._kind.writable:
                array.flags.writeable = False
        self.made[id(tensor)] = tensor, array
        return array

    def end(self, values: Sequence[Any]) -> None:
        """Takes the lazy tensors out of what the function may have left them in."""
        known = {id(tensor) for _, tensor in self._tensors.values()} | self.made.keys()
        if all(id(tensor) in known for arena in arenas() for tensor in arena.tensors()):
            return
        for value in values:
            self.replaced(value)
        if isinstance(self._function, FunctionType):
            for cell in self._function.__closure__ or ():
                self.replaced(cell)
            namespace = self._function.__globals__
            stored = [name for name in self._function.__code__.co_names if name in namespace]
            for name in stored:
                new = self.replaced(namespace[name])
                if new is not namespace[name]:
                    namespace[name] = new
