"""Binding of submodules of Flax Linen: names, scopes and `setup`, on cells.

In: modules as objects, of the caller or constructed in staged source. A module that is constructed while a method of another
runs, or is stored in another's `setup` or fields, gets a name, and the scope of that name. Flax's thread-local state, the
current module, is a cell.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast

from ....infer.interface import (
    Ambient,
    Engine,
    class_of,
    describe,
    entries_of,
    fields_of,
    get_field,
    new_dict,
    new_object,
    object_of,
    set_entries,
    set_entry,
    set_field,
)
from ....library.context import Raw
from ....library.kernels.structures import list_items
from ....library.python import operators
from ....policy import package_of
from ....values.lattice import FALSE, LISTS, NONE, TRUE, Abstract, Const, DictCell, Ref, Tuple
from ....values.walk import children, keys, with_children
from .scopes import is_reserved, root_of

_AT_WORK = Ambient("flax.linen")
"""The modules whose methods run, each with what says which results are captured."""


def flax_errors() -> Any:
    """The module `flax.errors`."""
    return sys.modules["flax.errors"]


def linen() -> Any:
    """The module `flax.linen`."""
    return sys.modules["flax.linen"]


def at_work(ctx: Engine) -> tuple[Abstract, Abstract]:
    """The module whose method runs, None outside of all; and what says which results are captured."""
    entry = _AT_WORK.top(ctx)
    return (NONE, FALSE) if entry is None else cast(tuple[Abstract, Abstract], cast(Tuple, entry).items)


def working(ctx: Engine, module: Abstract, capture: Abstract) -> AbstractContextManager[None]:
    """While the method of a module runs, it is what new modules are parts of."""
    return _AT_WORK.entered(ctx, Tuple((module, capture)))


# ---------------------------------------------------------------- what a module knows of itself


def scope_of(ctx: Engine, module: Ref) -> Abstract:
    """The scope of a module, None if it is not bound."""
    return fields_of(ctx, module).get("scope", NONE)


def parent_of(ctx: Engine, module: Ref) -> Abstract:
    """The module or the scope that a module is a part of, or None."""
    found = get_field(ctx, module, "_parent_ref")
    return NONE if found is None else found


def flag_of(ctx: Engine, module: Ref, name: str) -> Any:
    """A flag of the module's state; false before it has any."""
    state = fields_of(ctx, module).get("_state")
    return False if state is None else ctx.known(fields_of(ctx, state)[name], "the state of a module")


def set_flag(ctx: Engine, module: Ref, name: str, value: Abstract) -> None:
    """Sets a flag of the module's state."""
    set_field(ctx, fields_of(ctx, module)["_state"], name, value)


def reset(ctx: Engine, module: Ref) -> None:
    """Resets the state of a module that lives for one method."""
    set_flag(ctx, module, "in_compact_method", FALSE)
    set_flag(ctx, module, "in_setup", FALSE)
    state = fields_of(ctx, fields_of(ctx, module)["_state"])
    for kept in ("autoname_cursor", "children"):
        set_entries(ctx, state[kept], {})


def release_names(ctx: Engine, module: Ref) -> None:
    """The names of parts and variables may be used again: by the next call of the method."""
    set_entries(ctx, fields_of(ctx, scope_of(ctx, module))["reservations"], {})


def is_module(ctx: Engine, value: Abstract) -> bool:
    """True for a module of Linen."""
    cell = object_of(ctx, value)
    return cell is not None and issubclass(cell.cls, linen().Module)


def own_fields(cls: Any) -> list[str]:
    """The fields of a class of modules that its instances are made with, but for those of every module."""
    return [f.name for f in dataclasses.fields(cls) if f.init and f.name not in ("parent", "name")]


# ---------------------------------------------------------------- made, and made a part


