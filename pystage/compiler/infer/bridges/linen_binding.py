"""How a module of Flax Linen becomes a part of another: names, scopes, `setup`, on cells.

In: modules as objects, of the world or made in staged source. A module that is made while a method of another runs, or is
stored in another's `setup` or fields, gets a name, and the scope of that name. What Flax keeps in the memory of a thread,
the module at work, is a cell.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

from ...library.context import Context, Raw
from ...library.python import operators
from ...library.rules.packages import package_of
from ...values.lattice import FALSE, NONE, TRUE, Abstract, Const, DictCell, ListCell, ObjectCell, Ref, Tuple
from ..core.engine import Engine
from ..objects import objects
from ..telling.describe import describe
from .linen_scopes import entries_of, fields_of, is_reserved, new_dict, root_of, set_entries, set_entry


def flax_errors() -> Any:
    """The module `flax.errors`."""
    return sys.modules["flax.errors"]


def linen() -> Any:
    """The module `flax.linen`."""
    return sys.modules["flax.linen"]


def at_work(engine: Engine) -> tuple[Abstract, Abstract]:
    """The module whose method runs, None outside of all; and what says which results are captured."""
    if engine.modules is None:
        return NONE, FALSE
    items = cast(ListCell, engine.state.get(engine.modules)).items
    return cast(tuple[Abstract, Abstract], cast(Tuple, items[-1]).items) if items else (NONE, FALSE)


class Working:
    """While the method of a module runs, it is what new modules are parts of."""

    __slots__ = ("_before", "_engine", "_entry")

    def __init__(self, engine: Engine, module: Abstract, capture: Abstract) -> None:
        self._engine = engine
        self._entry = Tuple((module, capture))
        if engine.modules is None:
            engine.modules = engine.state.cell_number()
            engine.state.define(engine.modules, ListCell(()))

    def __enter__(self) -> None:
        cell = self._engine.modules
        assert cell is not None
        self._before = cast(ListCell, self._engine.state.get(cell))
        self._engine.state.set(cell, ListCell((*self._before.items, self._entry)))

    def __exit__(self, *exception: object) -> None:
        assert self._engine.modules is not None
        self._engine.state.set(self._engine.modules, self._before)


# ---------------------------------------------------------------- what a module knows of itself


def scope_of(engine: Engine, module: Ref) -> Abstract:
    """The scope of a module, None if it is not bound."""
    return fields_of(engine, module).get("scope", NONE)


def parent_of(engine: Engine, module: Ref) -> Abstract:
    """The module or the scope that a module is a part of, or None."""
    found = objects.field(cast(ObjectCell, engine.cell(module)), "_parent_ref")
    return NONE if found is None else found


def flag_of(engine: Engine, module: Ref, name: str) -> Any:
    """A flag of the module's state; false before it has any."""
    state = fields_of(engine, module).get("_state")
    return False if state is None else engine.known(fields_of(engine, state)[name], "the state of a module")


def set_flag(engine: Engine, module: Ref, name: str, value: Abstract) -> None:
    """Sets a flag of the module's state."""
    objects.set_field(engine, cast(Ref, fields_of(engine, module)["_state"]), name, value)


def reset(engine: Engine, module: Ref) -> None:
    """What a module forgets after each of its methods."""
    set_flag(engine, module, "in_compact_method", FALSE)
    set_flag(engine, module, "in_setup", FALSE)
    state = fields_of(engine, fields_of(engine, module)["_state"])
    for kept in ("autoname_cursor", "children"):
        set_entries(engine, state[kept], {})


def release_names(engine: Engine, module: Ref) -> None:
    """The names of parts and variables may be used again: by the next call of the method."""
    set_entries(engine, fields_of(engine, scope_of(engine, module))["reservations"], {})


def is_module(engine: Engine, value: Abstract) -> bool:
    """True for a module of Linen."""
    cell = engine.cell(value) if isinstance(value, Ref) else None
    return isinstance(cell, ObjectCell) and issubclass(cell.cls, linen().Module)


def own_fields(cls: Any) -> list[str]:
    """The fields of a class of modules that its instances are made with, but for those of every module."""
    return [f.name for f in dataclasses.fields(cls) if f.init and f.name not in ("parent", "name")]


def class_of(engine: Engine, module: Ref) -> Any:
    """The class of a module."""
    return cast(ObjectCell, engine.cell(module)).cls


# ---------------------------------------------------------------- made, and made a part


