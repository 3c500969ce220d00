"""Runs a plain function on lazy tensors, where a compiled function's source cannot be staged.

Large ndarrays among the arguments are lent to the function as lazy tensors that alias their memory: each sees the other's
stores. The caller sees no lazy tensor: all that the function returns, raises or stores into the caller's objects holds
ndarrays again.
"""

from __future__ import annotations

import gc
import inspect
import time
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..compiler.diagnostics.codes_runtime import UnsupportedArgument
from ..compiler.diagnostics.errors import StagingError
from ..compiler.hlo.types import SHORT_NAMES, ArrayType
from ..compiler.values.boundary import Form
from ..runtime.arguments.classification import fields_of
from ..runtime.function import CompiledFunction
from .arena import arenas
from .array import LazyTensor
from .devices import default_device
from .graph import is_lent, lent
from .in_numpy import on_arrays
from .lending import lending_of
from .recipes import kind_of
from .replacement import Replacement
from .tensor import Tensor, held_by, memory_of, owner_of

SIZE = 1 << 14
"""Arrays of fewer elements stay NumPy's: it has computed with them before a program is looked up."""


def run_lazily(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], size: int = SIZE
) -> Any:
    """Runs `function(*args, **kwargs)` with lazy tensors in place of ndarrays of at least so many elements.

    They stay ndarrays where calls like this one have been faster with these, or have kept lazy tensors.
    """
    if not any(type(a) is np.ndarray and a.size >= size for a in (*args, *kwargs.values())):
        return _Loan(function, size).run(function, args, kwargs)
    lending = lending_of(function, (*args, *kwargs.values()))
    lends = lending.lends()
    began = time.perf_counter()
    if lends:
        loan = _Loan(function, size)
        try:
            result = loan.run(function, args, kwargs)
        finally:
            if loan.is_kept:
                lending.settled = False
    else:
        result = function(*args, **kwargs)
    lending.note(lends, time.perf_counter() - began)
    return result


def _chain(error: BaseException) -> list[BaseException]:
    """An exception, and those in its chain of causes and contexts."""
    found: dict[int, BaseException] = {}
    pending: list[BaseException | None] = [error]
    for each in pending:
        if each is not None and id(each) not in found:
            found[id(each)] = each
            pending += (each.__cause__, each.__context__)
    return list(found.values())


