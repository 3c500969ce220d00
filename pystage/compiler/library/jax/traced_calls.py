"""Calls of functions without a meaning that JAX can trace: one `JaxCall` each.

In: a callable defined in JAX or in a package built on it, and abstract arguments. Out: abstract values of form `JAX` for
the arrays of its result, constants for everything else. Functions of the program among the arguments are refused,
because JAX would execute them.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import jax
import numpy as np
from jax.tree_util import tree_leaves, tree_map, tree_unflatten

from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_jax import NotForJax, NotTraceable, RefusedByJax, UserFunctionToJax
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.ir import Value
from ...hlo.types import BOOL, ArrayType
from ...ops.foreign.jax_call import ArrayLeaf, JaxCall, JaxCallError, JaxSettings, Leaf, NotOfArrays, Static
from ...ops.foreign.jax_values import in_order
from ...policy import is_of_jax, is_traced, package_of
from ...values.boundary import Form
from ...values.lattice import (
    Abstract,
    Array,
    Closure,
    Const,
    Meaning,
    Method,
    Partial,
    Ref,
    SliceObject,
    Super,
)
from ..context import Context, Raw
from ..registry import signed
from .class_sensitive_calls import leaves_of_own_kinds
from .placement import CALLS_HOST, beside_arrays
from .pytrees import exposed, lifted


def is_jax_callable(function: object) -> bool:
    """True for what JAX can call for us: a callable of JAX or of a package built on it."""
    while isinstance(function, functools.partial | jax.tree_util.Partial):
        function = function.func
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not is_of_jax(function) and not isinstance(function, types.FunctionType | type):
        return False  # an object of a package built on JAX may hold functions and arrays of the program
    return callable(function) and is_traced(function)


@functools.cache
def jax_method(name: str) -> Callable[..., Any]:
    """The method `name` of `jax.Array`, as a function of the array and the method's arguments."""

    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    call.__name__ = name
    call.__module__ = "jax.Array"
    return call


def jax_call(
    ctx: Context,
    function: Callable[..., Any],
    args: Sequence[Raw],
    kwargs: Mapping[str, Raw] | None = None,
) -> Abstract:
    """`function(*args, **kwargs)`, traced and lowered by JAX.

    Python scalars that JAX needs to know (a shape, an axis) are demanded as constants. PS650 for functions of
    the program among the arguments, PS651 where JAX refuses the call, as the plain run does, PS657 where it does more
    than give arrays.
    """
    name = name_of(function)
    arguments = exposed_arguments(ctx, args, kwargs)
    own = tree_leaves(arguments)
    given = tree_map(lambda leaf: _operand(ctx, leaf, name), arguments)
    try:
        return _served(ctx, function, name, given, own)
    except NotOfArrays as error:
        ctx.fail(NotForJax(span=ctx.span, function=name, what=str(error)))


def jax_meaning(function: Callable[..., Any]) -> Callable[..., Abstract]:
    """The meaning of a function that is a `JaxCall`, whatever its arguments."""

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        return jax_call(ctx, function, args, kwargs)

    def signature() -> inspect.Signature:
        first, *_ = inspect.signature(call).parameters.values()
        return inspect.Signature([first, *inspect.signature(function).parameters.values()])

    return signed(call, signature)


def _served(
    ctx: Context, function: Callable[..., Any], name: str, given: Any, own: Sequence[Abstract]
) -> Abstract:
    try:
        return _bind(ctx, function, given, own)
    except JaxCallError as error:
        if not error.needs_constant:
            ctx.fail(RefusedByJax(span=ctx.span, reason=str(error)))
    demanded = tree_map(lambda leaf: _demanded(ctx, leaf, name), given)
    try:
        return _bind(ctx, function, demanded, own)
    except JaxCallError as error:
        if error.needs_constant:
            ctx.fail(NotTraceable(span=ctx.span, function=name))
        ctx.fail(RefusedByJax(span=ctx.span, reason=str(error)))


