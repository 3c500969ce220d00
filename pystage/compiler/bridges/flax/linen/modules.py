"""Modules of Flax Linen: `init` and `apply` bind them to a scope, and their methods are staged.

A module is an object like any other, of the program's class or of the library's. Bound to a scope (`scopes.py`), it finds
its variables by its path. Flax wraps every method to name submodules, to run `setup` once and to track the current module,
in thread-local state and by weak references; here cells hold that state, so that branches, loops and derivatives handle it
as any other. A method of a library layer becomes a `JaxCall` (`layers.py`) if JAX can trace it, and is staged from its
source if it contains parts of the program.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ....diagnostics.codes_calls import NotServed
from ....infer.interface import Engine, captured, entries_of, fields_of, is_dict, new_dict
from ....library.context import Raw
from ....library.registry import meaning
from ....library.rules.unsupported import refused
from ....values.boundary import CallableMember, Path
from ....values.lattice import FALSE, NONE, TRUE, Abstract, Const, ListCell, Method, Ref, Tuple
from .binding import (
    at_work,
    clone,
    copied,
    copy,
    flag_of,
    flax_errors,
    getattr_,
    parent_of,
    post_init,
    release_names,
    reset,
    scope_of,
    set_flag,
    setattr_,
    try_setup,
    working,
)
from .layers import call_of_layer
from .scopes import declare_scopes, filter_of, flax_core

_LIFTED = (
    "scan", "vmap", "jit", "remat", "while_loop", "cond", "switch", "custom_vjp", "jvp", "vjp", "grad",
    "value_and_grad", "remat_scan", "map_variables", "add_metadata_axis", "share_scope", "intercept_methods",
)  # fmt: skip
"""Functions of Linen that take the scopes of modules apart and put them together again."""


def declare(linen: types.ModuleType) -> None:
    """Declares the meanings of Linen's modules."""
    module: Any = linen.Module
    declare_scopes(flax_core())
    meanings: dict[str, Callable[..., Abstract]] = {
        "apply": _apply,
        "init": _init,
        "init_with_output": _init_with_output,
        "clone": clone,
        "copy": copy,
        "__post_init__": post_init,
        "__setattr__": setattr_,
        "__getattr__": getattr_,
        "_call_wrapped_method": _call_wrapped,
    }
    for name, function in meanings.items():
        meaning(getattr(module, name))(function)
    parent = vars(linen.Dense)["parent"]
    meaning(type(parent).__get__)(lambda ctx, self, obj, cls=NONE: parent_of(ctx, obj))
    for name in ("bind", "unbind", "lazy_init", "tabulate", "module_paths"):
        instead = "use `init` and `apply`, or call it outside of the staged function"
        meaning(getattr(module, name))(
            refused(f"flax.linen.Module.{name}", "it gives a bound module", instead)
        )
    for name in _LIFTED:
        why, instead = (
            "it takes the variables of modules apart",
            "write a loop, or use `pystage.vmap` or `grad`",
        )
        meaning(getattr(linen, name))(refused(f"flax.linen.{name}", why, instead))


# ---------------------------------------------------------------- init and apply


def _apply(
    ctx: Engine,
    /,
    self: Abstract,
    variables: Abstract,
    *args: Abstract,
    rngs: Raw = NONE,
    method: Raw = NONE,
    mutable: Raw = FALSE,
    capture_intermediates: Raw = FALSE,
    **kwargs: Abstract,
) -> Abstract:
    """`module.apply(variables, *args)`: the result, with the mutable variables after it where some are."""
    core = flax_core()
    which = filter_of(ctx, mutable)
    if not (isinstance(capture_intermediates, Const) and capture_intermediates.value is False):
        which = core.scope.union_filters(which, "intermediates")
    scope = _bind(ctx, variables, rngs, which, {})
    result = _run(ctx, self, scope, method, capture_intermediates, args, kwargs)
    return result if which is False else Tuple((result, _mutated(ctx, scope)))


def _init_with_output(
    ctx: Engine,
    /,
    self: Abstract,
    rngs: Abstract,
    *args: Abstract,
    method: Raw = NONE,
    mutable: Raw = NONE,
    capture_intermediates: Raw = FALSE,
    **kwargs: Abstract,
) -> Abstract:
    """`module.init_with_output(rngs, *args)`: the result, and the variables that it makes."""
    core = flax_core()
    which = filter_of(ctx, mutable)
    if which is None:
        which = core.DenyList("intermediates")
    scope = _bind(ctx, new_dict(ctx), rngs, which, {"initializing": TRUE})
    result = _run(ctx, self, scope, method, capture_intermediates, args, kwargs)
    return Tuple((result, _mutated(ctx, scope)))


def _init(ctx: Engine, /, self: Abstract, rngs: Abstract, *args: Abstract, **kwargs: Abstract) -> Abstract:
    """`module.init(rngs, *args)`: the variables."""
    return cast(Tuple, _init_with_output(ctx, self, rngs, *args, **kwargs)).items[1]


