"""The truth of a value, as `bool()`, `not`, `if` and `while` ask for it."""

from __future__ import annotations

import enum
import functools
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_calls import InternalError
from ...diagnostics.diagnostic import DiagnosticError
from ...hlo.types import BOOL
from ...library.context import Raw
from ...library.kernels.structures import list_length, table_length
from ...library.numpy.indexing.bounded_operands import only_element
from ...library.numpy.subscripts import structured
from ...library.rules.split import split_value
from ...ops import Compare, Reshape, constant
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Caught,
    Const,
    DictCell,
    DictView,
    Exc,
    ListCell,
    ObjectCell,
    Range,
    Records,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    TableCell,
    Text,
    Tuple,
    Undef,
    Unknown,
)
from ..core.engine import Engine
from . import attributes, objects


def truth(engine: Engine, value: Raw) -> Abstract:
    """`bool(value)`: known, or a bool of the program."""
    if not isinstance(value, Abstract):
        return Const(bool(value))
    match value:
        case Const(v) if isinstance(v, enum.Enum):
            return _instance_truth(engine, value, v)
        case Const(v):
            return Const(bool(v))
        case Array():
            return _array_truth(engine, value)
        case Bounded():
            return _array_truth(engine, only_element(engine, value, bool))
        case Tuple(items):
            return _instance_truth(engine, value, items)
        case RowsTuple(rows):
            return truth(engine, list_length(rows))
        case Exc() | Caught():
            return _instance_truth(engine, value, True)
        case Ref():
            return _cell_truth(engine, value)
        case DictView():
            return _cell_truth(engine, Ref(value.cell))
        case Range():
            return truth(engine, attributes.length(engine, value))
        case Text():
            return Const(bool(engine.known(value, "the truth of a string")))
        case Unknown(reason):
            raise DiagnosticError(reason)
        case Gated():
            return split_value(engine, value, lambda each: truth(engine, each))
        case Records():
            structured.refuse(engine, "the truth")
        case Undef():
            raise DiagnosticError(InternalError(span=engine.b.span, text="the truth of what has no value"))
        case _:
            return Const(True)


def _array_truth(engine: Engine, value: Array) -> Abstract:
    size = value.type.size
    if size != 1:
        engine.raise_(_ambiguous(value.form is Form.JAX, size == 0))
    scalar = value.value if not value.shape else engine.b.op(Reshape(()), value.value)
    if scalar.type.dtype != BOOL:
        zero = constant(engine.b, np.zeros((), scalar.type.dtype))
        scalar = engine.b.op(Compare("NE"), scalar, zero)
    return engine.decided(Array(scalar, Form.PYTHON), "what decides here")


@functools.cache
def _ambiguous(of_jax: bool, empty: bool) -> ValueError:
    """The exception of the library for the truth of an array; versions have different texts."""
    array = (jnp if of_jax else np).zeros(0 if empty else 2)
    try:
        bool(array)
    except ValueError as error:
        return ValueError(*error.args)
    raise AssertionError("the truth value of several elements is ambiguous")


def _cell_truth(engine: Engine, value: Ref) -> Abstract:
    match engine.ring(value):
        case ArrayCell():
            return _array_truth(engine, cast(Array, engine.read(value)))
        case ListCell(items):
            return Const(bool(items))
        case RowsCell(vector):
            return truth(engine, list_length(vector))
        case DictCell(entries):
            return Const(bool(entries))
        case TableCell() as table:
            return truth(engine, table_length(engine.b, table))
        case SetCell(members):
            return Const(bool(members))
        case ObjectCell():
            return _instance_truth(engine, value, True)
    return Const(True)


def _instance_truth(engine: Engine, value: Abstract, otherwise: Any) -> Abstract:
    """The truth of what may be an instance of a user class: as its methods say, else that of `otherwise`."""
    for name in ("__bool__", "__len__"):
        method = objects.special_method(engine, value, name)
        if method is not None:
            return truth(engine, engine.call(method, []))
    return Const(bool(otherwise))
