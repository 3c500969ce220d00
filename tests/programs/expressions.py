"""Random expressions, and how one is made to fit where a number of a certain kind is wanted."""

from __future__ import annotations

import numpy as np

from . import operations as ops
from .kinds import LARGEST, Bound, Expression, Form, Grade, Number
from .operations import Operation, apply, known
from .writer import Writer

PYTHON_INT = Number(Form.PYTHON, "int64")
PYTHON_FLOAT = Number(Form.PYTHON, "float64")
PYTHON_BOOL = Number(Form.PYTHON, "bool")
CONSTANTS = (
    ("1", PYTHON_INT, Bound(1)),
    ("2", PYTHON_INT, Bound(2)),
    ("-3", PYTHON_INT, Bound(3)),
    ("0", PYTHON_INT, Bound(0)),
    ("1.5", PYTHON_FLOAT, Bound(1.5, 1)),
    ("-0.25", PYTHON_FLOAT, Bound(0.25, 2)),
    ("True", PYTHON_BOOL, Bound(1)),
    ("0.3", PYTHON_FLOAT, Bound(1, exact=False)),
    ("np.float32(2.5)", Number(Form.NUMPY, "float32"), Bound(2.5, 1)),
    ("np.int8(7)", Number(Form.NUMPY, "int8"), Bound(7)),
    ("np.arange(3)", Number(Form.ARRAY, "int64", (3,)), Bound(2)),
    ("np.array([[1.0], [2.0]])", Number(Form.ARRAY, "float64", (2, 1)), Bound(2)),
    ("2j", Number(Form.PYTHON, "complex128", (), Grade.ROUGH), Bound(2, exact=False)),
)
GROUPS = (
    ops.ARITHMETIC,
    ops.ARITHMETIC,
    ops.ARITHMETIC,
    ops.COMPARISONS,
    ops.ELEMENTWISE,
    ops.SHAPES,
    ops.REDUCTIONS,
    ops.INTEGERS,
    ops.CONVERSIONS,
    ops.ROUNDED,
)
ELEMENT = {1: Operation("{0}[0]", ops.largest), 2: Operation("{0}[0, 0]", ops.largest)}


def expression(w: Writer, depth: int = 2) -> Expression:
    """Any expression."""
    return w.expression(lambda: _expression(w, depth))


def _expression(w: Writer, depth: int) -> Expression:
    if depth == 0 or w.below(3) == 0:
        return leaf(w)
    if w.chance(12):
        return _conditional(w, depth - 1)
    if w.scope.callees and w.chance(6):
        return call(w)
    if w.sources and w.chance(3 if w.looped else 8) and (found := w.pick(w.sources)(w)) is not None:
        return found
    operation = w.pick(w.pick(GROUPS))
    operands = [expression(w, depth - 1) for _ in range(operation.operands)]
    return apply(operation, *operands) or operands[0]


def leaf(w: Writer) -> Expression:
    """A constant, or a number that stands in a variable."""
    numbers = w.numbers()
    if not numbers or w.chance(4):
        return known(*w.pick(CONSTANTS))
    text, kind, _ = w.pick(numbers)
    return known(text, kind)


def scalar(w: Writer, e: Expression) -> Expression:
    """The expression, or one of its elements."""
    shape = e.kind.shape
    if e.kind.elements == 0:
        return known(f"{e.text}.size", PYTHON_INT, Bound(0))
    if len(shape) not in ELEMENT:
        return e if shape == () else known("1", PYTHON_INT, Bound(1))
    element = apply(ELEMENT[len(shape)], e)
    assert element is not None, e
    indices = ", ".join(index(w, extent) for extent in shape)
    return known(f"{e.text}[{indices}]", element.kind, element.bound)


def exact(w: Writer, depth: int = 1) -> Expression:
    """A number on which anything can depend."""
    e = scalar(w, expression(w, depth))
    if e.bound.exact:
        return e
    numbers = w.numbers(lambda k: k.shape == () and k.bound.exact)
    return known(*w.pick(numbers)[:2]) if numbers else known("1", PYTHON_INT, Bound(1))


def integer(w: Writer, depth: int = 1) -> str:
    """An integer, as the text of an operand."""
    e = exact(w, depth)
    if e.kind.is_integer:
        return e.text if e.text.isidentifier() or e.text[0] == "(" else f"({e.text})"
    if e.kind.letter == "f" and e.bound.size <= LARGEST:
        return f"int({e.text})"
    return w.pick(("1", "2", "0"))


