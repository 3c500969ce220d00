"""One sample or more of each kind of abstract value and cell, and what is in them by their dataclass fields alone."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from pystage.compiler.diagnostics.codes_control import NoCommonType
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hash_order import made_by
from pystage.compiler.hlo.ir import Region, Value
from pystage.compiler.hlo.types import BOOL, FLOAT64, INT32, INT64, ArrayType, DType
from pystage.compiler.library.jax.at import At, AtIndex
from pystage.compiler.stage.ir import Function, Parameters
from pystage.compiler.values.boundary import Argument, Form, Path
from pystage.compiler.values.bounded import Bounded, Extent
from pystage.compiler.values.capacity import AllocationSite, Capacity
from pystage.compiler.values.exceptions import ExceptionBuilder
from pystage.compiler.values.gated import Gated, GatedNumber
from pystage.compiler.values.host_functions import joined
from pystage.compiler.values.identity import Identity
from pystage.compiler.values.lattice import (
    NONE,
    Abstract,
    Alias,
    Array,
    ArrayCell,
    Caught,
    Cell,
    ClassOf,
    Closure,
    Const,
    Count,
    DictCell,
    DictView,
    Enumerate,
    ErrorCell,
    Exc,
    Filtered,
    FlatIterator,
    Frozen,
    IteratorCell,
    ListCell,
    Mapped,
    Meaning,
    MemberCell,
    Method,
    NumberKind,
    ObjectCell,
    OutputCell,
    Partial,
    PoolCell,
    Pooled,
    Range,
    Records,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    SetCell,
    SliceObject,
    Stream,
    Super,
    Suspended,
    TableCell,
    Text,
    Tuple,
    Undef,
    Unknown,
    VariableCell,
    Version,
    Zip,
)
from pystage.compiler.values.memory import record_class
from pystage.compiler.values.vector import Sharing, Vector
from pystage.compiler.values.views import Permuted, View, Window

PLACE = Span("f.py", 1, 0, 1, 1)
REASON = NoCommonType(what="x", first="a list", second="a dict")


CAPACITY = Capacity(AllocationSite(None, "an array"), 4, 8)


def program(dtype: DType = FLOAT64, *shape: int) -> Value:
    """A value of the program."""
    return Region().add_param(ArrayType(dtype, shape))


def number(dtype: DType = FLOAT64, form: Form = Form.PYTHON, *shape: int) -> Array:
    """A staged number that is not known."""
    return Array(program(dtype, *shape), form)


def row(cell: int) -> Ref:
    """A row of a matrix; the program computes which."""
    return Ref(cell, (Permuted((1, 0)), Window((program(INT64), 0), (1, 3))))


def merged(cell: int, views: bool = False) -> tuple[Alias, ...]:
    """Sources of a merged cell: two objects, or an array and a view of another one."""
    second = row(cell + 1) if views else Ref(cell + 1)
    return Alias(Ref(cell), SetCell(frozenset())), Alias(second, SetCell(frozenset([1])))


class _Origin:
    """The attributes of an object of the caller's world: none."""

    names = ()

    def __call__(self, name: str) -> Abstract | None:
        return None


def function() -> Function:
    """The stage IR of an empty function."""
    return Function("f", "f", Parameters(), [], PLACE)