def post_init(ctx: Context, self: Abstract) -> Abstract:
    """`Module.__post_init__`: a module is made; inside of another it gets a name and a scope."""
    engine, ref = cast(Engine, ctx), cast(Ref, self)
    counts = {name: new_dict(ctx) for name in ("autoname_cursor", "children")}
    flags = dict.fromkeys(("in_compact_method", "in_setup", "is_initialized"), FALSE)
    state = ObjectCell(type(linen().Dense._state), {**flags, **counts, "setup_called": FALSE})
    objects.set_field(engine, ref, "_state", Ref(ctx.state.new_cell(state)))
    parent = parent_of(engine, ref)
    unspecified = type(next(f for f in dataclasses.fields(linen().Dense) if f.name == "parent").default)
    if isinstance(parent, Ref) and class_of(engine, parent) is unspecified:
        parent = at_work(engine)[0]
        objects.set_field(engine, ref, "_parent_ref", parent)
    if not isinstance(parent, Ref):
        return NONE
    if is_module(engine, parent):
        if flag_of(engine, parent, "in_setup") and _name(engine, ref) is None:
            return NONE  # until it is stored in an attribute
        _become_part(engine, ref, parent)
    else:
        objects.set_field(engine, ref, "scope", parent)
    for name in own_fields(class_of(engine, ref)):
        register(engine, ref, name, engine.getattr(ref, name))
    set_flag(engine, ref, "is_initialized", TRUE)
    if _has_run_setup(engine, ref):
        try_setup(engine, ref)
    return NONE


def _has_run_setup(engine: Engine, ref: Ref) -> bool:
    """True for a module of the program whose `setup` has run before, when its variables were made, or does nothing.

    It runs at once then, so that branches and loops find a module as they leave it.
    """
    if package_of(class_of(engine, ref)) == "flax":
        return False
    scope = fields_of(engine, cast(Ref, scope_of(engine, ref)))
    initialising = "initializing" in entries_of(engine, scope["flags"])
    return not initialising and bool(entries_of(engine, scope["_variables"]))


def _name(engine: Engine, module: Ref) -> Any:
    return engine.known(engine.getattr(module, "name"), "the name of a module")


def _become_part(engine: Engine, ref: Ref, parent: Ref) -> None:
    """Gives a module its name among the parts of `parent`, and the scope of that name."""
    cls = class_of(engine, ref)
    allowed = flag_of(engine, parent, "in_setup") or flag_of(engine, parent, "in_compact_method")
    if flag_of(engine, parent, "is_initialized") and not allowed:
        engine.raise_(flax_errors().AssignSubModuleError(cls.__name__))
    state = fields_of(engine, fields_of(engine, parent)["_state"])
    name = _name(engine, ref)
    if name is None:
        cursor = state["autoname_cursor"]
        count = entries_of(engine, cursor).get(cls.__name__, Const(0))
        name = f"{cls.__name__}_{engine.known(count, 'how many modules of a class there are')}"
        objects.set_field(engine, ref, "name", Const(name))
        set_entry(engine, cursor, cls.__name__, operators.binary(engine, "+", count, Const(1)))
    scope = scope_of(engine, parent)
    if is_reserved(engine, scope, Const(name)):
        engine.raise_(flax_errors().NameInUseError("submodule", name, class_of(engine, parent).__name__))
    set_entry(engine, state["children"], name, ref)
    own = engine.call(engine.getattr(scope, "push"), [Const(name)], {"reuse": FALSE})
    objects.set_field(engine, ref, "scope", own)


def register(engine: Engine, ref: Ref, name: str, value: Abstract) -> None:
    """`Module._register_submodules`: modules in an attribute become parts, named after it; lists become tuples."""
    adopted = fields_of(engine, root_of(engine, scope_of(engine, ref)))["adopted"]
    parts: list[Ref] = []

    def adopt(part: Ref, suffix: str) -> Abstract:
        if isinstance(parent_of(engine, part), Const):
            kept = entries_of(engine, adopted)
            known = [cast(Tuple, pair).items for pair in kept.values()]
            found = next((made for old, made in known if cast(Ref, old).cell == part.cell), None)
            if found is None:
                found = copied(engine, part, {"name": NONE, "parent": NONE}, None)
                set_entry(engine, adopted, len(kept), Tuple((part, found)))
            part = cast(Ref, found)
        if _name(engine, part) is None:
            objects.set_field(engine, part, "_parent_ref", ref)
            objects.set_field(engine, part, "name", Const(f"{name}{suffix}"))
            parts.append(part)
        return part

    objects.set_field(engine, ref, name, _mapped(engine, value, adopt))
    for part in parts:
        engine.call(engine.getattr(part, "__post_init__"), [])


