"""The hash index of a dict or a set of rows, which finds the row of a key without comparing all of them.

An index has `WIDTH` slots for each bucket. A slot holds the place of a row, `FREE`, or `TAKEN_OUT`. A key is in the bucket
that its numbers give, or, where that was full, in the next that was not. A slot of a bucket that has never been full gets
free again, so that a search ends at the first free slot.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import ops
from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import FLOAT64, INT32, INT64, UINT64, ArrayType, is_floating
from ...values.lattice import Abstract, Array, RowsTuple, Tuple

WIDTH = 8
FREE = -1
TAKEN_OUT = -2
NOWHERE = 1 << 62
"""A slot number beyond all slots."""

_FACTOR = 0x9E3779B97F4A7C15


def buckets_for(capacity: int) -> int:
    """The number of buckets of an index of so many rows: at most every second slot is in use."""
    return 1 << max(2 * capacity // WIDTH - 1, 0).bit_length()


def index_type(capacity: int) -> ArrayType:
    """The type of the index of so many rows."""
    return ArrayType(INT32, (buckets_for(capacity) * WIDTH,))


def empty_index(b: Builder, capacity: int) -> Value:
    """The index of no rows."""
    return b.op(ops.Broadcast(index_type(capacity).shape, ()), _constant(b, FREE, INT32))


def has_numbers(keys: Abstract) -> bool:
    """True for keys for which there is an index: not all of them are one constant or gated."""
    if isinstance(keys, Tuple):
        return any(map(has_numbers, keys.items))
    return isinstance(keys, Array | RowsTuple)


def numbers_in(b: Builder, keys: Abstract) -> list[Value]:
    """The numbers that give the buckets of keys, int64 or float64; of a tuple of computed length its length and digest."""
    if isinstance(keys, Tuple):
        return [n for part in keys.items for n in numbers_in(b, part)]
    if isinstance(keys, RowsTuple):
        length = keys.items.length
        assert isinstance(length, Value)
        return [length, digest(b, numbers_in(b, keys.items.element), length)]
    return [wide(b, keys.value)] if isinstance(keys, Array) else []


def are_hashed_alike(a: Abstract, b: Abstract) -> bool:
    """True for keys of which equal ones have the same numbers."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return len(a.items) == len(b.items) and all(map(are_hashed_alike, a.items, b.items))
    if isinstance(a, RowsTuple) and isinstance(b, RowsTuple):
        return are_hashed_alike(a.items.element, b.items.element)
    if isinstance(a, Array) and isinstance(b, Array):
        return is_floating(a.dtype) == is_floating(b.dtype)
    return type(a) is type(b)


def digest(b: Builder, columns: Sequence[Value], length: Value) -> Value:
    """An int64 that is the same for equal tuples, whose elements' numbers `columns` has along the last axis."""
    if not columns:
        return length
    shape = columns[0].type.shape
    places = b.op(ops.Iota(ArrayType(INT64, shape), len(shape) - 1))
    factor = b.op(ops.Broadcast(shape, ()), _constant(b, _FACTOR, UINT64))
    half = b.op(ops.Broadcast(shape, ()), _constant(b, 32, UINT64))
    found = b.op(ops.Multiply(), b.op(ops.Convert(UINT64), places), factor)
    for column in columns:
        found = b.op(ops.Multiply(), b.op(ops.Xor(), found, _bits(b, column)), factor)
        found = b.op(ops.Xor(), found, b.op(ops.ShiftRightLogical(), found, half))
    lengths = b.op(ops.Reshape((*length.type.shape, 1)), length)
    inside = b.op(ops.Compare("LT"), places, b.op(ops.Broadcast(shape, tuple(range(len(shape)))), lengths))
    none = b.op(ops.Broadcast(shape, ()), _constant(b, 0, UINT64))
    each = b.op(ops.Select(), inside, found, none)
    return b.op(
        ops.BitcastConvert(INT64),
        b.op(ops.Reduce(ops.Add(), (len(shape) - 1,)), each, _constant(b, 0, UINT64)),
    )


def _bits(b: Builder, number: Value) -> Value:
    """The bits of a number, or of an array of them, int64 or float64; 0.0 and -0.0 have the same."""
    if not is_floating(number.type.dtype):
        return b.op(ops.Convert(UINT64), number)
    zero = b.op(ops.Broadcast(number.type.shape, ()), _constant(b, 0.0, FLOAT64))
    return b.op(ops.BitcastConvert(UINT64), b.op(ops.Add(), number, zero))


def bucket_of(b: Builder, numbers: Sequence[Value], buckets: int) -> Value:
    """The first bucket of the probe sequence for a key of these numbers, int64 or float64 each."""
    found = _constant(b, 0, UINT64)
    for number in numbers:
        found = b.op(ops.Multiply(), b.op(ops.Xor(), found, _bits(b, number)), _constant(b, _FACTOR, UINT64))
        found = b.op(ops.Xor(), found, b.op(ops.ShiftRightLogical(), found, _constant(b, 32, UINT64)))
    inside = b.op(ops.And(), found, _constant(b, buckets - 1, UINT64))
    return b.op(ops.Convert(INT64), inside)


