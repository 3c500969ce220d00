"""The boundary between a call and a staged program: specs in; templates, mutations, guards and hidden inputs out.

On entry, `runtime/arguments/` describes the arguments of a call by `Spec`s, from which inference creates abstract values.
On exit, inference describes by `Template`s and `Mutation`s how the results of the program become Python objects, and
the runtime constructs them after the run. `Path`s describe what the program reads of its environment (globals, closures,
defaults): hidden inputs, read at each call, and guards, compared at each call.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..diagnostics.span import Span
from ..hlo.immutable import immutable, immutable_value
from ..hlo.ir import Function
from ..hlo.types import ArrayType
from ..ops.host.draw import Action
from . import views
from .capacity import Capacity
from .memory import RecordClass
from .node import TreeNode
from .program_growth import Multiplied


class Form(enum.Enum):
    """The kind of Python object that an array value is."""

    __hash__ = object.__hash__  # each is one object, and part of many keys

    PYTHON = "python scalar"  # bool, int, float, complex: weak in promotion (NEP 50)
    SCALAR = "numpy scalar"  # np.float64(…): immutable, of rank 0
    NDARRAY = "ndarray"  # mutable: a cell of the heap
    JAX = "jax.Array"  # immutable, JAX's promotion


# ---------------------------------------------------------------- going in


@immutable_value
class LeafSpec:
    """A dynamic leaf of the arguments: the `index`-th. `weak` is JAX's weak type (False for others).

    Two occurrences of one ndarray (by identity) have the same index. `key_impl` is the name of the
    generator where the leaf is a typed PRNG key (its data is what `type` describes, as uint32). An ndarray that is
    not `writable` is read-only memory.
    """

    index: int
    type: ArrayType
    form: Form
    weak: bool = False
    key_impl: str | None = None
    writable: bool = True


@immutable
class StaticSpec:
    """An argument known while compiling: str, None, bool, dtype, function, module, type, Ellipsis, enum …"""

    value: Any


@immutable
class StructureSpec:
    """A container or an object. `identity` is equal for two occurrences of one object, else different.

    `keys` are list positions, dict keys, field names; `children` their specs. `cls` is the exact class:
    tuple, list, dict, a NamedTuple class, a dataclass, any class with `__dict__` or `__slots__`.
    """

    cls: type
    keys: tuple[Any, ...]
    children: tuple[Spec, ...]
    identity: int


@immutable
class RowsSpec:
    """A list or a tuple of `length` elements of one structure: numbers of one class, or tuples of such.

    `element` describes one of them; its leaves are columns, Python numbers along an axis, with a row for each element.
    `identity` is as that of a `StructureSpec`.
    """

    cls: type
    element: Spec
    length: int
    identity: int


Spec = LeafSpec | StaticSpec | StructureSpec | RowsSpec


def leaves_of(specs: Iterable[Spec]) -> dict[int, LeafSpec]:
    """The dynamic leaves of arguments, by their indices."""
    found: dict[int, LeafSpec] = {}
    for spec in specs:
        match spec:
            case LeafSpec(index=index):
                found[index] = spec
            case StructureSpec(children=children):
                found |= leaves_of(children)
            case RowsSpec(element=element):
                found |= leaves_of((element,))
    return found


def leaf_forms(specs: Iterable[Spec]) -> dict[int, Form]:
    """The forms of the dynamic leaves of arguments, by their indices."""
    return {index: leaf.form for index, leaf in leaves_of(specs).items()}


class Key(enum.Enum):
    """A key of a container for something it has besides its elements."""

    __hash__ = object.__hash__

    FACTORY = "the default_factory of a defaultdict"


FACTORY = Key.FACTORY


# ---------------------------------------------------------------- the environment


class PathStep(enum.Enum):
    """A step of a path. `MEMBER`: the object under a name in a class's own dictionary. `STATE`: the words of the state of a
    bit generator (`generators.words_of`). `CALL`: the result of a call with known arguments, which depends on classes alone.
    `FIELD`: a field of structured ndarrays.
    """

    __hash__ = object.__hash__  # as that of `Form`

    ATTRIBUTE = "attribute"
    ITEM = "item"
    MEMBER = "member"
    STATE = "state"
    CALL = "call"
    FIELD = "field"


@immutable
class Argument:
    """Root of a path: a parameter of the staged function, by position in the signature's order of names."""

    name: str


