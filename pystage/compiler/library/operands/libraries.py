"""`Rules`: the differences between NumPy and `jax.numpy` that a function depends on.

Most functions exist in both libraries and differ only in element types, in weak types and in the kind of object
that they return. They are implemented once, against `Rules`, and declared for both with `twins`.
"""

from __future__ import annotations

import abc
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from ....records import dataclass
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_types import (
    ArgumentNotStaged,
    DTypeNotStaged,
    NoCast,
    NoSuchOperation,
    ShapeMismatch,
)
from ...hlo.ir import Value
from ...hlo.types import FLOAT64, INT64, SHORT_NAMES, DType, is_complex, is_floating
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent, axes_with
from ...values.gated import GatedNumber
from ...values.lattice import Abstract, Array, ArrayCell, Const, ListCell, NumberKind, Ref, Tuple
from ...values.views import View, read_path
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..kernels.layout import keeps_order
from ..kernels.structures import lift
from ..numpy.indexing.bounded import refuse
from ..numpy.indexing.stores import dtype_of, returned_out, store_out
from ..registry import meaning, signed
from ..rules.jax import (
    AxisProblem,
    as_dtype,
    canonical,
    index_dtype,
    is_jax,
    is_list,
    is_none,
    jax_array,
    known_dtype,
)
from ..rules.promote import inexact, jax_common

