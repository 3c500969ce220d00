"""`LazyTensor`: NumPy's array, with its operators, methods and attributes recorded instead of computed."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from ..compiler.hlo.types import ArrayType
from ..compiler.values.boundary import Form
from ..runtime.executables.jax_private import register_as_ndarray
from . import functions
from .barrier import value_of
from .devices import device_named, is_cpu, laid_out, on_device
from .graph import Node, loans, placed, varies
from .in_numpy import DEFERRED, at_once, element_at_once, on_host, run_in_numpy, store_at_once, two_at_once
from .indexing import Basic, basic
from .meshes.shardings import laying_out
from .meshes.specs import sharding_of_result
from .recipes import kind_of
from .recorder import Unrecorded, record
from .tensor import (
    LOOKS,
    Tensor,
    define,
    host_view,
    is_direct,
    node_of,
    note_look,
    owner,
    owner_of,
    shared_memory,
    to_host,
    view_of,
)

_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the Array API standard that `pystage.lazy` follows."""


Called = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments."""


def call(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    in_numpy: Called | None = None,
) -> Any:
    """Runs `function(*args, **kwargs)`: computed at once, recorded, or by NumPy where neither is possible, as the call
    `in_numpy` if that differs.
    """
    made = at_once(function, args, kwargs)
    return _deferred(function, args, kwargs, 4, in_numpy) if made is DEFERRED else made


def _deferred(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    depth: int,
    in_numpy: Called | None = None,
) -> Any:
    """Records a call, or has NumPy run it. The user's frame is so deep below `record`."""
    try:
        return record(function, args, kwargs, depth)
    except Unrecorded as unrecorded:
        reason = str(unrecorded)
    function, args = in_numpy or (function, args)
    return run_in_numpy(function, args, kwargs, reason)


_rules: Mapping[Callable[..., Any], Callable[..., Any]] = {}
"""What computes an operator, where this is not NumPy (`set_rules`)."""


def set_rules(rules: Mapping[Callable[..., Any], Callable[..., Any]]) -> None:
    """Sets the rules of operators, by their functions in `operator`; missing ones stay NumPy's."""
    global _rules
    _rules = rules


def binary(function: Callable[..., Any], turned: bool = False) -> Callable[[Any, Any], Any]:
    """The method of a binary operator; `turned`: the reflected one."""

    def operate(self: Tensor, other: Any) -> Any:
        cls = type(other)
        if _rules and not loans and function in _rules:
            return _rules[function](other, self) if turned else _rules[function](self, other)
        if cls is not LazyTensor and cls is not float and isinstance(other, jax.Array) and _decides(other):
            return NotImplemented
        made = two_at_once(function, other, self) if turned else two_at_once(function, self, other)
        if made is not DEFERRED:
            return made
        args = (other, self) if turned else (self, other)
        made = at_once(function, args)
        return _deferred(function, args, {}, 3) if made is DEFERRED else made

    return operate


def _decides(array: jax.Array) -> bool:
    """True if the operators of a `jax.Array` decide: where the tensor beside it stands for an ndarray, and in a trace."""
    return bool(loans) or isinstance(array, jax.core.Tracer)


