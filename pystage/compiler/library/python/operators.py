"""Python's operators on abstract values: the entry points for inference.

In: an operator's symbol and abstract operands. Out: the abstract result, with the kind, element type and shape of the plain
run's. Operators of user classes are dispatched earlier.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...analysis.ranges import negate, open_ends
from ...diagnostics.codes_types import NoSuchOperation
from ...hlo.ir import Value
from ...hlo.types import BOOL, FLOAT64, INT64, is_complex, is_floating
from ...ops import Negate, Not, Select
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber
from ...values.lattice import (
    KNOWN_NUMBERS,
    Abstract,
    Array,
    Const,
    NumberKind,
    ObjectCell,
    Ref,
    Tuple,
    Unknown,
    is_number,
)
from ..containers.sequences import as_array_argument
from ..containers.sequences import is_sequence as is_sequence_object
from ..context import Context, Raw
from ..kernels.number_checks import both, check_least
from ..kernels.number_checks import either as any_of
from ..kernels.structures import (
    MISSING,
    abstract,
    call_now,
    cell_of,
    is_sequence,
    known_object,
    new_list,
    type_name,
)
from ..numpy.indexing.bounded import (
    belonging,
    bounded,
    elements,
    in_order,
    refuse,
    where,
    with_masks,
)
from ..numpy.indexing.bounded_operands import beside, computing_for, elementwise, own_anchors
from ..numpy.indexing.stores import check_writable, store_through
from ..numpy.ufuncs import ufuncs as u
from ..numpy.ufuncs.elementwise import (
    ElementwiseFunction,
    apply_loop,
    compute,
    known_comparison,
    staged_python_integer,
    store_result,
)
from ..numpy.ufuncs.powers import check_power, function_of_exponent, special_power
from ..operands.rows_as_arrays import array_of_rows
from ..rules.classes import class_name, class_of
from ..rules.jax import is_jax
from ..rules.promote import LoopTypes, Operand, Rule, kinds_of, resolve, value_of
from ..rules.split import NeedsSplit, split_operation, split_value
from . import strings
from . import structure_operators as structure
from .numbers.python_numbers import PYTHON_OPERATORS, apply_python, python_loop
from .string_comparisons import tested

FUNCTIONS: dict[str, ElementwiseFunction] = {
    "+": u.ADD,
    "-": u.SUBTRACT,
    "*": u.MULTIPLY,
    "/": u.DIVIDE,
    "//": u.FLOOR_DIVIDE,
    "%": u.REMAINDER,
    "**": u.POWER,
    "<<": u.LEFT_SHIFT,
    ">>": u.RIGHT_SHIFT,
    "&": u.BITWISE_AND,
    "|": u.BITWISE_OR,
    "^": u.BITWISE_XOR,
    "==": u.EQUAL,
    "!=": u.NOT_EQUAL,
    "<": u.LESS,
    "<=": u.LESS_EQUAL,
    ">": u.GREATER,
    ">=": u.GREATER_EQUAL,
}
"""The functions of arrays for operators."""

_OF_COMPLEX = frozenset({"+", "-", "*", "/", "**", "==", "!="})
"""The operators that Python's complex numbers have."""

_UNARY: dict[str, tuple[Callable[[Any], Any], ElementwiseFunction]] = {
    "-": (operator.neg, u.NEGATIVE),
    "+": (operator.pos, u.POSITIVE),
    "~": (operator.invert, u.INVERT),
}


# ---------------------------------------------------------------- doors