def samples() -> list[Abstract | Cell | Vector[Any]]:
    """A sample of each class, in which every field differs from its default; of some classes a plain one too."""
    n, x = number, Ref(1)
    remake = ExceptionBuilder(((ArrayType(INT64), 0),), lambda number: None)  # type: ignore[arg-type, return-value]
    caught = Caught(
        remake, (n(INT32), n()), frozenset([(4, 4, KeyError)]), x, frozenset([(4, KeyError, (1,))])
    )
    kinds = (NumberKind(INT64, Form.PYTHON), NumberKind(FLOAT64, Form.SCALAR))
    names = (("a", n()), ("b", Const(1)))
    return [
        Const(1),
        n(),
        Array(program(INT64), Form.JAX, True, (0, 7), "fry"),
        GatedNumber(program(), Form.SCALAR, True, (0, 9), "k", kinds, (program(BOOL),), program(INT64)),
        Ref(1),
        row(2),
        Tuple((n(), Const(1), x)),
        Tuple((n(), row(2)), type("Pair", (tuple,), {})),
        Pooled(3, program(INT64)),
        RowsTuple(Vector(Array(program(INT64, 3), Form.PYTHON), 3, program(INT64))),
        SliceObject(n(INT64), Const(None), Const(2)),
        Range(n(INT64), n(INT64), Const(1)),
        Records(record_class(np.dtype([("x", "f8"), ("n", "i8")])), (row(1), Ref(2)), 24, True),
        Enumerate(x, n(INT64), Ref(3)),
        Zip((x, row(2)), True, Ref(3)),
        Reversed(x, 2, Ref(3)),
        Mapped(Const(abs), (x, Ref(2)), Ref(3)),
        Filtered(Const(abs), x),
        Count(n(INT64), Const(1)),
        FlatIterator(row(1)),
        DictView("keys", 5),
        Closure(function(), {"g": 1}, "m", (n(), row(2)), names, (("v", 6), ("w", 7))),
        Suspended(Closure(function(), {}, "m", (), (), (("v", 6),)), (("a", n()), ("b", row(2)))),
        Method(Const(abs), x, (Path(Argument("f")), None)),
        Partial(Const(abs), (n(), x), names),
        Meaning("m", lambda: Const(1)),
        Super(int, x),
        Exc(KeyError, (n(), x), names, Ref(8)),
        caught,
        ClassOf(caught),
        Text(joined, (n(), Const("a"))),
        Stream("stdout"),
        Undef(PLACE),
        Gated((Undef(PLACE), row(1)), (program(BOOL),)),
        Gated((NONE, row(1)), (program(BOOL),), REASON),
        Gated((Undef(), NONE, n(), row(2)), (program(BOOL), program(BOOL), program(BOOL)), REASON),
        Gated((n(), Ref(2)), (program(BOOL),), REASON, ((n(), (0,)), (Ref(2), (1,)))),
        Unknown(REASON),
        Bounded(x, ArrayType(FLOAT64, (4,)), (Extent(0, program(BOOL, 4)),)),
        Bounded(
            x,
            ArrayType(FLOAT64, (2, 4)),
            (Extent(1, None, program(INT64), 2, program(INT64), CAPACITY, 3, (n(INT64),)),),
            (Identity(), Identity(of_loop=True)),
            program(INT32),
        ),
        Bounded(
            x, ArrayType(FLOAT64, (4,)), (Extent(0, None, program(INT64), program(INT64), program(INT64)),)
        ),
        At(n(FLOAT64, Form.JAX, 4)),
        AtIndex(n(FLOAT64, Form.JAX, 4), n(INT64)),
        ArrayCell(program(FLOAT64, 3)),
        ArrayCell(program(FLOAT64, 2), frozen=Frozen.COPY, objects=(Identity(),)),
        Vector(Array(program(FLOAT64, 4, 3), Form.NDARRAY), 4, 2, None, 1, Sharing.TWICE, (Identity(),)),
        Vector(Tuple((Array(program(FLOAT64, 3), Form.SCALAR), NONE)), 3, program(INT64), PLACE, program(INT64)),
        ArrayCell(program(FLOAT64, 1, 3), program(BOOL), merged(3, views=True), program(INT32)),
        ListCell((n(), x)),
        RowsCell(Vector(Array(program(INT64, 4), Form.PYTHON, range=(0, 9)), 4, program(INT64))),
        RowsCell(Vector(Array(program(INT64, 3), Form.PYTHON), 3, 2), merged(3), program(INT32)),
        ListCell((n(), row(2)), merged(3), program(INT32)),
        DictCell({"a": n(), 1: x}),
        DictCell({"a": n(), 1: row(2)}, merged(3), program(INT32)),
        DictCell({"a": n()}, container=collections.defaultdict, factory=Const(int)),
        TableCell(
            collections.defaultdict,
            Vector(Tuple((Array(program(INT64, 2), Form.PYTHON), NONE)), 2, 2),
            factory=Const(int),
        ),
        SetCell(frozenset([1])),
        SetCell(frozenset([1]), merged(3), program(INT32)),
        SetCell(frozenset([1]), order=(1,)),
        SetCell(frozenset([1]), history=made_by(set, [1])),
        TableCell(
            dict,
            Vector(
                Tuple((Array(program(INT64, 4), Form.PYTHON), Array(program(FLOAT64, 4), Form.SCALAR))),
                4,
                program(INT64),
            ),
            program(INT64),
            program(INT32, 8),
        ),
        TableCell(
            set,
            Vector(Tuple((Array(program(INT64, 2), Form.PYTHON), NONE)), 2, 2),
            0,
            program(INT32, 8),
            program(INT64, 2),
            program(INT64),
            merged(3),
            program(INT32),
        ),
        ObjectCell(int, {"a": n(), "b": x}),
        ObjectCell(int, {"a": n(), "b": row(2)}, _Origin(), merged(3), program(INT32), frozen=True),
        PoolCell(
            Vector(
                ObjectCell(int, {"a": Array(program(INT64, 4), Form.PYTHON), "b": Pooled(3, program(INT64, 4))}),
                4,
                program(INT64),
                PLACE,
            ),
            True,
        ),
        MemberCell(list, 3, program(INT64)),
        VariableCell(row(1)),
        IteratorCell(row(1), 2, ("a",), True),
        ErrorCell(program(INT32), {(ArrayType(INT64), 0): program(INT64)}),
        ErrorCell(
            program(INT32),
            {(ArrayType(INT64), 0): program(INT64)},
            (Version(9, program(BOOL), ListCell((n(),))), Version((1, "x"), program(BOOL), row(2))),
        ),
        OutputCell(program(INT32)),
    ]  # fmt: skip


