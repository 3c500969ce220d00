"""Modules of Flax NNX, staged as the objects that they are; a variable is an object that holds an array.

`nnx.grad` is `jax.grad` with respect to the arrays of the selected variables. Functions that split modules and merge them
run on shells (`infer/objects/shells.py`). `nnx.jit` of a function is the function.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, cast

import jax

from ....diagnostics.codes_calls import NotServed
from ....infer.interface import (
    Engine,
    ObjectModel,
    all_fields_of,
    call_on_shells,
    class_of,
    entries_of,
    getitem,
    is_dict,
    new_dict,
    new_object,
    object_of,
    set_field,
)
from ....library.context import Raw
from ....library.jax.lax.control import as_arrays
from ....library.registry import declared, meaning
from ....library.rules.unsupported import refused
from ....values.boundary import Form
from ....values.lattice import FALSE, NONE, Abstract, Array, Const, ListCell, Meaning, Ref, Tuple

_ON_SHELLS = (
    "split", "merge", "state", "update", "pop", "graphdef", "as_pure", "filter_state", "split_state", "merge_state",
    "to_pure_dict", "to_flat_state", "from_flat_state", "replace_by_pure_dict",
)  # fmt: skip
"""Functions of NNX that take modules apart, or put them together, and compute nothing."""
_ITERATORS = "iter_children", "iter_graph", "iter_modules"
"""Generators of NNX that give the parts of a module, as `module.train()` and `module.eval()` go over them."""
_NOT_SERVED = {
    "clone": "use `nnx.merge(*nnx.split(module))`, or clone outside of the staged function",
    "vmap": "use `pystage.vmap` of a function that calls the module",
    "scan": "write a loop",
    "remat": "use `pystage.checkpoint`",
    "custom_vjp": "use `pystage.custom_vjp`",
}
"""Functions of NNX that are refused, and what does the same."""


def declare(nnx: types.ModuleType) -> None:
    """Declares what functions of NNX mean, and which are refused."""
    for name, instead in _NOT_SERVED.items():
        why = "it takes modules apart by their places in memory"
        meaning(getattr(nnx, name))(refused(f"flax.nnx.{name}", why, instead))
    for name in _ON_SHELLS:
        meaning(getattr(nnx, name))(_on_shells(getattr(nnx, name), f"flax.nnx.{name}"))
    for name in _ITERATORS:
        meaning(getattr(nnx, name))(_iterator(getattr(nnx, name), f"flax.nnx.{name}"))
    meaning(nnx.Dict.__iter__)(_iterator(nnx.Dict.__iter__, "flax.nnx.Dict"))
    meaning(nnx.is_data)(_is_data)
    meaning(nnx.Pytree._check_value)(_check_value)
    meaning(nnx.grad)(functools.partial(_gradients, with_value=False))
    meaning(nnx.value_and_grad)(functools.partial(_gradients, with_value=True))
    meaning(nnx.jit)(_jit)
    meaning(type(nnx.jit(len)).__call__)(_call_jitted)
    variable = nnx.Variable
    why, instead = "making one notes in which trace of JAX's it is made", "make it outside, and pass it in"
    for cls, name in ((nnx.Pytree, "a module or an optimiser"), (variable, "a variable")):
        meaning(type(cls).__call__)(refused(f"{name} of flax.nnx", why, instead))
    meaning(variable.get_value)(get_value)
    meaning(variable.set_value)(set_value)
    meaning(variable.__getitem__)(lambda ctx, target, key: get_value(ctx, target, index=key))
    meaning(variable.__setitem__)(lambda ctx, target, key, value: set_value(ctx, target, value, index=key))
    plain_setattr = declared(object.__setattr__)
    assert plain_setattr is not None
    meaning(variable.__setattr__)(plain_setattr)


def _on_shells(function: Callable[..., Any], name: str) -> Callable[..., Abstract]:
    """The meaning of a function of NNX that only moves arrays about."""

    def call(ctx: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return call_on_shells(ctx, _STRUCTURE, name, function, args, kwargs)

    return call


def _iterator(function: Callable[..., Iterator[Any]], name: str) -> Callable[..., Abstract]:
    """The meaning of a generator of NNX: an iterator over all that it gives."""
    parts = _on_shells(lambda *args, **kwargs: list(function(*args, **kwargs)), name)

    def call(ctx: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return ctx.call(Const(iter), [parts(ctx, *args, **kwargs)])

    return call


def _is_data(ctx: Engine, value: Abstract) -> Abstract:
    """`nnx.is_data(value)`: JAX's tracers are none to NNX, so JAX cannot tell."""
    if isinstance(value, Array):
        return Const(value.form is Form.JAX)
    return _on_shells(sys.modules["flax.nnx"].is_data, "flax.nnx.is_data")(ctx, value)


