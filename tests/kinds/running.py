"""Programs run with arguments of other kinds: `jax.Array`s in place of ndarrays, and narrower floats.

In: a plain function, its arguments, and a `Kind`. The arrays in the arguments, however deep, are replaced; what was one
array stays one. Out: an `Outcome`, by the rules of `check`: the plain run says what is right, also where it now raises (a
`jax.Array` cannot be stored into).
"""

from __future__ import annotations

import copy
import inspect
import itertools
import linecache
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from checking import TOLERANCES, Comparison, Run, compare_runs, fields_of, interpreting, run_of
from outcomes import Outcome
from sampling import ALL

import pystage

LIMIT = 20
"""Seconds that a plain run may take: numbers of few digits may never reach what a loop waits for."""

WIDER = {"float64": 1e-4, "float32": 2e-3, "float16": 2e-2, "bfloat16": 1e-1}
"""Tolerances where numbers of few digits have gone in, which programs add up and may widen or store afterwards."""


@dataclass(frozen=True)
class Kind:
    """What becomes of the arrays in the arguments.

    `jax`: they become `jax.Array`s, with 64 bits if `x64`. `floats`: the element type that floats get.
    """

    name: str
    jax: bool = False
    x64: bool = False
    floats: Any = None

    def of(self, array: np.ndarray) -> Any:
        """An array of this kind with the numbers of `array`."""
        made = array
        if self.floats is not None and array.dtype.kind == "f":
            made = array.astype(self.floats)
        elif self.floats is not None and array.dtype == np.complex128:
            made = array.astype(np.complex64)
        if self.jax:
            return jnp.asarray(made)
        if made is array:
            return array
        made.flags.writeable = array.flags.writeable
        return made

    @property
    def tolerance(self) -> Mapping[str, float]:
        """How far results may differ, by element type: of a wider one by as much as the floats that went in."""
        if self.floats is None and self.x64:
            return TOLERANCES
        least = WIDER.get(np.dtype(self.floats).name, 0.0) if self.floats is not None else 0.0
        return {name: max(tolerance, least) for name, tolerance in WIDER.items()}


KINDS = (
    Kind("jax", jax=True, x64=True),
    Kind("jax32", jax=True),
    Kind("float32", floats=np.float32),
    Kind("bfloat16", floats=ml_dtypes.bfloat16),
    Kind("float16", floats=np.float16),
    Kind("jax bfloat16", jax=True, floats=ml_dtypes.bfloat16),
)

PLAIN = Kind("plain", x64=True)
"""Arrays as they are."""

SAMPLED = KINDS if ALL else tuple([kind for kind in KINDS if kind.name in ("jax", "bfloat16")])
"""The kinds that `make test` runs, or all."""


class Endless(BaseException):
    """A run took longer than `LIMIT`."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises `Endless` in what takes longer; of the main thread."""

    def stop(*_: Any) -> None:
        raise Endless

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_numbers = itertools.count()


def program_of(text: str, names: Iterable[str]) -> Callable[..., Any]:
    """A function of these arguments that returns the value of an expression."""
    source = f"def program({', '.join(names)}):\n    return {text}\n"
    file = f"<call {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    made: Callable[..., Any] = namespace["program"]
    return made


def arrays_in(value: Any, found: dict[int, np.ndarray], seen: set[int]) -> None:
    """Finds the ndarrays in a structure of containers and objects, by id."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biufc":
            found[id(value)] = value
    elif isinstance(value, dict):
        for part in value.values():
            arrays_in(part, found, seen)
    elif isinstance(value, list | tuple):
        for part in value:
            arrays_in(part, found, seen)
    elif type(value).__module__.startswith(("contract", "errors", "programs")):
        for part in fields_of(value).values():
            arrays_in(part, found, seen)


def replaced(args: Any, kind: Kind) -> Any:
    """A deep copy of `args` with arrays of this kind; None where it has none that becomes another."""
    found: dict[int, np.ndarray] = {}
    arrays_in(args, found, set())
    made = {key: kind.of(array) for key, array in found.items()}
    if all(made[key] is array for key, array in found.items()):
        return None
    return copy.deepcopy(args, made)


def run_with(
    function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any] | None, kind: Kind, interpreted: bool
) -> Outcome | None:
    """What becomes of a program with arguments of this kind; None where that changes nothing."""
    with jax.enable_x64(kind.x64):
        given = replaced((args, dict(kwargs or {})), kind)
    return None if given is None else outcome_of(function, *given, kind, interpreted)


def outcome_of(
    function: Callable[..., Any],
    args: Any,
    kwargs: dict[str, Any],
    kind: Kind,
    interpreted: bool,
    staged_as: Callable[..., Any] | None = None,
    zeros: bool = False,
) -> Outcome:
    """What becomes of a program with these arguments.

    `staged_as`: what is staged in its place. `zeros`: whether the signs of zeros are compared.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    staged = pystage.compile(staged_as or function, fallback="error")
    with jax.enable_x64(kind.x64), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with limited(LIMIT):
                plain = run_of(function, args, kwargs)
        except Endless:
            return Outcome("endless")
        try:
            with limited(3 * LIMIT):
                run = _staged(staged, args, kwargs, interpreted)
            comparison = Comparison(kind.tolerance, weak_types=not interpreted, zeros=zeros)
            compare_runs(plain, run, comparison, kind.name, code.co_filename if code else "")
        except pystage.StagingError as error:
            return Outcome(error.diagnostics[0].code, str(error))
        except Endless:
            return Outcome("differs", "the plain run ends, the staged run does not")
        except Exception as error:  # of the comparison, which says so by AssertionError, or by a bug
            return Outcome("differs", f"{error}\n{error.__cause__!r}")
    return Outcome("same" if plain.error is None else "raises")


def _staged(staged: Callable[..., Any], args: Any, kwargs: dict[str, Any], interpreted: bool) -> Run:
    if not interpreted:
        return run_of(staged, args, kwargs)
    with interpreting():
        return run_of(staged, args, kwargs)
