"""Modules of Flax: Linen's go to JAX as a whole, and what NNX does by taking modules apart is refused.

A Linen module is a frozen dataclass whose `init` and `apply` are pure functions of arrays: where it and all that it
holds are of the library, a call is one `JaxCall`. The code of a module of the program would be run by Flax itself, which
staged source cannot see through. NNX modules are objects, and are staged as such; a variable is an object that holds an
array.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from ..diagnostics.codes_calls import NotServed
from ..library.context import Context, Raw
from ..library.jaxtail import is_jax_callable, jax_call
from ..library.packages import package_of
from ..library.refusing import refused
from ..library.registry import late_meanings, meaning
from ..values.boundary import Form, Path
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


@late_meanings("flax.linen")
def declare_linen(linen: types.ModuleType) -> None:
    """Declares the meanings of Linen's modules."""
    for name in ("apply", "init", "init_with_output"):
        meaning(getattr(linen.Module, name))(_of_linen(name))


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


@dataclass(frozen=True)
class _Bound:
    """A method of a Linen module, for JAX to trace."""

    module: Any
    method: str

    @property
    def __name__(self) -> str:
        return f"{type(self.module).__name__}.{self.method}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.module, self.method)(*args, **kwargs)


def _of_linen(name: str) -> Callable[..., Abstract]:
    def call(ctx: Context, module: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
        engine = cast(Engine, ctx)
        made = _module(engine, module, name)
        return jax_call(engine, _Bound(made, name), args, kwargs)

    return call


def _module(engine: Engine, module: Abstract, method: str) -> Any:
    """The module itself; PS606 unless it is the caller's, and all of the library."""
    cell = module.cell if isinstance(module, Ref) else None
    world = [(path, made) for number, path, made in engine.externals.cells.values() if number == cell]
    name = f"flax.linen.Module.{method}"
    if not world:
        why = "the module is an argument, or is made in the staged function"
        instead = "make the module outside, and let the function refer to it"
        engine.fail(NotServed(span=engine.b.span, name=name, why=why, instead=instead))
    path, made = world[0]
    for part in _parts(engine, path, made):
        of_library = part is None or isinstance(part, _DATA) or package_of(part) in ("numpy", "ml_dtypes")
        if not of_library and package_of(part) != "flax" and not is_jax_callable(part):
            own = part.__name__ if callable(part) and hasattr(part, "__name__") else type(part).__name__
            why = f"Flax would run the code of `{own}`, which is the program's"
            instead = "write the module as a plain class, or as one of Equinox or NNX, or apply it outside"
            engine.fail(NotServed(span=engine.b.span, name=name, why=why, instead=instead))
    return made


_DATA = bool | int | float | complex | str | bytes


def _parts(engine: Engine, path: Path, part: Any) -> Iterator[Any]:
    """What a module holds, at any depth; the program is made anew when one of them changes."""
    if isinstance(part, tuple | list):
        for i, item in enumerate(part):
            yield from _parts(engine, path.item(i), item)
        return
    if isinstance(part, dict):
        for key, item in part.items():
            yield from _parts(engine, path.item(key), item)
        return
    read = engine.externals.value(path, part)
    if isinstance(part, float) and not isinstance(read, Const):
        engine.known(read, "a number that a module of Flax holds")
    yield part
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        for field in dataclasses.fields(part):
            if field.name not in ("parent", "name"):
                yield from _parts(engine, path.attribute(field.name), getattr(part, field.name))