def _check_value(
    ctx: Engine, module: Abstract, name: Abstract, value: Abstract, status: Abstract
) -> Abstract:
    """What NNX checks where an attribute of a module is assigned; PS606 where it refuses the value: it names its class."""
    if isinstance(value, Array) and value.form is not Form.JAX:
        return NONE  # a number is no data

    def check(*args: Any) -> None:
        try:
            sys.modules["flax.nnx"].Pytree._check_value(*args)
        except ValueError as error:
            raise TypeError(*error.args) from error

    return _on_shells(check, "an attribute of a flax.nnx module")(ctx, module, name, value, status)


def _node_classes() -> tuple[type, ...]:
    """Classes of NNX whose instances hold arrays."""
    nnx: Any = sys.modules["flax.nnx"]
    return nnx.Pytree, nnx.Variable, nnx.State


def _static_fields(shell: Callable[[Abstract], Any], fields: Mapping[str, Abstract]) -> Container[str]:
    """The attributes of a module that NNX has noted as no data."""
    kinds = fields.get("_pytree__nodes")
    nodes = {} if kinds is None else shell(kinds)
    return {name for name in fields if not nodes.get(name, True)}


_STRUCTURE = ObjectModel("flax", "NNX", _node_classes, _static_fields)


def _jit(ctx: Engine, fun: Abstract, *, static_argnums: Raw = None, static_argnames: Raw = None) -> Abstract:
    """`nnx.jit(fun)`: the function itself, a part of the program, with arrays for numbers."""
    if any(ctx.known(given, "which arguments are static") for given in (static_argnums, static_argnames)):
        why, instead = "it has static arguments", "call the function itself: it is a part of the program"
        ctx.fail(NotServed(span=ctx.span, name="flax.nnx.jit", why=why, instead=instead))

    def arrays(value: Abstract) -> Abstract:
        return as_arrays(ctx, value, "nnx.jit") if isinstance(value, Array | Const) else value

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        given = [arrays(a) for a in args]
        return arrays(inner.call(fun, given, {k: arrays(v) for k, v in kwargs.items()}))

    return Meaning("nnx.jit", call)


