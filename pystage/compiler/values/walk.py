"""Traversal of nodes (`node.py`): their children, reconstruction with other children, and walks over all descendants.

`children(x)` are the nodes, program values and numbers of cells in the fields of `x`, in order; `with_children(x, new)` is
`x` with those replaced, and `head(x)` its data apart from them. Two nodes of one class with equal heads have equally many
children, and `with_children(a, children(b))` is `b`. All of this is derived from the annotations of a class when its first
node is met.
"""

from __future__ import annotations

import operator
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, Union, get_args, get_origin

from ..hlo.ir import Value
from .gated import Gated
from .lattice import Abstract, Ref
from .node import CELL, TreeNode
from .views import View

N = TypeVar("N", bound=TreeNode)

Children = Sequence[Any]
"""What stands in a node: nodes, values of the program, numbers of cells."""


def children(x: TreeNode) -> Children:
    """The nodes, program values and numbers of cells in the fields of `x`, in order."""
    return LAYOUTS[type(x)].children(x)


def with_children(x: N, new: Iterable[Any]) -> N:
    """`x` with these in the places of its children; `x` itself if they are the same."""
    given = list(new)
    count = len(children(x))
    if len(given) != count:
        raise ValueError(f"{type(x).__name__} has {count} children, not {len(given)}")
    take = iter(given).__next__
    return map_children(x, lambda child: take())


def map_children(x: N, change: Callable[[Any], Any]) -> N:
    """`x` with what `change` makes of each of its children; `x` itself if all stay what they are."""
    made: N = LAYOUTS[type(x)].mapped(_Each(change), x)
    return made


def keys(x: TreeNode) -> list[Any]:
    """Where each child stands in its field: its index or its key; the name of the field for one that is alone there."""
    parts = LAYOUTS[type(x)].parts
    return [key for part in parts for key in part.shape.keys(part.get(x), part.name)]


def inner(x: TreeNode) -> list[Abstract]:
    """The abstract values among the children."""
    return [child for child in children(x) if isinstance(child, Abstract)]


def head(x: TreeNode) -> tuple[Any, ...]:
    """What `x` is apart from its class and children: its data, how many children its fields have, and under which keys."""
    return LAYOUTS[type(x)].head(x)


def counterparts(x: N, other: N) -> list[Any]:
    """What `other`, of the same class, has in the places of the children of `x`.

    That is a known number where only `x` has a program value, and None where `other` has nothing.
    """
    found: list[Any] = []
    for part in LAYOUTS[type(x)].parts:
        found += part.shape.beside(part.get(x), part.get(other))
    return found


class _Each:
    """The change of each child: of a program value, of the number of a cell, of a node."""

    __slots__ = ("cell", "node", "value")

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.value = self.cell = self.node = change


# ---------------------------------------------------------------- fields that have children

_Change = Callable[[Any, Any], Any]
"""Of what changes children, and of what stands in a field: that with its children changed, itself if none has."""

_CHANGES: Mapping[str, _Change] = {
    "value": lambda m, x: m.value(x),
    "cell": lambda m, x: m.cell(x),
    "node": lambda m, x: m.node(x),
}
"""The change of a child, by its kind."""


class _One:
    """A field that is one child."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.mapped = _CHANGES[kind]

    def children(self, part: Any) -> Children:
        return (part,)

    def keys(self, part: Any, name: str) -> Children:
        return (name,)

    def head(self, part: Any) -> Any:
        return TreeNode

    def beside(self, part: Any, other: Any) -> Children:
        return (other,)


class _Perhaps:
    """A field that is a child or data."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes = classes = (int,) if kind == "cell" else (TreeNode, Value)
        change = _CHANGES[kind]
        self.mapped: _Change = lambda m, x: change(m, x) if isinstance(x, classes) else x

    def children(self, part: Any) -> Children:
        return (part,) if isinstance(part, self._classes) else ()

    def keys(self, part: Any, name: str) -> Children:
        return (name,) if isinstance(part, self._classes) else ()

    def head(self, part: Any) -> Any:
        return TreeNode if isinstance(part, self._classes) else part

    def beside(self, part: Any, other: Any) -> Children:
        return (other,) if isinstance(part, self._classes) else ()


