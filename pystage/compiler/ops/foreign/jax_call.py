"""`JaxCall`: a call of a function that JAX can trace and pystage does not know, for the long tail of libraries.

In: a callable defined in JAX and its arguments, arrays as `ArrayLeaf` and everything else as `Static`. Out: one operation.
JAX traces the callable once for its types and effects, and the trace is lowered into our module. Arrays cross this
boundary as plain HLO values: typed PRNG keys as their uint32 data, float64 as the user's `jax_enable_x64` wants it.
Callables that take the user's functions (which would have to be staged programs) may not be given to `bind`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import cache, lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.core import ClosedJaxpr, jaxpr_as_fun
from jax.experimental import io_callback
from jax.interpreters import mlir as jax_mlir
from jax.interpreters.mlir import ir as mlir_ir
from jax.tree_util import PyTreeDef, tree_flatten, tree_unflatten

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotBatched, NotDifferentiable, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, FLOAT64, INT32, UINT32, ArrayType, ShapeError
from ...policy import is_of_jax, package_of
from .jax_values import changeable, keeps_arrays, order_of
from .named_axes import CURRENT, NamedAxes


@dataclass(frozen=True, slots=True)
class JaxSettings:
    """What a user can set in JAX that changes what a callable computes; fields are named as JAX's."""

    enable_x64: bool = False
    numpy_dtype_promotion: str = "standard"
    numpy_rank_promotion: str = "allow"
    default_matmul_precision: str | None = None
    default_prng_impl: str = "threefry2x32"
    threefry_partitionable: bool = True

    @classmethod
    def current(cls) -> JaxSettings:
        """The settings of the calling thread."""
        return cls(*[getattr(jax.config, "jax_" + field.name) for field in fields(cls)])

    def active(self) -> ExitStack:
        """A context in which these settings hold in the calling thread."""
        with ExitStack() as stack:
            for field in fields(self):
                stack.enter_context(getattr(jax, field.name)(getattr(self, field.name)))
            return stack.pop_all()

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = [f"{f.name}={values[f.name]!r}" for f in fields(self) if values[f.name] != f.default]
        return f"JaxSettings({', '.join(changed)})"


@dataclass(frozen=True, slots=True)
class ArrayLeaf:
    """An array among the arguments or results of a callable.

    `type` is that of the HLO value. `weak` marks what was a Python scalar, which does not decide the dtype
    of a result in JAX; `key` is the implementation of a typed PRNG key, whose data the value then is.
    """

    type: ArrayType
    weak: bool = False
    key: Hashable = None

    def __repr__(self) -> str:
        return " ".join(
            [str(self.type), *["weak"] * self.weak, *([] if self.key is None else [str(self.key)])]
        )


class Static:
    """Any other object among the arguments or results; equal to what the callable cannot tell from it.

    Numbers are compared with their type and all their bits, what cannot be hashed by identity.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = _identity(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        module, name = [getattr(self.value, part, None) for part in ("__module__", "__qualname__")]
        if callable(self.value) and module and name:
            return f"{module}.{name}"  # without an address, so that texts can be compared
        return repr(self.value)


Leaf = ArrayLeaf | Static


class JaxCallError(ShapeError):
    """JAX refused the call; its own exception is the `__cause__`, and what a plain run would raise.

    `needs_constant` is True where it asked for the value of an argument that it got as an array only.
    """

    def __init__(self, text: str, needs_constant: bool = False) -> None:
        super().__init__(text)
        self.needs_constant = needs_constant


class NotOfArrays(ShapeError):
    """The call does more than give arrays: it changes an argument, or gives an object that keeps arrays of JAX's trace."""


@dataclass(frozen=True)
class Trace:
    """What JAX's trace of a call says: its program, and the structure and leaves of its result.

    `tree` with its `leaves` put in is the result (its dicts in the order `keys`); those that are `ArrayLeaf`s are the
    results of the operation, in this order. `effects` are JAX's effects other than those that stay inside.
    """

    jaxpr: ClosedJaxpr
    tree: PyTreeDef
    leaves: tuple[Leaf, ...]
    effects: frozenset[Any]
    keys: Any

    @property
    def types(self) -> tuple[ArrayType, ...]:
        """Types of the operation's results."""
        return tuple([leaf.type for leaf in self.leaves if isinstance(leaf, ArrayLeaf)])


