"""Numbers that enter a program as the elements of a few vectors.

In: a function of HLO IR. Out: the same function with vectors in place of parameters that are numbers.
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


def with_vectors(function: Function, parameters: Sequence[Parameter]) -> Simplified:
    """The function with these parameters, of which the result keeps those that it uses.

    Vectors of one type are parts of one: an element of each of them, as in a column of a list of lists, is one slice.
    """
    old = function.body
    made = Region(tuple([_type(old, each) for each in parameters]))
    rewriter = Concatenations()
    vectors: dict[DType, list[tuple[Value, Sequence[int | None]]]] = {}
    with rewriter.b.isolated(made):
        for each, param in zip(parameters, made.params, strict=True):
            if isinstance(each, int):
                rewriter.values[old.params[each]] = param
            else:
                vectors.setdefault(param.type.dtype, []).append((param, each))
        for group in vectors.values():
            params = [param for param, _ in group]
            joined = params[0] if len(params) == 1 else rewriter.b.op(Concatenate(0), *params)
            for place, i in enumerate(itertools.chain(*[elements for _, elements in group])):
                if i is not None:
                    element = rewriter.b.op(Slice((place,), (place + 1,), (1,)), joined)
                    rewriter.values[old.params[i]] = rewriter.b.op(Reshape(()), element)
        rewriter.ops(old)
    made.results = rewriter.new_all(old.results)
    return simplify(function.rewritten(made))


def _type(body: Region, parameter: Parameter) -> ArrayType:
    if isinstance(parameter, int):
        return body.params[parameter].type
    first = next(i for i in parameter if i is not None)
    return ArrayType(body.params[first].type.dtype, (len(parameter),))
