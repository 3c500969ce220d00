"""Structural equality of templates, and of the contents of a slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from ...hlo.ir import Value
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import assigned_alternatives
from ...values.identity import Identity
from ...values.lattice import (
    Abstract,
    Alias,
    Array,
    ArrayCell,
    Const,
    Frozen,
    ObjectCell,
    Ref,
    Stamp,
    Unknown,
    is_number,
    same_constant,
)
from ...values.node import TreeNode
from ...values.slots import Slot
from ...values.state import Content
from ...values.vector import Vector
from ...values.walk import children, head
from .merged import aliases_of, alone
from .phi import Placeholder, by_outline


def same_templates(old: dict[Slot, Content], new: dict[Slot, Content]) -> bool:
    """True if the two sets of templates have the same placeholders and the same structure."""
    views: dict[Identity, Identity] = {}
    return all(slot in old and same_template(old[slot], template, views) for slot, template in new.items())


def same_template(old: object, new: object, views: dict[Identity, Identity] | None = None) -> bool:
    """True if two templates have the same structure and types of placeholders: what a loop carries kept its type.

    `views`: by the views of old templates, those of the new ones: what was one object must be one.
    """
    if old is new and (views is None or not isinstance(old, TreeNode)):
        return True
    views = {} if views is None else views
    if type(old) is not type(new):
        return False
    if isinstance(old, Value):
        return isinstance(old, Placeholder) and old.type == cast(Value, new).type
    if not isinstance(old, TreeNode):
        return bool(old == new)
    if isinstance(old, Ref) and not _is_one_view(old.identity, cast(Ref, new).identity, views):
        return False
    if not _same_objects(old, cast(TreeNode, new)):
        return False
    if not _same_aliases(aliases_of(old), aliases_of(new), views):
        return False
    a, b = _compared(old), _compared(cast(TreeNode, new))
    pairs = zip(children(a), children(b))
    return _equal(head(a), head(b)) and all(same_template(x, y, views) for x, y in pairs)


def _is_one_view(old: Identity, new: Identity, views: dict[Identity, Identity]) -> bool:
    """True if all that was one view is one still, as far as `views` say."""
    return views.setdefault(old, new) is new


def _same_objects(old: TreeNode, new: TreeNode) -> bool:
    """True if two arrays, or the arrays in two lists, may be the same objects; contents of arrays in a list are none."""
    if isinstance(old, Ref):
        other = cast(Ref, new)
        return bool(old.path) == bool(other.path) and (not old.path or old.identity.is_like(other.identity))
    if isinstance(old, Bounded) and isinstance(old.whole, Array) and old.whole.form is Form.NDARRAY:
        return True
    if isinstance(old, ArrayCell) and old.frozen is Frozen.NOT:
        return True
    return not isinstance(old, Bounded | Vector | ArrayCell) or {*old.objects} == {*cast(Any, new).objects}


def _compared(x: Any) -> TreeNode:
    """The contents without what a loop does not carry, and without aliases, which are compared as a set."""
    if aliases_of(x):
        x = replace(x, aliases=())
    return replace(x, origin=None) if isinstance(x, ObjectCell) else x


def _equal(a: object, b: object) -> bool:
    """True for equal data of one type: 1 is not True."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return a is b or (type(a) is type(b) and bool(a == b))


def _same_aliases(old: Sequence[Alias], new: Sequence[Alias], views: dict[Identity, Identity]) -> bool:
    """True if merged cells have the same aliases, with the same stamps."""
    first, second = by_outline(old), by_outline(new)
    return first.keys() == second.keys() and all(
        (s.stamp is Stamp.OUT_OF_DATE) == (second[key].stamp is Stamp.OUT_OF_DATE)
        and same_template(s.ref, second[key].ref, views)
        for key, s in first.items()
    )


def alike(a: TreeNode | None, b: TreeNode) -> bool:
    """True if two contents of a slot differ at most in the numbers inside, or in whether they are assigned."""
    if a is b or a is None:
        return True
    if isinstance(a, Abstract) and isinstance(b, Abstract):
        ours, theirs = assigned_alternatives(a), assigned_alternatives(b)
        if not ours or not theirs:
            return True
        return len(ours) == len(theirs) and all(map(_alike_nodes, ours, theirs))
    return _alike_nodes(a, b)


def _alike_nodes(a: TreeNode, b: TreeNode) -> bool:
    if isinstance(a, Const | Array) and isinstance(b, Const | Array):
        same = isinstance(a, Const) and isinstance(b, Const) and same_constant(a.value, b.value)
        return same or (is_number(a) and is_number(b))
    if type(a) is not type(b) or isinstance(a, Unknown):
        return False
    a, b = alone(a), alone(b)
    return isinstance(a, ArrayCell) or (
        head(a) == head(b) and all(map(_alike_child, children(a), children(b)))
    )


def _alike_child(a: Any, b: Any) -> bool:
    return alike(a, b) if isinstance(a, TreeNode) else isinstance(a, Value) or a == b
