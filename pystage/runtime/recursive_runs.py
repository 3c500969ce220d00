"""Plain runs of recursive functions.

A recursive function calls itself by a variable that holds the compiled function. Through it, each level of a plain run
would take frames of the runtime too: the recursion would end at a smaller depth than without the decorator, or, where the
user has raised the limit (`sys.setrecursionlimit`), exceed the stack of the process. So a plain run executes a copy of the
function, in which such variables stand for the copy. From some levels on (`DEPTH`, `tiers.py`), those that hold other
compiled functions which call each other with it stand for their copies too; above, such calls have tiers of their own.

Only a variable that is called and nothing else may stand for a copy: a copy has no attributes of the compiled function, and
is another object. Nor may it in code that may run after the call, which would see what the variable holds then.
"""

from __future__ import annotations

import dis
import inspect
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from ..records import dataclass

_RUN_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
"""Functions inside of a function that run where they stand, and at no other time."""
_CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")


class Recursive(Protocol):
    """A compiled function."""

    @property
    def target(self) -> Callable[..., Any]:
        """The plain function."""
        ...

    @property
    def __pystage_function__(self) -> Callable[..., Any]:
        """The plain callable: another one than the target where it holds arguments."""
        ...

    @property
    def policy(self) -> object:
        """When it is compiled and what happens if it cannot be: equal for functions that may run as parts of each other."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
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
    originals: tuple[tuple[types.FunctionType, tuple[object, ...]], ...] = ()
    uses: tuple[_Use, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether a run of the copy is one of the original."""
        for function, parts in self.originals:
            if any(now is not then for now, then in zip(_parts(function), parts, strict=True)):
                return False
        return all(use.holds for use in self.uses)


class _GlobalVariable:
    """A global variable that there is for as long as this object."""

    def __init__(self, variables: dict[str, Any], name: str, value: object) -> None:
        self._variables = variables
        self._name = name
        variables[name] = value

    def __del__(self) -> None:
        self._variables.pop(self._name, None)


class RecursiveRuns:
    """The functions that the plain runs of a compiled function execute."""

    def __init__(self, compiled: Recursive) -> None:
        self._compiled = weakref.ref(compiled)
        self._plain = compiled.target
        self._alone: _Copy | None = None
        self._together: _Copy | None = None
        self._variables: list[_GlobalVariable] = []

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
        if not found or not all(map(_is_only_called, found)):
            return _Copy(self._plain)
        names = {use: f"__pystage_{use.name}_{id(self):x}_{together:d}" for use in found if use.cell is None}
        copies = {f: _copy(f, each, names) for f, each in uses.items()}
        for use in found:
            self._bind(use, names.get(use), copies[use.function], copies[members[use.compiled]])
        originals = tuple([(f, _parts(f)) for f in copies])
        return _Copy(copies[self._plain], originals, found)

    def _bind(
        self, use: _Use, name: str | None, caller: types.FunctionType, callee: types.FunctionType
    ) -> None:
        """Gives the variable of a copy its value: a global one for as long as these runs are possible."""
        if name is not None:
            self._variables.append(_GlobalVariable(caller.__globals__, name, callee))
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
    """Whether it is a compiled function that holds no arguments."""
    return (
        isinstance(getattr(type(value), "recursive_runs", None), property)
        and value.target is value.__pystage_function__
    )


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


def _is_only_called(use: _Use) -> bool:
    """True where nothing else is done with the variable, nor with its name, and the function itself makes the calls."""
    whole = use.function.__code__
    if whole.co_flags & _RUN_LATER:
        return False
    for code in _codes(whole):
        instructions = [each for each in dis.get_instructions(code) if each.opname != "COPY_FREE_VARS"]
        named = [each for each in instructions if _names(each, use.name)]
        if named and code is not whole and code.co_name not in _COMPREHENSIONS:
            return False
        if not all(each.opname == "LOAD_CLOSURE" or _is_called(each, instructions) for each in named):
            return False
    return True


def _names(instruction: dis.Instruction, name: str) -> bool:
    return instruction.argval == name and instruction.opcode in (*dis.hasfree, *dis.hasname)


def _is_called(load: dis.Instruction, instructions: Sequence[dis.Instruction]) -> bool:
    """True where what an instruction loads is called: the smallest expression that begins with it is a call."""
    if load.opname not in ("LOAD_GLOBAL", "LOAD_DEREF"):
        return False
    start, end = _range(load)
    around = [(_range(each)[1], each.opname) for each in instructions if _range(each)[0] == start]
    least = min([last for last, _ in around if last > end], default=end)
    return any(last == least and name in _CALLS for last, name in around if last > end)


def _range(instruction: dis.Instruction) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the expression of an instruction starts and ends in the source: as line and column; at 0 if it is not known."""
    at = instruction.positions or dis.Positions()
    return (at.lineno or 0, at.col_offset or 0), (at.end_lineno or 0, at.end_col_offset or 0)


def _parts(function: types.FunctionType) -> tuple[object, ...]:
    """What makes a function what it is."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


def _copy(
    function: types.FunctionType, uses: Sequence[_Use], names: Mapping[_Use, str]
) -> types.FunctionType:
    """A copy of a function with new names of global variables, and free variables with cells of their own."""
    own = {use.name for use in uses if use.cell is not None}
    variables = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    cells = tuple([types.CellType() if name in own else cell for name, cell in variables])
    code = _renamed(function.__code__, {use.name: names[use] for use in uses if use in names})
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__doc__ = None  # whose examples `doctest` would run again
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