@dataclass(frozen=True)
class JaxCall(HloOp):
    """`function(*args, **kwargs)`, traced and lowered by JAX under `settings`. JAX: jax_call.

    `tree` is the structure of `(args, kwargs)` with `leaves`; the operands are the arrays among the leaves,
    in order. `bind` makes one. Every result is an array leaf of `result`.
    """

    opcode = "jax_call"
    lowered_by_jax = True

    function: Static
    tree: PyTreeDef
    leaves: tuple[Leaf, ...]
    settings: JaxSettings = JaxSettings()

    @classmethod
    def bind(
        cls,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        describe: Callable[[Any], Leaf],
        settings: JaxSettings,
    ) -> tuple[JaxCall, list[Any]]:
        """The call with these arguments, and those of their leaves that are its operands.

        `describe` says of each leaf of JAX's pytree of the arguments what it is. A callable that is itself
        a pytree with arrays (a layer) is an argument: `bind(operator.call, (layer, x), …)`.
        """
        found, tree = tree_flatten((tuple(args), dict(kwargs)))
        leaves = tuple([describe(leaf) for leaf in found])
        operands = [x for x, leaf in zip(found, leaves, strict=True) if isinstance(leaf, ArrayLeaf)]
        return cls(Static(function), tree, leaves, settings), operands

    @property
    def result(self) -> Trace:
        """What JAX's trace says of the result; raises `JaxCallError` where JAX refuses the call."""
        return _trace(self, jax.sharding.get_abstract_mesh(), CURRENT.axes)

    def with_leaves(self, leaves: Sequence[Leaf]) -> JaxCall:
        """The same call with other leaves of its arguments."""
        return replace(self, leaves=tuple(leaves))

    def traced_anew(self) -> Trace:
        """`result`, of which nothing is kept: for arguments that only stand in for others."""
        return _trace_of(self)

    @property
    def pure(self) -> bool:  # type: ignore[override]
        """False if the callable has an effect, as a callback to the host."""
        return not self.result.effects

    @property
    def name(self) -> str:
        """The callable's name, for texts and symbols."""
        return str(getattr(self.function.value, "__name__", type(self.function.value).__name__))

    def infer(self, *operands: ArrayType) -> tuple[ArrayType, ...]:
        """The types of the result's arrays; `JaxCallError` where JAX refuses the call."""
        expected = [leaf.type for leaf in self.leaves if isinstance(leaf, ArrayLeaf)]
        if list(operands) != expected:
            raise ShapeError(f"{self.name} was bound for {expected}, not for {list(operands)}")
        return self.result.types

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """What JAX's own lowering emits for the trace, in place."""
        jaxpr = self.result.jaxpr
        arguments = []
        for value, operand, aval in zip(op.operands, operands, jaxpr.in_avals, strict=True):
            if value.type.dtype != aval.dtype:  # a 64-bit type that the user's settings do not have
                operand = e.create("convert", [value.type.with_dtype(aval.dtype)], [operand]).results[0]
            arguments.append(operand)
        with self.settings.active():
            return emit_trace(e, op, self.name, jaxpr, arguments)

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        """What JAX computes, run by itself."""
        with self.settings.active():
            return tuple([np.asarray(x) for x in jaxpr_as_fun(self.result.jaxpr)(*operands)])

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """What `jax.vjp` makes of the call: one more call of JAX's."""
        given = [ct for ct in cotangents if ct is not None]
        places = tuple([i for i, ct in enumerate(cotangents) if ct is not None])
        found = self._derived(c, op, given, _Derivative(self, _inexact(op.operands), places, reverse=True))
        by_place = dict(zip(_inexact(op.operands), found, strict=True))
        made = [by_place.get(i) for i in range(len(op.operands))]
        return [None if m is None else c.convert(m, v.type.dtype) for m, v in zip(made, op.operands)]

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        """What `jax.jvp` makes of the call: one more call of JAX's."""
        given = [t for t in tangents if t is not None]
        varied = tuple([i for i, t in enumerate(tangents) if t is not None])
        places = _inexact(op.results)
        found = self._derived(c, op, given, _Derivative(self, varied, places, reverse=False))
        by_place = dict(zip(places, found, strict=True))
        return [by_place.get(i) for i in range(len(op.results))]

    def _derived(
        self, c: Calculus, op: Op, given: Sequence[Value], derivative: _Derivative
    ) -> Sequence[Value]:
        operands = [*op.operands, *given]
        leaves = [ArrayLeaf(v.type) for v in operands]
        try:
            made, _ = JaxCall.bind(derivative, leaves, {}, _described, self.settings)
            return c.apply(made, operands).results
        except JaxCallError as error:
            raise NotDifferentiable(f"`{self.name}` ({error})") from None

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """What `jax.vmap` makes of the call: one more call of JAX's."""
        own = [leaf for leaf in self.leaves if isinstance(leaf, ArrayLeaf)]
        leaves = [ArrayLeaf(x.type, leaf.weak) for leaf, x in zip(own, operands, strict=True)]
        try:
            made, _ = JaxCall.bind(
                _BatchedCall(self, tuple(batched), batch_size), leaves, {}, _described, self.settings
            )
            results = c.apply(made, operands).results
        except JaxCallError as error:
            raise NotBatched(f"`{self.name}` ({error})") from None
        return [c.convert(x, old.type.dtype) for x, old in zip(results, op.results, strict=True)]

    def rebuilt(self, arrays: Sequence[Any]) -> Any:
        """The callable's result for these arrays as operands; inside a trace of JAX's, or outside."""
        args, kwargs = self.arguments(arrays)
        return self.function.value(*args, **kwargs)

    def arguments(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the callable gets for these arrays as operands: `(args, kwargs)`, of new objects."""
        following = iter(arrays)
        leaves = [_argument(leaf, following) for leaf in self.leaves]
        args, kwargs = tree_unflatten(self.tree, leaves)
        return args, kwargs

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Several results, weak scalars, keys, static arguments, 64 bits with and without."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((3, 3)).astype(np.float32)
        key = np.array([1, 2], np.uint32)
        wide = JaxSettings(enable_x64=True)
        leaf, scalar = ArrayLeaf(ArrayType(FLOAT32, (3, 3))), ArrayLeaf(ArrayType(FLOAT64), weak=True)
        double = ArrayLeaf(ArrayType(FLOAT64, (3, 3)))
        keys = ArrayLeaf(ArrayType(UINT32, (2,)), key="threefry2x32")
        third = np.array(1 / 3)

        return (
            Sample(_call(jnp.linalg.qr, leaf), (x,)),
            Sample(_call(jnp.linalg.slogdet, double, settings=wide), (x.astype(float),)),
            Sample(_call(jnp.linalg.slogdet, double), (x.astype(float),)),
            Sample(_call(jnp.multiply, leaf, scalar, settings=wide), (x, third)),
            Sample(_call(jnp.multiply, scalar, scalar, settings=wide), (third, third)),
            Sample(_call(jax.random.normal, keys, (2, 3)), (key,)),
            Sample(_call(jax.random.split, keys, num=3), (key,)),
            Sample(_call(jnp.histogram, leaf, bins=4, range=(-1.0, 1.0)), (x,)),
            Sample(_call(jax.scipy.special.betainc, leaf, leaf, leaf), (x**2, x**2 + 1, x**2 / 10)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """What JAX refuses, what needs a constant, effects in order, other operands than bound."""
        three, four = ArrayType(FLOAT32, (3,)), ArrayType(FLOAT32, (4,))
        row, column = ArrayLeaf(three), ArrayLeaf(four)
        count = ArrayType(INT32)

        strict = JaxSettings(numpy_rank_promotion="raise")
        matrix = ArrayType(FLOAT32, (4, 4))
        return (
            ErrorSample(_call(jnp.add, row, column), (three, four), "incompatible shapes for broadcasting"),
            ErrorSample(_call(jnp.add, column, ArrayLeaf(matrix), settings=strict), (four, matrix), "rank"),
            ErrorSample(_call(jnp.zeros, ArrayLeaf(count, weak=True)), (count,), "concrete"),
            ErrorSample(_call(_ordered_effect), (), "must happen in order"),
            ErrorSample(_call(jnp.sin, row), (four,), "was bound for"),
        )


_CONCRETE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)

_NEEDS = ("concrete value", "Non-hashable static arguments")
"""What JAX says, in errors of other classes, where it must know an argument."""


@lru_cache(maxsize=1024)
def _trace(call: JaxCall, mesh: jax.sharding.AbstractMesh, axes: NamedAxes) -> Trace:
    """JAX's trace of the call; `mesh` and `axes` are those in force, which a callable may ask for."""
    return _trace_of(call)


def _trace_of(call: JaxCall) -> Trace:
    """JAX's trace of the call under its settings."""
    found: list[tuple[PyTreeDef, tuple[Any, ...], Any]] = []

    def flat(*arrays: Any) -> list[Any]:
        given = call.arguments(arrays)
        before = tree_flatten(given)
        result = call.function.value(*given[0], **given[1])
        leaves, tree = tree_flatten(result)
        _require_same(before, tree_flatten(given))
        _require_new(call.function.value, given, result)
        _require_arrays(leaves)
        found.append((tree, tuple([_result_leaf(leaf) for leaf in leaves]), order_of(result)))
        return [jax.random.key_data(x) if _is_key(x) else x for x in leaves if isinstance(x, jax.Array)]

    with call.settings.active():
        arguments = [
            jax.ShapeDtypeStruct(
                leaf.type.shape, jax.dtypes.canonicalize_dtype(leaf.type.dtype), weak_type=leaf.weak
            )
            for leaf in call.leaves
            if isinstance(leaf, ArrayLeaf)
        ]
        try:
            jaxpr = jax.make_jaxpr(flat)(*arguments)
        except NotOfArrays:
            raise
        except Exception as error:
            if type(error).__qualname__ in package_of(error).objects_changed:
                raise NotOfArrays("it changes an object that it is given") from error
            needs = isinstance(error, _CONCRETE) or any(text in str(error) for text in _NEEDS)
            raise JaxCallError(f"{call.name}: {error}", needs) from error
    effects = frozenset(jaxpr.effects) - _internal_effects()
    if not effects <= _unordered_effects():
        raise JaxCallError(f"{call.name}: it has effects that must happen in order, which cannot be staged")
    ((tree, leaves, keys),) = found
    outputs = iter(jaxpr.out_avals)
    described = [
        leaf if isinstance(leaf, Static) else _described_result(leaf, next(outputs)) for leaf in leaves
    ]
    return Trace(jaxpr, tree, tuple(described), effects, keys)


def _require_same(before: tuple[list[Any], PyTreeDef], after: tuple[list[Any], PyTreeDef]) -> None:
    """`NotOfArrays` if a callable has changed what it was given, whose new contents nobody would see."""
    if before[1] != after[1] or any(a is not b for a, b in zip(before[0], after[0], strict=True)):
        raise NotOfArrays("changes its argument")


def _require_new(function: Callable[..., Any], given: Any, result: Any) -> None:
    """`NotOfArrays` for a library's function that gives back an object of the program, of which JAX's is a copy."""
    if not is_of_jax(function):
        own = {id(node) for node in changeable(given)}
        if any(id(node) in own for node in changeable(result)):
            raise NotOfArrays("gives back an object that it is given")


def _require_arrays(leaves: Sequence[Any]) -> None:
    """`NotOfArrays` for results that are no arrays and keep arrays of the trace."""
    for leaf in leaves:
        if not isinstance(leaf, jax.Array) and keeps_arrays(leaf):
            raise NotOfArrays(f"gives a {type(leaf).__name__} that keeps arrays of the program")


@dataclass(frozen=True)
class _Derivative:
    """A call differentiated by JAX: by the operands `varied`, of the results `places`."""

    call: JaxCall
    varied: tuple[int, ...]
    places: tuple[int, ...]
    reverse: bool

    def __call__(self, *arrays: Any) -> list[Any]:
        """The operands and then cotangents of the results, or tangents of the operands: the others."""
        count = len([leaf for leaf in self.call.leaves if isinstance(leaf, ArrayLeaf)])
        operands, given = list(arrays[:count]), arrays[count:]

        def function(*varied: Any) -> list[Any]:
            for place, value in zip(self.varied, varied, strict=True):
                operands[place] = value
            leaves = [x for x in jax.tree.leaves(self.call.rebuilt(operands)) if isinstance(x, jax.Array)]
            return [leaves[place] for place in self.places]

        inputs = [operands[place] for place in self.varied]
        if not self.reverse:
            pairs = zip(inputs, given, strict=True)
            moved: list[Any] = jax.jvp(function, inputs, [t.astype(x.dtype) for x, t in pairs])[1]
            return moved
        results, pull = jax.vjp(function, *inputs)
        return list(pull([ct.astype(r.dtype) for ct, r in zip(given, results, strict=True)]))


@dataclass(frozen=True)
class _BatchedCall:
    """A call under `jax.vmap`: batched operands have the batch dimension in front."""

    call: JaxCall
    batched: tuple[bool, ...]
    batch_size: int

    def __call__(self, *arrays: Any) -> list[Any]:
        """The call's array results, each with the batch dimension in front."""

        def element(*operands: Any) -> list[Any]:
            return [x for x in jax.tree.leaves(self.call.rebuilt(operands)) if isinstance(x, jax.Array)]

        axes = [0 if batched else None for batched in self.batched]
        found: list[Any] = jax.vmap(element, axes, axis_size=self.batch_size)(*arrays)
        return found


def _inexact(values: Sequence[Value]) -> tuple[int, ...]:
    """The places of real and complex floating-point numbers."""
    return tuple([i for i, v in enumerate(values) if jnp.issubdtype(v.type.dtype, jnp.inexact)])


def _argument(leaf: Leaf, arrays: Any) -> Any:
    """The Python object that the callable gets for a leaf."""
    if isinstance(leaf, Static):
        return leaf.value
    array = next(arrays)
    return array if leaf.key is None else jax.random.wrap_key_data(array, impl=leaf.key)


def _result_leaf(value: Any) -> Any:
    """A leaf of the result: static, or the implementation of its keys, or None for a plain array."""
    if not isinstance(value, jax.Array):
        return Static(value)
    return jax.random.key_impl(value) if _is_key(value) else None


def _described_result(key: Hashable, aval: Any) -> ArrayLeaf:
    return ArrayLeaf(ArrayType(np.dtype(aval.dtype), aval.shape), aval.weak_type, key)


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


_NO_SETTINGS = JaxSettings()


def _call(
    function: Callable[..., Any], *args: Any, settings: JaxSettings = _NO_SETTINGS, **kwargs: Any
) -> JaxCall:
    """For samples: a call whose arrays are written as leaves; everything else is static."""
    return JaxCall.bind(function, args, kwargs, _described, settings)[0]


def _described(value: Any) -> Leaf:
    return value if isinstance(value, ArrayLeaf) else Static(value)


def emit_by_jax(
    e: Emitter, op: Op, function: Callable[..., Any], operands: Sequence[mlir_ir.Value]
) -> Sequence[mlir_ir.Value]:
    """What JAX emits for `function` on the operands: for an operation that JAX lowers as each platform needs it.

    `function` must be hashable, and compare equal to what computes the same.
    """
    types = tuple([v.type for v in op.operands])
    with _WIDE.active():
        return emit_trace(e, op, op.kind.opcode, _traced(function, types), operands)


_WIDE = JaxSettings(enable_x64=True, default_matmul_precision="highest")


@lru_cache(maxsize=256)
def _traced(function: Callable[..., Any], types: tuple[ArrayType, ...]) -> ClosedJaxpr:
    return jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types])