def label(x: Abstract | Cell | Vector[Any]) -> str:
    """The name of a sample in a test's id."""
    return type(x).__name__


def kinds_of_content() -> set[str]:
    """The names of all classes of abstract values, cells and vectors of the compiler; not those that only have subclasses.

    By name, since a dataclass with slots is made twice.
    """
    pending: list[type] = [Abstract, Cell, Vector]
    for cls in pending:
        pending += cls.__subclasses__()
    own = [cls for cls in pending if cls.__module__.startswith("pystage.")]
    return {f"{cls.__module__}.{cls.__name__}" for cls in own if "__dataclass_fields__" in vars(cls)}


def defaults(x: Abstract | Cell | Vector[Any]) -> set[str]:
    """The fields of `x` that are as they are where nobody says otherwise."""
    found = set()
    for f in fields(x):  # type: ignore[arg-type]
        made = f.default_factory() if f.default_factory is not MISSING else f.default
        part = getattr(x, f.name)
        if part is made or (type(part) is type(made) and part == made):
            found.add(f.name)
    return found


_PARTS = (Abstract, Cell, Vector, Alias, Extent, Version, View)
_OF_PATTERNS = {(Gated, "sides"), (Alias, "stamp"), (Extent, "bounds")}
"""What stands in fields and is no part of a value: what the sides of a join had, or a source was last equal to."""


def parts(x: Any) -> Iterator[tuple[str, Any]]:
    """The program values, numbers of cells and views in the fields of `x`, each as `("value", v)` and the like."""
    match x:
        case Value():
            yield "value", x
        case tuple():
            for part in x:
                yield from parts(part)
        case dict():
            yield from parts(tuple(x.values()))
    if not isinstance(x, _PARTS):
        return
    if isinstance(x, View):
        yield "view", x
    for name in type(x).__dataclass_fields__:
        part = getattr(x, name)
        if (type(x), name) in _OF_PATTERNS:
            continue
        if name == "cell" or (name in ("slot", "pool") and isinstance(part, int)):
            yield "cell", part
        elif isinstance(x, Closure) and name == "cells":
            yield from (("cell", cell) for _, cell in part)
        elif not (isinstance(x, Const) or name == "namespace"):
            yield from parts(part)


def equal(a: Any, b: Any) -> bool:
    """True if two contents are of one class and equal field by field, and have the same program values."""
    if a is b:
        return True
    if isinstance(a, Value | np.ndarray) or type(a) is not type(b):
        return False
    if isinstance(a, _PARTS):
        skipped = {name for cls, name in _OF_PATTERNS if type(a) is cls}
        names = [n for n in type(a).__dataclass_fields__ if n not in skipped]
        return all(equal(getattr(a, n), getattr(b, n)) for n in names)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    return bool(a == b)
