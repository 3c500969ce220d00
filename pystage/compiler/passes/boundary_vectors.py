"""Numbers that enter and leave a program as the elements of a few vectors.

In: a function of HLO IR. Out: the same function with vectors in place of parameters and of results that are numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..hlo.ir import Function, Region, Value
from ..hlo.types import ArrayType, DType
from ..ops import Concatenate, Reshape, Slice
from .concatenations import Concatenations
from .simplify import Simplified, simplify

Parameter = int | Sequence[int | None]
"""A parameter of the old function, or those that the elements of a vector stand for; None for an element without a use."""

Result = int | Sequence[int]
"""A result of the old function, or those that are the elements of a vector."""


def with_vectors(
    function: Function, parameters: Sequence[Parameter], results: Sequence[Result] | None = None
) -> Simplified:
    """The function with these parameters, of which the result keeps those that it uses, and with these results.

    Vectors of one type are parts of one: an element of each of them, as in a column of a list of lists, is one slice.
    """
    old = function.body
    made = Region(tuple([_type(old, each) for each in parameters]))
    rewriter = Concatenations()
    with rewriter.b.isolated(made):
        _take_apart(rewriter, old, parameters, made.params)
        rewriter.ops(old)
        values = rewriter.new_all(old.results)
        made.results = tuple(
            [
                values[each] if isinstance(each, int) else rewriter.vector([values[i] for i in each])
                for each in (range(len(values)) if results is None else results)
            ]
        )
    return simplify(function.rewritten(made))


def _take_apart(
    rewriter: Concatenations, old: Region, parameters: Sequence[Parameter], params: Sequence[Value]
) -> None:
    """Maps the old parameters to the new ones and to elements of these."""
    vectors: dict[DType, list[tuple[Value, Sequence[int | None]]]] = {}
    for each, param in zip(parameters, params, strict=True):
        if isinstance(each, int):
            rewriter.values[old.params[each]] = param
        else:
            vectors.setdefault(param.type.dtype, []).append((param, each))
    for group in vectors.values():
        joined = [param for param, _ in group]
        vector = joined[0] if len(joined) == 1 else rewriter.b.op(Concatenate(0), *joined)
        for place, i in enumerate(itertools.chain(*[elements for _, elements in group])):
            if i is not None:
                element = rewriter.b.op(Slice((place,), (place + 1,), (1,)), vector)
                rewriter.values[old.params[i]] = rewriter.b.op(Reshape(()), element)


def _type(body: Region, parameter: Parameter) -> ArrayType:
    if isinstance(parameter, int):
        return body.params[parameter].type
    first = next(i for i in parameter if i is not None)
    return ArrayType(body.params[first].type.dtype, (len(parameter),))
