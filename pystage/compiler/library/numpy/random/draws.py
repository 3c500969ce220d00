"""Draws from the user's random generators, which the host performs before the program runs.

In: a generator, the name of a method, and abstract arguments. Out: a `Draw` (`ops/host/draw.py`), whose type a trial draw
from another generator determines. Arguments are constants or unchanged inputs of the program; a computed argument is
demanded as a constant, or refused (PS606).
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....diagnostics.codes_calls import NotServed, WrongArguments
from ....diagnostics.codes_constant import NotKnown
from ....diagnostics.codes_types import ArgumentNotStaged
from ....diagnostics.diagnostic import DiagnosticError
from ....hlo.ir import Value
from ....hlo.types import SHORT_NAMES, ArrayType
from ....ops.host.draw import HANDLE, Action, Operand
from ....values.boundary import Form
from ....values.generators import GENERATORS, IN_PROGRAM, bits_of, handle_of
from ....values.lattice import NONE, Abstract, Array, Const, ObjectCell, Ref, Tuple
from ...context import Context, Raw
from ...kernels.layout import keeps_order
from ...kernels.structures import MISSING, cell_of, known_object
from ...rules.jax import is_none
from ..indexing.stores import dtype_of, shape_of, store_out
from .placeholders import placeholder

INSTEAD = "draw standard numbers and compute with them, or use jax.random with a key"
FIXED = frozenset({"size", "dtype", "axis", "method", "replace", "shuffle", "endpoint", "check_valid", "tol"})
"""Parameters that must be constants: they decide types, or the number of draws."""
_BY_SIZE = {"rand": "random_sample", "randn": "standard_normal"}
"""Methods that take the extents as arguments, and their equivalents."""
_BATCHED = frozenset(
    [
        *(
            "random",
            "random_sample",
            "uniform",
            "standard_normal",
            "normal",
            "lognormal",
            "laplace",
            "logistic",
        ),
        *(
            "standard_exponential",
            "exponential",
            "gumbel",
            "rayleigh",
            "standard_cauchy",
            "weibull",
            "pareto",
        ),
        *(
            "power",
            "integers",
            "randint",
            "poisson",
            "binomial",
            "geometric",
            "gamma",
            "standard_gamma",
            "beta",
        ),
        *("chisquare", "triangular", "vonmises", "wald", "zipf", "standard_t"),
    ]
)
"""Methods whose draw of many numbers gives the same as many draws of one number, for every bit generator."""
_LARGE = 1 << 16
"""The number of numbers that are not drawn just to find their type."""


_REFUSALS = (TypeError, ValueError, IndexError, OverflowError)
"""Classes of the exceptions with which a generator refuses arguments."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """The exception of a trial draw, and whether it had drawn something before."""

    error: Exception
    has_drawn: bool


class ActionBuilder:
    """An action under construction: the arguments that the host passes, and the operands that they stand for."""

    def __init__(self, ctx: Context, name: str) -> None:
        self.ctx = ctx
        self.name = name
        self.operands: list[Value] = []

    def operand(self, value: Value) -> Operand:
        """The operand that represents a value among the arguments."""
        self.operands.append(value)
        return Operand(len(self.operands) - 1)

    def argument(self, raw: Raw, parameter: str) -> Any:
        """An argument as the host passes it: a constant, or an `Operand`."""
        ctx = self.ctx
        known = known_object(ctx, raw)
        if known is not MISSING:
            return known
        cell = cell_of(ctx, raw)
        if isinstance(cell, ObjectCell) and cell.cls in GENERATORS:
            return self.operand(handle_of(ctx.cell(raw)))
        if parameter not in FIXED:
            read = _read(ctx, raw)
            found = ctx.input_of(read) if isinstance(read, Array) else None
            if found is not None:
                return self.operand(found)
            if isinstance(raw, Ref) and raw.path and isinstance(read, Array):
                raw = read  # the elements that the view has now
            if isinstance(read, Array) and ctx.is_computed(read):
                self.draw_in_program(f"its argument {parameter!r} is computed by the program")
        try:
            return ctx.known(raw, f"the argument {parameter!r} of {self.name}")
        except DiagnosticError as error:
            if not isinstance(error.diagnostic, NotKnown):
                raise
            why = f"its argument {parameter!r} is computed by the program"
            if parameter == "size":
                self.draw_in_program(why)
            raise self.refusal(why) from None

    def draw_in_program(self, why: str) -> None:
        """Restarts inference with the state of the generator in the program, if that is possible."""
        if self.name in IN_PROGRAM and self.operands:
            self.ctx.keep_state(self.operands[0], why)

    def takes_out(self, given: dict[str, Any]) -> Ref | None:
        """Takes the array for the result from the arguments; its shape is the size, if none is given."""
        ctx, out = self.ctx, given.pop("out", None)
        if not is_none(out) and not ctx.is_ndarray(out):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=self.name, argument="out"))
        if not isinstance(out, Ref):
            return None
        if not keeps_order(ctx, out):
            why = "the array for the result may not lie in row-major order"
            raise self.refusal(why, "draw without `out`, and store the result")
        shape = shape_of(ctx, out)
        size = self.argument(given.get("size", Const(None)), "size")
        if size is not None and (tuple(size) if np.ndim(size) else (size,)) != shape:
            ctx.raise_(ValueError("size must match out.shape when used together"))
        given["size"] = shape
        return out

    def check_out(self, out: Ref, dtype: Any) -> None:
        """NumPy's TypeError for an array of another element type than the draws."""
        wanted, found = np.dtype(dtype or np.float64), dtype_of(self.ctx, out)
        if found != wanted:
            text = "Supplied output array has the wrong type."
            self.ctx.raise_(TypeError(f"{text} Expected {wanted}, got {found}"))

    def refusal(self, why: str, instead: str = INSTEAD) -> DiagnosticError:
        """PS606 for this call."""
        return DiagnosticError(NotServed(span=self.ctx.span, name=self.name, why=why, instead=instead))

    def perform(
        self,
        function: Callable[..., Any] | str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        sample: Any,
        batched: bool = False,
    ) -> Abstract:
        """Performs the action, with a result of the type and the kind of `sample`."""
        action = Action(self.name, function, tuple(args), tuple(kwargs.items()), batched=batched)
        if sample is None:
            self.ctx.draw(action, self.operands, None)
            return NONE
        array = np.asarray(sample)
        if array.dtype not in SHORT_NAMES:
            raise self.refusal(f"what it draws has the element type {array.dtype}")
        value = self.ctx.draw(action, self.operands, ArrayType(array.dtype, array.shape))
        assert value is not None
        if isinstance(sample, np.ndarray):
            return self.ctx.ndarray(value)
        return Array(value, Form.SCALAR if isinstance(sample, np.generic) else Form.PYTHON)

    def makes(self, cls: type, function: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Abstract:
        """Performs the action, which gives a new generator."""
        action = Action(self.name, function, tuple(args), tuple(kwargs.items()), makes=True)
        value = self.ctx.draw(action, self.operands, HANDLE)
        assert value is not None
        return self.ctx.new_generator(cls, value)


def _read(ctx: Context, raw: Raw) -> Any:
    """A number or an array of the program; None for anything else."""
    if isinstance(raw, Array):
        return raw
    if isinstance(raw, Ref) and ctx.is_ndarray(raw):
        return ctx.read(raw)
    return None


def bound(
    ctx: Context, cls: type, name: str, args: Sequence[Raw], kwargs: Mapping[str, Raw]
) -> dict[str, Any]:
    """The arguments of a method by parameter, as far as they are given."""
    signature = inspect.signature(getattr(cls, name))
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError as error:
        ctx.fail(WrongArguments(span=ctx.span, name=f"{cls.__name__}.{name}", why=str(error)))
    given = dict(list(bound.arguments.items())[1:])
    return given


# ---------------------------------------------------------------- drawing


def receiver_of(ctx: Context, receiver: Any) -> tuple[type, Value]:
    """The class of a generator, and its number."""
    given = receiver.value if isinstance(receiver, Const) else receiver
    ref = given if isinstance(given, Ref) else ctx.captured_generator(given)
    cell = ctx.cell(ref)
    return cell.cls, handle_of(cell)


def title(receiver: Any, cls: type, name: str) -> str:
    """What the user calls a method of a generator: `Generator.normal`, or `np.random.normal` of NumPy's own."""
    given = receiver.value if isinstance(receiver, Const) else receiver
    return f"np.random.{name}" if given is _OF_NUMPY else f"{cls.__name__}.{name}"


_OF_NUMPY: Any = np.random.normal.__self__  # type: ignore[attr-defined]
DRAWS = (np.random.Generator, np.random.RandomState)
"""The classes whose methods draw."""


def scratch(cls: type) -> Any:
    """A generator of the class for trial draws."""
    return np.random.Generator(np.random.PCG64(0)) if cls is np.random.Generator else np.random.RandomState(0)


def has_drawn(generator: Any) -> bool:
    """True if a generator for trial draws has changed; it must not be used after that."""
    made = scratch(type(generator))
    return bool(bits_of(generator).random_raw() != bits_of(made).random_raw())


def drawn(ctx: Context, receiver: Any, name: str, args: tuple[Raw, ...], kwargs: dict[str, Raw]) -> Abstract:
    """A draw whose arguments describe a distribution."""
    cls, handle = receiver_of(ctx, receiver)
    call = ActionBuilder(ctx, title(receiver, cls, name))
    first = call.operand(handle)
    given: dict[str, Any]
    if name in _BY_SIZE and not kwargs:
        name, given = _BY_SIZE[name], {"size": Tuple(args)} if args else {}
    else:
        given = bound(ctx, cls, name, args, kwargs)
    out = call.takes_out(given)
    known = {k: call.argument(v, k) for k, v in given.items()}
    if out is not None:
        call.check_out(out, known.get("dtype"))
    sample = _sample(call, cls, name, known)
    if isinstance(sample, _Raised):
        if sample.has_drawn:
            call.perform(drawn_before_it_raises, (first, name), known, None)
        ctx.raise_(sample.error)
    batched = name in _BATCHED and all(_is_batched(name, k, v) for k, v in known.items())
    result = call.perform(name, (first,), known, sample, batched)
    return stored(ctx, out, result, call.name) if out is not None else _with_range(result, name, known)


def drawn_before_it_raises(generator: Any, name: str, **given: Any) -> None:
    """The draws of a method that then raises."""
    with contextlib.suppress(*_REFUSALS):
        getattr(generator, name)(**given)


def _is_batched(name: str, parameter: str, given: Any) -> bool:
    """True if many draws at once give the same as single draws, for this argument.

    Draws of small integers take several from one number of the generator, anew in each call.
    """
    if parameter == "size":
        return True
    if parameter == "dtype" and name in ("integers", "randint"):
        return False
    return not isinstance(given, Operand) and not np.ndim(given)


def stored(ctx: Context, out: Ref, result: Abstract, name: str) -> Ref:
    """A result in the array that the caller gave for it."""
    value = ctx.read(result)
    assert isinstance(value, Array)
    store_out(ctx, out, value.value, name)
    return out


def _with_range(result: Abstract, name: str, known: Mapping[str, Any]) -> Abstract:
    """A drawn integer with the range that the limits given for it set."""
    low, high = known.get("low"), known.get("high")
    if name not in ("integers", "randint") or not isinstance(result, Array) or known.get("endpoint"):
        return result
    if high is None:
        low, high = 0, low
    if type(low) is int and type(high) is int:
        return Array(result.value, result.form, range=(low, high - 1))
    return result


def _sample(call: ActionBuilder, cls: type, name: str, known: Mapping[str, Any]) -> Any:
    """The result of a trial draw, from another generator; of operands only the types count.

    Of constants that are not allowed it is what NumPy raises.
    """
    operands = {k: v for k, v in known.items() if isinstance(v, Operand)}
    alone = known.get("high") is None and name != "uniform"
    values = {k: placeholder(k, call.operands[v.index].type, name, alone) for k, v in operands.items()}
    generator = scratch(cls)
    function = getattr(generator, name)
    size = known.get("size")
    extents = (size,) if isinstance(size, int | np.integer) else size
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(extents, tuple | list) and np.prod(extents, dtype=float) > _LARGE:
                few = function(**{**known, **values, "size": (0, *extents[1:])})
                return np.broadcast_to(np.zeros((), few.dtype), (*extents, *few.shape[len(extents) :]))
            return function(**{**known, **values})
    except _REFUSALS as error:
        if not operands:
            return _Raised(error, has_drawn(generator))
        raise call.refusal(f"with these arguments it draws nothing that is known now ({error})") from None
