"""Equinox's modules: the effects of their metaclass and attribute hooks.

A module is an object that accepts attributes during construction and none afterwards. Its methods are bound as Python
binds them; Equinox's bound methods are pytrees, and flattening one is refused.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from ...diagnostics.codes_calls import UnsupportedClass
from ...infer.interface import (
    Engine,
    captured,
    constant_object,
    found_at,
    initialise,
    is_under_construction,
    member_of,
    new_object,
    set_field,
    under_construction,
)
from ...library.context import Raw
from ...library.jax.loop_carries import array_leaf
from ...library.jax.pytrees import flatten, unflatten
from ...library.registry import declared, meaning
from ...library.rules.unsupported import refused
from ...values.boundary import Form
from ...values.lattice import NONE, Abstract, Array, Meaning
from .trees import tree_at

_FOR_TRACERS = {
    "filter_jvp": "use `pystage.jvp`, or `jax.jvp` of the arrays that `equinox.partition` gives",
    "filter_closure_convert": "call the function itself",
    "filter_make_jaxpr": "call it outside of the staged function",
}
"""Functions of Equinox that look at JAX's own tracers, and what does the same."""


def declare(equinox: types.ModuleType) -> None:
    """Declares them once the program imports Equinox."""
    module = equinox.Module
    meaning(type(module).__call__)(construct)
    plain_getattribute = declared(object.__getattribute__)
    assert plain_getattribute is not None
    meaning(module.__getattribute__)(plain_getattribute)
    meaning(module.__setattr__)(set_attribute)
    meaning(equinox.module_update_wrapper)(lambda ctx, wrapper: wrapper)
    meaning(equinox.tree_at)(tree_at)
    for name, instead in _FOR_TRACERS.items():
        why = "it looks at the tracers of JAX, which staged source has none of"
        meaning(getattr(equinox, name))(refused(f"equinox.{name}", why, instead))
    meaning(equinox.filter_jit)(filter_jit)
    meaning(type(equinox.filter_jit(len)).__call__)(call_jitted)


def construct(ctx: Engine, /, cls: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """`Module(*args, **kwargs)`: converters run after `__init__`, then each class's `__check_init__`."""
    made: Any = ctx.known(cls, "the class of a module")
    ref = new_object(ctx, made, {})
    with under_construction(ctx, ref):
        initialise(ctx, made, ref, args, kwargs)
    for field in dataclasses.fields(made):
        converter = field.metadata.get("converter")
        if converter is not None:
            value = ctx.getattr(ref, field.name)
            converted = ctx.call(constant_object(ctx, converter), [value])
            set_field(ctx, ref, field.name, converted)
    for base in made.__mro__:
        if vars(base).get("__check_init__") is not None:
            ctx.call(member_of(ctx, base, "__check_init__"), [ref])
    return ref


def filter_jit(ctx: Engine, fun: Abstract, *, donate: Raw = "none") -> Abstract:
    """The function with `jax.Array`s for arrays, among its arguments and in its result; all else is as it is."""

    def arrays(inner: Engine, value: Abstract) -> Abstract:
        leaves, tree = flatten(inner, value)
        return unflatten(inner, tree, [_array(inner, leaf) for leaf in leaves])

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        given = [arrays(inner, a) for a in args]
        named = {k: arrays(inner, a) for k, a in kwargs.items()}
        return arrays(inner, inner.call(fun, given, named))

    return Meaning("jax.jit", call)


def call_jitted(ctx: Engine, /, wrapper: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """A call of what `equinox.filter_jit` has made outside of staged source."""
    found = found_at(ctx, wrapper)
    if found is None:
        why = "what it wraps is not known while compiling"
        ctx.fail(UnsupportedClass(span=ctx.span, name="equinox.filter_jit", why=why))
    path, made = found
    function = captured(ctx, path.attribute("__wrapped__"), made.__wrapped__)
    return ctx.call(filter_jit(ctx, function), args, kwargs)


def _array(ctx: Engine, leaf: Abstract) -> Abstract:
    is_array = ctx.is_ndarray(leaf) or (isinstance(leaf, Array) and leaf.form is not Form.PYTHON)
    return array_leaf(ctx, leaf, "equinox.filter_jit") if is_array else leaf


def set_attribute(ctx: Engine, target: Abstract, name: Abstract, value: Abstract) -> Abstract:
    """`module.name = value`: FrozenInstanceError but while the module is made."""
    key = ctx.known(name, "the name of an attribute")
    if not is_under_construction(ctx, target):
        ctx.raise_(dataclasses.FrozenInstanceError(f"cannot assign to field '{key}'"))
    set_field(ctx, target, key, value)
    return NONE
