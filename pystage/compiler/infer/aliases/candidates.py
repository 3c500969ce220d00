"""The sources of a merged cell, as a join makes it: what either side may stand for, numbered alike on both.

A side is a tree: at a leaf one source, a fork says which of several by a number of the program (`which`). Views of
one array that differ at most in where they begin are one source, whose path has the start that the tree chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from ...hlo.ir import Value
from ...hlo.types import ArrayType
from ...values.lattice import ArrayCell, Cell, Ref, Source, through
from ...values.state import Content
from ...values.views import View, Window
from ..core.patterns import START, WHICH, Chosen, Seen, joined_path, outline
from .merged import RIVAL, STALE, Mergeable


@dataclass(frozen=True, slots=True)
class Leaf:
    """The source at `position`, counted from 1, by `ref`; 0 for an object of its own."""

    position: int = 0
    ref: Ref | None = None


@dataclass(frozen=True, slots=True)
class Fork:
    """One of several, by a number of the program."""

    which: Value
    options: tuple[Tree, ...]


Tree = Leaf | Fork
OWN = Leaf()


def fork(which: int | Value, options: list[Tree]) -> Tree:
    """`options[which]`."""
    return options[which] if isinstance(which, int) else Fork(which, tuple(options))


def leaves(tree: Tree) -> Iterator[Leaf]:
    """The leaves of a tree."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        for option in tree.options:
            yield from leaves(option)


def number_of(tree: Tree, of: Callable[[Leaf], int | Value], type: ArrayType) -> int | Value:
    """The number that `of` gives for the leaf that a side is."""
    if isinstance(tree, Leaf):
        return of(tree)
    options = [number_of(option, of, type) for option in tree.options]
    if type is WHICH and options == list(range(len(options))):
        return tree.which
    if all(option is options[0] or option == options[0] for option in options):
        return options[0]
    return Chosen(type, tree.which, tuple(options))


class Candidates:
    """What a merged cell may be: each source once, with what it held when the cell was last equal to it.

    Some are there although it certainly is none of them: it is stale where they have changed.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, tuple[View, ...]], Source] = {}

    def leaf(self, ref: Ref, known: Cell) -> Leaf:
        """The source that `ref` is, added where it is new."""
        key = outline(ref)
        found = self._found.get(key)
        if found is None or known is STALE or found.known is RIVAL:
            self._found[key] = Source(ref if found is None else found.ref, known)
        return Leaf(list(self._found).index(key) + 1, ref)

    def sources(self, tree: Tree, other: Tree) -> tuple[Source, ...]:
        """The sources as the side of `tree` has them; where those that it is not begin means nothing."""
        own, others = _by_position(tree), _by_position(other)
        found: list[Source] = []
        for position, source in enumerate(self._found.values(), 1):
            there = others.get(position, [])
            if position in own:
                ref = _reference(tree, position, own[position], there)
            else:
                ref = _elsewhere(there[0] if there else source.ref)
            found.append(Source(ref, source.known))
        return tuple(found)


def _by_position(tree: Tree) -> dict[int, list[Ref]]:
    found: dict[int, list[Ref]] = {}
    for leaf in leaves(tree):
        if leaf.ref is not None:
            found.setdefault(leaf.position, []).append(leaf.ref)
    return found


def _reference(tree: Tree, position: int, own: list[Ref], others: list[Ref]) -> Ref:
    """The source at `position`, by way of the path that the tree chooses."""
    first, *more = own
    if all(ref is first for ref in (*more, *others)):
        return first
    path: list[View] = []
    for step, view in enumerate(first.path):
        if isinstance(view, Window) and any(ref.path[step] != view for ref in more):
            view = Window(_starts(tree, position, step, len(view.starts)), view.sizes)
        path.append(view)
    return Ref(first.cell, tuple(path))


def _starts(tree: Tree, position: int, step: int, rank: int) -> tuple[int | Value, ...]:
    """Where the box at `step` of the path to the source at `position` begins."""

    def start(axis: int) -> Callable[[Leaf], int | Value]:
        def of(leaf: Leaf) -> int | Value:
            if leaf.position != position:
                return 0
            return cast(Window, cast(Ref, leaf.ref).path[step]).starts[axis]

        return of

    return tuple([number_of(tree, start(axis), START) for axis in range(rank)])


def _elsewhere(ref: Ref) -> Ref:
    """A view that only the other side has: where it begins there means nothing here."""
    if not any(isinstance(v, Window) and not v.static for v in ref.path):
        return ref
    steps = [
        Window(tuple([s if isinstance(s, int) else 0 for s in v.starts]), v.sizes)
        if isinstance(v, Window)
        else v
        for v in ref.path
    ]
    return Ref(ref.cell, tuple(steps))


def both_sources(a: Mergeable, b: Mergeable) -> tuple[Source, ...]:
    """The sources of two contents of one cell; what is stale on one side is stale."""
    found = {outline(s.ref): s for s in a.sources}
    for source in b.sources:
        key = outline(source.ref)
        other = found.get(key)
        if other is None or other.known is RIVAL:
            found[key] = source
            continue
        known = STALE if source.known is STALE else other.known
        path = cast("tuple[View, ...]", joined_path(other.ref.path, source.ref.path))
        same = path == other.ref.path
        found[key] = Source(other.ref if same else Ref(source.cell, path), known)
    return tuple(found.values())


def seen_through(content: Content, path: tuple[View, ...]) -> Mergeable:
    """The contents of the view at the end of `path`, as a side of a join has them."""
    if not path:
        return cast(Mergeable, content)
    array = cast(ArrayCell, content)
    sources = tuple([Source(through(s.ref, path), s.known) for s in array.sources])
    writable = False if any(view.read_only for view in path) else array.writable
    return ArrayCell(Seen(array.value, path), writable, sources, array.which)