def _bind(ctx: Engine, variables: Abstract, rngs: Raw, mutable: Any, flags: Mapping[str, Abstract]) -> Ref:
    """A new outermost scope; collections that may change are copied."""
    if not is_dict(ctx, variables):
        variables = ctx.call(Const(flax_core().unfreeze), [variables])
    if not is_dict(ctx, variables):
        ctx.raise_(TypeError("the variables of a module must be a dict"))
    if not isinstance(rngs, Const) and not is_dict(ctx, rngs):
        rngs = new_dict(ctx, {"params": rngs})
    collections = {
        name: _copied(ctx, part) if flax_core().scope.in_filter(mutable, name) else part
        for name, part in entries_of(ctx, variables).items()
    }
    params = collections.get("params")
    if params is not None and is_dict(ctx, params) and "params" in entries_of(ctx, params):
        ctx.raise_(ValueError("Expect the `variables` to be a dict of collections, without `params` twice"))
    named = {"rngs": rngs, "mutable": Const(mutable), "flags": new_dict(ctx, flags)}
    scope = ctx.call(Const(flax_core().Scope), [new_dict(ctx, collections)], named)
    return cast(Ref, scope)


def _copied(ctx: Engine, value: Abstract) -> Abstract:
    """A dict of dicts, copied all the way down."""
    if not is_dict(ctx, value):
        return value
    return new_dict(ctx, {k: _copied(ctx, v) for k, v in entries_of(ctx, value).items()})


def _mutated(ctx: Engine, scope: Ref) -> Abstract:
    """The mutable variables of a scope after a run."""
    mutable = ctx.known(fields_of(ctx, scope)["mutable"], "which collections are mutable")
    found = entries_of(ctx, fields_of(ctx, scope)["_variables"])
    return new_dict(ctx, {k: v for k, v in found.items() if flax_core().scope.in_filter(mutable, k)})


def _run(
    ctx: Engine,
    module: Abstract,
    scope: Ref,
    method: Raw,
    capture: Raw,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
) -> Abstract:
    """Calls a method of a copy of the module that is bound to the scope."""
    _require_no_interceptors(ctx)
    bound = copied(ctx, cast(Ref, module), {"parent": scope}, [])
    chosen = ctx.known(method, "the method of a module") if isinstance(method, Const) else None
    if chosen is None and isinstance(method, Const):
        chosen = "__call__"
    if isinstance(chosen, str):
        function, given = ctx.getattr(bound, chosen), list(args)
    else:
        function = method.function if isinstance(method, Method) else cast(Abstract, method)
        given = [bound, *args]
    top, _ = at_work(ctx)
    if isinstance(capture, Const) and capture.value is True:
        capture = TRUE
    with working(ctx, top, cast(Abstract, capture)):
        return ctx.call(function, given, kwargs)


def _require_no_interceptors(ctx: Engine) -> None:
    """PS606 where functions of the program stand around all methods (`nn.intercept_methods`)."""
    stack = sys.modules["flax.linen.module"]._global_interceptor_stack
    path = Path(CallableMember(stack, "the interceptors of flax.linen")).attribute("_storage")
    if entries := cast(ListCell, ctx.cell(cast(Ref, captured(ctx, path, stack._storage)))).items:
        name, why = "flax.linen.intercept_methods", f"{len(entries)} functions stand around every method"
        instead = "call the staged function outside of it"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))


def _call_wrapped(ctx: Engine, self: Abstract, fun: Abstract, args: Abstract, kwargs: Abstract) -> Abstract:
    """`Module._call_wrapped_method`: a method of a module, with all that Flax does around it."""
    ref = cast(Ref, self)
    function = ctx.known(fun, "a method of a module")
    name = getattr(function, "__name__", "unnamed_function")
    compact, given, named = hasattr(function, "compact"), cast(Tuple, args).items, entries_of(ctx, kwargs)
    bound = not isinstance(scope_of(ctx, ref), Const)
    errors = flax_errors()
    if name == "setup" and not bound:
        ctx.raise_(errors.CallSetupUnboundModuleError())
    result: Abstract | None = None
    if name != "setup":
        result = call_of_layer(ctx, ref, name, given, named) if bound else None
        if result is None:
            try_setup(ctx, ref)
    if result is None:
        if compact and not bound:
            ctx.raise_(errors.CallCompactUnboundModuleError())
        result = _run_method(ctx, ref, fun, name, compact, given, named)
    _captured(ctx, ref, name, result)
    return result


def _run_method(
    ctx: Engine,
    ref: Ref,
    fun: Abstract,
    name: str,
    compact: bool,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
) -> Abstract:
    flag = "in_setup" if name == "setup" else "in_compact_method" if compact else ""
    again = bool(flag) and flag_of(ctx, ref, flag)
    if flag:
        set_flag(ctx, ref, flag, TRUE)
    with working(ctx, ref, at_work(ctx)[1]):
        result = ctx.call(fun, [ref, *args], kwargs)
    if compact:
        release_names(ctx, ref)
    if flag and not again:
        reset(ctx, ref)
    return result


def _captured(ctx: Engine, ref: Ref, name: str, result: Abstract) -> None:
    """Keeps the result of a method where `capture_intermediates` says so."""
    capture = at_work(ctx)[1]
    if isinstance(capture, Const) and isinstance(capture.value, bool):
        wanted = capture.value and name == "__call__"
    else:
        told = ctx.truth(ctx.call(capture, [ref, Const(name)]))
        wanted = ctx.known(told, "whether the result of a method is captured")
    if wanted:
        ctx.call(ctx.getattr(ref, "sow"), [Const("intermediates"), Const(name), result])
