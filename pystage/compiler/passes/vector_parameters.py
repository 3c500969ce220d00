"""Numbers that enter a program as the elements of a few vectors.

In: a function of HLO IR. Out: the same function with vectors in place of parameters that are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.ir import Function, Region
from ..hlo.types import ArrayType
from ..ops import Reshape, Slice
from .concatenations import Concatenations
from .simplify import Simplified, simplify

Parameter = int | Sequence[int | None]
"""A parameter of the old function, or those that the elements of a vector stand for; None for an element without a use."""


def with_vectors(function: Function, parameters: Sequence[Parameter]) -> Simplified:
    """The function with these parameters, of which the result keeps those that it uses."""
    old = function.body
    made = Region(tuple([_type(old, each) for each in parameters]))
    rewriter = Concatenations()
    with rewriter.b.isolated(made):
        for each, param in zip(parameters, made.params, strict=True):
            if isinstance(each, int):
                rewriter.values[old.params[each]] = param
                continue
            for place, i in enumerate(each):
                if i is not None:
                    element = rewriter.b.op(Slice((place,), (place + 1,), (1,)), param)
                    rewriter.values[old.params[i]] = rewriter.b.op(Reshape(()), element)
        rewriter.ops(old)
    made.results = rewriter.new_all(old.results)
    return simplify(function.rewritten(made))


def _type(body: Region, parameter: Parameter) -> ArrayType:
    if isinstance(parameter, int):
        return body.params[parameter].type
    first = next(i for i in parameter if i is not None)
    return ArrayType(body.params[first].type.dtype, (len(parameter),))
