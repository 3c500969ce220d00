"""Compilation of the programs of many calls ahead, in threads: XLA compiles beside Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.progress import Progress

from ..compiler.values.boundary import Form
from .arguments.abstract import ArraySpec
from .executables.background import interruptible


def warm_up(
    name: str, compile_call: Callable[..., None], calls: Iterable[Any], threads: int | None = None
) -> None:
    """Runs `compile_call` for each of the calls, as `CompiledFunction.warm_up` takes them."""
    given = [_arguments(each) for each in calls]
    shown = sys.stderr is not None and sys.stderr.isatty()
    bar = Progress(console=Console(stderr=True), transient=True, disable=not shown)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool, bar:
        task = bar.add_task(f"compiling {name}", total=len(given))
        pending = [pool.submit(compile_call, *each) for each in given]
        try:
            for done in as_completed(pending):
                interruptible(done.result)
                bar.advance(task)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _arguments(call: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, with arrays of zeros in place of abstract ones."""
    args = call if type(call) is tuple else () if type(call) is dict else (call,)
    kwargs = call if type(call) is dict else {}
    made: tuple[tuple[Any, ...], dict[str, Any]] = jax.tree.map(_value, (args, kwargs), is_leaf=_is_abstract)
    return made


def _is_abstract(value: Any) -> bool:
    return isinstance(value, ArraySpec | jax.ShapeDtypeStruct)


def _value(value: Any) -> Any:
    if isinstance(value, jax.ShapeDtypeStruct):
        return jax.numpy.zeros(value.shape, value.dtype, device=value.sharding)
    if not isinstance(value, ArraySpec):
        return value
    match value.form:
        case Form.JAX:
            return jax.numpy.zeros(value.shape, value.dtype)
        case Form.NDARRAY:
            return np.zeros(value.shape, value.dtype)
        case Form.SCALAR:
            return value.dtype.type(0)
        case _:
            return value.dtype.type(0).item()
