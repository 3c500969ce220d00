"""The operations: one class each, with all rules of the operation.

`concrete()` lists them by walking the subclasses of `HloOp`: there is no table to maintain.
"""

from __future__ import annotations

from ..hlo.op import HloOp
from .collectives.all_reduce import AllReduce
from .collectives.exchange import AllGather, AllToAll, CollectivePermute, ReduceScatter
from .collectives.shard_map import ShardMap
from .collectives.sharding_constraint import ShardingConstraint
from .collectives.varying import AxisIndex, MatchVarying, Vary
from .control import Call, Case, If, OptimizationBarrier, StopGradient, VjpFunctions, VjpRule, While
from .elementwise.binary import (
    Add,
    And,
    Atan2,
    Complex,
    Divide,
    Maximum,
    Minimum,
    Multiply,
    NextAfter,
    Or,
    Power,
    PythonPower,
    Remainder,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    Subtract,
    Xor,
)
from .elementwise.compare import Clamp, Compare, Select
from .elementwise.convert import BitcastConvert, Convert
from .elementwise.special import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cosh,
    Digamma,
    Erf,
    Erfc,
    ErfInv,
    Lgamma,
    Polygamma,
    Sinh,
)
from .elementwise.unary import (
    Abs,
    Cbrt,
    Ceil,
    ComplexReciprocal,
    Cosine,
    CountLeadingZeros,
    Exponential,
    ExponentialMinusOne,
    Floor,
    Imag,
    IsFinite,
    Log,
    Logistic,
    LogPlusOne,
    Negate,
    Not,
    PopulationCount,
    Real,
    RoundNearestAfz,
    RoundNearestEven,
    Rsqrt,
    Sign,
    Sine,
    Sqrt,
    Tan,
    Tanh,
)
from .foreign.custom_call import CustomCall
from .foreign.jax_call import JaxCall
from .host.host_call import HostCall
from .host.printing import Print
from .linear_algebra.convolution import Convolution
from .linear_algebra.decompositions import Cholesky, TriangularSolve
from .linear_algebra.dot import DotGeneral
from .linear_algebra.fft import Fft
from .random import RngBitGenerator
from .reductions.reduce import Reduce, ReduceWith
from .reductions.window import ReduceWindow, SelectAndScatter
from .structure.gather import Gather
from .structure.mask_places import MaskPlaces
from .structure.scatter import Scatter
from .structure.shapes import (
    Broadcast,
    Concatenate,
    Constant,
    Iota,
    Pad,
    Reshape,
    Reverse,
    Transpose,
    constant,
)
from .structure.slices import DynamicSlice, DynamicUpdateSlice, Slice
from .structure.sort import Sort


def concrete(base: type[HloOp] = HloOp) -> list[type[HloOp]]:
    """Every operation class below `base` that has an opcode, in order of name; abstract ones have none."""
    found = {base} if base.opcode else set()
    for subclass in base.__subclasses__():
        found.update(concrete(subclass))
    return sorted(found, key=lambda c: c.__name__)


__all__ = [
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "AllGather",
    "AllReduce",
    "AllToAll",
    "And",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "AxisIndex",
    "BitcastConvert",
    "Broadcast",
    "Call",
    "Case",
    "Cbrt",
    "Ceil",
    "Cholesky",
    "Clamp",
    "CollectivePermute",
    "Compare",
    "Complex",
    "ComplexReciprocal",
    "Concatenate",
    "Constant",
    "Convert",
    "Convolution",
    "Cosh",
    "Cosine",
    "CountLeadingZeros",
    "CustomCall",
    "Digamma",
    "Divide",
    "DotGeneral",
    "DynamicSlice",
    "DynamicUpdateSlice",
    "Erf",
    "ErfInv",
    "Erfc",
    "Exponential",
    "ExponentialMinusOne",
    "Fft",
    "Floor",
    "Gather",
    "HostCall",
    "If",
    "Imag",
    "Iota",
    "IsFinite",
    "JaxCall",
    "Lgamma",
    "Log",
    "LogPlusOne",
    "Logistic",
    "MaskPlaces",
    "MatchVarying",
    "Maximum",
    "Minimum",
    "Multiply",
    "Negate",
    "NextAfter",
    "Not",
    "OptimizationBarrier",
    "Or",
    "Pad",
    "Polygamma",
    "PopulationCount",
    "Power",
    "Print",
    "PythonPower",
    "Real",
    "Reduce",
    "ReduceScatter",
    "ReduceWindow",
    "ReduceWith",
    "Remainder",
    "Reshape",
    "Reverse",
    "RngBitGenerator",
    "RoundNearestAfz",
    "RoundNearestEven",
    "Rsqrt",
    "Scatter",
    "Select",
    "SelectAndScatter",
    "ShardMap",
    "ShardingConstraint",
    "ShiftLeft",
    "ShiftRightArithmetic",
    "ShiftRightLogical",
    "Sign",
    "Sine",
    "Sinh",
    "Slice",
    "Sort",
    "Sqrt",
    "StopGradient",
    "Subtract",
    "Tan",
    "Tanh",
    "Transpose",
    "TriangularSolve",
    "Vary",
    "VjpFunctions",
    "VjpRule",
    "While",
    "Xor",
    "concrete",
    "constant",
]