def binary(ctx: Context, op: str, left: Raw, right: Raw) -> Abstract:
    """`left op right` for an arithmetic operator: `+ - * / // % ** @ << >> & | ^`."""
    if type(left) is Array and type(right) is Array:
        return _matmul(ctx, left, right) if op == "@" else numeric_binary(ctx, op, left, right)
    overloaded = ctx.overloaded(op, left, right)
    if overloaded is not None:
        return overloaded
    left, right = _beside_arrays(ctx, op, left, right)
    if isinstance(left, Bounded) or isinstance(right, Bounded):
        if op == "@":
            return _matmul(ctx, abstract(left), abstract(right))
        return elementwise(
            ctx, f"the operator {op}", PYTHON_OPERATORS[op], lambda x, y: binary(ctx, op, x, y), left, right
        )
    left, right = abstract(left), abstract(right)
    made = strings.binary(ctx, PYTHON_OPERATORS[op], left, right)
    if made is not None:
        return made
    if isinstance(left, Const) and isinstance(right, Const):
        return call_now(ctx, PYTHON_OPERATORS[op], left.value, right.value)
    if _numeric_pair(ctx, op, left, right):
        return _matmul(ctx, left, right) if op == "@" else numeric_binary(ctx, op, left, right)
    made = structure.binary(ctx, op, left, right)
    return made if made is not None else no_such(ctx, op, left, right)


def _beside_arrays(ctx: Context, op: str, left: Raw, right: Raw) -> tuple[Raw, Raw]:
    """The operands; a list of rows or an `array.array` beside an ndarray becomes the array that NumPy makes of it: JAX takes
    no lists.
    """
    if converts_sequence(ctx, op, left, right):
        left, right = [as_array_argument(ctx, x) for x in (left, right)]
    if _is_ndarray(ctx, right):
        left = array_of_rows(ctx, left)
    if _is_ndarray(ctx, left):
        right = array_of_rows(ctx, right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Bounded) and one.form is Form.JAX and is_sequence(ctx, other):
            no_such(ctx, op, abstract(left), abstract(right))
    return left, right


def converts_sequence(ctx: Context, op: str, left: Raw, right: Raw) -> bool:
    """Whether an array is asked first, and NumPy makes one of the list, deque or `array.array` on the other side."""
    for one, other in ((left, right), (right, left)):
        converts = _is_ndarray(ctx, other) or (op != "*" and _is_array(ctx, abstract(other)))
        if converts and (is_sequence_object(ctx, one) or is_sequence(ctx, one)):
            return True
    return False


def _is_ndarray(ctx: Context, x: Raw) -> bool:
    return x.form is not Form.JAX if isinstance(x, Bounded) else ctx.is_ndarray(x)


def inplace(ctx: Context, op: str, left: Raw, right: Raw) -> Abstract:
    """`left op= right`: the value that the name on the left is bound to afterwards.

    An ndarray is changed in its memory, with NumPy's casting of kind same_kind; a list, set or dict is
    extended; everything else is rebound to `left op right`. (An ndarray with a `jax.Array` too.)
    """
    left, right = abstract(left), abstract(right)
    if _is_ndarray(ctx, left) and isinstance(right, Array | Bounded) and right.form is Form.JAX:
        return binary(ctx, op, left, right)
    if isinstance(left, Bounded) and isinstance(left.whole, Ref):
        return _inplace_selected(ctx, op, left, right)
    if not ctx.is_ndarray(left):
        is_array = converts_sequence(ctx, op, left, right) or is_jax(right)
        made = None if is_array else structure.inplace(ctx, op, left, right)
        if made is None and not (is_number(left) and is_number(right) and op in _OF_ALL_NUMBERS):
            _try_samples(ctx, _INPLACE[op], left, right)
        return made if made is not None else binary(ctx, op, left, right)
    assert isinstance(left, Ref)
    right = abstract(as_array_argument(ctx, right))
    if op == "@":
        return _inplace_matmul(ctx, left, right)
    function = FUNCTIONS[op]
    if isinstance(right, Bounded):
        check_writable(ctx, left, "output array")
        whole = Bounded(left, ctx.contents(left).type, ())
        right = abstract(beside(ctx, f"the operator {op}=", _in_memory(op), whole, right))
    operands = [ctx.read(left), ctx.read(right)]
    if op == "**":
        check_power(ctx, operands)
        known = function_of_exponent(operands)
        function, operands = (function, operands) if known is None else (known, operands[:1])
    loop = resolve(ctx, f"{op}=", operands, function.loop_for)
    (value,) = compute(ctx, function, operands, loop)
    store_result(ctx, left, value, f"{op}=")
    return left