def wide(b: Builder, number: Value) -> Value:
    """A number of a key as int64 or float64."""
    dtype = FLOAT64 if is_floating(number.type.dtype) else INT64
    return number if number.type.dtype == dtype else b.op(ops.Convert(dtype), number)


def slots_of(b: Builder, bucket: Value) -> Value:
    """The numbers of the slots of a bucket."""
    first = b.op(ops.Multiply(), bucket, _constant(b, WIDTH, INT64))
    return b.op(
        ops.Add(), b.op(ops.Broadcast((WIDTH,), ()), first), b.op(ops.Iota(ArrayType(INT64, (WIDTH,)), 0))
    )


def window_of(b: Builder, index: Value, bucket: Value) -> Value:
    """The contents of the slots of a bucket."""
    return b.op(ops.DynamicSlice((WIDTH,)), index, b.op(ops.Multiply(), bucket, _constant(b, WIDTH, INT64)))


def first_unused(b: Builder, window: Value, slots: Value) -> Value:
    """The first free slot of a bucket; `NOWHERE` if there is none."""
    live = b.op(ops.Compare("GE"), window, _filled(b, 0, INT32))
    each = b.op(ops.Select(), live, _filled(b, NOWHERE, INT64), slots)
    return b.op(ops.Reduce(ops.Minimum(), (0,)), each, _constant(b, NOWHERE, INT64))


def next_bucket(b: Builder, bucket: Value, buckets: int) -> Value:
    """The next bucket, cyclically."""
    return b.op(ops.And(), b.op(ops.Add(), bucket, _constant(b, 1, INT64)), _constant(b, buckets - 1, INT64))


def with_slot(b: Builder, index: Value, slot: Value, place: Value) -> Value:
    """The index with the row number, an int64, in a slot."""
    stored = b.op(ops.Reshape((1,)), b.op(ops.Convert(INT32), place))
    return b.op(ops.DynamicUpdateSlice(), index, stored, slot)


def slot_at(b: Builder, index: Value, slot: Value) -> Value:
    """The contents of a slot, as an int64."""
    return b.op(ops.Convert(INT64), b.op(ops.Reshape(()), b.op(ops.DynamicSlice((1,)), index, slot)))


def index_of(b: Builder, keys: Abstract, capacity: int, length: int | Value) -> Value:
    """The index of the first `length` rows of keys, all different."""
    index = empty_index(b, capacity)
    if isinstance(length, int) and length == 0:
        return index
    end = _constant(b, length, INT64) if isinstance(length, int) else length
    zero = _constant(b, 0, INT64)
    types = (zero.type, index.type)
    columns = numbers_in(b, keys)
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = (b.op(ops.Compare("LT"), condition.params[0], end),)
    with b.region(body):
        place, found = body.params
        numbers = [b.op(ops.Reshape(()), b.op(ops.DynamicSlice((1,)), column, place)) for column in columns]
        bucket = bucket_of(b, numbers, buckets_for(capacity))
        slot = _unused_slot(b, found, bucket, buckets_for(capacity))
        body.results = (
            b.op(ops.Add(), place, _constant(b, 1, INT64)),
            with_slot(b, found, slot, place),
        )
    return b.apply(ops.While(capacity), (zero, index), (condition, body)).results[1]


def slots_of_rows(b: Builder, index: Value, capacity: int, length: int | Value) -> Value:
    """For each of the rows its slot in the index, `FREE` where the index has none."""
    slots = b.op(ops.Broadcast((capacity,), ()), _constant(b, FREE, INT32))
    if isinstance(length, int) and length == 0:
        return slots
    zero, size = _constant(b, 0, INT64), index.type.shape[0]
    types = (zero.type, slots.type)
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = (b.op(ops.Compare("LT"), condition.params[0], _constant(b, size, INT64)),)
    with b.region(body):
        slot, found = body.params
        place = slot_at(b, index, slot)
        inside = b.op(ops.Maximum(), place, zero)
        names = b.op(ops.Compare("GE"), place, zero)
        given = b.op(ops.Select(), names, slot, slot_at(b, found, inside))
        body.results = (b.op(ops.Add(), slot, _constant(b, 1, INT64)), with_slot(b, found, inside, given))
    return b.apply(ops.While(size), (zero, slots), (condition, body)).results[1]


def _unused_slot(b: Builder, index: Value, bucket: Value, buckets: int) -> Value:
    """The first free slot, from a bucket on."""
    nowhere = _constant(b, NOWHERE, INT64)
    types = (bucket.type, nowhere.type, index.type)
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = (b.op(ops.Compare("EQ"), condition.params[1], _constant(b, NOWHERE, INT64)),)
    with b.region(body):
        here, _, held = body.params
        slot = first_unused(b, window_of(b, held, here), slots_of(b, here))
        body.results = (next_bucket(b, here, buckets), slot, held)
    return b.apply(ops.While(), (bucket, nowhere, index), (condition, body)).results[1]


def _constant(b: Builder, value: object, dtype: object) -> Value:
    return b.op(ops.Constant(np.asarray(value, dtype)))  # type: ignore[call-overload]


def _filled(b: Builder, value: int, dtype: object) -> Value:
    return b.op(ops.Broadcast((WIDTH,), ()), _constant(b, value, dtype))