@immutable
class Global:
    """Root of a path: the variable `name` of the module whose dictionary is `namespace`, else the builtin."""

    namespace: dict[str, Any]
    name: str


@immutable
class CellVariable:
    """Root of a path: the contents of a closure cell."""

    cell: Any
    name: str


@immutable
class CallableMember:
    """Root of a path: an object that belongs to the staged callable itself (a default, a bound `self`)."""

    value: Any
    name: str


Root = Argument | Global | CellVariable | CallableMember


@immutable
class Path:
    """A root and the steps from it: `model.layers[0].weight`."""

    root: Root
    steps: tuple[tuple[PathStep, Any], ...] = ()

    def __str__(self) -> str:
        text = self.root.name
        for step, key in self.steps:
            match step:
                case PathStep.ITEM | PathStep.FIELD:
                    text += f"[{key!r}]"
                case PathStep.CALL:
                    text += f"({', '.join([getattr(each, '__qualname__', repr(each)) for each in key])})"
                case _:
                    text += f".{key}"
        return text

    def attribute(self, name: str) -> Path:
        """The path of an attribute of the object here."""
        return Path(self.root, (*self.steps, (PathStep.ATTRIBUTE, name)))

    def item(self, key: Any) -> Path:
        """The path of an item of the object here."""
        return Path(self.root, (*self.steps, (PathStep.ITEM, key)))

    def call(self, *args: Any) -> Path:
        """The path of the result of a call of the object here."""
        return Path(self.root, (*self.steps, (PathStep.CALL, args)))

    @property
    def state(self) -> Path:
        """The path of the state of the bit generator here."""
        return Path(self.root, (*self.steps, (PathStep.STATE, "state")))

    def field(self, names: Iterable[str]) -> Path:
        """The path of a field of the structured ndarray here."""
        return Path(self.root, (*self.steps, *[(PathStep.FIELD, name) for name in names]))

    @property
    def is_field(self) -> bool:
        """True for the path of a field of a structured ndarray."""
        return bool(self.steps) and self.steps[-1][0] is PathStep.FIELD

    @property
    def owner(self) -> Path:
        """The path of the structured ndarray of which this is a field; of anything else this path."""
        kept = len(self.steps)
        while kept and self.steps[kept - 1][0] is PathStep.FIELD:
            kept -= 1
        return Path(self.root, self.steps[:kept])

    @property
    def is_state(self) -> bool:
        """True for the path of the state of a bit generator."""
        return bool(self.steps) and self.steps[-1][0] is PathStep.STATE

    @property
    def key(self) -> PathKey:
        """A key, equal for two paths that lead to the same place."""
        match self.root:
            case Argument(name=name):
                where: tuple[Any, ...] = ("argument", name)
            case Global(namespace=namespace, name=name):
                where = ("global", id(namespace), name)
            case CellVariable(cell=cell):
                where = ("cell", id(cell))
            case CallableMember(value=value, name=name):
                where = ("owned", id(value), name)
        return (*where, *[(step, type(key), key) for step, key in self.steps])


PathKey = tuple[Any, ...]
"""Names a place of the environment (`Path.key`)."""


@immutable
class HiddenInput:
    """An array, float or other number that the program reads from the environment at each call."""

    path: Path
    type: ArrayType
    form: Form
    weak: bool
    span: Span | None


