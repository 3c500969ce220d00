"""`Context`: the interface of inference to library functions.

A library function has the signature of the Python function that it implements, preceded by the context:
`def mean(ctx, a, axis=None, …)`. Its arguments are abstract values, its defaults plain Python objects, and
every accessor here takes either. It builds HLO operations with `ctx.op` and returns abstract values.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ...records import dataclass
from ..analysis.differences import difference
from ..analysis.intervals import Intervals
from ..analysis.ranges import ANY, Interval, meet, open_ends
from ..diagnostics.diagnostic import Diagnostic, DiagnosticError
from ..diagnostics.span import Span
from ..hlo.builder import Builder
from ..hlo.ir import Value
from ..hlo.op import HloOp
from ..hlo.types import ArrayType, DType
from ..ops import Convert, Reshape, constant
from ..ops.foreign.named_axes import NamedAxes
from ..ops.host.draw import Action
from ..values.boundary import Form
from ..values.bounded import Compressed
from ..values.capacity import Capacity
from ..values.gated import GatedNumber, narrow_number
from ..values.lattice import Abstract, Array, ArrayCell, Cell, Const, Ref, RowsCell, Stream
from ..values.state import State
from ..values.views import broadcast, read_path
from .kernels.memory import check_memory

Raw = Any
"""An abstract value, or a plain Python object (from a default) that means the constant."""


@dataclass(frozen=True, slots=True)
class ExceptionCase:
    """The exception of `function(*args)` if `bad` is true (None: in all other cases), of the class of `fallback`."""

    bad: Value | None
    fallback: BaseException
    function: Callable[..., Any]
    args: Sequence[Raw]


class Context(abc.ABC):
    """The inference at work, as library functions use it."""

    b: Builder
    state: State
    x64: bool
    """The user's `jax_enable_x64`: the rules of `jax.numpy` depend on it."""
    intervals: Intervals
    """What is known of the range of values, here."""
    jax_loops: dict[tuple[object, object], Any]
    """By function and kinds of operand: the types that JAX computes with under the settings at hand."""
    compressed: dict[Value, Compressed]
    """By the elements that a mask selects, one after the other: all elements, and the mask."""
    members: Callable[[tuple[int, ...]], Value | None] | None
    """While something is computed of wholes, element by element: which elements of a shape belong to the result.

    None, also as what it gives: all do.
    """

    @contextmanager
    def computing_for(self, members: Callable[[tuple[int, ...]], Value | None]) -> Iterator[None]:
        """In the `with` block only the elements that `members` says count."""
        before, self.members = self.members, members
        try:
            yield
        finally:
            self.members = before

    # -- what the engine provides

    @abc.abstractmethod
    def call(
        self, function: Abstract, args: Sequence[Abstract], kwargs: Mapping[str, Abstract] = {}
    ) -> Abstract:
        """The result of a call to any callable value, user functions included."""

    @abc.abstractmethod
    def truth(self, value: Raw) -> Abstract:
        """`bool(value)`: a `Const` bool, or a staged Python bool; the plain run's error for arrays."""

    @abc.abstractmethod
    def branch(
        self, condition: Abstract, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
    ) -> Abstract:
        """The value of the arm that `condition` (a staged scalar bool) chooses; both arms are inferred."""

    @abc.abstractmethod
    def while_loop(
        self,
        condition: Callable[[Abstract], Abstract],
        body: Callable[[Abstract], Abstract],
        initial: Abstract,
        trip_count: int | None = None,
        most: int | None = None,
    ) -> Abstract:
        """`state = initial; while condition(state): state = body(state)`, rolled into one `While`.

        `trip_count` is the number of iterations, `most` the greatest number of them, where these are known.
        """

    @abc.abstractmethod
    def note_split(self) -> None:
        """Notes that something is split over the alternatives of a gated φ."""

    @abc.abstractmethod
    def known(self, value: Raw, what: str) -> Any:
        """The Python object that `value` is, where it must be known now.

        Demands a specialisation on the argument it depends on, or fails with PS4xx; `what` says what
        needs it, as `the shape of np.zeros`.
        """

    @abc.abstractmethod
    def can_be_known(self, value: Raw) -> bool:
        """True for what is known now, or once numbers of the call or of the environment are demanded."""

    @abc.abstractmethod
    def is_computed(self, value: Array) -> bool:
        """True if only a run knows an integer: neither constants nor integers of the call give it.

        One that floats of the call give counts as computed, as each of their values would be a program.
        """

    @abc.abstractmethod
    def can_be_unrolled(self, value: Array) -> bool:
        """True for an integer that is known once a loop around is written out."""

    @abc.abstractmethod
    def leave_rolled(self, value: Array, what: str) -> None:
        """The loop around that decides an integer stays rolled; if the program is refused, it is written out for `what`."""

    @abc.abstractmethod
    def iterate(self, value: Abstract) -> list[Abstract] | None:
        """The elements of an iterable whose length is known now, or None where it cannot be listed."""

    @abc.abstractmethod
    def gathered(self, value: Abstract) -> RowsCell | None:
        """The elements of an iterable as rows, if only the program knows how many there are, and they have a template."""

    @abc.abstractmethod
    def getattr(self, value: Abstract, name: str) -> Abstract:
        """`value.name`."""

    @abc.abstractmethod
    def attempt(self, call: Callable[[], Abstract], exceptions: type[BaseException]) -> Abstract | None:
        """The value of `call()`, or None where the program certainly raises one of `exceptions` in it."""

    @abc.abstractmethod
    def raise_(self, exception: BaseException) -> NoReturn:
        """The program raises this exception here, certainly."""

    @abc.abstractmethod
    def check(
        self,
        bad: Value | None,
        fallback: BaseException,
        function: Callable[..., Any],
        args: Sequence[Raw],
    ) -> None:
        """The program raises here what `function(*args)` raises, if the scalar bool `bad` holds (None: certainly).

        The function is called after the run, with what the arguments were. `fallback` is of the class that it
        raises, and is raised if it does not raise then (of a number within rounding of the limit).
        """

    @abc.abstractmethod
    def check_first(self, bad: Value, cases: Sequence[ExceptionCase]) -> None:
        """The program raises here, if the scalar bool `bad` holds, by the first of the cases that does."""

    @abc.abstractmethod
    def capacity(
        self, initial: int, itemsize: int = 8, what: str = "what grows here", with_inputs: bool = False
    ) -> Capacity:
        """The capacity, in this specialisation, of what the instruction at hand allocates; at least `initial` elements.

        `itemsize` is the number of bytes that an element takes. `what` says in words what it is, as `the list`, and tells
        apart several that one instruction allocates. `with_inputs`: large inputs probably make it large.
        It is the same in every pass over the instruction and every call.
        """

    @abc.abstractmethod
    def needs_capacity(self, capacity: Capacity, needed: Value) -> None:
        """The run ends here if `needed`, an integer scalar, exceeds the capacity; the call is executed again with more.

        It ends as by an exception that no handler sees: afterwards values mean nothing, and stores are masked.
        """

    @abc.abstractmethod
    def is_repeated(self) -> bool:
        """True in the body of a rolled loop."""

    @abc.abstractmethod
    def can_grow(self) -> bool:
        """Whether a run that needs more than a capacity is executed again with more of it; not where JAX traces the call."""

    @abc.abstractmethod
    def named_axes(self) -> NamedAxes:
        """The named axes that are bound here; the program holds only while JAX has bound the same ones around it."""

    @abc.abstractmethod
    def is_traced(self) -> bool:
        """True if JAX traces the call."""

    @abc.abstractmethod
    def checks_bounds(self) -> bool:
        """Whether the user wants indices checked (`pystage.config.check_bounds`)."""

    @abc.abstractmethod
    def write(self, cell: int, content: Cell) -> None:
        """Replaces the contents of a cell, other than an array, because the program changes it."""

    @abc.abstractmethod
    def store_mask(self, cell: int) -> Value | None:
        """Whether a store into an array happens, as a scalar bool; None if it certainly does.

        After a raise, what the caller has stays as it is, and what may be another name of that.
        """

    @abc.abstractmethod
    def draw(self, action: Action, operands: Sequence[Value], type: ArrayType | None) -> Value | None:
        """The host's result for an action, a value of `type`; None if that is None."""

    @abc.abstractmethod
    def print(self, stream: Stream, text: Abstract, flush: bool) -> None:
        """The program writes a string to a stream, and has it flushed, if asked to."""

    @abc.abstractmethod
    def captured_generator(self, generator: Any) -> Ref:
        """A generator of random numbers of the user's, by the object itself."""

    @abc.abstractmethod
    def new_generator(self, cls: type, number: Value) -> Ref:
        """A generator that the program has made."""

    @abc.abstractmethod
    def keep_state(self, number: Value, why: str) -> None:
        """Inference begins again, with the state of the generator with this number in the program, if that can be."""

    @abc.abstractmethod
    def leave_states(self) -> NoReturn:
        """Inference begins again, with the states of all generators with the host."""

    @abc.abstractmethod
    def keeps_state(self) -> bool:
        """Whether the state of a generator that the program makes here is in the program."""

    @abc.abstractmethod
    def input_of(self, value: Array) -> Value | None:
        """`value` if it is an input of the program as it came, else None."""

    def cell(self, ref: Ref) -> Any:
        """The contents of a cell, for a read."""
        return self.state.get(ref.cell)

    def settle(self, ref: Ref) -> Any:
        """The contents of a cell, for a store; PS501 if the may-alias is unresolved."""
        return self.state.get(ref.cell)

    @abc.abstractmethod
    def store_to_aliases(self, cell: int, store: Callable[[Ref, Value | None], None]) -> None:
        """Does what was stored to the array of `cell` to everything else that may be the same array.

        `store` gets such an array, or view, and the condition under which it is; None if it certainly is.
        """

    @abc.abstractmethod
    def same_object(self, left: Ref, right: Ref) -> Abstract | None:
        """Whether two references are one object, as a bool; None where that is not known."""

    @abc.abstractmethod
    def memory_of(self, ref: Ref) -> list[tuple[Ref, Value | bool]]:
        """The memory that an array may be: by its owner and the path to it, each with its condition."""

    @abc.abstractmethod
    def is_of_caller(self, ref: Ref) -> bool:
        """True for an array that the caller has."""

    @abc.abstractmethod
    def freeze(self, ref: Ref) -> bool:
        """Refuses stores into an array from now on; gives whether it was refused before, or the caller has the array."""

    @abc.abstractmethod
    def note_element(self, array: Ref, holder: Ref, place: int | Value, key: Abstract) -> None:
        """Notes that an array that was read of a list or dict of rows is its element at a place, found by `key`.

        A store into it goes to the rows too, as long as they hold what they hold now.
        """

    @abc.abstractmethod
    def is_element(self, array: Ref, holder: Ref, key: Abstract) -> bool:
        """True for an array that certainly is the element of `holder` under this key."""

    @abc.abstractmethod
    def element_stores(self) -> int:
        """How many stores into elements of rows inference has met."""

    @abc.abstractmethod
    def store_to_element(self, cell: int) -> None:
        """Does to the rows what was stored into an array that is an element of them."""

    @abc.abstractmethod
    def alias_if(self, ref: Ref, condition: Value) -> Ref:
        """The array `ref` itself if a scalar bool holds, else a copy."""

    def overloaded(self, op: str, left: Raw, right: Raw) -> Abstract | None:
        """The result of a binary operator or comparison by the classes of user objects; None if they define none."""
        return None

    @abc.abstractmethod
    def inplace(self, op: str, left: Raw, right: Raw) -> Abstract:
        """`left op= right`: what the target is bound to afterwards, by the classes of user objects too."""

    @abc.abstractmethod
    def depends_on_identity(self) -> None:
        """Notes that the program depends on two objects of the caller's not being one."""

    @abc.abstractmethod
    def is_subclass(self, cls: type, wanted: Any) -> bool:
        """`issubclass(cls, wanted)`; the program holds only while this is so."""

    # -- shared helpers

    @property
    def span(self) -> Span | None:
        """The source of the current instruction."""
        return self.b.span

    @abc.abstractmethod
    def pooled(self, objects: Sequence[Ref], pool: int | None = None) -> bool:
        """Makes objects rows of one pool, of this one or of any; False where they cannot be, and nothing is done."""

    @abc.abstractmethod
    def united(self, first: int, second: int) -> bool:
        """Makes one pool of two, in all that refers to one of them; False where they cannot be, and nothing is done."""

    def fail(self, diagnostic: Diagnostic) -> NoReturn:
        """Gives up on the current value for the reason `diagnostic`."""
        raise DiagnosticError(diagnostic)

    def op(self, kind: HloOp, *operands: Value) -> Value:
        """Applies an operation of one result."""
        return self.b.op(kind, *operands)

    def constant(self, value: object, dtype: DType | type) -> Value:
        """A constant of the program, of `dtype`."""
        return constant(self.b, value, dtype)

    def contents(self, ref: Ref) -> Value:
        """The array that an ndarray reference stands for, now."""
        cell = self.state.get(ref.cell)
        assert isinstance(cell, ArrayCell)
        return read_path(self.b, cell.value, ref.path)

    def is_ndarray(self, value: Raw) -> bool:
        """True for a reference to an ndarray."""
        return isinstance(value, Ref) and isinstance(self.state.get(value.cell), ArrayCell)

    @abc.abstractmethod
    def read(self, value: Raw) -> Array | Const:
        """`value` as a number or an array: an `Array` (an ndarray's contents have `Form.NDARRAY`), or a
        `Const` holding a Python number or a NumPy scalar.

        Nested lists and tuples are read as `np.asarray` reads them. PS2xx for what is not numeric;
        PS5xx where the contents are not certain (a view whose base changed).
        """

    def number(self, value: Raw) -> Array | Const:
        """As `read`, but a number may be of several kinds (`GatedNumber`), where that is not known."""
        return (
            narrow_number(self.b, self.intervals, value)
            if isinstance(value, GatedNumber)
            else self.read(value)
        )

    def range_of(self, x: Array | Const) -> Interval:
        """The range of an integer, or of each of an array, here: under the conditions that led here.

        An end that only its 64 bits set is infinite, as those of Python's integers are. As all that inference knows, it
        holds unless the program has raised.
        """
        if isinstance(x, Const):
            is_integer = isinstance(x.value, int | np.integer | np.bool_)
            return (int(x.value), int(x.value)) if is_integer else ANY
        if x.dtype.kind not in "biu":
            return ANY
        found = meet(x.range, self.intervals(x.value))
        return open_ends(found, x.dtype) if x.dtype.itemsize == 8 else found

    def difference(self, a: Array | Const, b: Array | Const) -> Interval:
        """The range of `a - b` of two scalar integers, here; what is on both sides cancels out."""
        first, second = [x.value if isinstance(x, Array) else int(x.value) for x in (a, b)]
        return difference(first, second, self.intervals)

    def new(self, value: Value) -> Abstract:
        """A NumPy function's result: an ndarray of its own, or a NumPy scalar where the rank is 0."""
        if not value.type.shape:
            return Array(value, Form.SCALAR)
        return self.ndarray(value)

    def ndarray(self, value: Value) -> Ref:
        """A new ndarray of any rank; `TooLarge` where NumPy has no memory for one."""
        if value.type.shape:
            check_memory(value.type)
        return Ref(self.state.new_cell(ArrayCell(value)))

    def jax(self, value: Value, weak: bool = False) -> Array:
        """A `jax.Array`."""
        return Array(value, Form.JAX, weak)

    def python(self, value: Value, range: Interval = ANY) -> Array:
        """A Python scalar: `value` is a scalar of dtype bool, int64, float64 or complex128; `range` holds an integer."""
        if range != ANY:
            self.intervals.narrow(value, range)
        return Array(value, Form.PYTHON, False, range)

    def convert(self, value: Value, dtype: DType) -> Value:
        """`value` with the element type `dtype` (no operation if it has it)."""
        return value if value.type.dtype == dtype else self.b.op(Convert(dtype), value)

    def broadcast(self, value: Value, shape: tuple[int, ...]) -> Value:
        """`value` broadcast to `shape` by NumPy's rules; they must fit."""
        return broadcast(self.b, value, shape)

    def reshape(self, value: Value, shape: tuple[int, ...]) -> Value:
        """`value` in another shape of the same size."""
        return value if value.type.shape == shape else self.b.op(Reshape(shape), value)
