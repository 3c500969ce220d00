"""Conversion of abstract values to numbers and arrays: contents of ndarrays, and sequences as `np.asarray` reads them."""

from __future__ import annotations

import numpy as np

from ...diagnostics.codes_types import NotNumeric
from ...diagnostics.diagnostic import DiagnosticError
from ...library.context import Raw
from ...library.numpy.indexing.bounded import refuse
from ...library.operands.nested_sequences import stack_nested
from ...library.rules.split import of_one_kind
from ...ops import constant
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber
from ...values.lattice import (
    KNOWN_NUMBERS,
    LISTS,
    Abstract,
    Array,
    ArrayCell,
    Const,
    FlatIterator,
    IteratorCell,
    Range,
    Ref,
    Tuple,
    Unknown,
)
from ...values.views import read_path
from ..diagnostics.describe import describe
from .engine import Engine


def read(engine: Engine, value: Raw) -> Array | Const:
    """As `Context.read` says."""
    if type(value) is GatedNumber:
        return of_one_kind(engine, value)
    if not isinstance(value, Abstract):
        return read(engine, engine.constant_object(value))
    if isinstance(value, Const):
        return _read_constant(engine, value)
    if isinstance(value, Ref):
        cell = engine.cell(value)
        if isinstance(cell, ArrayCell):
            return Array(read_path(engine.b, cell.value, value.path), Form.NDARRAY)
        if isinstance(cell, LISTS):
            return stack_nested(engine, value)
        if isinstance(cell, IteratorCell) and isinstance(cell.source, FlatIterator):
            return read(engine, cell.source.array)
    if isinstance(value, Tuple):
        return stack_nested(engine, value)
    if isinstance(value, Range) and engine.iterate(value) is not None:
        return stack_nested(engine, value)
    if isinstance(value, Unknown):
        raise DiagnosticError(value.reason)
    if isinstance(value, Bounded):
        refuse(engine, "this", value)
    if isinstance(value, Gated):
        return read(engine, engine.certain(value))
    raise DiagnosticError(NotNumeric(span=engine.b.span, what="this", kind=describe(value, engine.state)))


def _read_constant(engine: Engine, value: Const) -> Array | Const:
    v = value.value
    if isinstance(v, KNOWN_NUMBERS):
        return value
    if isinstance(v, np.ndarray):
        return Array(constant(engine.b, v), Form.NDARRAY)
    raise DiagnosticError(NotNumeric(span=engine.b.span, what="this", kind=describe(value, engine.state)))