class _Items:
    """A tuple of children."""

    def __init__(self, kind: str) -> None:
        get = operator.attrgetter(kind)

        def mapped(m: Any, part: tuple[Any, ...]) -> tuple[Any, ...]:
            if not part:
                return part
            change = get(m)
            new = tuple([change(x) for x in part])
            return part if all(map(operator.is_, new, part)) else new

        self.mapped: _Change = mapped

    def children(self, part: Any) -> Children:
        return part  # type: ignore[no-any-return]

    def keys(self, part: Any, name: str) -> Children:
        return range(len(part))

    def head(self, part: Any) -> Any:
        return len(part)

    def beside(self, part: Any, other: Any) -> Children:
        return other  # type: ignore[no-any-return]


class _Entries:
    """A dict of children; a tuple of keys with a child each; or, by their positions, a tuple of children and data."""

    def __init__(self, inner: _One | _Perhaps, origin: type, pairs: bool) -> None:
        self._inner = inner
        self._pairs = pairs
        self._dict = origin is dict

    def _read(self, part: Any) -> dict[Any, Any]:
        return part if self._dict else dict(part if self._pairs else enumerate(part))

    def mapped(self, m: Any, part: Any) -> Any:
        change = self._inner.mapped
        old = self._read(part)
        new = {key: change(m, x) for key, x in old.items()}
        if all(map(operator.is_, new.values(), old.values())):
            return part
        return new if self._dict else tuple(new.items() if self._pairs else new.values())

    def children(self, part: Any) -> Children:
        return [child for x in self._read(part).values() for child in self._inner.children(x)]

    def keys(self, part: Any, name: str) -> Children:
        return [key for key, x in self._read(part).items() if self._inner.keys(x, name)]

    def head(self, part: Any) -> Any:
        found = self._read(part)
        if isinstance(self._inner, _One):
            return tuple(found)
        return tuple([(key, self._inner.head(x)) for key, x in found.items()])

    def beside(self, part: Any, other: Any) -> Children:
        found = self._read(other)
        return [y for key, x in self._read(part).items() for y in self._inner.beside(x, found.get(key))]


_Shape = _One | _Perhaps | _Items | _Entries

_UNIONS = (Union, types.UnionType)


def _kind_of(hint: Any) -> str | None:
    """Which kind of child is of this type; None for data."""
    if get_origin(hint) in _UNIONS:
        kinds = set(map(_kind_of, get_args(hint)))
        return kinds.pop() if len(kinds) == 1 else None
    if CELL in getattr(hint, "__metadata__", ()):
        return "cell"
    if not isinstance(hint, type):
        return None
    return "value" if issubclass(hint, Value) else "node" if issubclass(hint, TreeNode) else None


def _shape_of(hint: Any) -> _Shape | None:
    """How a field of this type has children; None for data. TypeError for children in any other form."""
    kind, origin, args = _kind_of(hint), get_origin(hint), get_args(hint)
    if kind is not None:
        return _One(kind)
    if origin in _UNIONS:
        kinds = set(map(_kind_of, args)) - {None}
        if len(kinds) == 1:
            return _Perhaps(kinds.pop() or "")
    if origin is tuple and args[-1] is Ellipsis:
        pairs = get_origin(args[0]) is tuple
        inner = _shape_of(get_args(args[0])[-1] if pairs else args[0])
        if isinstance(inner, _One) and not pairs:
            return _Items(inner.kind)
        if isinstance(inner, _One | _Perhaps):
            return _Entries(inner, tuple, pairs)
    elif origin is dict:
        inner = _shape_of(args[1])
        if isinstance(inner, _One | _Perhaps):
            return _Entries(inner, dict, True)
    if origin in (*_UNIONS, tuple, dict, list, set, frozenset) and any(
        _shape_of(a) is not None for a in args
    ):
        raise TypeError(f"a field of type {hint} has children in a form that is not known")
    return None