def _in_memory(op: str) -> Callable[..., None]:
    """The value of `left op= right`, for the exceptions that it raises."""

    def plain(ours: np.ndarray, theirs: np.ndarray) -> None:
        FUNCTIONS[op].ufunc(ours, theirs, out=np.empty(ours.shape, ours.dtype), casting="same_kind")

    return plain


def _inplace_selected(ctx: Context, op: str, left: Bounded, right: Abstract) -> Abstract:
    """`left op= right` of a selection of an ndarray: what is not selected stays as it is."""
    assert isinstance(left.whole, Ref)
    if op == "@":
        refuse(ctx, f"the operator {op}=", left)
    check_writable(ctx, left.whole, "output array")
    masked = with_masks(ctx, left)
    beside_it = with_masks(ctx, right) if isinstance(right, Bounded) else right
    if masked is not left and (is_number(right) or _are_masked_alike(masked, beside_it)):
        whole = ctx.ndarray(belonging(ctx, masked))
        other = ctx.ndarray(belonging(ctx, beside_it)) if isinstance(beside_it, Bounded) else right
        with computing_for(ctx, own_anchors(masked)):
            inplace(ctx, op, whole, other)
        store_through(ctx, left.whole, elements(ctx, in_order(ctx, bounded(ctx, whole, masked.extents))))
        return left
    other = beside(ctx, f"the operator {op}=", _in_memory(op), left, right)
    copy = ctx.ndarray(belonging(ctx, left))
    with computing_for(ctx, own_anchors(left)):
        inplace(ctx, op, copy, other)
    chosen = ctx.op(Select(), where(ctx, left), ctx.contents(copy), elements(ctx, left))
    store_through(ctx, left.whole, chosen)
    return left


def _are_masked_alike(left: Bounded, right: Abstract) -> bool:
    """True for arrays of one shape of which the same masks select the elements."""
    if not isinstance(right, Bounded) or left.type.shape != right.type.shape:
        return False
    return [(e.axis, e.mask) for e in left.extents] == [(e.axis, e.mask) for e in right.extents]


def unary(ctx: Context, op: str, x: Raw) -> Abstract:
    """`-x`, `+x` or `~x`."""
    x = abstract(x)
    plain, function = _UNARY[op]
    if isinstance(x, Const):
        return call_now(ctx, plain, x.value)
    if not is_number(x) and not ctx.is_ndarray(x):
        if isinstance(x, Bounded):
            return elementwise(ctx, f"the operator {op}", plain, lambda y: unary(ctx, op, y), x)
        known = known_object(ctx, x)
        if known is not MISSING:
            return call_now(ctx, plain, known)
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"unary {op}", types=type_name(ctx, x)))
    operand = ctx.number(x)

    def rule(kinds: tuple[NumberKind, ...]) -> LoopTypes | None:
        (kind,) = kinds
        if kind.form is Form.JAX:
            return function.jax_loop(ctx, kinds)
        if kind.form is not Form.PYTHON:
            return function.loop_for(kinds)
        dtype = INT64 if kind.dtype == BOOL else kind.dtype
        return LoopTypes((dtype,), (dtype,), Form.PYTHON) if op != "~" or dtype == INT64 else None

    loop = resolve(ctx, f"unary {op}", [operand], rule)
    if loop.form is Form.PYTHON and loop.outputs[0] == INT64:
        value = value_of(ctx, operand, INT64, Form.PYTHON)
        known = ctx.range_of(operand)
        match op:
            case "-":
                check_least(ctx, operand, "-({})")
                return ctx.python(ctx.op(Negate(), value), open_ends(negate(known), INT64))
            case "+":
                return ctx.python(value, known)
            case _:
                return ctx.python(ctx.op(Not(), value))
    return apply_loop(ctx, function, [operand], loop)


