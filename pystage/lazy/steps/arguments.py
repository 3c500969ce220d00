"""Arguments of one call of a step: flattened, with a key that selects the program, and stand-ins for recording.

Tensors, ndarrays and numbers are parameters of the program, whatever holds them: lists, tuples, dicts, slices, JAX's
registered classes, and plain objects that hold tensors. All else is the same object in each call of one program, and so is
the order of dicts.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...compiler.hlo.types import SHORT_NAMES, ArrayType
from ...compiler.values.boundary import Form
from ...compiler.values.instances import instance_fields, slots_of
from ...runtime.arguments.classification import LeafKind, fields_of, is_plain, rule_of
from ..array import LazyTensor
from ..barrier import value_of
from ..graph import Node
from ..meshes.shardings import sharding_of
from ..recipes import TensorKind, kind_of
from ..recorder import fits, operand_of
from ..tensor import NUMBERS, Tensor, node_of, owner, owner_of, view_of
from .number import LazyNumber
from .recording import Parameter

_BEGINS = "a step begins"
_BY_VALUE = frozenset({str, bytes, bool, type(None), type(...)})
_LEAVES = frozenset({*_BY_VALUE, int, float, complex, np.ndarray, LazyTensor})


class Reference:
    """A reference to a leaf in the result of a step."""

    __slots__ = ()


class ContainerParts(NamedTuple):
    """What a container holds, what tells containers apart that hold as many, and what makes one of other contents.

    `put` puts into one that was made of nothing, as an object can be that holds itself; None where that cannot be.
    """

    token: Any
    children: Iterable[Any]
    make: Callable[[list[Any]], Any]
    put: Callable[[Any, int, Any], None] | None = None


class Holders:
    """Tells which plain objects hold tensors, by attributes or what these hold, in one walk through a structure."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bool]] = {}

    def __contains__(self, value: Any) -> bool:
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, self._holds(value)
        return known[1]

    def _holds(self, value: Any) -> bool:
        """Looks until one is found. All that was seen where none was holds none."""
        seen: dict[int, Any] = {}
        pending = [value]
        while pending:
            each = pending.pop()
            cls = type(each)
            if cls is LazyTensor or issubclass(cls, Reference) or self._known.get(id(each), (None, False))[1]:
                return True
            if id(each) in seen or cls in _LEAVES:
                continue
            seen[id(each)] = each
            if is_object(each):
                pending += instance_fields(each).values()
            elif (found := contents_of(each)) is not None:
                pending += found.children
        self._known.update({key: (each, False) for key, each in seen.items()})
        return False


def is_object(value: Any) -> bool:
    """True for an object all of whose state is attributes, and that no program takes for one constant."""
    if isinstance(value, Tensor | jax.Array) or not is_plain(type(value)):
        return False
    return rule_of(value, ()) is not LeafKind.STATIC


def set_attribute(value: Any, name: str, new: Any) -> None:
    """Sets an attribute without running code of the user's, also where the class is frozen."""
    member = slots_of(type(value)).get(name)
    if member is not None:
        member.__set__(value, new)
    else:
        fields_of(value)[name] = new


def delete_attribute(value: Any, name: str) -> None:
    """Deletes an attribute without running code of the user's."""
    member = slots_of(type(value)).get(name)
    if member is not None:
        member.__delete__(value)
    else:
        del fields_of(value)[name]


def contents_of(value: Any, holders: Holders | None = None) -> ContainerParts | None:
    """The contents of a container, and those of an object that is one of the `holders`; None for what is a leaf."""
    cls: Any = type(value)
    if cls in _LEAVES or issubclass(cls, Reference):
        return None
    if cls is list or cls is tuple:
        return ContainerParts((cls, len(value)), value, cls)
    if cls in (dict, collections.OrderedDict, collections.defaultdict):
        keys = tuple(value)
        first = (value.default_factory,) if cls is collections.defaultdict else ()
        token = (cls, keys, tuple(map(type, keys)), first)
        return ContainerParts(token, value.values(), lambda new: cls(*first, zip(keys, new, strict=True)))
    if cls is slice:
        return ContainerParts((cls,), (value.start, value.stop, value.step), lambda new: slice(*new))
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return ContainerParts((cls, len(value)), value, lambda new: tuple.__new__(cls, new))
    if holders is not None and is_object(value) and value in holders:
        fields = instance_fields(value)
        names = tuple(fields)

        def put(made: Any, place: int, new: Any) -> None:
            set_attribute(made, names[place], new)

        return ContainerParts((cls, names), fields.values(), lambda _: object.__new__(cls), put)
    children, tree = jax.tree_util.tree_flatten(value, is_leaf=lambda each: each is not value)
    if jax.tree_util.treedef_is_leaf(tree):
        return None
    return ContainerParts((cls, tree), children, lambda new: jax.tree_util.tree_unflatten(tree, new))


