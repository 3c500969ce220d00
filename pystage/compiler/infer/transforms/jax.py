"""JAX's own transformations in staged source: `jax.grad`, `jax.vmap` and the like.

They are the transformations of `public.py` with JAX's conventions: a differentiated or mapped argument is a `jax.Array` in
the function, and so are all results. Options without a meaning here are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import PyTreeDef, tree_leaves, tree_map, tree_unflatten

from ...ad.calculus import CalculusBuilder
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_jax import RefusedByJax
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.types import ArrayType, is_complex, is_floating
from ...library.context import Raw
from ...library.jax.functions.jit import jitted
from ...library.jax.lax.control import as_arrays
from ...library.jax.loop_carries import array_leaf, origin_of
from ...library.jax.pytrees import exposed, flatten, unflatten
from ...library.registry import meaning
from ...library.rules.jax import ints, is_jax
from ...values.boundary import Form
from ...values.lattice import FALSE, NONE, Abstract, Array, Const, DictCell, Meaning, Ref, Tuple
from ..calls.calls import transformed
from ..core.engine import Engine
from .derivatives import directional, value_and_gradients
from .jacobians import jacobians
from .mapping import mapped
from .public import ZERO, counted, positions_of
from .pullbacks import pulled_back, recomputed

Axes = Any


def _refuse(engine: Engine, name: str, why: str, instead: str) -> NoReturn:
    raise DiagnosticError(NotServed(span=engine.b.span, name=name, why=why, instead=instead))


def _only(engine: Engine, /, name: str, **options: Raw) -> None:
    """Raises PS606 for options that were given and have no meaning here."""
    for option, given in options.items():
        if engine.known(given, f"{option} of {name}"):
            _refuse(engine, f"{option} of {name}", "pystage has no such option", "leave it out")


def _misuse(engine: Engine, text: str) -> NoReturn:
    raise DiagnosticError(RefusedByJax(span=engine.b.span, reason=text))


def _leaves(engine: Engine, value: Abstract, name: str) -> list[Array]:
    return [array_leaf(engine, leaf, name) for leaf in flatten(engine, value)[0]]


class _Flat:
    """A function of the leaves of some arguments, as tuples of arrays, which gives the leaves of its result."""

    def __init__(self, name: str, function: Abstract, has_aux: bool = False) -> None:
        self._name = name
        self._function = function
        self._has_aux = has_aux
        self._trees: dict[int, PyTreeDef] = {}
        self._are_numpy: dict[int, list[bool]] = {}
        self._result: PyTreeDef | None = None
        self.hands_on = False
        """Whether one of its results is a leaf of an argument that is none of JAX's."""
        self.meaning = Meaning(name, self._call)

    def given(self, engine: Engine, position: int, value: Abstract) -> Tuple:
        """The leaves of an argument."""
        leaves, self._trees[position] = flatten(engine, value)
        self._are_numpy[position] = [not is_jax(leaf) for leaf in leaves]
        return Tuple(tuple([array_leaf(engine, leaf, self._name) for leaf in leaves]))

    def like(self, engine: Engine, position: int, leaves: Abstract) -> Abstract:
        """The structure of an argument with other leaves, those of a derivative by it."""
        return unflatten(engine, self._trees[position], cast(Tuple, leaves).items)

    def tree_of(self, position: int) -> PyTreeDef:
        """The structure of an argument."""
        return self._trees[position]

    def result(self, engine: Engine, leaves: Abstract) -> Abstract:
        """What the function gives, with these leaves."""
        assert self._result is not None
        return unflatten(engine, self._result, cast(Tuple, leaves).items)

    @property
    def result_tree(self) -> PyTreeDef | None:
        """The structure of what the function gives."""
        return self._result

    def _call(self, engine: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        own = [self.like(engine, i, a) if i in self._trees else a for i, a in enumerate(args)]
        result = engine.call(self._function, own, kwargs)
        if not self._has_aux:
            leaves = self._leaves(engine, result)
            of_numpy = {
                leaf.value
                for i, are_numpy in self._are_numpy.items()
                for leaf, is_numpy in zip(cast(Tuple, args[i]).items, are_numpy, strict=True)
                if is_numpy and isinstance(leaf, Array)
            }
            self.hands_on = any(isinstance(x, Array) and origin_of(x.value) in of_numpy for x in leaves.items)
            return leaves
        if not isinstance(result, Tuple) or len(result.items) != 2:
            return result
        inner, tree = flatten(engine, result.items[1])  # a copy, with the keys of dicts in JAX's order
        return Tuple((self._leaves(engine, result.items[0]), unflatten(engine, tree, inner)))

    def _leaves(self, engine: Engine, value: Abstract) -> Tuple:
        leaves, self._result = flatten(engine, value)
        return Tuple(tuple([array_leaf(engine, leaf, self._name) for leaf in leaves]))


def _one_number(flat: _Flat, has_aux: bool) -> Meaning:
    """The function with its only leaf for its result, if it has one."""

    def call(ctx: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        result = ctx.call(flat.meaning, args, kwargs)
        value = cast(Tuple, result).items[0] if has_aux else result
        if isinstance(value, Tuple) and len(value.items) == 1:
            value = value.items[0]
        return Tuple((value, cast(Tuple, result).items[1])) if has_aux else value

    return Meaning("jax.grad", call)


def _gradients(
    engine: Engine, fun: Abstract, argnums: Raw, has_aux: Raw, options: dict[str, Raw], with_value: bool
) -> Meaning:
    name = "jax.value_and_grad" if with_value else "jax.grad"
    _only(engine, name, **options)
    positions, several = positions_of(engine, argnums)
    aux = bool(engine.known(has_aux, f"has_aux of {name}"))

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        at = counted(positions, len(args))
        flat = _Flat(name, fun, aux)
        given = [flat.given(inner, i, a) if i in at else a for i, a in enumerate(args)]
        for i in at:
            if 0 <= i < len(given):
                _require_inexact(inner, given[i], name)
        value, slopes = value_and_gradients(inner, _one_number(flat, aux), given, kwargs, at, aux)
        found = [flat.like(inner, i, slope) for i, slope in zip(at, slopes)]
        gradient = Tuple(tuple(found)) if several else found[0]
        if with_value:
            return Tuple((value, gradient))
        return Tuple((gradient, cast(Tuple, value).items[1])) if aux else gradient

    return Meaning(name, call)


def _require_inexact(engine: Engine, value: Abstract, name: str) -> None:
    for leaf in _leaves(engine, value, name):
        if not is_floating(leaf.dtype) and not is_complex(leaf.dtype):
            _misuse(engine, f"grad requires real- or complex-valued inputs, but got {leaf.dtype}")


def _declare_gradient(function: Any, with_value: bool, what: str) -> None:
    """Declares `jax.grad` or `jax.value_and_grad`."""

    def call(
        ctx: Engine,
        fun: Abstract,
        argnums: Raw = ZERO,
        has_aux: Raw = FALSE,
        holomorphic: Raw = FALSE,
        allow_int: Raw = FALSE,
        reduce_axes: Raw = NONE,
    ) -> Abstract:
        options = {"holomorphic": holomorphic, "allow_int": allow_int, "reduce_axes": reduce_axes}
        return _gradients(ctx, fun, argnums, has_aux, options, with_value)

    call.__name__, call.__doc__ = function.__name__, what
    meaning(function)(call)


_declare_gradient(jax.grad, False, "The gradient, of arrays.")
_declare_gradient(jax.value_and_grad, True, "The value and the gradient, of arrays.")


def _arrays_of(values: Sequence[Abstract]) -> list[Array]:
    return [cast(Array, x) for value in values for x in cast(Tuple, value).items]


def _require_no_integers(engine: Engine, name: str, values: Sequence[Abstract]) -> None:
    """Raises PS606 for leaves that have no derivative: JAX has an element type of its own for theirs."""
    if not all(is_floating(x.dtype) or is_complex(x.dtype) for x in _arrays_of(values)):
        _refuse(
            engine, name, "integers have derivatives of the type float0 there", "pass integers by a closure"
        )


@meaning(jax.jvp)
def jvp(
    engine: Engine, fun: Abstract, primals: Abstract, tangents: Abstract, has_aux: Raw = FALSE
) -> Abstract:
    """The result and its directional derivative, of arrays."""
    _only(engine, "jax.jvp", has_aux=has_aux)
    listed = [engine.iterate(x) for x in (primals, tangents)]
    if listed[0] is None or listed[1] is None:
        _misuse(engine, "primal and tangent arguments to jax.jvp must be tuples or lists")
    flat, other = _Flat("jax.jvp", fun), _Flat("jax.jvp", fun)
    ours = [flat.given(engine, i, x) for i, x in enumerate(listed[0])]
    theirs = [other.given(engine, i, x) for i, x in enumerate(listed[1])]
    if len(ours) != len(theirs) or any(flat.tree_of(i) != other.tree_of(i) for i in range(len(ours))):
        _misuse(engine, "primal and tangent arguments to jax.jvp do not have the same structure")
    for p, t in zip(_arrays_of(ours), _arrays_of(theirs)):
        if p.type != t.type:
            _misuse(engine, f"primal and tangent arguments to jax.jvp do not match: {p.type} and {t.type}")
    _require_no_integers(engine, "jax.jvp", ours)
    value, moved = directional(engine, flat.meaning, ours, theirs)
    _require_no_integers(engine, "jax.jvp", [moved])
    return Tuple((flat.result(engine, value), flat.result(engine, moved)))


@meaning(jax.vjp)
def vjp(
    engine: Engine, fun: Abstract, *primals: Abstract, has_aux: Raw = FALSE, reduce_axes: Raw = NONE
) -> Abstract:
    """The result and the pullback, of arrays."""
    name = "jax.vjp"
    _only(engine, name, reduce_axes=reduce_axes)
    aux = bool(engine.known(has_aux, "has_aux of jax.vjp"))
    flat = _Flat(name, fun, aux)
    given = [flat.given(engine, i, x) for i, x in enumerate(primals)]
    _require_no_integers(engine, name, given)
    value, pull, other = pulled_back(engine, flat.meaning, given, aux)
    wanted = [x.type for x in _arrays_of([value])]

    def pullback(inner: Engine, cotangent: Abstract) -> Abstract:
        leaves, tree = flatten(inner, cotangent)
        ct = [array_leaf(inner, leaf, name) for leaf in leaves]
        if tree != flat.result_tree or [x.type for x in ct] != wanted:
            _misuse(inner, f"the pullback of jax.vjp takes {wanted}, not {[x.type for x in ct]}")
        found = cast(Tuple, inner.call(pull, [Tuple(tuple(ct))]))
        return Tuple(tuple([flat.like(inner, i, each) for i, each in enumerate(found.items)]))

    result, made = flat.result(engine, value), Meaning("jax.vjp", pullback)
    return Tuple((result, made)) if other is None else Tuple((result, made, other))


def _of_arrays(function: Abstract, name: str, has_aux: bool) -> Meaning:
    """A function whose result, or the first part of it, is made of arrays."""

    def call(ctx: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        result = ctx.call(function, args, kwargs)
        if has_aux and isinstance(result, Tuple) and result.items:
            return Tuple((as_arrays(ctx, result.items[0], name), *result.items[1:]))
        return result if has_aux else as_arrays(ctx, result, name)

    return Meaning(name, call)


def _derivative_of_array(
    engine: Engine, fun: Abstract, argnums: Raw, has_aux: Raw, name: str, options: dict[str, Raw]
) -> Meaning:
    _only(engine, name, **options)
    positions, several = positions_of(engine, argnums)
    aux = bool(engine.known(has_aux, f"has_aux of {name}"))

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        at = counted(positions, len(args))
        given = [as_arrays(inner, a, name) if i in at else a for i, a in enumerate(args)]
        for i in at:
            _require_inexact(inner, given[i], name)
        if any(isinstance(given[i], Ref | Tuple) for i in at):
            _refuse(inner, name, "its argument is no array here", "put the numbers into one array")
        result, found = jacobians(inner, _of_arrays(fun, name, aux), given, kwargs, at, aux)
        for value in (_first(result, aux), *[given[i] for i in at]):
            if isinstance(value, Array) and not is_floating(value.dtype):
                why = "its argument or its result is not real here"
                _refuse(inner, name, why, "differentiate real numbers")
        made = as_arrays(inner, Tuple(tuple(found)) if several else found[0], name)
        return Tuple((made, cast(Tuple, result).items[1])) if aux else made

    return Meaning(name, call)


def _first(result: Abstract, has_aux: bool) -> Abstract:
    """The part of a result that is differentiated."""
    return result.items[0] if has_aux and isinstance(result, Tuple) and result.items else result


def _result_of(
    engine: Engine, function: Abstract, args: Sequence[Abstract], kwargs: dict[str, Abstract]
) -> Abstract:
    """The result of a call in its own terms; nothing is applied."""
    return transformed(engine, function, args, kwargs)[0].result


@meaning(jax.eval_shape)
def eval_shape(engine: Engine, /, fun: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """The shapes and types of the result of a call, as `jax.ShapeDtypeStruct`s; nothing is computed."""
    name = "jax.eval_shape"
    positional, named = Tuple(tuple(args)), Ref(engine.state.new_cell(DictCell(dict(kwargs))))
    leaves, tree = flatten(engine, Tuple((positional, named)))
    whole = unflatten(engine, tree, [_described(engine, leaf) for leaf in leaves])

    def call(inner: Engine, both: Abstract) -> Abstract:
        positional, named = cast(Tuple, both).items
        entries = cast(DictCell, inner.cell(cast(Ref, named))).entries
        return inner.call(fun, cast(Tuple, positional).items, entries)

    flat = _Flat(name, Meaning(name, call))
    summary, _ = transformed(engine, flat.meaning, [flat.given(engine, 0, whole)], {})
    if not isinstance(summary.result, Tuple) or flat.result_tree is None:
        _misuse(engine, "the function given to jax.eval_shape raises an exception")
    found = [cast(Array, x) for x in summary.result.items]
    shapes = [Const(jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak)) for x in found]
    return unflatten(engine, flat.result_tree, shapes)


def _described(engine: Engine, leaf: Abstract) -> Abstract:
    """An array of the shape and type of a leaf."""
    if isinstance(leaf, Const) and isinstance(leaf.value, jax.ShapeDtypeStruct):
        struct = leaf.value
        zeros = CalculusBuilder(engine.b).zeros(ArrayType(np.dtype(struct.dtype), struct.shape))
        return Array(zeros, Form.JAX, struct.weak_type)
    return leaf


@meaning(jax.jacfwd)
def jacfwd(
    ctx: Engine, fun: Abstract, argnums: Raw = ZERO, has_aux: Raw = FALSE, holomorphic: Raw = FALSE
) -> Abstract:
    """The Jacobian of an array by an array."""
    options = {"holomorphic": holomorphic}
    return _derivative_of_array(ctx, fun, argnums, has_aux, "jax.jacfwd", options)


@meaning(jax.jacrev, jax.jacobian)
def jacrev(
    engine: Engine,
    fun: Abstract,
    argnums: Raw = ZERO,
    has_aux: Raw = FALSE,
    holomorphic: Raw = FALSE,
    allow_int: Raw = FALSE,
) -> Abstract:
    """The Jacobian; of a function that gives one number its gradient, in reverse."""
    options = {"holomorphic": holomorphic, "allow_int": allow_int}
    forward = _derivative_of_array(engine, fun, argnums, has_aux, "jax.jacrev", options)
    reverse = _gradients(engine, fun, argnums, has_aux, {}, with_value=False)
    aux = bool(engine.known(has_aux, "has_aux of jax.jacrev"))

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        result = _first(_result_of(inner, _of_arrays(fun, "jax.jacrev", aux), args, kwargs), aux)
        one = isinstance(result, Array) and not result.shape
        if not one and inner.axes.checked:
            why = "cotangents are summed over devices, and pystage has the Jacobian from tangents"
            _refuse(inner, "jax.jacrev of an array inside shard_map", why, "take jax.jacfwd")
        return inner.call(reverse if one else forward, args, kwargs)

    return Meaning("jax.jacrev", call)


@meaning(jax.hessian)
def hessian(
    engine: Engine, fun: Abstract, argnums: Raw = ZERO, has_aux: Raw = FALSE, holomorphic: Raw = FALSE
) -> Abstract:
    """The second derivative of an array by an array."""
    _only(engine, "jax.hessian", holomorphic=holomorphic)
    if isinstance(engine.known(argnums, "argnums of jax.hessian"), tuple | list):
        _refuse(engine, "argnums of jax.hessian", "pystage takes one of them", "give an int")
    return jacfwd(engine, jacrev(engine, fun, argnums, has_aux), argnums, has_aux)


def _known_axes(engine: Engine, axes: Raw, what: str) -> Axes:
    """Integers and None in any structure of JAX's, as Python has it."""
    return tree_map(lambda axis: engine.known(axis, f"{what} of jax.vmap"), exposed(engine, axes))


def _axes_of(engine: Engine, axes: Axes, tree: PyTreeDef, what: str) -> list[Axes]:
    """The batch dimension of each leaf of a structure, from `in_axes` or `out_axes`, a tree prefix of it."""

    def no_axis(part: object) -> bool:
        return part is None

    whole = tree_unflatten(tree, range(tree.num_leaves))
    try:
        spread = tree_map(
            lambda axis, part: tree_map(lambda _: Const(axis), part), axes, whole, is_leaf=no_axis
        )
    except (ValueError, TypeError) as error:
        _misuse(engine, f"vmap {what} specification must be a tree prefix of the value: {error}")
    return [axis.value for axis in tree_leaves(spread)]


def _moved(engine: Engine, leaf: Abstract, axis: Axes) -> Abstract:
    if axis is None:
        _refuse(
            engine,
            "None in out_axes of jax.vmap",
            "pystage maps every result",
            "take element 0 after the call",
        )
    return leaf if axis == 0 else engine.call(Const(jnp.moveaxis), [leaf, Const(0), Const(axis)])


@meaning(jax.vmap)
def vmap(
    engine: Engine,
    fun: Abstract,
    in_axes: Raw = ZERO,
    out_axes: Raw = ZERO,
    axis_name: Raw = NONE,
    axis_size: Raw = NONE,
    spmd_axis_name: Raw = NONE,
    sum_match: Raw = FALSE,
) -> Abstract:
    """The batched function, of JAX arrays."""
    options = {"axis_size": axis_size, "spmd_axis_name": spmd_axis_name}
    _only(engine, "jax.vmap", **options, sum_match=sum_match)
    name = engine.known(axis_name, "axis_name of jax.vmap")
    axes = _known_axes(engine, in_axes, "in_axes")
    axes = tuple(axes) if isinstance(axes, list) else axes
    if axes is not None and type(axes) not in (int, tuple):
        text = "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments"
        engine.raise_(TypeError(f"{text} passed to the function, but got {axes}."))
    put = _known_axes(engine, out_axes, "out_axes")
    for what, given in ("in_axes", axes), ("out_axes", put):
        if any(type(axis) is not int for axis in tree_leaves(given)):
            text = f"vmap {what} must be an int, None, or (nested) container with those types as leaves"
            engine.raise_(TypeError(f"{text}, but got {given}."))

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        each = list(axes) if isinstance(axes, tuple) else [axes] * len(args)
        flat = _Flat("jax.vmap", fun)
        given = list(args)
        for i, (axis, a) in enumerate(zip(each, args)):
            if axis is not None:
                given[i] = flat.given(inner, i, a)
                if not isinstance(axis, int):
                    each[i] = _axes_of(inner, axis, flat.tree_of(i), "in_axes")
        named = {k: as_arrays(inner, a, "jax.vmap") for k, a in kwargs.items()}
        found = cast(Tuple, mapped(inner, flat.meaning, given, named, each, 0, name))
        assert flat.result_tree is not None
        if flat.hands_on:
            why = "JAX hands it back as it is, an ndarray"
            _refuse(inner, "an ndarray that jax.vmap's function returns", why, "map over a jax.Array")
        moved = [
            _moved(inner, leaf, axis)
            for leaf, axis in zip(
                found.items, _axes_of(inner, put, flat.result_tree, "out_axes"), strict=True
            )
        ]
        return flat.result(inner, Tuple(tuple(moved)))

    return Meaning("jax.vmap", call)


@meaning(jax.checkpoint, jax.remat)
def checkpoint(
    engine: Engine,
    fun: Abstract,
    *,
    prevent_cse: Raw = True,
    policy: Raw = None,
    static_argnums: Raw = (),
    static_argnames: Raw = (),
) -> Abstract:
    """The function under `jit`, with a pullback that keeps only the arguments and recomputes the rest.

    With a `policy`, what is kept is decided where the derivative is taken. That and `prevent_cse` change no result.
    """
    _only(engine, "jax.checkpoint", static_argnames=static_argnames)
    function = jitted(fun, frozenset(ints(engine, static_argnums, "static_argnums of jax.checkpoint")))
    if not (policy is None or (isinstance(policy, Const) and policy.value is None)):
        return function

    def call(ctx: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return recomputed(ctx, function, args, kwargs)

    return Meaning("jax.checkpoint", call)