def unary(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The method of an operator of one operand."""

    def operate(self: Tensor) -> Any:
        return _rules[function](self) if function in _rules and not loans else call(function, (self,), {})

    return operate


def _method(name: str) -> Callable[..., Any]:
    def method(self: LazyTensor, *args: Any, **kwargs: Any) -> Any:
        return call(functions.method, (name, self, *args), kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As `numpy.ndarray.{name}`."
    return method


def _attribute(name: str, settable: bool = False) -> property:
    def get(self: LazyTensor) -> Any:
        return call(functions.attribute, (name, self), {})

    def put(self: LazyTensor, value: Any) -> None:
        call(functions.set_attribute, (name, self, value), {})

    return property(get, put if settable else None, doc=f"As `numpy.ndarray.{name}`.")


class Operated(Tensor):
    """What an array and a number of a step have in common: operators, and conversions to what Python shows."""

    __slots__ = ()
    __array_priority__ = 50.0

    def _shown(self, cause: str) -> Any:
        """The value as NumPy or Python has it, which is needed for this cause."""
        raise NotImplementedError

    def _number(self, cause: str) -> Any:
        """The value for a conversion to a Python number."""
        return self._shown(cause)

    def __bool__(self) -> bool:
        return bool(self._number("bool"))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __index__(self) -> int:
        return operator.index(self._number("an index"))

    def __repr__(self) -> str:
        return repr(self._shown("repr"))

    def __str__(self) -> str:
        return str(self._shown("print"))

    def __format__(self, spec: str) -> str:
        return format(self._shown("format"), spec)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return call(func, tuple(args), dict(kwargs))

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


class LazyTensor(Operated):
    """An array with NumPy's own API that records operations on it, and computes when a value is needed.

    Made by `pystage.lazy.asarray` and the other factories of `pystage.lazy`, and by calls on lazy tensors. Shapes and
    element types are known at once. `bool`, `int`, `float`, `print`, `np.asarray` and iteration over numbers compute.
    """

    __slots__ = ()

    # -- what is known without computing

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._kind.type.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        view = self.reshape(shape)
        if view._owner is not owner_of(self):
            raise AttributeError("incompatible shape for in-place modification")
        if self._owner is None:
            if self._host is None:
                define(self, node_of(view))
            else:
                self._host, self._node = self._host.reshape(view.shape), None
            self._kind = view._kind
        else:
            self._path, self._makers, self._kind = view._path, view._makers, view._kind
            self._starts, self._looks = None, 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self._kind.type.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._kind.type.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._kind.type.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> Any:
        """The device that the tensor is on, or the mesh (`jax.sharding.Mesh`)."""
        return self._kind.device

    @property
    def base(self) -> LazyTensor | None:
        """The tensor whose memory this is a view of; None where it owns its memory."""
        return self._owner  # type: ignore[return-value]

    @property
    def __class__(self) -> Any:
        """The class of the corresponding NumPy object: code that asks for it takes the same path."""
        return np.ndarray if self._kind.form is Form.NDARRAY else self.dtype.type

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("__class__ assignment only supported for mutable types or ModuleType subclasses")

    def __len__(self) -> int:
        if not self.shape:
            return len(self._stub())
        return self.shape[0]

    def _stub(self) -> Any:
        """A stand-in for NumPy's errors: an array of the tensor's shape, or a scalar, with other numbers."""
        array = np.broadcast_to(np.zeros((), self.dtype), self.shape)
        return array[()] if self._kind.form is Form.SCALAR else array

    def __hash__(self) -> int:
        if self._kind.form is Form.SCALAR:
            return hash(host_view(self, "hash")[()])
        return hash(self._stub())  # raises

    # -- looking

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy or self._kind.form is Form.SCALAR:
            return to_host(self, "np.array").astype(self.dtype if dtype is None else dtype, copy=False)
        return np.asarray(shared_memory(self, "np.asarray"), dtype, copy=copy)

    def _number(self, cause: str) -> Any:
        """The tensor as NumPy's array, or its scalar."""
        return self._stub() if self.size != 1 else self._shown(cause)

    def __round__(self, *digits: Any) -> Any:
        return (
            call(round, (self, *digits), {})
            if self._kind.form is Form.SCALAR
            else round(self._stub(), *digits)
        )

    def __trunc__(self) -> int:
        return operator.index(math.trunc(self._number("int")))

    def __getattr__(self, name: str) -> Any:
        """Other attributes of the NumPy object: of an ndarray of the same memory, or of the number."""
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self._kind.form is Form.SCALAR:
            return getattr(self._shown(f"the attribute {name}"), name)
        return getattr(shared_memory(self, f"the attribute {name}"), name)

    def item(self, *args: Any) -> Any:
        """An element as a Python number."""
        return host_view(self, "item").item(*args)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return host_view(self, "tolist").tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements as bytes."""
        return host_view(self, "tobytes").tobytes(order)

    def __bytes__(self) -> bytes:
        return bytes(self._shown("bytes"))

    def numpy(self) -> np.ndarray[Any, Any]:
        """A new ndarray with the elements."""
        return to_host(self, "numpy")

    def _shown(self, cause: str) -> Any:
        array = host_view(self, cause)
        return array[()] if self._kind.form is Form.SCALAR else array

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            return iter(self._stub())  # raises
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __reduce__(self) -> Any:
        return _unpickled, (to_host(self, "pickle"), self._kind.form is Form.SCALAR)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The namespace of the Array API standard: `pystage.lazy`."""
        if api_version not in (None, *_API_VERSIONS):
            raise ValueError(
                f"pystage.lazy follows the Array API {', '.join(_API_VERSIONS)}, not {api_version}"
            )
        return sys.modules[__package__]

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if is_cpu(self._kind.device) and self.dtype.isbuiltin == 1:
            array = np.asarray(self)
            return array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        if copy is False and self._owner is not None:
            raise BufferError("a view of a lazy tensor on this device is exported as a copy")
        node = node_of(self)
        value_of(node, "DLPack")
        node.exported = True
        return placed(node).__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self, /) -> Any:
        node = node_of(self)
        value_of(node, "DLPack")
        return placed(node).__dlpack_device__()

    def to_device(self, device: Any, /, *, stream: Any = None) -> LazyTensor:
        """As `to`, under the name of the Array API standard."""
        if stream is not None:
            raise ValueError("`to_device` takes no stream: copies are ordered by themselves")
        return self.to(device)

    def to(self, device: Any) -> LazyTensor:
        """A copy on another device, on all devices of a mesh, or with a sharding; itself, where it is there already.

        A sharding over the mesh that a pending tensor is on is recorded; else the tensor is computed. ValueError for a
        sharding that does not divide the shape.
        """
        chosen = device_named(device)
        sharding = device if isinstance(device, NamedSharding) else None
        if chosen == self._kind.device and sharding is None:
            return self
        if chosen == self._kind.device and self.ndim:
            assert sharding is not None
            sharding.shard_shape(self.shape)  # ValueError
            node = node_of(self)
            if node.array is None or varies(node):
                result = sharding_of_result(sharding.mesh, sharding.spec)
                made = call(laying_out(result), (self,), {})
                node_of(made).layout = result
                return made  # type: ignore[no-any-return]
        if isinstance(chosen, Mesh) or isinstance(self._kind.device, Mesh):
            node = node_of(self)
            value_of(node, "to")
            array = laid_out(placed(node), sharding or chosen)
        else:
            array = on_device(host_view(self, "to"), chosen)
        kind = kind_of(self._kind.type, self._kind.form, chosen)
        return owner(Node(kind.type, chosen, array), kind)  # type: ignore[no-any-return]

    @property
    def sharding(self) -> Any:
        """The layout of the elements over devices.

        It is known of what is computed, of results of collectives, and of what `to` lays out; all else is computed now, and
        lies as XLA has propagated it from the operands.
        """
        node = node_of(self)
        if node.array is None and node.layout is not None:
            return node.layout
        value_of(node, "the sharding")
        return placed(node).sharding

    # -- indexing

    def __getitem__(self, key: Any) -> Any:
        if self._looks > LOOKS and is_direct() and (type(key) is int or _is_numpys(key)):
            return self._host[key]  # type: ignore[index]
        if (made := element_at_once(self, key)) is not None:
            return made
        if self._kind.form is Form.SCALAR:
            return self._item_of_scalar(key)
        found = basic(_with_numbers(key), self._kind.type.shape)
        if found is None:
            return call(functions.getitem, (self, key), {})
        note_look(self, found.element)
        if not found.element:
            return view_of(self, found.views)
        return self._element(found)

    def _item_of_scalar(self, key: Any) -> Any:
        """An index of a NumPy scalar: itself for `()`, else a new array."""
        if type(key) is tuple and not key:
            return self
        self._stub()[key]  # raises
        array = owner(node_of(self), kind_of(self._kind.type, Form.NDARRAY, self._kind.device))
        return array if key is ... else array[key]

    def _element(self, found: Basic) -> Any:
        """One element at present: a NumPy scalar."""
        base = owner_of(self)
        view = view_of(self, found.views)
        kind = kind_of(view._kind.type, Form.SCALAR, self._kind.device)
        if base._node is None or (base._node.array is not None and not varies(base._node)):
            return owner(Node(kind.type, kind.device, host_view(view, "an element")[()]), kind)
        return owner(node_of(view), kind)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._kind.writable or self._kind.form is Form.SCALAR:
            self._stub()[key] = 0  # raises
        if self._looks > LOOKS and is_direct() and _is_numpys(key):
            self._host[key] = np.asarray(value) if isinstance(value, Tensor) else value  # type: ignore[index]
            return
        if store_at_once(self, key, value):
            return
        found = basic(_with_numbers(key), self._kind.type.shape)
        if found is None:
            call(functions.setitem, (self, key, value), {})
            return
        whole = functions.setitem, (self, key, value)
        call(functions.fill, (view_of(self, found.views), value), {}, in_numpy=whole)
        note_look(self, found.element)

    def __delitem__(self, key: Any) -> None:
        del self._stub()[key]  # raises

    # -- NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            made = at_once(ufunc, inputs)
            if made is not DEFERRED:
                return made
        if kwargs and (out := kwargs.get("out")) is not None and len(out) == 1:
            kwargs["out"] = out[0]
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        if method != "__call__" and method not in ("reduce", "accumulate"):
            return run_in_numpy(function, inputs, kwargs, f"`{ufunc.__name__}.{method}` is not recorded")
        if method == "__call__" and not kwargs:
            return _deferred(function, inputs, kwargs, 3)
        return call(function, inputs, kwargs)

    # -- operators

    __iadd__ = binary(operator.iadd)
    __isub__ = binary(operator.isub)
    __imul__ = binary(operator.imul)
    __itruediv__ = binary(operator.itruediv)
    __ifloordiv__ = binary(operator.ifloordiv)
    __imod__ = binary(operator.imod)
    __ipow__ = binary(operator.ipow)
    __imatmul__ = binary(operator.imatmul)
    __ilshift__ = binary(operator.ilshift)
    __irshift__ = binary(operator.irshift)
    __iand__ = binary(operator.iand)
    __ior__ = binary(operator.ior)
    __ixor__ = binary(operator.ixor)
    __divmod__ = binary(np.divmod)
    __rdivmod__ = binary(np.divmod, turned=True)

    # -- methods and attributes that are NumPy's

    all = _method("all")
    any = _method("any")
    argmax = _method("argmax")
    argmin = _method("argmin")
    argpartition = _method("argpartition")
    argsort = _method("argsort")
    astype = _method("astype")
    byteswap = _method("byteswap")
    choose = _method("choose")
    clip = _method("clip")
    compress = _method("compress")
    conj = _method("conj")
    conjugate = _method("conjugate")
    copy = _method("copy")
    cumprod = _method("cumprod")
    cumsum = _method("cumsum")
    diagonal = _method("diagonal")
    dot = _method("dot")
    dump = _method("dump")
    dumps = _method("dumps")
    fill = _method("fill")
    flatten = _method("flatten")
    getfield = _method("getfield")
    max = _method("max")
    mean = _method("mean")
    min = _method("min")
    nonzero = _method("nonzero")
    partition = _method("partition")
    prod = _method("prod")
    put = _method("put")
    ravel = _method("ravel")
    repeat = _method("repeat")
    reshape = _method("reshape")
    resize = _method("resize")
    round = _method("round")
    searchsorted = _method("searchsorted")
    sort = _method("sort")
    squeeze = _method("squeeze")
    std = _method("std")
    sum = _method("sum")
    swapaxes = _method("swapaxes")
    take = _method("take")
    trace = _method("trace")
    transpose = _method("transpose")
    var = _method("var")
    view = _method("view")
    T = _attribute("T")
    mT = _attribute("mT")
    real = _attribute("real", settable=True)
    imag = _attribute("imag", settable=True)

    @property
    def flat(self) -> Flat:
        """As `numpy.ndarray.flat`."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        call(functions.set_attribute, ("flat", self, value), {})


def _is_numpys(key: Any) -> bool:
    """True for an index of integers and slices of no lazy tensors."""
    cls = type(key)
    if cls is int:
        return True
    if cls is slice:
        return not any(isinstance(part, Tensor) for part in (key.start, key.stop, key.step))
    if cls is tuple:
        return all(map(_is_numpys, key))
    return issubclass(cls, np.integer)


def _with_numbers(key: Any) -> Any:
    """An index with integers in place of lazy ones, for which NumPy gives views: scalars and 0-d arrays in slices."""
    if isinstance(key, Tensor):
        return _number_of(key) if key._kind.form is not Form.NDARRAY else key
    cls = type(key)
    if cls is tuple and any(isinstance(part, Tensor | slice) for part in key):
        return tuple(map(_with_numbers, key))
    if cls is slice and any(isinstance(part, Tensor) for part in (key.start, key.stop, key.step)):
        return slice(*map(_number_of, (key.start, key.stop, key.step)))
    return key


def _number_of(part: Any) -> Any:
    """A lazy integer as NumPy's; others as they are."""
    if isinstance(part, Tensor) and part._kind.type.dtype.kind in "iu" and not part._kind.type.shape:
        return host_view(part, "an index")[()]
    return part


