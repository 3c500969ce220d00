"""Scopes of Flax Linen: lookup of a bound module's variables and random keys.

A scope is an instance of Flax's own `Scope`, whose fields are cells: the variables by collection and name, the keys, the
number of uses of each, the reserved names. Its methods are staged from Flax's source (`param`, `variable`, `make_rng`,
`put_variable`, …); this module replaces the parts that use hashes, sets and the identity of objects.
"""

from __future__ import annotations

import sys
import types
from typing import Any, cast

from ....diagnostics.codes_calls import NotServed
from ....infer.interface import (
    Engine,
    class_of,
    entries_of,
    fields_of,
    new_dict,
    new_object,
    object_of,
    set_entry,
    set_field,
)
from ....library.context import Raw
from ....library.python import operators
from ....library.registry import meaning
from ....values.lattice import FALSE, NONE, Abstract, Const, ObjectCell, Ref

NO_NAMES = Const(())


def declare_scopes(core: types.ModuleType) -> None:
    """Declares the meanings of scopes and variables, given the module `flax.core`."""
    scope, module = core.Scope, core.scope
    meaning(scope.__init__)(_init)
    meaning(scope.push)(_push)
    meaning(scope.make_rng)(_make_rng)
    meaning(scope.reserve)(_reserve)
    meaning(scope.name_reserved)(lambda ctx, self, name, col=NONE: Const(is_reserved(ctx, self, name, col)))
    meaning(scope._validate_trace_level)(lambda ctx, self: NONE)
    meaning(module.in_filter)(
        lambda ctx, filter_like, col: Const(
            module.in_filter(filter_of(ctx, filter_like), ctx.known(col, "the name of a collection"))
        )
    )
    meaning(core.meta.unbox)(_unbox)
    meaning(sys.modules["flax.ids"].UUIDManager.__call__)(lambda ctx, self: NONE)


def filter_of(ctx: Engine, value: Raw) -> Any:
    """A filter of collections: a bool, names, or a `DenyList`."""
    cell = object_of(ctx, value)
    if cell is not None:
        return cell.cls(ctx.known(ctx.getattr(value, "deny"), "the collections that are denied"))
    found = ctx.known(value, "which collections are mutable")
    return tuple(found) if isinstance(found, list | set) else found


def _init(
    ctx: Engine,
    self: Abstract,
    variables: Abstract,
    rngs: Raw = NONE,
    name: Abstract = NONE,
    mutable: Abstract = FALSE,
    parent: Abstract = NONE,
    path: Raw = NO_NAMES,
    debug_path: Raw = NONE,
    flags: Raw = NONE,
) -> Abstract:
    """`Scope.__init__`; `flags` is a dict."""
    keys = {} if isinstance(rngs, Const) else entries_of(ctx, cast(Ref, rngs))
    fields: dict[str, Abstract] = {
        "_variables": variables,
        "parent": parent,
        "name": name,
        "path": path,
        "debug_path": path,
        "rngs": new_dict(ctx, {key: _lazy(ctx, key_of) for key, key_of in keys.items()}),
        "mutable": mutable,
        "flags": new_dict(ctx) if isinstance(flags, Const) else cast(Abstract, flags),
        "_root": NONE if isinstance(parent, Const) else root_of(ctx, parent),
        "counts": new_dict(ctx) if isinstance(parent, Const) else fields_of(ctx, parent)["counts"],
        "reservations": new_dict(ctx),
        "adopted": new_dict(ctx),
        "_invalid": FALSE,
    }
    for field, value in fields.items():
        set_field(ctx, self, field, value)
    return NONE


def root_of(ctx: Engine, scope: Abstract) -> Abstract:
    """The outermost scope."""
    found = fields_of(ctx, scope)["_root"]
    return scope if isinstance(found, Const) else found


def _lazy(ctx: Engine, key: Abstract, *suffix: str | int) -> Abstract:
    """A key to which the names on the way to a scope are folded in, once one of its numbers is wanted."""
    cell = object_of(ctx, key)
    if cell is not None:
        if not suffix:
            return key
        before = ctx.known(cell.fields["suffix"], "the names of modules")
        made = {"rng": cell.fields["rng"], "suffix": Const((*before, *suffix))}
    else:
        made = {"rng": key, "suffix": Const(suffix)}
    return new_object(ctx, flax_core().scope.LazyRng, made)