def index(w: Writer, extent: int) -> str:
    """What an axis of `extent` is indexed with: inside of it, but for one in a while."""
    form = w.below(8)
    if form < 3:
        return str(w.below(2 * extent) - extent)
    counters = w.numbers(lambda kind: kind.grade is Grade.COUNT) if form < 6 and w.looped else []
    if counters:
        return f"{w.pick(counters[::-1])[0]} % {extent}"
    if form == 7 and w.chance(3):
        return integer(w)
    return f"{integer(w, depth=w.below(2))} % {extent}" + ("" if form < 6 else f" - {extent}")


def condition(w: Writer, depth: int = 1) -> str:
    """A condition, decided by exact numbers."""
    form = w.below(13)
    if form < 6 or depth == 0:
        a, b = exact(w, depth), exact(w, 0)
        return f"{a.text} {w.pick(('>', '<', '==', '!=', '>=', '<='))} {b.text}"
    if form == 6:
        return exact(w, depth).text
    if form == 7:
        return f"not ({condition(w, depth - 1)})"
    if form == 8:
        return f"{exact(w, 0).text} < {exact(w, 0).text} <= {exact(w, 0).text}"
    if form == 10:
        pairs = [f"({exact(w, 0).text}, {exact(w, 0).text})" for _ in range(2)]
        return f"{pairs[0]} {w.pick(('<', '==', '>='))} {pairs[1]}"
    if form == 11:
        return f"{exact(w, 0).text} in ({exact(w, 0).text}, {exact(w, 0).text})"
    if form == 12:
        return f"isinstance({leaf(w).text}, {w.pick(('int', 'float', 'np.ndarray', '(int, np.integer)', 'np.floating'))})"
    return f"{condition(w, depth - 1)} {w.pick(('and', 'or'))} ({condition(w, depth - 1)})"


def _conditional(w: Writer, depth: int) -> Expression:
    """`a if c else b`, of one type."""
    a = expression(w, depth)
    b = fit(w, expression(w, depth), kept(a))
    return known(f"({a.text} if {condition(w, 0)} else {b})", a.kind, ops.largest(a.bound, kept(a).bound))


def call(w: Writer) -> Expression:
    """A call of a function that the program defines."""
    callee = w.pick(w.scope.callees)
    given = len(callee.params) - w.below(callee.defaults + 1)
    args = [fit(w, expression(w, 1), kind) for kind in callee.params[:given]]
    if given == len(callee.params) and callee.rest and w.chance(2):
        args += [fit(w, leaf(w), PYTHON_INT)] * w.below(3)
    elif args and given < len(callee.params) and w.chance(2):
        last = len(callee.params) - 1
        args.append(f"p{last}={fit(w, leaf(w), callee.params[last])}")
    return known(f"{callee.name}({', '.join(args)})", callee.result)


def kept(e: Expression) -> Number:
    """The kind of a variable that takes the value of an expression."""
    kind, bound = e.kind, e.bound
    if kind.letter == "b":
        grade = Grade.SMALL
    elif kind.is_integer:
        grade = Grade.SMALL if bound.is_small or kind.form is Form.PYTHON else Grade.WHOLE
    elif kind.letter == "c":
        grade = Grade.ROUGH
    else:
        grade = Grade.SMALL if bound.exact else Grade.ROUGH
    return Number(kind.form, kind.dtype, kind.shape, grade)


def fit(w: Writer, e: Expression, kind: Number) -> str:
    """The expression as one of a kind, or a constant where that makes no sense."""
    shaped = _shaped(w, e, kind)
    same = typed(shaped, kind)
    bounded = bound(same, kind) if same is not None else None
    if bounded is None:
        return constant(kind)
    if kind.form is Form.ARRAY and bounded is e and kept(e).grade != kind.grade:
        return f"{e.text}.copy()"  # a name of another grade for the same array would change its grade
    return bounded.text


def constant(kind: Number) -> str:
    """The simplest number of a kind."""
    one = {"b": "True", "i": "1", "u": "1", "f": "1.0", "c": "1j"}[kind.letter]
    if kind.form is Form.PYTHON:
        return one
    if kind.form is Form.JAX:
        return f"jnp.ones({kind.shape}, jnp.{_dtype(kind)})"
    return (
        f"np.{_dtype(kind)}({one})"
        if kind.form is Form.NUMPY
        else f"np.ones({kind.shape}, np.{_dtype(kind)})"
    )


