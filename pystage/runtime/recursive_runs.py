"""Plain runs of recursive functions.

A recursive function calls itself by a variable that holds the compiled function. Through it, each level of a plain run
would take frames of the runtime too: the recursion would end at a smaller depth than without the decorator, or, where the
user has raised the limit (`sys.setrecursionlimit`), exceed the stack of the process. So a plain run executes a copy of the
function, in which such variables stand for the copy. From some levels on (`DEPTH`, `tiers.py`), those that hold other
compiled functions which call each other with it stand for their copies too; above, such calls have tiers of their own.
"""

from __future__ import annotations

import dis
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeGuard

from ..records import dataclass


class Recursive(Protocol):
    """A compiled function."""

    @property
    def target(self) -> Callable[..., Any]:
        """The plain function."""
        ...

    @property
    def policy(self) -> object:
        """When it is compiled and what happens if it cannot be: equal for functions that may run as parts of each other."""
        ...


@dataclass(frozen=True, slots=True)
class _Use:
    """A variable of `function` that holds `compiled`: a global one, or the cell of a free one."""

    function: types.FunctionType
    name: str
    compiled: Recursive
    cell: types.CellType | None = None

    @property
    def holds(self) -> bool:
        """Whether it still holds it."""
        if self.cell is None:
            return self.function.__globals__.get(self.name) is self.compiled
        return _content(self.cell) is self.compiled


@dataclass(frozen=True, slots=True)
class _Copy:
    """The copy of a function, and what it is a copy for: functions with their code and defaults, and their variables."""

    function: Callable[..., Any]
    originals: tuple[tuple[types.FunctionType, types.CodeType, tuple[Any, ...] | None], ...] = ()
    uses: tuple[_Use, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether a run of the copy is one of the original."""
        for function, code, defaults in self.originals:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
        return all(use.holds for use in self.uses)


class RecursiveRuns:
    """The functions that the plain runs of a compiled function execute."""

    def __init__(self, compiled: Recursive) -> None:
        self._compiled = weakref.ref(compiled)
        self._plain = compiled.target
        self._alone: _Copy | None = None
        self._together: _Copy | None = None

    @property
    def function(self) -> Callable[..., Any]:
        """What a plain run executes: the function, or a copy that calls itself."""
        found = self._alone
        if found is None:
            found = self._alone = self._copied(together=False)
        return found.function if found.holds else self._plain

    @property
    def deep_function(self) -> Callable[..., Any]:
        """What a deeply nested plain run executes: a copy that calls the copies of all functions of the recursion."""
        found = self._together
        if found is None:
            found = self._together = self._copied(together=True)
        return found.function if found.holds else self._plain

    def executes(self, code: types.CodeType) -> bool:
        """Whether a frame of this code is one of a plain run."""
        copies = self._alone, self._together
        found = [self._plain, *[each.function for each in copies if each is not None]]
        return any(code is getattr(each, "__code__", None) for each in found)

    def _copied(self, together: bool) -> _Copy:
        compiled = self._compiled()
        if compiled is None or not isinstance(self._plain, types.FunctionType):
            return _Copy(self._plain)
        members = _recursion_of(compiled) if together else {compiled: self._plain}
        uses = {f: [u for u in _uses(f) if u.compiled in members] for f in members.values()}
        found = tuple([use for each in uses.values() for use in each])
        if not found or any(map(_is_otherwise_used, found)):
            return _Copy(self._plain)
        names = {use: f"__pystage_{use.name}_{id(self):x}_{together:d}" for use in found if use.cell is None}
        copies = {f: _copy(f, {u.name: names[u] for u in each if u in names}) for f, each in uses.items()}
        for use in found:
            self._bind(use, names.get(use), copies[use.function], copies[members[use.compiled]])
        originals = tuple([(f, f.__code__, f.__defaults__) for f in copies])
        return _Copy(copies[self._plain], originals, found)

    def _bind(
        self, use: _Use, name: str | None, caller: types.FunctionType, callee: types.FunctionType
    ) -> None:
        """Gives the variable of a copy its value: a global one for as long as these runs are possible."""
        if name is not None:
            caller.__globals__[name] = callee
            weakref.finalize(self, caller.__globals__.pop, name, None).atexit = False
            return
        cells = list(caller.__closure__ or ())
        cells[caller.__code__.co_freevars.index(use.name)].cell_contents = callee


def _recursion_of(compiled: Recursive) -> Mapping[Recursive, types.FunctionType]:
    """The compiled functions that call this one and are called by it, directly or not, with their plain functions."""
    calls: dict[Recursive, list[Recursive]] = {}
    pending = [compiled]
    for caller in pending:
        if caller not in calls and isinstance(caller.target, types.FunctionType):
            calls[caller] = [u.compiled for u in _uses(caller.target) if u.compiled.policy == compiled.policy]
            pending += calls[caller]
    found = {compiled}
    while new := {f for f, called in calls.items() if f not in found and not found.isdisjoint(called)}:
        found |= new
    return {f: f.target for f in found if isinstance(f.target, types.FunctionType)}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _is_compiled(value: Any) -> TypeGuard[Recursive]:
    return isinstance(getattr(type(value), "recursive_runs", None), property)


def _uses(function: types.FunctionType) -> list[_Use]:
    """The variables of a function that hold compiled functions."""
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    found = [
        _Use(function, name, value)
        for name in sorted(names)
        if _is_compiled(value := function.__globals__.get(name))
    ]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        value = _content(cell)
        if _is_compiled(value):
            found.append(_Use(function, name, value, cell))
    return found


def _is_otherwise_used(use: _Use) -> bool:
    """True where code assigns the variable, or uses its name for something else, as an attribute."""
    reads = ("LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF") if use.cell else ("LOAD_GLOBAL", "LOAD_NAME")
    named = (*dis.hasfree, *dis.hasname)
    return any(
        each.opcode in named and each.argval == use.name and each.opname not in reads
        for code in _codes(use.function.__code__)
        for each in dis.get_instructions(code)
        if each.opname != "COPY_FREE_VARS"
    )


def _copy(function: types.FunctionType, new: Mapping[str, str]) -> types.FunctionType:
    """A copy of a function with new names of global variables, and cells of its own for compiled functions."""
    cells = tuple([types.CellType() if _is_compiled(_content(c)) else c for c in function.__closure__ or ()])
    for cell, old in zip(cells, function.__closure__ or (), strict=True):
        if cell is not old:
            cell.cell_contents = old.cell_contents
    made = types.FunctionType(
        _renamed(function.__code__, new),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        cells,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    return made


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _renamed(code: types.CodeType, new: Mapping[str, str]) -> types.CodeType:
    if not new:
        return code
    return code.replace(
        co_names=tuple([new.get(name, name) for name in code.co_names]),
        co_consts=tuple([_renamed(c, new) if isinstance(c, types.CodeType) else c for c in code.co_consts]),
    )
