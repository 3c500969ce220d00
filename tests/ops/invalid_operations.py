"""Wild operations: samples whose static operands, operand types or element types are replaced by values that no program has.

In: the samples that each operation class declares. Out: by name, what builds such an application. `main` compiles those with
the numbers that it is given, and writes what became of each, in a process of its own, which XLA may end.
"""

from __future__ import annotations

import dataclasses
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax

from pystage.compiler import ops
from pystage.compiler.hlo.ir import Function
from pystage.compiler.hlo.op import HloOp, Sample
from pystage.compiler.hlo.types import BOOL, COMPLEX128, FLOAT64, INT8, UINT32, ArrayType, ShapeError

from .running import application, compiled, type_of

NUMBERS = (
    *(-(1 << 64), -(1 << 63), -(1 << 62), -(1 << 31) - 1, -7, -1),
    *(
        0,
        1,
        2,
        5,
        65,
        1000,
        (1 << 31) - 1,
        1 << 31,
        1 << 40,
        1 << 44,
        1 << 46,
        1 << 62,
        (1 << 63) - 1,
        1 << 63,
    ),
)
"""What takes the place of integers."""
DTYPES = (BOOL, INT8, UINT32, FLOAT64, COMPLEX128)
LONG = 70
"""A rank that no array has."""


@dataclass(frozen=True)
class Wild:
    """One application: the operation, the types of its operands, and its regions."""

    op: HloOp
    types: tuple[ArrayType, ...]
    regions: Any

    def build(self) -> Function:
        """The function that applies the operation; `ShapeError` where its transfer function refuses it."""
        return application(self.op, *self.types, regions=self.regions)

    def __str__(self) -> str:
        return f"{self.op} of {', '.join(map(str, self.types))}"


def wild(seed: int = 0, each: int = 4) -> Iterator[Wild]:
    """For each sample of each class so many applications, the same for one seed."""
    for kind in ops.concrete():
        if kind is ops.CustomCall:
            continue  # its types are what the target takes and gives, which XLA alone knows
        rng = random.Random(f"{kind.__name__} {seed}")
        for sample in kind.samples():
            for _ in range(each):
                yield _changed(rng, sample)


def _changed(rng: random.Random, sample: Sample) -> Wild:
    """The application of a sample with one static operand, or one type, changed, or several."""
    op, types = sample.op, tuple(map(type_of, sample.operands))
    fields = [f.name for f in dataclasses.fields(op) if _is_changeable(getattr(op, f.name))]
    for _ in range(rng.choice((1, 1, 2))):
        if fields and rng.random() < 0.7:
            name = rng.choice(fields)
            op = dataclasses.replace(op, **{name: _other(rng, getattr(op, name))})
        elif types:
            place = rng.randrange(len(types))
            changed = _other_type(rng, types[place])
            together = rng.random() < 0.5  # as elementwise operations have them
            types = tuple(
                [
                    changed if i == place or (together and t == types[place]) else t
                    for i, t in enumerate(types)
                ]
            )
    return Wild(op, types, sample.regions)


def _is_changeable(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_changeable, value))
    return type(value) is int or isinstance(value, ArrayType)


def _other(rng: random.Random, value: Any, whole: bool = True) -> Any:
    """Another value of a static operand; `whole`: a tuple may have another length, as those in it may not."""
    if isinstance(value, ArrayType):
        return _other_type(rng, value)
    if not isinstance(value, tuple):
        return rng.choice(NUMBERS)
    if not value:
        return value
    place = rng.randrange(len(value))
    match rng.randrange(8) if whole else None:
        case 0:
            return value[:place] + value[place + 1 :]
        case 1:
            return (*value, value[place])
        case 2:
            return tuple([value[place]] * LONG)
        case _:
            return (*value[:place], _other(rng, value[place], False), *value[place + 1 :])


def _other_type(rng: random.Random, type: ArrayType) -> ArrayType:
    """Another type of an operand: mostly with another extent, not a negative one, as no array has."""
    match rng.randrange(6):
        case 0:
            return type.with_dtype(rng.choice(DTYPES))
        case 1:
            return type.with_shape((*type.shape, rng.choice((1, 3, 1 << 40))))
        case 2:
            return type.with_shape((1,) * LONG)
        case _:
            shape = list(type.shape) or [1]
            shape[rng.randrange(len(shape))] = rng.choice([n for n in NUMBERS if n >= 0])
            return type.with_shape(tuple(shape))


def outcome(application: Wild) -> str:
    """What becomes of an application: `refused` by its transfer function, `compiled`, or what else was raised."""
    try:
        function = application.build()
    except ShapeError:
        return "refused"
    except Exception as error:
        return f"infer raises {type(error).__name__}: {error}"
    try:
        compiled(function)
    except Exception as error:
        return f"XLA raises {type(error).__name__}: {error}"
    return "compiled"


def main(first: int, step: int, seed: int, each: int) -> None:
    """Tries every `step`-th application from `first` on; writes a line before each, and one with what became of it."""
    for number, made in enumerate(wild(seed, each)):
        if number >= first and number % step == 0:
            print("try", number, flush=True)
            print("did", number, outcome(made).replace("\n", " ")[:400], flush=True)


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    main(*map(int, sys.argv[1:]))
