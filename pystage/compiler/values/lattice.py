"""Abstract values: the lattice of what inference proves of each Python value; and the cells of the heap.

The lattice is finer than Python's types: a value is a constant (`Const`), a structure of abstract values (`Tuple`, a `Ref`
to a list), or an array of some type whose elements the program computes (`Array`). Mutable objects are cells of the heap
(`state.py`); a `Ref` refers to one.
"""

from __future__ import annotations

import collections
import enum
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import field, replace
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from ..analysis.ranges import ANY, Interval
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..hash_order import SetHistory, note_set
from ..hlo.immutable import immutable
from ..hlo.ir import Value
from ..hlo.types import ArrayType, DType
from ..stage.ir import Function as StageFunction
from .boundary import Form, Path
from .exceptions import ExceptionBuilder, PayloadKey
from .identity import SOME_OBJECT, Identity
from .memory import Leaf, RecordClass, RecordType
from .node import NOTE, WEAK, CellNumber, TreeNode
from .slots import Slot
from .vector import Vector
from .views import View, is_entire


class NumberKind(NamedTuple):
    """The kind of a number, which determines promotion.

    `form`: Python's, NumPy's, or a `jax.Array`. `weak` is JAX's weak type; Python scalars are weak by their form.
    """

    dtype: DType
    form: Form
    weak: bool = False

    def __str__(self) -> str:
        if self.form is Form.PYTHON:
            return type(self.dtype.type(0).item()).__name__
        return f"{self.dtype} ({self.form.value})"


class Abstract(TreeNode):
    """An element of the lattice: the facts that inference has of one Python value."""

    __slots__ = ()


@immutable
class Const(Abstract):
    """A compile-time constant, any Python object: a number, string, dtype, module, function, class, None."""

    value: Any

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


@immutable
class Array(Abstract):
    """An immutable staged value: a Python scalar, a NumPy scalar, a `jax.Array`, or an ndarray's contents.

    `weak` is JAX's weak type. `range`: what is known of an integer, or of each of an array, wherever it goes. What is
    known of it at some place, by its operations and the conditions there too, `Context.range_of` says.
    """

    value: Value
    form: Form
    weak: bool = False
    range: Interval = ANY
    key_impl: str | None = None

    @property
    def type(self) -> ArrayType:
        """Element type and shape."""
        return self.value.type

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.value.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape; known integers."""
        return self.value.type.shape

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.value.type.shape)


@immutable
class Ref(Abstract):
    """A reference to a cell of the heap; `path` are the views between the cell's array and this one.

    `identity` says which object a view is: what has the same one is the same object. Where paths have met it has `parts`.
    """

    cell: CellNumber
    path: tuple[View, ...] = ()
    identity: Identity = field(default=cast(Identity, None), metadata=NOTE)

    def __post_init__(self) -> None:
        if self.path and self.identity is None:
            self.identity = Identity()


def through(ref: Ref, path: tuple[View, ...], identity: Identity | None = None) -> Ref:
    """The view at the end of `path` of the array that `ref` is; all of a view of all has the path of that view."""
    if not path:
        return ref
    if is_entire(path[0]) and ref.path[-1:] == path[:1]:
        path = path[1:]
    return Ref(ref.cell, (*ref.path, *path), cast(Identity, identity))


@immutable
class Tuple(Abstract):
    """A tuple, or an instance of the NamedTuple class `cls`."""

    items: tuple[Abstract, ...]
    cls: type = tuple


@immutable
class RowsTuple(Abstract):
    """A tuple of computed length, of numbers and tuples of them."""

    items: Vector[Abstract]


Items = tuple[Abstract, ...] | Vector[Abstract]
"""The elements of a list or a tuple: known one by one, or a vector."""


@immutable
class Pooled(Abstract):
    """A reference to the object at `place` in a pool, as lists of rows and other objects of pools hold it."""

    pool: CellNumber
    place: int | Value


@immutable
class SliceObject(Abstract):
    """A slice object; missing parts are `Const(None)`."""

    start: Abstract
    stop: Abstract
    step: Abstract


@immutable
class Records(Abstract):
    """An ndarray of a structured dtype, or an element of one (`np.void`), which is a view too.

    `parts` are the arrays of the leaves of the dtype: views of ndarrays, alike for each, or bounded arrays. `spacing` bytes
    lie between two records that are neighbours in memory.
    """

    cls: type[RecordClass]
    parts: tuple[Abstract, ...]
    spacing: int
    element: bool = False

    @property
    def dtype(self) -> RecordType:
        """Its dtype."""
        return self.cls.dtype

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The fields of the parts."""
        return self.cls.leaves


@immutable
class Range(Abstract):
    """A range object; the parts are Python integers, known or not."""

    start: Abstract
    stop: Abstract
    step: Abstract


