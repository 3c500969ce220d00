"""`array.array`: programs over the list of its elements, Python's numbers that fit its type."""

from __future__ import annotations

import math
import struct
from array import array
from operator import index as as_index
from typing import Any

import numpy as np

from ..kernels.python_implementations import composed
from .primitives import at, elements, new_sequence, put


def _refusal(typecode: str, number: int) -> str:
    """What CPython says of an integer that does not fit an array's type."""
    try:
        array(typecode, [number])
    except OverflowError as error:
        return str(error)
    return ""


def _limits(typecode: str) -> tuple[int, int, str, str]:
    """The least and the greatest element of an array of integers, and what is said of others; in 64 bits, as Python's."""
    bits = 8 * array(typecode).itemsize
    least, greatest = (-(1 << bits - 1), (1 << bits - 1) - 1) if typecode.islower() else (0, (1 << bits) - 1)
    texts = _refusal(typecode, least - 1), _refusal(typecode, greatest + 1)
    return max(least, -(1 << 63)), min(greatest, (1 << 63) - 1), *texts


_INTEGERS = {typecode: _limits(typecode) for typecode in "bBhHiIlLqQ"}
"""The limits of each type of integers."""


def _element(typecode: Any, x: Any) -> Any:
    """`x` as an element of an array of this type."""
    if typecode == "d":
        return math.ldexp(x, 0)
    if typecode == "f":
        return float(np.float32(math.ldexp(x, 0)))
    number = as_index(x)
    least, greatest, below, above = _INTEGERS[typecode]
    if number < least:
        raise OverflowError(below)
    if number > greatest:
        raise OverflowError(above)
    return number


def _place(self: Any, index: Any, text: Any) -> Any:
    """An index counted from the front; IndexError with this text where there is no such element."""
    if not hasattr(index, "__index__"):
        raise TypeError("array indices must be integers")
    place = as_index(index)
    count = len(elements(self))
    if place < 0:
        place += count
    if place < 0 or place >= count:
        raise IndexError(text)
    return place


@composed(array)
def construct(typecode: Any, initializer: Any = (), /) -> Any:
    """`array(typecode, initializer)`, of numbers."""
    made = new_sequence(array, typecode)
    if isinstance(initializer, str):
        raise TypeError(f"cannot use a str to initialize an array with typecode '{typecode}'")
    if isinstance(initializer, bytes):
        count, rest = divmod(len(initializer), struct.calcsize(typecode))
        if rest:
            raise ValueError("bytes length not a multiple of item size")
        initializer = struct.unpack(f"{count}{typecode}", initializer)
    elements(made).extend([_element(typecode, x) for x in initializer])
    return made


@composed(array.append)
def append(self: Any, v: Any, /) -> None:
    """Adds an element at the end."""
    elements(self).append(_element(self.typecode, v))


@composed(array.extend)
def extend(self: Any, bb: Any, /) -> None:
    """Adds elements at the end."""
    if isinstance(bb, array):
        if self.typecode != bb.typecode:
            raise TypeError("can only extend with array of same kind")
        elements(self).extend(elements(bb))
    else:
        for x in bb:
            self.append(x)


@composed(array.fromlist)
def fromlist(self: Any, list: Any, /) -> None:
    """Adds the elements of a list, or none of them."""
    if type(list).__name__ != "list":
        raise TypeError("arg must be list")
    elements(self).extend([_element(self.typecode, x) for x in list])


@composed(array.tolist)
def tolist(self: Any, /) -> Any:
    """A list of the elements."""
    return elements(self).copy()


@composed(array.insert)
def insert(self: Any, i: Any, v: Any, /) -> None:
    """Puts an element in before a place."""
    elements(self).insert(as_index(i), _element(self.typecode, v))


@composed(array.pop)
def pop(self: Any, i: Any = -1, /) -> Any:
    """Takes an element out."""
    i = as_index(i)
    if not elements(self):
        raise IndexError("pop from empty array")
    count = len(elements(self))
    if i < -count or i >= count:
        raise IndexError("pop index out of range")
    return elements(self).pop(i)


