"""A small context for library functions: no source and no engine, only values, a heap and a builder.

In: a meaning (or any `(ctx, *abstract) → Abstract`), the plain function it stands for, and arguments.
`check` runs both, the meaning through the reference interpreter, and compares values, dtypes, shapes, kinds
of object, and what was stored into the arguments.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import jax
import numpy as np
import pytest

from pystage.compiler.analysis.intervals import Intervals
from pystage.compiler.diagnostics.diagnostic import DiagnosticError
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.types import BOOL, ArrayType
from pystage.compiler.library import declarations  # noqa: F401  (declares all meanings)
from pystage.compiler.library.context import Context, ExceptionCase
from pystage.compiler.library.jax.traced_calls import is_jax_callable, jax_call
from pystage.compiler.library.operands.libraries import raise_axis
from pystage.compiler.library.python import operators
from pystage.compiler.library.python.containers import attribute_of_container
from pystage.compiler.library.python.iterators import taken
from pystage.compiler.library.registry import meaning_of, signature_of
from pystage.compiler.library.rules.jax import AxisProblem
from pystage.compiler.ops import Compare, Concatenate, If, Reshape, Slice
from pystage.compiler.ops.foreign.named_axes import NO_AXES, NamedAxes
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.capacity import Capacity
from pystage.compiler.values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Cell,
    Const,
    DictCell,
    IteratorCell,
    ListCell,
    Mapped,
    Meaning,
    Method,
    ObjectCell,
    Partial,
    Range,
    Ref,
    SetCell,
    Tuple,
)
from pystage.compiler.values.lattice import SliceObject as SliceObject
from pystage.compiler.values.state import State
from pystage.compiler.values.walk import values_of

from .listing import container_elements

TOLERANCES = {"f": {2: 4e-3, 4: 2e-5, 8: 1e-11}, "c": {8: 2e-5, 16: 1e-11}, "V": {2: 2e-2}}
"""Relative and absolute tolerance by kind and width of the element type (V: bfloat16)."""


class Raised(Exception):
    """The meaning says that the program certainly raises `exception`."""

    def __init__(self, exception: BaseException) -> None:
        super().__init__(repr(exception))
        self.exception = exception


class NeedsKnown(Exception):
    """The meaning needs a value to be known that is not."""


@dataclass(frozen=True)
class Known:
    """An argument that is known while compiling (numbers are dynamic otherwise)."""

    value: Any


class PlainContext(Context):
    """The context for one test: arguments become parameters of `body`."""

    def __init__(self) -> None:
        self.body = Region()
        self.b = Builder(self.body)
        self.state = State()
        self.intervals = Intervals()
        self.jax_loops = {}
        self.compressed = {}
        self.x64 = bool(jax.config.jax_enable_x64)
        self.members = None
        self.arguments: list[np.ndarray] = []
        self.cells: dict[int, Any] = {}

    def depends_on_identity(self) -> None:
        pass

    def is_subclass(self, cls: type, wanted: Any) -> bool:
        return issubclass(cls, wanted)

    def same_object(self, left: Ref, right: Ref) -> Any:
        return Const(left.cell == right.cell)

    def vectors_of(self, container: Any) -> list[Any]:
        return []

    def memory_of(self, ref: Ref) -> list[tuple[Ref, Value | bool]]:
        return [(ref, True)]

    def draw(self, *args: Any) -> Any:
        raise NotImplementedError

    captured_generator = new_generator = input_of = store_to_aliases = print = alias_if = draw
    keep_state = leave_states = keeps_state = draw

    def check(
        self, bad: Value | None, fallback: BaseException, function: Callable[..., Any], args: Sequence[Any]
    ) -> None:
        if bad is None:  # what depends on the run is for the tests of the whole road (`tests/errors`)
            raise Raised(fallback)

    def check_first(self, bad: Value, cases: Sequence[ExceptionCase]) -> None:
        pass

    def is_repeated(self) -> bool:
        return False

    def is_of_caller(self, ref: Any) -> bool:
        return False

    def freeze(self, ref: Any) -> bool:
        return False

    def note_element(self, array: Any, holder: Any, place: Any, key: Any) -> None: ...

    def is_element(self, array: Any, holder: Any, key: Any) -> bool:
        return False

    def element_stores(self) -> int:
        return 0

    def store_to_element(self, cell: int) -> None: ...
    def pooled(self, objects: Any, pool: int | None = None) -> bool:
        return False

    def united(self, first: int, second: int) -> bool:
        return False

    def can_grow(self) -> bool:
        return True

    def named_axes(self) -> NamedAxes:
        return NO_AXES

    def is_traced(self) -> bool:
        return False

    def checks_bounds(self) -> bool:
        return False

    def write(self, cell: int, content: Cell) -> None:
        self.state.set(cell, content)

    def store_mask(self, cell: int) -> Value | None:
        return None

    # -- arguments

    def param(self, array: np.ndarray) -> Value:
        """A new parameter of the program with this argument."""
        self.arguments.append(array)
        return self.body.add_param(ArrayType(array.dtype, array.shape))

    def lift(self, value: Any) -> Abstract:
        """The abstract value of an argument; one object gives one cell."""
        match value:
            case Known():
                return Const(value.value)
            case np.generic():
                return Array(self.param(np.asarray(value)), Form.SCALAR)
            case bool() | int() | float() | complex():
                return Array(self.param(np.asarray(value)), Form.PYTHON)
            case jax.Array():
                return Array(self.param(np.asarray(value)), Form.JAX, bool(value.weak_type))
            case np.ndarray() | list() | dict() | set():
                return self._lift_mutable(value)
            case tuple():
                return Tuple(tuple([self.lift(v) for v in value]), type(value))
            case _:
                return value if isinstance(value, Abstract) else Const(value)

    def _lift_mutable(self, value: Any) -> Ref:
        for cell, known in self.cells.items():
            if known is value:
                return Ref(cell)
        content: Any
        match value:
            case np.ndarray():
                content = ArrayCell(self.param(value), bool(value.flags.writeable))
            case list():
                content = ListCell(tuple([self.lift(v) for v in value]))
            case dict():
                content = DictCell({k: self.lift(v) for k, v in value.items()})
            case _:
                content = SetCell(frozenset(value))
        ref = Ref(self.state.new_cell(content))
        self.cells[ref.cell] = value
        return ref

    # -- what the engine provides

    def call(
        self, function: Abstract, args: Sequence[Abstract], kwargs: Mapping[str, Abstract] = {}
    ) -> Abstract:
        match function:
            case Meaning(call=call):
                return call(self, *args, **kwargs)
            case Partial():
                return self.call(
                    function.function, [*function.args, *args], {**dict(function.kwargs), **kwargs}
                )
            case Method():
                return self.call(function.function, [function.receiver, *args], kwargs)
            case Const(value=value):
                found = meaning_of(value)
                if found is None and is_jax_callable(value):
                    return jax_call(self, value, args, kwargs)
                assert found is not None, f"{value!r} has no meaning"
                bound = signature_of(found).bind(*args, **kwargs)
                try:
                    return found(self, *bound.args, **bound.kwargs)
                except AxisProblem as problem:
                    raise_axis(self, problem, is_jax=value.__module__.startswith("jax"))
        raise AssertionError(f"{function!r} is not callable here")

    def truth(self, value: Any) -> Abstract:
        if isinstance(value, Const):
            return Const(bool(value.value))
        items = container_elements(self, value)
        if items is not None:
            return Const(bool(items))
        array = self.read(value)
        assert isinstance(array, Array)
        assert array.type.size == 1, "the truth of an array"
        scalar = self.reshape(array.value, ())
        zero = self.constant(0, scalar.type.dtype)
        made = scalar if scalar.type.dtype == BOOL else self.op(Compare("NE"), scalar, zero)
        return Array(made, Form.PYTHON)

    def branch(
        self, condition: Abstract, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
    ) -> Abstract:
        """Both arms must give arrays of one form and type, where the condition is not known."""
        if isinstance(condition, Const):
            return then() if condition.value else orelse()
        assert isinstance(condition, Array)
        arms = []
        for arm in (then, orelse):
            region = Region()
            with self.b.region(region):
                made = arm()
                assert isinstance(made, Array)
                region.results = (made.value,)
            arms.append((region, made))
        (result,) = self.b.apply(If(), [condition.value], [r for r, _ in arms]).results
        return Array(result, arms[0][1].form)

    def while_loop(self, *_: Any, **__: Any) -> Abstract:
        raise NotImplementedError("loops need the engine")

    def note_split(self) -> None:
        """Nothing depends on it without loops."""

    def can_be_known(self, value: Any) -> bool:
        return isinstance(value, Const)

    def capacity(self, initial: int, itemsize: int = 8, what: str = "what grows here") -> Capacity:
        raise NotImplementedError("a capacity needs the engine")

    def expected(self, number: Abstract) -> int | None:
        return None

    def needs_capacity(self, capacity: Capacity, needed: Value) -> None:
        raise NotImplementedError("a capacity needs the engine")

    def gathered(self, value: Abstract) -> None:
        return None

    def can_be_unrolled(self, value: Array) -> bool:
        return False

    def leave_rolled(self, value: Array, what: str) -> None:
        pass

    def is_computed(self, value: Array) -> bool:
        return False

    def known(self, value: Any, what: str) -> Any:
        match value:
            case Const():
                return value.value
            case Tuple():
                return tuple([self.known(v, what) for v in value.items])
            case Ref() if isinstance(self.state.get(value.cell), ListCell):
                return [self.known(v, what) for v in self.state.get(value.cell).items]
            case Abstract():
                raise NeedsKnown(what)
            case _:
                return value

    def iterate(self, value: Abstract) -> list[Abstract] | None:
        if isinstance(value, Mapped):
            columns = [self.iterate(v) for v in value.inners]
            rows = zip(*[c for c in columns if c is not None])
            return [self.call(value.function, row) for row in rows]
        if isinstance(value, Array) or self.is_ndarray(value):
            return self._rows(self.read(value))
        if isinstance(value, Ref) and isinstance(self.state.get(value.cell), IteratorCell):
            return list(iter(lambda: taken(self, value), None))
        return container_elements(self, value)

    def _rows(self, array: Any) -> list[Abstract]:
        values = []
        for i in range(array.shape[0]):
            starts = (i,) + (0,) * (array.rank - 1)
            row = self.op(Slice(starts, (i + 1, *array.shape[1:]), (1,) * array.rank), array.value)
            values.append(self.op(Reshape(array.shape[1:]), row))
        return [self.new(v) if array.form is Form.NDARRAY else self.jax(v) for v in values]

    def getattr(self, value: Abstract, name: str) -> Abstract:
        found = attribute_of_container(self, value, name)
        if found is not None:
            return found
        assert isinstance(value, Const)
        return Const(getattr(value.value, name))

    def attempt(self, call: Callable[[], Abstract], exceptions: type[BaseException]) -> Abstract | None:
        try:
            return call()
        except Raised as raised:
            if not isinstance(raised.exception, exceptions):
                raise
            return None

    def unary(self, op: str, x: Any) -> Abstract:
        return operators.unary(self, op, x)

    def inplace(self, op: str, left: Any, right: Any) -> Abstract:
        return operators.inplace(self, op, left, right)

    def raise_(self, exception: BaseException) -> NoReturn:
        raise Raised(exception)

    def read(self, value: Any) -> Array | Const:
        match value:
            case Array() | Const():
                return value
            case Ref() if self.is_ndarray(value):
                return Array(self.contents(value), Form.NDARRAY)
            case Abstract():
                return self._stack(value)
            case _:
                return Const(value)

    def _stack(self, value: Abstract) -> Array:
        """A nested sequence as one array."""
        items = container_elements(self, value)
        assert items is not None, f"{value!r} is not numeric"
        parts = [self.read(i) for i in items]
        dtypes = [p.dtype if isinstance(p, Array) else np.asarray(p.value).dtype for p in parts]
        dtype = np.result_type(*dtypes)
        values = [
            self.convert(p.value, dtype) if isinstance(p, Array) else self.constant(p.value, dtype)
            for p in parts
        ]
        rows = [self.op(Reshape((1, *v.type.shape)), v) for v in values]
        return Array(self.op(Concatenate(0), *rows), Form.NDARRAY)


# ---------------------------------------------------------------- results


class Reader:
    """The Python objects that abstract values stand for, once the program has run."""

    def __init__(self, ctx: PlainContext) -> None:
        self.ctx = ctx
        self.wanted: dict[Value, int] = {}
        self.arrays: tuple[np.ndarray, ...] = ()

    def collect(self, value: Any) -> None:
        """Notes every program value that `value` needs."""
        for each in values_of(value):
            self.wanted.setdefault(each, len(self.wanted))
        if self.ctx.is_ndarray(value):
            self.wanted.setdefault(self.ctx.contents(value), len(self.wanted))
        for part in getattr(value, "items", ()):
            self.collect(part)
        for cell in self.ctx.state.reachable([value]):
            content = self.ctx.state.get(cell)
            for each in values_of(content):
                self.wanted.setdefault(each, len(self.wanted))
            for part in getattr(content, "items", ()):
                if self.ctx.is_ndarray(part):
                    self.collect(part)

    def run(self) -> None:
        """Runs the program."""
        self.ctx.body.results = tuple(self.wanted)
        function = Function("main", self.ctx.body)
        self.arrays = interpret(function, self.ctx.arguments)

    def object(self, value: Any) -> Any:
        """The Python object."""
        match value:
            case Const(value=known):
                return known
            case Array():
                return self._array(value)
            case Tuple():
                items = [self.object(v) for v in value.items]
                return tuple(items) if value.cls is tuple else value.cls(*items)
            case Ref():
                return self._cell(value)
            case Range():
                return range(*[self.object(p) for p in (value.start, value.stop, value.step)])
            case SliceObject():
                return slice(*[self.object(p) for p in (value.start, value.stop, value.step)])
        raise AssertionError(f"no object for {value!r}")

    def _array(self, value: Array) -> Any:
        array = self.arrays[self.wanted[value.value]]
        match value.form:
            case Form.PYTHON:
                return array.item()
            case Form.SCALAR:
                return array[()]
            case Form.JAX:
                return JaxResult(array, value.weak)
        raise AssertionError("an ndarray outside the heap")

    def _cell(self, ref: Ref) -> Any:
        content = self.ctx.state.get(ref.cell)
        match content:
            case ArrayCell():
                return self.arrays[self.wanted[self.ctx.contents(ref)]]
            case ListCell():
                return [self.object(v) for v in content.items]
            case DictCell():
                return {k: self.object(v) for k, v in content.entries.items()}
            case SetCell():
                return set(content.items)
            case ObjectCell():
                made: Any = object.__new__(content.cls)
                for name, part in content.fields.items():
                    object.__setattr__(made, name, self.object(part))
                return made
        raise AssertionError(f"no object for {content!r}")


@dataclass(frozen=True)
class JaxResult:
    """What a `jax.Array` result is."""

    array: np.ndarray
    weak: bool


def assert_same(staged: Any, plain: Any, where: str = "the result") -> None:
    """The two are the same kind of object with the same contents, to float rounding."""
    if isinstance(plain, jax.Array):
        assert isinstance(staged, JaxResult), f"{where}: {staged!r} is no jax.Array"
        assert staged.weak == plain.weak_type, f"{where}: weak type {staged.weak}"
        _assert_array(staged.array, np.asarray(plain), where)
        return
    assert type(staged) is type(plain), f"{where}: {type(staged)} for {type(plain)}: {staged!r}, {plain!r}"
    if isinstance(plain, list | tuple):
        assert len(staged) == len(plain), f"{where}: {staged!r} for {plain!r}"
        for i, (a, b) in enumerate(zip(staged, plain, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(plain, dict):
        assert list(staged) == list(plain), f"{where}: keys"
        for key in plain:
            assert_same(staged[key], plain[key], f"{where}[{key!r}]")
    elif isinstance(plain, float | complex | np.generic | np.ndarray):
        _assert_array(np.asarray(staged), np.asarray(plain), where)
    elif dataclasses.is_dataclass(plain) and not isinstance(plain, type):
        for each in dataclasses.fields(plain):
            assert_same(getattr(staged, each.name), getattr(plain, each.name), f"{where}.{each.name}")
    else:
        assert staged == plain, f"{where}: {staged!r} for {plain!r}"


def _assert_array(staged: np.ndarray, plain: np.ndarray, where: str) -> None:
    assert staged.dtype == plain.dtype, f"{where}: {staged.dtype} for {plain.dtype}"
    assert staged.shape == plain.shape, f"{where}: shape {staged.shape} for {plain.shape}"
    if plain.dtype.kind in "biuO":
        np.testing.assert_array_equal(staged, plain, where)
        return
    tolerance = TOLERANCES[plain.dtype.kind][plain.dtype.itemsize]
    wide = np.complex128 if plain.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            staged.astype(wide), plain.astype(wide), rtol=tolerance, atol=tolerance, err_msg=where
        )


def check(
    staged: Callable[..., Abstract], plain: Callable[..., Any], *args: Any, **kwargs: Any
) -> PlainContext:
    """Asserts that `staged(ctx, *abstract)` computes what `plain(*args)` does, stores into arguments included."""
    own_args, own_kwargs = copy.deepcopy((args, kwargs))
    plain_args = [a.value if isinstance(a, Known) else a for a in own_args]
    plain_kwargs = {k: a.value if isinstance(a, Known) else a for k, a in own_kwargs.items()}
    expected, error = None, None
    with np.errstate(all="ignore"):
        try:
            expected = plain(*plain_args, **plain_kwargs)
        except Exception as raised:
            error = raised
    ctx = PlainContext()
    lifted = [ctx.lift(a) for a in args]
    lifted_kwargs = {k: ctx.lift(a) for k, a in kwargs.items()}
    if error is not None:
        _expect_error(error, lambda: staged(ctx, *lifted, **lifted_kwargs))
        return ctx
    result = staged(ctx, *lifted, **lifted_kwargs)
    reader = Reader(ctx)
    for each in (result, *lifted, *lifted_kwargs.values()):
        reader.collect(each)
    reader.run()
    assert_same(reader.object(result), expected)
    for i, (abstract, after) in enumerate(
        zip([*lifted, *lifted_kwargs.values()], [*plain_args, *plain_kwargs.values()], strict=True)
    ):
        if isinstance(abstract, Ref):
            assert_same(reader.object(abstract), after, f"argument {i} afterwards")
    return ctx


def _expect_error(error: Exception, run: Callable[[], object]) -> None:
    """The plain run raises: the meaning says so too, or refuses with a diagnostic of types."""
    with pytest.raises((Raised, DiagnosticError)) as caught:
        run()
    if isinstance(caught.value, Raised):
        assert isinstance(caught.value.exception, type(error)), f"{caught.value} for {error!r}"
    else:
        assert isinstance(caught.value, DiagnosticError)
        assert caught.value.diagnostic.code.startswith(("PS2", "PS65")), caught.value
        assert caught.value.diagnostic.headline


def check_call(function: Any, *args: Any, **kwargs: Any) -> PlainContext:
    """`check` of the meaning that the library gives `function`."""

    def staged(ctx: PlainContext, *a: Abstract, **k: Abstract) -> Abstract:
        return ctx.call(Const(function), a, k)

    return check(staged, function, *args, **kwargs)


def refused(code: str, staged: Callable[..., Abstract], *args: Any, **kwargs: Any) -> None:
    """Asserts that `staged(ctx, *abstract)` is refused with the diagnostic `code`."""
    ctx = PlainContext()
    lifted = [ctx.lift(a) for a in args]
    lifted_kwargs = {k: ctx.lift(v) for k, v in kwargs.items()}
    with pytest.raises(DiagnosticError) as caught:
        staged(ctx, *lifted, **lifted_kwargs)
    assert caught.value.diagnostic.code == code
    assert caught.value.diagnostic.headline
