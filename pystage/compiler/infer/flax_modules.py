"""Modules of Flax NNX: they are objects, and are staged as such; a variable is an object that holds an array."""

from __future__ import annotations

import types
from typing import cast

from ..diagnostics.codes_calls import NotServed
from ..library.context import Context, Raw
from ..library.refusing import refused
from ..library.registry import late_meanings, meaning
from ..values.boundary import Form
from ..values.lattice import NONE, Abstract, Array, Const, Ref
from . import objects
from .attributes import getitem
from .engine import Engine
from .meanings import object_setattr

_NNX = {
    "grad": "use `pystage.grad`, which gives a module of gradients",
    "value_and_grad": "use `pystage.value_and_grad`, which gives a module of gradients",
    "jit": "call the function itself: it is a part of the program",
    "split": "go through the module's own attributes, or split it outside of the staged function",
    "merge": "call the module itself, or merge outside of the staged function",
    "state": "go through the module's own attributes, or take the state outside of the staged function",
    "update": "store into the module's own variables (`module.kernel[...] = …`)",
    "clone": "make a new module, or clone outside of the staged function",
    "vmap": "use `pystage.vmap` of a function that calls the module",
    "scan": "write a loop",
}
"""Functions of NNX that take modules apart by their memory, and what does the same."""
_BY_MEMORY = "it takes modules apart by their places in memory"


@late_meanings("flax.nnx")
def declare_nnx(nnx: types.ModuleType) -> None:
    """Declares which functions of NNX are refused."""
    for name, instead in _NNX.items():
        meaning(getattr(nnx, name))(refused(f"flax.nnx.{name}", _BY_MEMORY, instead))
    variable = nnx.Variable
    meaning(variable.get_value)(get_value)
    meaning(variable.set_value)(set_value)
    meaning(variable.__getitem__)(lambda ctx, target, key: get_value(ctx, target, index=key))
    meaning(variable.__setitem__)(lambda ctx, target, key, value: set_value(ctx, target, value, index=key))
    meaning(variable.__setattr__)(object_setattr)
    update = "use Optax itself: its `init`, `update` and `apply_updates` take the module for weights"
    meaning(nnx.Optimizer.update)(refused("flax.nnx.Optimizer.update", _BY_MEMORY, update))


def get_value(ctx: Context, target: Abstract, *, index: Raw = None) -> Abstract:
    """What a variable holds, or a part of it."""
    engine = cast(Engine, ctx)
    raw = _raw_value(engine, target, "on_get_value")
    if index is None or _is_whole(index):
        return raw
    return getitem(engine, raw, cast(Abstract, index))


def set_value(ctx: Context, target: Abstract, value: Abstract, *, index: Raw = None) -> Abstract:
    """Stores into a variable: a new array, as all of JAX's are."""
    engine = cast(Engine, ctx)
    raw = _raw_value(engine, target, "on_set_value")
    if index is not None and not (_is_whole(index) and _are_alike(raw, value)):
        part = getitem(engine, engine.getattr(raw, "at"), cast(Abstract, index))
        value = engine.call(engine.getattr(part, "set"), [value])
    objects.set_field(engine, cast(Ref, target), "_raw_value", value)
    return NONE


def _raw_value(engine: Engine, target: Abstract, hook: str) -> Abstract:
    """The array of a variable; PS606 for one with hooks, and for one that is a reference of JAX's."""
    metadata = engine.known(engine.getattr(target, "_var_metadata"), "the metadata of a variable")
    if hook in metadata or metadata.get("hijax") or metadata.get("ref"):
        why, instead = "it has a hook, or is a reference", "use a plain variable"
        name = "a variable of flax.nnx"
        engine.fail(NotServed(span=engine.b.span, name=name, why=why, instead=instead))
    return engine.getattr(target, "_raw_value")


def _is_whole(index: Raw) -> bool:
    return isinstance(index, Const) and index.value is ...


def _are_alike(old: Abstract, new: Abstract) -> bool:
    return isinstance(old, Array) and isinstance(new, Array) and new.form is Form.JAX and old.type == new.type
