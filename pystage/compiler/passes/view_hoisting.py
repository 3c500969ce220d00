"""Views hoisted out of loops that use an array through one view only.

In: a function of HLO IR. Out: the same function, in which a loop that stores into an array through a reshape, a
transpose or a reverse of it, and uses it in no other way, carries the view: the view is taken once before the loop and
undone once after it. XLA transposes or copies the whole array where that stands between two stores of one trip. Loops
are visited inside out, until nothing more is found.
"""

from __future__ import annotations

from ..analysis.buffers import VIEWS
from ..analysis.def_use import DefUse
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions
from ..ops import Reshape, Reverse, Transpose, While

_Views = dict[Op, dict[int, HloOp]]
"""For a loop, the values that it should carry as a view, by their index."""


def hoist_views(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    while found := _found(function):
        function = _Hoisting(found).function(function)
    return function


def undone(view: HloOp, operand: Value) -> Value | None:
    """The value that `view` of `operand` equals, if `operand` is the inverse view of it."""
    op = operand.owner
    if isinstance(op, Op) and isinstance(op.kind, VIEWS) and _inverse(op.kind, op.operands[0]) == view:
        return op.operands[0]
    return None


def _found(function: Function) -> _Views:
    """The carried arrays that loops should carry as views; inner loops first."""
    found: _Views = {}
    for each in functions(function):
        for op in each.body.walk():
            if isinstance(op.kind, While):
                ends = [i for i in range(len(op.operands)) if _ends_in_view(op.regions[1], i)]
                uses = DefUse(*op.regions) if ends else None
                views = {i: v for i in ends if uses and (v := _view_of(op, i, uses)) is not None}
                if views:
                    found[op] = views
    return found


def _ends_in_view(body: Region, index: int) -> bool:
    """True if a trip of a loop ends with a view of an array that it has computed."""
    end = body.results[index].owner
    return (
        bool(body.params[index].type.shape)
        and isinstance(end, Op)
        and isinstance(end.kind, VIEWS)
        and end.operands[0].owner is not body  # what the loop carries itself, turned round in each trip
    )


def _view_of(loop: Op, index: int, uses: DefUse) -> HloOp | None:
    """The view by which a loop uses one of its values, if there is one and it uses it in no other way."""
    condition, body = loop.regions
    param, end = body.params[index], body.results[index].owner
    assert isinstance(end, Op)
    users = [*uses.users(param), *uses.users(condition.params[index])]
    view = users[0].kind if users and isinstance(users[0], Op) else None
    if view is None or any(isinstance(user, Region) or user.kind != view for user in users):
        return None
    turned_back = end.kind == _inverse(view, param) and end.operands[0].type == view.infer(param.type)
    return view if turned_back else None


def _inverse(view: HloOp, of: Value) -> HloOp | None:
    """The operation that gives `of` back from `view` of it; None for what is no view."""
    match view:
        case Reshape():
            return Reshape(of.type.shape)
        case Transpose(permutation=permutation):
            return Transpose(tuple(sorted(range(len(permutation)), key=permutation.__getitem__)))
        case Reverse():
            return view
        case _:
            return None


class _Hoisting(Rewriter):
    def __init__(self, views: _Views) -> None:
        super().__init__()
        self._views = views
        self._carried: dict[Value, Value] = {}
        """Parameters that became views, by what they were."""

    def op(self, op: Op) -> None:
        array = self._carried.get(op.operands[0]) if op.operands else None
        if array is not None:
            self.values[op.results[0]] = array
        elif op in self._views:
            self._loop(op, self._views[op])
        else:
            self.copy(op)

    def _loop(self, op: Op, views: dict[int, HloOp]) -> None:
        operands = list(self.new_all(op.operands))
        for index, view in views.items():
            operands[index] = self.b.op(view, operands[index])
        types = tuple([v.type for v in operands])
        regions = []
        for old in op.regions:
            made = Region(types)
            self._carried |= {old.params[i]: made.params[i] for i in views}
            with self.b.region(made):
                self.fill(old, made)
            regions.append(made)
        body = op.regions[1]
        ends = list(regions[1].results)
        for index in views:
            end = body.results[index].owner
            assert isinstance(end, Op)
            ends[index] = self.new(end.operands[0])
        regions[1].results = tuple(ends)
        results = self.b.apply(op.kind, operands, regions).results
        for index, (old_result, result) in enumerate(zip(op.results, results, strict=True)):
            whole = _inverse(views[index], op.operands[index]) if index in views else None
            self.values[old_result] = result if whole is None else self.b.op(whole, result)
