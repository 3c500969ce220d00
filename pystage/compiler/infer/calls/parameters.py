"""The parameters of a finished program: leaves of the arguments, hidden inputs, draws.

Each input of a call costs about as much as a small operation. So hidden inputs of one element type, and draws, are passed
as one vector, which the program takes apart again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...hlo.builder import Builder
from ...hlo.ir import Region, Value
from ...hlo.types import ArrayType, DType
from ...ops import Reshape, Slice
from ...values.boundary import Form, HiddenInput

Groups = tuple[tuple[int, ...], ...]
"""The values passed to the program together, by index: one alone, or numbers of one type as a vector."""


def arrange(
    body: Region,
    leaves: Sequence[Value],
    hidden: Sequence[tuple[HiddenInput, Value]],
    draws: Sequence[Value],
) -> tuple[Groups, Groups]:
    """Gives `body` its parameters in order: `leaves`, those for hidden inputs, those for draws.

    Returns the groups of hidden inputs and those of draws.
    """
    read = grouped([(v.type.dtype, h.form in (Form.PYTHON, Form.SCALAR)) for h, v in hidden])
    drawn = grouped([(v.type.dtype, not v.type.shape) for v in draws])
    prelude = Region()
    b = Builder(prelude)
    params = list(leaves)
    for groups, values in ((read, [v for _, v in hidden]), (drawn, draws)):
        for group in groups:
            members = [values[i] for i in group]
            if len(group) > 1:
                vector = Value(ArrayType(members[0].type.dtype, (len(group),)), body, 0)
                _take_apart(b, vector, members)
                members = [vector]
            params += members
    for index, param in enumerate(params):
        param.owner, param.index = body, index
    body.params = params
    body.ops[:0] = prelude.ops
    return read, drawn


def grouped(values: Sequence[tuple[DType, bool]]) -> Groups:
    """Which values go to the program together, in the order of the first of each group.

    Each is given by its element type and whether it is a number.
    """
    groups: list[list[int]] = []
    vectors: dict[DType, list[int]] = {}
    for i, (dtype, is_number) in enumerate(values):
        if is_number and dtype in vectors:
            vectors[dtype].append(i)
            continue
        groups.append([i])
        if is_number:
            vectors[dtype] = groups[-1]
    return tuple([tuple(group) for group in groups])


def _take_apart(b: Builder, vector: Value, values: Sequence[Value]) -> None:
    """Replaces `values`, which were parameters so far, by the elements of one vector."""
    for i, value in enumerate(values):
        element = b.apply(Reshape(()), (b.op(Slice((i,), (i + 1,), (1,)), vector),))
        value.owner, value.index = element, 0
        element.results = (value,)