def compare(ctx: Context, op: str, left: Raw, right: Raw) -> Abstract:
    """`left op right` for `== != < <= > >=`."""
    overloaded = ctx.overloaded(op, left, right)
    if overloaded is not None:
        return overloaded
    left, right = _beside_arrays(ctx, op, left, right)
    if isinstance(left, Bounded) or isinstance(right, Bounded):
        return elementwise(
            ctx, f"the operator {op}", PYTHON_OPERATORS[op], lambda x, y: compare(ctx, op, x, y), left, right
        )
    left, right = abstract(left), abstract(right)
    if op in ("==", "!=") and (strings.is_open_string(left) or strings.is_open_string(right)):
        found = _of_text(ctx, PYTHON_OPERATORS[op], left, right)
        if found is not None:
            return found
    for value in (left, right):
        if isinstance(
            value, Gated
        ):  # a string, or a part of a container: operands are split with instructions
            return split_value(
                ctx,
                value,
                lambda one: compare(ctx, op, *[one if x is value else x for x in (left, right)]),  # noqa: B023
            )
    left, right = strings.known(ctx, left), strings.known(ctx, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return call_now(ctx, PYTHON_OPERATORS[op], left.value, right.value)
    if _numeric_pair(ctx, op, left, right):
        return numeric_binary(ctx, op, left, right)
    made = structure.compare(ctx, op, left, right, lambda o, x, y: compare(ctx, o, x, y))
    return made if made is not None else no_such(ctx, op, left, right)


def contains(ctx: Context, item: Raw, container: Raw) -> Abstract:
    """`item in container`."""
    item, container = abstract(item), abstract(container)
    if strings.is_open_string(container) or strings.is_open_string(item):
        among = _of_text(ctx, lambda part, whole: operator.contains(whole, part), item, container)
        if among is not None:
            return among
    item, container = strings.known(ctx, item), strings.known(ctx, container)
    known_item, known_container = known_object(ctx, item), known_object(ctx, container)
    if known_item is not MISSING and known_container is not MISSING:
        return call_now(ctx, operator.contains, known_container, known_item)
    if _is_single_number(container):
        number = class_of(ctx, container)[0](0)
        return call_now(ctx, operator.contains, number, None)  # raises
    if is_number(container) or ctx.is_ndarray(container) or isinstance(container, Bounded):
        found = compare(ctx, "==", container, item)
        jax = container.form is Form.JAX if isinstance(container, Bounded) else is_jax(container)
        return ctx.truth(ctx.call(Const(jnp.any if jax else np.any), [found]))
    return structure.contains(ctx, item, container, lambda x, y: compare(ctx, "==", x, y))


def _of_text(
    ctx: Context, test: Callable[[Any, Any], bool], left: Abstract, right: Abstract
) -> Abstract | None:
    """`test(left, right)` of a known object and a gated string; None for other pairs."""
    first, second = known_object(ctx, left), known_object(ctx, right)
    if isinstance(first, _PLAIN):
        return tested(ctx, right, lambda text: test(first, text))
    if isinstance(second, _PLAIN):
        return tested(ctx, left, lambda text: test(text, second))
    return None


_PLAIN = (str, bytes, bool, int, float, complex, tuple, type(None))


def is_(ctx: Context, left: Raw, right: Raw) -> Abstract:
    """`left is right`, where inference knows the identity of the objects."""
    return structure.is_(ctx, abstract(left), abstract(right), lambda x, y: compare(ctx, "==", x, y))


# ---------------------------------------------------------------- numbers and arrays


def no_such(ctx: Context, op: str, left: Abstract, right: Abstract) -> Any:
    """Fails: the operator is not defined for these types; for operands that were refused before nothing is added.

    A number or an array and None raise what they raise in Python: a variable may be None on a path that is not taken.
    So do two objects without an order, or one and None: where tuples are ordered, numbers before them decide.
    """
    for operand in (left, right):
        if isinstance(operand, Unknown):
            ctx.fail(operand.reason)
    is_none = [isinstance(x, Const) and x.value is None for x in (left, right)]
    if op in PYTHON_OPERATORS and any(is_none):
        _try_samples(ctx, PYTHON_OPERATORS[op], left, right)
    objects = [isinstance(cell_of(ctx, x), ObjectCell) for x in (left, right)]
    if op in ("<", "<=", ">", ">=") and all(a or b for a, b in zip(objects, is_none)):
        first, second = [class_name(ctx, x) for x in (left, right)]
        ctx.raise_(TypeError(f"'{op}' not supported between instances of '{first}' and '{second}'"))
    types = f"{type_name(ctx, left)} and {type_name(ctx, right)}"
    ctx.fail(NoSuchOperation(span=ctx.span, operation=f"the operator {op}", types=types))


_OF_ALL_NUMBERS = ("+", "-", "*", "/", "**")
_INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}


