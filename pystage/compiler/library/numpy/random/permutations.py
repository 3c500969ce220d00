"""Permutations and random choices: the host draws positions, and the program gathers the elements.

In: a generator, and an array or a list of the program. Out: its elements permuted, or a sample of them.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ....hlo.ir import Value
from ....hlo.types import ArrayType
from ....ops import Reshape, Slice
from ....ops.host.draw import Action
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import NONE, Abstract, Array, Const, ListCell, Ref
from ...context import Context, Raw
from ...kernels.layout import keeps_order
from ...kernels.structures import MISSING, abstract, cell_of, known_object
from ...python.list_methods import replace_items
from ..indexing.stores import shape_of
from ..subscripts.subscripts import array_setitem
from .draws import ActionBuilder, bound, drawn, receiver_of, stored, title


def positions(generator: Any, name: str, shape: tuple[int, ...], axis: int | None) -> np.ndarray[Any, Any]:
    """The positions along `axis` (`permuted`: in the whole array) of a permutation of an array.

    How a generator is asked depends on the rank and on the extents, and on nothing else of the array; it is not asked
    to shuffle an array without elements.
    """
    if name == "permuted":
        places = np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
        return np.asarray(generator.permuted(places, axis=axis))
    rank, extent = len(shape), shape[axis or 0]
    own = [1] * rank
    own[axis or 0] = extent
    places = np.arange(extent, dtype=np.intp).reshape(own)
    if name == "permutation":
        by_axis = {} if isinstance(generator, np.random.RandomState) else {"axis": axis}
        return np.asarray(generator.permutation(places, **by_axis)).ravel()
    if 0 in shape:
        return places.ravel()
    if isinstance(generator, np.random.RandomState):
        generator.shuffle(places)
    else:
        generator.shuffle(places, axis=axis)
    return places.ravel()


def shuffled(generator: Any, count: int) -> np.ndarray[Any, Any]:
    """The positions that the shuffling of a list gives."""
    places = list(range(count))
    generator.shuffle(places)
    return np.asarray(places, np.intp)


def _permutation(call: ActionBuilder, cls: type, handle: Value, name: str, x: Raw, axis: Raw) -> Value:
    """The positions that a permutation of an array gives."""
    ctx = call.ctx
    shape = shape_of(ctx, x)
    at = None if known_object(ctx, axis) is None else int(ctx.known(axis, f"the axis of {call.name}"))
    if at is not None:
        if not -len(shape) <= at < len(shape):
            ctx.raise_(np.exceptions.AxisError(at, len(shape)))
        at %= len(shape)
    result = shape if name == "permuted" else (shape[at or 0],)
    arguments = (call.operand(handle), name, shape, at)
    action = Action(call.name, positions, arguments)
    value = ctx.draw(action, call.operands, ArrayType(np.dtype(np.intp), result))
    assert value is not None
    return value


def returned(ctx: Context, x: Raw) -> bool:
    """True for an array that `permutation` returns instead of a copy: a vector without elements."""
    return isinstance(x, Ref) and ctx.is_ndarray(x) and shape_of(ctx, x) == (0,)


def permute(
    ctx: Context, receiver: Any, name: str, args: tuple[Raw, ...], kwargs: dict[str, Raw]
) -> Abstract:
    """`permutation(x)` and `permuted(x)`: a new array."""
    cls, handle = receiver_of(ctx, receiver)
    call = ActionBuilder(ctx, title(receiver, cls, name))
    given = bound(ctx, cls, name, args, kwargs)
    x, out = given["x"], given.get("out")
    count = known_object(ctx, x)
    if isinstance(count, int | np.integer) or (
        isinstance(x, Array) and not x.shape and name == "permutation"
    ):
        count = ctx.known(x, f"how many numbers {call.name} permutes")
        if count < 0:
            return drawn(ctx, receiver, name, args, kwargs)
        sample = np.broadcast_to(np.zeros((), np.arange(count).dtype), (count,))
        return call.perform(name, (call.operand(handle), count), {}, sample)
    if name == "permutation" and returned(ctx, x) and "axis" not in given:
        return abstract(x)
    array = x if ctx.is_ndarray(x) else ctx.call(Const(np.array), [abstract(x)])
    if not isinstance(array, Ref):
        _refuse_computed(call, handle, "permutes")
    axis = given.get("axis", None if name == "permuted" else 0)
    if name == "permuted" and not all(keeps_order(ctx, a) for a in (array, out) if isinstance(a, Ref)):
        why = "it permutes an array that may not lie in row-major order"
        raise call.refusal(why, "copy the array in that order first: `np.array(x, order='C')`")
    places = ctx.ndarray(_permutation(call, cls, handle, name, array, axis))
    result = _taken(ctx, array, places, None if name == "permuted" else axis)
    return stored(ctx, out, result, call.name) if isinstance(out, Ref) else result


def _taken(ctx: Context, array: Abstract, places: Abstract, axis: Raw) -> Abstract:
    """The elements at indices, all in range."""
    return ctx.call(Const(np.take), [array, places], {"axis": abstract(axis), "mode": Const("clip")})


def shuffle(
    ctx: Context, receiver: Any, name: str, args: tuple[Raw, ...], kwargs: dict[str, Raw]
) -> Abstract:
    """`shuffle(x)`: the elements of an array, or of a list of numbers, in place."""
    cls, handle = receiver_of(ctx, receiver)
    call = ActionBuilder(ctx, title(receiver, cls, name))
    given = bound(ctx, cls, name, args, kwargs)
    x, axis = given["x"], given.get("axis", 0)
    if isinstance(x, Ref) and ctx.is_ndarray(x):
        if not shape_of(ctx, x):
            ctx.raise_(TypeError("len() of unsized object"))
        places = ctx.ndarray(_permutation(call, cls, handle, name, x, axis))
        array_setitem(ctx, x, Const(...), _taken(ctx, x, places, axis))
        return NONE
    if isinstance(x, Bounded):
        _refuse_computed(call, handle, "shuffles")
    cell = cell_of(ctx, x)
    if not isinstance(cell, ListCell) or known_object(ctx, axis) != 0:
        raise call.refusal("it shuffles something else than an array or a list", "make an array of it first")
    _shuffle_list(call, handle, x, cell)
    return NONE


def _shuffle_list(call: ActionBuilder, handle: Value, x: Ref, cell: ListCell) -> None:
    ctx = call.ctx
    found = [_kind(item) for item in cell.items]
    kinds = {kind for kind in found if kind is not None}
    if None in found or len(kinds) > 1:
        raise call.refusal("it shuffles a list of other things than numbers of one kind", "shuffle an array")
    count = len(cell.items)
    action = Action(call.name, shuffled, (call.operand(handle), count))
    places = ctx.draw(action, call.operands, ArrayType(np.dtype(np.intp), (count,)))
    assert places is not None
    if not count:
        return
    whole = ctx.call(Const(np.array), [x])
    mixed = ctx.read(_taken(ctx, whole, ctx.ndarray(places), 0))
    assert isinstance(mixed, Array)
    ((form, _),) = kinds
    elements = [ctx.op(Reshape(()), ctx.op(Slice((i,), (i + 1,), (1,)), mixed.value)) for i in range(count)]
    replace_items(ctx, x, [Array(element, form) for element in elements])


def _refuse_computed(call: ActionBuilder, handle: Value, what: str) -> NoReturn:
    """Refuses an array of computed size, whose size the host does not know, unless the program can draw."""
    call.operand(handle)
    why = f"of how many elements it {what} is computed by the program"
    call.draw_in_program(why)
    raise call.refusal(why)


def _kind(item: Abstract) -> tuple[Form, Any] | None:
    """The kind of a number; None for anything else."""
    if type(item) is Array and not item.shape and item.form is not Form.JAX:
        return item.form, item.dtype.type if item.form is Form.SCALAR else item.dtype.kind
    if isinstance(item, Const) and isinstance(item.value, np.generic):
        return Form.SCALAR, type(item.value)
    if isinstance(item, Const) and type(item.value) in (bool, int, float, complex):
        return Form.PYTHON, np.asarray(item.value).dtype.kind
    return None


def choice(ctx: Context, receiver: Any, name: str, args: tuple[Raw, ...], kwargs: dict[str, Raw]) -> Abstract:
    """`choice(a, size, replace, p, axis, shuffle)`."""
    cls, handle = receiver_of(ctx, receiver)
    given = bound(ctx, cls, name, args, kwargs)
    a = given.pop("a")
    known = known_object(ctx, a)
    if known is not MISSING or (isinstance(a, Array) and not a.shape):
        return drawn(ctx, receiver, name, args, kwargs)
    array = a if ctx.is_ndarray(a) else ctx.call(Const(np.array), [abstract(a)])
    if not isinstance(array, Ref):
        _refuse_computed(ActionBuilder(ctx, title(receiver, cls, "choice")), handle, "chooses")
    shape = shape_of(ctx, array)
    axis = int(ctx.known(given.pop("axis", 0), f"the axis of {cls.__name__}.choice"))
    if not shape or not -len(shape) <= axis < len(shape):
        return drawn(ctx, receiver, name, args, kwargs)
    places = drawn(ctx, receiver, name, (Const(shape[axis]),), given)
    result = _taken(ctx, array, places, axis)
    size = known_object(ctx, given.get("size"))
    return ctx.call(Const(np.asarray), [result]) if size == () else result