def name_of(function: object) -> str:
    """The name of a callable in messages: `jax.numpy.sort`."""
    module = getattr(function, "__module__", "") or ""
    name = getattr(function, "__name__", type(function).__name__)
    public = module.replace("jax._src.numpy", "jax.numpy").partition("._src")[0]
    return f"{public}.{name}" if public else str(name)


def exposed_arguments(ctx: Context, args: Sequence[Raw], kwargs: Mapping[str, Raw] | None) -> Any:
    """The arguments as Python structures with abstract leaves: `(args, kwargs)`."""
    keywords = kwargs or {}
    positional = tuple([exposed(ctx, a, nodes=False) for a in args])
    return positional, {key: exposed(ctx, a, nodes=False) for key, a in keywords.items()}


def takes_as_pytrees(ctx: Context, args: Sequence[Raw], kwargs: Mapping[str, Raw]) -> bool:
    """True if the arguments are structures of numbers and constants, none of them a function of the program."""
    try:
        leaves = jax.tree.leaves(exposed_arguments(ctx, args, kwargs), is_leaf=_is_of_program)
    except DiagnosticError:  # an object of a library that cannot be flattened without its arrays
        return False
    return all(
        (isinstance(leaf, Const) and not _is_user_callable(leaf.value))
        or isinstance(leaf, Array | SliceObject)
        or ctx.is_ndarray(leaf)
        for leaf in leaves
    )


def holds_numbers(ctx: Context, args: Sequence[Raw], kwargs: Mapping[str, Raw]) -> bool:
    """True if computed numbers or ndarrays are among the leaves of arguments that JAX can take.

    In JAX's trace they are arrays of JAX's, as the function that is traced can tell.
    """
    leaves = tree_leaves(exposed_arguments(ctx, args, kwargs))
    return any(
        leaf.form is not Form.JAX if isinstance(leaf, Array) else ctx.is_ndarray(leaf) for leaf in leaves
    )


def _is_of_program(thing: object) -> bool:
    """True for an instance of a class of the program: JAX would run its methods."""
    known = isinstance(thing, Abstract | tuple | list | dict) or thing is None
    return not known and not is_traced(type(thing))


def _bind(ctx: Context, function: Callable[..., Any], given: Any, own: Sequence[Abstract]) -> Abstract:
    """Makes the operation, and the abstract value of its result; `own` are the leaves of the arguments themselves."""
    args, kwargs = given
    call, operands = JaxCall.bind(function, args, kwargs, _describe, settings(ctx))
    trace = call.result
    _require_arrays_alone(ctx, call)
    if not operands and any(_is_opaque(leaf) for leaf in trace.leaves):
        return _evaluate(ctx, function, args, kwargs)
    others = leaves_of_own_kinds(call, tree_leaves(given), own)
    results = iter(ctx.b.ops(call, *[operand.value for operand in operands]) if None in others else ())
    leaves = [_result(leaf, results, other) for leaf, other in zip(trace.leaves, others, strict=True)]
    return lifted(ctx, in_order(tree_unflatten(trace.tree, leaves), trace.keys))


def _require_arrays_alone(ctx: Context, call: JaxCall) -> None:
    """PS606 for a call that also places arrays or calls the host, PS657 for one that gives nothing."""
    why = beside_arrays(call.result, call.leaves)
    name = name_of(call.function.value)
    if why is not None:
        instead = "use print" if why == CALLS_HOST else "call it outside of the staged function"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    if tree_unflatten(call.result.tree, call.result.leaves) is None:
        raise NotOfArrays("gives nothing, and is called for what it does")


def settings(ctx: Context) -> JaxSettings:
    """The user's settings of JAX."""
    current = JaxSettings.current()
    return JaxSettings(**{**{f: getattr(current, f) for f in JaxSettings.__slots__}, "enable_x64": ctx.x64})


def _is_opaque(leaf: Leaf) -> bool:
    """True for a result that may hold arrays of JAX's trace inside: a function, an object."""
    if not isinstance(leaf, Static):
        return False
    return not isinstance(leaf.value, bool | int | float | complex | str | np.generic | np.dtype | type(None))


