"""A lower bound on the time of a plain run, from the source of the function and the sizes of the arguments.

Each node of the syntax tree takes the time of an instruction of CPython, times the trips of the loops around it. The
trips of a loop are those that its source derives from the parameters alone (`range(n)`, `range(x.shape[0])`, `for each in
xs`); a loop counts once where they depend on anything else, or where a `break` or a `return` may end it. What the function
calls is looked at as far as it is a function of its own module.

Reading the source takes a millisecond, as long as many a plain run. The nesting of the loops, in the code alone,
says whether a run may take so long that it is worth it.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import operator
import sys
import textwrap
import types
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..records import dataclass

NODE = 3e-8
"""Seconds for a node of the syntax tree."""
ELEMENT = 1e-9
"""Seconds for an element of an array in a statement."""
CALLEES = 40
"""How many functions are looked at."""
MOST_TRIPS = 1 << 40

Size = Callable[[Sequence[Any]], float]
"""A number of trips, by the arguments of the outermost function."""
Value = Callable[[Sequence[Any]], Any]
"""An argument of the outermost function, or what is computed of arguments."""


@dataclass(frozen=True, slots=True)
class Outline:
    """`lines`: the number of lines of a function and its callees. `work`: numbers of nodes, in loops of these trips."""

    lines: int
    work: tuple[tuple[int, tuple[Size, ...]], ...]

    def seconds(self, args: Sequence[Any]) -> float:
        """A lower bound on the time of a plain run with these arguments."""
        args = list(map(_if_known, args))
        nodes = 0.0
        for weight, loops in self.work:
            trips = 1.0
            for size in loops:
                trips *= size(args)
            nodes += weight * min(trips, MOST_TRIPS)
        elements = max((arg.size for arg in args if type(arg) is np.ndarray), default=1)
        return nodes * NODE + elements * ELEMENT


WORTH_READING = 22
"""The binary logarithm of the trips below which hardly any run takes longer than compiling, some seconds."""


Nesting = tuple[int, int]
"""How deep `for` loops stand in each other, at most, and the largest integer in the code."""


def may_take_long(nesting: Nesting, args: Sequence[Any]) -> bool:
    """False for a run that is short, as far as no loop has more trips than an argument has elements along an axis."""
    depth, largest = nesting
    return depth * int(max([largest, *map(_extent, map(_if_known, args))])).bit_length() > WORTH_READING


def _extent(arg: Any) -> Any:
    """How many trips a loop over an argument has, or one that counts to it."""
    if isinstance(arg, int | np.integer):
        return abs(int(arg))
    if isinstance(arg, np.ndarray):
        return max(arg.shape, default=0)
    return len(arg) if type(arg) in _SIZED else 0


_SIZED = frozenset({list, tuple, dict, set, frozenset, str, bytes, deque, array})
_KNOWN = _SIZED | {int, bool, float, np.ndarray}


def _if_known(arg: Any) -> Any:
    """The argument; None for one whose size code of the user's says, which only the run itself may execute."""
    return arg if type(arg) in _KNOWN or isinstance(arg, np.generic) else None


def nesting_of(function: Callable[..., Any]) -> Nesting:
    """The nesting of a function and of what it calls by name in its module, by their code."""
    seen: set[types.CodeType] = set()
    largest = 0

    def depth_of(function: Any) -> int:
        nonlocal largest
        if not isinstance(function, types.FunctionType) or function.__code__ in seen or len(seen) >= CALLEES:
            return 0
        code = function.__code__
        seen.add(code)
        for each in code.co_consts:
            if type(each) is int:
                largest = max(largest, abs(each))
        loops = _loops(code)
        deepest = max([_depth(loops, start) for start, _ in loops], default=0)
        for at, index in _places(code, _LOAD_GLOBAL):
            found = _callee(function, code.co_names[index >> 1])
            if found is not None:
                deepest = max(deepest, _depth(loops, at) + depth_of(found))
        return deepest

    return depth_of(function), largest


_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_FOR_ITER = dis.opmap["FOR_ITER"]


