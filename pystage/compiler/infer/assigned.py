"""What the source of a loop assigns: the variables, and the arrays that it stores into through variables."""

from __future__ import annotations

import functools

from ..stage import ir as stage


@functools.lru_cache(maxsize=4096)
def assigned(loop: stage.Instr) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Local variables that the body (and the test) of `loop` assigns, and those whose object it stores into."""
    names: dict[str, None] = {}
    stored: dict[str, None] = {}
    loaded: dict[str, str] = {}

    def visit(block: stage.Block) -> None:
        for i in block:
            match i:
                case stage.Load(dst=dst, name=name, scope=stage.Scope.LOCAL):
                    loaded[dst] = name
                case stage.Store(name=name, scope=stage.Scope.LOCAL):
                    names[name] = None
                case stage.SetItem(obj=obj) | stage.Inplace(left=obj) if obj in loaded:
                    stored[loaded[obj]] = None
                case stage.If():
                    visit(i.then)
                    visit(i.orelse)
                case stage.While():
                    visit(i.test)
                    visit(i.body)
                case stage.For():
                    visit(i.body)
                case stage.With():
                    visit(i.body)
                case stage.Try():
                    visit(i.body)
                    for handler in i.handlers:
                        visit(handler.body)
                    visit(i.orelse)
                    visit(i.final)

    visit([loop])
    if isinstance(loop, stage.For):
        names[f".index{id(loop)}"] = None
    return tuple(names), tuple(stored)