@immutable
class Enumerate(Abstract):
    """`enumerate(inner, start)`.

    `turn`, here and in the classes below: a reference to an `IteratorCell` that is empty once somebody has gone
    over it, since Python's would then give no more.
    """

    inner: Abstract
    start: Abstract
    turn: Abstract | None = None


@immutable
class Zip(Abstract):
    """`zip(*inners, strict=strict)`."""

    inners: tuple[Abstract, ...]
    strict: bool = False
    turn: Abstract | None = None


@immutable
class Reversed(Abstract):
    """`reversed(inner)`; `count`: how many elements a list had then."""

    inner: Abstract
    count: int | None = None
    turn: Abstract | None = None


@immutable
class Mapped(Abstract):
    """`map(function, *inners)`."""

    function: Abstract
    inners: tuple[Abstract, ...]
    turn: Abstract | None = None


@immutable
class Filtered(Abstract):
    """The source of an iterator `filter(function, …)`: `inner` is an iterator too."""

    function: Abstract
    inner: Abstract


@immutable
class Count(Abstract):
    """The source of an iterator `itertools.count(start, step)`: the next number, and the step."""

    next: Abstract
    step: Abstract


@immutable
class Suspended(Abstract):
    """The source of a suspended generator: its function, and the values of its parameters."""

    function: Closure
    bound: tuple[tuple[str, Abstract], ...]


@immutable
class FlatIterator(Abstract):
    """The source of `x.flat`: a view of `x` with one axis."""

    array: Ref


@immutable
class DictView(Abstract):
    """`d.keys()`, `d.values()` or `d.items()`."""

    kind: str
    cell: CellNumber


@immutable
class Closure(Abstract):
    """A function made by staged code. `cells` are the heap cells of its free variables."""

    function: StageFunction
    namespace: dict[str, Any]
    module: str
    defaults: tuple[Abstract, ...]
    kw_defaults: tuple[tuple[str, Abstract], ...]
    cells: tuple[tuple[str, CellNumber], ...]


@immutable
class Method(Abstract):
    """A bound method: `function(receiver, …)`.

    `objects` are the paths of the caller's objects that it may be, None for a new one.
    """

    function: Abstract
    receiver: Abstract
    objects: tuple[Path | None, ...] = (None,)


@immutable
class Partial(Abstract):
    """`functools.partial(function, *args, **kwargs)`."""

    function: Abstract
    args: tuple[Abstract, ...]
    kwargs: tuple[tuple[str, Abstract], ...]


@immutable
class Meaning(Abstract):
    """A function that the library defines, bound to nothing: called with the context and abstract arguments."""

    name: str
    call: Callable[..., Abstract]


@immutable
class Super(Abstract):
    """`super(cls, receiver)`."""

    cls: type
    receiver: Abstract


@immutable
class Exc(Abstract):
    """An exception instance that staged code constructs: `cls(*args, **kwargs)`, with its `__cause__` where it has one."""

    cls: type[BaseException]
    args: tuple[Abstract, ...]
    kwargs: tuple[tuple[str, Abstract], ...] = ()
    cause: Abstract | None = None


@immutable
class Caught(Abstract):
    """An exception that the program has raised, as a handler binds it; the number of its raise site identifies it.

    `values` are that number and the payload from which `remake` constructs the exception. `sites` are the sites that may
    have raised it: their number, the number under which the site was added, and the class. `exception`: the instance that
    staged code constructed, if it certainly is that one. `known`: the numbers of sites whose exception has constant
    arguments, with its class and those.
    """

    remake: ExceptionBuilder
    values: tuple[Abstract, ...]
    sites: frozenset[tuple[int, int, type[BaseException]]]
    exception: Abstract | None = None
    known: frozenset[tuple[int, type[BaseException], tuple[Any, ...]]] = frozenset()

    @property
    def classes(self) -> set[type[BaseException]]:
        """The classes that it may be of."""
        return {cls for _, _, cls in self.sites}


@immutable
class ClassOf(Abstract):
    """The class of a caught exception, where it is one of several."""

    caught: Caught


@immutable
class Text(Abstract):
    """A string with computed parts: the result of the pure `function(*args)` at run time."""

    function: Callable[..., str]
    args: tuple[Abstract, ...]


@immutable
class Stream(Abstract):
    """`sys.stdout` or `sys.stderr`, looked up when the program writes to it."""

    name: str


@immutable
class Undef(Abstract):
    """An unassigned variable; `span` is where a `del` or a branch left it so."""

    span: Span | None = field(default=None, metadata=NOTE)


@immutable
class Unknown(Abstract):
    """A value that cannot be staged, and why. An error only where something needs it."""

    reason: Diagnostic = field(metadata=NOTE)


# ---------------------------------------------------------------- contents of cells


class Cell(TreeNode):
    """The contents of a heap cell; replaced, never changed."""

    __slots__ = ()


