"""The hash index of a dict or a set of rows: which row holds a key, found without a look at all of them.

An index has `WIDTH` slots for each bucket. A slot holds the place of a row, `FREE`, or `TAKEN_OUT`. A key is in the bucket
that its numbers give, or, where that was full, in the next that was not. A slot of a bucket that has never been full gets
free again, so that a search ends at the first free slot.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import FLOAT64, INT32, INT64, UINT64, ArrayType, is_floating
from ...ops import (
    Add,
    And,
    BitcastConvert,
    Broadcast,
    Compare,
    Constant,
    Convert,
    DynamicSlice,
    DynamicUpdateSlice,
    Iota,
    Minimum,
    Multiply,
    Reduce,
    Reshape,
    Select,
    ShiftRightLogical,
    While,
    Xor,
)
from ...values.lattice import Abstract, Array, RowsTuple, Tuple
from ...values.walk import nodes

WIDTH = 8
FREE = -1
TAKEN_OUT = -2
NOWHERE = 1 << 62
"""Beyond all slots."""

_FACTOR = 0x9E3779B97F4A7C15


def buckets_for(capacity: int) -> int:
    """How many buckets an index of so many rows has: at most every second slot is in use."""
    return 1 << max(2 * capacity // WIDTH - 1, 0).bit_length()


def index_type(capacity: int) -> ArrayType:
    """The type of the index of so many rows."""
    return ArrayType(INT32, (buckets_for(capacity) * WIDTH,))


def empty_index(b: Builder, capacity: int) -> Value:
    """The index of no rows."""
    return b.op(Broadcast(index_type(capacity).static_shape, ()), _constant(b, FREE, INT32))


def numbers_in(keys: Abstract) -> list[Array]:
    """The numbers of which keys consist; none of keys with tuples of computed length, of which there is no index."""
    if any(isinstance(node, RowsTuple) for node in nodes(keys)):
        return []
    if isinstance(keys, Tuple):
        return [n for part in keys.items for n in numbers_in(part)]
    return [keys] if isinstance(keys, Array) else []


def bucket_of(b: Builder, numbers: Sequence[Value], buckets: int) -> Value:
    """The bucket in which a key of these numbers, int64 or float64 each, is looked for first."""
    found = _constant(b, 0, UINT64)
    for number in numbers:
        if is_floating(number.type.dtype):
            number = b.op(Add(), number, _constant(b, 0.0, FLOAT64))  # no -0.0
            bits = b.op(BitcastConvert(UINT64), number)
        else:
            bits = b.op(Convert(UINT64), number)
        found = b.op(Multiply(), b.op(Xor(), found, bits), _constant(b, _FACTOR, UINT64))
        found = b.op(Xor(), found, b.op(ShiftRightLogical(), found, _constant(b, 32, UINT64)))
    inside = b.op(And(), found, _constant(b, buckets - 1, UINT64))
    return b.op(Convert(INT64), inside)


def wide(b: Builder, number: Value) -> Value:
    """A number of a key as int64 or float64."""
    dtype = FLOAT64 if is_floating(number.type.dtype) else INT64
    return number if number.type.dtype == dtype else b.op(Convert(dtype), number)


def slots_of(b: Builder, bucket: Value) -> Value:
    """The numbers of the slots of a bucket."""
    first = b.op(Multiply(), bucket, _constant(b, WIDTH, INT64))
    return b.op(Add(), b.op(Broadcast((WIDTH,), ()), first), b.op(Iota(ArrayType(INT64, (WIDTH,)), 0)))


def window_of(b: Builder, index: Value, bucket: Value) -> Value:
    """What the slots of a bucket hold."""
    return b.op(DynamicSlice((WIDTH,)), index, b.op(Multiply(), bucket, _constant(b, WIDTH, INT64)))


def first_unused(b: Builder, window: Value, slots: Value) -> Value:
    """The first slot of a bucket that holds no row; `NOWHERE` if all do."""
    live = b.op(Compare("GE"), window, _filled(b, 0, INT32))
    each = b.op(Select(), live, _filled(b, NOWHERE, INT64), slots)
    return b.op(Reduce(Minimum(), (0,)), each, _constant(b, NOWHERE, INT64))


def next_bucket(b: Builder, bucket: Value, buckets: int) -> Value:
    """The bucket after another; after the last one the first."""
    return b.op(And(), b.op(Add(), bucket, _constant(b, 1, INT64)), _constant(b, buckets - 1, INT64))


def with_slot(b: Builder, index: Value, slot: Value, place: Value) -> Value:
    """The index with the place of a row, an int64, in a slot."""
    stored = b.op(Reshape((1,)), b.op(Convert(INT32), place))
    return b.op(DynamicUpdateSlice(), index, stored, slot)


def slot_at(b: Builder, index: Value, slot: Value) -> Value:
    """What a slot holds, as an int64."""
    return b.op(Convert(INT64), b.op(Reshape(()), b.op(DynamicSlice((1,)), index, slot)))


def index_of(b: Builder, keys: Abstract, capacity: int, length: int | Value) -> Value:
    """The index of the first `length` rows of keys, which all differ."""
    index = empty_index(b, capacity)
    if isinstance(length, int) and length == 0:
        return index
    end = _constant(b, length, INT64) if isinstance(length, int) else length
    zero = _constant(b, 0, INT64)
    types = (zero.type, index.type)
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = (b.op(Compare("LT"), condition.params[0], end),)
    with b.region(body):
        place, found = body.params
        columns = [number.value for number in numbers_in(keys)]
        numbers = [b.op(Reshape(()), b.op(DynamicSlice((1,)), column, place)) for column in columns]
        bucket = bucket_of(b, [wide(b, number) for number in numbers], buckets_for(capacity))
        slot = _unused_slot(b, found, bucket, buckets_for(capacity))
        body.results = (
            b.op(Add(), place, _constant(b, 1, INT64)),
            with_slot(b, found, slot, place),
        )
    return b.apply(While(capacity), (zero, index), (condition, body)).results[1]


def _unused_slot(b: Builder, index: Value, bucket: Value, buckets: int) -> Value:
    """The first slot that holds no row, from a bucket on."""
    nowhere = _constant(b, NOWHERE, INT64)
    types = (bucket.type, nowhere.type, index.type)
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = (b.op(Compare("EQ"), condition.params[1], _constant(b, NOWHERE, INT64)),)
    with b.region(body):
        here, _, held = body.params
        slot = first_unused(b, window_of(b, held, here), slots_of(b, here))
        body.results = (next_bucket(b, here, buckets), slot, held)
    return b.apply(While(), (bucket, nowhere, index), (condition, body)).results[1]


def _constant(b: Builder, value: object, dtype: object) -> Value:
    return b.op(Constant(np.asarray(value, dtype)))  # type: ignore[call-overload]


def _filled(b: Builder, value: int, dtype: object) -> Value:
    return b.op(Broadcast((WIDTH,), ()), _constant(b, value, dtype))