def post_init(ctx: Engine, self: Abstract) -> Abstract:
    """`Module.__post_init__`: a module is made; inside of another it gets a name and a scope."""
    ref = cast(Ref, self)
    counts = {name: new_dict(ctx) for name in ("autoname_cursor", "children")}
    flags = dict.fromkeys(("in_compact_method", "in_setup", "is_initialized"), FALSE)
    fields = {**flags, **counts, "setup_called": FALSE}
    set_field(ctx, ref, "_state", new_object(ctx, type(linen().Dense._state), fields))
    parent = parent_of(ctx, ref)
    unspecified = type(next(f for f in dataclasses.fields(linen().Dense) if f.name == "parent").default)
    if isinstance(parent, Ref) and class_of(ctx, parent) is unspecified:
        parent = at_work(ctx)[0]
        set_field(ctx, ref, "_parent_ref", parent)
    if not isinstance(parent, Ref):
        return NONE
    if is_module(ctx, parent):
        if flag_of(ctx, parent, "in_setup") and _name(ctx, ref) is None:
            return NONE  # until it is stored in an attribute
        _become_part(ctx, ref, parent)
    else:
        set_field(ctx, ref, "scope", parent)
    for name in own_fields(class_of(ctx, ref)):
        register(ctx, ref, name, ctx.getattr(ref, name))
    set_flag(ctx, ref, "is_initialized", TRUE)
    if _has_run_setup(ctx, ref):
        try_setup(ctx, ref)
    return NONE


def _has_run_setup(ctx: Engine, ref: Ref) -> bool:
    """True for a module of the program whose `setup` has run before, when its variables were made, or does nothing.

    It runs at once then, so that branches and loops find a module as they leave it.
    """
    if package_of(class_of(ctx, ref)).name == "flax":
        return False
    scope = fields_of(ctx, cast(Ref, scope_of(ctx, ref)))
    initialising = "initializing" in entries_of(ctx, scope["flags"])
    return not initialising and bool(entries_of(ctx, scope["_variables"]))


def _name(ctx: Engine, module: Ref) -> Any:
    return ctx.known(ctx.getattr(module, "name"), "the name of a module")


def _become_part(ctx: Engine, ref: Ref, parent: Ref) -> None:
    """Gives a module its name among the parts of `parent`, and the scope of that name."""
    cls = class_of(ctx, ref)
    allowed = flag_of(ctx, parent, "in_setup") or flag_of(ctx, parent, "in_compact_method")
    if flag_of(ctx, parent, "is_initialized") and not allowed:
        ctx.raise_(flax_errors().AssignSubModuleError(cls.__name__))
    state = fields_of(ctx, fields_of(ctx, parent)["_state"])
    name = _name(ctx, ref)
    if name is None:
        cursor = state["autoname_cursor"]
        count = entries_of(ctx, cursor).get(cls.__name__, Const(0))
        name = f"{cls.__name__}_{ctx.known(count, 'how many modules of a class there are')}"
        set_field(ctx, ref, "name", Const(name))
        set_entry(ctx, cursor, cls.__name__, operators.binary(ctx, "+", count, Const(1)))
    scope = scope_of(ctx, parent)
    if is_reserved(ctx, scope, Const(name)):
        ctx.raise_(flax_errors().NameInUseError("submodule", name, class_of(ctx, parent).__name__))
    set_entry(ctx, state["children"], name, ref)
    own = ctx.call(ctx.getattr(scope, "push"), [Const(name)], {"reuse": FALSE})
    set_field(ctx, ref, "scope", own)


def register(ctx: Engine, ref: Ref, name: str, value: Abstract) -> None:
    """`Module._register_submodules`: modules in an attribute become parts, named after it; lists become tuples."""
    adopted = fields_of(ctx, root_of(ctx, scope_of(ctx, ref)))["adopted"]
    parts: list[Ref] = []

    def adopt(part: Ref, suffix: str) -> Abstract:
        if isinstance(parent_of(ctx, part), Const):
            kept = entries_of(ctx, adopted)
            known = [cast(Tuple, pair).items for pair in kept.values()]
            found = next((made for old, made in known if cast(Ref, old).cell == part.cell), None)
            if found is None:
                found = copied(ctx, part, {"name": NONE, "parent": NONE}, None)
                set_entry(ctx, adopted, len(kept), Tuple((part, found)))
            part = cast(Ref, found)
        if _name(ctx, part) is None:
            set_field(ctx, part, "_parent_ref", ref)
            set_field(ctx, part, "name", Const(f"{name}{suffix}"))
            parts.append(part)
        return part

    set_field(ctx, ref, name, _mapped(ctx, value, adopt))
    for part in parts:
        ctx.call(ctx.getattr(part, "__post_init__"), [])


