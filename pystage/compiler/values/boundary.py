"""What crosses the boundary between a call and a staged program.

Going in, `runtime/signature.py` describes the arguments of a call by `Spec`s and inference makes abstract
values of them. Going out, inference describes by `Template`s and `Mutation`s how the results of the
program become Python objects, and the runtime builds them after the run. What the program reads of the
world around it (globals, closures, defaults) is described by `Path`s: hidden inputs, read at each call,
and guards, compared at each call.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ..diagnostics.span import Span
from ..hlo.ir import Function
from ..hlo.types import ArrayType


class Form(enum.Enum):
    """What kind of Python object an array value is."""

    PYTHON = "python scalar"  # bool, int, float, complex: weak in promotion (NEP 50)
    SCALAR = "numpy scalar"  # np.float64(…): immutable, of rank 0
    NDARRAY = "ndarray"  # mutable: a cell of the heap
    JAX = "jax.Array"  # immutable, JAX's promotion


# ---------------------------------------------------------------- going in


@dataclass(frozen=True, slots=True)
class Leaf:
    """A dynamic leaf of the arguments: the `index`-th. `weak` is JAX's weak type (False for others).

    Two occurrences of one ndarray (by identity) have the same index. `key_impl` is the name of the
    generator where the leaf is a typed PRNG key (its data is what `type` describes, as uint32).
    """

    index: int
    type: ArrayType
    form: Form
    weak: bool = False
    key_impl: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """An argument known while compiling: str, None, bool, dtype, function, module, type, Ellipsis, enum …"""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A container or an object. `identity` is equal for two occurrences of one object, else different.

    `keys` are list positions, dict keys, field names; `children` their specs. `cls` is the exact class:
    tuple, list, dict, a NamedTuple class, a dataclass, any class with `__dict__` or `__slots__`.
    """

    cls: type
    keys: tuple[Any, ...]
    children: tuple[Spec, ...]
    identity: int


Spec = Leaf | Static | Structure


# ---------------------------------------------------------------- the world around the program


class Step(enum.Enum):
    """How a path goes on."""

    ATTRIBUTE = "attribute"
    ITEM = "item"


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """Root of a path: a parameter of the staged function, by position in the signature's order of names."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Global:
    """Root of a path: the variable `name` of the module whose dictionary is `namespace`, else the builtin."""

    namespace: dict[str, Any]
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class CellVariable:
    """Root of a path: the contents of a closure cell."""

    cell: Any
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """Root of a path: an object that belongs to the staged callable itself (a default, a bound `self`)."""

    value: Any
    name: str


Root = Argument | Global | CellVariable | Owned


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A root and the steps from it: `model.layers[0].weight`."""

    root: Root
    steps: tuple[tuple[Step, Any], ...] = ()

    def __str__(self) -> str:
        text = self.root.name
        for step, key in self.steps:
            text += f".{key}" if step is Step.ATTRIBUTE else f"[{key!r}]"
        return text


@dataclass(frozen=True, slots=True, eq=False)
class HiddenInput:
    """An array, float or other number that the program reads from the world at each call."""

    path: Path
    type: ArrayType
    form: Form
    weak: bool
    span: Span | None


class GuardKind(enum.Enum):
    """What a guard compares."""

    IS = "is"  # the object at the path is this very object
    EQUAL = "equal"  # it has the same type and is equal (ints, strings, tuples of them, enums)
    LAYOUT = "layout"  # same class, and for containers the same length or keys (an object: same field names)
    ABSENT = "absent"  # nothing stands there


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A fact of the world that the program was specialised on."""

    kind: GuardKind
    path: Path
    expected: Any
    span: Span | None


# ---------------------------------------------------------------- coming out


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """The `index`-th result of the program, as a Python object of `form`.

    `scalar`: for `Form.PYTHON`, the Python type: bool, int, float or complex. `weak`: JAX's weak type.
    """

    index: int
    form: Form
    scalar: type | None = None
    key_impl: str | None = None
    weak: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """An object known while compiling."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """The very object that stands at `path`: an argument or a captured object that is handed back."""

    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """A new tuple, list, dict, NamedTuple or object.

    Two templates with one `identity` are one object. Objects are made by `cls.__new__(cls)` and
    `object.__setattr__`, without running user code.
    """

    cls: type
    keys: tuple[Any, ...]
    children: tuple[Template, ...]
    identity: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A new ndarray that is a view of another result or of an argument's memory (`x[1:]` of the argument `x`).

    `base` gives the ndarray; `steps` are functions ndarray → ndarray view, as (name, static arguments).
    """

    base: Template
    steps: tuple[tuple[str, tuple[Any, ...]], ...]
    identity: int


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several objects, chosen by the paths that the program took: `options[selector]`."""

    selector: Output
    options: tuple[Template, ...]


Template = Output | Known | Same | Container | View | Choice


class Write(enum.Enum):
    """What a mutation does to its target."""

    ARRAY = "array"  # target[...] = value, an Output
    ATTRIBUTE = "attribute"  # setattr(target, key, value)
    DELETE_ATTRIBUTE = "delete attribute"
    LIST = "list"  # target[:] = value, a Container of class list
    DICT = "dict"  # the dictionary becomes value, order included; a Container of class dict
    GLOBAL = "global"  # namespace[key] = value; the target's root is the Global
    CELL = "cell"  # cell_contents = value


@dataclass(frozen=True, slots=True, eq=False)
class Mutation:
    """A change that the caller sees after the run; mutations are applied in order."""

    kind: Write
    target: Path
    key: Any
    value: Template
    span: Span | None


@dataclass(frozen=True, slots=True, eq=False)
class Raises:
    """The program always ends by raising this exception (after its mutations)."""

    exception: BaseException
    span: Span | None


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """An argument leaf that had to be known while compiling: which one, its value, and who asked for it."""

    leaf: int
    value: Any
    span: Span | None
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A staged program: HLO, and how it meets the world.

    Parameters of `function`: the dynamic leaves `leaves` (indices of `Leaf`s, those that the program
    uses), then `hidden`. Results: what `Output`s count. `alias_sensitive`: the program is right only for
    calls in which the same containers are the same objects as in the call it was made from.
    """

    function: Function
    leaves: tuple[int, ...]
    hidden: tuple[HiddenInput, ...]
    guards: tuple[Guard, ...]
    result: Template | Raises
    mutations: tuple[Mutation, ...]
    demands: tuple[Demand, ...] = ()
    alias_sensitive: bool = False
