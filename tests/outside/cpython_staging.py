"""Calls and operators of other people's tests, each run plain and staged, and compared.

In: a function and what a test gives it. Out: what the staged run gives, so that the test goes on with that. A call is staged
if its arguments are data (numbers, texts, containers of these); any other runs plain.
"""

from __future__ import annotations

import copy
import math
import operator
import signal
import sys
import types
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pystage

SECONDS = 20.0
"""Seconds of the processor that one test may take."""
CALLS = 25
"""So many calls of a test are staged; those after them run plain."""
ULPS = 8
"""So far, in units of the last place, a float may be from that of the plain run."""
MOST_ITEMS = 2_000
MOST_BITS = 10_000
"""Of an integer that is data: one of more digits CPython does not write."""
DATA = (type(None), bool, int, float, complex, str, bytes, range)
CONTAINERS = (list, tuple, dict, set, frozenset, deque, slice)
MODULES = frozenset(
    [
        "builtins",
        "math",
        "cmath",
        "itertools",
        "functools",
        "_functools",
        "bisect",
        "_bisect",
        "heapq",
        "_heapq",
        "operator",
        "_operator",
        "collections",
        "_collections",
    ]
)
NOT_STAGED = frozenset(
    [
        "eval",
        "exec",
        "compile",
        "open",
        "input",
        "print",
        "id",
        "iter",
        "next",
        "globals",
        "locals",
        "vars",
        "dir",
        "super",
        "type",
        "getattr",
        "setattr",
        "delattr",
        "hasattr",
        "isinstance",
        "issubclass",
        "object",
        "memoryview",
    ]
)


class Slow(BaseException):
    """A test took too long."""