MISSING: Any = object()
"""No value: what `plain` gives for what is not known now."""


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """An array argument: its value, JAX's weak type, the kind of object that it was, and its bounded axes."""

    value: Value
    weak: bool = False
    form: Form = Form.NDARRAY
    extents: tuple[Extent, ...] = ()

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.value.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value; known integers."""
        return self.value.type.shape

    @property
    def axes(self) -> tuple[Extent | int, ...]:
        """The axes: bounded ones, and the extents of the others."""
        return axes_with(self.shape, self.extents)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.value.type.shape)

    def of(self, value: Value) -> ArrayArgument:
        """Another value without bounded axes, with the weak type and form of this one."""
        return ArrayArgument(value, self.weak, self.form)


class Rules(abc.ABC):
    """The rules in which NumPy and `jax.numpy` differ."""

    name: str
    module: ModuleType
    is_jax: bool

    @abc.abstractmethod
    def operand(self, ctx: Context, raw: Raw, function: str) -> ArrayArgument:
        """An array argument as the library converts it (`np.asarray`, `jnp.asarray`)."""

    @abc.abstractmethod
    def result(self, ctx: Context, value: Value, weak: bool = False) -> Abstract:
        """A result: NumPy gives a scalar where the rank is 0."""

    @abc.abstractmethod
    def array(self, ctx: Context, value: Value, weak: bool = False) -> Abstract:
        """A result that NumPy gives as an array at rank 0 too."""

    @abc.abstractmethod
    def dtype(self, ctx: Context, raw: Raw, function: str) -> DType:
        """A dtype argument; PS211 where XLA has no such element type."""

    @abc.abstractmethod
    def index_dtype(self, ctx: Context) -> DType:
        """The type of indices and counts."""

    @abc.abstractmethod
    def default_float(self, ctx: Context) -> DType:
        """The type of floats that nothing else decides."""

    @abc.abstractmethod
    def common_dtype(self, ctx: Context, operands: Sequence[ArrayArgument]) -> tuple[DType, bool]:
        """The common element type of arrays, and whether it is weak."""

    def common(self, ctx: Context, operands: Sequence[ArrayArgument]) -> tuple[list[Value], bool]:
        """The operands in their common element type, and whether it is weak."""
        dtype, weak = self.common_dtype(ctx, operands)
        return [ctx.convert(o.value, dtype) for o in operands], weak

    @abc.abstractmethod
    def inexact(self, ctx: Context, dtype: DType) -> DType:
        """The floating-point type in which a mean of `dtype` is computed."""

    @abc.abstractmethod
    def mismatch(self, ctx: Context, text: str, error: type[Exception] = ValueError) -> NoReturn:
        """A call that the library certainly refuses, for its shapes or arguments."""

    def like(self, ctx: Context, operand: ArrayArgument, value: Value) -> Abstract:
        """A result of the same elements as `operand`: a NumPy scalar stays one, a 0-d array too."""
        if operand.form is Form.SCALAR:
            return self.result(ctx, value, operand.weak)
        return self.array(ctx, value, operand.weak)


class NumpyRules(Rules):
    """NumPy 2: 64-bit defaults, scalars, ndarrays that are cells."""

    name = "np"
    module = np
    is_jax = False

    def operand(self, ctx: Context, raw: Raw, function: str) -> ArrayArgument:
        if isinstance(raw, Bounded):
            refuse(ctx, f"np.{function.removeprefix('np.')}", raw)
        if isinstance(raw, GatedNumber) and len({k.dtype for k in raw.kinds}) == 1 and not raw.may_be_jax:
            dtype = raw.kinds[0].dtype
            return ArrayArgument(ctx.convert(raw.whole or raw.value, dtype), False, Form.SCALAR)
        read = ctx.read(raw)
        if isinstance(read, Const):
            return ArrayArgument(numpy_constant(ctx, read.value, function), False, _form_of(read.value))
        return ArrayArgument(read.value, False, read.form)

    def result(self, ctx: Context, value: Value, weak: bool = False) -> Abstract:
        return ctx.new(value)

    def array(self, ctx: Context, value: Value, weak: bool = False) -> Abstract:
        return ctx.ndarray(value)

    def dtype(self, ctx: Context, raw: Raw, function: str) -> DType:
        given = ctx.known(raw, f"the dtype of {function}")
        try:
            dtype = as_dtype(given)
        except TypeError as error:
            ctx.raise_(error)
        if dtype not in SHORT_NAMES:
            ctx.fail(DTypeNotStaged(span=ctx.span, what=function, dtype=str(dtype)))
        return dtype

    def index_dtype(self, ctx: Context) -> DType:
        return INT64

    def default_float(self, ctx: Context) -> DType:
        return FLOAT64

    def inexact(self, ctx: Context, dtype: DType) -> DType:
        return dtype if is_floating(dtype) or is_complex(dtype) else FLOAT64

    def common_dtype(self, ctx: Context, operands: Sequence[ArrayArgument]) -> tuple[DType, bool]:
        dtype: DType = np.result_type(*[o.dtype for o in operands])
        return dtype, False

    def mismatch(self, ctx: Context, text: str, error: type[Exception] = ValueError) -> NoReturn:
        """The program raises NumPy's exception."""
        ctx.raise_(error(text))


class JaxRules(Rules):
    """`jax.numpy` under the user's `jax_enable_x64`: weak types, immutable results."""

    name = "jnp"
    module = jnp
    is_jax = True

    def operand(self, ctx: Context, raw: Raw, function: str) -> ArrayArgument:
        if isinstance(raw, Bounded):
            refuse(ctx, f"jnp.{function}", raw)
        array = jax_array(ctx, raw, function)
        return ArrayArgument(array.value, array.weak, Form.JAX)

    def result(self, ctx: Context, value: Value, weak: bool = False) -> Abstract:
        return ctx.jax(value, weak)

    def array(self, ctx: Context, value: Value, weak: bool = False) -> Abstract:
        return ctx.jax(value, weak)

    def dtype(self, ctx: Context, raw: Raw, function: str) -> DType:
        return known_dtype(ctx, raw, f"the dtype of {function}")

    def index_dtype(self, ctx: Context) -> DType:
        return index_dtype(ctx)

    def default_float(self, ctx: Context) -> DType:
        return canonical(FLOAT64, ctx.x64)

    def inexact(self, ctx: Context, dtype: DType) -> DType:
        return inexact(dtype)

    def common_dtype(self, ctx: Context, operands: Sequence[ArrayArgument]) -> tuple[DType, bool]:
        return jax_common(ctx, tuple([NumberKind(o.dtype, Form.JAX, o.weak) for o in operands]))

    def mismatch(self, ctx: Context, text: str, error: type[Exception] = ValueError) -> NoReturn:
        """Refused with PS206: JAX has exceptions and texts of its own."""
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))