class Stamp(enum.Enum):
    """A value in place of a version stamp that an alias does not have."""

    __hash__ = object.__hash__  # each is one object, and part of many keys

    PENDING = "the joined state is not complete yet"
    OUT_OF_DATE = "its cell has changed, and what it held is forgotten"
    UNRESOLVED = "no selector tells whether it shares memory with this one"


@immutable
class Alias(TreeNode):
    """A member of the may-alias set of a merged cell: an object, or a view of an array.

    The version `stamp` is what its cell held when the merged cell was last equal to it.
    """

    ref: Ref
    stamp: Cell | Stamp = field(metadata=NOTE)

    @property
    def cell(self) -> int:
        """The cell that owns it."""
        return self.ref.cell


class Frozen(enum.IntEnum):
    """Whether an array may be an element of a list of rows (`RowsCell`), which a store would not reach: it is refused."""

    NOT = 0
    ORIGINAL = 1
    """A list may hold a copy of it."""
    COPY = 2
    """It is a copy of an element, and may stand for any array of which the list holds one."""


@immutable
class ArrayCell(Cell):
    """The contents of an ndarray.

    Where `writable`, a bool of the program after paths joined, does not hold, a store raises NumPy's error. `aliases`:
    what this cell may be another name of, after paths joined; `selector` of them it is: 0 if it is an array of its own,
    else the position of the alias, counted from 1. `frozen`: whether a list of rows holds a copy of it; if so, `objects` are
    those that it may be.
    """

    value: Value
    writable: bool | Value = True
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0
    frozen: Frozen = Frozen.NOT
    objects: tuple[Identity, ...] = field(default=(SOME_OBJECT,), metadata=NOTE)


@immutable
class ListCell(Cell):
    """The elements of a list."""

    items: tuple[Abstract, ...]
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0


@immutable
class RowsCell(Cell):
    """A list whose elements are a vector."""

    items: Vector[Abstract]
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0


AnyList = ListCell | RowsCell
LISTS = (ListCell, RowsCell)
"""The two representations of the contents of a list."""


@immutable
class DictCell(Cell):
    """The entries of a dict, in order; keys are known.

    `container`: its class, `dict` or one of those with a `__missing__` (`library/python/dict_methods.py`); `factory`: the
    `default_factory` of a `defaultdict`.
    """

    entries: dict[Any, Abstract]
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0
    container: type = dict
    factory: Abstract | None = None


DICT_CLASSES = (dict, collections.Counter, collections.defaultdict)
"""The classes of the dicts that a program can have."""


@immutable
class SetCell(Cell):
    """A set of known elements, in the order that follows from its history, or in `order`; else the order is not known.

    `order`: of a set that was made outside of the program, whose hash table nobody knows.
    """

    items: frozenset[Any]
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0
    history: SetHistory | None = None
    order: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        note_set(self.items)

    def in_order(self) -> list[Any] | None:
        """The elements as an iteration gives them; None where their order is not known."""
        if self.order is not None:
            return list(self.order)
        if len(self.items) < 2:
            return list(self.items)
        return None if self.history is None else list(self.history.replay())

    def changed(self, items: Iterable[Any], history: SetHistory | None) -> SetCell:
        """The set after a change."""
        return replace(self, items=frozenset(items), history=history, order=None)


def have_one_order(a: SetCell, b: SetCell) -> bool:
    """True for two equal sets that have the same hash table, for all that is known of them."""
    if a.history is None or b.history is None:
        orders = a.order is not None and b.order is not None and same_constant(a.order, b.order)
        return a.history is b.history and orders
    if a.history is b.history:
        return True
    first, second = a.history.trace(), b.history.trace()
    return len(first) == len(second) and all(map(_is_same_call, first, second))


def _is_same_call(a: SetHistory, b: SetHistory) -> bool:
    return (
        a.function is b.function
        and len(a.operands) == len(b.operands)
        and all(map(_is_same_operand, a.operands, b.operands))
    )


def _is_same_operand(a: object, b: object) -> bool:
    """Histories are compared call by call."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | dict):
        assert isinstance(b, list | dict)
        return same_constant(tuple(a), tuple(b))
    return isinstance(a, SetHistory) or same_constant(a, b)


class CallerAttributes(Protocol):
    """The attributes that an object of the caller's environment had when the program began."""

    @property
    def names(self) -> Iterable[str]:
        """The names of all."""

    def __call__(self, name: str) -> Abstract | None:
        """The attribute, if there is one."""