def _try_samples(ctx: Context, function: Callable[[Any, Any], Any], *operands: Abstract) -> None:
    """Raises the TypeError or ValueError that Python raises for operands of these types, if it does."""
    samples = [_sample(ctx, operand) for operand in operands]
    if any(sample is MISSING for sample in samples):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*samples)
    except TypeError as error:
        ctx.raise_(error.with_traceback(None))
    except ValueError as error:
        if isinstance(operands[0], Array | Ref) or isinstance(operands[1], Array | Ref):
            ctx.raise_(ValueError(*error.args))
    except ArithmeticError:
        pass  # of the sample's value


def _sample(ctx: Context, x: Abstract) -> Any:
    """A plain constant, or a number or ndarray of the type of `x`; MISSING for others."""
    if isinstance(x, Const):
        plain = type(x.value) in _PLAIN or isinstance(x.value, np.generic)  # no code of the user's is run
        return x.value if plain else MISSING
    if ctx.is_ndarray(x):
        read = ctx.read(x)
        return np.broadcast_to(np.ones((), read.dtype), read.shape) if isinstance(read, Array) else MISSING
    if isinstance(x, Array) and x.form in (Form.PYTHON, Form.SCALAR):
        return class_of(ctx, x)[0](1)
    return MISSING


def _is_array(ctx: Context, x: Abstract) -> bool:
    """True for a value that makes NumPy read a sequence on the other side as an array."""
    if ctx.is_ndarray(x):
        return True
    if isinstance(x, Const):
        return isinstance(x.value, np.generic)
    return isinstance(x, Array) and x.form is Form.SCALAR


def _numeric_pair(ctx: Context, op: str, left: Abstract, right: Abstract) -> bool:
    """True if the operator is one of numbers and arrays: NumPy reads tuples and lists as arrays, JAX does not."""
    if is_number(left) and is_number(right):
        return True
    sides = []
    for x, other in ((left, right), (right, left)):
        if is_number(x) or ctx.is_ndarray(x):
            sides.append(True)
        elif is_sequence(ctx, x):
            repeats = op == "*" and not ctx.is_ndarray(other)
            sides.append(_is_array(ctx, other) and not repeats)
        else:
            sides.append(False)
    return all(sides)