def _call_jitted(ctx: Engine, /, self: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """A call of a function that was decorated with `nnx.jit`."""
    static = ctx.getattr(self, "static_argnums")
    return ctx.call(_jit(ctx, ctx.getattr(self, "fun"), static_argnums=static), args, kwargs)


def _gradients(
    ctx: Engine,
    /,
    f: Abstract,
    *,
    argnums: Raw = 0,
    has_aux: Raw = FALSE,
    with_value: bool,
    **options: Abstract,
) -> Abstract:
    """`nnx.grad` and `nnx.value_and_grad`: by the variables of modules that a filter chooses, `nnx.Param` if none does."""
    if options:
        name = f"{next(iter(options))} of flax.nnx.grad"
        why, instead = "pystage has no such option", "leave it out"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    listed = ctx.iterate(argnums) if _is_sequence(ctx, argnums) else None
    chosen = [_chosen(ctx, each) for each in (listed if listed is not None else [argnums])]
    transform = Const(jax.value_and_grad if with_value else jax.grad)

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        parts = [_Differentiated(inner, args[position], which) for position, which in chosen]
        count = len(parts)

        def moved(within: Engine, *given: Abstract, **named: Abstract) -> Abstract:
            own = list(given[count:])
            for (position, _), part, values in zip(chosen, parts, given):
                own[position] = part.with_values(within, values, own[position])
            return within.call(f, own, named)

        by = Const(tuple(range(count)))
        derivative = inner.call(transform, [Meaning("nnx.grad", moved), by], {"has_aux": has_aux})
        with inner.callees.trace(0):
            found = inner.call(derivative, [*[part.values for part in parts], *args], kwargs)
        return _in_slopes(
            found, with_value, has_aux, lambda slopes: _slopes(inner, parts, slopes, listed is None)
        )

    return Meaning("nnx.grad", call)


def _slopes(ctx: Engine, parts: Sequence[_Differentiated], slopes: Abstract, single: bool) -> Abstract:
    made = [part.like(ctx, each) for part, each in zip(parts, cast(Tuple, slopes).items, strict=True)]
    return made[0] if single else Tuple(tuple(made))


def _in_slopes(
    found: Abstract, with_value: bool, has_aux: Raw, change: Callable[[Abstract], Abstract]
) -> Abstract:
    """The result of a derivative with its slopes changed."""
    aux = isinstance(has_aux, Const) and bool(has_aux.value)
    if not with_value and not aux:
        return change(found)
    first, second = cast(Tuple, found).items
    return Tuple((first, change(second))) if with_value else Tuple((change(first), second))


def _is_sequence(ctx: Engine, value: Raw) -> bool:
    """True for a tuple or a list, of numbers or of `DiffState`s."""
    if isinstance(value, Ref):
        return isinstance(ctx.state.get(value.cell), ListCell)
    return isinstance(value, Tuple) or (isinstance(value, Const) and isinstance(value.value, tuple))


def _chosen(ctx: Engine, argnum: Raw) -> tuple[int, Abstract]:
    """Which argument, and the filter for its variables: of a number or a `DiffState`."""
    if object_of(ctx, argnum) is not None:
        position = ctx.known(ctx.getattr(argnum, "argnum"), "argnums of nnx.grad")
        return position, ctx.getattr(argnum, "filter")
    return ctx.known(argnum, "argnums of nnx.grad"), Const(sys.modules["flax.nnx"].Param)


class _Differentiated:
    """The differentiated part of an argument: the variables of a module, else the argument itself."""

    def __init__(self, ctx: Engine, argument: Abstract, which: Abstract) -> None:
        nnx = sys.modules["flax.nnx"]
        cell = object_of(ctx, argument)
        self._state: Abstract | None = None
        self._variables: list[Ref] = []
        self.values = argument
        if cell is not None and issubclass(cell.cls, nnx.Pytree | nnx.Variable):
            self._state = ctx.call(Const(nnx.state), [argument, which])
            self._variables = list(_variables(ctx, self._state))
            self.values = Tuple(tuple([ctx.getattr(v, "_raw_value") for v in self._variables]))

    def with_values(self, ctx: Engine, values: Abstract, argument: Abstract) -> Abstract:
        """The argument with other values."""
        if self._state is None:
            return values
        for variable, value in zip(self._variables, cast(Tuple, values).items, strict=True):
            set_field(ctx, variable, "_raw_value", value)
        return argument

    def like(self, ctx: Engine, slopes: Abstract) -> Abstract:
        """The state of a module that holds slopes, in variables of their own."""
        if self._state is None:
            return slopes
        found = {v.cell: slope for v, slope in zip(self._variables, cast(Tuple, slopes).items, strict=True)}
        return _copied(ctx, self._state, found)


def _variables(ctx: Engine, state: Abstract) -> Iterator[Ref]:
    """The variables in a state, in order."""
    if is_dict(ctx, state):
        for part in entries_of(ctx, state).values():
            yield from _variables(ctx, part)
    elif issubclass(class_of(ctx, state), sys.modules["flax.nnx"].State):
        yield from _variables(ctx, ctx.getattr(state, "_mapping"))
    else:
        yield cast(Ref, state)


def _copied(ctx: Engine, part: Abstract, slopes: dict[int, Abstract]) -> Abstract:
    """A new state, with slopes in place of the values of its variables."""
    ref = cast(Ref, part)
    if is_dict(ctx, ref):
        return new_dict(ctx, {key: _copied(ctx, x, slopes) for key, x in entries_of(ctx, ref).items()})
    fields = all_fields_of(ctx, ref)
    if ref.cell in slopes:
        changed = {"_raw_value": slopes[ref.cell]}
    else:
        changed = {"_mapping": _copied(ctx, fields["_mapping"], slopes)}
    return new_object(ctx, class_of(ctx, ref), {**fields, **changed})


def get_value(ctx: Engine, target: Abstract, *, index: Raw = None) -> Abstract:
    """The value of a variable, or a part of it."""
    raw = _raw_value(ctx, target, "on_get_value")
    if index is None or _is_whole(index):
        return raw
    return getitem(ctx, raw, cast(Abstract, index))


def set_value(ctx: Engine, target: Abstract, value: Abstract, *, index: Raw = None) -> Abstract:
    """Stores into a variable: a new array, as all of JAX's are."""
    raw = _raw_value(ctx, target, "on_set_value")
    if index is not None and not (_is_whole(index) and _are_alike(raw, value)):
        part = getitem(ctx, ctx.getattr(raw, "at"), cast(Abstract, index))
        value = ctx.call(ctx.getattr(part, "set"), [value])
    set_field(ctx, target, "_raw_value", value)
    return NONE


def _raw_value(ctx: Engine, target: Abstract, hook: str) -> Abstract:
    """The array of a variable; PS606 for one with hooks, and for one that is a reference of JAX's."""
    metadata = ctx.known(ctx.getattr(target, "_var_metadata"), "the metadata of a variable")
    if hook in metadata or metadata.get("hijax") or metadata.get("ref"):
        why, instead = "it has a hook, or is a reference", "use a plain variable"
        name = "a variable of flax.nnx"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    return ctx.getattr(target, "_raw_value")


def _is_whole(index: Raw) -> bool:
    return isinstance(index, Const) and index.value is ...


def _are_alike(old: Abstract, new: Abstract) -> bool:
    return isinstance(old, Array) and isinstance(new, Array) and new.form is Form.JAX and old.type == new.type
