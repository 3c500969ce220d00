"""`compile`: from a plain callable to a compiled one."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from .compiler.diagnostics.diagnostic import Diagnostic
from .config import FALLBACKS, TIERS, config
from .deferred import deferred
from .on_demand import LAZILY, continuations_of, explain, infer_program, offload
from .runtime.arguments.layouts import Layouts
from .runtime.arguments.targets import target_of
from .runtime.function import BoundFunction, CompiledFunction, Fallback, Offloaded
from .runtime.tiers import Tier

_buckets_of = deferred("pystage.runtime.arguments.annotations", "buckets_of")
P = ParamSpec("P")
R = TypeVar("R")


@overload
def compile(
    fn: Callable[P, R],
    *,
    fallback: Fallback | None = None,
    tier: Tier | None = None,
    donate: int | str | Iterable[int | str] = (),
    in_shardings: Any = None,
    out_shardings: Any = None,
    bucket: Mapping[str, Mapping[int, Any]] | None = None,
    name: str | None = None,
) -> CompiledFunction[P, R]: ...


@overload
def compile(
    fn: None = None,
    *,
    fallback: Fallback | None = None,
    tier: Tier | None = None,
    donate: int | str | Iterable[int | str] = (),
    in_shardings: Any = None,
    out_shardings: Any = None,
    bucket: Mapping[str, Mapping[int, Any]] | None = None,
    name: str | None = None,
) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]: ...


def compile(
    fn: Callable[..., Any] | None = None,
    *,
    fallback: Fallback | None = None,
    tier: Tier | None = None,
    donate: int | str | Iterable[int | str] = (),
    in_shardings: Any = None,
    out_shardings: Any = None,
    bucket: Mapping[str, Mapping[int, Any]] | None = None,
    name: str | None = None,
) -> Any:
    """Compiles a plain Python function, from its source, into one XLA program for each kind of arguments.

    `fn` may be a function, a method, a lambda, a nested function, a `functools.partial` or an object with
    `__call__`; without it, `compile` gives a decorator. The compiled function takes and gives what the plain
    one does: arrays of NumPy and JAX, Python numbers, lists, tuples, dicts, plain objects. What the plain
    function changes is changed, what it raises is raised.

        >>> @pystage.compile
        ... def newton(a, tol):
        ...     x = a
        ...     while abs(x * x - a) > tol:
        ...         x = 0.5 * (x + a / x)
        ...     return x
        >>> round(newton(2.0, 1e-9), 9)
        1.414213562

    `fallback`: what happens to a call that cannot be staged. `"lazy"` runs the plain function, those parts of it staged
    that can be (`residual` shows them), with lazy tensors in place of large ndarrays (`pystage.lazy`); `"python"` runs it as
    it is; both with one FallbackWarning for each reason. `"error"` raises StagingError. By default it is
    `pystage.config.fallback`; the environment variable `PYSTAGE_FALLBACK` overrides all.

    `tier`: `"auto"` runs calls as plain Python until compiling pays: until plain runs have cost as much as a program costs.
    A call that will run long is compiled at once, and so are those with `jax.Array`s, under JAX's transformations and
    with `fallback="error"`. `"compiled"` compiles from the first call on, `"plain"` never; the parts of what cannot be
    staged as a whole are compiled as with `"auto"`. By default it is `pystage.config.tier`; the
    environment variable `PYSTAGE_TIER` overrides all.

    `donate`: names or positions of
    arguments whose `jax.Array`s the program may overwrite; they cannot be used after the call. `name`: the name of the
    compiled module, by default the function's own.

    `in_shardings`: how the arrays among the arguments are laid out over devices, as one `jax.sharding.Sharding` for all, a
    tuple with one (or None) for each positional argument, or a dict by name. `out_shardings`: the same of the `jax.Array`s
    that the function returns, for all, or by item of a returned tuple, list or dict. They change no value.

    `bucket`: by parameter and axis, which sizes share a program: `{"x": {0: "pow2"}}` those between two powers of two,
    `{"x": {0: 128}}` those between two multiples, `{"x": {0: (100, 1000)}}` those up to each of these. The arrays are
    padded, and what was added takes part in nothing. Annotations say the same: `x: Annotated[np.ndarray,
    pystage.Bucket({0: "pow2"})]`.

    Raises TypeError if `fn` is not callable or is a class, ValueError for an unknown fallback or tier, or a donated
    argument that the function does not have.
    """
    if fallback is not None and fallback not in FALLBACKS:
        raise ValueError(f"fallback must be one of {', '.join(map(repr, FALLBACKS))}, not {fallback!r}")
    if tier is not None and tier not in TIERS:
        raise ValueError(f"tier must be one of {', '.join(map(repr, TIERS))}, not {tier!r}")
    donated = frozenset((donate,) if isinstance(donate, int | str) else donate)
    options: dict[str, Any] = {
        "fallback": fallback,
        "tier": tier,
        "donate": donated,
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "bucket": bucket,
        "name": name,
    }
    if fn is None:
        return functools.partial(compile, **options)
    if isinstance(fn, type):
        raise TypeError(
            f"pystage.compile takes a function; {fn.__qualname__} is a class: compile its methods"
        )
    if isinstance(fn, CompiledFunction | BoundFunction):
        raise TypeError(f"{fn!r} is compiled already")
    if not callable(fn) and not isinstance(fn, classmethod):
        raise TypeError(f"pystage.compile takes a function, not {fn!r}")
    plain = target_of(fn).fn
    if getattr(plain, "__annotations__", None):
        bucket = {**_buckets_of(plain), **(bucket or {})} or bucket
    if bucket is not None and not (in_shardings is None and out_shardings is None):
        raise ValueError(
            "buckets are of arrays of one device: they go with no `in_shardings` and no `out_shardings`"
        )
    return CompiledFunction(
        fn,
        fallback=functools.partial(chosen_fallback, fallback),
        tier=functools.partial(chosen_tier, tier),
        donate=donated,
        name=name,
        infer=infer_program,
        lazily=LAZILY,
        offload=_offload,
        continuations=_continuations,
        explain=explain,
        layouts=Layouts(in_shardings, out_shardings),
        bucket=bucket,
        again=functools.partial(compile, **options),
    )


@contextlib.contextmanager
def plain() -> Iterator[None]:
    """A context in which calls of compiled functions run as plain Python, in all threads, whatever their tier and fallback.

        >>> compiled = pystage.compile(lambda x: x + 1, tier="compiled")
        >>> with pystage.plain():  # a debugger stops in it, coverage counts its lines
        ...     compiled(1.0), compiled.programs
        (2.0, 0)

    Derivatives have no plain run and stay programs. The environment variable `PYSTAGE_TIER=plain` does the same for a whole
    process.
    """
    _enter_plain(1)
    try:
        yield
    finally:
        _enter_plain(-1)


def _enter_plain(times: int) -> None:
    """Exchanges what a call runs, so that calls cost nothing for the switch."""
    with _switching:
        if not _entered[0]:
            _calls[0] = CompiledFunction.__call__
        _entered[0] += times
        call: Any = _plain_call if _entered[0] else _calls[0]
        CompiledFunction.__call__ = call  # type: ignore[method-assign]


_switching = threading.Lock()
_entered = [0]
_calls: list[Callable[..., Any]] = [CompiledFunction.__call__]
"""What a call ran before, which may count it."""


def _plain_call(function: CompiledFunction[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    if not function.runs_plainly:
        returned: R = _calls[0](function, *args, **kwargs)
        return returned
    plainly: Callable[P, R] = function.__pystage_function__
    return plainly(*args, **kwargs)


def chosen_fallback(fallback: Fallback | None) -> Fallback:
    """What happens to a call that cannot be staged: `PYSTAGE_FALLBACK`, else what was asked for, else the setting."""
    chosen = os.environ.get("PYSTAGE_FALLBACK") or fallback or config.fallback
    if chosen not in FALLBACKS:
        raise ValueError(f"PYSTAGE_FALLBACK must be one of {', '.join(FALLBACKS)}, not {chosen!r}")
    return chosen  # type: ignore[return-value]


def chosen_tier(tier: Tier | None) -> Tier:
    """When a function is compiled: `PYSTAGE_TIER`, else what was asked for, else the setting."""
    chosen = os.environ.get("PYSTAGE_TIER") or tier or config.tier
    if chosen not in TIERS:
        raise ValueError(f"PYSTAGE_TIER must be one of {', '.join(TIERS)}, not {chosen!r}")
    return chosen  # type: ignore[return-value]


def _offload(fn: Callable[..., Any], refused: Sequence[Diagnostic] | None = None) -> Offloaded:
    parts: Offloaded = offload(fn, compile_part, refused)
    return parts


def _continuations(fn: Callable[..., Any]) -> Any:
    return continuations_of(fn, functools.partial(compile_part, tier="compiled"))


def compile_part(
    fn: Callable[..., Any], name: str | None = None, *, tier: Tier = "auto"
) -> CompiledFunction[..., Any]:
    """Compiles a part of a function that cannot be staged as a whole: what is refused of it is left to the caller."""
    return CompiledFunction(
        fn,
        fallback=lambda: "caller",
        tier=lambda: tier,
        donate=frozenset(),
        name=name,
        infer=infer_program,
        lazily=LAZILY,
        continuations=_continuations,
        explain=explain,
    )