class GuardKind(enum.Enum):
    """The kind of comparison of a guard."""

    __hash__ = object.__hash__  # as that of `Form`

    IS = "is"  # the object at the path is this very object
    EQUAL = "equal"  # it has the same type and is equal (ints, strings, tuples of them, enums)
    LAYOUT = "layout"  # same class, and for containers the same length or keys (an object: same field names)
    ABSENT = "absent"  # nothing stands there
    SAME = "same"  # it is the object at another path, `expected`
    DISTINCT = "no_alias"  # the objects at the paths `expected` are different ones
    WRITABLE = "writable"  # an ndarray whose memory is writable (True) or read-only (False)
    NAMES = "names"  # a class: it has so many names of its own, and this method resolution order


@immutable
class Guard:
    """A fact of the environment that the program was specialised on."""

    kind: GuardKind
    path: Path
    expected: Any
    span: Span | None


# ---------------------------------------------------------------- what the host draws


@immutable_value
class GeneratorSlot:
    """A generator, by its number: first those at `Draws.generators`, then those that actions make."""

    number: int


@immutable_value
class Taken:
    """An input of the program that an action takes: a leaf of the arguments, or a hidden input, by its index."""

    index: int
    hidden: bool


@immutable
class Perform:
    """One action. Its operands, and where its result goes: the number of a draw, or of a generator's slot."""

    action: Action
    operands: tuple[GeneratorSlot | Taken, ...]
    into: int | None
    span: Span | None


@immutable
class Repeat:
    """Steps that a loop of the program repeats."""

    trips: int
    steps: tuple[Perform | Repeat, ...]


@immutable
class Draws:
    """The draws that the host performs before the program runs, in order, and what the program gets of them.

    `generators` are the paths of those that the caller has. A draw's type has one axis before its own for each
    `Repeat` around it. `groups` are the inputs of the program, each one draw, or several numbers as a vector.
    `clock` is the result of the program that counts the actions until it has raised, if it can raise.
    """

    generators: tuple[Path, ...]
    steps: tuple[Perform | Repeat, ...]
    types: tuple[ArrayType, ...]
    groups: tuple[tuple[int, ...], ...]
    clock: int | None = None


# ---------------------------------------------------------------- coming out


@immutable
class OutputTemplate(TreeNode):
    """The `index`-th result of the program, as a Python object of `form`.

    `scalar`: for `Form.PYTHON`, the Python type: bool, int, float or complex. `weak`: JAX's weak type. An ndarray that is
    not `writable` is read-only.
    """

    index: int
    form: Form
    scalar: type | None = None
    key_impl: str | None = None
    weak: bool = False
    writable: bool = True


@immutable
class ConstantTemplate(TreeNode):
    """An object known while compiling."""

    value: Any


@immutable
class PathTemplate(TreeNode):
    """The object at `path` itself: an argument or a captured object that is returned."""

    path: Path


@immutable
class ContainerTemplate(TreeNode):
    """A new tuple, list, dict, NamedTuple or object.

    Two templates with one `identity` are one object. Objects are made by `cls.__new__(cls)` and
    `object.__setattr__`, without running user code. `factory`: the `default_factory` of a `defaultdict`.
    """

    cls: type
    keys: tuple[Any, ...]
    children: tuple[Template, ...]
    identity: int
    factory: Template | None = None


@immutable
class RowsTemplate(TreeNode):
    """A new list of elements that are rows of results: `element` is one of them, with all its rows in each `OutputTemplate`.

    The first `length` of them are elements. `cls`: `list`, `tuple`, or a dict or set, of which they are pairs of a key and
    a value.
    `factory`: the `default_factory` of a `defaultdict`.
    """

    element: Template
    length: int | OutputTemplate
    identity: int
    cls: type = list
    factory: Template | None = None


@immutable
class PoolTemplate(TreeNode):
    """Objects of one kind: `contents` is one of them, with all their rows in each `OutputTemplate`.

    Those in the rows `places` are `objects` of the caller's.
    """

    contents: Template
    places: tuple[int | OutputTemplate, ...]
    objects: tuple[Template, ...]
    identity: int


