"""The verifier: the tests run it after every pass, and a user's bug report should.

It checks that every use is dominated by its definition, that every operation has the results of its transfer function,
that every region belongs to one operation, and that no function uses a value of another.
"""

from __future__ import annotations

from .ir import Function, Op, Region, Value
from .types import ArrayType, ShapeError
from .walk import functions


class VerifyError(Exception):
    """The program is not well formed: an internal error of pystage. The text names the operation."""


def verify(function: Function) -> None:
    """Raises `VerifyError` if `function`, or a function that it calls, is not well formed."""
    for part in functions(function):
        _Verifier(part).region(part.body, f"the body of {part.name}")


class _Verifier:
    """Checks one function; knows which values are visible and which regions were met."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._visible: set[Value] = set()
        self._regions: set[Region] = set()
        self._ops: set[Op] = set()

    def region(self, region: Region, what: str) -> None:
        """Checks a region; what it defines is visible inside it only."""
        if region in self._regions:
            raise VerifyError(f"{what} stands at two places in the program")
        self._regions.add(region)
        for index, param in enumerate(region.params):
            if param.owner is not region or param.index != index:
                raise VerifyError(f"parameter {index} of {what} belongs to something else")
        defined = list(region.params)
        self._visible.update(defined)
        for op in region.ops:
            self._op(op)
            self._visible.update(op.results)
            defined += op.results
        for index, result in enumerate(region.results):
            if result not in self._visible:
                raise VerifyError(f"result {index} of {what}, {result.type}, is not visible at its end")
        self._visible.difference_update(defined)

    def _op(self, op: Op) -> None:
        what = self._name(op)
        if op in self._ops:
            raise VerifyError(f"{what} stands at two places in the program")
        self._ops.add(op)
        for index, operand in enumerate(op.operands):
            if operand not in self._visible:
                raise VerifyError(f"{what}: operand {index}, {operand.type}, is not visible here")
        wanted = op.kind.regions
        if wanted >= 0 and len(op.regions) != wanted:
            raise VerifyError(f"{what} has {len(op.regions)} regions, not {wanted}")
        for index, region in enumerate(op.regions):
            self.region(region, f"region {index} of {what}")
        self._results(op, what)

    def _results(self, op: Op, what: str) -> None:
        """The results are those that the transfer function gives, and belong to the operation."""
        types = [v.type for v in op.operands]
        try:
            inferred = op.kind.infer_regions(types, op.regions) if op.regions else op.kind.infer(*types)
        except ShapeError as error:
            raise VerifyError(f"{what}: {error}") from error
        wanted = (inferred,) if isinstance(inferred, ArrayType) else tuple(inferred)
        found = tuple([r.type for r in op.results])
        if found != wanted:
            raise VerifyError(f"{what} has results {_list(found)}, not {_list(wanted)}")
        for index, result in enumerate(op.results):
            if result.owner is not op or result.index != index:
                raise VerifyError(f"result {index} of {what} belongs to something else")

    def _name(self, op: Op) -> str:
        """The operation, its function and its source location."""
        place = f" at {op.span}" if op.span else ""
        return f"{op.kind.opcode or type(op.kind).__name__} in {self._function.name}{place}"


def _list(types: tuple[ArrayType, ...]) -> str:
    return f"({', '.join(map(str, types))})"
