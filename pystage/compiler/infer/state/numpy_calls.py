"""Exceptions of NumPy's functions and of `math`, found by calls with representatives of abstract operands.

A representative of an abstract value is a Python object of the same kind: an ndarray of one number, of the same element
type and shape, a number, a list, tuple or slice of representatives, a constant itself; a new generator for any of its
class. Where NumPy refuses the types, shapes or constants of a call, it refuses the representatives with the same exception
and text, whatever number they hold.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ....records import dataclass
from ... import limits
from ...library.numpy.array_methods import NUMPY_METHODS
from ...library.numpy.indexing.stores import known_array
from ...library.numpy.random.draws import DRAWS, has_drawn, scratch
from ...library.numpy.random.generators import METHODS_OF_ELEMENTS
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, ArrayCell, Const, ListCell, ObjectCell, Ref, SliceObject, Tuple
from ...values.memory import seen_through
from ...values.views import View, path_type

ELEMENTS = (1, 0, math.nan, 2, -1)
"""The elements of representatives, tried in turn to find out whether an exception depends on them; integers have no NaN."""

OF_NUMPY = (TypeError, ValueError, IndexError, OverflowError, ArithmeticError, AttributeError, MemoryError)
"""Classes of exceptions with which NumPy refuses the types, shapes or constants of a call."""

Cells = Callable[[int], Any]
"""The contents of a cell by its number."""

_CONSTANTS = (bool, float, complex, str, bytes, np.dtype, np.generic, np.ufunc, type(None), type(Ellipsis))


@dataclass(slots=True)
class NumpyCall:
    """A call of a function of NumPy that is being inferred, `forks` forks deep in the state."""

    name: str
    function: Callable[..., Any]
    args: Sequence[Abstract]
    kwargs: Mapping[str, Abstract]
    forks: int
    _closed: bool | None = None

    def exception(self, cells: Cells) -> Exception | None:
        """The exception of NumPy for representatives; None where it raises nothing.

        `NoRepresentative` where an operand has none, and where what is raised depends on elements, or on an integer of the
        run.
        """
        whole = _Representatives(cells, limits.REPRESENTATIVE_ELEMENTS, limits.REPRESENTATIVE_INTEGER)
        try:
            return self._alike(whole)
        except NoRepresentative:
            return self._alike(replace(whole, elements=limits.REPRESENTATIVE_MEMORY, of_integers=True))

    def draws(self, cells: Cells) -> bool:
        """True for a method of a generator, whose meaning has effects even where it is rolled back."""
        if isinstance(getattr(self.function, "__self__", None), DRAWS):
            return True
        receivers = [cells(each.cell) for each in self.args[:1] if isinstance(each, Ref)]
        return any(isinstance(cell, ObjectCell) and cell.cls in DRAWS for cell in receivers)

    def is_closed(self, cells: Cells) -> bool:
        """True where the call runs no code of the program: each of its operands has a representative."""
        if self._closed is None:
            made = _Representatives(
                cells,
                limits.REPRESENTATIVE_ELEMENTS,
                limits.REPRESENTATIVE_INTEGER,
                extents=limits.REPRESENTATIVE_EXTENT,
            )
            try:
                for operand in (*self.args, *self.kwargs.values()):
                    made.of(operand)
                self._closed = True
            except NoRepresentative:
                self._closed = False
        return self._closed

    def refusal(self, cells: Cells) -> Exception | None:
        """The exception with which NumPy refuses the types, the options or the shapes of a call whatever its elements are.

        A TypeError or an AttributeError does not depend on shapes. Of the others only those count that come of each of
        `ELEMENTS` alike.
        """
        try:
            key = self.function, *[_type_key(cells, a) for a in self.args], *self.kwargs
            key = *key, *[_type_key(cells, a) for a in self.kwargs.values()]
            if key not in _OF_TYPES:
                _OF_TYPES[key] = None  # where it depends on elements it is not known
                small = _Representatives(
                    cells,
                    limits.REPRESENTATIVE_ELEMENTS,
                    limits.REPRESENTATIVE_SMALL_INTEGER,
                    extents=limits.REPRESENTATIVE_EXTENT,
                    writable=True,
                )
                _OF_TYPES[key] = self._alike(small)
            found = _OF_TYPES[key]
            if isinstance(found, np.linalg.LinAlgError) or not isinstance(found, ValueError | IndexError):
                return found if isinstance(found, TypeError | AttributeError) else None
            return self._alike(
                _Representatives(
                    cells, limits.REPRESENTATIVE_MEMORY, limits.REPRESENTATIVE_INTEGER, writable=True
                )
            )
        except NoRepresentative:
            return None

    def _alike(self, made: _Representatives) -> Exception | None:
        """The exception that NumPy raises for each of the elements; `NoRepresentative` where it depends on them, or comes
        after a store.
        """
        first: Exception | None = None
        made = replace(made, masks=[])
        for element in ELEMENTS:
            first = self._as_before(first, replace(made, element=element))
            if first is None:
                return None
        if made.whole and max(made.masks, default=0) > limits.REPRESENTATIVE_MASK:
            raise NoRepresentative
        for trues in range(max(made.masks, default=0) if made.whole else 0):
            first = self._as_before(first, replace(made, trues=trues))
            if first is None:
                return None
        if first is not None and self._stores(made):
            raise NoRepresentative
        return first

    def _stores(self, made: _Representatives) -> bool:
        """Whether NumPy, before it raises, stores into arrays that it is given."""
        arrays: tuple[list[np.ndarray], list[np.ndarray]] = [], []
        before, after = [replace(made, arrays=each, numbers=itertools.count(2, 3)) for each in arrays]
        for operand in (*self.args, *self.kwargs.values()):
            before.of(operand)
        self._raised(after)
        return any(_bytes_of(x) != _bytes_of(y) for x, y in zip(*arrays, strict=True))

    def _as_before(self, before: Exception | None, made: _Representatives) -> Exception | None:
        """The exception of NumPy for representatives; `NoRepresentative` if it differs from the one before."""
        error = self._raised(made)
        if None not in (before, error) and (type(before), str(before)) != (type(error), str(error)):
            raise NoRepresentative
        return error

    def _raised(self, representatives: _Representatives) -> Exception | None:
        args = [representatives.of(a) for a in self.args]
        kwargs = {name: representatives.of(a) for name, a in self.kwargs.items()}
        handled = sys.exception()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                self.function(*args, **kwargs)
            except (*OF_NUMPY, RuntimeError) as error:
                return _by_itself(error, handled)
        return None


def _bytes_of(array: np.ndarray) -> bytes:
    """The contents of an array; of a large representative its one number."""
    return (array if array.size <= limits.REPRESENTATIVE_MEMORY else array[(0,) * array.ndim]).tobytes()


def _by_itself(error: Exception, handled: BaseException | None) -> Exception:
    """An exception without its context and without tracebacks, whose frames keep everything alive."""
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = None
        if each.__context__ is handled:
            each.__context__ = None
        each = each.__context__
    return error


def called(name: str, meaning: Callable[..., Abstract], value: Any) -> Callable[..., Any] | None:
    """The function of NumPy that a meaning stands for: `value`, or a method of ndarrays or generators; None for others.

    Of the methods of generators only those that move elements: whether others raise depends on what they are given.
    """
    if getattr(meaning, "reason", None) is not None:  # what is refused may do anything
        return None
    if value is None:
        if METHODS_OF_ELEMENTS.get(name) is meaning:
            return _drawing(name.rpartition(".")[2])
        return _method(name) if NUMPY_METHODS.get(name) is meaning else None
    cls: type = type(getattr(value, "__self__", None))
    if cls in DRAWS and f"{cls.__name__}.{value.__name__}" in METHODS_OF_ELEMENTS:
        return _drawing(value.__name__, cls)
    return cast(Callable[..., Any], value) if is_pure(value) else None


@functools.cache
def _method(name: str) -> Callable[..., Any]:
    return lambda receiver, *args, **kwargs: getattr(receiver, name)(*args, **kwargs)


@functools.cache
def _drawing(name: str, cls: type | None = None) -> Callable[..., Any]:
    """A method of the generator that is its first argument, or of a new one of a class.

    `NoRepresentative` where it has drawn something before it raises: the meaning must draw that too.
    """

    def call(*args: Any, **kwargs: Any) -> None:
        receiver, *rest = args if cls is None else (scratch(cls), *args)
        try:
            getattr(receiver, name)(*rest, **kwargs)
        except OF_NUMPY:
            if has_drawn(receiver):
                raise NoRepresentative from None
            raise

    return call


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))
"""Classes of NumPy's functions; objects that call a function of the program (`np.vectorize(f)`) are of others."""