def emit_trace(
    e: Emitter, op: Op, name: str, jaxpr: ClosedJaxpr, arguments: Sequence[mlir_ir.Value]
) -> Sequence[mlir_ir.Value]:
    """What JAX's own lowering emits for a trace, in place; `name` is for symbols."""
    if e.lowering is None:
        return _emit_apart(e, op, name, jaxpr, arguments)
    context = e.lowering.replace(
        primitive=None, avals_in=jaxpr.in_avals, avals_out=jaxpr.out_avals, tokens_out=None
    )
    lower = jax_mlir.lower_fun(jaxpr_as_fun(jaxpr), multiple_results=True)
    results = list(lower(context, *arguments))
    _locate(results, arguments, e.location)
    return results


def _locate(
    results: Sequence[mlir_ir.Value], arguments: Sequence[mlir_ir.Value], location: mlir_ir.Location
) -> None:
    """Gives the operations that lead from the arguments to the results the place of the call, for JAX's own."""
    seen = {argument.owner for argument in arguments}
    waiting = [result.owner for result in results]
    while waiting:
        operation = waiting.pop()
        if operation in seen or isinstance(operation, mlir_ir.Block):
            continue
        seen.add(operation)
        operation.location = location
        waiting += [operand.owner for operand in operation.operands]


