"""Fences between loads and stores in loops, for XLA:CPU.

In: a function of HLO IR. Out: the same function for CPUs, in which a load from an array that the same trip of a
loop also stores into is a call of a function that XLA does not inline. XLA:CPU would fuse the load with the users of
its value, also with users after a store; the array from before the store is then still live, and the whole array is
copied, at every trip. A second call takes the loaded value and the array, and returns the array, for later loads and
stores to use, so that there is one order for all of them. A reader of the array that is no load (a loop, a branch, a
call) is followed by such a call too.

Where all that is loaded between two stores flows into the second one, and nowhere else, the loads stay as they are:
XLA makes one operation of them and that store. They are kept apart from the first store by a call that takes and
returns the array. A call with one result costs nothing; each of several costs a store of its address.

The arms of a branch in a loop are in order each by itself: what one stores into is the array that the trip had before.

A loop with one store, to which all loads flow, is in place as it is and stays so. Nothing outside of loops changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from ...records import dataclass
from .. import limits
from ..analysis.buffers import VIEWS, Buffers
from ..analysis.def_use import outer_users, used_by
from ..hlo.builder import Builder
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.types import ArrayType
from ..hlo.walk import kinds
from ..ops import Call, Case, DynamicSlice, DynamicUpdateSlice, Gather, If, Scatter, Slice, While


def fence_loads(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    found = kinds(function)
    if While not in found or not found & {DynamicUpdateSlice, Scatter}:
        return function
    return _LoadFencing().function(function)


@dataclass(slots=True)
class _Trip:
    """A region that runs over and over, and those of its parameters that are arrays to be kept in place.

    `states`: which of them a value is; `stores`: how many operations that store into it are still to come; `fused`:
    the states from which all that is loaded flows into the next store alone.
    """

    states: dict[Value, Value] = field(default_factory=dict)
    stores: dict[Value, int] = field(default_factory=dict)
    fused: set[Value] = field(default_factory=set)

    def viewed(self, value: Value) -> tuple[Value, list[HloOp]]:
        """The state that `value` is a view of, and the views that lead to it."""
        views: list[HloOp] = []
        while isinstance(op := value.owner, Op) and isinstance(op.kind, VIEWS) and value in self.states:
            views.append(op.kind)
            value = op.operands[0]
        return value, views[::-1]

    def read_by(self, op: Op) -> list[Value]:
        """The states that `op` uses, inside its regions too."""
        return [v for v in dict.fromkeys(used_by(op)) if v in self.states]


class _LoadFencing(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._buffers = Buffers()
        self._trip = _Trip()
        self._callees: dict[Function, Function] = {}
        self._fences: dict[object, Function] = {}

    def rewritten(self, old: Function) -> Function:
        with self._within(_Trip()):
            return super().rewritten(old)

    def region(self, old: Region) -> Region:
        with self._within(_Trip()):
            return super().region(old)

    def new(self, old: Value) -> Value:
        state, views = self._trip.viewed(old)
        value = self.values[state]
        for view in views:
            value = self.b.op(view, value)
        return value

    def op(self, op: Op) -> None:
        trip = self._trip
        read = trip.read_by(op) if trip.states else []
        if not read:
            self._plain(op)
        elif _is_load(op):
            self._load(op)
        elif isinstance(op.kind, VIEWS) and op.results[0] in trip.states:  # not the number in an array of one
            self.values[op.results[0]] = self.new(op.results[0])
        else:
            self.values.update(zip(read, self.new_all(read), strict=True))
            self._plain(op)
            stored = {trip.states[r] for r in op.results if r in trip.states}
            for array in stored:
                trip.stores[array] -= 1
            if op.regions or isinstance(op.kind, Call):
                self._follow(op, [v for v in read if trip.states[v] not in stored])

    @contextmanager
    def _within(self, trip: _Trip) -> Iterator[None]:
        outer, self._trip = self._trip, trip
        try:
            yield
        finally:
            self._trip = outer

    def _plain(self, op: Op) -> None:
        """The operation itself; the body of a loop and a callee that the arrays reach are trips of their own."""
        if isinstance(op.kind, While):
            operands = self.new_all(op.operands)
            regions = (self.region(op.regions[0]), self._body(op.regions[1]))
            self.define(op, self.append(op, op.kind, operands, regions))
        elif isinstance(op.kind, Call) and any(v in self._trip.states for v in op.operands):
            callee = self._callee(op.kind.function)
            self.define(op, self.append(op, Call(callee), self.new_all(op.operands)))
        elif isinstance(op.kind, If | Case) and (held := self._trip.read_by(op)):
            operands, arms = self.new_all(op.operands), tuple([self._arm(arm, held) for arm in op.regions])
            self.define(op, self.append(op, op.kind, operands, arms))
        else:
            self.copy(op)

    def _body(self, old: Region) -> Region:
        with self._within(_trip_of(old, self._buffers)):
            return super().region(old)

    def _arm(self, old: Region, held: Sequence[Value]) -> Region:
        """An arm of a branch, in which the arrays `held` of the trip around have an order of their own."""
        outer = {value: self.values[value] for value in held}
        with self._within(_trip_of(old, self._buffers, held)):
            arm = super().region(old)
        self.values.update(outer)
        return arm

    def _callee(self, old: Function) -> Function:
        """`old` as a function that stays one: what it loads is then loaded before its call is done."""
        made = self._callees.get(old)
        if made is None:
            with self._within(_trip_of(old.body, self._buffers)):
                body = super().rewritten(old).body
            made = self._callees[old] = Function(old.name, body, old.span, fence=True, catches=old.catches)
        return made

    def _load(self, op: Op) -> None:
        """A load that comes after the store before it, and before the store after it."""
        state, views = self._trip.viewed(op.operands[0])
        array, *rest = self.values[state], *self.new_all(op.operands[1:])
        if state in self._trip.fused:
            if isinstance(array.owner, Op) and isinstance(array.owner.kind, DynamicUpdateSlice | Scatter):
                self.values[state] = self._after(1, [array])[0]
            self._plain(op)
            return
        types = (array.type, *[v.type for v in rest])
        key = (*views, op.kind, types)
        fence = self._fences.get(key)
        if fence is None:
            fence = self._fences[key] = _load_function(views, op.kind, types)
        loaded = self.b.op(Call(fence), array, *rest)
        (self.values[state],) = self._after(1, [array, loaded])
        self.values[op.results[0]] = loaded

    def _after(self, kept: int, values: Sequence[Value]) -> tuple[Value, ...]:
        """The first `kept` of `values`, once there are the others."""
        types = tuple([v.type for v in values])
        fence = self._fences.get((kept, types))
        if fence is None:
            fence = self._fences[kept, types] = _order_function(kept, types)
        return self.b.ops(Call(fence), *values)

    def _follow(self, op: Op, read: Sequence[Value]) -> None:
        """Makes later stores into the states `read` wait for `op`, which reads them."""
        trip = self._trip
        waiting = [v for v in read if trip.stores[trip.states[v]]]
        if not waiting or not op.results:
            return
        # All results, as XLA may know some of them (a counter) without running `op`.
        kept = [*{trip.viewed(v)[0]: v for v in waiting}, *[r for r in op.results if r in trip.states]]
        values = [*[self.values[v] for v in kept], *[self.values[r] for r in op.results if r not in kept]]
        self.values.update(zip(kept, self._after(len(kept), values), strict=True))


def _is_load(op: Op) -> bool:
    """True if `op` reads a part of its first operand."""
    if isinstance(op.kind, Slice):
        return op.results[0].type.size * limits.LOAD_FACTOR <= op.operands[0].type.size
    return isinstance(op.kind, DynamicSlice | Gather)


def _load_function(views: Sequence[HloOp], load: HloOp, types: tuple[ArrayType, ...]) -> Function:
    """`load` of a view of the first argument."""
    body = Region(types)
    b = Builder(body)
    array, *rest = body.params
    viewed = array
    for view in views:
        viewed = b.op(view, viewed)
    body.results = (b.op(load, viewed, *rest),)
    return Function("load", body, fence=True)


def _order_function(kept: int, types: tuple[ArrayType, ...]) -> Function:
    """The first `kept` arguments, once there are the others."""
    body = Region(types)
    body.results = tuple(body.params[:kept])
    return Function("after", body, fence=True)


def _trip_of(region: Region, buffers: Buffers, held: Sequence[Value] = ()) -> _Trip:
    """The arrays, parameters or `held`, that `region` stores into and that XLA would not keep in place by itself."""
    states = {p: p for p in (*region.params, *held) if p.type.shape}
    stores: dict[Value, list[Op]] = {}
    for op in region.ops:
        for result in op.results:
            before = buffers.before(result)
            if before in states:
                array = states[result] = states[before]
                if not isinstance(op.kind, VIEWS):
                    stores.setdefault(array, []).append(op)
    if not stores:
        return _Trip()
    users = outer_users(region)
    kept = {
        a: len(s) for a, s in stores.items() if len(s) > 1 or not _in_place(region, s[0], a, states, users)
    }
    states = {v: a for v, a in states.items() if a in kept}
    results = set(region.results)
    return _Trip(states, kept, {v for v in states if _is_fused(v, results, users)})


def _is_fused(array: Value, results: set[Value], users: dict[Value, list[Op]]) -> bool:
    """True if all that is loaded from `array` flows into the one store that replaces it, or if none does."""
    loads: list[Value] = []
    stores: list[Op] = []
    for user in users.get(array, ()):
        if array in user.operands[1:] or user.regions or isinstance(user.kind, Call):
            return False
        if isinstance(user.kind, DynamicUpdateSlice):
            stores.append(user)
        elif _is_load(user):
            loads += user.results
        else:
            return False
    if not stores:
        return array in results
    return len(stores) == 1 and array not in results and _flows_into(stores[0], loads, results, users)


def _in_place(
    region: Region, store: Op, array: Value, states: dict[Value, Value], users: dict[Value, list[Op]]
) -> bool:
    """True if nothing reads the array after its one store, and all that is loaded before flows into the store."""
    if not isinstance(store.kind, DynamicUpdateSlice):
        return False
    flowing: list[Value] = []
    for value in [v for v, a in states.items() if a is array]:
        for user in users.get(value, ()):
            if user is store:
                if value in store.operands[1:]:
                    return False
            elif _is_load(user) and value is user.operands[0] and not _is_after(value, store):
                flowing.append(user.results[0])
            elif not isinstance(user.kind, VIEWS):
                return False
    return _flows_into(store, flowing, set(region.results), users)


def _is_after(value: Value, store: Op) -> bool:
    """True if `value` is what `store` gave, or a view of it."""
    while value is not store.results[0]:
        if not (isinstance(value.owner, Op) and isinstance(value.owner.kind, VIEWS)):
            return False
        value = value.owner.operands[0]
    return True


def _flows_into(store: Op, values: list[Value], results: set[Value], users: dict[Value, list[Op]]) -> bool:
    """True if `values` serve to compute what is stored, and nothing else."""
    met = set(values)
    while values:
        value = values.pop()
        if value in results:
            return False
        for user in users.get(value, ()):
            if user is store:
                continue
            if user.regions or isinstance(user.kind, Call):
                return False
            values += [r for r in user.results if r not in met]
            met.update(user.results)
    return True
