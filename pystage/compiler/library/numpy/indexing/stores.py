"""Stores into ndarrays: replacement of the array in the cell that owns the memory, through all views of it.

In: a reference to an ndarray, and the new value. Out: the updated cell in `ctx.state`. Values are cast as NumPy's
assignment casts them, without checks for loss.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NoReturn

import numpy as np

from ....diagnostics.codes_types import NoCast, NotNumeric
from ....hlo.ir import Value
from ....hlo.types import BOOL, FLOAT64, SHORT_NAMES, DType, is_complex, is_floating, is_integer
from ....ops import And, Compare, Constant, Convert, Not, Real, Select
from ....values.boundary import Form
from ....values.gated import GatedNumber
from ....values.lattice import Abstract, Array, ArrayCell, Const, Frozen, Ref, Unknown
from ....values.views import Flipped, Permuted, Reshaped, path_type, read_path, write_path
from ...context import Context, ExceptionCase, Raw
from ...kernels.layout import check_layout
from ...rules.bounds import check_fits, ends_of
from ...rules.split import of_one_kind


def store_through(
    ctx: Context, ref: Ref, new: Value, masked: bool = True, memory: str = "assignment destination"
) -> None:
    """Stores `new`, broadcast and cast, into the ndarray `ref` (a view or an owner).

    With `masked` False, `new` is what it holds already where the program has raised before. Raises NumPy's
    ValueError in the program where `memory`, as the operation calls it, is read-only, or `new` has another shape.
    """
    cell = check_writable(ctx, ref, memory)
    check_layout(ctx, ref.cell)
    shape = path_shape(ref, cell.value)
    fitted = fit(ctx, cast(ctx, new, dtype_of(ctx, ref)), shape)
    path = ref.path
    while path and isinstance(path[-1], Reshaped | Permuted | Flipped):  # these write blindly
        last, path = path[-1], path[:-1]
        if isinstance(last, Reshaped):
            fitted = ctx.reshape(fitted, path_shape(Ref(ref.cell, path), cell.value))
        else:
            fitted = last.write(ctx.b, fitted, fitted)

    ctx.state.stores = True

    def store(owner: Ref, condition: Value | None) -> None:
        content, way = ctx.state.get(owner.cell), (*owner.path, *path)
        if content.writable is False or any(view.read_only for view in way):
            return  # the program has raised, if it is this one
        masks = [condition, ctx.store_mask(owner.cell) if masked else None]
        new = fitted
        for mask in masks:
            if mask is not None:
                new = ctx.op(Select(), mask, new, read_path(ctx.b, content.value, way))
        ctx.state.set(owner.cell, replace(content, value=write_path(ctx.b, content.value, way, new)))

    store(Ref(ref.cell), None)
    if cell.aliases:
        ctx.store_to_aliases(ref.cell, store)
    if cell.frozen is not Frozen.NOT:
        ctx.store_to_element(ref.cell)


def check_writable(ctx: Context, ref: Ref, memory: str = "assignment destination") -> ArrayCell:
    """Raises NumPy's ValueError in the program where `memory`, as the operation calls it, is read-only; gives its owner."""
    cell = ctx.settle(ref)
    assert isinstance(cell, ArrayCell)
    text = f"{memory} is read-only"
    ctx.state.stored.add(ref.cell)
    if cell.writable is False or any(view.read_only for view in ref.path):
        ctx.raise_(ValueError(text))
    if isinstance(cell.writable, Value):
        ctx.check(ctx.op(Not(), cell.writable), ValueError(text), _refuse, [text])
    return cell


def _refuse(text: str) -> None:
    raise ValueError(text)


def path_shape(ref: Ref, base: Value) -> tuple[int, ...]:
    """The shape of the view that `ref` is, without an operation."""
    return path_type(base.type, ref.path).shape


def shape_of(ctx: Context, ref: Ref) -> tuple[int, ...]:
    """The shape of the ndarray that `ref` stands for, without an operation."""
    content = ctx.state.get(ref.cell)
    if isinstance(content, Unknown):
        ctx.fail(content.reason)
    return path_shape(ref, content.value)


def dtype_of(ctx: Context, ref: Ref) -> DType:
    """The element type of the ndarray that `ref` stands for (a part of a complex array included)."""
    return path_type(ctx.state.get(ref.cell).value.type, ref.path).dtype


def fit(ctx: Context, value: Value, shape: tuple[int, ...]) -> Value:
    """`value` broadcast to the shape of what it is stored into; leading axes of one element are dropped."""
    own = value.type.shape
    extra = max(len(own) - len(shape), 0)
    trimmed = own[extra:]
    if not broadcasts(own, shape):
        ctx.raise_(
            ValueError(
                f"could not broadcast input array from shape {shape_text(own)} into shape {shape_text(shape)}"
            )
        )
    return ctx.broadcast(ctx.reshape(value, trimmed), shape)


