"""`equinox.tree_at`: replacement of the parts of a tree that a function selects.

The function receives a tree whose parts are distinguishable: a marker for each leaf, a class of its own for each tuple, new
lists, dicts and objects. They identify the parts in its result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, NoReturn, cast

from jax.tree_util import all_leaves, tree_flatten, tree_unflatten

from ....records import dataclass
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.span import Span
from ...library.context import Context, Raw
from ...library.jax.pytrees import exposed, lifted
from ...library.jax.tree import leaf_test
from ...library.rules.jax import is_none
from ...values.lattice import Abstract, Const, Ref, Tuple

_NOT_THERE = "`where` does not specify an element or elements of `pytree`."


class LeafMark:
    """Stands for a leaf; PS606 for who asks whether it is true, as `where` may know nothing of leaves."""

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def __bool__(self) -> bool:
        why = "whether a leaf is true is not known while compiling"
        instead = "let `where` only go from part to part of the tree"
        name = "`where` of equinox.tree_at"
        raise DiagnosticError(NotServed(span=self._span, name=name, why=why, instead=instead))


@dataclass(slots=True)
class _Parts:
    """The parts of a tree, and their numbers by what `where` is given for each: a mark, a class, a cell."""

    ctx: Context
    is_leaf: Callable[[Any], bool] | None
    numbers: dict[object, int] = field(default_factory=dict)
    found: list[Any] = field(default_factory=list)

    def children(self, part: Any) -> tuple[list[Any], Any] | None:
        """The children of a part, and its constructor; None for a leaf."""
        if self.is_leaf is not None and self.is_leaf(part):
            return None
        if all_leaves([part]):
            return None
        children, structure = tree_flatten(part, is_leaf=lambda x: x is not part)
        return children, structure

    def marked(self, part: Any) -> Abstract:
        """The abstract value that `where` gets for a part; it and its own parts are numbered on the way."""
        number = len(self.found)
        self.found.append(part)
        held = self.children(part)
        if held is None:
            mark = LeafMark(self.ctx.span)
            self.numbers[mark] = number
            return Const(mark)
        children, structure = held
        inner = [self.marked(child) for child in children]
        if isinstance(part, tuple):
            cls = type(type(part).__name__, (type(part),), {})
            self.numbers[cls] = number
            return Tuple(tuple(inner), cls)
        made = lifted(self.ctx, tree_unflatten(structure, inner))
        if isinstance(made, Ref):
            self.numbers[made.cell] = number
        return made

    def number(self, value: Abstract) -> int | None:
        """Which part `where` means by a value; None if it is none."""
        match value:
            case Const(LeafMark() as mark):
                return self.numbers[mark]
            case Tuple(cls=cls):
                return self.numbers.get(cls)
            case Ref(cell, ()):
                return self.numbers.get(cell)
        return None


@dataclass(slots=True)
class _Replaced:
    """The tree made again with other parts, by their numbers; `next` is the number of the part that comes next."""

    parts: _Parts
    by: dict[int, Abstract]
    next: int = 0

    def rebuilt(self, part: Any) -> Any:
        """A part, or what replaces it."""
        number = self.next
        self.next += 1
        held = self.parts.children(part)
        children, structure = held if held is not None else ([], None)
        inner = [self.rebuilt(child) for child in children]
        if number in self.by:
            for own in range(number + 1, self.next):
                if own in self.by:
                    _refuse(self.parts.ctx, _NOT_THERE)
            return self.by[number]
        return part if structure is None else tree_unflatten(structure, inner)


def _number(ctx: Context, parts: _Parts, value: Abstract) -> int:
    """Which part a value is; the program raises Equinox's error if it is none."""
    found = parts.number(value)
    if found is None and isinstance(value, Const) and value.value is not None:
        text = f"Operation undefined, {value.value} is not a leaf of the pytree."
        ctx.raise_(TypeError(text))
    if found is None:
        _refuse(ctx, _NOT_THERE)
    return found


def _refuse(ctx: Context, text: str) -> NoReturn:
    ctx.raise_(ValueError(text))


_MISSING: Any = object()


def tree_at(
    ctx: Context,
    where: Raw,
    pytree: Raw,
    replace: Raw = _MISSING,
    replace_fn: Raw = _MISSING,
    is_leaf: Raw = None,
) -> Abstract:
    """The tree with other parts where `where` points; ValueError as Equinox has it."""
    if (replace is _MISSING) == (replace_fn is _MISSING):
        _refuse(ctx, "Precisely one of `replace` and `replace_fn` must be specified.")
    parts = _Parts(ctx, None if is_none(is_leaf) else leaf_test(ctx, is_leaf))
    tree = exposed(ctx, pytree)
    pointed = ctx.call(where, [parts.marked(tree)])
    one = parts.number(pointed) is not None
    chosen = [pointed] if one else ctx.iterate(pointed) or [pointed]
    numbers = [_number(ctx, parts, value) for value in chosen]
    if replace is _MISSING:
        given = [ctx.call(replace_fn, [lifted(ctx, parts.found[n])]) for n in numbers]
    else:
        given = [cast(Abstract, replace)] if one else ctx.iterate(replace) or []
        if len(given) != len(numbers):
            _refuse(ctx, "`where` must return a sequence of leaves of the same length as `replace`.")
    by = dict(zip(numbers, given, strict=True))
    return lifted(ctx, _Replaced(parts, by).rebuilt(tree))