def flax_core() -> Any:
    """The module `flax.core`, which the program has imported."""
    return sys.modules["flax.core"]


def _push(ctx: Engine, self: Abstract, name: Abstract, prefix: Raw = "", reuse: Raw = FALSE) -> Abstract:
    """`Scope.push`: the scope of a module of that name."""
    fields = fields_of(ctx, self)
    own = ctx.known(name, "the name of a module")
    _reserve(ctx, self, name)
    rngs = {key: _lazy(ctx, rng, own) for key, rng in entries_of(ctx, fields["rngs"]).items()}
    path = Const((*ctx.known(fields["path"], "the path of a module"), own))
    scope = new_object(ctx, class_of(ctx, self), {})
    held = [(col, entries_of(ctx, part)) for col, part in entries_of(ctx, fields["_variables"]).items()]
    variables = new_dict(ctx, {col: part[own] for col, part in held if own in part})
    mutable = fields["mutable"]
    _init(ctx, scope, variables, new_dict(ctx, rngs), name, mutable, self, path, flags=fields["flags"])
    return scope


def _make_rng(ctx: Engine, self: Abstract, name: Raw = "params") -> Abstract:
    """`Scope.make_rng`: the next key of a scope; `counts` has how often each was asked for, by its path and name."""
    fields = fields_of(ctx, self)
    rngs, wanted = entries_of(ctx, fields["rngs"]), ctx.known(name, "the name of a key")
    if wanted not in rngs:
        if "params" not in rngs:
            own = ctx.known(fields["name"], "the name of a module")
            ctx.raise_(sys.modules["flax.errors"].InvalidRngError(f'{own} needs PRNG for "{wanted}"'))
        wanted = "params"
    key = ctx.known(fields["path"], "the path of a module"), wanted
    before = entries_of(ctx, fields["counts"]).get(key, Const(0))
    count = operators.binary(ctx, "+", before, Const(1))
    set_entry(ctx, fields["counts"], key, count)
    lazy = _lazy(ctx, rngs[wanted], ctx.known(count, "how often a key was used"))
    return ctx.call(ctx.getattr(lazy, "as_jax_rng"), [])


def is_reserved(ctx: Engine, self: Abstract, name: Raw, col: Raw = NONE) -> bool:
    """`Scope.name_reserved`."""
    names = entries_of(ctx, fields_of(ctx, self)["reservations"])
    taken = names.get(ctx.known(name, "the name of a variable or a module"))
    if taken is None:
        return False
    found, wanted = cast(Const, taken).value, ctx.known(col, "the name of a collection")
    return None in found or wanted is None or wanted in found


def _reserve(ctx: Engine, self: Abstract, name: Abstract, col: Raw = NONE) -> Abstract:
    """`Scope.reserve`."""
    key = ctx.known(name, "the name of a variable or a module")
    if not isinstance(key, str):
        ctx.raise_(TypeError(f'The type of scope "{{name}}" should be string but it is {type(key)}'))
    if is_reserved(ctx, self, name, col):
        ctx.raise_(ValueError(f'Duplicate use of scope name: "{key}"'))
    names = fields_of(ctx, self)["reservations"]
    before = entries_of(ctx, names).get(key, Const(frozenset()))
    taken = cast(Const, before).value | {ctx.known(col, "the name of a collection")}
    set_entry(ctx, names, key, Const(taken))
    return NONE


def _unbox(ctx: Engine, tree: Abstract) -> Abstract:
    """`flax.core.meta.unbox` of what holds no boxes; PS606 for one that does."""
    for cell in ctx.state.reachable([tree]):
        content = ctx.state.get(cell)
        if isinstance(content, ObjectCell) and issubclass(content.cls, flax_core().AxisMetadata):
            name, why = content.cls.__qualname__, "it says how a variable is laid out over devices"
            instead = "unbox the variables outside of the staged function (`flax.core.meta.unbox`)"
            ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    return tree
