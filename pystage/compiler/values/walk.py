"""Traversal of nodes (`node.py`): children, reconstruction with other children, and walks over all descendants.

`children(x)` are the nodes, program values and numbers of cells in the fields of `x`, in order; `with_children(x, new)` is
`x` with those replaced, and `head(x)` its data apart from them. Two nodes of one class with equal heads have equally many
children, and `with_children(a, children(b))` is `b`. All of this is derived from the annotations of a class when its first
node is met.
"""

from __future__ import annotations

import operator
import types
import typing
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, Union, get_args, get_origin

from ..hlo.ir import Value
from .bounded import Bounded
from .gated import Gated
from .identity import Identity
from .lattice import Abstract, ArrayCell, Frozen, Ref, Tuple
from .node import CELL, TreeNode
from .vector import Vector
from .views import View

N = TypeVar("N", bound=TreeNode)

Children = Sequence[Any]
"""The contents of a node: nodes, values of the program, numbers of cells."""


def children(x: TreeNode) -> Children:
    """The nodes, program values and numbers of cells in the fields of `x`, in order."""
    return CHILDREN[type(x)](x)  # type: ignore[no-any-return]


def with_children(x: N, new: Iterable[Any]) -> N:
    """`x` with these children; `x` itself if they are the same."""
    given = list(new)
    count = len(children(x))
    if len(given) != count:
        raise ValueError(f"{type(x).__name__} has {count} children, not {len(given)}")
    take = iter(given).__next__
    return map_children(x, lambda child: take())


def map_children(x: N, change: Callable[[Any], Any]) -> N:
    """`x` with `change` applied to each child; `x` itself if all are unchanged."""
    made: N = _MAPPED[type(x)](_Each(change), x)
    return made


def keys(x: TreeNode) -> list[Any]:
    """The position of each child in its field: its index or its key; the name of the field for a single child."""
    return _KEYS[type(x)](x)  # type: ignore[no-any-return]


def inner(x: TreeNode) -> list[Abstract]:
    """The abstract values among the children."""
    return [child for child in children(x) if isinstance(child, Abstract)]


def head(x: TreeNode) -> tuple[Any, ...]:
    """`x` without its class and children: its data, the number of children of its fields, and their keys."""
    return HEADS[type(x)](x)  # type: ignore[no-any-return]


def counterparts(x: N, other: N) -> list[Any]:
    """The counterparts, in `other` of the same class, of the children of `x`.

    That is a known number where only `x` has a program value, and None where `other` has nothing.
    """
    return _COUNTERPARTS[type(x)](x, other)  # type: ignore[no-any-return]


class _Each:
    """The changes of children: of a program value, of the number of a cell, of a node."""

    __slots__ = ("cell", "node", "value")

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.value = self.cell = self.node = change


# ---------------------------------------------------------------- fields that have children

# A shape gives expressions of Python for the functions below, `part` being one for what stands in the field: elements of a
# tuple (`children`, `keys` and, where `other` has them, `beside`), what there is apart from children (`head`), and what is
# in the place of the field with its children changed, itself if none has (`mapped`).


class _One:
    """A field that is one child."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def children(self, part: str) -> str:
        return f"{part},"

    def keys(self, part: str, name: str) -> str:
        return f"{name!r},"

    def beside(self, part: str, other: str) -> str:
        return f"{other},"

    def mapped(self, part: str) -> str:
        return f"m.{self.kind}({part})"


class _Perhaps:
    """A field that is either a child or data."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def is_child(self, part: str) -> str:
        classes = "int" if self.kind == "cell" else "(TreeNode, Value)"
        return f"{part} is not None and isinstance({part}, {classes})"

    def children(self, part: str) -> str:
        return f"*(({part},) if {self.is_child(part)} else ()),"

    def keys(self, part: str, name: str) -> str:
        return f"*(({name!r},) if {self.is_child(part)} else ()),"

    def head(self, part: str) -> str:
        return f"(TreeNode if {self.is_child(part)} else {part})"

    def beside(self, part: str, other: str) -> str:
        return f"*(({other},) if {self.is_child(part)} else ()),"

    def mapped(self, part: str) -> str:
        return f"m.{self.kind}({part}) if {self.is_child(part)} else {part}"


