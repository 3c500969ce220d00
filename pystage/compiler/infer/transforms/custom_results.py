"""Results of functions with a custom VJP rule: a distinct SSA value for each number, and the template of their cotangents.

`DistinctResult` gives every number of a result an SSA value of its own, so that the cotangent of that value is the
cotangent of that number. `CotangentTemplate` builds the cotangent argument of the backward rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NoReturn

import numpy as np

from ....records import dataclass
from ...ad.calculus import differentiable
from ...diagnostics.codes_differentiation import NoRuleFor
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Op, Region, Value
from ...library.numpy.subscripts import structured
from ...ops import Reshape
from ...values.lattice import Abstract, Array, ArrayCell, Cell, Const, ObjectCell, Records, Ref, Tuple
from ...values.walk import map_children
from ..core.engine import Engine
from ..objects.copies import Copies
from ..objects.objects import completed
from ..state.merged import CONTAINERS, aliases_of, alone
from .pullbacks import Structure


@dataclass(slots=True)
class DistinctResult:
    """Gives each number of a result an SSA value of its own, so that the value's cotangent is that of the number."""

    engine: Engine
    name: str
    problem: str = ""
    structure: Structure = ()
    _first: int = 0
    _seen: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """Cells allocated from now on belong to the callee."""
        self._first = self.engine.state.cell_number()

    def of(self, value: Abstract) -> Abstract:
        """The result with a fresh value for each differentiable number."""
        match value:
            case Array() if differentiable(value.type):
                return replace(value, value=fresh_value(self.engine, value.value))
            case Tuple():
                return map_children(value, self.of)
            case Records():
                structured.refuse(self.engine, "a derivative of one's own")
            case Ref():
                self._cell(value)
        return value

    def _cell(self, ref: Ref) -> None:
        engine, seen = self.engine, ref.cell in self._seen
        content = completed(engine, engine.contents_at(ref.cell))
        self._seen.add(ref.cell)
        if isinstance(content, ArrayCell):
            if differentiable(content.value.type):
                self._array(ref, content, seen)
        elif isinstance(content, CONTAINERS) and not seen:
            before = alone(content)
            found = map_children(before, self.of)
            if found is not before:
                self._container(ref, found, self._is_own(ref, content))

    def _container(self, ref: Ref, content: Cell, is_own: bool) -> None:
        if is_own:
            self.engine.state.set(ref.cell, content)
            return
        self.problem = "it gives an object that was there before"
        if isinstance(content, ObjectCell):
            self._refuse()
        self.engine.write(ref.cell, content)

    def _refuse(self) -> NoReturn:
        raise DiagnosticError(NoRuleFor(span=self.engine.b.span, name=self.name, what=self.problem))

    def _array(self, ref: Ref, content: ArrayCell, seen: bool) -> None:
        engine, is_own = self.engine, self._is_own(ref, content)
        if seen:
            self.problem = "it gives one array twice"
            return
        if ref.path or not is_own:
            self.problem = "it gives an array that was there before, or a view of one"
        # A derivative by what is not the callee's own goes through the call too, where it is refused.
        if is_own:
            engine.state.set(ref.cell, ArrayCell(fresh_value(engine, content.value), content.writable))
        elif content.writable is True:
            engine.write(ref.cell, replace(content, value=fresh_value(engine, content.value)))
        else:
            self._refuse()

    def _is_own(self, ref: Ref, content: Cell) -> bool:
        """True for an object that the callee allocated and that aliases no other."""
        engine = self.engine
        if ref.cell < self._first or ref.cell in engine.externals.initial:
            return False
        return not engine.referenced_elsewhere([s.cell for s in aliases_of(content)], ref.cell)


def fresh_value(engine: Engine, value: Value) -> Value:
    """An equal value with no other uses."""
    made = Op(Reshape(value.type.shape), (value,), (value.type,), (), engine.b.span)
    engine.b.current.ops.append(made)
    return made.results[0]


class CotangentTemplate(Copies):
    """The structure of a result with a placeholder for each number, and zeros for constants."""

    def __init__(self, engine: Engine, contents: Mapping[int, Cell]) -> None:
        super().__init__(engine.state)
        self._contents = contents
        self.numbers: dict[Value, Value] = {}
        """By placeholder, the number that it is the cotangent of, in the function's own terms."""

    def leaf(self, x: Abstract) -> Abstract:
        match x:
            case Array():
                return Array(self._placeholder(x.value), x.form, x.weak, key_impl=x.key_impl)
            case Const(int() | float() | complex() | np.generic() as number):
                return Const(type(number)(0))
        return x

    def object(self, ref: Ref) -> Abstract:
        return super().object(ref) if ref.cell in self._contents else ref

    def contents(self, cell: int) -> Cell:
        return self._contents[cell]

    def array(self, content: ArrayCell) -> ArrayCell:
        return ArrayCell(self._placeholder(content.value))

    def _placeholder(self, value: Value) -> Value:
        made = Value(value.type, Region(), 0)
        self.numbers[made] = value
        return made
