"""What NumPy's own functions raise, found by calling them with representatives of abstract operands.

A representative of an abstract value is a Python object of the same kind: an ndarray of ones of the same element type
and shape, a number, a list, tuple or slice of representatives, a constant itself. Where NumPy refuses the types, shapes or
constants of a call, it refuses the representatives with the same exception and text; what depends on elements says nothing.
"""

from __future__ import annotations

import functools
import math
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ....records import dataclass
from ...library.numpy.array_methods import NUMPY_METHODS
from ...library.numpy.indexing.stores import known_array
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, ArrayCell, Const, ListCell, Ref, SliceObject, Tuple
from ...values.views import View, path_type

MOST_ELEMENTS = 1 << 22
"""Elements of a representative; of a larger array there is none."""
IN_MEMORY = 1 << 12
"""Elements up to which a representative has memory for each; those of a larger one are one number."""
LARGEST = 4096
"""The largest integer constant of a call that is made with representatives: it may be the extent of a result."""
FEW = 9
"""The largest extent where only element types matter."""

OF_NUMPY = (TypeError, ValueError, IndexError, OverflowError, ArithmeticError, AttributeError, MemoryError)
"""Classes of exceptions with which NumPy refuses the types, shapes or constants of a call."""

Cells = Callable[[int], Any]
"""The contents of a cell by its number."""

_CONSTANTS = (bool, float, complex, str, bytes, np.dtype, np.generic, np.ufunc, type(None), type(Ellipsis))


@dataclass(frozen=True, slots=True)
class NumpyCall:
    """A call of a function of NumPy that is being inferred; `depth`: how many callees are open around it."""

    function: Callable[..., Any]
    args: Sequence[Abstract]
    kwargs: Mapping[str, Abstract]
    depth: int

    def exception(self, cells: Cells) -> Exception | None:
        """What NumPy raises of representatives; None where it raises nothing, or an operand has no representative."""
        return self._raised(_Representatives(cells, MOST_ELEMENTS, LARGEST))

    def type_error(self, cells: Cells) -> TypeError | None:
        """The TypeError with which NumPy refuses the element types, or the options, of a call whatever the shapes are."""
        try:
            key = self.function, *[_type_key(cells, a) for a in self.args], *self.kwargs
            key = *key, *[_type_key(cells, a) for a in self.kwargs.values()]
        except _NoRepresentative:
            return None
        if key not in _TYPE_ERRORS:
            found = self._raised(_Representatives(cells, FEW, FEW))
            _TYPE_ERRORS[key] = found if isinstance(found, TypeError) else None
        return _TYPE_ERRORS[key]

    def _raised(self, representatives: _Representatives) -> Exception | None:
        try:
            args = [representatives.of(a) for a in self.args]
            kwargs = {name: representatives.of(a) for name, a in self.kwargs.items()}
        except _NoRepresentative:
            return None
        handled = sys.exception()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                self.function(*args, **kwargs)
            except OF_NUMPY as error:
                return _by_itself(error, handled)
        return None


def _by_itself(error: Exception, handled: BaseException | None) -> Exception:
    """An exception without what was being handled around the call, and without tracebacks, whose frames keep all alive."""
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = None
        if each.__context__ is handled:
            each.__context__ = None
        each = each.__context__
    return error


def called(name: str, meaning: Callable[..., Abstract], value: Any) -> Callable[..., Any] | None:
    """The function of NumPy whose meaning it is: `value`, or a method of ndarrays; None of others."""
    if getattr(meaning, "reason", None) is not None:  # what is refused may do anything
        return None
    if value is not None:
        return cast(Callable[..., Any], value) if is_pure(value) else None
    return _method(name) if NUMPY_METHODS.get(name) is meaning else None


@functools.cache
def _method(name: str) -> Callable[..., Any]:
    return lambda receiver, *args, **kwargs: getattr(receiver, name)(*args, **kwargs)


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))
"""Classes of NumPy's functions; objects that call a function of the program (`np.vectorize(f)`) are of others."""


def is_pure(value: Any) -> bool:
    """True for a function of NumPy that changes nothing but its arguments, and runs no code of the program."""
    ufunc = getattr(value, "__self__", value)
    if isinstance(ufunc, np.ufunc):  # those of `np.frompyfunc` work on objects
        return any("O" not in loop for loop in ufunc.types)
    module = getattr(value, "__module__", None) or ""
    pure = module == "numpy" or module.startswith(("numpy.linalg", "numpy.fft", "numpy.lib"))
    return pure and isinstance(value, _FUNCTIONS)