@immutable
class TableCell(Cell):
    """A dict or a set with computed keys: the vector of its entries, pairs of a key and a value, in order.

    Of a dict, `container` and `factory` are as those of a `DictCell`. The values of a set are None, and its order means
    nothing. `removed` counts the entries that have been taken out.
    `index` says where a key is (`rules/row_index.py`); None for a few rows, which are all looked at. With an index, entries
    are taken out without moving those behind: `holes` counts the first rows that hold none, and `slots` has for each row its
    slot in the index, -1 where it holds no entry; None where all do.
    """

    container: type
    entries: Vector[Abstract]
    removed: int | Value = 0
    index: Value | None = None
    slots: Value | None = None
    holes: int | Value = 0
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0
    factory: Abstract | None = None


AnyTable = DictCell | SetCell | TableCell
TABLES = (DictCell, SetCell, TableCell)
"""The representations of the contents of a dict or a set."""


@immutable
class ObjectCell(Cell):
    """An instance: its class and its own attributes.

    `origin` finds the attributes of an object of the caller's that are not in `fields` yet. `frozen`: it is the stand-in of
    an exception that was raised, which the host constructs anew, so that attributes cannot be stored.
    """

    cls: type
    fields: dict[str, Abstract]
    origin: CallerAttributes | None = None
    aliases: tuple[Alias, ...] = field(default=(), metadata=WEAK)
    selector: int | Value = 0
    frozen: bool = False


Contents = ListCell | RowsCell | DictCell | ObjectCell
"""The contents of an object of a pool."""


@immutable
class PoolCell(Cell):
    """A pool: the memory of objects of one kind that elements of vectors refer to; each is a row of `objects`.

    Their template is the contents of an object, held as a vector holds an element; `objects` is None before there is any.
    None is ever taken away, or moved. `stored`: whether the program has changed one of them.
    """

    objects: Vector[Contents] | None = None
    stored: bool = False


@immutable
class MemberCell(Cell):
    """An object of a pool, an instance of `kind`: the cell says which row it is, and has no contents."""

    kind: type
    pool: CellNumber
    place: int | Value

    @property
    def cls(self) -> type | None:
        """The user's class of an instance; None for a list or a dict."""
        return None if self.kind in (list, dict) else self.kind


@immutable
class VariableCell(Cell):
    """A variable that functions share (Python's closure cell)."""

    value: Abstract


@immutable
class IteratorCell(Cell):
    """An iterator: its source, None once exhausted, and the number of elements that it has yielded.

    `keys`: those of a dict when the iterator was created. `ended`: whether it has found on some path that it has no more.
    """

    source: Abstract | None = None
    index: int | Value = 0
    keys: tuple[Any, ...] = ()
    ended: bool | Value = False


@immutable
class Version(TreeNode):
    """The contents of a slot that an observer sees after a raise: `content`, if `condition` is true."""

    slot: Slot
    condition: Value
    content: Abstract | Cell


@immutable
class ErrorCell(Cell):
    """Whether the program has raised so far.

    `code` is 0, or the number of the raise site (`sites.py`): a constant, or an int32 of the program. `payload` are the
    values that the exception is constructed from, shared by all sites; they are meaningful only if the code is not 0.
    `versions`: slots that have changed since the program may have raised, oldest first; of one slot the first version
    whose condition is true is the one that the caller sees.
    """

    code: int | Value = 0
    payload: dict[PayloadKey, Value] = field(default_factory=dict)
    versions: tuple[Version, ...] = field(default=(), metadata=WEAK)


@immutable
class OutputCell(Cell):
    """The output of the program so far: none (0), or everything ordered before this token."""

    token: int | Value = 0


NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


def same_constant(a: object, b: object) -> bool:
    """True if no program can distinguish the two constants: same type, equal, and the same zero and NaN."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        assert isinstance(b, float)
        return (a == b and math.copysign(1.0, a) == math.copysign(1.0, b)) or (a != a and b != b)
    if isinstance(a, complex):
        assert isinstance(b, complex)
        return same_constant(a.real, b.real) and same_constant(a.imag, b.imag)
    if isinstance(a, np.generic):
        assert isinstance(b, np.generic)
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        assert isinstance(b, tuple)
        return len(a) == len(b) and all(map(same_constant, a, b))
    if isinstance(a, frozenset):
        return is_same_set(a, cast("frozenset[Any]", b))
    if isinstance(a, int | str | bytes | range | np.dtype):
        return bool(a == b)
    return False


def is_same_set(a: Collection[Any], b: Collection[Any]) -> bool:
    """True for two sets of one size whose elements are the same, in the same order."""
    sizes = len(a) == len(b) and a.__sizeof__() == b.__sizeof__()
    return sizes and all(x is y or same_constant(x, y) for x, y in zip(a, b, strict=True))


KNOWN_NUMBERS = (bool, int, float, complex, np.generic)
"""The classes of a `Const` that is a number."""


def is_number(a: Abstract) -> bool:
    """True for a value that stands for one number or an array of them, without looking into the heap."""
    return isinstance(a, Array) or (isinstance(a, Const) and isinstance(a.value, KNOWN_NUMBERS))