@composed(array.index)
def index(self: Any, v: Any, /) -> Any:
    """The place of the first element equal to `v`."""
    if v not in elements(self):
        raise ValueError("array.index(x): x not in array")
    return elements(self).index(v)


@composed(array.remove)
def remove(self: Any, v: Any, /) -> None:
    """Removes the first element equal to `v`."""
    if v not in elements(self):
        raise ValueError("array.remove(x): x not in array")
    elements(self).remove(v)


@composed(array.count)
def count(self: Any, v: Any, /) -> Any:
    """The number of elements equal to `v`."""
    return elements(self).count(v)


@composed(array.reverse)
def reverse(self: Any, /) -> None:
    """Reverses the elements in place."""
    elements(self).reverse()


@composed(array.__len__)
def length(self: Any, /) -> Any:
    """`len(self)`."""
    return len(elements(self))


@composed(array.__iter__)
def iterate(self: Any, /) -> Any:
    """`iter(self)`."""
    return iter(elements(self))


@composed(array.__contains__)
def contains(self: Any, v: Any, /) -> Any:
    """`v in self`."""
    return v in elements(self)


@composed(array.__getitem__)
def getitem(self: Any, i: Any, /) -> Any:
    """`self[i]`: an element, or a new array of some."""
    if isinstance(i, slice):
        made = new_sequence(array, self.typecode)
        elements(made).extend(elements(self)[i])
        return made
    return at(elements(self), _place(self, i, "array index out of range"))


@composed(array.__setitem__)
def setitem(self: Any, i: Any, v: Any, /) -> None:
    """`self[i] = v`: of an element, or of a slice from an array of the same type."""
    if isinstance(i, slice):
        if not isinstance(v, array):
            raise TypeError(f'can only assign array (not "{type(v).__name__}") to array slice')
        if self.typecode != v.typecode:
            raise TypeError("bad argument type for built-in operation")
        if i.step not in (None, 1):
            count = len(elements(self)[i])
            if count != len(v):
                raise ValueError(
                    f"attempt to assign array of size {len(v)} to extended slice of size {count}"
                )
        elements(self)[i] = elements(v)
    else:
        place = _place(self, i, "array assignment index out of range")
        put(elements(self), place, _element(self.typecode, v))


@composed(array.__delitem__)
def delitem(self: Any, i: Any, /) -> None:
    """`del self[i]`."""
    if isinstance(i, slice):
        del elements(self)[i]
    else:
        elements(self).pop(_place(self, i, "array assignment index out of range"))


@composed(array.__eq__)
def equal(self: Any, other: Any, /) -> Any:
    """`self == other`, of arrays of any types."""
    if not isinstance(other, array):
        return NotImplemented
    return len(self) == len(other) and all(x == y for x, y in zip(elements(self), elements(other)))


@composed(array.__ne__)
def unequal(self: Any, other: Any, /) -> Any:
    """`self != other`."""
    return not equal(self, other) if isinstance(other, array) else NotImplemented


@composed(array.__add__)
def add(self: Any, other: Any, /) -> Any:
    """`self + other`: a new array."""
    if not isinstance(other, array):
        raise TypeError(f'can only append array (not "{type(other).__name__}") to array')
    if self.typecode != other.typecode:
        raise TypeError("bad argument type for built-in operation")
    made = self[:]
    made.extend(other)
    return made


@composed(array.__iadd__)
def add_in_place(self: Any, other: Any, /) -> Any:
    """`self += other`."""
    if not isinstance(other, array):
        raise TypeError(f'can only extend array with array (not "{type(other).__name__}")')
    self.extend(other)
    return self


@composed(array.__mul__, array.__rmul__)
def repeat(self: Any, n: Any, /) -> Any:
    """`self * n`: a new array."""
    made = new_sequence(array, self.typecode)
    elements(made).extend(elements(self) * n)
    return made


@composed(array.__imul__)
def repeat_in_place(self: Any, n: Any, /) -> Any:
    """`self *= n`."""
    elements(self)[:] = elements(self) * n
    return self