class _ChildField:
    """A field that may have children: its name, its position among all fields, how to get it, and its shape."""

    __slots__ = ("get", "name", "position", "shape", "weak")

    def __init__(self, name: str, position: int, shape: _Shape, weak: bool) -> None:
        self.get = operator.attrgetter(name)
        self.name = name
        self.position = position
        self.shape = shape
        self.weak = weak


# ---------------------------------------------------------------- classes


class NodeFields:
    """Where the children of the nodes of a class are.

    `children(x)` gives them, `referred(x)` those that are not weak, `head(x)` the rest, and `mapped(m, x)` the node of
    what the functions `m.value`, `m.cell` and `m.node` make of them.
    """

    __slots__ = ("children", "head", "mapped", "parts", "referred")

    def __init__(self, cls: type[TreeNode]) -> None:
        hints = typing.get_type_hints(cls, include_extras=True)
        self.parts: list[_ChildField] = []
        data: list[str] = []
        for position, (name, field) in enumerate(cls.__dataclass_fields__.items()):
            if "note" in field.metadata:
                continue
            shape = _shape_of(hints[name])
            if shape is None:
                data.append(name)
            else:
                self.parts.append(_ChildField(name, position, shape, "weak" in field.metadata))
        self.children = _children_of(self.parts)
        self.referred = _children_of([part for part in self.parts if not part.weak])
        self.head = _head_of(data, self.parts)
        self.mapped = _mapped_of(cls, self.parts)


def _children_of(parts: list[_ChildField]) -> Callable[[Any], Children]:
    if not parts:
        return lambda x: ()
    get, shape = parts[0].get, parts[0].shape
    if len(parts) == 1 and isinstance(shape, _One):
        return lambda x: (get(x),)
    if len(parts) == 1 and isinstance(shape, _Items):
        return get
    getters = [(part.get, part.shape.children) for part in parts]

    def children(x: Any) -> Children:
        found: list[Any] = []
        for get, inner in getters:
            found += inner(get(x))
        return found

    return children


def _head_of(data: list[str], parts: list[_ChildField]) -> Callable[[Any], tuple[Any, ...]]:
    getters = [operator.attrgetter(name) for name in data]
    getters += [_outline_of(part) for part in parts if not isinstance(part.shape, _One)]
    if len(getters) == 1:
        (only,) = getters
        return lambda x: (only(x),)
    return lambda x: tuple([get(x) for get in getters])


def _outline_of(part: _ChildField) -> Any:
    get, outline = part.get, part.shape.head
    return lambda x: outline(get(x))


def _mapped_of(cls: type[TreeNode], parts: list[_ChildField]) -> _Change:
    if not parts:
        return lambda m, x: x
    names = list(cls.__dataclass_fields__)
    get_all = operator.attrgetter(*names) if len(names) > 1 else lambda x: (parts[0].get(x),)
    changes = [(part.position, part.get, part.shape.mapped) for part in parts]
    first, get_first, change_first = changes[0]

    def one(m: Any, x: Any) -> Any:
        old = get_first(x)
        new = change_first(m, old)
        if new is old:
            return x
        fields = list(get_all(x))
        fields[first] = new
        return cls(*fields)

    def some(m: Any, x: Any) -> Any:
        fields: list[Any] | None = None
        for position, get, change in changes:
            old = get(x)
            new = change(m, old)
            if new is not old:
                if fields is None:
                    fields = list(get_all(x))
                fields[position] = new
        return x if fields is None else cls(*fields)

    return one if len(parts) == 1 else some


class _NodeFieldsByClass(dict[type, NodeFields]):
    """The layout of each class, made when it is first asked for."""

    def __missing__(self, cls: type) -> NodeFields:
        layout = self[cls] = NodeFields(cls)
        return layout


