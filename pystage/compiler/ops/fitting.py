"""What the transfer functions of the large operations check alike: axes, element types, lengths.

Each function raises `ShapeError` with a sentence for a NumPy user, or returns nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.op import HloOp
from ..hlo.types import ArrayType, ShapeError


def check_axes(what: str, axes: Sequence[int], rank: int, *, ascending: bool = False) -> None:
    """The axes are distinct axes of an array of `rank` axes, in ascending order if asked for."""
    for axis in axes:
        if not 0 <= axis < rank:
            raise ShapeError(f"{what}: axis {axis} is out of bounds for an array of dimension {rank}")
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{what}: axes {tuple(axes)} name an axis twice")
    if ascending and list(axes) != sorted(axes):
        raise ShapeError(f"{what}: axes {tuple(axes)} must be in ascending order")


def check_same_dtype(what: str, *types: ArrayType) -> None:
    """All element types are the same."""
    for type in types[1:]:
        if type.dtype != types[0].dtype:
            raise ShapeError(f"{what}: element types differ: {types[0].dtype} and {type.dtype}")


def check_length(what: str, name: str, values: Sequence[object], count: int) -> None:
    """A static operand that has one entry per axis has `count` entries."""
    if len(values) != count:
        raise ShapeError(f"{what}: {name} has {len(values)} entries for {count} axes")


def check_combiner(what: str, combine: HloOp, type: ArrayType) -> None:
    """`combine` takes two scalars of the element type to one of the same type."""
    scalar = ArrayType(type.dtype)
    if combine.infer(scalar, scalar) != scalar:
        raise ShapeError(f"{what}: {combine.opcode} does not give {type.dtype} back")