NUMPY = NumpyRules()
JAX = JaxRules()


_OPERANDS = frozenset({"repeats", "v", "sorter"})
"""Parameters beside the first for which methods of `jax.Array`s take arrays and no lists."""


def delegated(ctx: Context, owner: Raw, *others: Raw) -> bool:
    """Whether a NumPy function that uses a method or the operators of `owner` follows JAX's rules.

    So it is where that is a `jax.Array`. But a method of it raises TypeError where one of the `others`, which it takes
    for arrays, is a list: then NumPy's function does without the method, and converts `owner` to an ndarray.
    """
    return is_jax(owner) and not any(is_list(ctx, other) for other in others)


_FORGOTTEN = {"sum": "initial"}
"""An argument that a method of `jax.Array`s has and does nothing with; the function of `jax.numpy` serves it."""


def refuse_forgotten(ctx: Operations, method: str, given: Mapping[str, Raw]) -> None:
    """Raises PS203 where a method of a `jax.Array` is given the argument that it ignores."""
    argument = _FORGOTTEN.get(method, "")
    if not is_none(given.get(argument)):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"jax.Array.{method}", argument=argument))


def as_ndarray(ctx: Context, raw: Raw) -> Raw:
    """`np.asarray` of a `jax.Array`, which is read-only; other values unchanged."""
    if isinstance(raw, Bounded) and isinstance(raw.whole, Array):
        return replace(raw.anew(), whole=_read_only(ctx, raw.whole))
    if not isinstance(raw, Array) or raw.form is not Form.JAX or raw.key_impl is not None:
        return raw
    return _read_only(ctx, raw)


def as_jax(ctx: Context, raw: Raw, function: str) -> Raw:
    """`jnp.asarray` of an ndarray, and of those in a tuple or list; other values unchanged."""
    if isinstance(raw, Bounded):
        whole = jax_array(ctx, raw.whole, function)
        return raw if whole is raw.whole else replace(raw.anew(), whole=whole, type=whole.type)
    if isinstance(raw, Tuple) and raw.cls is tuple:
        return Tuple(tuple([as_jax(ctx, item, function) for item in raw.items]))
    if not isinstance(raw, Ref):
        return raw
    if ctx.is_ndarray(raw):
        return jax_array(ctx, raw, function)
    content = None if raw.path else ctx.state.get(raw.cell)
    if not isinstance(content, ListCell):
        return raw
    return Tuple(tuple([as_jax(ctx, item, function) for item in content.items]))


def _read_only(ctx: Context, array: Array) -> Ref:
    return Ref(ctx.state.new_cell(ArrayCell(array.value, writable=False)))


def _form_of(value: object) -> Form:
    return Form.SCALAR if isinstance(value, np.generic) else Form.PYTHON


def numpy_constant(ctx: Operations, value: object, function: str) -> Value:
    """A known number (or a tuple of numbers) as `np.asarray` makes an array of it."""
    array = np.asarray(value)
    if array.dtype not in SHORT_NAMES:
        kind = f"the type {type(value).__name__}"
        ctx.fail(NoSuchOperation(span=ctx.span, operation=function, types=kind))
    return ctx.constant(array, array.dtype)


# ---------------------------------------------------------------- what is known now


