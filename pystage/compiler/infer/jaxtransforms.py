"""JAX's own transformations of functions of the program, in staged source: `jax.grad`, `jax.vmap` and the like.

They are the transformations of `transforms.py`, with what JAX does to the kinds of values: what is differentiated by,
or mapped, is a `jax.Array` in the function, and so is all that comes back. Options without a meaning here are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

import jax

from ..diagnostics.codes_calls import NotServed
from ..diagnostics.codes_jax import RefusedByJax
from ..diagnostics.diagnostic import DiagnosticError
from ..hlo.types import is_complex, is_floating
from ..library.carrying import array_leaf
from ..library.context import Context, Raw
from ..library.jaxjit import jitted
from ..library.jaxvalues import ints
from ..library.lax_control import as_arrays
from ..library.pytrees import flatten, unflatten
from ..library.registry import meaning
from ..values.lattice import FALSE, NONE, Abstract, Array, Const, Meaning, Ref, Tuple
from .calls import transformed
from .derivatives import directional, value_and_gradients
from .engine import Engine
from .mapping import mapped
from .pullbacks import pulled_back, recomputed
from .transforms import ZERO, counted, positions_of, square

Axes = Any


def _refuse(engine: Engine, name: str, why: str, instead: str) -> NoReturn:
    raise DiagnosticError(NotServed(span=engine.b.span, name=name, why=why, instead=instead))


def _only(engine: Engine, name: str, **options: Raw) -> None:
    """PS606 for options that were given and have no meaning here."""
    for option, given in options.items():
        if engine.known(given, f"{option} of {name}"):
            _refuse(engine, f"{option} of {name}", "pystage has no such option", "leave it out")


def _misuse(engine: Engine, text: str) -> NoReturn:
    raise DiagnosticError(RefusedByJax(span=engine.b.span, reason=text))


def _leaves(engine: Engine, value: Abstract, name: str) -> list[Array]:
    return [array_leaf(engine, leaf, name) for leaf in flatten(engine, value)[0]]


def _to_arrays(engine: Engine, function: Abstract, name: str, has_aux: bool = False) -> Meaning:
    """A function whose result, or the first part of it, is made of arrays."""

    def call(ctx: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        result = cast(Engine, ctx).call(function, args, kwargs)
        if not has_aux:
            return as_arrays(ctx, result, name)
        if not isinstance(result, Tuple) or len(result.items) != 2:
            return result
        leaves, tree = flatten(ctx, result.items[1])  # a copy, with the keys of dicts in JAX's order
        return Tuple((as_arrays(ctx, result.items[0], name), unflatten(ctx, tree, leaves)))

    return Meaning(name, call)


def _gradients(
    engine: Engine, fun: Abstract, argnums: Raw, has_aux: Raw, options: dict[str, Raw], with_value: bool
) -> Meaning:
    name = "jax.value_and_grad" if with_value else "jax.grad"
    _only(engine, name, **options)
    positions, several = positions_of(engine, argnums)
    aux = bool(engine.known(has_aux, f"has_aux of {name}"))

    def call(ctx: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        inner = cast(Engine, ctx)
        at = counted(positions, len(args))
        given = [as_arrays(ctx, a, name) if i in at else a for i, a in enumerate(args)]
        for i in at:
            if 0 <= i < len(given):
                _require_inexact(inner, given[i], name)
        function = _to_arrays(inner, fun, name, aux)
        value, found = value_and_gradients(inner, function, given, kwargs, at, aux)
        gradient = Tuple(tuple(found)) if several else found[0]
        if with_value:
            return Tuple((value, gradient))
        return Tuple((gradient, cast(Tuple, value).items[1])) if aux else gradient

    return Meaning(name, call)


def _require_inexact(engine: Engine, value: Abstract, name: str) -> None:
    for leaf in _leaves(engine, value, name):
        if not is_floating(leaf.dtype) and not is_complex(leaf.dtype):
            _misuse(engine, f"grad requires real- or complex-valued inputs, but got {leaf.dtype}")


@meaning(jax.grad)
def grad(
    ctx: Context,
    fun: Abstract,
    argnums: Raw = ZERO,
    has_aux: Raw = FALSE,
    holomorphic: Raw = FALSE,
    allow_int: Raw = FALSE,
    reduce_axes: Raw = NONE,
) -> Abstract:
    """The gradient, of arrays."""
    options = {"holomorphic": holomorphic, "allow_int": allow_int, "reduce_axes": reduce_axes}
    return _gradients(cast(Engine, ctx), fun, argnums, has_aux, options, with_value=False)


@meaning(jax.value_and_grad)
def value_and_grad(
    ctx: Context,
    fun: Abstract,
    argnums: Raw = ZERO,
    has_aux: Raw = FALSE,
    holomorphic: Raw = FALSE,
    allow_int: Raw = FALSE,
    reduce_axes: Raw = NONE,
) -> Abstract:
    """The value and the gradient, of arrays."""
    options = {"holomorphic": holomorphic, "allow_int": allow_int, "reduce_axes": reduce_axes}
    return _gradients(cast(Engine, ctx), fun, argnums, has_aux, options, with_value=True)


def _differentiable_arrays(engine: Engine, value: Abstract, name: str) -> Abstract:
    """A pytree of arrays of numbers that have derivatives; JAX has an element type of its own for the others."""
    made = as_arrays(engine, value, name)
    if not all(is_floating(x.dtype) or is_complex(x.dtype) for x in _leaves(engine, made, name)):
        _refuse(
            engine, name, "integers have derivatives of the type float0 there", "pass integers by a closure"
        )
    return made


@meaning(jax.jvp)
def jvp(ctx: Context, fun: Abstract, primals: Abstract, tangents: Abstract, has_aux: Raw = FALSE) -> Abstract:
    """The result and its directional derivative, of arrays."""
    engine = cast(Engine, ctx)
    _only(engine, "jax.jvp", has_aux=has_aux)
    listed = [engine.iterate(x) for x in (primals, tangents)]
    if listed[0] is None or listed[1] is None:
        _misuse(engine, "primal and tangent arguments to jax.jvp must be tuples or lists")
    given = [[_differentiable_arrays(engine, x, "jax.jvp") for x in each or ()] for each in listed]
    sides = [[x for value in each for x in _leaves(engine, value, "jax.jvp")] for each in given]
    for p, t in zip(*sides):
        if p.type != t.type:
            _misuse(engine, f"primal and tangent arguments to jax.jvp do not match: {p.type} and {t.type}")
    value, moved = directional(engine, _to_arrays(engine, fun, "jax.jvp"), given[0], given[1])
    return Tuple((value, _differentiable_arrays(engine, moved, "jax.jvp")))


@meaning(jax.vjp)
def vjp(
    ctx: Context, fun: Abstract, *primals: Abstract, has_aux: Raw = FALSE, reduce_axes: Raw = NONE
) -> Abstract:
    """The result and the pullback, of arrays."""
    engine = cast(Engine, ctx)
    name = "jax.vjp"
    _only(engine, name, reduce_axes=reduce_axes)
    aux = bool(engine.known(has_aux, "has_aux of jax.vjp"))
    given = [_differentiable_arrays(engine, x, name) for x in primals]
    value, pull, other = pulled_back(engine, _to_arrays(engine, fun, name, aux), given, aux)
    wanted = [x.type for x in _leaves(engine, value, name)]

    def pullback(ctx: Context, cotangent: Abstract) -> Abstract:
        inner = cast(Engine, ctx)
        ct = as_arrays(inner, cotangent, name)
        found = [x.type for x in _leaves(inner, ct, name)]
        if found != wanted:
            _misuse(inner, f"the pullback of jax.vjp takes {wanted}, not {found}")
        return as_arrays(inner, inner.call(pull, [ct]), name)

    made = Meaning("jax.vjp", pullback)
    return Tuple((value, made)) if other is None else Tuple((value, made, other))


def _derivative_of_array(
    engine: Engine, fun: Abstract, argnums: Raw, name: str, options: dict[str, Raw]
) -> Meaning:
    _only(engine, name, **options)
    positions, several = positions_of(engine, argnums)

    def call(ctx: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        inner = cast(Engine, ctx)
        at = counted(positions, len(args))
        given = [as_arrays(ctx, a, name) if i in at else a for i, a in enumerate(args)]
        function = _to_arrays(inner, fun, name)
        for i in at:
            _require_inexact(inner, given[i], name)
        result = _result_of(inner, function, given, kwargs)
        if not isinstance(result, Array) or any(isinstance(given[i], Ref | Tuple) for i in at):
            _refuse(
                inner, name, "its argument or its result is no array here", "put the numbers into one array"
            )
        if not all(is_floating(x.dtype) for x in (result, *[given[i] for i in at]) if isinstance(x, Array)):
            _refuse(inner, name, "its argument or its result is not real here", "differentiate real numbers")
        found = [square(inner, function, given, kwargs, p) for p in at]
        return as_arrays(inner, Tuple(tuple(found)) if several else found[0], name)

    return Meaning(name, call)


def _result_of(
    engine: Engine, function: Abstract, args: Sequence[Abstract], kwargs: dict[str, Abstract]
) -> Abstract:
    """What a call would give, in its own terms; nothing is done."""
    return transformed(engine, function, args, kwargs)[0].result


@meaning(jax.jacfwd)
def jacfwd(
    ctx: Context, fun: Abstract, argnums: Raw = ZERO, has_aux: Raw = FALSE, holomorphic: Raw = FALSE
) -> Abstract:
    """The Jacobian of an array by an array."""
    options = {"has_aux": has_aux, "holomorphic": holomorphic}
    return _derivative_of_array(cast(Engine, ctx), fun, argnums, "jax.jacfwd", options)


@meaning(jax.jacrev)
def jacrev(
    ctx: Context,
    fun: Abstract,
    argnums: Raw = ZERO,
    has_aux: Raw = FALSE,
    holomorphic: Raw = FALSE,
    allow_int: Raw = FALSE,
) -> Abstract:
    """The Jacobian; of a function that gives one number its gradient, in reverse."""
    engine = cast(Engine, ctx)
    options = {"has_aux": has_aux, "holomorphic": holomorphic, "allow_int": allow_int}
    forward = _derivative_of_array(engine, fun, argnums, "jax.jacrev", options)
    reverse = _gradients(engine, fun, argnums, FALSE, {}, with_value=False)

    def call(ctx: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        inner = cast(Engine, ctx)
        result = _result_of(inner, _to_arrays(inner, fun, "jax.jacrev"), args, kwargs)
        one = isinstance(result, Array) and not result.shape
        return inner.call(reverse if one else forward, args, kwargs)

    return Meaning("jax.jacrev", call)


@meaning(jax.hessian)
def hessian(
    ctx: Context, fun: Abstract, argnums: Raw = ZERO, has_aux: Raw = FALSE, holomorphic: Raw = FALSE
) -> Abstract:
    """The second derivative of an array by an array."""
    engine = cast(Engine, ctx)
    _only(engine, "jax.hessian", has_aux=has_aux, holomorphic=holomorphic)
    if isinstance(engine.known(argnums, "argnums of jax.hessian"), tuple | list):
        _refuse(engine, "argnums of jax.hessian", "pystage takes one of them", "give an int")
    return jacfwd(ctx, jacrev(ctx, fun, argnums), argnums)


@meaning(jax.vmap)
def vmap(
    ctx: Context,
    fun: Abstract,
    in_axes: Raw = ZERO,
    out_axes: Raw = ZERO,
    axis_name: Raw = NONE,
    axis_size: Raw = NONE,
    spmd_axis_name: Raw = NONE,
    sum_match: Raw = FALSE,
) -> Abstract:
    """The function of many lanes, of arrays."""
    engine = cast(Engine, ctx)
    options = {"axis_name": axis_name, "axis_size": axis_size, "spmd_axis_name": spmd_axis_name}
    _only(engine, "jax.vmap", **options, sum_match=sum_match)
    axes = engine.known(in_axes, "in_axes of jax.vmap")
    put = engine.known(out_axes, "out_axes of jax.vmap")
    if any(a is None for a in jax.tree.leaves(put, is_leaf=lambda a: a is None)):
        _refuse(
            engine, "None in out_axes of jax.vmap", "pystage maps every result", "take lane 0 after the call"
        )

    def call(ctx: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        inner = cast(Engine, ctx)
        each = axes if isinstance(axes, tuple | list) else [axes] * len(args)
        given = [
            a if i < len(each) and each[i] is None else as_arrays(ctx, a, "jax.vmap")
            for i, a in enumerate(args)
        ]
        named = {k: as_arrays(ctx, a, "jax.vmap") for k, a in kwargs.items()}
        result = mapped(inner, _to_arrays(inner, fun, "jax.vmap"), given, named, axes, put)
        return as_arrays(ctx, result, "jax.vmap")

    return Meaning("jax.vmap", call)


@meaning(jax.checkpoint, jax.remat)
def checkpoint(
    ctx: Context,
    fun: Abstract,
    *,
    prevent_cse: Raw = True,
    policy: Raw = None,
    static_argnums: Raw = (),
    static_argnames: Raw = (),
) -> Abstract:
    """The function under `jit`, of which the way back keeps nothing but the arguments.

    With a `policy`, what is kept is decided where the derivative is taken. That and `prevent_cse` change no result.
    """
    engine = cast(Engine, ctx)
    _only(engine, "jax.checkpoint", static_argnames=static_argnames)
    function = jitted(fun, frozenset(ints(ctx, static_argnums, "static_argnums of jax.checkpoint")))
    if not (policy is None or (isinstance(policy, Const) and policy.value is None)):
        return function

    def call(ctx: Context, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return recomputed(cast(Engine, ctx), function, args, kwargs)

    return Meaning("jax.checkpoint", call)