LAYOUTS = _NodeFieldsByClass()


# ---------------------------------------------------------------- walks over all that is inside


def nodes(x: TreeNode) -> Iterator[TreeNode]:
    """`x` and all nodes inside, those first that stand first; not what the cells hold that it refers to."""
    yield x
    for child in LAYOUTS[type(x)].children(x):
        if isinstance(child, TreeNode):
            yield from nodes(child)


def values_of(x: TreeNode) -> list[Value]:
    """Every program value inside, in a fixed order, as often as it is there."""
    found: list[Value] = []
    _collect_values(LAYOUTS[type(x)].children(x), found)
    return found


def _collect_values(given: Children, found: list[Value]) -> None:
    for child in given:
        if isinstance(child, Value):
            found.append(child)
        elif isinstance(child, TreeNode):
            inner = LAYOUTS[type(child)].children(child)
            if inner:
                _collect_values(inner, found)


def cells_of(x: TreeNode) -> list[int]:
    """Every cell that `x` refers to directly, in a fixed order; sources of a merged cell do not count.

    What the caller sees where the program has raised is no reference either.
    """
    found: list[int] = []
    _collect_cells(LAYOUTS[type(x)].referred(x), found)
    return found


def _collect_cells(given: Children, found: list[int]) -> None:
    for child in given:
        if isinstance(child, TreeNode):
            inner = LAYOUTS[type(child)].referred(child)
            if inner:
                _collect_cells(inner, found)
        elif isinstance(child, int):
            found.append(child)


def paths_to(x: TreeNode, cell: int) -> set[tuple[View, ...]]:
    """The paths by which `x` refers to an array directly."""
    if isinstance(x, Ref):
        return {x.path} if x.cell == cell else set()
    found: set[tuple[View, ...]] = set()
    for child in LAYOUTS[type(x)].referred(x):
        if isinstance(child, TreeNode):
            found |= paths_to(child, cell)
        elif child == cell:
            found.add(())
    return found


ValueMap = Callable[[Value], Value]
CellMap = Callable[[int], int]


def same_cell(cell: int) -> int:
    """The cell map that changes nothing."""
    return cell


def rebuild(x: N, value: ValueMap, cell: CellMap = same_cell) -> N:
    """`x` with every program value mapped by `value` and every cell number by `cell`.

    What does not change comes back as the object that it is.
    """
    rule = _RULES[type(x)]
    rebuilt: N = x if rule is None else rule(_Rebuilding(value, cell), x)
    return rebuilt


class _Rebuilding:
    """One walk: the two maps, and the views met so far, since one view object stays one."""

    __slots__ = ("cell", "value", "views")

    def __init__(self, value: ValueMap, cell: CellMap) -> None:
        self.value = value
        self.cell = cell
        self.views: dict[Ref, Ref] = {}

    def node(self, x: Any) -> Any:
        """A node inside, rebuilt."""
        rule = _RULES[type(x)]
        return x if rule is None else rule(self, x)


class _Rules(dict[type, _Change | None]):
    """How what is of a class is rebuilt; None for what has no children."""

    def __missing__(self, cls: type) -> _Change | None:
        layout = LAYOUTS[cls]
        rule = self[cls] = layout.mapped if layout.parts else None
        return rule


def _ref(m: _Rebuilding, x: Ref) -> Ref:
    """A reference; what refers to a view is one object for each view, and may be met more than once."""
    if not x.path:
        cell = m.cell(x.cell)
        return x if cell == x.cell else Ref(cell)
    found = m.views.get(x)
    if found is None:
        found = m.views[x] = LAYOUTS[Ref].mapped(m, x)
    return found


def _gated(m: _Rebuilding, x: Gated) -> Gated:
    """What the template is of: without what the sides of the join had."""
    made: Gated = LAYOUTS[Gated].mapped(m, x)
    return Gated(made.options, made.tags, made.reason) if made.sides else made


_RULES = _Rules({Ref: _ref, Gated: _gated})