@immutable
class MemberTemplate(TreeNode):
    """The object in a row of a pool, the same each time; in a row of a list, the list's row selects it."""

    pool: PoolTemplate
    place: int | OutputTemplate


@immutable
class ViewTemplate(TreeNode):
    """A new ndarray that is a view of another result or of an argument's memory (`x[1:]` of the argument `x`).

    `base` gives the ndarray; `steps` lead from it to the view. `of_all`: of the elements of a list of rows, all are views
    of the base, which has no rows.
    """

    base: Template
    steps: tuple[ViewStep, ...]
    identity: int
    of_all: bool = False


@immutable
class Box(TreeNode):
    """The step to the box of `sizes` elements at `starts`, some of which are results of the program."""

    starts: tuple[int | OutputTemplate, ...]
    sizes: tuple[int, ...]


@immutable
class Cut(TreeNode):
    """The step to the elements along `axis` from `start` on, `step` apart, as many as `size`."""

    axis: int
    start: OutputTemplate
    step: int | OutputTemplate
    size: OutputTemplate


@immutable
class Subscript(TreeNode):
    """The step by a known subscript of a structured ndarray: to a field, several, an element."""

    key: str | tuple[str, ...]


ViewStep = views.View | Box | Cut | Subscript
"""From an ndarray to a view of it."""


@immutable
class RecordsTemplate(TreeNode):
    """A new ndarray of the structured dtype of `cls`, of its leaves, each an ndarray."""

    cls: type[RecordClass]
    parts: tuple[Template, ...]
    identity: int


@immutable
class ChoiceTemplate(TreeNode):
    """One of several objects, selected by the path taken: `options[selector]`.

    `number`: where JAX traces the call, numbers of all kinds are arrays; this is the one that they are then.
    """

    selector: OutputTemplate
    options: tuple[Template, ...]
    number: OutputTemplate | None = None


@immutable
class AbsentTemplate(TreeNode):
    """An attribute or a variable that the path has not assigned: the option of a `ChoiceTemplate` that leaves none."""


@immutable
class CallTemplate(TreeNode):
    """The result of a call of `function` after the run: a string from its parts, an exception from its arguments.

    Two templates with one `identity` are one object.
    """

    function: Callable[..., Any]
    args: tuple[Template, ...]
    kwargs: tuple[tuple[str, Template], ...] = ()
    identity: int = 0


@immutable
class GeneratorTemplate(TreeNode):
    """A generator of random numbers that the program made, by the result that holds its number (`GeneratorSlot`)."""

    number: OutputTemplate


Template = (
    OutputTemplate
    | ConstantTemplate
    | PathTemplate
    | ContainerTemplate
    | RowsTemplate
    | MemberTemplate
    | ViewTemplate
    | RecordsTemplate
    | ChoiceTemplate
    | AbsentTemplate
    | CallTemplate
    | GeneratorTemplate
)


class Write(enum.Enum):
    """The kind of change that a mutation makes to its target."""

    ARRAY = "array"  # target[...] = value, an Output
    ATTRIBUTE = "attribute"  # setattr(target, key, value), or delattr(target, key) where the value is `AbsentTemplate`
    LIST = "list"  # target[:] = value, a Container of class list, or Rows
    DICT = "dict"  # the dictionary becomes value, order included; a Container of class dict
    GLOBAL = "global"  # namespace[key] = value; the target's root is the Global
    CELL = "cell"  # cell_contents = value
    STATE = "state"  # target, a bit generator, gets the words value as its state, an Output


@immutable
class Mutation:
    """A change that the caller sees after the run; mutations are applied in order.

    Where the program has raised, one that depends on the time of the raise happens only if the result `only`
    is true and none of the results `unless` is; without a raise, `only` is false and so are `unless`.
    """

    kind: Write
    target: Path
    key: Any
    value: Template
    span: Span | None
    only: int | None = None
    unless: tuple[int, ...] = ()