def _mapped(
    ctx: Engine, value: Abstract, change: Callable[[Ref, str], Abstract], suffix: str = ""
) -> Abstract:
    """A structure with `change` of each module in it, and tuples in the place of lists.

    `change` gets the keys on the way to the module, joined.
    """
    if is_module(ctx, value):
        return change(cast(Ref, value), suffix)
    container = ctx.cell(value) if isinstance(value, Ref) else value
    if isinstance(container, LISTS):
        container = Tuple(list_items(ctx, container.items))
    elif isinstance(container, DictCell):
        container = DictCell(container.entries)
    if not isinstance(container, Tuple | DictCell):
        return value
    names = getattr(getattr(container, "cls", None), "_fields", None) or keys(container)
    parts = zip(names, children(container), strict=True)
    made = with_children(container, [_mapped(ctx, x, change, f"{suffix}_{name}") for name, x in parts])
    return made if isinstance(made, Tuple) else new_dict(ctx, made.entries)


def copied(
    ctx: Engine, module: Ref, updates: Mapping[str, Abstract], inner: list[tuple[Ref, Ref]] | None
) -> Ref:
    """A new module with the fields of another; `inner`: its parts too, each once, noted there."""
    cls = class_of(ctx, module)
    fields = {name: ctx.getattr(module, name) for name in (*own_fields(cls), "name")}

    def deep(part: Ref, suffix: str) -> Abstract:
        assert inner is not None
        known = next((made for old, made in inner if old.cell == part.cell), None)
        if known is None:
            known = copied(ctx, part, {"parent": NONE}, inner)
            inner.append((part, known))
        return known

    given = {**fields, "parent": NONE, **updates}
    if inner is not None:
        given = {k: v if k in ("parent", "name") else _mapped(ctx, v, deep) for k, v in given.items()}
    return cast(Ref, ctx.call(Const(cls), [], given))


def clone(ctx: Engine, /, self: Abstract, *, parent: Raw = NONE, **updates: Abstract) -> Abstract:
    """`module.clone(**updates)`."""
    return copied(ctx, cast(Ref, self), {"parent": parent, **updates}, None)


def copy(
    ctx: Engine, /, self: Abstract, *, parent: Raw = None, name: Raw = NONE, **updates: Abstract
) -> Abstract:
    """`module.copy(**updates)`: a part of the module at work, or of `parent`."""
    made = at_work(ctx)[0] if parent is None else parent
    return copied(ctx, cast(Ref, self), {"parent": made, "name": name, **updates}, [])


# ---------------------------------------------------------------- attributes and `setup`


def setattr_(ctx: Engine, self: Abstract, name: Abstract, value: Abstract) -> Abstract:
    """`module.name = value`: in `setup` the modules in it become parts."""
    ref, key = cast(Ref, self), ctx.known(name, "the name of an attribute")
    cls = class_of(ctx, ref)
    if flag_of(ctx, ref, "in_setup"):
        field = cls.__dataclass_fields__.get(key)
        if field is not None and field.init:
            ctx.raise_(flax_errors().SetAttributeInModuleSetupError())
        register(ctx, ref, key, value)
    elif flag_of(ctx, ref, "is_initialized") and not key.startswith("__"):
        shown = value.value if isinstance(value, Const) else describe(ctx, value)
        ctx.raise_(flax_errors().SetAttributeFrozenModuleError(cls.__name__, key, shown))
    else:
        set_field(ctx, ref, "_parent_ref" if key == "parent" else key, value)
    return NONE


def getattr_(ctx: Engine, self: Abstract, name: Abstract) -> Abstract:
    """`module.name` of an attribute that only `setup` makes."""
    ref, key = cast(Ref, self), ctx.known(name, "the name of an attribute")
    try_setup(ctx, ref)
    found = get_field(ctx, ref, key)
    if found is not None:
        return found
    text = f'"{class_of(ctx, ref).__name__}" object has no attribute "{key}".'
    if isinstance(scope_of(ctx, ref), Const):
        text += f" If \"{key}\" is defined in '.setup()', remember these fields "
        text += "are only accessible from inside 'init' or 'apply'."
    ctx.raise_(AttributeError(text))


def try_setup(ctx: Engine, ref: Ref) -> None:
    """Runs `setup` of a bound module, once."""
    if isinstance(scope_of(ctx, ref), Const) or flag_of(ctx, ref, "in_setup"):
        return
    if flag_of(ctx, ref, "setup_called"):
        return
    set_flag(ctx, ref, "in_setup", TRUE)
    for name in own_fields(class_of(ctx, ref)):
        register(ctx, ref, name, ctx.getattr(ref, name))
    ctx.call(ctx.getattr(ref, "setup"), [])
    set_flag(ctx, ref, "in_setup", FALSE)
    set_flag(ctx, ref, "setup_called", TRUE)