def rebuilt(
    value: Any, leaf: Callable[[Any], Any], made: dict[int, tuple[Any, Any]], holders: Holders | None = None
) -> Any:
    """A structure with other leaves. `made`: containers, with what stands for them, by identity; new ones are added."""
    if id(value) in made:
        return made[id(value)][1]
    holders = Holders() if holders is None else holders
    found = contents_of(value, holders)
    if found is None:
        return leaf(value)
    if found.put is not None:
        new = found.make([])
        made[id(value)] = value, new
        for place, child in enumerate(found.children):
            found.put(new, place, rebuilt(child, leaf, made, holders))
        return new
    new = found.make([rebuilt(child, leaf, made, holders) for child in found.children])
    made[id(value)] = value, new
    return new


class Structure:
    """A value, flattened: its leaves and its containers in order, and a key of the latter."""

    def __init__(self, value: Any) -> None:
        self.leaves: list[Any] = []
        self.containers: list[Any] = []
        self.key: list[Any] = []
        self.objects: list[int] = []
        """The numbers of the containers that are objects."""
        self._numbers: dict[int, int] = {}
        self._holders = Holders()
        self._add(value)

    def _add(self, value: Any) -> None:
        found = contents_of(value, self._holders)
        if found is None:
            self.key.append(None)
            self.leaves.append(value)
            return
        known = self._numbers.setdefault(id(value), len(self.containers))
        if known < len(self.containers):
            self.key.append(known)
            return
        if found.put is not None:
            self.objects.append(known)
        self.containers.append(value)
        self.key.append(found.token)
        for child in found.children:
            if type(child) in _LEAVES:
                self.key.append(None)
                self.leaves.append(child)
            else:
                self._add(child)