def _evaluate(ctx: Context, function: Callable[..., Any], args: Any, kwargs: Any) -> Abstract:
    """Calls the function now, on constants: it makes an object (an optimiser, a dtype) for later calls."""
    plain_args, plain_kwargs = tree_map(lambda leaf: leaf.value, (args, kwargs))
    with settings(ctx).active(), jax.ensure_compile_time_eval():
        made = function(*plain_args, **plain_kwargs)
    return lifted(ctx, tree_map(lambda leaf: _constant(ctx, leaf), made))


def _constant(ctx: Context, leaf: Any) -> Abstract:
    if not isinstance(leaf, jax.Array):
        return Const(leaf)
    key = None
    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        key = str(jax.random.key_impl(leaf))
        leaf = jax.random.key_data(leaf)
    value = ctx.constant(np.asarray(leaf), leaf.dtype)
    return Array(value, Form.JAX, bool(leaf.aval.weak_type), key_impl=key)


def _result(leaf: Leaf, results: Iterator[Value], other: Abstract | None) -> Abstract:
    """The next result of the operation for a result leaf; another leaf as it is."""
    if isinstance(leaf, Static):
        assert other is not None
        return other
    value = next(results, None)
    if other is not None:
        return other
    assert value is not None
    return Array(value, Form.JAX, leaf.weak, key_impl=None if leaf.key is None else str(leaf.key))


def _describe(leaf: Any) -> Leaf:
    """A leaf for JAX: an operand of the program, or a constant."""
    if isinstance(leaf, Array):
        weak = leaf.weak if leaf.form is Form.JAX else leaf.form is Form.PYTHON and leaf.dtype != BOOL
        return ArrayLeaf(ArrayType(leaf.dtype, leaf.shape), weak, leaf.key_impl)
    assert isinstance(leaf, Const)
    return Static(leaf.value)


def _operand(ctx: Context, leaf: Any, function: str) -> Array | Const:
    """A leaf of the arguments as an array or a constant; refuses functions of the program."""
    match leaf:
        case Array():
            return ctx.read(leaf)
        case Const(value=value):
            if _is_user_callable(value):
                refuse_callable(ctx, function, leaf)
            return leaf
        case Ref() if ctx.is_ndarray(leaf):
            read = ctx.read(leaf)
            assert isinstance(read, Array)
            return read
        case SliceObject(start, stop, step):
            parts = [ctx.known(p, f"a slice given to {function}") for p in (start, stop, step)]
            return Const(slice(*parts))
        case Closure() | Method() | Partial() | Meaning() | Super():
            refuse_callable(ctx, function, leaf)
        case _:
            return Const(ctx.known(leaf, f"an argument of {function}"))


def refuse_callable(ctx: Context, function: str, argument: Abstract) -> NoReturn:
    """PS650 for a function of the program given to `function`."""
    match argument:
        case Const(value=value):
            name = getattr(value, "__name__", type(value).__name__)
        case Closure(function=staged):
            name = staged.name
        case Meaning(name=known):
            name = known
        case _:
            name = "a callable"
    ctx.fail(UserFunctionToJax(span=ctx.span, function=function, argument=name))


def _is_user_callable(value: object) -> bool:
    """True for a callable that may run code of the program."""
    if (
        not callable(value)
        or is_jax_callable(value)
        or isinstance(value, types.BuiltinFunctionType | np.ufunc)
    ):
        return False
    if isinstance(value, functools.partial):
        return _is_user_callable(value.func)
    return not package_of(value).fixed


def _demanded(ctx: Context, leaf: Array | Const, function: str) -> Array | Const:
    """A Python scalar as the constant that JAX asks for; other leaves as they are."""
    if isinstance(leaf, Array) and leaf.form is Form.PYTHON:
        return Const(ctx.known(leaf, f"an argument of {function}"))
    return leaf
