"""Equinox's modules: what their metaclass and their attribute hooks come to in a program.

A module is an object that takes attributes while it is made and none afterwards. Its methods are bound as Python binds
them: that Equinox makes pytrees of bound methods is seen only by who flattens one, which is refused here.
"""

from __future__ import annotations

import dataclasses
import types
from typing import cast

from ...diagnostics.codes_calls import UnsupportedClass
from ...diagnostics.diagnostic import DiagnosticError
from ...library.context import Context, Raw
from ...library.jax.carrying import array_leaf
from ...library.jax.pytrees import flatten, unflatten
from ...library.registry import late_meanings, meaning
from ...library.rules.refusing import refused
from ...values.boundary import Form
from ...values.lattice import NONE, Abstract, Array, Meaning, ObjectCell, Ref
from ..calls.meanings import object_getattribute
from ..core.engine import Engine
from ..objects import objects
from .equinox_trees import tree_at

_FOR_TRACERS = {
    "filter_jvp": "use `pystage.jvp`, or `jax.jvp` of the arrays that `equinox.partition` gives",
    "filter_closure_convert": "call the function itself",
    "filter_make_jaxpr": "call it outside of the staged function",
}
"""Functions of Equinox that look at JAX's own tracers, and what does the same."""


@late_meanings("equinox")
def declare(equinox: types.ModuleType) -> None:
    """Declares them once the program imports Equinox."""
    module = equinox.Module
    meaning(type(module).__call__)(construct)
    meaning(module.__getattribute__)(object_getattribute)
    meaning(module.__setattr__)(set_attribute)
    meaning(equinox.module_update_wrapper)(lambda ctx, wrapper: wrapper)
    meaning(equinox.tree_at)(tree_at)
    for name, instead in _FOR_TRACERS.items():
        why = "it looks at the tracers of JAX, which staged source has none of"
        meaning(getattr(equinox, name))(refused(f"equinox.{name}", why, instead))
    meaning(equinox.filter_jit)(filter_jit)
    meaning(type(equinox.filter_jit(len)).__call__)(call_jitted)


def construct(ctx: Context, cls: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """`Module(*args, **kwargs)`: converters run after `__init__`, then each class's `__check_init__`."""
    engine = cast(Engine, ctx)
    made = ctx.known(cls, "the class of a module")
    ref = Ref(engine.state.new_cell(ObjectCell(made, {})))
    engine.constructing.add(ref.cell)
    objects.initialise(engine, made, ref, args, kwargs)
    engine.constructing.discard(ref.cell)
    for field in dataclasses.fields(made):
        converter = field.metadata.get("converter")
        if converter is not None:
            value = engine.getattr(ref, field.name)
            converted = engine.call(engine.constant_object(converter), [value])
            objects.set_field(engine, ref, field.name, converted)
    for base in made.__mro__:
        check = vars(base).get("__check_init__")
        if check is not None:
            engine.call(objects.class_member(engine, base, "__check_init__", check), [ref])
    return ref


def filter_jit(ctx: Context, fun: Abstract, *, donate: Raw = "none") -> Abstract:
    """The function with `jax.Array`s for arrays, among its arguments and in its result; all else is as it is."""

    def arrays(inner: Context, value: Abstract) -> Abstract:
        leaves, tree = flatten(inner, value)
        return unflatten(inner, tree, [_array(inner, leaf) for leaf in leaves])

    def call(inner: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        given = [arrays(inner, a) for a in args]
        named = {k: arrays(inner, a) for k, a in kwargs.items()}
        return arrays(inner, inner.call(fun, given, named))

    return Meaning("jax.jit", call)


def call_jitted(ctx: Context, wrapper: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """A call of what `equinox.filter_jit` has made outside of staged source."""
    engine = cast(Engine, ctx)
    assert isinstance(wrapper, Ref)
    world = [(path, made) for cell, path, made in engine.externals.cells.values() if cell == wrapper.cell]
    if not world:
        why = "what it wraps is not known while compiling"
        raise DiagnosticError(UnsupportedClass(span=engine.b.span, name="equinox.filter_jit", why=why))
    path, made = world[0]
    function = engine.externals.value(path.attribute("__wrapped__"), made.__wrapped__)
    return ctx.call(filter_jit(ctx, function), args, kwargs)


def _array(ctx: Context, leaf: Abstract) -> Abstract:
    is_array = ctx.is_ndarray(leaf) or (isinstance(leaf, Array) and leaf.form is not Form.PYTHON)
    return array_leaf(ctx, leaf, "equinox.filter_jit") if is_array else leaf


def set_attribute(ctx: Context, target: Abstract, name: Abstract, value: Abstract) -> Abstract:
    """`module.name = value`: FrozenInstanceError but while the module is made."""
    engine = cast(Engine, ctx)
    key = ctx.known(name, "the name of an attribute")
    assert isinstance(target, Ref)
    if target.cell not in engine.constructing:
        engine.raise_(dataclasses.FrozenInstanceError(f"cannot assign to field '{key}'"))
    objects.set_field(engine, target, key, value)
    return NONE
