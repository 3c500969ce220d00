"""Generic functions of `functools.singledispatch`: the choice of the implementation for a class.

Python's library is staged from its source, `functools` too, but for the search in the registry, which is done here: the
class of an argument is known while compiling. A guard searches again, and so sees what is registered later.
"""

from __future__ import annotations

import functools
import types
from typing import Any, TypeGuard

from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.diagnostic import DiagnosticError
from ...values.boundary import CallableMember, CellVariable, GuardKind, Path
from ...values.lattice import Abstract, Const
from ..core.engine import Engine

_SEARCH = functools.singledispatch(lambda value: value).dispatch.__code__


def is_dispatch(value: Any) -> TypeGuard[types.FunctionType]:
    """True for `f.dispatch` of a generic function `f`."""
    return isinstance(value, types.FunctionType) and value.__code__ is _SEARCH


def dispatched(engine: Engine, dispatch: types.FunctionType, cls: Abstract) -> Any:
    """The implementation for a class."""
    cls = engine.certain(cls)
    if not isinstance(cls, Const) or not isinstance(cls.value, type):
        raise DiagnosticError(
            NotKnown(span=engine.b.span, what="the class that a generic function is called for")
        )
    cells = dict(zip(dispatch.__code__.co_freevars, dispatch.__closure__ or (), strict=True))
    try:
        found = dispatch(cls.value)
    except RuntimeError as ambiguous:
        path = Path(CellVariable(cells["registry"], "registry"))
        engine.externals.guard(GuardKind.LAYOUT, path, cells["registry"].cell_contents)
        engine.raise_(ambiguous)
    path = Path(CallableMember(dispatch, "dispatch")).call(cls.value)
    engine.externals.guard(GuardKind.IS, path, found)
    engine.externals.keep.append(found)
    return found
