"""Small programs for the tests of HLO IR."""

from __future__ import annotations

import numpy as np

from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.types import FLOAT32, INT32, ArrayType
from pystage.compiler.ops import Add, Call, Compare, Constant, If, Multiply, Negate, While

VECTOR = ArrayType(FLOAT32, (4,))
INTEGER = ArrayType(INT32)


def span(line: int) -> Span:
    """A place in a file of the user."""
    return Span("/home/user/model.py", line, 4, line, 9, "f")


def square_body() -> Region:
    """The body of `square`, which is still open."""
    body = Region((VECTOR,))
    b = Builder(body)
    b.span = span(2)
    body.results = (b.op(Multiply(), body.params[0], body.params[0]),)
    return body


def square() -> Function:
    """`x * x`."""
    return Function("square", square_body(), span(1))


def branch_body() -> Region:
    """The body of `branch`, which is still open."""
    body = Region((VECTOR, INTEGER))
    b = Builder(body)
    x, n = body.params
    b.span = span(12)
    small = b.op(Compare("LT"), n, b.op(Constant(np.array(3, np.int32))))
    then, otherwise = Region(), Region()
    b.span = span(13)
    with b.region(then):
        then.results = (b.op(Negate(), b.op(Call(square()), x)),)
    otherwise.results = (x,)
    body.results = b.apply(If(), (small,), (then, otherwise)).results
    return body


def branch() -> Function:
    """`-square(x) if n < 3 else x`."""
    return Function("branch", branch_body(), span(11))


def loop() -> Function:
    """`while i < n: i, x = i + 1, x + x`, giving `x`."""
    body = Region((VECTOR, INTEGER))
    b = Builder(body)
    x, n = body.params
    zero, one = (b.op(Constant(np.array(k, np.int32))) for k in (0, 1))
    condition, step = Region((INTEGER, VECTOR)), Region((INTEGER, VECTOR))
    with b.region(condition):
        condition.results = (b.op(Compare("LT"), condition.params[0], n),)
    with b.region(step):
        i, state = step.params
        step.results = (b.op(Add(), i, one), b.op(Add(), state, state))
    body.results = b.apply(While(), (zero, x), (condition, step)).results[1:]
    return Function("loop", body)