def _emit_apart(
    e: Emitter, op: Op, name: str, jaxpr: ClosedJaxpr, arguments: Sequence[mlir_ir.Value]
) -> Sequence[mlir_ir.Value]:
    """Lowers to a module of its own, merges that into ours, and calls it: where JAX lowers nothing itself."""
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in jaxpr.in_avals]
    lowered = jax.jit(jaxpr_as_fun(jaxpr), keep_unused=True).lower(*types)
    source = mlir_ir.Module.parse(lowered.as_text())
    module = mlir_ir.InsertionPoint.current.block.owner
    while module.parent is not None:
        module = module.parent
    symbol = jax_mlir.merge_mlir_modules(module.opview, name, source)
    callee = {"callee": mlir_ir.FlatSymbolRefAttr.get(symbol)}
    return list(e.create("func.call", op.results, arguments, callee).results)


# JAX does not publish its effects, only functions that have them.


@cache
def _internal_effects() -> frozenset[Any]:
    """Effects on references that a function makes for itself, which its lowering removes."""

    def function(x: jax.Array) -> jax.Array:
        reference = jax.new_ref(x)
        reference[...] += 1
        return reference[...]

    return frozenset(jax.make_jaxpr(function)(1.0).effects)


@cache
def output_effects() -> frozenset[Any]:
    """Effects of a program that calls the host, which JAX neither leaves out nor runs twice."""
    return frozenset(jax.make_jaxpr(lambda: io_callback(print, None))().effects)


@cache
def _unordered_effects() -> frozenset[Any]:
    """Effects of calls to the host that may happen in any order."""
    return output_effects() | frozenset(jax.make_jaxpr(lambda: jax.debug.print(""))().effects)


def _ordered_effect() -> None:
    """For an error sample."""
    io_callback(print, None, ordered=True)


def _identity(value: Any) -> Hashable:
    """What distinguishes a static object from all that a callable might treat in another way."""
    match value:
        case float():
            return type(value), value.hex()
        case complex():
            return type(value), value.real.hex(), value.imag.hex()
        case np.generic():
            return type(value), value.dtype, value.tobytes()
        case slice():
            return slice, _identity(value.start), _identity(value.stop), _identity(value.step)
        case tuple() | list():
            return type(value), tuple([_identity(x) for x in value])
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return type(value), value