class _Items:
    """A tuple of children."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def children(self, part: str) -> str:
        return f"*{part},"

    def keys(self, part: str, name: str) -> str:
        return f"*range(len({part})),"

    def head(self, part: str) -> str:
        return f"len({part})"

    def beside(self, part: str, other: str) -> str:
        return f"*{other},"

    def mapped(self, part: str) -> str:
        return f"of_items({part}, list(map(m.{self.kind}, {part}))) if {part} else {part}"


class _Entries:
    """A dict of children; a tuple of keys with a child each; or, by their positions, a tuple of children and data."""

    def __init__(self, inner: _One | _Perhaps, origin: type, pairs: bool) -> None:
        self._inner = inner
        self._form = "dict" if origin is dict else "pairs" if pairs else "items"

    def _values(self, part: str) -> str:
        return {"dict": f"{part}.values()", "pairs": f"[v for _, v in {part}]", "items": part}[self._form]

    def _with_keys(self, part: str) -> str:
        return {"dict": f"{part}.items()", "pairs": part, "items": f"enumerate({part})"}[self._form]

    def _as_dict(self, part: str) -> str:
        return part if self._form == "dict" else f"dict({self._with_keys(part)})"

    def children(self, part: str) -> str:
        values, inner = self._values(part), self._inner
        return (
            f"*{values}," if isinstance(inner, _One) else f"*[v for v in {values} if {inner.is_child('v')}],"
        )

    def keys(self, part: str, name: str) -> str:
        test = f" if {self._inner.is_child('v')}" if isinstance(self._inner, _Perhaps) else ""
        return f"*[k for k, v in {self._with_keys(part)}{test}],"

    def head(self, part: str) -> str:
        inner = f"(k, {self._inner.head('v')})" if isinstance(self._inner, _Perhaps) else "k"
        return f"tuple([{inner} for k, v in {self._with_keys(part)}])"

    def beside(self, part: str, other: str) -> str:
        return f"*map({self._as_dict(other)}.get, [{self.keys(part, '')}]),"

    def mapped(self, part: str) -> str:
        values, inner = self._values(part), self._inner
        if isinstance(inner, _One):
            return f"of_{self._form}({part}, list(map(m.{inner.kind}, {values})))"
        return f"of_{self._form}({part}, [{inner.mapped('v')} for v in {values}])"


def _of_items(old: tuple[Any, ...], new: list[Any]) -> tuple[Any, ...]:
    """A tuple of these; the old one if they are the same."""
    return old if all(map(operator.is_, new, old)) else tuple(new)


def _of_dict(old: dict[Any, Any], new: list[Any]) -> dict[Any, Any]:
    return old if all(map(operator.is_, new, old.values())) else dict(zip(old, new))


def _of_pairs(old: tuple[tuple[Any, Any], ...], new: list[Any]) -> tuple[tuple[Any, Any], ...]:
    same = all(map(operator.is_, new, [x for _, x in old]))
    return old if same else tuple([(key, x) for (key, _), x in zip(old, new)])


_Shape = _One | _Perhaps | _Items | _Entries

_UNIONS = (Union, types.UnionType)


def _kind_of(hint: Any) -> str | None:
    """The kind of a child of this type; None for data."""
    origin = get_origin(hint)
    if origin in _UNIONS:
        kinds = set(map(_kind_of, get_args(hint)))
        return kinds.pop() if len(kinds) == 1 else None
    if isinstance(hint, TypeVar):
        return _kind_of(hint.__bound__)
    if CELL in getattr(hint, "__metadata__", ()):
        return "cell"
    hint = origin or hint  # the class of a generic one
    if not isinstance(hint, type):
        return None
    return "value" if issubclass(hint, Value) else "node" if issubclass(hint, TreeNode) else None


def _shape_of(hint: Any) -> _Shape | None:
    """The form in which a field of this type has children; None for data. TypeError for any other form."""
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
    """A field that may have children: its name and its shape. `weak`: they are named, but not referred to."""

    __slots__ = ("name", "shape", "weak")

    def __init__(self, name: str, shape: _Shape, weak: bool) -> None:
        self.name = name
        self.shape = shape
        self.weak = weak


# ---------------------------------------------------------------- classes


class NodeFields:
    """The fields of a class of nodes: all names, those with children, and the names of data."""

    __slots__ = ("data", "names", "parts")

    def __init__(self, cls: type[TreeNode]) -> None:
        hints = typing.get_type_hints(cls, include_extras=True)
        self.names = list(cls.__dataclass_fields__)
        self.parts: list[_ChildField] = []
        self.data: list[str] = []
        for name, field in cls.__dataclass_fields__.items():
            if "note" in field.metadata:
                continue
            shape = _shape_of(hints[name])
            if shape is None:
                self.data.append(name)
            else:
                self.parts.append(_ChildField(name, shape, "weak" in field.metadata))


class _NodeFieldsByClass(dict[type, NodeFields]):
    """The fields of each class, read at first use."""

    def __missing__(self, cls: type) -> NodeFields:
        layout = self[cls] = NodeFields(cls)
        return layout


LAYOUTS = _NodeFieldsByClass()


class _Written(dict[type, Callable[..., Any]]):
    """By class of nodes, a function generated at first use, as `dataclass` generates `__init__`."""

    def __init__(self, parameters: str, write: Callable[[NodeFields], str]) -> None:
        self._parameters = parameters
        self._write = write

    def __missing__(self, cls: type) -> Callable[..., Any]:
        scope = {**_HELPERS, "cls": cls}
        exec(f"def written({self._parameters}):\n{self._write(LAYOUTS[cls])}", scope)
        function: Callable[..., Any] = scope["written"]
        self[cls] = function
        return function


_HELPERS: Mapping[str, Any] = {
    "TreeNode": TreeNode,
    "Value": Value,
    "of_items": _of_items,
    "of_dict": _of_dict,
    "of_pairs": _of_pairs,
}


def _children(parts: list[_ChildField]) -> str:
    if len(parts) == 1 and isinstance(parts[0].shape, _Items):
        return f" return x.{parts[0].name}"
    return f" return ({''.join([part.shape.children(f'x.{part.name}') for part in parts])})"


def _head(fields: NodeFields) -> str:
    outlines = [p.shape.head(f"x.{p.name}") for p in fields.parts if not isinstance(p.shape, _One)]
    return (
        f" return ({''.join([f'{text},' for text in (*[f'x.{name}' for name in fields.data], *outlines)])})"
    )


def _mapped(fields: NodeFields) -> str:
    if not fields.parts:
        return " return x"
    lines, same, new = [], [], {name: f"x.{name}" for name in fields.names}
    for i, part in enumerate(fields.parts):
        lines += [f" old{i} = x.{part.name}", f" new{i} = {part.shape.mapped(f'old{i}')}"]
        same.append(f"new{i} is old{i}")
        new[part.name] = f"new{i}"
    return "\n".join([*lines, f" return x if {' and '.join(same)} else cls({', '.join(new.values())})"])


def _keys(fields: NodeFields) -> str:
    return f" return [{''.join([p.shape.keys(f'x.{p.name}', p.name) for p in fields.parts])}]"


def _beside(fields: NodeFields) -> str:
    return f" return [{''.join([p.shape.beside(f'x.{p.name}', f'other.{p.name}') for p in fields.parts])}]"


CHILDREN = _Written("x", lambda fields: _children(fields.parts))
"""By class: the children of a node."""
_REFERRED = _Written("x", lambda fields: _children([part for part in fields.parts if not part.weak]))
"""By class: the children to which a node refers, those that are not weak."""
HEADS = _Written("x", _head)
"""By class: what a node is apart from its class and children."""
_MAPPED = _Written("m, x", _mapped)
"""By class: the node of what the functions `m.value`, `m.cell` and `m.node` make of the children of a node."""
_KEYS = _Written("x", _keys)
_COUNTERPARTS = _Written("x, other", _beside)


# ---------------------------------------------------------------- walks over all that is inside


def nodes(x: TreeNode) -> Iterator[TreeNode]:
    """`x` and all nodes inside, in order; not the contents of cells."""
    yield x
    for child in CHILDREN[type(x)](x):
        if isinstance(child, TreeNode):
            yield from nodes(child)


def values_of(x: TreeNode) -> list[Value]:
    """Every program value inside, in a fixed order, as often as it is there."""
    found: list[Value] = []
    _collect_values(CHILDREN[type(x)](x), found)
    return found


def _collect_values(given: Children, found: list[Value]) -> None:
    for child in given:
        if isinstance(child, Value):
            found.append(child)
        elif isinstance(child, TreeNode):
            inner = CHILDREN[type(child)](child)
            if inner:
                _collect_values(inner, found)


def cells_of(x: TreeNode) -> list[int]:
    """The cells that `x` refers to directly, in a fixed order; aliases of a merged cell do not count.

    What the caller sees where the program has raised is no reference either.
    """
    found: list[int] = []
    _collect_cells(_REFERRED[type(x)](x), found)
    return found


def _collect_cells(given: Children, found: list[int]) -> None:
    for child in given:
        if isinstance(child, TreeNode):
            inner = _REFERRED[type(child)](child)
            if inner:
                _collect_cells(inner, found)
        elif isinstance(child, int):
            found.append(child)


def paths_to(x: TreeNode, cell: int) -> set[tuple[View, ...]]:
    """The paths by which `x` refers to an array directly."""
    if isinstance(x, Ref):
        return {x.path} if x.cell == cell else set()
    found: set[tuple[View, ...]] = set()
    for child in _REFERRED[type(x)](x):
        if isinstance(child, TreeNode):
            found |= paths_to(child, cell)
        elif child == cell:
            found.add(())
    return found


ValueMap = Callable[[Value], Value]
CellMap = Callable[[int], int]
ObjectMap = Callable[[Identity], Identity]


def same_cell(cell: int) -> int:
    """The cell map that changes nothing."""
    return cell


def rebuild(
    x: N,
    value: ValueMap,
    cell: CellMap = same_cell,
    object: ObjectMap | None = None,
    view: ObjectMap | None = None,
    renewed: Renewed | None = None,
) -> N:
    """`x` with every program value, number of a cell, object that a bounded array may be, and view mapped by these.

    What does not change comes back as the object that it is; tuples as new ones, if these are `renewed`.
    """
    rule = _RULES[type(x)]
    rebuilt: N = x if rule is None else rule(_Rebuilding(value, cell, object, view, renewed), x)
    return rebuilt


class Renewed:
    """Tuples that each call of a function makes anew, but those that it was given."""

    def __init__(self, given: Container[int]) -> None:
        self._given = given
        self._made: dict[int, Tuple] = {}

    def of(self, x: Tuple) -> Tuple:
        """The new object in the place of `x`, one for each."""
        if id(x) in self._given:
            return x
        return self._made.setdefault(id(x), replace(x))


class _Rebuilding:
    """One walk: the maps."""

    __slots__ = ("cell", "object", "renewed", "value", "view")

    def __init__(
        self,
        value: ValueMap,
        cell: CellMap,
        object: ObjectMap | None,
        view: ObjectMap | None,
        renewed: Renewed | None,
    ) -> None:
        self.value = value
        self.cell = cell
        self.object = object
        self.view = view
        self.renewed = renewed

    def node(self, x: Any) -> Any:
        """A node inside, rebuilt."""
        rule = _RULES[type(x)]
        return x if rule is None else rule(self, x)


_Rule = Callable[[Any, Any], Any]


class _Rules(dict[type, _Rule | None]):
    """The rebuilding rules by class; None for a class without children."""

    def __missing__(self, cls: type) -> _Rule | None:
        rule = self[cls] = _MAPPED[cls] if LAYOUTS[cls].parts else None
        return rule


def _ref(m: _Rebuilding, x: Ref) -> Ref:
    """A reference, and which object a view is."""
    if not x.path:
        cell = m.cell(x.cell)
        return x if cell == x.cell else Ref(cell)
    made: Ref = _MAPPED[Ref](m, x)
    identity = x.identity if m.view is None else m.view(x.identity)
    return made if identity is x.identity else Ref(made.cell, made.path, identity)


def _tuple(m: _Rebuilding, x: Tuple) -> Tuple:
    """Rebuilds a tuple, which is a new object in each call that makes it."""
    made: Tuple = _MAPPED[Tuple](m, x)
    return m.renewed.of(x) if made is x and m.renewed is not None else made


def _gated(m: _Rebuilding, x: Gated) -> Gated:
    """Rebuilds a gated φ, as a template of which the sides of a join had more."""
    made: Gated = _MAPPED[Gated](m, x)
    return Gated(made.options, made.tags, made.reason) if made.sides else made


def _bounded(m: _Rebuilding, x: Bounded) -> Bounded:
    """Rebuilds a bounded array, and the objects that it may be."""
    made: Bounded = _MAPPED[Bounded](m, x)
    return made if m.object is None else replace(made, objects=tuple(map(m.object, x.objects)))


def _array_cell(m: _Rebuilding, x: ArrayCell) -> ArrayCell:
    """Rebuilds an array, and the objects that it may be of which lists hold copies."""
    made: ArrayCell = _MAPPED[ArrayCell](m, x)
    if m.object is None or x.frozen is Frozen.NOT:
        return made
    return replace(made, objects=tuple(map(m.object, x.objects)))


def _vector(m: _Rebuilding, x: Vector[Any]) -> Vector[Any]:
    """Rebuilds a vector, and the objects that its elements may be."""
    made: Vector[Any] = _MAPPED[Vector](m, x)
    return made if m.object is None else replace(made, objects=tuple(map(m.object, x.objects)))


_RULES = _Rules(
    {
        Ref: _ref,
        Tuple: _tuple,
        Gated: _gated,
        Bounded: _bounded,
        ArrayCell: _array_cell,
        Vector: _vector,
    }
)