@immutable
class Handled:
    """An exception being handled while the program raised others, and so their `__context__`.

    `number`: the payload key under which the number of its place stands, 0 where none was being handled. `values`: the
    payload keys of what it is made of, each with the key under which its value stands.
    """

    number: tuple[ArrayType, int]
    values: tuple[tuple[tuple[ArrayType, int], tuple[ArrayType, int]], ...]


@immutable
class Site:
    """A raise site: an instruction of the program that may raise `cls`.

    `exception`: a call that raises the genuine exception, or gives it. Its `OutputTemplate`s count the values of the
    place itself, of which the program gives the i-th as the payload `keys[i]`. `fallback` is raised where the
    call does neither. `chain`: the places of the calls that led there, innermost first. `handled`: what was
    being handled there, innermost first. `again`: it raises the innermost of these once more.
    """

    cls: type[BaseException]
    exception: Template
    keys: tuple[tuple[ArrayType, int], ...]
    span: Span | None
    chain: tuple[Span, ...] = ()
    fallback: BaseException | None = None
    handled: tuple[Handled, ...] = ()
    again: bool = False


@immutable
class Failure:
    """How a program reports that it has raised.

    `code`: the result that is 0 or the number of the place, or that number where the program certainly raises;
    `find` gives the place; `payload` are the results that hold the values for its message. Only what raises
    needs the results from `first` on.
    """

    code: OutputTemplate | int
    find: Callable[[int], Site]
    payload: Mapping[tuple[ArrayType, int], int]
    first: int = 0


@immutable
class Demand:
    """A number that had to be known while compiling: its path, its value, and who asked for it.

    `place` is an argument leaf, or the path of a number of the environment; `where` says it in words.
    """

    place: int | Path
    where: str
    value: Any
    span: Span | None
    reason: str


@immutable
class Program:
    """A staged program: its HLO function, and its interface to the environment.

    Parameters of `function`: the dynamic leaves `leaves` (indices of `LeafSpec`s, those that the program
    uses), then one for each of `groups`: a hidden input by its index in `hidden`, or several numbers of one
    element type as a vector; then those of `draws`. Results: what `OutputTemplate`s count. `alias_sensitive`: the
    program is right only for calls in which the same containers are the same objects as in the call it was made
    from. `failure`: how it says that it has raised, if it can; then there is no result. `printed`: the result that
    is there once all has been printed, if the program prints. `in_order`: ndarrays whose memory must lie in
    row-major order. `multiplied`: loops that were written out, or inferred more than once. `capacities`: those that it was
    made for; its `failure` says where one does not suffice. `steps` are those that inference took (`infer/state/effort.py`).
    """

    function: Function
    leaves: tuple[int, ...]
    hidden: tuple[HiddenInput, ...]
    groups: tuple[tuple[int, ...], ...]
    guards: tuple[Guard, ...]
    result: Template
    mutations: tuple[Mutation, ...]
    alias_sensitive: bool = False
    failure: Failure | None = None
    draws: Draws | None = None
    printed: int | None = None
    in_order: tuple[Path, ...] = ()
    multiplied: tuple[Multiplied, ...] = ()
    capacities: tuple[Capacity, ...] = ()
    steps: int = 0

    @property
    def may_outgrow(self) -> bool:
        """True if a run may exceed a capacity."""
        return bool(self.capacities) and self.failure is not None

    @property
    def input_forms(self) -> tuple[Form, ...]:
        """The form of the input for each of `groups`; a vector of numbers is nobody's ndarray."""
        return tuple([self.hidden[group[0]].form for group in self.groups])

    @property
    def input_keys(self) -> tuple[tuple[PathKey, ...], ...]:
        """The place in the environment of the input for each of `groups`."""
        return tuple([tuple([self.hidden[i].path.key for i in group]) for group in self.groups])