def run_with_tensors(
    function: CompiledFunction[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Runs a compiled function that is called with lazy tensors: as it is written, which records its calls.

    On ndarrays it runs where tensors are only lent. Then each result may be an ndarray, a scalar or a tensor; the plain
    function of a user's tensors gives tensors in some places and ndarrays in others.
    """
    if is_lent():
        return run_on_arrays(function, args, kwargs)
    canonical, named = function.canonical(args, kwargs)
    if function.fallback == "error":
        given = inspect.signature(function.target).bind(*canonical, **named).arguments
        path = next((name for name, value in given.items() if isinstance(value, Tensor)), next(iter(given)))
        instead = f"pass `np.asarray({path})`, or call the plain function, whose calls are recorded"
        span, kind = function.identity[1], LazyTensor.__name__
        raise StagingError((UnsupportedArgument(span=span, path=path, kind=kind, instead=instead),))
    return function.target(*canonical, **named)


def run_on_arrays(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Runs a compiled function, called with lazy tensors, on ndarrays."""
    return on_arrays(function, args, kwargs, "a compiled function")


def plain_results(value: Any) -> Any:
    """A value with ndarrays in place of lazy tensors."""
    return _Loan(None, SIZE).replaced(value)


_GENERATING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


_TELLING = frozenset({"shuffle", "choice", "multinomial"})
"""Methods of NumPy's generators that ask for the class of what they get."""
_TELLING_OUT = frozenset({"random", "standard_exponential", "standard_gamma", "standard_normal", "permuted"})
"""Those that do so with what is their `out`."""


class _Loan(Replacement):
    """The ndarrays of one call that lazy tensors stand for, and the ndarrays for tensors that it makes."""

    def __init__(self, function: Callable[..., Any] | None, size: int) -> None:
        super().__init__()
        self._function = inspect.unwrap(function) if function is not None else None
        self._size = size
        self._lent: list[tuple[np.ndarray[Any, Any], LazyTensor]] = []
        self._arrays: dict[int, tuple[weakref.ref[Tensor], Any]] = {}
        """What stands for a tensor, by its identity."""
        self._start = {arena: arena.now() for arena in arenas()}
        self._made_here: set[int] | None = None
        """The identities of the tensors that the call has made and that are alive; None where all are replaced."""
        self.is_kept = False
        """True if somebody kept a tensor of the call where the walk does not get: it takes long to find out who."""

    def run(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs the call on lazy tensors; the caller's objects and results contain ndarrays."""
        lends = self._is_lent_to()
        values = [self.lend(a) if lends else a for a in args]
        named = {k: self.lend(v) if lends else v for k, v in kwargs.items()}
        try:
            with lent():
                result = function(*values, **named)
        except BaseException as error:
            values.clear()
            named.clear()
            self._lent.clear()
            self._take_out_of([*_chain(error), *args, *kwargs.values()])
            raise
        values.clear()
        named.clear()
        self._lent.clear()
        held = [result, *args, *kwargs.values()]
        del result
        self._take_out_of(held)
        return held[0]

    def _is_lent_to(self) -> bool:
        """False for a callee that keeps its arguments, or that may distinguish NumPy's arrays from others.

        `Generator.shuffle` swaps rows as only NumPy's can be, and who overrides a ufunc is not told of `out=...`.
        """
        code = getattr(self._function, "__code__", None)
        if code is None:
            return True
        names = {*code.co_names}
        has_out = any(type(known) is tuple and "out" in known for known in code.co_consts)
        tells = names & _TELLING or (has_out and (names & _TELLING_OUT or ... in code.co_consts))
        return not (code.co_flags & _GENERATING or tells)

    def lend(self, value: Any) -> Any:
        """An argument as the function gets it."""
        if type(value) is not np.ndarray or value.size < self._size:
            return value
        if value.dtype not in SHORT_NAMES or not value.dtype.isnative:
            return value
        for other, tensor in self._lent:
            if other is value:
                return tensor
            if np.may_share_memory(value, other):
                return value
        device, flags = default_device(), value.flags
        type_ = ArrayType(value.dtype, value.shape)
        kind = kind_of(type_, Form.NDARRAY, device, flags.writeable, flags.c_contiguous, flags.fnc)
        tensor = held_by(value, kind)
        if tensor._entry is None:
            kind.arena.register(tensor)
        self._lent.append((value, tensor))
        self._arrays[id(tensor)] = weakref.ref(tensor), value
        return tensor

    def leaf(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if self._made_here is not None and id(owner_of(value)) not in self._made_here:
            return value
        return self._array(value)

    def _array(self, tensor: Tensor) -> Any:
        """The ndarray, or the NumPy scalar, of a lazy tensor: the same for the same tensor, views for views.

        It is the memory of the tensor from now on, should somebody still hold that.
        """
        found = self._arrays.get(id(tensor))
        if found is not None and found[0]() is tensor:
            return found[1]
        owner = tensor._owner
        array: Any
        if owner is None:
            array = memory_of(tensor, "the end of a call")
            if tensor._kind.form is Form.SCALAR:
                array = array[()]
        else:
            array = self._array(owner)[...]
            for make in tensor._makers:
                array = make(array)
        if array.flags.writeable and not tensor._kind.writable:
            array.flags.writeable = False
        self._arrays[id(tensor)] = weakref.ref(tensor), array
        return array

    def refill(self, holder: Any, new_of: Callable[[Any], Any]) -> None:
        super().refill(holder, new_of)
        if isinstance(holder, FunctionType):
            for cell in holder.__closure__ or ():
                self.refill(cell, new_of)
            self.refill(fields_of(holder), new_of)
            if (defaults := new_of(holder.__defaults__)) is not holder.__defaults__:
                holder.__defaults__ = defaults
            self.refill(holder.__kwdefaults__, new_of)

    def _take_out_of(self, held: list[Any]) -> None:
        """Replaces the call's tensors by ndarrays, in this list and in all that may hold them."""
        alive = self._alive()
        if not alive:
            return
        self._made_here = {id(tensor) for tensor in alive}
        alive.clear()
        held[:] = [self.replaced(value) for value in held]
        if isinstance(self._function, FunctionType):
            self.replaced(self._function)
            namespace = self._function.__globals__
            for name in self._function.__code__.co_names:
                if name in namespace and (new := self.replaced(namespace[name])) is not namespace[name]:
                    namespace[name] = new
        self._forget()
        self.is_kept = bool(self._alive())
        if self.is_kept:
            self._replace_in_holders()
            self._forget()

    def _alive(self) -> list[Tensor]:
        """The tensors of the call that own their memory and that somebody still holds, if only by a view."""
        made = [tensor for arena in arenas() for tensor in arena.created_since(self._start.get(arena, -1))]
        return [tensor for tensor in made if isinstance(tensor, Tensor)]

    def _forget(self) -> None:
        """Releases all tensors."""
        self._kept.clear()
        self._anew.clear()
        self._seen.clear()
        self._pending.clear()

    def _replace_in_holders(self) -> None:
        """Replaces live tensors in all objects that hold them, which the garbage collector finds."""
        targets: list[Any] = list(self._alive())
        own = {id(own) for own in (targets, self._kept, self._pending)}
        known = {id(target) for target in targets}
        while targets:
            holders = [holder for holder in gc.get_referrers(*targets) if id(holder) not in own]
            own |= {id(holders)}
            targets.clear()
            dicts = [holder for holder in holders if type(holder) is dict]
            for cls in gc.get_referrers(*dicts) if dicts else ():
                if isinstance(cls, type):
                    self._class(cls)
            for holder in holders:
                if not isinstance(holder, Tensor | tuple | frozenset | MethodType):
                    self.refill(holder, self.stand_in)
                elif id(holder) not in known:
                    known.add(id(holder))
                    targets.append(holder)
            self._pending.clear()
            holders.clear()

    def _class(self, cls: type) -> None:
        """Sets attributes of a class through the class, which must know of changes."""
        for name, old in list(vars(cls).items()):
            if (new := self.stand_in(old)) is not old:
                type.__setattr__(cls, name, new)
