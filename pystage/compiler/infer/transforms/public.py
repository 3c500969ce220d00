"""Meanings of `pystage.grad`, `value_and_grad`, `jvp`, `vjp`, `jacobian`, `hessian` and `vmap` in staged source.

Each takes a callable value and gives another, as the public functions do outside. They are looked up by the objects in
`pystage.transforms`, once that is imported.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import numpy as np

from ...ad.calculus import CalculusBuilder, differentiable
from ...diagnostics.codes_differentiation import NoRuleFor, RuleDoesNotFit
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...library.context import Context, Raw
from ...library.jax.traced_calls import is_jax_callable, jax_call
from ...library.registry import instance_meaning, late_meanings, meaning
from ...library.rules.numbers import number_value
from ...ops import StopGradient
from ...values.boundary import CallableMember, Form, Path
from ...values.lattice import FALSE, Abstract, Array, Const, Meaning, Tuple
from ...values.walk import rebuild
from ..calls.invoke import by_position, callable_text
from ..core.engine import Engine
from .custom_vjp import CustomVjp, call_with_rule
from .derivatives import directional, value_and_gradients
from .jacobians import jacobians
from .mapping import mapped
from .pullbacks import pulled_back, recomputed

ZERO = Const(0)


def positions_of(engine: Engine, argnums: Raw) -> tuple[tuple[int, ...], bool]:
    """The positions of the arguments that are meant, and whether several were named."""
    given = engine.known(argnums, "which arguments to differentiate by")
    several = isinstance(given, tuple | list)
    numbers = tuple(given) if several else (given,)
    if not all(isinstance(n, int | np.integer) for n in numbers):
        engine.raise_(TypeError(f"argnums must be an int or a sequence of ints, not {given!r}"))
    return tuple([int(n) for n in numbers]), several


def counted(positions: Sequence[int], count: int) -> list[int]:
    """Positions counted from the front."""
    return [p + count if p < 0 else p for p in positions]


def gradients(engine: Engine, function: Abstract, argnums: Raw, has_aux: Raw, with_value: bool) -> Abstract:
    """The callable that gives gradients, and before them the value if asked for."""
    positions, several = positions_of(engine, argnums)
    aux = bool(engine.known(has_aux, "whether the function gives something else too"))

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        at = counted(positions, len(args))
        value, found = value_and_gradients(inner, function, args, kwargs, at, aux)
        gradient = Tuple(tuple(found)) if several else found[0]
        if with_value:
            return Tuple((value, gradient))
        return Tuple((gradient, cast(Tuple, value).items[1])) if aux else gradient

    return Meaning("the gradient", call)


def _grad(ctx: Engine, fun: Abstract, argnums: Raw = 0, has_aux: Raw = FALSE) -> Abstract:
    return gradients(ctx, fun, argnums, has_aux, with_value=False)


def _value_and_grad(ctx: Engine, fun: Abstract, argnums: Raw = 0, has_aux: Raw = FALSE) -> Abstract:
    return gradients(ctx, fun, argnums, has_aux, with_value=True)


def _jvp(engine: Engine, fun: Abstract, primals: Abstract, tangents: Abstract) -> Abstract:
    listed = [engine.iterate(x) for x in (primals, tangents)]
    if listed[0] is None or listed[1] is None:
        engine.raise_(TypeError("primals and tangents must be tuples or lists"))
    return Tuple(directional(engine, fun, listed[0], listed[1]))


def _jacobian(engine: Engine, fun: Abstract, argnums: Raw = 0) -> Abstract:
    positions, several = positions_of(engine, argnums)

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        at = counted(positions, len(args))
        _, found = jacobians(inner, fun, args, kwargs, at)
        return Tuple(tuple(found)) if several else found[0]

    return Meaning("the Jacobian", call)


def _hessian(ctx: Engine, fun: Abstract, argnums: Raw = 0) -> Abstract:
    return _jacobian(ctx, _grad(ctx, fun, argnums), argnums)


def _vmap(engine: Engine, fun: Abstract, in_axes: Raw = ZERO, out_axes: Raw = ZERO) -> Abstract:
    where = (
        engine.known(in_axes, "which axes are mapped"),
        engine.known(out_axes, "where the batch dimension is put"),
    )

    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return mapped(inner, fun, args, kwargs, *where)

    return Meaning("the mapped function", call)


def _vjp(engine: Engine, fun: Abstract, *primals: Abstract, has_aux: Raw = FALSE) -> Abstract:
    aux = bool(engine.known(has_aux, "whether the function gives something else too"))
    value, pullback, other = pulled_back(engine, fun, primals, aux)
    return Tuple((value, pullback)) if other is None else Tuple((value, pullback, other))


def _checkpoint(ctx: Context, fun: Abstract) -> Abstract:
    def call(inner: Engine, /, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return recomputed(inner, fun, args, kwargs)

    return Meaning("the function that is recomputed", call)


def _stop_gradient(engine: Engine, x: Abstract) -> Abstract:
    """An equal value of its own, of whatever structure."""
    made: dict[int, int] = {}

    def stopped(value: Value) -> Value:
        return engine.b.op(StopGradient(), value) if differentiable(value.type) else value

    for cell in engine.state.reachable([x]):
        made[cell] = engine.state.cell_number()
    for cell, number in made.items():
        engine.state.set(number, rebuild(engine.state.get(cell), stopped, lambda c: made.get(c, c)))
    return rebuild(x, stopped, lambda c: made.get(c, c))


def _call_custom(engine: Engine, /, receiver: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """A call of a `pystage.custom_vjp` object."""
    fun, fwd, bwd, apart = (engine.getattr(receiver, n) for n in ("fun", "fwd", "bwd", "nondiff_argnums"))
    return _custom(engine, fun, fwd, bwd, apart, args, kwargs)


@instance_meaning(jax.custom_vjp)
def _call_of_jax(engine: Engine, /, receiver: Any, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """A call of a `jax.custom_vjp` object of the program; those of the library are left to JAX."""
    options = [name for name in ("symbolic_zeros", "optimize_remat") if getattr(receiver, name, False)]
    if is_jax_callable(receiver):
        return jax_call(engine, receiver, args, kwargs)
    if options:
        what = f"its rule was given with {' and '.join(options)}"
        raise DiagnosticError(NoRuleFor(span=engine.b.span, name=receiver.__name__, what=what))
    path = Path(CallableMember(receiver, "custom_vjp"))
    read = [engine.externals.value(path.attribute(n), getattr(receiver, n)) for n in ("fun", "fwd", "bwd")]
    return _custom(engine, read[0], read[1], read[2], receiver.nondiff_argnums, args, kwargs)


@instance_meaning(jax.custom_jvp)
def _call_of_jax_forward(engine: Engine, /, receiver: Any, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """A call of a `jax.custom_jvp` object of the program: its rule, which is linear in the tangents, pulled back."""
    if is_jax_callable(receiver):
        return jax_call(engine, receiver, args, kwargs)
    if receiver.jvp is None:
        text = f"No JVP defined for custom_jvp function {receiver.__name__} using defjvp."
        engine.raise_(AttributeError(text))
    path = Path(CallableMember(receiver, "custom_jvp"))
    fun, jvp = [engine.externals.value(path.attribute(n), getattr(receiver, n)) for n in ("fun", "jvp")]
    apart = tuple(receiver.nondiff_argnums)
    if id(receiver) not in engine.custom_rules.pulled:  # once, as a rule may call the function itself
        engine.externals.keep.append(receiver)
        engine.custom_rules.pulled[id(receiver)] = _pulled_rules(receiver, jvp, apart)
    forward, backward = engine.custom_rules.pulled[id(receiver)]
    return _custom(engine, fun, forward, backward, apart, args, kwargs, is_transpose=True)


def _pulled_rules(receiver: Any, jvp: Abstract, apart: tuple[int, ...]) -> tuple[Meaning, Meaning]:
    """The forward and the backward rule that follow from a rule for tangents."""
    name = receiver.__name__

    def forward(engine: Engine, *given: Abstract) -> Abstract:
        if receiver.symbolic_zeros or is_jax_callable(receiver.jvp):
            what = f"its rule was given {'with symbolic_zeros' if receiver.symbolic_zeros else 'by defjvps'}"
            raise DiagnosticError(NoRuleFor(span=None, name=name, what=what))
        first = [a for i, a in enumerate(given) if i in apart]
        primals = Tuple(tuple([a for i, a in enumerate(given) if i not in apart]))
        zeros = Tuple(tuple(_zeros(engine, name, primals)))
        return Tuple((_pair(engine, name, jvp, [*first, primals, zeros])[0], primals))

    def backward(engine: Engine, *given: Abstract) -> Abstract:
        *first, primals, ct = given

        def tangents(ctx: Engine, *directions: Abstract) -> Abstract:
            return _pair(ctx, name, jvp, [*first, primals, Tuple(directions)])[1]

        zeros = _zeros(engine, name, cast(Tuple, primals))
        _, pull, _ = pulled_back(engine, Meaning("the tangents", tangents), zeros, False)
        return engine.call(pull, [ct])

    return Meaning("the forward rule", forward), Meaning("the backward rule", backward)


def _pair(engine: Engine, name: str, jvp: Abstract, args: Sequence[Abstract]) -> list[Abstract]:
    """The two results of a rule for tangents: the result, and its tangent."""
    pair = engine.iterate(engine.call(jvp, args))
    if pair is None or len(pair) != 2:
        raise DiagnosticError(RuleDoesNotFit(span=None, name=name, what="it gives no pair (result, tangent)"))
    return pair


def _zeros(engine: Engine, name: str, primals: Tuple) -> list[Abstract]:
    """A tangent of zeros for each argument."""
    zeros: list[Abstract] = []
    for primal in primals.items:
        read = engine.read(primal)
        value = number_value(engine.b, read)
        if not differentiable(value.type):
            raise DiagnosticError(NoRuleFor(span=None, name=name, what="it is given what has no tangent"))
        zero = CalculusBuilder(engine.b).zeros(value.type)
        form = read.form if isinstance(read, Array) else Form.PYTHON
        zeros.append(engine.ndarray(zero) if form is Form.NDARRAY else Array(zero, form))
    return zeros


def _custom(
    engine: Engine,
    fun: Abstract,
    fwd: Abstract,
    bwd: Abstract,
    apart: Raw,
    args: Sequence[Abstract],
    kwargs: dict[str, Abstract],
    is_transpose: bool = False,
) -> Abstract:
    name = callable_text(fun)
    if any(isinstance(rule, Const) and rule.value is None for rule in (fwd, bwd)):
        engine.raise_(AttributeError(f"No VJP defined for custom_vjp function {name} using defvjp."))
    numbers = frozenset(engine.known(apart, "nondiff_argnums of pystage.custom_vjp"))
    custom = CustomVjp(name, fun, fwd, bwd, numbers, is_transpose)
    return call_with_rule(engine, custom, args, kwargs, by_position(engine, fun, args, kwargs))


MEANINGS: dict[str, Callable[..., Any]] = {
    "grad": _grad,
    "value_and_grad": _value_and_grad,
    "jvp": _jvp,
    "jacobian": _jacobian,
    "hessian": _hessian,
    "vmap": _vmap,
    "vjp": _vjp,
    "checkpoint": _checkpoint,
    "stop_gradient": _stop_gradient,
    "custom_vjp.__call__": _call_custom,
}


@late_meanings("pystage.transforms")
def declare(public: types.ModuleType) -> None:
    """Declares the meanings of the public functions of these names inside staged source."""
    for name, call in MEANINGS.items():
        meaning(operator.attrgetter(name)(public))(call)