class _Same:
    """An object as part of a key, by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Call:
    """One call of a step. `owners` are the parameters: tensors that own their memory, ndarrays, and numbers."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        self.structure = Structure((args, kwargs))
        self.leaves = self.structure.leaves
        self.owners: list[Any] = []
        self.others: list[Any] = [type(self.structure.containers[i]) for i in self.structure.objects]
        """The leaves that are no parameters, and the classes of objects that hold some."""
        self.memory: list[np.ndarray[Any, Any]] = []
        """The ndarrays among the arguments, and those that are memory of tensors."""
        self.is_replayable = True
        """False where nothing can stand for an argument, or two lie in the same memory of NumPy's."""
        self.key: list[Any] = self.structure.key
        self._numbers: dict[int, int] = {}
        """The numbers of parameters, by identity."""
        self._layouts: dict[int, NamedSharding] = {}
        """The layouts of those that are tensors on a mesh."""
        first: dict[int, int] = {}
        self.places: list[int | None] = [
            self._add(leaf, first.setdefault(id(leaf), number)) for number, leaf in enumerate(self.leaves)
        ]
        """The parameter that each leaf is, or is a view of."""
        devices = {o._kind.device for o in self.owners if isinstance(o, LazyTensor)}
        self.device: Any = next(iter(devices), None)
        if len(devices) != 1 or shares_memory(self.memory):
            self.is_replayable = False

    def _add(self, leaf: Any, first: int) -> int | None:
        cls = type(leaf)
        if cls is LazyTensor:
            base = owner_of(leaf)
            if base._host is not None and id(base) not in self._numbers:
                node_of(base)  # it takes its memory back where nobody holds that any more
                if base._host is not None:
                    self.memory.append(base._host)
            place = self._place(base)
            self.key += (leaf._kind, place, base._kind, leaf is base, leaf._path, first)
            if isinstance(base._kind.device, Mesh):
                self.key.append(self._layouts.setdefault(place, _layout_of(base)))
            return place
        if cls is np.ndarray and leaf.dtype in SHORT_NAMES and leaf.dtype.isnative:
            if id(leaf) not in self._numbers:
                self.memory.append(leaf)
            place, flags = self._place(leaf), leaf.flags
            self.key += (cls, leaf.shape, leaf.dtype, flags.writeable, flags.c_contiguous, flags.fnc, place)
            return place
        if (cls in NUMBERS and fits(leaf)) or (isinstance(leaf, np.generic) and leaf.dtype in SHORT_NAMES):
            self.owners.append(leaf)
            self.key.append(cls)
            return len(self.owners) - 1
        if isinstance(leaf, np.ndarray | np.generic | jax.Array):
            self.is_replayable = False
        self.others.append(leaf)
        self.key += (cls, leaf if cls in _BY_VALUE or cls is int else _Same(leaf))
        return None

    def _place(self, base: Any) -> int:
        place = self._numbers.setdefault(id(base), len(self.owners))
        if place == len(self.owners):
            self.owners.append(base)
        return place

    def has_numbers(self) -> bool:
        """True if a Python number is a parameter."""
        return any(type(base) in NUMBERS for base in self.owners)

    def stands(self) -> tuple[list[Any], list[Any]]:
        """The stand-ins for the parameters, and for the leaves, in the recording that runs."""
        bases = [owner(self._parameter(n, kind), kind) for n, kind in enumerate(map(self._kind, self.owners))]
        made: dict[int, Any] = {}
        for leaf, place in zip(self.leaves, self.places, strict=True):
            if id(leaf) in made:
                continue
            made[id(leaf)] = leaf if place is None else bases[place]
            if isinstance(leaf, LazyTensor) and leaf._owner is not None:
                made[id(leaf)] = view = view_of(made[id(leaf)], leaf._path)
                view._kind = leaf._kind
        return bases, [
            made[id(leaf)] if place is None or isinstance(leaf, LazyTensor) else bases[place]
            for leaf, place in zip(self.leaves, self.places, strict=True)
        ]

    def _kind(self, base: Any) -> TensorKind:
        if isinstance(base, LazyTensor):
            return base._kind
        if type(base) is np.ndarray:
            type_, flags = ArrayType(base.dtype, base.shape), base.flags
            return kind_of(type_, Form.NDARRAY, self.device, flags.writeable, flags.c_contiguous, flags.fnc)
        if isinstance(base, np.generic):
            return kind_of(ArrayType(base.dtype), Form.SCALAR, self.device)
        return kind_of(NUMBERS[type(base)][0], Form.PYTHON, self.device)

    def _parameter(self, place: int, kind: TensorKind) -> Parameter:
        number = None if isinstance(base := self.owners[place], LazyTensor | np.ndarray) else base
        made = Parameter(kind.type, self.device, place, number)
        if isinstance(self.device, Mesh):
            whole = NamedSharding(self.device, PartitionSpec())
            made.layout = self._layouts.get(place, whole)
        return made

    def nodes(self) -> list[Node]:
        """The parameters as computed nodes."""
        found = [node_of(o) if isinstance(o, LazyTensor) else operand_of(o, self.device) for o in self.owners]
        for node in found:
            if node.array is None:
                value_of(node, _BEGINS)
        return found


def _layout_of(base: Any) -> NamedSharding:
    """The layout of a tensor on a mesh that is a parameter, and must be computed."""
    node = node_of(base)
    value_of(node, _BEGINS)
    return sharding_of(node)


def shares_memory(
    arrays: Sequence[np.ndarray[Any, Any]], others: Sequence[np.ndarray[Any, Any]] = ()
) -> bool:
    """True if two of the arrays may share memory, or one and one of the others."""
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in (*arrays[i + 1 :], *others))


Tensor.number = LazyNumber