@dataclass
class Record:
    """What became of the calls of one test: how many are the same, refused by code, different with their texts.

    `rounded`: how many of the same ones have other last digits.
    """

    same: int = 0
    rounded: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls were staged, or tried to be."""
        return self.same + self.refused.total() + len(self.different)


@dataclass
class Ran:
    """What a run gave: its result, or what it raised, and its arguments afterwards."""

    result: Any
    error: Exception | None
    given: Any


class Stager:
    """Runs calls plain and staged. `file`: the tests' own; functions that stand in it are staged as they are.

    `identity`: nothing is staged, to see which tests pass when rewritten at all. `as_plain`: the test goes on with what the
    plain call gives, to see which tests ask for more than the data of each call.
    """

    def __init__(self, file: str, identity: bool, as_plain: bool = False) -> None:
        self.record = Record()
        self._file = file
        self._identity = identity
        self._as_plain = as_plain
        self._runs = False
        self._compiled: dict[object, Callable[..., Any]] = {}

    # -- what rewritten tests call

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """`function(*args, **kwargs)`."""
        if self._is_own(function):
            return self._run(function, function, args, kwargs)
        if self._is_library(function):
            return self._run(function, calling(function), args, kwargs)
        return function(*args, **kwargs)

    def method(self, obj: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """`obj.name(*args, **kwargs)`."""
        if isinstance(obj, types.ModuleType | type) or not is_data(obj):
            return self.call(getattr(obj, name), *args, **kwargs)
        return self._run(("method", name), calling_method(name), (obj, *args), kwargs)

    def operate(self, name: str, *args: Any) -> Any:
        """An operator, by its name in `OPERATORS`."""
        return self._run(("operator", name), OPERATORS[name], args, {})

    def bound(self, function: Any) -> Any:
        """`function` as something else calls it: `assertRaises(TypeError, function, 1)`."""
        if isinstance(function, type) and not self._is_library(function):
            return function
        if isinstance(function, types.BuiltinMethodType) and is_data(function.__self__):
            return lambda *args, **kwargs: self.method(function.__self__, function.__name__, *args, **kwargs)
        return lambda *args, **kwargs: self.call(function, *args, **kwargs)

    def body(self, function: Callable[[], Any]) -> None:
        """The body of a whole test that gives what it has found."""
        self._run(function, function, (), {})

    # -- one call

    def _is_own(self, function: Any) -> bool:
        return isinstance(function, types.FunctionType) and function.__code__.co_filename == self._file

    def _is_library(self, function: Any) -> bool:
        kinds = (types.BuiltinFunctionType, type, types.FunctionType)
        name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None)
        exception = isinstance(function, type) and issubclass(function, BaseException)
        return isinstance(function, kinds) and module in MODULES and name not in NOT_STAGED and not exception

    def _run(
        self, key: object, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """A call; where it is no data, or one inside of another that is staged, it runs plain."""
        data = all(map(is_data, (*args, *kwargs.values())))
        if self._identity or self._runs or self.record.calls >= CALLS or not data:
            return function(*args, **kwargs)
        self._runs = True
        try:
            given = copy.deepcopy((args, kwargs)) if self._as_plain else (args, kwargs)
            run = self._compared(key, function, *given)
        finally:
            self._runs = False
        if run is None or self._as_plain:
            return function(*args, **kwargs)
        if run.error is not None:
            raise run.error
        return run.result

    def _compared(
        self, key: object, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Ran | None:
        """The staged run, or the plain one where they differ; None where nothing is staged."""
        before = copy.deepcopy((args, kwargs))
        plain = ran(function, *copy.deepcopy(before))
        if plain.error is None and not is_data(plain.result):
            return None
        compiled = self._compiled.setdefault(key, pystage.compile(function, fallback="error"))
        try:
            staged = ran(compiled, args, kwargs)
        except pystage.StagingError as error:
            self.record.refused[error.diagnostics[0].code] += 1
            return None
        text = difference(plain, staged)
        if text is None:
            self.record.same += 1
            self.record.rounded += repr(plain.result) != repr(staged.result)
            return staged
        if difference(plain, ran(function, *copy.deepcopy(before))) is not None:
            return plain  # another call gives something else, as of a generator that is used up
        if any(map(has_subnormal, (before, plain.result))):
            return plain  # a deviation of docs/semantics.md
        name = getattr(function, "__qualname__", str(key)) if callable(key) else str(key)
        self.record.different.append(f"{name} {key!r:.60} {before!r:.200}: {text}")
        return plain


def ran(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Ran:
    """Runs a function. What is raised is a result, but for a refusal."""
    try:
        return Ran(function(*args, **kwargs), None, (args, kwargs))
    except pystage.StagingError:
        raise
    except Exception as error:
        return Ran(None, error, (args, kwargs))


def is_data(value: Any, depth: int = 6) -> bool:
    """True for a number, a text, and containers of them that are not large."""
    if type(value) is int:
        return value.bit_length() <= MOST_BITS
    if type(value) in DATA:
        return not isinstance(value, str | bytes) or len(value) <= MOST_ITEMS
    if type(value) not in CONTAINERS or depth == 0:
        return False
    if isinstance(value, slice):
        return all(is_data(each) for each in (value.start, value.stop, value.step))
    if len(value) > MOST_ITEMS:
        return False
    parts = (*value.keys(), *value.values()) if isinstance(value, dict) else tuple(value)
    return all(is_data(each, depth - 1) for each in parts)


def has_subnormal(value: Any) -> bool:
    """True where a float among the parts of data is too small to be normal: XLA takes it for zero."""
    if isinstance(value, complex):
        return has_subnormal(value.real) or has_subnormal(value.imag)
    if isinstance(value, float):
        return 0.0 < abs(value) < sys.float_info.min
    if isinstance(value, dict):
        return any(map(has_subnormal, value.items()))
    return isinstance(value, list | tuple | set | frozenset | deque) and any(map(has_subnormal, value))


def difference(plain: Ran, staged: Ran) -> str | None:
    """What tells two runs apart; None if nothing does."""
    if (plain.error is None) != (staged.error is None) or type(plain.error) is not type(staged.error):
        return f"{shown(plain)} became {shown(staged)}"
    if plain.error is not None and str(plain.error) != str(staged.error):
        return f"{shown(plain)} became {shown(staged)}"
    if plain.error is None and not same(plain.result, staged.result):
        return f"{shown(plain)} became {shown(staged)}"
    if not same(plain.given, staged.given):
        return f"it leaves {plain.given!r:.200}, staged {staged.given!r:.200}"
    return None


def shown(run: Ran) -> str:
    """The result or the exception of a run."""
    return f"{run.error!r:.200}" if run.error is not None else f"{run.result!r:.200}"


def same(a: Any, b: Any, around: tuple[tuple[int, int], ...] = ()) -> bool:
    """True for equal data of equal types; floats to rounding, zeros with their signs, dicts in their order.

    `around`: the containers that the two are in; what holds itself is the same where its partner holds itself.
    """
    if type(a) is not type(b):
        return False
    if (id(a), id(b)) in around:
        return True
    if isinstance(a, float):
        if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b) or 0.0 in (a, b):
            return repr(a) == repr(b)
        return abs(a - b) <= ULPS * math.ulp(a)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, dict):
        return same([*a.items()], [*b.items()], ((id(a), id(b)), *around))
    if isinstance(a, list | tuple | deque):
        inside = ((id(a), id(b)), *around)
        return len(a) == len(b) and all(same(x, y, inside) for x, y in zip(a, b, strict=True))
    if isinstance(a, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    return bool(a == b)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """In the `with` block `Slow` is raised after so many seconds of the processor, and after it where that was caught."""
    ended = False

    def stop(*_: object) -> None:
        nonlocal ended
        ended = True
        raise Slow

    outer = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, outer)
    if ended:
        raise Slow


# ---------------------------------------------------------------- what is staged


def calling(function: Callable[..., Any]) -> Callable[..., Any]:
    """A plain function that calls `function`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def calling_method(name: str) -> Callable[..., Any]:
    """A plain function that calls a method of what it is given."""

    def call(obj: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(obj, name)(*args, **kwargs)

    return call


def _getitem(obj: Any, key: Any) -> Any:
    return obj[key]


def _store(value: Any, obj: Any, key: Any) -> None:
    obj[key] = value


def _delete(obj: Any, key: Any) -> None:
    del obj[key]


def _contains(a: Any, b: Any) -> Any:
    return a in b


def _not_contains(a: Any, b: Any) -> Any:
    return a not in b


OPERATORS: dict[str, Callable[..., Any]] = {
    **{
        name: calling(getattr(operator, name))
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    },
    **{
        name: calling(getattr(operator, name))
        for name in ("lshift", "rshift", "and_", "or_", "xor", "matmul")
    },
    **{name: calling(getattr(operator, name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{name: calling(getattr(operator, name)) for name in ("neg", "pos", "invert")},
    **{
        name: calling(getattr(operator, name))
        for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "ilshift", "irshift")
    },
    **{name: calling(getattr(operator, name)) for name in ("iand", "ior", "ixor", "imatmul")},
    "getitem": _getitem,
    "store": _store,
    "delete": _delete,
    "contains": _contains,
    "not_contains": _not_contains,
}
"""By name, plain functions of what operators do."""
