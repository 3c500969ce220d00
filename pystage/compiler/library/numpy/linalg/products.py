"""Products of arrays: `@`, `dot`, `inner`, `outer`, `tensordot`, and functions over them.

NumPy promotes both operands to their common element type, keeps integers, and combines booleans by "and" and "or". In
`jax.numpy` the user's default precision applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from .....autocasting import autocast
from ....diagnostics.codes_types import ArgumentNotStaged, NoSuchOperation
from ....hlo.ir import Value
from ....hlo.types import MOST_AXES, DType, is_complex
from ....ops import Complex, Imag, Multiply, Negate, Real, Subtract
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import NONE, Abstract, Const, NumberKind, SliceObject, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...operands.contraction import Labelled, Precision, ordered, product
from ...operands.libraries import JAX, NUMPY, ArrayArgument, Rules, as_jax, as_ndarray, twins
from ...operands.nested_sequences import array_argument, nested
from ...python.operators import binary
from ...registry import meaning
from ...rules.jax import UnservedPrecision, axes_of, axis_of, is_none, precision_name
from ...rules.promote import broadcast_shape, numpy_loop
from ..concatenation import part
from ..indexing.bounded import refuse
from ..indexing.bounded import shape as extents_of
from ..indexing.bounded_operands import result_with
from ..indexing.stores import broadcasts, shape_of, store_out
from ..manipulation import as_array, axes_known, rank_of
from ..subscripts.subscripts import array_getitem
from ..ufuncs.elementwise import arrays_of, wants_arrays
from .product_operands import factors, flat_factors


def precision_of(ctx: Context, rules: Rules, precision: Raw, preferred: Raw, function: str) -> Precision:
    """The precision of a product in JAX; NumPy has no choice, and begins its sums with 0.0."""
    if not rules.is_jax:
        return Precision(from_zero=True)
    try:
        name = precision_name(ctx, precision, function)
    except UnservedPrecision:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"jnp.{function}", argument="precision"))
    wanted = None if is_none(preferred) else rules.dtype(ctx, preferred, function)
    return Precision(name, wanted)


@meaning(autocast)
def _autocast(ctx: Context, dtype: Raw) -> Abstract:
    """The JAX context that is active while the compiler infers its body."""
    try:
        return Const(autocast(ctx.known(dtype, "the type of autocast")))
    except ValueError as error:
        ctx.raise_(error)


def _pair(ctx: Context, rules: Rules, a: Raw, b: Raw, function: str) -> tuple[Value, Value, bool]:
    """Two operands in their common element type."""
    (left, right), weak = rules.common(ctx, [array_argument(ctx, rules, x, function) for x in (a, b)])
    return left, right, weak


def _rows_by_columns(left: int, right: int) -> list[tuple[int, int]]:
    """The axes of two arrays over which `@` sums."""
    return [(left - 1, 0 if right == 1 else right - 2)]


def _last_axes(left: int, right: int) -> list[tuple[int, int]]:
    return [(left - 1, right - 1)]


def _matmul(ctx: Context, rules: Rules, left: Value, right: Value, precision: Precision) -> Value:
    """`left @ right`: batch axes in front broadcast, vectors are rows and columns."""
    ours, theirs = left.type.shape, right.type.shape
    if not ours or not theirs:
        rules.mismatch(ctx, "matmul: Input operand 0 does not have enough dimensions (has 0)")
    if ours[-1] != theirs[max(len(theirs) - 2, 0)]:
        rules.mismatch(
            ctx,
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {theirs[max(len(theirs) - 2, 0)]} is different from {ours[-1]})",
        )
    outer = _batch_shape(ctx, rules, ours[:-2], theirs[:-2])
    batch = [f"b{i}" for i in range(len(outer))]
    inner_left = ["n", "k"] if len(ours) > 1 else ["k"]
    inner_right = ["k", "m"] if len(theirs) > 1 else ["k"]
    one = _without_ones(ctx, left, batch, inner_left, outer)
    two = _without_ones(ctx, right, batch, inner_right, outer)
    rows = list(inner_left[:-1]) + list(inner_right[1:])
    present = [label for label in batch if label in one.labels or label in two.labels]
    made = ordered(ctx, product(ctx, one, two, [*present, *rows], precision), [*present, *rows])
    extents = (*ours[-2:-1], *(theirs[-1:] if len(theirs) > 1 else ()))
    return ctx.reshape(made, (*outer, *extents))


def _batch_shape(
    ctx: Context, rules: Rules, ours: tuple[int, ...], theirs: tuple[int, ...]
) -> tuple[int, ...]:
    if ours == theirs:
        return ours
    try:
        return np.broadcast_shapes(ours, theirs)
    except ValueError:
        text = "operands could not be broadcast together with remapped shapes [original->remapped]"
        rules.mismatch(ctx, f"{text}: {ours} {theirs}")


def _without_ones(
    ctx: Context, value: Value, batch: Sequence[str], inner: Sequence[str], outer: tuple[int, ...]
) -> Labelled:
    """The operands without batch axes of one element, which would otherwise be broadcast."""
    shape = value.type.shape
    own = shape[: len(shape) - len(inner)]
    labels = batch[len(batch) - len(own) :]
    wide = outer[len(outer) - len(own) :]
    kept = [i for i, (n, m) in enumerate(zip(own, wide)) if not (n == 1 and m != 1)]
    reduced = (*[own[i] for i in kept], *shape[len(own) :])
    return Labelled(ctx.reshape(value, reduced), (*[labels[i] for i in kept], *inner))


def product_dtype(ctx: Context, ufunc: np.ufunc, left: ArrayArgument, right: ArrayArgument) -> DType:
    """The element type in which NumPy multiplies arrays, by the loops that it has for matrices."""
    kinds = (NumberKind(left.dtype, Form.NDARRAY), NumberKind(right.dtype, Form.NDARRAY))
    loop = numpy_loop(ufunc, kinds)
    if loop is None:
        types = f"{left.dtype} and {right.dtype}"
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"np.{ufunc.__name__}", types=types))
    return loop.inputs[0]


@meaning(np.matmul)
def numpy_matmul(
    ctx: Context, x1: Raw, x2: Raw, out: Raw = None, dtype: Raw = None, axes: Raw = None
) -> Abstract:
    """`np.matmul`; `axes` says which axes of the operands and of the result are those of the matrices."""
    if wants_arrays(out):
        return arrays_of(ctx, numpy_matmul(ctx, x1, x2, None, dtype, axes))
    x1, x2 = as_ndarray(ctx, x1), as_ndarray(ctx, x2)
    ranks = [_rank(ctx, x) for x in (x1, x2)]
    core = [_MATRIX[2 - min(rank, 2) :] for rank in ranks]
    last = _MATRIX[2 - sum(rank > 1 for rank in ranks) :]
    places = places_of(ctx, axes, "matmul")
    if places is not None and places != [*core, last]:
        moved = [
            ctx.call(Const(np.moveaxis), [x, Const(p), Const(c)]) for x, p, c in zip((x1, x2), places, core)
        ]
        made = numpy_matmul(ctx, moved[0], moved[1], dtype=dtype)
        if last:
            made = ctx.call(Const(np.moveaxis), [made, Const(last), Const(places[2])])
        value = NUMPY.operand(ctx, made, "matmul").value
        return NUMPY.result(ctx, value) if is_none(out) else stored_out(ctx, out, value, "matmul")
    *given, free = factors(ctx, NUMPY, x1, x2, "matmul", _rows_by_columns)
    left, right = [ctx.convert(x.value, product_dtype(ctx, np.matmul, *given)) for x in given]
    if not is_none(dtype):
        wanted = NUMPY.dtype(ctx, dtype, "matmul")
        left, right = ctx.convert(left, wanted), ctx.convert(right, wanted)
    value = _matmul(ctx, NUMPY, left, right, Precision(from_zero=True))
    if is_none(out):
        return result_with(ctx, NUMPY.result(ctx, value), free)
    if any(isinstance(axis, Extent) for axis in free):
        refuse(ctx, "np.matmul with out", x1, x2)
    return _into_output(ctx, out, value, x1, x2)


def places_of(ctx: Context, axes: Raw, name: str) -> list[Any] | None:
    """The option `axes` of a generalised ufunc of two operands: the core axes of each, and of the result."""
    known = None if is_none(axes) else ctx.known(axes, f"axes of {name}")
    if known is not None and not (isinstance(known, list) and len(known) in (2, 3)):
        ctx.fail(
            ArgumentNotStaged(
                span=ctx.span, function=f"np.{name}", argument="axes that are no list of two or three"
            )
        )
    return known


_MATRIX = (-2, -1)
"""The core axes of a matrix; of a vector it is the last one."""


def _into_output(ctx: Context, out: Raw, value: Value, x1: Raw, x2: Raw) -> Abstract:
    """A product into an ndarray: axes in front of the core axes are broadcast to its, or left out if of one element."""
    if ctx.is_ndarray(out):
        core = sum(_rank(ctx, x) > 1 for x in (x1, x2))
        shape, extents = shape_of(ctx, out), value.type.shape
        front = len(extents) - core
        for axis, (ours, theirs) in enumerate(zip(shape[len(shape) - core :], extents[front:])):
            if ours != theirs:
                NUMPY.mismatch(
                    ctx,
                    f"matmul: Output operand 0 has a mismatch in its core dimension {axis}, with gufunc signature "
                    f"(n?,k),(k,m?)->(n?,m?) (size {ours} is different from {theirs})",
                )
        left_out = max(len(extents) - len(shape), 0)
        if set(extents[:left_out]) <= {1}:
            value = ctx.reshape(value, extents[left_out:])
        if broadcasts(value.type.shape, shape):
            value = ctx.broadcast(value, shape)
    return stored_out(ctx, out, value, "matmul")


def _rank(ctx: Context, x: Raw) -> int:
    return x.rank if isinstance(x, Bounded) else nested(ctx, NUMPY, x, "matmul").rank


@meaning(jnp.matmul)
def jax_matmul(
    ctx: Context, a: Raw, b: Raw, *, precision: Raw = None, preferred_element_type: Raw = None
) -> Abstract:
    """`jnp.matmul`."""
    a, b = [as_jax(ctx, x, "matmul") if isinstance(x, Bounded) else x for x in (a, b)]
    *given, free = factors(ctx, JAX, a, b, "matmul", _rows_by_columns)
    (left, right), weak = JAX.common(ctx, given)
    how = precision_of(ctx, JAX, precision, preferred_element_type, "matmul")
    made = JAX.result(ctx, _matmul(ctx, JAX, left, right, how), weak and how.preferred is None)
    return result_with(ctx, made, free)


def stored_out(ctx: Context, out: Raw, value: Value, function: str) -> Abstract:
    """A result stored into an `out` argument of NumPy, which the call returns."""
    if not ctx.is_ndarray(out):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.{function}", argument="out"))
    store_out(ctx, out, value, function)
    return out  # type: ignore[no-any-return]


# ---------------------------------------------------------------- dot and its kin


def _contract(
    ctx: Context,
    rules: Rules,
    left: Value,
    right: Value,
    axes: Sequence[tuple[int, int]],
    how: Precision,
    function: str,
) -> Value:
    """The sum of products over pairs of axes; the free axes of both follow in order."""
    ours = [f"l{i}" for i in range(left.type.rank)]
    theirs = [f"r{i}" for i in range(right.type.rank)]
    for i, j in axes:
        if left.type.shape[i] != right.type.shape[j]:
            shapes = [str(v.type.shape).replace(", ", ",") for v in (left, right)]
            sizes = f"{left.type.shape[i]} (dim {i}) != {right.type.shape[j]} (dim {j})"
            text = f"shapes {shapes[0]} and {shapes[1]} not aligned: {sizes}"
            rules.mismatch(ctx, "shape-mismatch for sum" if function == "tensordot" else text)
        theirs[j] = ours[i]
    summed = {ours[i] for i, _ in axes}
    free = [label for label in (*ours, *theirs) if label not in summed]
    if how.from_zero and function != "vdot":
        how = Precision(from_zero=_begins_with_zero(left, right))
    made = product(ctx, Labelled(left, tuple(ours)), Labelled(right, tuple(theirs)), free, how)
    return ordered(ctx, made, free)


def _begins_with_zero(left: Value, right: Value) -> bool:
    """False for `np.dot` of operands that NumPy multiplies (in a type of BLAS two single elements, in others with an array
    without axes), and for BLAS's complex matrices.
    """
    if left.type.dtype.char not in "fdFD":
        return bool(left.type.rank and right.type.rank)
    if left.type.size == right.type.size == 1:
        return False
    return not (is_complex(left.type.dtype) and left.type.rank and right.type.rank)


@twins(np.dot, jnp.dot, delegates=False)
def dot(
    ctx: Context,
    rules: Rules,
    a: Raw,
    b: Raw,
    out: Raw = None,
    *,
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """The inner product over the last axis of `a` and the last but one of `b`."""
    *given, free = factors(ctx, rules, a, b, "dot", _rows_by_columns)
    (left, right), weak = rules.common(ctx, given)
    how = precision_of(ctx, rules, precision, preferred_element_type, "dot")
    pairs = []
    if left.type.rank and right.type.rank:
        pairs = [(left.type.rank - 1, max(right.type.rank - 2, 0))]
    value = _contract(ctx, rules, left, right, pairs, how, "dot")
    return result_with(ctx, rules.result(ctx, value, weak and how.preferred is None), free)


@twins(np.inner, jnp.inner, delegates=False)
def inner(
    ctx: Context, rules: Rules, a: Raw, b: Raw, *, precision: Raw = None, preferred_element_type: Raw = None
) -> Abstract:
    """The inner product over the last axes."""
    *given, free = factors(ctx, rules, a, b, "inner", _last_axes)
    (left, right), weak = rules.common(ctx, given)
    how = precision_of(ctx, rules, precision, preferred_element_type, "inner")
    pairs = [(left.type.rank - 1, right.type.rank - 1)] if left.type.rank and right.type.rank else []
    made = rules.result(ctx, _contract(ctx, rules, left, right, pairs, how, "inner"), weak)
    return result_with(ctx, made, free)


def conjugate(ctx: Context, value: Value) -> Value:
    """The complex conjugate; real numbers as they are."""
    if not is_complex(value.type.dtype):
        return value
    return ctx.op(Complex(), ctx.op(Real(), value), ctx.op(Negate(), ctx.op(Imag(), value)))


@twins(np.vdot, jnp.vdot, delegates=False)
def vdot(
    ctx: Context, rules: Rules, a: Raw, b: Raw, *, precision: Raw = None, preferred_element_type: Raw = None
) -> Abstract:
    """The inner product of all elements, the first operand conjugated."""
    *given, _ = factors(ctx, rules, a, b, "vdot", _last_axes, most=1)
    (left, right), weak = rules.common(ctx, given)
    how = precision_of(ctx, rules, precision, preferred_element_type, "vdot")
    flat = [ctx.reshape(v, (v.type.size,)) for v in (conjugate(ctx, left), right)]
    if flat[0].type != flat[1].type:
        rules.mismatch(
            ctx, "cannot reshape array of size {} into shape {}".format(*[f.type.size for f in flat])
        )
    return rules.result(ctx, _contract(ctx, rules, flat[0], flat[1], [(0, 0)], how, "vdot"), weak)


@twins(np.outer, jnp.outer, delegates=False)
def outer(ctx: Context, rules: Rules, a: Raw, b: Raw, out: Raw = None) -> Abstract:
    """The products of all pairs of elements."""
    *given, free = flat_factors(ctx, rules, a, b, "outer")
    (left, right), weak = rules.common(ctx, given)
    made = rules.array(ctx, _contract(ctx, rules, left, right, [], Precision(), "outer"), weak)
    return result_with(ctx, made, free)


@twins(np.tensordot, jnp.tensordot, delegates=False)
def tensordot(
    ctx: Context,
    rules: Rules,
    a: Raw,
    b: Raw,
    axes: Raw = 2,
    *,
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """The sum of products over pairs of axes, or over so many last and first axes."""
    a, b = [as_array(ctx, rules, x, "tensordot") for x in (a, b)]
    ranks = [rank_of(ctx, rules, x, "tensordot") for x in (a, b)]
    given = ctx.known(axes, "the axes of tensordot")
    if not isinstance(given, tuple | list):
        count = int(given)
        if count > min(ranks):
            rules.mismatch(ctx, "tuple index out of range", IndexError)
        pairs = [(ranks[0] - count + i, i) for i in range(count)]
    else:
        one, two = [axes_of(ctx, g, rank, "tensordot") for g, rank in zip(given, ranks, strict=True)]
        if len(one) != len(two):
            rules.mismatch(ctx, "shape-mismatch for sum")
        pairs = list(zip(one, two))
    *both, free = factors(ctx, rules, a, b, "tensordot", lambda *_: pairs, MOST_AXES, axes=given)
    (left, right), weak = rules.common(ctx, both)
    how = precision_of(ctx, rules, precision, preferred_element_type, "tensordot")
    value = _contract(ctx, rules, left, right, pairs, how, "tensordot")
    return result_with(ctx, rules.array(ctx, value, weak and how.preferred is None), free)


@twins(np.kron, jnp.kron, delegates=False)
def kron(ctx: Context, rules: Rules, a: Raw, b: Raw) -> Abstract:
    """The Kronecker product: each element of `a` times all of `b`."""
    (one, ours), (two, theirs) = [_spread(ctx, rules, x, which) for which, x in enumerate((a, b))]
    made = ctx.call(Const(rules.module.multiply), [one, two])
    rank = max(len(ours), len(theirs))
    if rank < 2:
        return ctx.call(Const(rules.module.ravel), [made]) if rank else made
    shapes = [(*[Const(1)] * (rank - len(s)), *s) for s in (ours, theirs)]
    whole = [binary(ctx, "*", n, m) for n, m in zip(*shapes)]
    return ctx.call(Const(rules.module.reshape), [made, Tuple(tuple(whole))])


def _spread(ctx: Context, rules: Rules, x: Raw, which: int) -> tuple[Abstract, list[Abstract]]:
    """An operand of `kron`, with an axis for the other behind (or before) each of its own; and its shape."""
    array = ctx.call(Const(rules.module.asarray), [abstract(x)])
    axes = axes_known(ctx, rules, array, "kron")
    shape: list[Abstract] = (
        extents_of(ctx, array)
        if isinstance(array, Bounded)
        else [Const(n) for n in axes if isinstance(n, int)]
    )
    each = (NONE, SliceObject(NONE, NONE, NONE))[:: 1 if which else -1]
    return (array_getitem(ctx, array, Tuple(each * len(shape))) if shape else array), shape


@twins(np.cross, None, delegates=False)
def cross(
    ctx: Context,
    rules: Rules,
    a: Raw,
    b: Raw,
    axisa: Raw = -1,
    axisb: Raw = -1,
    axisc: Raw = -1,
    axis: Raw = None,
) -> Abstract:
    """The cross product of vectors of three elements along an axis."""
    left, right, _ = _pair(ctx, rules, a, b, "cross")
    chosen = (axisa, axisb, axisc) if is_none(axis) else (axis, axis, axis)
    for given in (left, right):
        if not given.type.rank:
            rules.mismatch(ctx, "At least one array has zero dimension")
    at = [axis_of(ctx, x, v.type.rank, "cross") for x, v in zip(chosen, (left, right))]
    if left.type.shape[at[0]] != 3 or right.type.shape[at[1]] != 3:
        ctx.fail(
            ArgumentNotStaged(span=ctx.span, function="np.cross", argument="vectors of other than 3 elements")
        )
    one, two = [_components(ctx, v, i) for v, i in zip((left, right), at)]
    shape = broadcast_shape(ctx, "np.cross", one[0].type.shape, two[0].type.shape)
    x, y = [[ctx.broadcast(c, shape) for c in v] for v in (one, two)]
    parts: list[Abstract] = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        difference = ctx.op(Subtract(), ctx.op(Multiply(), x[i], y[j]), ctx.op(Multiply(), x[j], y[i]))
        parts.append(rules.array(ctx, difference))
    where = axis_of(ctx, chosen[2], len(shape) + 1, "cross")
    return ctx.call(Const(np.stack), [Tuple(tuple(parts))], {"axis": Const(where)})


def _components(ctx: Context, value: Value, axis: int) -> list[Value]:
    shape = value.type.shape
    rest = (*shape[:axis], *shape[axis + 1 :])
    return [ctx.reshape(part(ctx, value, axis, i, i + 1), rest) for i in range(3)]


@twins(np.linalg.multi_dot, None, delegates=False)
def multi_dot(ctx: Context, rules: Rules, arrays: Raw) -> Abstract:
    """The product of several matrices, in the order that takes the fewest multiplications."""
    items = ctx.iterate(abstract(arrays)) or []
    if len(items) < 2:
        ctx.raise_(ValueError("Expecting at least two arrays."))
    if len(items) == 2:
        return ctx.call(Const(np.dot), items)
    shapes = [array_argument(ctx, rules, item, "multi_dot").shape for item in items]
    for place, shape in enumerate(shapes):
        if len(shape) != 2 and not (len(shape) == 1 and place in (0, len(items) - 1)):
            text = f"{len(shape)}-dimensional array given. Array must be two-dimensional"
            ctx.raise_(np.linalg.LinAlgError(text))
    rows = 1 if len(shapes[0]) == 1 else shapes[0][0]
    splits = _chain_splits([rows, *[s[0] for s in shapes[1:]], 1 if len(shapes[-1]) == 1 else shapes[-1][1]])

    def of(first: int, last: int) -> Abstract:
        if first == last:
            return items[first]
        middle = splits[first, last]
        return ctx.call(Const(np.dot), [of(first, middle), of(middle + 1, last)])

    return of(0, len(items) - 1)


def _chain_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """The positions at which to split each part of a chain of matrices of shapes `(sizes[i], sizes[i + 1])`: the first of
    the cheapest.

    Cormen et al., "Introduction to Algorithms", 15.2 (matrix-chain multiplication)."""
    count = len(sizes) - 1
    costs = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ways = [
                costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)
            ]
            costs[i, j] = min(ways)
            splits[i, j] = i + ways.index(costs[i, j])
    return splits