def numeric_binary(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract:
    """An operator on numbers and arrays: by JAX's rules if one is a `jax.Array`, Python's if both are Python
    numbers, else NumPy's."""
    try:
        return _of_numbers(ctx, op, left, right)
    except NeedsSplit as error:
        asked = error
    return split_operation(ctx, asked, lambda: numeric_binary(ctx, op, left, right))


def _of_numbers(ctx: Context, op: str, left: Abstract, right: Abstract) -> Abstract:
    function = FUNCTIONS[op]
    read = ctx.read if op == "**" else ctx.number
    operands = [read(left), read(right)]
    special = special_power(ctx, operands) if op == "**" else None
    if special is not None:
        return special
    wide = function.comparison and staged_python_integer(operands)

    def rule(kinds: tuple[NumberKind, ...]) -> LoopTypes | None:
        if any(k.form is Form.JAX for k in kinds):
            return function.jax_loop(ctx, kinds)
        if all(k.form is Form.PYTHON for k in kinds) or (op in _OF_COMPLEX and _complex_first(kinds)):
            return python_loop(op, kinds)
        return function.loop_for(kinds, wide)

    either = _python_or_numpy(ctx, op, function, operands, rule)
    if either is not None:
        return either
    loop = resolve(ctx, f"the operator {op}", operands, rule)
    if loop.form is Form.PYTHON:
        return apply_python(ctx, op, function, operands, loop)
    decided = known_comparison(ctx, function, operands) if loop.form is Form.NDARRAY else None
    return decided if decided is not None else apply_loop(ctx, function, operands, loop)


def _python_or_numpy(
    ctx: Context, op: str, function: ElementwiseFunction, operands: list[Operand], rule: Rule
) -> GatedNumber | None:
    """An operation that gives the same number by Python's and NumPy's rules, where the kind is gated.

    None for all others: those of Python raise where NumPy's give an infinity, or a number that has wrapped around.
    """
    gated = [o for o in operands if isinstance(o, GatedNumber)]
    if not gated or any(o.whole is not None for o in gated):
        return None
    loops = [rule(row) for row in itertools.product(*map(kinds_of, operands))]
    python, numpy = [next((x for x in loops if x and x.form is f), None) for f in (Form.PYTHON, Form.NDARRAY)]
    if python is None or numpy is None or replace(python, form=Form.NDARRAY) != numpy:
        return None
    if any(x not in (python, numpy) for x in loops):
        return None
    if not (function.comparison or (op in ("+", "-", "*") and is_floating(numpy.outputs[0]))):
        return None
    (value,) = compute(ctx, function, operands, numpy)
    is_python = both(ctx, *[_is_python(ctx, o) for o in gated])
    (dtype,) = numpy.outputs
    return GatedNumber(
        value,
        Form.SCALAR,
        kinds=(NumberKind(dtype, Form.PYTHON), NumberKind(dtype, Form.SCALAR)),
        tags=(is_python,),
    )


def _is_python(ctx: Context, number: GatedNumber) -> Value:
    """Whether a number is one of Python's."""
    last = number.kinds[-1].form is Form.PYTHON
    others = [tag for tag, kind in zip(number.tags, number.kinds) if (kind.form is Form.PYTHON) != last]
    one_of_them = any_of(ctx, ctx.constant(False, BOOL), *others)
    return ctx.op(Not(), one_of_them) if last else one_of_them


def _complex_first(kinds: tuple[NumberKind, ...]) -> bool:
    """True for a Python complex number and then a `np.float64`, which is a float: Python's operator serves."""
    left, right = kinds
    complex_left = left.form is Form.PYTHON and is_complex(left.dtype)
    return complex_left and right.form is Form.SCALAR and right.dtype == FLOAT64


def _is_single_number(value: Abstract) -> bool:
    """True for a number of Python or NumPy."""
    if isinstance(value, Const):
        return isinstance(value.value, KNOWN_NUMBERS)
    return isinstance(value, Array) and value.form in (Form.PYTHON, Form.SCALAR)


def _matmul(ctx: Context, left: Abstract, right: Abstract) -> Abstract:
    if _is_single_number(left) and _is_single_number(right):
        _try_samples(ctx, operator.matmul, left, right)
    of_jax = any(isinstance(x, Array | Bounded) and x.form is Form.JAX for x in (left, right))
    function = jnp.matmul if of_jax else np.matmul
    return ctx.call(Const(function), [left, right])


def _inplace_matmul(ctx: Context, left: Ref, right: Abstract) -> Abstract:
    """`left @= right`: as NumPy does, `np.matmul` with `left` for its output, whose core axes are those of the operand."""
    ranks = [ctx.known(ctx.call(Const(np.ndim), [x]), "the rank of an operand") for x in (left, right)]
    matrix = Tuple((Const(-2), Const(-1)))
    rows = Tuple((Const(-1),)) if ranks[0] == 1 else matrix
    if ranks[0] > 0 and ranks[1] == 1:
        ctx.raise_(
            ValueError(
                "inplace matrix multiplication requires the first operand to have at least one and the second at "
                "least two dimensions."
            )
        )
    options = {"out": left, "axes": new_list(ctx, (rows, matrix, rows))}
    return ctx.call(Const(np.matmul), [left, right], options)
