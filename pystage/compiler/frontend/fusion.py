"""A generator fused with the loop over it: one function, in which the loop's body stands in place of each `yield`.

In: the stage IR of a generator, with its jumps, and a loop, without. Out: the body of the generator, which runs in the frame
of the loop, so that what surrounds it sees an ordinary nest of loops. Its own variables and temporaries have names of
their own there (`x@3.8`, of a loop in line 3); after each `yield` it returns if the loop was left (`For.until`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..stage import ir
from ..stage.walk import walk
from .jumps import remove_own_jumps

OF_TEMPORARIES = frozenset(
    [
        "Temp",
        "Temp | None",
        "tuple[Temp, ...]",
        "tuple[Arg, ...]",
        "tuple[Item, ...]",
        "tuple[tuple[Temp | None, Temp], ...]",
        "tuple[tuple[str, Temp], ...]",
    ]
)
"""The types of the fields of instructions that hold temporaries."""


def fused(generator: ir.Function, loop: ir.For, consumer: ir.Function) -> ir.Function:
    """The body of `loop`, which stands in `consumer`, in that of the generator; the same each time."""
    if generator not in loop.fused:
        suffix = f"{consumer.suffix}@{loop.span.line}.{loop.span.column}"
        loop.fused[generator] = _fuse(generator, loop, suffix)
    return loop.fused[generator]


def renamed(name: str, fusion: ir.Function) -> str:
    """What a local variable of a generator is called where it is fused."""
    return name + fusion.suffix


def source_name(name: str) -> str:
    """A variable as the source names it."""
    return name.partition("@")[0]


def _fuse(generator: ir.Function, loop: ir.For, suffix: str) -> ir.Function:
    exits: list[ir.Load] = []
    function = dataclasses.replace(generator, is_generator=False, body=[])
    function.body = _with_body(_copy(generator.body), loop, exits)
    remove_own_jumps(function)
    assert isinstance(function.body[-1], ir.Return)
    function.body = function.body[:-1]
    kept = {id(load) for load in exits}
    for instr in _own(function.body):
        _rename(instr, suffix, kept)
    function.locals = frozenset([name + suffix for name in function.locals])
    function.suffix = suffix
    return function


def _own(block: ir.Block) -> list[ir.Instr]:
    """The instructions of the generator, without those of the loop."""
    found = list(walk(block))
    theirs = {id(inner) for instr in found if isinstance(instr, ir.Yield) for inner in walk(instr.body)}
    return [instr for instr in found if id(instr) not in theirs]


def _with_body(block: ir.Block, loop: ir.For, exits: list[ir.Load]) -> ir.Block:
    """The block with the loop's body at each `yield`, and behind it a return where the loop is left."""
    out: ir.Block = []
    for instr in block:
        out.append(instr)
        if not isinstance(instr, ir.Yield):
            for name in _block_fields(instr):
                setattr(instr, name, _with_body(getattr(instr, name), loop, exits))
            for handler in getattr(instr, "handlers", ()):
                handler.body = _with_body(handler.body, loop, exits)
            inner = getattr(instr, "loop", None)
            if inner is not None:
                inner.body = _with_body(inner.body, loop, exits)
            continue
        instr.target, instr.body = loop.target, loop.body
        if loop.until is not None:
            span, at = instr.span, len(exits)
            load = ir.Load(span, f"%y{at}", loop.until, ir.StorageClass.LOCAL, certain=True)
            exits.append(load)
            none = f"%n{at}"
            leave: ir.Block = [ir.Constant(span, none, None), ir.Return(span, none)]
            out += [load, ir.If(span, load.dst, leave, [])]
    return out


def _block_fields(instr: ir.Instr) -> list[str]:
    """The fields of an instruction that hold blocks."""
    lists = [f.name for f in dataclasses.fields(instr) if isinstance(getattr(instr, f.name), list)]
    return [name for name in lists if name != "handlers"]


def _copy(x: Any) -> Any:
    """Instructions and their parts, copied; functions and constants are not."""
    if isinstance(x, list):
        return [_copy(each) for each in x]
    if isinstance(x, ir.Instr | ir.Handler):
        parts = [f.name for f in dataclasses.fields(x) if isinstance(getattr(x, f.name), list | ir.Instr)]
        return dataclasses.replace(x, **{name: _copy(getattr(x, name)) for name in parts})
    return x


def _rename(instr: ir.Instr, suffix: str, kept: set[int]) -> None:
    """Gives the temporaries and local variables of one instruction their names; those of inner blocks have them apart."""
    own = {"target", "body"} if isinstance(instr, ir.Yield) else set[str]()
    for field in dataclasses.fields(instr):
        if field.name not in own and field.type in OF_TEMPORARIES:
            setattr(instr, field.name, _renamed_temps(getattr(instr, field.name), suffix))
    for handler in getattr(instr, "handlers", ()):
        handler.kind, handler.target = _renamed_temps((handler.kind, handler.target), suffix)
    local = getattr(instr, "scope", None) is ir.StorageClass.LOCAL
    if local and id(instr) not in kept:
        instr.name += suffix  # type: ignore[attr-defined]
    if isinstance(instr, ir.For) and instr.until is not None:
        instr.until += suffix


def _renamed_temps(x: Any, suffix: str) -> Any:
    if isinstance(x, str):
        return x + suffix if ir.is_temp(x) else x
    if isinstance(x, tuple):
        return tuple([_renamed_temps(each, suffix) for each in x])
    if isinstance(x, ir.Arg | ir.Item):
        return dataclasses.replace(x, value=_renamed_temps(x.value, suffix))
    return x