def _places(code: types.CodeType, opcode: int) -> Iterator[tuple[int, int]]:
    """Where the code has such an instruction, and its argument."""
    opcodes, arguments = code.co_code[::2], code.co_code[1::2]
    at = opcodes.find(opcode)
    while at >= 0:
        argument, before, shift = arguments[at], at - 1, 8
        while before >= 0 and opcodes[before] == dis.EXTENDED_ARG:
            argument |= arguments[before] << shift
            before, shift = before - 1, shift + 8
        yield at, argument
        at = opcodes.find(opcode, at + 1)


def _loops(code: types.CodeType) -> list[tuple[int, int]]:
    """Where the `for` loops begin and end."""
    return [(at, at + count) for at, count in _places(code, _FOR_ITER)]


def _depth(loops: Sequence[tuple[int, int]], at: int) -> int:
    """How many loops an instruction is in."""
    return sum(start <= at <= end for start, end in loops)


def _callee(function: types.FunctionType, name: str) -> Any:
    """What a function calls by this name, if it is of its own module."""
    found = function.__globals__.get(name)
    if not issubclass(type(found), _WITH_CODE) and type(found).__dictoffset__:
        found = inspect.getattr_static(found, "__wrapped__", None)
    if isinstance(found, types.FunctionType):
        module = found.__module__
    elif isinstance(found, type):
        module = inspect.getattr_static(found, "__module__")
    else:
        return None
    return found if module == function.__module__ else None


_WITH_CODE = types.FunctionType, type


def outline_of(function: Callable[..., Any]) -> Outline:
    """The outline of a function; that of an empty one where it has no source."""
    reader = _Reader()
    reader.read(function, (), None)
    return Outline(reader.lines, tuple(reader.work))


class _Reader:
    """Reads a function and what it calls."""

    def __init__(self) -> None:
        self.lines = 0
        self.work: list[tuple[int, tuple[Size, ...]]] = []
        self._seen: set[Any] = set()

    def read(self, function: Any, loops: tuple[Size, ...], given: Sequence[Any] | None) -> None:
        """Reads a function that is called in these loops; of a class, only the number of lines of its methods.

        `given` says of each parameter what it stands for, if that is known.
        """
        what = getattr(function, "__code__", function)
        if (
            not isinstance(function, types.FunctionType | type)
            or what in self._seen
            or len(self._seen) >= CALLEES
        ):
            return
        self._seen.add(what)
        if isinstance(function, type):
            methods = [each for each in vars(function).values() if isinstance(each, types.FunctionType)]
            self.lines += sum(
                _last_line(each.__code__) - each.__code__.co_firstlineno + 1 for each in methods
            )
            return
        tree = _definition(function)
        if tree is None:
            return
        self.lines += (tree.end_lineno or 0) - tree.lineno + 1
        parameters = [each.arg for each in (*tree.args.posonlyargs, *tree.args.args)]
        if given is None:
            given = [_argument(position) for position in range(len(parameters))]
        names = {name: what for name, what in zip(parameters, given) if what is not None}
        _Walk(self, function, names).block(tree.body, loops)


