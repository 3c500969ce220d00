"""The may-alias set of a merged cell, built by a join: both sides number the same aliases.

Each side is a tree: a leaf is one alias, a fork selects among several by a number of the program (`selector`). Views of
one array that differ at most in where they begin are one alias; the tree selects the start of its path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from ....records import dataclass
from ...hlo.ir import Value
from ...hlo.types import ArrayType
from ...values.identity import Identity
from ...values.lattice import Alias, ArrayCell, Cell, Ref, Stamp, through
from ...values.state import Content
from ...values.views import View, Window
from ..state.merged import Mergeable
from ..state.phi import SELECTOR, START, DeferredRead, DeferredSelect, by_outline, joined_path, outline


@dataclass(frozen=True, slots=True)
class AliasLeaf:
    """The alias at `position`, counted from 1, by `ref`; 0 for an object of its own."""

    position: int = 0
    ref: Ref | None = None


@dataclass(frozen=True, slots=True)
class AliasFork:
    """A selection between alias trees, by a number of the program."""

    selector: Value
    options: tuple[AliasTree, ...]


AliasTree = AliasLeaf | AliasFork
OWN = AliasLeaf()


def alias_fork(selector: int | Value, options: list[AliasTree]) -> AliasTree:
    """`options[which]`."""
    return options[selector] if isinstance(selector, int) else AliasFork(selector, tuple(options))


def leaves(tree: AliasTree) -> Iterator[AliasLeaf]:
    """The leaves of a tree."""
    if isinstance(tree, AliasLeaf):
        yield tree
    else:
        for option in tree.options:
            yield from leaves(option)


def number_of(tree: AliasTree, of: Callable[[AliasLeaf], int | Value], type: ArrayType) -> int | Value:
    """The value of `of` at the leaf that the tree selects, a known number or one that is computed where it is wanted."""
    if isinstance(tree, AliasLeaf):
        return of(tree)
    return chosen(tree.selector, [number_of(option, of, type) for option in tree.options], type)


def chosen(selector: int | Value, options: list[int | Value], type: ArrayType) -> int | Value:
    """`options[selector]`."""
    if isinstance(selector, int):
        return options[selector]
    if type is SELECTOR and options == list(range(len(options))):
        return selector
    if all(option is options[0] or option == options[0] for option in options):
        return options[0]
    return DeferredSelect(type, selector, tuple(options))


class AliasSet:
    """The may-alias set of a merged cell: each alias once, with its version stamp.

    Some are there although it certainly is none of them: it is out of date where they have changed.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, tuple[View, ...]], Alias] = {}
        self._positions: dict[tuple[int, tuple[View, ...]], int] = {}

    def leaf(self, ref: Ref, stamp: Cell | Stamp) -> AliasLeaf:
        """The leaf for `ref`, whose alias is added where it is new."""
        key = outline(ref)
        found = self._found.get(key)
        if found is None or stamp is Stamp.OUT_OF_DATE or found.stamp is Stamp.UNRESOLVED:
            self._found[key] = Alias(ref if found is None else found.ref, stamp)
        return AliasLeaf(self._positions.setdefault(key, len(self._found)), ref)

    def aliases(self, tree: AliasTree, other: AliasTree) -> tuple[Alias, ...]:
        """The aliases as the side of `tree` has them; an alias that only the other side has gets meaningless offsets."""
        own, others = _by_position(tree), _by_position(other)
        found: list[Alias] = []
        for position, alias in enumerate(self._found.values(), 1):
            there = others.get(position, [])
            if position in own:
                ref = _reference(tree, position, own[position], there)
            else:
                ref = _elsewhere(there[0] if there else alias.ref)
            found.append(Alias(ref, alias.stamp))
        return tuple(found)


def _by_position(tree: AliasTree) -> dict[int, list[Ref]]:
    found: dict[int, list[Ref]] = {}
    for leaf in leaves(tree):
        if leaf.ref is not None:
            found.setdefault(leaf.position, []).append(leaf.ref)
    return found


def _reference(tree: AliasTree, position: int, own: list[Ref], others: list[Ref]) -> Ref:
    """The alias at `position`, by the path that the tree selects."""
    first, *more = own
    if all(ref is first for ref in (*more, *others)):
        return first
    identity = first.identity
    if any(ref.identity is not identity for ref in more):
        identity = Identity.one_of([ref.identity for ref in own])
    path: list[View] = []
    for step, view in enumerate(first.path):
        if isinstance(view, Window) and any(ref.path[step] != view for ref in more):
            view = Window(_starts(tree, position, step, len(view.starts)), view.sizes)
        path.append(view)
    return Ref(first.cell, tuple(path), identity)


def _starts(tree: AliasTree, position: int, step: int, rank: int) -> tuple[int | Value, ...]:
    """The offset of the box at `step` of the path to the alias at `position`."""

    def start(axis: int) -> Callable[[AliasLeaf], int | Value]:
        def of(leaf: AliasLeaf) -> int | Value:
            if leaf.position != position:
                return 0
            return cast(Window, cast(Ref, leaf.ref).path[step]).starts[axis]

        return of

    return tuple([number_of(tree, start(axis), START) for axis in range(rank)])


def _elsewhere(ref: Ref) -> Ref:
    """A view that only the other side has, with offsets that have no meaning on this side."""
    if not any(isinstance(v, Window) and not v.static for v in ref.path):
        return ref
    steps = [
        Window(tuple([s if isinstance(s, int) else 0 for s in v.starts]), v.sizes)
        if isinstance(v, Window)
        else v
        for v in ref.path
    ]
    return Ref(ref.cell, tuple(steps), ref.identity)


def _same_view(a: Ref, b: Ref) -> Identity:
    return a.identity


def joined_aliases(
    a: Mergeable, b: Mergeable, view: Callable[[Ref, Ref], Identity] = _same_view
) -> tuple[Alias, ...]:
    """The union of the may-alias sets of two contents of one cell; what is out of date on one side is out of date.

    `view`: which object a view is that may be either. Of what is no array there are no views.
    """
    found = by_outline(a.aliases)
    for key, alias in by_outline(b.aliases).items():
        other = found.get(key)
        if other is None:
            found[key] = alias
            continue
        unresolved = other.stamp is Stamp.UNRESOLVED
        stamp = alias.stamp if unresolved or alias.stamp is Stamp.OUT_OF_DATE else other.stamp
        path = cast("tuple[View, ...]", joined_path(other.ref.path, alias.ref.path))
        identity = view(other.ref, alias.ref)
        same = path == other.ref.path and identity is other.ref.identity
        found[key] = Alias(other.ref if same else Ref(alias.cell, path, identity), stamp)
    return tuple(found.values())


def seen_through(content: Content, ref: Ref) -> Mergeable:
    """The contents of the view that `ref` is of a cell with these contents, as a side of a join has them."""
    path = ref.path
    if not path:
        return cast(Mergeable, content)
    array = cast(ArrayCell, content)
    aliases = tuple([Alias(through(s.ref, path, ref.identity), s.stamp) for s in array.aliases])
    writable = False if any(view.read_only for view in path) else array.writable
    return ArrayCell(DeferredRead(array.value, path), writable, aliases, array.selector, array.frozen)
