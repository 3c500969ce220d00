"""Local variables of stage IR: which ones a loop assigns, which live within one trip, where a function is recursive."""

from __future__ import annotations

import functools

from ..stage import ir as stage
from ..stage.walk import blocks_of, uses_of_temps, walk


def calls_of_itself(function: stage.Function) -> int:
    """How many call sites of a function call its own name, as a variable or an attribute."""
    named: set[str] = set()
    count = 0
    for i in walk(function.body):
        match i:
            case stage.Load(dst=dst, name=name) | stage.GetAttr(dst=dst, attr=name) if name == function.name:
                named.add(dst)
            case stage.Call(func=func) if func in named:
                count += 1
    return count


def may_change_objects(function: stage.Function) -> bool:
    """False if the source of a function stores into no object, and hands none to another function or a method."""
    held: set[str] = set()
    methods: set[str] = set()
    for i in walk(function.body):
        match i:
            case stage.SetAttr() | stage.DelAttr() | stage.SetItem() | stage.DelItem():
                return True
            case stage.Load(dst=dst, scope=scope) if scope is not stage.StorageClass.GLOBAL:
                held.add(dst)
            case stage.GetAttr(dst=dst, attr=attr):
                held.add(dst)
                if attr != function.name:
                    methods.add(dst)
            case stage.GetItem(dst=dst):
                held.add(dst)
            case stage.Inplace(left=left) if left in held:
                return True
            case stage.Call(func=func, args=args):
                if func in methods or (func not in held and any(arg.value in held for arg in args)):
                    return True
    return False


def assigned_outside(function: stage.Function) -> list[str]:
    """The variables of the functions around it that a function assigns (`nonlocal`)."""
    stores = [i for i in walk(function.body) if isinstance(i, stage.Store)]
    return list(dict.fromkeys([i.name for i in stores if i.name in function.free]))


def only_called(function: stage.Function) -> frozenset[str]:
    """The parameters that a function does nothing with but call them: it does not see which object each is."""
    loaded: dict[str, list[str]] = {name: [] for name in function.params.names()}
    called: dict[str, int] = {}
    for i in walk(function.body):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.StorageClass.LOCAL) if name in loaded:
                loaded[name].append(dst)
            case stage.Store(name=name) | stage.Delete(name=name):
                loaded.pop(name, None)
            case stage.Call(func=func):
                called[func] = called.get(func, 0) + 1
    uses = uses_of_temps(function.body)
    return frozenset(
        name
        for name, temps in loaded.items()
        if name not in function.cells and all(uses.get(temp, 0) == called.get(temp, 0) for temp in temps)
    )


def lost_with(instr: stage.Instr) -> list[str]:
    """Local variables that would have been assigned in the blocks of an instruction that is refused."""
    return [
        i.name
        for block in blocks_of(instr)
        for i in walk(block)
        if isinstance(i, stage.Store) and i.scope is stage.StorageClass.LOCAL
    ]


@functools.lru_cache(maxsize=4096)
def assigned(loop: stage.Instr) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Local variables that the body (and the test) of `loop` assigns, and those whose object it stores into."""
    names: dict[str, None] = {}
    stored: dict[str, None] = {}
    loaded: dict[str, str] = {}
    for i in walk([loop]):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.StorageClass.LOCAL):
                loaded[dst] = name
            case stage.Store(name=name, scope=stage.StorageClass.LOCAL):
                names[name] = None
            case stage.SetItem(obj=obj) | stage.Inplace(left=obj) if obj in loaded:
                stored[loaded[obj]] = None
    return tuple(names), tuple(stored)


@functools.lru_cache(maxsize=4096)
def lengths_tested(loop: stage.While) -> tuple[tuple[str, stage.Temp], ...]:
    """The local variables whose length the test of a loop compares with something greater, `len(x) < n`, and that."""
    loaded: dict[str, str] = {}
    lengths: dict[str, str] = {}
    compared: list[tuple[str, str, str]] = []
    functions: dict[str, str] = {}
    for i in walk(loop.test):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.StorageClass.LOCAL):
                loaded[dst] = name
            case stage.Load(dst=dst, name=name):
                functions[dst] = name
            case stage.Call(dst=dst, func=func, args=(arg,)) if functions.get(func) == "len":
                lengths[dst] = loaded.get(arg.value, "")
            case stage.Compare(op="<" | "<=" | "!=" as op, left=left, right=right):
                compared.append((op, left, right))
            case stage.Compare(op=">" | ">=" as op, left=left, right=right):
                compared.append((op, right, left))
    return tuple([(lengths[short], long) for _, short, long in compared if lengths.get(short)])


@functools.lru_cache(maxsize=4096)
def _reads(root: stage.Instr | stage.Function) -> dict[str, tuple[int, bool]]:
    """How often each local variable is read, and whether each read certainly finds it assigned."""
    found: dict[str, tuple[int, bool]] = {}
    for i in walk(root.body if isinstance(root, stage.Function) else [root]):
        if isinstance(i, stage.Load | stage.Delete) and i.scope is stage.StorageClass.LOCAL:
            count, certain = found.get(i.name, (0, True))
            found[i.name] = count + 1, certain and isinstance(i, stage.Load) and i.certain
    return found


@functools.lru_cache(maxsize=4096)
def _stores(root: stage.Instr | stage.Function) -> dict[str, int]:
    """How often each local variable is assigned; a parameter once more."""
    found: dict[str, int] = {}
    if isinstance(root, stage.Function):
        found = dict.fromkeys(root.params.names(), 1)
    for i in walk(root.body if isinstance(root, stage.Function) else [root]):
        if isinstance(i, stage.Store | stage.Delete) and i.scope is stage.StorageClass.LOCAL:
            found[i.name] = found.get(i.name, 0) + 1
    return found


@functools.lru_cache(maxsize=4096)
def of_trips(loop: stage.Instr, function: stage.Function) -> frozenset[str]:
    """The local variables that only a loop assigns and reads, each trip before it reads them."""
    inside, everywhere = _stores(loop), _stores(function)
    alone = [name for name, count in inside.items() if everywhere.get(name) == count]
    return frozenset([name for name in alone if only_within_trips(name, loop, function)])


def only_within_trips(name: str, loop: stage.Instr, function: stage.Function) -> bool:
    """True if every read of a variable, not assigned before `loop`, is in the loop and finds it assigned.

    Then it finds what the same trip assigned: nothing needs to be carried to the next trip or out of the loop.
    """
    if name.startswith(".") or name not in function.locals:  # of the loop that a generator is fused with
        return False
    inside, outside = _reads(loop).get(name, (0, True)), _reads(function).get(name, (0, True))
    return inside == outside and inside[1]