def _definition(function: types.FunctionType) -> ast.FunctionDef | None:
    """The syntax of a function; None where it has no source, or is a lambda."""
    code = function.__code__
    frontend = sys.modules.get("pystage.compiler.frontend.source")
    given = frontend and frontend.given_definition(code)
    if given is not None:
        return given if isinstance(given, ast.FunctionDef) else None
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        tree = ast.parse(textwrap.dedent("".join(lines[code.co_firstlineno - 1 : _last_line(code)])))
    except (SyntaxError, ValueError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None


def _last_line(code: types.CodeType) -> int:
    inner = [_last_line(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return max([code.co_firstlineno, *inner, *[end for _, end, _, _ in code.co_positions() if end]])


class _Walk:
    """A walk over one function, with the meaning of its names."""

    def __init__(self, reader: _Reader, function: types.FunctionType, names: dict[str, Any]) -> None:
        self._reader = reader
        self._function = function
        self._names = names

    def block(self, statements: Sequence[ast.stmt], loops: tuple[Size, ...]) -> None:
        """Adds the work of statements."""
        for each in statements:
            self._statement(each, loops)

    def _statement(self, node: ast.stmt, loops: tuple[Size, ...]) -> None:
        own: list[ast.AST] = []
        _collect(node, own)
        self._reader.work.append((len(own), loops))
        for inner in own:
            if type(inner) is ast.Call and type(inner.func) is ast.Name:
                self._call(inner, inner.func.id, loops)
        if isinstance(node, _DEFINITIONS):
            return
        self._assign(node, own)
        if isinstance(node, ast.For):
            size = None if _may_end(node.body) else self._trips(node.iter)
            loops = (*loops, size) if size is not None else loops
        for body in _bodies(node):
            self.block(body, loops)

    def _call(self, node: ast.Call, name: str, loops: tuple[Size, ...]) -> None:
        if name not in self._names and (found := _callee(self._function, name)) is not None:
            self._reader.read(found, loops, [self._value(arg) for arg in node.args])

    def _assign(self, node: ast.stmt, own: Sequence[ast.AST]) -> None:
        """Records the meaning of a name, or that it is unknown from here on."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], self._value(node.value)
            if isinstance(target, ast.Name) and value is not None:
                self._names[target.id] = value
                return
            if isinstance(target, ast.Tuple) and value is not None:
                for axis, element in enumerate(target.elts):
                    if isinstance(element, ast.Name):
                        self._names[element.id] = _computed(operator.itemgetter(axis), value)
                return
        for each in own:
            if type(each) is ast.Name and type(each.ctx) is ast.Store:
                self._names.pop(each.id, None)

    def _value(self, node: ast.expr) -> Value | None:
        """The value of an expression of arguments; None for any other expression."""
        match node:
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.Constant(value=int() as number):
                return lambda args: number
            case ast.Attribute(value=inner, attr="shape" | "size" as attribute):
                return _computed(operator.attrgetter(attribute), self._value(inner))
            case ast.Subscript(
                value=ast.Attribute(attr="shape") as inner, slice=ast.Constant(value=int() as axis)
            ):
                return _computed(operator.itemgetter(axis), self._value(inner))
            case ast.Call(func=ast.Name(id="len" | "int" as name), args=[inner]):
                return _computed(len if name == "len" else int, self._value(inner))
            case ast.BinOp(
                left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() as op, right=right
            ):
                return _computed(_COMPUTED[type(op)], self._value(left), self._value(right))
        return None

    def _trips(self, iterable: ast.expr) -> Size | None:
        """The trip count of a loop; None where it is unknown."""
        match iterable:
            case ast.Call(func=ast.Name(id="range"), args=[*ends]) if not iterable.keywords:
                return _guarded(_computed(lambda *ends: len(range(*ends)), *map(self._value, ends)))
            case ast.Call(func=ast.Name(id="enumerate" | "reversed"), args=[inner, *_]):
                return self._trips(inner)
            case _:
                return _guarded(_computed(len, self._value(iterable)))


_COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def _argument(position: int) -> Value:
    return operator.itemgetter(position)


def _computed(compute: Callable[..., Any], *values: Value | None) -> Value | None:
    """The result of an operation on these; None where one is unknown."""
    known = [each for each in values if each is not None]
    return (lambda args: compute(*[each(args) for each in known])) if len(known) == len(values) else None


def _guarded(size: Value | None) -> Size | None:
    """A size that is 1 where the arguments are not what the source suggests: the run itself fails then."""
    if size is None:
        return None

    def trips(args: Sequence[Any]) -> float:
        try:
            return float(size(args))
        except Exception:
            return 1.0

    return trips


def _collect(node: ast.AST, own: list[ast.AST]) -> None:
    """The nodes of a statement, without those of inner statements."""
    own.append(node)
    for field in (
        node.__dict__.values()
    ):  # in the first call of a function: `ast.iter_child_nodes` takes 4 times as long
        if isinstance(field, ast.AST):
            _collect(field, own)
        elif type(field) is list:
            for child in field:
                if isinstance(child, ast.AST) and not isinstance(child, _WITH_STATEMENTS):
                    _collect(child, own)


_WITH_STATEMENTS = ast.stmt, ast.excepthandler, ast.match_case
_DEFINITIONS = ast.FunctionDef, ast.ClassDef
_ENDS = ast.Break, ast.Return, ast.Raise


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks in a statement."""
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if isinstance(found, list):
            yield found
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body


def _may_end(statements: Sequence[ast.stmt]) -> bool:
    """True if one of the statements, or of those in them, may end a loop around them before its last trip."""
    return any(isinstance(each, _ENDS) or any(map(_may_end, _bodies(each))) for each in statements)