def is_pure(value: Any) -> bool:
    """True for a function that changes nothing but its arguments, and runs no code of the program."""
    ufunc = getattr(value, "__self__", value)
    if isinstance(ufunc, np.ufunc):  # those of `np.frompyfunc` work on objects
        return any("O" not in loop for loop in ufunc.types)
    module = getattr(value, "__module__", None) or ""
    pure = module in ("numpy", "math", "cmath") or module.startswith(
        ("numpy.linalg", "numpy.fft", "numpy.lib")
    )
    return pure and isinstance(value, _FUNCTIONS)


_OF_TYPES: dict[Any, Exception | None] = {}
"""NumPy's exceptions for small representatives, by function and kinds of the operands."""


def _type_key(cells: Cells, value: Abstract) -> Any:
    """The properties of an operand's type by which NumPy may refuse it."""
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
                extents = [min(extent, limits.REPRESENTATIVE_EXTENT) for extent in type_.shape]
                return type_.dtype, *extents
            if isinstance(cell, ObjectCell) and cell.cls in DRAWS:
                return cell.cls
    raise NoRepresentative


def _constant_key(known: Any) -> Any:
    if known is Ellipsis or isinstance(known, int | str | type | np.dtype | np.ufunc | None):
        return type(known), known
    if type(known) is tuple:
        return tuple, *map(_constant_key, known)
    raise NoRepresentative