def broadcasts(own: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """True if a value of shape `own` can be stored into one of `shape`, in which None is any number."""
    extra = max(len(own) - len(shape), 0)
    return all(n == 1 for n in own[:extra]) and all(
        m is None or n in (1, m) for n, m in zip(own[::-1], shape[::-1])
    )


def mismatch(ctx: Context, own: tuple[int, ...], selected: tuple[int, ...]) -> NoReturn:
    """Raises NumPy's ValueError in the program for a value that does not have the shape of what an index selects."""
    text = f"shape mismatch: value array of shape {shape_text(own)} could not be broadcast to indexing result"
    ctx.raise_(ValueError(f"{text} of shape {shape_text(selected)}"))


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as NumPy's errors write it."""
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def cast(ctx: Context, value: Value, dtype: DType, jax: bool = False) -> Value:
    """`value` in another element type, as `astype` casts: complex numbers lose their imaginary part.

    With `jax` what an integer type does not hold saturates.
    """
    if is_complex(value.type.dtype) and not is_complex(dtype) and dtype != BOOL:
        value = ctx.op(Real(), value)
    if jax and is_floating(value.type.dtype) and is_integer(dtype):
        return ctx.op(Convert(dtype, by_xla=True), value)
    return ctx.convert(value, dtype)


def stored_value(ctx: Context, raw: Raw, dtype: DType, what: str, jax: bool = False) -> Value:
    """The value of an assignment to elements of `dtype`, cast to it.

    A known number that does not fit (300 into uint8, nan into int64) raises in the program what NumPy raises;
    with `jax`, it is cast as JAX casts.
    """
    read = ctx.number(raw)
    if isinstance(read, GatedNumber):
        if _is_stored_alike(read, dtype):
            return cast(ctx, read.value, dtype, jax)
        read = of_one_kind(ctx, read, what)
    if isinstance(read, Const):
        return ctx.constant(_cast_known(ctx, read.value, dtype, what, jax), dtype)
    refused = "i" if read.form is Form.SCALAR else "iuf"
    if is_complex(read.dtype) and dtype.kind in refused and not read.shape and not jax:
        ctx.raise_(TypeError(_NO_COMPLEX[dtype.kind == "f"]))
    if not jax:
        check_fits(ctx, read, dtype)
        check_float(ctx, read, dtype)
    return cast(ctx, read.value, dtype, jax)


_NO_COMPLEX = (
    "int() argument must be a string, a bytes-like object or a real number, not 'complex'",
    "float() argument must be a string or a real number, not 'complex'",
)


def _is_stored_alike(read: GatedNumber, dtype: DType) -> bool:
    """True for a number that elements of `dtype` hold, or are rounded to, whichever of its kinds it is of."""
    if np.can_cast(read.dtype, dtype, "safe"):
        return read.whole is None
    return read.dtype == FLOAT64 and is_floating(dtype) and read.whole is None


def check_float(ctx: Context, read: Array, dtype: DType) -> None:
    """A Python float stored into integers is made a Python int first: NaN and what does not fit raise."""
    if read.dtype != FLOAT64 or read.form is not Form.PYTHON or not is_integer(dtype):
        return
    least, most = ends_of(dtype)
    above = ctx.op(Compare("GT"), read.value, ctx.constant(least - 1, FLOAT64))
    if float(least - 1) == least:
        above = ctx.op(Compare("GE"), read.value, ctx.constant(least, FLOAT64))
    inside = ctx.op(And(), above, ctx.op(Compare("LT"), read.value, ctx.constant(most + 1, FLOAT64)))

    def store(value: float) -> None:
        np.zeros((), dtype)[()] = value

    isnan = ctx.op(Compare("NE"), read.value, read.value)
    ctx.check_first(
        ctx.op(Not(), inside),
        [
            ExceptionCase(isnan, ValueError("cannot convert float NaN to integer"), store, [read]),
            ExceptionCase(None, OverflowError("Python integer out of bounds"), store, [read]),
        ],
    )


def _cast_known(ctx: Context, value: object, dtype: DType, what: str, jax: bool) -> np.ndarray:
    """A known number, or a tuple of numbers, as an array of `dtype`."""
    source = np.asarray(value)
    if source.dtype not in SHORT_NAMES and source.dtype.kind not in "iuO":
        ctx.fail(NotNumeric(span=ctx.span, what=what, kind=type(value).__name__))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if jax or isinstance(value, np.generic):
            return source.astype(dtype)
        target = np.zeros(source.shape, dtype)
        try:
            target[...] = value  # type: ignore[assignment]
        except (TypeError, ValueError, OverflowError) as error:
            ctx.raise_(error)
    return target


def store_out(ctx: Context, out: Ref, value: Value, function: str) -> None:
    """A result stored into an `out` argument: the same shape, and a cast of kind same_kind."""
    target = dtype_of(ctx, out)
    shape = shape_of(ctx, out)
    if value.type.shape != shape:
        ctx.raise_(
            ValueError(
                f"output parameter for reduction operation {function} has the wrong shape "
                f"{shape_text(shape)}, expected {shape_text(value.type.shape)}"
            )
        )
    source = value.type.dtype
    if not np.can_cast(source, target, "same_kind"):
        ctx.fail(NoCast(span=ctx.span, operation=f"np.{function}", source=str(source), target=str(target)))
    store_through(ctx, out, value, memory="output array")


def returned_out(ctx: Context, out: Ref, owner: Raw) -> Abstract:
    """The `out` argument as a function returns it that uses the method of `owner`: methods of NumPy scalars give scalars."""
    known = owner.value if isinstance(owner, Const) else owner
    is_scalar = isinstance(known, np.generic) or (isinstance(owner, Array) and owner.form is Form.SCALAR)
    return ctx.new(ctx.contents(out)) if is_scalar and not shape_of(ctx, out) else out


def known_array(value: Value) -> np.ndarray | None:
    """The elements of a value that is a constant of the program, else None."""
    kind = getattr(value.owner, "kind", None)
    return kind.data if isinstance(kind, Constant) else None
