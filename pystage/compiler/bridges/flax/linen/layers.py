"""Layers of Flax's library: a method of a layer bound to a scope is one `JaxCall`.

In: a bound module whose code is the library's only. JAX traces the method of an equal module, bound to a scope with the same
variables and keys; its updates of them are results, and are stored back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from .....records import dataclass
from ....infer.interface import (
    Engine,
    class_of,
    entries_of,
    fields_of,
    found_at,
    is_dict,
    new_dict,
    set_entry,
)
from ....library.jax.traced_calls import is_jax_callable, jax_call, takes_as_pytrees
from ....library.kernels.structures import list_items
from ....policy import is_library, package_of
from ....values.boundary import Form
from ....values.lattice import LISTS, Abstract, Array, Const, DictCell, Ref, Tuple
from .binding import at_work, is_module, own_fields, scope_of
from .scopes import flax_core, root_of

_UNKNOWN: Any = object()
_DATA = bool | int | float | complex | str | bytes | np.generic | np.dtype | None
Names = tuple[str, ...]
Counts = tuple[tuple[Names, str, int], ...]
"""How often keys were used: the path of a scope, the name of a key, and the number."""


@dataclass(frozen=True)
class _Recipe:
    """A module of the library: its class, its fields (with recipes for modules), where it is bound; None: by its owner."""

    cls: type
    fields: tuple[tuple[str, Any], ...]
    path: Names | None


@dataclass(frozen=True)
class _Layer:
    """A method of a layer, for JAX to trace: of the variables at `paths`, of keys, and of the arguments."""

    module: _Recipe
    method: str
    mutable: Any
    paths: tuple[Names, ...]
    initializing: bool
    counts: Counts

    @property
    def __name__(self) -> str:
        return f"{self.module.cls.__name__}.{self.method}"

    def __call__(self, variables: Any, rngs: Any, args: Any, kwargs: Any) -> Any:
        core = flax_core()
        kept: dict[str, Any] = {}
        for path, held in zip(self.paths, variables, strict=True):
            for name, part in held.items():
                _put(kept, (name, *path), core.unfreeze(part))
        flags = {"initializing": True} if self.initializing else {}
        root = core.Scope(kept, rngs, mutable=self.mutable, flags=flags)
        for path, name, count in self.counts:
            _counters(root, path)[name] = count
        module = _constructed(self.module, root)
        result = getattr(module, self.method)(*args, **kwargs)
        changed = [n for n in kept if core.scope.in_filter(self.mutable, n)]
        parts = [{name: _get(kept, (name, *path)) for name in changed} for path in self.paths]
        return result, parts, tuple(_used(root.rng_counters))


def _put(tree: dict[str, Any], path: Names, value: Any) -> None:
    *first, last = path
    for name in first:
        tree = tree.setdefault(name, {})
    tree[last] = value


def _get(tree: dict[str, Any], path: Names) -> Any:
    for name in path:
        tree = tree.get(name, {})
    return tree


def _counters(root: Any, path: Names) -> dict[Any, Any]:
    """The counters of the scope at a path."""
    found: dict[Any, Any] = root.rng_counters
    for name in path:
        found = found.setdefault((flax_core().scope.child_rng_token, name), dict.fromkeys(root.rngs, 0))
    return found


def _used(counters: Mapping[Any, Any], path: Names = ()) -> list[tuple[Names, str, int]]:
    found: list[tuple[Names, str, int]] = []
    for key, count in counters.items():
        if isinstance(count, dict):
            found += _used(count, (*path, key[1]))
        elif count:
            found.append((path, key, count))
    return found


def _constructed(part: Any, root: Any) -> Any:
    """The modules that recipes are for."""
    if isinstance(part, tuple):
        return tuple([_constructed(x, root) for x in part])
    if isinstance(part, dict):
        return {key: _constructed(x, root) for key, x in part.items()}
    if not isinstance(part, _Recipe):
        return part
    scope, name = None, None
    if part.path is not None:
        scope = root
        for name in part.path:
            scope = scope.push(name, reuse=True)
    fields = {key: _constructed(x, root) for key, x in part.fields}
    return cast(Any, part.cls)(**fields, parent=scope, name=name)


def call_of_layer(
    ctx: Engine, ref: Ref, method: str, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> Abstract | None:
    """The call of a method of a bound layer; None for one that JAX cannot take, as it holds parts of the program."""
    capture = at_work(ctx)[1]
    if not (isinstance(capture, Const) and capture.value is False) or not takes_as_pytrees(ctx, args, kwargs):
        return None
    scopes: dict[Names, Ref] = {}
    recipe = _recipe(ctx, ref, scopes)
    if recipe is _UNKNOWN:
        return None
    own = fields_of(ctx, scope_of(ctx, ref))
    root = fields_of(ctx, root_of(ctx, scope_of(ctx, ref)))
    layer = _Layer(
        recipe,
        method,
        ctx.known(own["mutable"], "which collections are mutable"),
        tuple(scopes),
        "initializing" in entries_of(ctx, own["flags"]),
        _counts(ctx, own["counts"], tuple(scopes)),
    )
    names = list(entries_of(ctx, root["_variables"]))
    variables = [_variables(ctx, scope, names) for scope in scopes.values()]
    given = [Tuple(tuple(variables)), root["rngs"], Tuple(tuple(args)), new_dict(ctx, kwargs)]
    result, changed, counts = cast(Tuple, jax_call(ctx, layer, given)).items
    for scope, parts in zip(scopes.values(), ctx.iterate(changed) or [], strict=True):
        for name, part in entries_of(ctx, parts).items():
            if entries_of(ctx, part):
                target = ctx.call(ctx.getattr(scope, "_mutable_collection"), [Const(name)])
                _merge(ctx, cast(Ref, target), part)
    for path, key, count in [ctx.known(c, "how often a key was used") for c in cast(Tuple, counts).items]:
        set_entry(ctx, own["counts"], (path, key), Const(count))
    return result


def _variables(ctx: Engine, scope: Ref, names: Sequence[str]) -> Abstract:
    """The variables of a scope, by collection."""
    found = ctx.getattr(scope, "_collection")
    return new_dict(ctx, {name: ctx.call(found, [Const(name)]) for name in names})


def _counts(ctx: Engine, counts: Abstract, paths: Sequence[Names]) -> Counts:
    """How often keys were used in the scopes at and below some paths."""
    return tuple(
        [
            (path, name, ctx.known(n, "how often a key was used"))
            for (path, name), n in entries_of(ctx, counts).items()
            if any(path[: len(p)] == p for p in paths)
        ]
    )


def _merge(ctx: Engine, target: Ref, source: Abstract) -> None:
    """Stores what is in a dict of dicts into another."""
    for key, value in entries_of(ctx, source).items():
        old = entries_of(ctx, target).get(key)
        both = is_dict(ctx, old) and is_dict(ctx, value)
        if both:
            _merge(ctx, cast(Ref, old), value)
        else:
            set_entry(ctx, target, key, value)


def _recipe(ctx: Engine, ref: Ref, scopes: dict[Names, Ref], owner: Names | None = None) -> Any:
    """How to make an equal module, and the scopes that it is bound to; `_UNKNOWN` where code of the program is in it.

    `owner`: the path at which a part stands that is bound by its owner.
    """
    cls = class_of(ctx, ref)
    if not all(map(is_library, cls.__mro__)):
        return _UNKNOWN
    bound, path = scope_of(ctx, ref), owner
    if isinstance(bound, Ref):
        path = ctx.known(fields_of(ctx, bound)["path"], "the path of a module")
        if path != owner:
            scopes[path], owner = bound, None
    assert path is not None
    fields = []
    for name in own_fields(cls):
        made = _plain(ctx, ctx.getattr(ref, name), scopes, (*path, name))
        if made is _UNKNOWN:
            return _UNKNOWN
        fields.append((name, made))
    return _Recipe(cls, tuple(fields), path if owner is None else None)


def _plain(ctx: Engine, value: Abstract, scopes: dict[Names, Ref], path: Names) -> Any:
    """The Python value of a field: data, functions of the library, and recipes for modules."""
    if isinstance(value, Array) and value.form is Form.PYTHON:
        return ctx.known(value, "a number that a module of Flax holds")
    if isinstance(value, Const):
        own = value.value
        served = isinstance(own, _DATA) or is_jax_callable(own) or (callable(own) and package_of(own).fixed)
        return own if served else _UNKNOWN
    if is_module(ctx, value):
        return _recipe(ctx, cast(Ref, value), scopes, path)
    cell = ctx.cell(value) if isinstance(value, Ref) else None
    if isinstance(value, Tuple) and value.cls is tuple:
        items: Any = dict(enumerate(value.items))
    elif isinstance(cell, LISTS):
        items = dict(enumerate(list_items(ctx, cell.items)))
    elif isinstance(cell, DictCell):
        items = cell.entries
    else:
        found = found_at(ctx, value)
        return found[1] if found is not None and isinstance(found[1], flax_core().FrozenDict) else _UNKNOWN
    parent, last = path[:-1], path[-1]
    made = {key: _plain(ctx, item, scopes, (*parent, f"{last}_{key}")) for key, item in items.items()}
    if any(item is _UNKNOWN for item in made.values()):
        return _UNKNOWN
    return made if isinstance(cell, DictCell) else tuple(made.values())
