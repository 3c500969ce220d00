"""Private JAX API that the runtime uses, each with a public fallback."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jaxlib
import numpy as np

from ...deferred import deferred

_X64: Any = jax.enable_x64
_register_backend_factory = deferred("jax.extend.backend", "register_backend_factory")


def _enter_x64() -> Any:
    context = jax.enable_x64(True)
    context.__enter__()
    return context


def _leave_x64(context: Any) -> None:
    if context is not None:
        context.__exit__(None, None, None)


# What the context manager does, without making one: 0.1 µs instead of 0.8 µs, at every call with ndarrays.
_CAN_SWAP = hasattr(_X64, "swap_local") and getattr(_X64, "_update_thread_local_hook", _X64) is None

enable_x64: Callable[[], Any] = functools.partial(_X64.swap_local, True) if _CAN_SWAP else _enter_x64
"""Enables 64-bit types in this thread; gives what `restore_x64` takes."""
restore_x64: Callable[[Any], None] = _X64.set_local if _CAN_SWAP else _leave_x64
"""Ends what `enable_x64` began."""


def run_with_x64(run: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """`run(*inputs)` with 64-bit types enabled in this thread."""
    previous = None  # an interrupt may come between the call and the assignment
    try:
        previous = enable_x64()
        return run(*inputs)
    finally:
        restore_x64(previous)


def runs_alone(module: Any) -> bool:
    """True if what is lowered into JAX's module (`ModuleContext`) certainly runs on one device.

    JAX keeps the number of devices with what it knows of their axes. What it exports may be part of a program for
    several later.
    """
    exported = getattr(getattr(module, "lowering_parameters", None), "for_export", True)
    return not exported and getattr(module.axis_context, "num_devices", None) == 1


_config = getattr(getattr(jax, "_src", None), "config", None)
_core = getattr(getattr(jax, "_src", None), "core", None)


def _public_settings() -> Any:
    config = jax.config
    return (
        config.jax_enable_x64,
        config.jax_default_device,
        config.jax_default_matmul_precision,
        config.jax_numpy_dtype_promotion,
        config.jax_numpy_rank_promotion,
        config.jax_disable_jit,
        jax.sharding.get_abstract_mesh(),
    )


thread_settings: Callable[[], Any] = getattr(_config, "trace_context", _public_settings)
"""JAX's settings in this thread that are keys of its caches; to be compared."""

_is_clean: Callable[[], bool] = getattr(_core, "trace_state_clean", lambda: False)


def is_tracing() -> bool:
    """True if JAX is tracing in this thread."""
    return not _is_clean()


_jaxlib = getattr(jaxlib, "_jax", None)
_xla_bridge = getattr(getattr(jax, "_src", None), "xla_bridge", None)

has_backend: Callable[[], bool] = getattr(_xla_bridge, "backends_are_initialized", lambda: True)
"""True if XLA has started its threads, which no fork has."""


_distributed = getattr(getattr(jax, "_src", None), "distributed", None)


def coordinator_address() -> str | None:
    """HOST:PORT where the processes of `jax.distributed` meet, if JAX tells it."""
    return getattr(getattr(_distributed, "global_state", None), "coordinator_address", None)


def exchange_at(address: str) -> None:
    """Has the CPUs of other processes reach this one through gloo at an address of this machine; before XLA has started.

    By default, or where JAX has no such API, that is the address that this machine has for its own name, which is often
    one that no other machine reaches (127.0.1.1).
    """
    make_client: Any = getattr(_xla_bridge, "make_cpu_client", None)
    make_collectives: Any = getattr(_jaxlib, "make_gloo_tcp_collectives", None)
    client = getattr(getattr(_distributed, "global_state", None), "client", None)
    if None in (make_client, make_collectives, client):
        return
    _register_backend_factory(
        "cpu",
        lambda: make_client(collectives=make_collectives(distributed_client=client, hostname=address)),
        fail_quietly=False,
    )


def forget(jitted: Any) -> None:
    """Clears the fast-path caches of a `jax.jit`; the next calls fill them again.

    It keeps of inputs for which tracing raised that none shall be quick, and that the first call with some inputs has
    not come back.
    """
    forget = getattr(jitted, "_clear_cache", None) or jitted.clear_cache
    forget()


_compilation_cache: Any = getattr(getattr(jax, "_src", None), "compilation_cache", None)
_no_minimum = getattr(_config, "persistent_cache_min_compile_time_secs", None)


@contextlib.contextmanager
def executables_from(cache: Any) -> Iterator[None]:
    """A `with` block in which JAX asks `cache` (`get`, `put`) for what it compiles in this thread, however quickly.

    Where the user has given JAX a folder for executables, or JAX has no such API, JAX's settings stay in force. A thread
    that ends the block while another is in one leaves that without a cache.
    """
    ours = jax.config.jax_compilation_cache_dir is None and hasattr(_compilation_cache, "_cache_initialized")
    if ours:
        _compilation_cache._cache, _compilation_cache._cache_initialized = cache, True
    try:
        with _no_minimum(0.0) if callable(_no_minimum) else contextlib.nullcontext():
            yield
    finally:
        if ours:
            _compilation_cache._cache, _compilation_cache._cache_initialized = None, False


_dtypes = getattr(getattr(jax, "_src", None), "dtypes", None)


def register_as_ndarray(cls: type) -> None:
    """Lets JAX's functions take objects of a class that `np.asarray` makes an ndarray of, as they take ndarrays.

    Where JAX has no such tables, they refuse them.
    """
    for module, name in ((_core, "pytype_aval_mappings"), (_dtypes, "canonicalize_value_handlers")):
        table = getattr(module, name, None)
        with contextlib.suppress(TypeError, KeyError, AttributeError):
            table[cls] = functools.partial(_of_ndarray, table[np.ndarray])  # type: ignore[index]


def _of_ndarray(function: Callable[..., Any], value: Any, *args: Any, **kwargs: Any) -> Any:
    return function(np.asarray(value), *args, **kwargs)
