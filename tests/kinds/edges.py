"""Programs of NumPy's functions on operands at the edge: NaN, infinities, nothing, extreme integers, wrong types.

A statement is a call of `kinds/calls.txt` whose arrays are replaced by whatever variables there are, with an option of the
function's signature now and then. What NumPy refuses is caught, and the text of the exception kept: it is an operand of
later calls, too. What depends on rounding or on the order of equal elements is not called.
"""

from __future__ import annotations

import ast
import functools

import numpy as np
from hypothesis import strategies as st
from programs.strategy import Program
from programs.writer import Draw, Writer

from .calls import ARRAYS, CALLS, names_in
from .signatures import VALUES, keywords_left_out, with_keyword, written

OPERANDS = (
    "np.array([1.5, -2.0, 0.5, 3.0])",
    "np.array([np.nan, 1.0, -np.inf, -0.0])",
    "np.array([[1.0, np.inf, -2.0], [0.0, np.nan, 3.0], [-0.0, 2.0, 4.0]])",
    "np.zeros(0)",
    "np.zeros((0, 3))",
    "np.zeros((3, 0))",
    "np.array(5.0)",
    "np.array([127, -128, 0, 1], np.int8)",
    "np.array([255, 0, 1, 128], np.uint8)",
    "np.array([2**63 - 1, -(2**63), 0, 1])",
    "np.array([2, 0, 1])",
    "np.array([True, False, True, False])",
    "np.array([1 + 2j, -0.5j, complex(np.nan, 1.0), 3.0])",
    "np.array([1.5, np.inf, -0.0], np.float32)",
    "np.array([60000.0, 1.0, np.nan], np.float16)",
    "np.asfortranarray(np.arange(6.0).reshape(2, 3))",
    "np.arange(8.0)[::2]",
    "np.arange(4.0)[::-1]",
    "np.broadcast_to(np.array([1.0, 2.0, 3.0]), (2, 3))",
    "np.float32(-0.0)",
    "np.int8(-128)",
    "2",
    "-1.5",
    "True",
    "[1.0, 2.0, 3.0, 4.0]",
    "None",
)
LEFT_OUT = frozenset(
    [
        "argsort",
        "argpartition",
        "partition",
        "lexsort",
        "empty",
        "empty_like",
        "cond",
        "polyfit",
        "corrcoef",
        "matrix_rank",
    ]
)
"""Functions that give what is in memory, depend on rounding or on the order of equal elements."""
MOST_STATEMENTS = 6


@functools.cache
def calls() -> tuple[tuple[str, str], ...]:
    """Names of functions, and calls of them."""
    exact = [n for n in CALLS if n not in LEFT_OUT and not n.startswith(("linalg.", "fft.", "random."))]
    return tuple([(name, text) for name in exact for text in CALLS[name]])


@st.composite
def edges(draw: Draw) -> Program:
    """Programs of calls, each of which plain Python makes or refuses."""
    w = Writer(draw)
    names = list("abcd"[: 2 + w.below(3)])
    inputs = tuple([w.pick(OPERANDS) for _ in names])
    with w.block(f"def program({', '.join(names)}):"):
        for number in range(1 + w.below(MOST_STATEMENTS)):
            result = f"v{number}"
            with w.block("try:"):
                w.add(f"{result} = {_call(w, names)}")
            with w.block(
                "except (TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:"
            ):
                w.add(f"{result} = str(error)")
            names.append(result)
        w.add(f"return {', '.join(names)},")
    return Program(tuple(w.lines), (inputs,))


def _call(w: Writer, names: list[str]) -> str:
    name, text = w.pick(calls())
    chosen = {array: w.pick(names) for array in names_in(text)}
    keywords = keywords_left_out(name, text) if w.chance(3) else []
    if isinstance(getattr(np, name, None), np.ufunc):  # what `where` leaves out is what the memory held
        keywords = [keyword for keyword in keywords if keyword != "where"]
    if keywords:
        keyword = w.pick(keywords)
        values = [v for v in VALUES.get(keyword, (None, 0, True)) if written(v) is not None]
        if values:
            text = with_keyword(name, text, keyword, written(w.pick(values)) or "None")
    return ast.unparse(_Renamed(chosen).visit(ast.parse(text, mode="eval")))


class _Renamed(ast.NodeTransformer):
    """Gives the arrays of a call the names of variables."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names[node.id] if node.id in ARRAYS else node.id, node.ctx)
