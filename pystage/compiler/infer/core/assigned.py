"""What the source says of a loop's variables: which it assigns, which only its own trips read."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ...stage import ir as stage


def blocks_of(i: stage.Instr) -> list[stage.Block]:
    """The blocks that an instruction holds."""
    match i:
        case stage.If():
            return [i.then, i.orelse]
        case stage.While():
            return [i.test, i.body]
        case stage.For() | stage.With():
            return [i.body]
        case stage.Try():
            handlers = [block for h in i.handlers for block in (h.test, h.body)]
            return [i.body, *handlers, i.orelse, i.final]
        case _:
            return []


def walk(block: stage.Block) -> Iterator[stage.Instr]:
    """Every instruction, inner ones included, in the order of the source."""
    for i in block:
        yield i
        for inner in blocks_of(i):
            yield from walk(inner)


def calls_of_itself(function: stage.Function) -> int:
    """In how many places of its source a function calls what has its own name, as a variable or an attribute."""
    named: set[str] = set()
    count = 0
    for i in walk(function.body):
        match i:
            case stage.Load(dst=dst, name=name) | stage.GetAttr(dst=dst, attr=name) if name == function.name:
                named.add(dst)
            case stage.Call(func=func) if func in named:
                count += 1
    return count


def lost_with(instr: stage.Instr) -> list[str]:
    """Local variables that would have been assigned in the blocks of an instruction that is refused."""
    return [
        i.name
        for block in blocks_of(instr)
        for i in walk(block)
        if isinstance(i, stage.Store) and i.scope is stage.Scope.LOCAL
    ]


@functools.lru_cache(maxsize=4096)
def assigned(loop: stage.Instr) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Local variables that the body (and the test) of `loop` assigns, and those whose object it stores into."""
    names: dict[str, None] = {}
    stored: dict[str, None] = {}
    loaded: dict[str, str] = {}
    for i in walk([loop]):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.Scope.LOCAL):
                loaded[dst] = name
            case stage.Store(name=name, scope=stage.Scope.LOCAL):
                names[name] = None
            case stage.SetItem(obj=obj) | stage.Inplace(left=obj) if obj in loaded:
                stored[loaded[obj]] = None
    if isinstance(loop, stage.For):
        names[f".index{id(loop)}"] = None
    return tuple(names), tuple(stored)


@functools.lru_cache(maxsize=4096)
def steps(loop: stage.Instr) -> dict[str, tuple[int, int]]:
    """Local variables that `loop` changes by adding constants only: the least and the greatest of these, or 0."""
    loaded: dict[str, str] = {}
    constants: dict[str, int] = {}
    sums: dict[str, tuple[str, int]] = {}
    found: dict[str, tuple[int, int]] = {}
    others: set[str] = set()
    for i in walk([loop]):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.Scope.LOCAL):
                loaded[dst] = name
            case stage.Constant(dst=dst, value=int(value)):
                constants[dst] = value
            case (
                stage.Binary(dst=dst, op="+" | "-" as op, left=left, right=right)
                | stage.Inplace(dst=dst, op="+" | "-" as op, left=left, right=right)
            ):
                if left in loaded and right in constants:
                    sums[dst] = loaded[left], constants[right] if op == "+" else -constants[right]
                elif right in loaded and left in constants and op == "+":
                    sums[dst] = loaded[right], constants[left]
            case stage.Store(name=name, src=src, scope=stage.Scope.LOCAL) if sums.get(src, ("",))[0] == name:
                low, high = found.get(name, (0, 0))
                found[name] = min(low, sums[src][1]), max(high, sums[src][1])
            case stage.Store(name=name) | stage.Delete(name=name):
                others.add(name)
    return {name: ends for name, ends in found.items() if name not in others}


@functools.lru_cache(maxsize=4096)
def _reads(root: stage.Instr | stage.Function) -> dict[str, tuple[int, bool]]:
    """How often each local variable is read, and whether each read certainly finds it assigned."""
    found: dict[str, tuple[int, bool]] = {}
    for i in walk(root.body if isinstance(root, stage.Function) else [root]):
        if isinstance(i, stage.Load | stage.Delete) and i.scope is stage.Scope.LOCAL:
            count, certain = found.get(i.name, (0, True))
            found[i.name] = count + 1, certain and isinstance(i, stage.Load) and i.certain
    return found


def only_within_trips(name: str, loop: stage.Instr, function: stage.Function) -> bool:
    """True if every read of a variable, not assigned before `loop`, is in the loop and finds it assigned.

    Then it finds what the same trip assigned: nothing needs to be carried to the next trip or out of the loop.
    """
    if name.startswith("."):
        return False
    inside, outside = _reads(loop).get(name, (0, True)), _reads(function).get(name, (0, True))
    return inside == outside and inside[1]