def plain(ctx: Operations, raw: Raw) -> Any:
    """The Python object for a fully known `raw`, else `MISSING`; lists are not known."""
    match raw:
        case Const(value=value):
            return value
        case Tuple(items=items, cls=cls):
            parts = [plain(ctx, item) for item in items]
            if cls is not tuple or any(p is MISSING for p in parts):
                return MISSING
            return tuple(parts)
        case Abstract():
            return MISSING
        case _:
            return raw


# ---------------------------------------------------------------- views


def with_views(ctx: Context, rules: Rules, raw: Raw, views: Sequence[View], function: str) -> Abstract:
    """`raw` seen through `views`: a view of an ndarray is a reference to its memory, other values are new."""
    if not rules.is_jax and ctx.is_ndarray(raw):
        assert isinstance(raw, Ref)
        return Ref(raw.cell, (*raw.path, *views))
    operand = rules.operand(ctx, raw, function)
    return rules.like(ctx, operand, read_path(ctx.b, operand.value, tuple(views)))


# ---------------------------------------------------------------- declaring

Body = Callable[..., Abstract]


def under(
    rules: Rules,
    function: Body,
    real: Any,
    delegates: bool = False,
    fold: bool = False,
    accumulates: bool = False,
    joins_rows: bool = False,
) -> Body:
    """`function(ctx, rules, …)` as the meaning `(ctx, …)` of the function `real`.

    Of the parameters it serves those that the real function has. `delegates`: NumPy's function uses a method or
    the operators of its first argument, see `delegated`; otherwise it converts all of them by `np.asarray`. `fold`:
    the real function is called where all arguments are known numbers. `accumulates`: NumPy computes in the element
    type of `out`. `joins_rows`: the function takes lists whose length only the program knows as they are.
    """
    name = getattr(real, "__name__", "?")
    signature = functools.cache(lambda: _restricted(function, real))

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        if fold:
            known = [plain(ctx, a) for a in (*args, *kwargs.values())]
            if known and not any(k is MISSING for k in known):
                return _folded(ctx, real, known[: len(args)], dict(zip(kwargs, known[len(args) :])))
        chosen = rules
        if delegates:
            _, first, *rest = signature().parameters
            given = {**dict(zip((first, *rest), args)), **kwargs}
            others = [given[each] for each in _OPERANDS & given.keys()]
            if delegated(ctx, given.get(first), *others):
                chosen = JAX
                refuse_forgotten(ctx, name, given)
        elif not rules.is_jax:
            args = tuple([as_ndarray(ctx, arg) for arg in args])
            kwargs = {key: as_ndarray(ctx, arg) for key, arg in kwargs.items()}
        if rules.is_jax:
            args = tuple([as_jax(ctx, a, name) if isinstance(a, Bounded) else a for a in args])
            kwargs = {k: as_jax(ctx, a, name) if isinstance(a, Bounded) else a for k, a in kwargs.items()}
        try:
            if any(p.kind is p.VAR_POSITIONAL for p in signature().parameters.values()):
                return function(ctx, chosen, *args, **kwargs)
            arguments = signature().bind(ctx, *args, **kwargs).arguments
            arguments.pop("ctx")
            out = arguments.pop("out", None)
            if accumulates and not is_none(out) and is_none(arguments.get("dtype")):
                arguments["dtype"] = _type_of_out(ctx, out, args[0], name)
            result = function(ctx, chosen, **arguments)
        except AxisProblem as problem:
            raise_axis(ctx, problem, chosen.is_jax)
        return (
            result if is_none(out) else _into(ctx, chosen, out, result, name, args[0] if delegates else None)
        )

    call.__name__ = name
    call.__doc__ = function.__doc__
    call.converts = not delegates and not rules.is_jax  # type: ignore[attr-defined]
    call.joins_rows = joins_rows  # type: ignore[attr-defined]
    return signed(call, signature)


def raise_axis(ctx: Context, problem: AxisProblem, is_jax: bool) -> NoReturn:
    """The error for an axis out of range: NumPy raises, JAX's calls and those beyond C's integers are refused."""
    if is_jax or problem.is_beyond_c:
        ctx.fail(problem.in_jax(ctx.span))
    ctx.raise_(problem.in_numpy())


