"""Snapshots of what the compiler makes: `write FOLDER`, change the compiler, `write OTHER`, `compare FOLDER OTHER`.

For each program of the contract (those that run the examples among them) and of the errors there is one file with its
typed program and with all by which it meets the world: guards, hidden inputs, the template of its result, mutations,
failure, demands. A change that only moves code leaves every file as it is. Run as `python -m snapshots` with `tests` on
the path, or by `make snapshots TO=FOLDER`.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import difflib
import enum
import hashlib
import io
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import collected_cases
import jax
import numpy as np

import pystage
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.printer import print_function
from pystage.compiler.hlo.walk import functions
from pystage.compiler.pipeline import Staged

TESTS = collected_cases.TESTS
SHOWN = 20
"""So many lines of a difference are shown."""


def programs() -> Iterator[tuple[str, Any, tuple[Any, ...], Mapping[str, Any]]]:
    """Every program: a name for its file, the function, and its arguments."""
    numbers: Counter[str] = Counter()
    for module, param in collected_cases.programs("contract", "errors"):
        function, args, options = param.values
        name = f"{module.replace('test_', '')}.{numbers[module]}-{param.id}"
        numbers[module] += 1
        yield name, function, args, options.get("kwargs") or {}


def snapshot(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """What is made of a call: the program, or why there is none."""
    args, kwargs = copy.deepcopy((args, dict(kwargs)))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            staged = pystage.compile(function, fallback="error").staged(*args, **kwargs)
        except Exception as error:
            return f"{type(error).__name__}: {error}\n".replace(f"{TESTS.parent}/", "")
    return text_of(staged).replace(f"{TESTS.parent}/", "")


def text_of(staged: Staged) -> str:
    """A program and how it meets the world, as text that is the same for the same program."""
    dump = _Dump(staged)
    parts = [print_function(function) for function in functions(staged.program.function)]
    for each in dataclasses.fields(staged.program):
        if each.name != "function":
            parts.append(f"{each.name}: {dump(getattr(staged.program, each.name))}")
    parts.append(f"demands: {dump(staged.demands)}")
    return "\n".join(parts) + "\n"


class _Dump:
    """Any value as text without addresses; what was met before is told by its number."""

    def __init__(self, staged: Staged) -> None:
        self._met: dict[int, int] = {}
        self._kept: list[Any] = [staged]

    def __call__(self, value: Any) -> str:
        match value:
            case None | bool() | int() | float() | complex() | str() | bytes():
                return f"{type(value).__name__}({value!r})" if isinstance(value, np.generic) else repr(value)
            case enum.Enum():
                return str(value)
            case np.ndarray() | np.generic() | jax.Array():
                return _array(value)
            case np.dtype():
                return str(value)
            case type() | types.FunctionType() | types.BuiltinFunctionType() | types.ModuleType():
                return f"<{getattr(value, '__qualname__', None) or value.__name__}>"
            case Function():
                return f"<function {value.name}>"
            case Value():
                return f"<value of {value.type}>"
        if id(value) in self._met:
            return f"#{self._met[id(value)]}"
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        match value:
            case {"__name__": str(module), "__spec__": _}:
                return f"<namespace of {module}>"
            case dict() | types.MappingProxyType():
                return "{" + ", ".join(f"{self(k)}: {self(v)}" for k, v in value.items()) + "}"
            case set() | frozenset():
                return "{" + ", ".join(sorted(map(repr, value))) + "}"
            case tuple() | list():
                return f"{type(value).__name__}({', '.join(map(self, value))})"
        names = getattr(type(value), "__dataclass_fields__", None)
        if names is None:
            return f"<{type(value).__name__}>"
        fields = ", ".join(f"{name}={self(getattr(value, name, None))}" for name in names)
        return f"{type(value).__name__}({fields})"


def _array(value: Any) -> str:
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    if array.size <= 8:
        return f"{array.dtype}{list(array.shape)} {array.tolist()}"
    return f"{array.dtype}{list(array.shape)} {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def write(folder: Path) -> int:
    """Writes all snapshots."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, function, args, kwargs in programs():
        (folder / f"{name.replace('/', '_')[:180]}.txt").write_text(snapshot(function, args, kwargs))
        count += 1
    print(f"{count} programs in {folder}")
    return 0


def compare(first: Path, second: Path) -> int:
    """Tells which snapshots differ; 1 if any does."""
    names = sorted({p.name for folder in (first, second) for p in folder.glob("*.txt")})
    differ = 0
    for name in names:
        texts = [(f / name).read_text().splitlines() if (f / name).exists() else [] for f in (first, second)]
        if texts[0] != texts[1]:
            differ += 1
            print(*list(difflib.unified_diff(*texts, name, name, lineterm="", n=1))[:SHOWN], sep="\n")
    print(f"{differ} of {len(names)} differ")
    return int(differ > 0)


def main(arguments: list[str]) -> int:
    """The command."""
    match arguments:
        case ["write", folder]:
            return write(Path(folder))
        case ["compare", first, second]:
            return compare(Path(first), Path(second))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