def _dtype(kind: Number) -> str:
    return "bool_" if kind.dtype == "bool" else kind.dtype


def _shaped(w: Writer, e: Expression, kind: Number) -> Expression:
    """As it is if it can be broadcast to the shape of the kind, else an element."""
    shape = e.kind.shape
    if not kind.form.has_shape or len(shape) > len(kind.shape):
        return scalar(w, e)
    fits = all(a in (1, b) for a, b in zip(reversed(shape), reversed(kind.shape)))
    return e if fits else scalar(w, e)


def typed(e: Expression, kind: Number) -> Expression | None:
    """As one of the form and dtype of the kind, broadcast to its shape; None if rounding would decide it."""
    if e.kind.same_type(kind):
        return e
    if kind.letter in "biu" and not e.bound.exact:
        return None
    if e.kind.letter == "c" and kind.letter != "c":
        e = apply(Operation("{0}.real", ops.largest), e) or e
    if kind.is_integer and not e.bound.is_small or kind.letter == "u" and e.kind.letter != "b":
        reduced = apply(Operation("({0} % 16)", ops.up_to(15)), e)
        if reduced is None:
            return None
        e = reduced
    name = _dtype(kind)
    if kind.form is Form.PYTHON:
        text = {"b": "bool({0})", "i": "int({0})", "f": "float({0})", "c": "complex({0})"}[kind.letter]
    elif kind.form is Form.JAX:
        text = f"jnp.broadcast_to(jnp.asarray({{0}}, jnp.{name}), {kind.shape})"
    elif kind.form is Form.NUMPY:
        text = f"np.{name}({{0}})"
    elif e.kind.form is Form.ARRAY and e.kind.shape == kind.shape:
        text = f"{{0}}.astype(np.{name})"
    elif e.kind.form is Form.ARRAY:
        text = f"np.broadcast_to({{0}}, {kind.shape}).astype(np.{name})"
    else:
        text = f"np.full({kind.shape}, {{0}}, np.{name})"
    return apply(Operation(text, ops.largest), e)


def bound(e: Expression, kind: Number) -> Expression | None:
    """As numbers of the grade of the kind; None if that cannot be had."""
    if kind.letter == "b" or kind.grade is Grade.WHOLE:
        return e
    if kind.grade is Grade.COUNT:
        return e if e.kind.grade is Grade.COUNT else apply(Operation("(abs({0}) % 5)", ops.up_to(4)), e)
    if kind.grade is Grade.SMALL:
        if not e.bound.exact:
            return None
        if e.bound.bits > 2:
            e = apply(Operation("({0} // 1)", lambda a: Bound(a.size + 1)), e) or e
        if e.bound.size > LARGEST:
            return apply(Operation("({0} % 16)", ops.up_to(16)), e)
        return e
    if e.bound.size <= LARGEST:
        return e
    if kind.letter == "c":
        return apply(Operation("({0} / (abs({0}) + 1))", ops.rough(1), small=True), e)
    tanh = "math.tanh({0})" if kind.form is Form.PYTHON else "np.tanh({0})"
    squashed = apply(Operation(tanh, ops.rough(1)), e)
    return squashed if squashed is not None and squashed.kind.same_type(e.kind) else None


def stored(w: Writer, kind: Number, shape: tuple[int, ...]) -> str:
    """What can be stored into a part of this shape of an array of the kind."""
    e = expression(w)
    small = np.broadcast_shapes(e.kind.shape, shape) == shape if _broadcast(e.kind.shape, shape) else False
    e = e if small else scalar(w, e)
    if kind.letter in "biu" and not e.bound.exact:
        return constant(Number(Form.PYTHON, {"b": "bool"}.get(kind.letter, "int64")))
    if e.kind.letter == "c" and kind.letter != "c":
        e = apply(Operation("{0}.real", ops.largest), e) or e
    signed = kind.letter == "i" and e.bound.size <= 2 * LARGEST
    if kind.is_integer and e.kind.letter not in "b" and not signed:
        e = apply(Operation("({0} % 16)", ops.up_to(15)), e) or known("1", PYTHON_INT, Bound(1))
    bounded = bound(e, kind) if kind.letter != "b" else e
    return bounded.text if bounded is not None else "1"


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b)))
