"""Arrays that a loop makes longer or shorter: they are bounded inside it, along the axes whose extents change.

In: what a loop carries, on entry and at the end of a trip. Before the loop such an array becomes bounded (`make_room`); one
that grows, by the capacity of the loop as an allocation site. At the end of each trip what has become of it is put into the
same bounds (`fit`), and the run ends where it needs more (`Context.needs_capacity`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ....records import dataclass
from ... import limits
from ...analysis.induction import recurrence
from ...analysis.variables import of_trips
from ...hlo.ir import Op, Value
from ...hlo.types import INT64, ArrayType
from ...library.numpy.indexing.bounded import bounded, compact, count, elements, whole_like, widened
from ...ops import Constant, Pad, Slice, constant
from ...stage import ir as stage
from ...stage.walk import walk
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent, Progression, extent_of
from ...values.capacity import Capacity
from ...values.gated import Gated, alternatives, is_absent, narrow, undecided
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    DictCell,
    ListCell,
    ObjectCell,
    Ref,
    Tuple,
    VariableCell,
)
from ...values.node import TreeNode
from ...values.slots import Slot, is_temporary
from ...values.state import Content, Lookup
from ...values.views import Flipped, View, Window, path_type
from ...values.walk import cells_of, children, head, with_children
from ..core.engine import Engine
from ..state.loop import Loop
from ..state.merged import aliases_of, may_alias_cells

Place = tuple[int | str, ...]
"""The position of a value in the contents of a slot: of each node on the way, the child or attribute."""


@dataclass(frozen=True, slots=True)
class Resizing:
    """An array at one position that a loop makes longer or shorter.

    `bounds`: for each axis how many elements there are at most after a trip; None where their number stays the same, and
    their direction. `shortens`: a trip makes none longer of those that it may be.
    """

    slot: Slot
    place: Place
    bounds: tuple[int | None, ...]
    shortens: bool


@dataclass(frozen=True, slots=True)
class ArraySlot:
    """The slot of an array; names in `dead`, variables that are assigned before they are read, do not count."""

    slot: Slot
    dead: frozenset[Slot] = frozenset()


def _dead(engine: Engine, loop: Loop) -> frozenset[Slot]:
    """The variables that every trip assigns before it reads them."""
    if loop.instruction is None:
        return frozenset()
    return frozenset([(loop.frame, n) for n in of_trips(loop.instruction, engine.current.function)])


# ---------------------------------------------------------------- which arrays


def resizings(before: Mapping[Slot, Content], end: Lookup, slots: list[Slot]) -> list[Resizing]:
    """The arrays in `slots` that have other extents at the end of a trip than before the loop."""
    found: list[Resizing] = []
    for slot in slots:
        if slot not in before or is_temporary(slot):
            continue
        for place, first, last in _pairs(before[slot], end(slot), ()):
            shapes = _shapes(first, lambda s: before.get(s, None)), _shapes(last, end)
            bounds = _bounds(*shapes, _turned(first) ^ _turned(last))
            if bounds is not None and _kind_of(_arrays(first)[0]) == _kind_of(_arrays(last)[0]):
                found.append(Resizing(slot, place, bounds, _shortens(*shapes)))
    return found


def _turned(value: Abstract) -> set[int]:
    """The axes along which some array that a value may be is a reversed view, by its last views."""
    found: set[int] = set()
    for each in _arrays(value):
        whole = each.whole if isinstance(each, Bounded) else each
        turned: set[int] = set()
        for view in reversed(whole.path if isinstance(whole, Ref) else ()):
            if isinstance(view, Flipped):
                turned ^= set(view.axes)
            elif not isinstance(view, Window):
                break
        found |= turned
    return found


def _pairs(a: Any, b: Any, place: Place) -> Iterator[tuple[Place, Abstract, Abstract]]:
    """Corresponding parts of two contents, which may be arrays."""
    if a is b:
        return
    inside = _tuple_in(a)
    if inside is not None and inside == _tuple_in(b):
        yield from _pairs(a.options[inside], b.options[inside], (*place, inside))
    elif _may_be_array(a) and _may_be_array(b):
        yield place, a, b
    elif isinstance(a, ObjectCell) and isinstance(b, ObjectCell):
        for name, x in a.fields.items():
            yield from _pairs(x, b.fields.get(name), (*place, name))
    elif (
        isinstance(a, Tuple | ListCell | DictCell | VariableCell)
        and type(a) is type(b)
        and head(a) == head(b)
    ):
        for position, (x, y) in enumerate(zip(children(a), children(b), strict=True)):
            yield from _pairs(x, y, (*place, position))


def _may_be_array(value: Any) -> bool:
    return isinstance(value, Ref | Bounded | Gated) or _is_of_jax(value)


def _is_of_jax(value: Any) -> bool:
    """True for a `jax.Array` with axes, which nobody can tell from another with its elements."""
    return isinstance(value, Array) and value.form is Form.JAX and value.type.rank > 0 and not value.key_impl


def _tuple_in(value: Any) -> int | None:
    """The position of the tuple among the alternatives of a value, where all others stand for no value."""
    if not isinstance(value, Gated):
        return None
    left = [i for i, option in enumerate(value.options) if not is_absent(option)]
    return left[0] if len(left) == 1 and isinstance(value.options[left[0]], Tuple) else None


def _inside(content: Any, place: Place) -> Any:
    for step in place:
        content = (
            content.fields[str(step)] if isinstance(content, ObjectCell) else children(content)[int(step)]
        )
    return content


_Axes = tuple[Extent | int, ...]


def _arrays(value: Abstract) -> list[Abstract]:
    """The alternatives of a value that stand for one."""
    return [each for each in alternatives(value) if not is_absent(each)]


def _shapes(value: Abstract, lookup: Any) -> list[tuple[ArrayType, _Axes]] | None:
    """The type and the axes of each array that a value may be; None if it may be something other than an array or None.

    All are ndarrays, or all are `jax.Array`s, of which none is weakly typed or all are.
    """
    found: list[tuple[ArrayType, _Axes]] = []
    arrays = _arrays(value)
    if len({_kind_of(each) for each in arrays}) > 1:
        return None
    for each in arrays:
        if isinstance(each, Bounded):
            found.append((each.type, each.axes))
            continue
        if isinstance(each, Array) and _is_of_jax(each):
            found.append((each.type, each.type.shape))
            continue
        cell = lookup(each.cell) if isinstance(each, Ref) else None
        if not isinstance(each, Ref) or not isinstance(cell, ArrayCell):
            return None
        type = path_type(cell.value.type, each.path)
        found.append((type, type.shape))
    return found


def _kind_of(value: Abstract) -> tuple[bool, bool]:
    """Whether an array is a `jax.Array`, and weakly typed."""
    whole = value.whole if isinstance(value, Bounded) else value
    return isinstance(whole, Array), isinstance(whole, Array) and whole.weak


def _bounds(
    first: list[tuple[ArrayType, _Axes]] | None, last: list[tuple[ArrayType, _Axes]] | None, turns: set[int]
) -> tuple[int | None, ...] | None:
    """The bound of each axis of an array after a trip; None where the extent is as before, unless it is reversed.

    None if all stay.
    """
    if not first or not last:
        return None
    kinds = {(type.dtype, type.rank) for type, _ in (*first, *last)}
    if len(kinds) != 1:
        return None
    found: list[int | None] = []
    for axis in range(first[0][0].rank):
        sides = [axes[axis] for _, axes in (*first, *last)]
        sizes = [type.shape[axis] for type, _ in (*first, *last)]
        fixed = all(isinstance(side, int) for side in sides) and len(set(sizes)) == 1 and axis not in turns
        most, own = max(sizes[len(first) :]), max(sizes[: len(first)])
        settled = isinstance(sides[0], Extent) and (sides[0].capacity is not None or most <= own)
        found.append(None if fixed or settled else most)
    return None if all(n is None for n in found) and len(first) == 1 else tuple(found)


def _shortens(
    first: list[tuple[ArrayType, _Axes]] | None, last: list[tuple[ArrayType, _Axes]] | None
) -> bool:
    """True if none of the arrays gets longer along an axis in a trip."""
    if not first or not last or len(first) != len(last):
        return False
    pairs = [(a.shape, b.shape) for (a, _), (b, _) in zip(first, last)]
    return all(n <= most for own, left in pairs for most, n in zip(own, left, strict=True))


# ---------------------------------------------------------------- before the loop


def can_bound(engine: Engine, loop: Loop, found: Resizing) -> bool:
    """True if nobody can tell an array before the loop from the bounded one that takes its place."""
    array, owner = _at(engine, found), ArraySlot(found.slot, _dead(engine, loop))
    shapes = _shapes(array, engine.state.get)
    if shapes is not None and isinstance(array, Ref | Bounded):
        own = shapes[0][0].shape
        in_order = not isinstance(array, Bounded) or all(e.mask is None for e in array.extents)
        if in_order and not any(most is not None and most > n for most, n in zip(found.bounds, own)):
            return _is_only_name(engine, owner, array, _variables(engine, owner, array))
    return all(_is_private(engine, owner, x) for x in _arrays(array)) or _shrink_in_place(
        engine, owner, array, found
    )


def _shrink_in_place(engine: Engine, owner: ArraySlot, array: Abstract, found: Resizing) -> bool:
    """True for one of several arrays each of which a trip makes shorter, and that only the owner names."""
    return (
        isinstance(array, Gated)
        and found.shortens
        and all(_is_only_name(engine, owner, x) for x in _arrays(array))
    )


def make_bounded(engine: Engine, loop: Loop, found: list[Resizing]) -> None:
    """Makes the arrays bounded that a loop makes longer or shorter."""
    for each in found:
        array = _at(engine, each)
        (type, axes), *others = cast("list[tuple[ArrayType, _Axes]]", _shapes(array, engine.state.get))
        capacities: dict[int, Capacity | None] = {}
        shape = [max(t.shape[axis] for t, _ in ((type, axes), *others)) for axis in range(type.rank)]
        for axis, most in enumerate(each.bounds):
            if most is None or most <= shape[axis]:
                if most is not None or isinstance(axes[axis], Extent):
                    capacities[axis] = axes[axis].capacity if isinstance(axes[axis], Extent) else None  # type: ignore[union-attr]
                continue
            capacities[axis] = capacity = _capacity(engine, loop, each, axis, shape, most, type)
            shape[axis] = capacity.size
        owner = ArraySlot(each.slot, _dead(engine, loop))
        content = engine.state.get(each.slot)
        if isinstance(array, Gated) and not all(_is_private(engine, owner, x) for x in _arrays(array)):
            engine.state.set(each.slot, _with(content, each.place, _bounded_in_place(engine, array, each)))
            continue
        made = fitted(engine, owner, array, ArrayType(type.dtype, tuple(shape)), capacities)
        assert made is not None
        _put(engine, owner, each.place, array, made)


def _bounded_in_place(engine: Engine, array: Gated, found: Resizing) -> Abstract:
    """The same arrays, bounded in their memory, where a trip makes them shorter."""
    options: list[Abstract] = []
    for each in array.options:
        if not is_absent(each):
            ((_, axes),) = cast("list[tuple[ArrayType, _Axes]]", _shapes(each, engine.state.get))
            along = {axis: None for axis, most in enumerate(found.bounds) if most is not None}
            each = _as_bounded(engine, each, axes, along)
        options.append(each)
    return replace(array, options=tuple(options), sides=())


def _capacity(
    engine: Engine, loop: Loop, found: Resizing, axis: int, shape: list[int], most: int, type: ArrayType
) -> Capacity:
    """The capacity of the loop for an array along an axis: the elements that all trips may add, where that is known."""
    name = found.slot[1] if isinstance(found.slot, tuple) else ""
    what = f"the array {name!r}" if isinstance(name, str) and name else "an array"
    if found.place:
        what += f" at {'.'.join(map(str, found.place))} of it"
    if axis:
        what += f" along axis {axis}"
    itemsize = type.dtype.itemsize * math.prod([n for i, n in enumerate(shape) if i != axis] or [1]) or 1
    initial = max(most, limits.FIRST_ARRAY_BYTES // itemsize, 1)
    if loop.trips is not None:
        needed = shape[axis] + loop.trips * (most - shape[axis])
        if needed * itemsize <= limits.COUNTED_ARRAY_BYTES:
            initial = needed
    return engine.capacity(initial, itemsize, what)


def _at(engine: Engine, found: Resizing) -> Abstract:
    """The array before the loop."""
    return narrow(engine.b, engine.intervals, _inside(engine.state.get(found.slot), found.place))


def _with(content: Any, place: Place, new: Abstract) -> Any:
    """The contents with something else at a position."""
    if not place:
        return new
    step, rest = place[0], place[1:]
    if isinstance(content, ObjectCell):
        name = str(step)
        return replace(content, fields={**content.fields, name: _with(content.fields[name], rest, new)})
    parts = list(children(content))
    parts[int(step)] = _with(parts[int(step)], rest, new)
    return with_children(content, parts)


def _is_only_name(engine: Engine, owner: ArraySlot, array: Abstract, variables: Sequence[Slot] = ()) -> bool:
    """True if only the owner and these variables are names of the object, which may be a view."""
    if isinstance(array, Bounded | Array):
        return True
    assert isinstance(array, Ref)
    if not array.path:
        return _is_private(engine, owner, array)
    names = engine.state.paths_to(array.cell).count(array.path)
    return names == 1 + len(variables)


def _variables(engine: Engine, owner: ArraySlot, view: Abstract) -> list[Slot]:
    """The variables of the same function, beside the owner, that are names of a view."""
    if not isinstance(view, Ref) or not view.path:
        return []
    frame = owner.slot[0] if isinstance(owner.slot, tuple) else None
    return [
        slot
        for slot, content in engine.state.slots.items()
        if content is view and isinstance(slot, tuple) and slot[0] == frame and slot != owner.slot
        if not is_temporary(slot)
    ]


def _put(engine: Engine, owner: ArraySlot, place: Place, array: Abstract, made: Abstract) -> None:
    """Puts the new array at a position, and into the variables that are names of it."""
    if isinstance(made, Bounded):
        for slot in _variables(engine, owner, array):
            engine.state.set(slot, made)
    engine.state.set(owner.slot, _with(engine.state.get(owner.slot), place, made))


def _is_private(engine: Engine, owner: ArraySlot, array: Abstract) -> bool:
    """True if an array has no name but the one of the owner; a view shares its memory, and is an object of its own.

    Which names a `jax.Array` has is all the same.
    """
    ref = array.whole if isinstance(array, Bounded) else array
    if isinstance(ref, Array):
        return True
    assert isinstance(ref, Ref)
    content = engine.state.slots[owner.slot]
    if isinstance(content, TreeNode) and _names(content, ref.cell) > 1:
        return False
    find = engine.state.slots.get
    names = may_alias_cells(find, ref.cell)
    if any(cell in engine.externals.initial for cell in names) or names & _iterated(engine):
        return False
    return all(_only_named_by(engine, cell, names, owner) for cell in names)


def _names(content: TreeNode, cell: int) -> int:
    """How often a value refers to a cell; any alternative counts."""
    if isinstance(content, Gated):
        return max([_names(each, cell) for each in alternatives(content)])
    return list(cells_of(content)).count(cell)


def _iterated(engine: Engine) -> set[int]:
    """The cells that loops around may iterate over."""
    found: set[int] = set()
    frame = engine.frame
    while frame is not None:
        for temp in _iterables(frame.function):
            content = engine.state.slots.get((frame.id, temp))
            if isinstance(content, TreeNode):
                for cell in engine.state.reachable([content]):
                    found |= may_alias_cells(engine.state.slots.get, cell)
        frame = frame.caller
    return found


@functools.lru_cache(maxsize=4096)
def _iterables(function: stage.Function) -> tuple[str, ...]:
    """The temporaries over which the loops of a function iterate."""
    return tuple([i.iterable for i in walk(function.body) if isinstance(i, stage.For)])


def _only_named_by(engine: Engine, cell: int, names: set[int], owner: ArraySlot) -> bool:
    """True if nothing but the owner and merged cells of `names` refers to a cell."""
    engine.state.step(1 + len(engine.state.slots) // 128)
    for other, content in engine.state.slots.items():
        if other == owner.slot or is_temporary(other) or other in names or other in owner.dead:
            continue
        if isinstance(content, TreeNode) and cell in cells_of(content):
            return False
        if any(s.cell == cell for s in aliases_of(content)):
            return False
    return True


# ---------------------------------------------------------------- at the end of a trip


def fit(engine: Engine, loop: Loop, templates: Mapping[Slot, Content]) -> None:
    """Puts the arrays at the end of a trip into the bounds in which a loop carries them."""
    dead = _dead(engine, loop)
    for slot, template in templates.items():
        content = engine.state.slots.get(slot)
        if content is None:
            continue
        for place, wanted, array in list(_pairs(template, content, ())):
            targets = _arrays(wanted)
            if len(targets) == 1 and isinstance(targets[0], Bounded):
                capacities = {e.axis: e.capacity for e in targets[0].extents}
                path = targets[0].whole.path if isinstance(targets[0].whole, Ref) else None
                _fit_at(engine, ArraySlot(slot, dead), place, array, targets[0].type, capacities, path)


def _fit_at(
    engine: Engine,
    owner: ArraySlot,
    place: Place,
    array: Abstract,
    type: ArrayType,
    capacities: Mapping[int, Capacity | None],
    path: tuple[View, ...] | None = None,
) -> None:
    made = fitted(engine, owner, array, type, capacities, path)
    if made is not None:
        _put(engine, owner, place, array, made)


def fitted(
    engine: Engine,
    owner: ArraySlot,
    value: Abstract,
    type: ArrayType,
    capacities: Mapping[int, Capacity | None],
    path: tuple[View, ...] | None = None,
) -> Abstract | None:
    """An array in a whole of `type`, bounded along these axes; None where that needs a copy that would be observed.

    `path`: the whole is such a view of memory; None where any will do.
    """
    others = _variables(engine, owner, value)
    value = narrow(engine.b, engine.intervals, value)
    if isinstance(value, Gated):
        return _fitted_alternative(engine, owner, value, type, capacities, path)
    if is_absent(value):
        return value
    shapes = _shapes(value, engine.state.get)
    if not shapes:
        return None
    ((own, axes),) = shapes
    if own.dtype != type.dtype or own.rank != type.rank:
        return None
    array = _as_bounded(engine, value, axes, capacities)
    if path is not None:
        array = _widened(engine, array, path, type)
    own = array.type
    for axis, along in enumerate(array.axes):
        if axis not in capacities and not (isinstance(along, int) and along == type.shape[axis]):
            return None
        longer = own.shape[axis] > type.shape[axis]
        if axis in capacities and longer and capacities[axis] is None:
            return None
    alike = all(e.mask is None for e in array.extents)
    views = array.whole.path if isinstance(array.whole, Ref) else ()
    alike &= path is None or ((bool(path) or not views) and _directions(path) == _directions(views))
    if array.type == type and alike:
        if not _is_only_name(engine, owner, value, others):
            return None
        return _with_capacities(engine, array, capacities)
    if path or not _is_private(engine, owner, value):
        return None
    return _with_capacities(engine, _copied(engine, array, type, capacities), capacities)


def _widened(engine: Engine, array: Bounded, path: tuple[View, ...], type: ArrayType) -> Bounded:
    """The same elements as a part of a wider whole, of `type` and at `path`, from a part of it or a reversed view."""
    wider: Bounded | None = array
    while wider is not None and len(cast(Ref, wider.whole).path) > len(path):
        wider = widened(engine, wider)
    return array if wider is None or wider.type != type else wider


def _directions(path: tuple[View, ...]) -> list[View]:
    """The views on a path that reverse an array."""
    return [view for view in path if isinstance(view, Flipped)]


def _fitted_alternative(
    engine: Engine,
    owner: ArraySlot,
    value: Gated,
    type: ArrayType,
    capacities: Mapping[int, Capacity | None],
    path: tuple[View, ...] | None,
) -> Abstract | None:
    """The selected alternative in these bounds; None where not each alternative fits."""
    failed = False

    def arm() -> Abstract:
        nonlocal failed
        made = fitted(engine, owner, value, type, capacities, path)
        failed = failed or made is None
        return value if made is None else made

    tag = undecided(engine.intervals, value)
    if tag is None:
        return None
    made = engine.branch(Array(tag, Form.PYTHON), arm, arm)
    return None if failed else made


def _as_bounded(
    engine: Engine, value: Abstract, axes: _Axes, capacities: Mapping[int, Capacity | None]
) -> Bounded:
    """The array, bounded along these axes: a view of the same memory."""
    zero = constant(engine.b, 0, INT64)
    extents = list(value.extents) if isinstance(value, Bounded) else []
    for axis in capacities:
        along = axes[axis]
        if isinstance(along, int):
            extents.append(extent_of(Progression(zero, 1, constant(engine.b, along, INT64)), axis))
    whole = value.whole if isinstance(value, Bounded) else cast("Ref | Array", value)
    made = bounded(engine, whole, extents)
    return made.same_as(value) if isinstance(value, Bounded) else made


def _with_capacities(engine: Engine, array: Bounded, capacities: Mapping[int, Capacity | None]) -> Bounded:
    extents = [
        replace(e, capacity=capacities[e.axis], bounds=(count(engine, array, e),)) for e in array.extents
    ]
    return replace(array, extents=tuple(extents))


def _copied(
    engine: Engine, array: Bounded, type: ArrayType, capacities: Mapping[int, Capacity | None]
) -> Bounded:
    """The elements as the first ones of an array of `type`; the run ends where they exceed a capacity."""
    b, wanted = engine.b, type.shape
    if any(n > most for n, most in zip(array.type.shape, wanted)) or any(
        e.mask is not None or e.step != 1 for e in array.extents
    ):
        array = compact(engine, array)
    for extent in array.extents:
        capacity = capacities[extent.axis]
        if capacity is not None and array.bound(extent) > capacity.size:
            engine.needs_capacity(capacity, count(engine, array, extent).value)
    value = elements(engine, array)
    own = value.type.shape
    kept = tuple([min(n, most) for n, most in zip(own, wanted)])
    if kept != own:
        value = b.op(Slice((0,) * len(own), kept, (1,) * len(own)), value)
    if kept != wanted:
        none = (0,) * len(own)
        high = tuple([most - n for n, most in zip(kept, wanted)])
        value = b.op(Pad(none, high, none), value, constant(b, 0, type.dtype))
    return replace(array, whole=whole_like(engine, array, value), type=type)


# ---------------------------------------------------------------- in branches


Target = tuple[Slot, Place, ArrayType, dict[int, Capacity | None]]
"""An array at a place, and the bounds into which both arms of a branch put it."""


def met(first: Lookup, second: Lookup, slots: Iterable[Slot]) -> list[Target]:
    """The arrays that both arms of a branch leave with different sizes, where one has a capacity or the sizes are many."""
    found: list[Target] = []
    for slot in slots:
        for place, a, b in _pairs(first(slot), second(slot), ()) if not is_temporary(slot) else ():
            shapes = [_shapes(x, lookup) for x, lookup in ((a, first), (b, second))]
            if not all(shapes) or _kind_of(_arrays(a)[0]) != _kind_of(_arrays(b)[0]):
                continue
            both = [each for side in shapes for each in side or ()]
            if len({(type.dtype, type.rank) for type, _ in both}) == 1:
                target = _common_bounds(both)
                found += [] if target is None else [(slot, place, *target)]
    return found


def _common_bounds(
    both: list[tuple[ArrayType, _Axes]],
) -> tuple[ArrayType, dict[int, Capacity | None]] | None:
    kinds = {(type.shape, tuple([isinstance(x, Extent) for x in axes])) for type, axes in both}
    capacities: dict[int, Capacity | None] = {}
    shape: list[int] = []
    for axis in range(both[0][0].rank):
        sides = [axes[axis] for _, axes in both]
        known = [x.capacity for x in sides if isinstance(x, Extent) and x.capacity is not None]
        sizes = {type.shape[axis] for type, _ in both}
        if len(sizes) > 1 or any(isinstance(x, Extent) for x in sides):
            capacities[axis] = known[0] if known else None
        shape.append(known[0].size if known else max(sizes))
    if len(kinds) == 1 or not (
        len(kinds) > limits.SIZES_OF_AN_ARRAY or any(c is not None for c in capacities.values())
    ):
        return None
    return ArrayType(both[0][0].dtype, tuple(shape)), capacities


def fit_arm(engine: Engine, targets: list[Target]) -> None:
    """Puts arrays at the end of an arm into the common bounds of both arms."""
    for slot, place, type, capacities in targets:
        _fit_at(engine, ArraySlot(slot), place, _inside(engine.state.get(slot), place), type, capacities)


# ---------------------------------------------------------------- behind the loop


def settle_counted(engine: Engine, slot: Slot, sides: tuple[Content, Content, Content], trips: int) -> None:
    """Gives arrays their exact extents after so many trips, where every trip adds as many elements.

    `sides`: what the slot holds before the loop, and at the begin and the end of a trip.
    """
    for place, array, _ in list(_pairs(engine.state.get(slot), sides[0], ())):
        entry, begin, end = [_inside(side, place) for side in sides]
        if not all(isinstance(x, Bounded) for x in (array, entry, begin, end)):
            continue
        sizes: dict[int, int] = {}
        for axis in [e.axis for e in cast(Bounded, array).extents]:
            first, at_begin, at_end = [_size_along(x, axis) for x in (entry, begin, end)]
            known = _known_number(first)
            if known is None or at_begin is None or at_end is None:
                continue
            found = recurrence(at_end, at_begin, engine.intervals)
            if found is not None and found.step is not None:
                sizes[axis] = known + trips * found.step
        if sizes and _is_private(engine, ArraySlot(slot), array) and _fit_inside(cast(Bounded, array), sizes):
            made = _exactly(engine, cast(Bounded, array), sizes)
            engine.state.set(slot, _with(engine.state.get(slot), place, made))


def _size_along(array: Bounded, axis: int) -> Value | None:
    return next((e.size for e in array.extents if e.axis == axis), None)


def _known_number(value: Value | None) -> int | None:
    """The integer that a value of the program is, where it is a constant."""
    kind = value.owner.kind if value is not None and isinstance(value.owner, Op) else None
    return int(kind.data) if isinstance(kind, Constant) and kind.data.ndim == 0 else None


def _fit_inside(array: Bounded, sizes: Mapping[int, int]) -> bool:
    """False where the loop has certainly ended because a capacity was exceeded."""
    return all(0 <= n <= array.type.shape[axis] for axis, n in sizes.items())


def _exactly(engine: Engine, array: Bounded, sizes: Mapping[int, int]) -> Abstract:
    """The array, which certainly has so many elements along these axes, with these as its extents."""
    array = compact(engine, array)
    shape = tuple([sizes.get(axis, n) for axis, n in enumerate(array.type.shape)])
    kept = engine.b.op(Slice((0,) * len(shape), shape, (1,) * len(shape)), elements(engine, array))
    left = [e for e in array.extents if e.axis not in sizes]
    made = whole_like(engine, array, kept)
    return bounded(engine, made, left) if left else made