def _restricted(function: Body, real: Any) -> inspect.Signature:
    """The signature of a meaning: what both the declaration and the real function have, as the latter says."""
    whole = inspect.signature(function)
    ctx, _, *ours = whole.parameters.values()
    try:
        theirs = inspect.signature(real).parameters
    except (TypeError, ValueError):
        return whole.replace(parameters=[ctx, *ours])
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in theirs.values()):
        return whole.replace(parameters=[ctx, *ours])
    if any(p.default is p.empty and p.name not in theirs for p in ours):  # other names, as `start_or_stop`
        return whole.replace(parameters=[ctx, *ours])
    given = {p.name: p for p in ours}
    kept = [given[name].replace(kind=p.kind) for name, p in theirs.items() if name in given]
    return whole.replace(parameters=[ctx.replace(kind=ctx.POSITIONAL_ONLY), *kept])


def _folded(ctx: Context, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Abstract:
    """A real function on known arguments; what it raises, the program raises."""
    try:
        with np.errstate(all="ignore"):
            return lift(ctx, function(*args, **kwargs))
    except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:
        ctx.raise_(error)


def _into(ctx: Context, rules: Rules, out: Raw, result: Abstract, name: str, owner: Raw) -> Abstract:
    """Stores a result into the `out` argument; gives the result of a call that uses the method of `owner`, if any."""
    if rules.is_jax or not ctx.is_ndarray(out):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"{rules.name}.{name}", argument="out"))
    read = NUMPY.operand(ctx, result, name)
    if name == "dot":
        if read.dtype != dtype_of(ctx, out):
            ctx.raise_(ValueError(_NOT_ACCEPTABLE))
        if not keeps_order(ctx, out):
            why, instead = "NumPy refuses one that is not", "store the product: `out[...] = np.dot(a, b)`"
            what = "np.dot into an array that may not lie row by row"
            ctx.fail(NotServed(span=ctx.span, name=what, why=why, instead=instead))
    store_out(ctx, out, read.value, name)
    if name == "dot" and not read.shape:  # not `out`, but a scalar
        return result
    return returned_out(ctx, out, owner)


_NOT_ACCEPTABLE = (
    "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
)
_OF_FLOATS = ("mean", "nanmean", "var", "std", "nanvar", "nanstd")
"""Functions that compute integers in float64, whatever `out` is."""


def _type_of_out(ctx: Context, out: Raw, a: Raw, name: str) -> Abstract | None:
    """The `dtype` argument that an `out` argument stands for; None where it says nothing."""
    if not isinstance(out, Ref) or not ctx.is_ndarray(out):
        return None
    source, target = NUMPY.operand(ctx, a, name).dtype, dtype_of(ctx, out)
    if name in _OF_FLOATS and (source.kind in "biu" or target.kind in "biu"):
        return None
    if not np.can_cast(source, target, "same_kind"):
        ctx.fail(NoCast(span=ctx.span, operation=f"np.{name}", source=str(source), target=str(target)))
    return Const(target)


def twins(
    numpy_function: Any,
    jax_function: Any,
    *,
    delegates: bool = True,
    fold: bool = False,
    accumulates: bool = False,
    joins_rows: bool = False,
) -> Callable[[Body], Body]:
    """Declares `(ctx, rules, …)` as the meaning of a NumPy function and of its twin in `jax.numpy`.

    Either may be None. See `under` for the options.
    """

    def declare(function: Body) -> Body:
        if numpy_function is not None:
            made = under(NUMPY, function, numpy_function, delegates, fold, accumulates, joins_rows)
            meaning(numpy_function)(made)
        if jax_function is not None:
            meaning(jax_function)(under(JAX, function, jax_function))
        return function

    return declare