_TYPE_ERRORS: dict[Any, TypeError | None] = {}
"""What NumPy raises for types, by the function and the kinds of the operands."""


def _type_key(cells: Cells, value: Abstract) -> Any:
    """All that decides whether NumPy refuses the type of an operand."""
    match value:
        case Const(value=known):
            return type(known) if isinstance(known, float | complex) else _constant_key(known)
        case Array(form=Form.PYTHON | Form.SCALAR) if type(value) is Array:
            return value.dtype, value.form
        case Tuple(items=items, cls=cls):
            return cls, *[_type_key(cells, item) for item in items]
        case Ref(cell=number, path=path):
            cell = cells(number)
            if isinstance(cell, ListCell):
                return list, *[_type_key(cells, item) for item in cell.items]
            if isinstance(cell, ArrayCell):
                type_ = path_type(cell.value.type, path)
                extents = [min(extent, FEW) for extent in type_.static_shape]
                return type_.dtype, *extents, _is_read_only(cell, path)
    raise _NoRepresentative


def _constant_key(known: Any) -> Any:
    if isinstance(known, int | str | type | np.dtype | np.ufunc | None):
        return type(known), known
    if type(known) is tuple:
        return tuple, *map(_constant_key, known)
    raise _NoRepresentative


def _is_read_only(cell: ArrayCell, path: tuple[View, ...]) -> bool:
    return cell.writable is False or any(view.read_only for view in path)


class _NoRepresentative(Exception):
    """An operand has no representative."""


@dataclass(frozen=True, slots=True)
class _Representatives:
    """Makes representatives, with extents of at most `extents`; of greater integers than `integers` there are none."""

    cells: Cells
    extents: int
    integers: int

    @property
    def whole(self) -> bool:
        """Whether extents are those of the operands."""
        return self.extents > FEW

    def of(self, value: Abstract) -> Any:
        match value:
            case Const(value=known):
                return self._constant(known)
            case Array(form=Form.PYTHON | Form.SCALAR) if type(value) is Array:
                if self.whole and value.dtype.kind in "iu":  # it may be an extent, or an axis
                    raise _NoRepresentative
                number = value.dtype.type(1)
                return number.item() if value.form is Form.PYTHON else number
            case Tuple(items=items, cls=cls):
                made = [self.of(item) for item in items]
                return tuple(made) if cls is tuple else cls(*made)
            case Ref(cell=number, path=path):
                cell = self.cells(number)
                if isinstance(cell, ListCell):
                    return [self.of(item) for item in cell.items]
                if isinstance(cell, ArrayCell):
                    known = known_array(cell.value) if self.whole and not path else None
                    if known is not None:
                        return self._constant(known)
                    type_ = path_type(cell.value.type, path)
                    return self._array(type_.dtype, type_.static_shape, _is_read_only(cell, path))
            case SliceObject(start=start, stop=stop, step=step):
                return slice(self.of(start), self.of(stop), self.of(step))
        raise _NoRepresentative

    def _constant(self, known: Any) -> Any:
        if isinstance(known, int) and not isinstance(known, bool):
            if abs(known) > self.integers:
                raise _NoRepresentative
            return known
        if type(known) in (tuple, list):
            return type(known)([self._constant(each) for each in known])
        of_numpy = isinstance(known, type) and known.__module__ in ("numpy", "builtins")
        if of_numpy or isinstance(known, _CONSTANTS):
            return known
        if isinstance(known, np.ndarray) and known.size <= MOST_ELEMENTS:
            return known.copy()
        raise _NoRepresentative

    def _array(self, dtype: Any, shape: tuple[int, ...], read_only: bool) -> np.ndarray:
        shape = tuple([min(extent, self.extents) for extent in shape])
        size = math.prod(shape)
        if size > MOST_ELEMENTS:
            raise _NoRepresentative
        few = size <= IN_MEMORY
        made = np.ones(shape, dtype) if few else as_strided(np.ones(1, dtype), shape, [0] * len(shape))
        if read_only:
            made.flags.writeable = False
        return made