def _is_read_only(cell: ArrayCell, path: tuple[View, ...]) -> bool:
    return cell.writable is False or any(view.read_only for view in path)


class NoRepresentative(Exception):
    """An operand has no representative."""


@dataclass(frozen=True, slots=True)
class _Representatives:
    """Makes representatives that hold `element`, with extents of at most `extents` where these are given.

    There are none of arrays of more than `elements`, of greater integers than `integers`, and where extents are whole, of
    integers that only the run knows, unless `of_integers`: they may be extents, or axes.
    """

    cells: Cells
    elements: int
    integers: int
    element: float = 1
    extents: int | None = None
    of_integers: bool = False
    trues: int | None = None
    """The number of leading true elements of masks; None: as `element` says."""
    masks: list[int] = field(default_factory=list)
    """The sizes of the masks that were made."""
    arrays: list[np.ndarray] | None = None
    """Where it is wanted, the arrays that were made."""
    numbers: Iterator[int] | None = None
    """In place of `element`: what each array and each number holds."""
    writable: bool = False
    """True where all may be stored into: a call may depend on read-only memory only where its meaning says so."""

    @property
    def whole(self) -> bool:
        """True where extents are those of the operands."""
        return self.extents is None

    def of(self, value: Abstract) -> Any:
        match value:
            case Const(value=known):
                return self._constant(known)
            case Array(form=Form.PYTHON | Form.SCALAR) if type(value) is Array:
                if self.whole and value.dtype.kind in "iu" and not self.of_integers:
                    raise NoRepresentative
                number = self._number(value.dtype)
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
                    owner = cell.value.type
                    read_only = _is_read_only(cell, path)
                    if path and self.whole and owner.size <= min(self.elements, limits.REPRESENTATIVE_MEMORY):
                        seen = seen_through(self._array(owner.dtype, owner.shape, False), path)
                        seen.flags.writeable = self.writable or not read_only
                        return seen
                    type_ = path_type(owner, path)
                    return self._array(type_.dtype, type_.shape, read_only)
                if isinstance(cell, ObjectCell) and cell.cls in DRAWS:
                    return scratch(cell.cls)
            case SliceObject(start=start, stop=stop, step=step):
                return slice(self.of(start), self.of(stop), self.of(step))
        raise NoRepresentative

    def _constant(self, known: Any) -> Any:
        if isinstance(known, int) and not isinstance(known, bool):
            if abs(known) > self.integers:
                raise NoRepresentative
            return known
        if type(known) in (tuple, list):
            return type(known)([self._constant(each) for each in known])
        of_numpy = isinstance(known, type) and known.__module__ in ("numpy", "builtins")
        if of_numpy or isinstance(known, _CONSTANTS):
            return known
        if isinstance(known, np.ndarray) and known.size <= limits.REPRESENTATIVE_ELEMENTS:
            return self._noted(known.copy())
        raise NoRepresentative

    def _noted(self, array: np.ndarray) -> np.ndarray:
        if self.arrays is not None:
            self.arrays.append(array)
        return array

    def _number(self, dtype: Any) -> Any:
        element = self.element if self.numbers is None else next(self.numbers)
        is_whole = math.isfinite(element) or dtype.kind not in "biu"
        return np.array(element if is_whole else 1).astype(dtype)[()]

    def _array(self, dtype: Any, shape: tuple[int, ...], read_only: bool) -> np.ndarray:
        if self.extents is not None:
            shape = tuple([min(extent, self.extents) for extent in shape])
        size = math.prod(shape)
        if size > self.elements:
            raise NoRepresentative
        number = self._number(dtype)
        few = size <= limits.REPRESENTATIVE_MEMORY
        if number.dtype == bool and shape:
            self.masks.append(size)
            if self.trues is not None:
                return self._noted((np.arange(size) < self.trues).reshape(shape))
        made = (
            np.full(shape, number, dtype) if few else as_strided(np.full(1, number), shape, [0] * len(shape))
        )
        if read_only and not self.writable:
            made.flags.writeable = False
        return self._noted(made)