def _mapped(
    engine: Engine, value: Abstract, change: Callable[[Ref, str], Abstract], suffix: str = ""
) -> Abstract:
    """A structure with `change` of each module in it, and tuples in the place of lists.

    `change` gets the keys on the way to the module, joined.
    """
    if is_module(engine, value):
        return change(cast(Ref, value), suffix)
    if isinstance(value, Tuple):
        keys = getattr(value.cls, "_fields", range(len(value.items)))
        items = [
            _mapped(engine, x, change, f"{suffix}_{key}") for key, x in zip(keys, value.items, strict=True)
        ]
        return Tuple(tuple(items), value.cls)
    cell = engine.cell(value) if isinstance(value, Ref) else None
    if isinstance(cell, ListCell):
        return _mapped(engine, Tuple(cell.items), change, suffix)
    if isinstance(cell, DictCell):
        entries = cell.entries.items()
        return new_dict(engine, {k: _mapped(engine, x, change, f"{suffix}_{k}") for k, x in entries})
    return value


def copied(
    engine: Engine, module: Ref, updates: Mapping[str, Abstract], inner: list[tuple[Ref, Ref]] | None
) -> Ref:
    """A module made anew of the fields of another; `inner`: its parts too, each once, noted there."""
    cls = class_of(engine, module)
    fields = {name: engine.getattr(module, name) for name in (*own_fields(cls), "name")}

    def deep(part: Ref, suffix: str) -> Abstract:
        assert inner is not None
        known = next((made for old, made in inner if old.cell == part.cell), None)
        if known is None:
            known = copied(engine, part, {"parent": NONE}, inner)
            inner.append((part, known))
        return known

    given = {**fields, "parent": NONE, **updates}
    if inner is not None:
        given = {k: v if k in ("parent", "name") else _mapped(engine, v, deep) for k, v in given.items()}
    return cast(Ref, engine.call(Const(cls), [], given))


def clone(ctx: Context, self: Abstract, *, parent: Raw = NONE, **updates: Abstract) -> Abstract:
    """`module.clone(**updates)`."""
    return copied(cast(Engine, ctx), cast(Ref, self), {"parent": parent, **updates}, None)


def copy(
    ctx: Context, self: Abstract, *, parent: Raw = None, name: Raw = NONE, **updates: Abstract
) -> Abstract:
    """`module.copy(**updates)`: a part of the module at work, or of `parent`."""
    engine = cast(Engine, ctx)
    made = at_work(engine)[0] if parent is None else parent
    return copied(engine, cast(Ref, self), {"parent": made, "name": name, **updates}, [])


# ---------------------------------------------------------------- attributes and `setup`


def setattr_(ctx: Context, self: Abstract, name: Abstract, value: Abstract) -> Abstract:
    """`module.name = value`: in `setup` the modules in it become parts."""
    engine, ref, key = cast(Engine, ctx), cast(Ref, self), ctx.known(name, "the name of an attribute")
    cls = class_of(engine, ref)
    if flag_of(engine, ref, "in_setup"):
        field = cls.__dataclass_fields__.get(key)
        if field is not None and field.init:
            engine.raise_(flax_errors().SetAttributeInModuleSetupError())
        register(engine, ref, key, value)
    elif flag_of(engine, ref, "is_initialized") and not key.startswith("__"):
        shown = value.value if isinstance(value, Const) else describe(value, engine.state)
        engine.raise_(flax_errors().SetAttributeFrozenModuleError(cls.__name__, key, shown))
    else:
        objects.set_field(engine, ref, "_parent_ref" if key == "parent" else key, value)
    return NONE


def getattr_(ctx: Context, self: Abstract, name: Abstract) -> Abstract:
    """`module.name` of an attribute that only `setup` makes."""
    engine, ref, key = cast(Engine, ctx), cast(Ref, self), ctx.known(name, "the name of an attribute")
    try_setup(engine, ref)
    cell = cast(ObjectCell, engine.cell(ref))
    found = objects.field(cell, key)
    if found is not None:
        return found
    text = f'"{cell.cls.__name__}" object has no attribute "{key}".'
    if isinstance(scope_of(engine, ref), Const):
        text += f" If \"{key}\" is defined in '.setup()', remember these fields "
        text += "are only accessible from inside 'init' or 'apply'."
    engine.raise_(AttributeError(text))


def try_setup(engine: Engine, ref: Ref) -> None:
    """Runs `setup` of a bound module, once."""
    if isinstance(scope_of(engine, ref), Const) or flag_of(engine, ref, "in_setup"):
        return
    if flag_of(engine, ref, "setup_called"):
        return
    set_flag(engine, ref, "in_setup", TRUE)
    for name in own_fields(class_of(engine, ref)):
        register(engine, ref, name, engine.getattr(ref, name))
    engine.call(engine.getattr(ref, "setup"), [])
    set_flag(engine, ref, "in_setup", FALSE)
    set_flag(engine, ref, "setup_called", TRUE)