class Flat:
    """The elements of a lazy tensor in row-major order, and an iterator over them: as `numpy.ndarray.flat`."""

    __slots__ = ("_tensor", "index")

    def __init__(self, tensor: LazyTensor) -> None:
        self._tensor = tensor
        self.index = 0
        """The position of the next element."""

    @property
    def base(self) -> LazyTensor:
        """The tensor."""
        return self._tensor

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the next element."""
        return tuple(map(int, np.unravel_index(self.index, self._tensor.shape)))

    def copy(self) -> Any:
        """The elements as a new tensor."""
        return self._tensor.flatten()

    def __getitem__(self, key: Any) -> Any:
        return call(functions.flat_item, (self._tensor, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        call(functions.set_flat_item, (self._tensor, key, value), {})

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def __len__(self) -> int:
        return self._tensor.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._tensor, dtype).reshape(-1)


def _unpickled(array: np.ndarray[Any, Any], scalar: bool) -> LazyTensor:
    return from_host(array, None, Form.SCALAR if scalar else Form.NDARRAY)


def from_host(array: Any, device: Any, form: Form = Form.NDARRAY) -> LazyTensor:
    """A tensor with a copy of an array. `device` may be a mesh, or a sharding."""
    place, device = device, device_named(device)
    made = on_host(array, device, form)
    if made is not None:
        return made  # type: ignore[no-any-return]
    place = place if isinstance(place, NamedSharding) else device
    is_spread = isinstance(array, jax.Array) and isinstance(device, Mesh)
    placed = laid_out(array, place) if is_spread else on_device(array, place)
    kind = kind_of(ArrayType(placed.dtype, placed.shape), form, device)
    return owner(Node(kind.type, kind.device, placed), kind)  # type: ignore[no-any-return]


Tensor.made = LazyTensor
register_as_ndarray(LazyTensor)
