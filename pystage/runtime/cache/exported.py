"""Programs as bytes, for a process that does not have the function: `CompiledFunction.export`, `pystage.load`.

The rows are those of the cache folder (`encoding.py`). Where another process finds its own functions and variables again
by guards there, here the program is cut off from its environment: what it reads of globals, closures and defaults is a value
in the file, and guards on them hold for ever. What stays outside is named: classes and functions of libraries, and classes
of the user's, which must be loaded. Arrays stand behind the rows as they are in memory.
"""

from __future__ import annotations

import enum
import importlib
import json
import linecache
import os
import sys
import types
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ...compiler.diagnostics.span import Span
from ...compiler.pipeline import Staged
from ...compiler.policy import USER, is_library_file, package_of_module
from ...compiler.recursion import deep_recursion
from ...compiler.values.boundary import (
    Argument,
    Global,
    Guard,
    GuardKind,
    Path,
    PathTemplate,
    Program,
    Spec,
    Write,
)
from ...compiler.values.capacity import AllocationSite
from ...compiler.values.instances import slots_of
from ...records import dataclass
from ...version import __version__
from ..arguments.inputs import is_key
from .encoding import (
    Decoder,
    Encoder,
    NotEncodable,
    NotFound,
    Row,
    described,
    dtype_of,
    is_own,
    is_own_module,
)
from .keys import source_digest
from .names import NAMED, find
from .store import sealed, unsealed

_MAGIC = b"pystage program 1\n"
_VALUES = (GuardKind.EQUAL, GuardKind.ABSENT, GuardKind.WRITABLE, GuardKind.SAME, GuardKind.DISTINCT)
"""Guards on arguments that are kept. The others are about code and classes: the code is in the program, classes are in the
specs."""


@dataclass(frozen=True, slots=True, eq=False)
class ExportedProgram:
    """A program, and the calls that it serves.

    `parameters`: name, kind (as of `inspect.Parameter`), and whether there is a default. `first`, `first_named`: arguments
    that the callable itself holds, as a bound method holds its object; `held` are their names. `args`, `kwargs`: the
    specs of all arguments.
    `capacities`, `skips_writes`: as of `Request`.
    """

    name: str
    qualname: str
    module: str
    doc: str | None
    span: Span | None
    parameters: tuple[tuple[str, int, bool], ...]
    first: tuple[Any, ...]
    first_named: Mapping[str, Any]
    held: tuple[str, ...]
    args: tuple[Spec, ...]
    kwargs: Mapping[str, Spec]
    x64: bool
    donate: frozenset[int | str]
    staged: Staged
    capacities: Mapping[AllocationSite, int]
    skips_writes: bool


class Unread(enum.Enum):
    """A stand-in for parts of objects that the program does not read."""

    HERE = "left out"


class HeldObject:
    """A stand-in for an object that a callable holds, whose class may be missing: it has the attributes of the object."""

    __slots__ = ("__dict__",)


class _Names:
    """`Outside` of an exported program: its captured variables, arrays, and names of libraries.

    `held`: the parameters for arguments that the callable itself holds.
    """

    def __init__(
        self,
        arrays: Sequence[np.ndarray[Any, Any]] = (),
        held: frozenset[str] = frozenset(),
    ) -> None:
        self._held = held
        self.paths: dict[tuple[Any, ...], tuple[str, Path]] = {}
        """What was met of the environment, by the key of its path: a name of its own, and the path."""
        self.variables: dict[str, Any] = {}
        """The environment of a program that was loaded."""
        self.arrays = list(arrays)
        self.lines: dict[str, dict[int, str]] = {}

    # -- to bytes

    def name(self, value: Any) -> Row | None:
        """As declared by `Outside`."""
        if isinstance(value, Path):
            return self._captured(value)
        if isinstance(value, PathTemplate) and self._is_held(value.path):
            raise NotEncodable(f"it gives back `{value.path}`")
        if isinstance(value, Span):
            self._note_line(value)
            return None
        if isinstance(value, jax.Array):
            return self._jax_array(value)
        if type(value) in (np.ndarray, np.recarray):
            return [
                "array",
                self._array(value),
                bool(value.flags.writeable),
                type(value) is np.recarray,
            ]
        if isinstance(value, enum.Enum) and not is_own(type(value)):
            return ["member", *self._place(type(value)), value.name]
        if not isinstance(value, NAMED) and (
            getattr(value, "__qualname__", None) is None or is_own(type(value))
        ):
            return None
        return ["named", *self._place(value)]

    def _captured(self, path: Path) -> Row | None:
        if isinstance(path.root, Argument):
            return None
        owner = path.owner
        name, _ = self.paths.setdefault(owner.key, (f"{owner} #{len(self.paths)}", owner))
        return ["variable", name, *[field for _, field in path.steps[len(owner.steps) :]]]

    def _is_held(self, path: Path) -> bool:
        return isinstance(path.root, Argument) and path.root.name in self._held

    def _note_line(self, span: Span) -> None:
        lines = self.lines.setdefault(span.file, {})
        if not is_library_file(span.file):
            lines[span.line] = linecache.getline(span.file, span.line)

    def _array(self, value: np.ndarray[Any, Any]) -> int:
        if value.dtype.hasobject:
            raise NotEncodable(f"an array of the element type {value.dtype}")
        described(value.dtype)
        self.arrays.append(value)
        return len(self.arrays) - 1

    def _jax_array(self, value: jax.Array) -> Row:
        if is_key(value.dtype):
            data = np.asarray(jax.random.key_data(value))
            return ["key", self._array(data), str(jax.random.key_impl(value))]
        if value.weak_type and value.ndim:
            raise NotEncodable("a weakly typed array")
        return ["weak" if value.weak_type else "jax", self._array(np.asarray(value))]

    def _place(self, value: Any) -> Row:
        """Module and name, and for a user class the names of its fields."""
        module = getattr(value, "__module__", None) or "builtins"
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        users = _is_users(str(module))
        if isinstance(value, types.ModuleType) or (users and not isinstance(value, type)):
            raise NotEncodable(f"it refers to the {type(value).__name__} {name}")
        for place in (module, "numpy", "builtins"):
            if isinstance(place, str) and isinstance(name, str) and find(place, name) is value:
                return [place, name, _fields(value) if users else None]
        raise NotEncodable(f"it refers to {module}.{name}, which is not found by its name")

    # -- from bytes

    def object(self, name: Row) -> Any:
        """As declared by `Outside`. ImportError for a class that is not loaded."""
        match name:
            case ["variable", str(variable), *fields] if all(isinstance(name, str) for name in fields):
                return Path(Global(self.variables, variable)).field(fields)
            case ["array", int(number), bool(writeable), bool(by_attribute)]:
                found = self.arrays[number].view(np.recarray if by_attribute else np.ndarray)
                return found.copy() if writeable else found
            case ["jax", int(number)]:
                with jax.enable_x64(True):
                    return jax.numpy.asarray(self.arrays[number])
            case ["weak", int(number)]:
                found = self.arrays[number]
                with jax.enable_x64(found.dtype.itemsize > 4):
                    return jax.numpy.asarray(found.item())
            case ["key", int(number), str(generator)]:
                return jax.random.wrap_key_data(jax.numpy.asarray(self.arrays[number]), impl=generator)
            case ["named", str(module), str(qualname), fields]:
                return self._named(module, qualname, fields)
            case ["member", str(module), str(qualname), fields, str(member)]:
                return self._named(module, qualname, fields)[member]
        raise NotFound(f"there is no {name}")

    def _named(self, module: str, name: str, fields: list[str] | None) -> Any:
        if fields is None and _is_users(module):
            raise NotFound(f"{module}.{name} is none of a library's")
        if fields is None:
            importlib.import_module(module)
        found = find(module, name)
        if found is None:
            raise ImportError(
                f"the exported program needs `{module}.{name}`: import its module before you load",
                name=module,
            )
        if fields is not None and (not isinstance(found, type) or _fields(found) != fields):
            raise ImportError(
                f"`{module}.{name}` is not as when the program was exported, with {fields}", name=module
            )
        return found


def _is_users(module: str) -> bool:
    """True for a module of the user's, or of a package that the compiler does not know."""
    known = is_own_module(module) or module.partition(".")[0] in sys.stdlib_module_names | {"builtins"}
    return module == "__main__" or (not known and package_of_module(module) is USER)


def _fields(cls: Any) -> list[str]:
    """The names of the fields of a class that says them, by which its objects are laid out."""
    named = getattr(cls, "_fields", None) or getattr(cls, "__dataclass_fields__", None)
    return [*named] if named is not None else [*slots_of(cls)]


# ---------------------------------------------------------------- to bytes


def exported(program: ExportedProgram, captured: Any) -> bytes:
    """The bytes of a program. `captured` gives what stands at a path outside of its arguments.

    `NotEncodable` for what another process does not have.
    """
    held = frozenset(program.held)
    names = _Names(held=held)
    encoder = Encoder(names)
    with deep_recursion():
        number = encoder.encode(replace(program, staged=_alone(program.staged, held)))
        variables: dict[str, int] = {}
        for name, path in list(names.paths.values()):
            try:
                variables[name] = encoder.encode(captured(path))
            except NotEncodable as error:
                raise NotEncodable(f"{path} is {error}") from None
    header = {
        "version": __version__,
        "source": source_digest(),
        "rows": encoder.rows,
        "program": number,
        "variables": variables,
        "lines": {file: {str(n): text for n, text in lines.items()} for file, lines in names.lines.items()},
        "arrays": [[described(array.dtype), list(array.shape), _is_uniform(array)] for array in names.arrays],
    }
    text = zlib.compress(json.dumps(header).encode(), 6)
    stored = [array.ravel()[:1] if _is_uniform(array) else array for array in names.arrays]
    data = [np.ascontiguousarray(array).tobytes() for array in stored]
    return sealed(_MAGIC, b"".join([len(text).to_bytes(8, "little"), text, *data]))


def _is_uniform(array: np.ndarray[Any, Any]) -> bool:
    """True if all elements are the same, bit by bit, as of the memory that a program begins with: one is stored."""
    items = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, array.dtype.itemsize)
    return array.size > 1 and bool((items == items[0]).all())


def _alone(staged: Staged, held: frozenset[str]) -> Staged:
    """A program without its ties to the environment that it was made in."""
    program = staged.program
    for mutation in program.mutations:
        if mutation.kind in (Write.GLOBAL, Write.CELL) or not isinstance(mutation.target.root, Argument):
            raise NotEncodable(f"it changes `{mutation.target}`, which is no argument")
    if program.draws is not None:
        for path in program.draws.generators:
            if not isinstance(path.root, Argument):
                raise NotEncodable(f"it draws from `{path}`, which is no argument")
    guards = tuple([guard for guard in program.guards if _is_kept(guard, held)])
    demands = tuple([d for d in staged.demands if isinstance(d.place, int)])
    alone: Program = replace(program, guards=guards)
    return replace(staged, program=alone, demands=demands)


def _is_kept(guard: Guard, held: frozenset[str]) -> bool:
    """True for a guard on the value of an argument."""
    if guard.kind not in _VALUES:
        return False
    paths = [guard.path]
    if guard.kind is GuardKind.DISTINCT:
        paths += guard.expected
    given = [isinstance(path.root, Argument) and path.root.name not in held for path in paths]
    if guard.kind is GuardKind.SAME:
        other = guard.expected.root
        if given[0] != (isinstance(other, Argument) and other.name not in held):
            raise NotEncodable(f"the argument `{guard.path}` is `{guard.expected}`")
    return any(given)


def can_encode(value: Any) -> bool:
    """True for an object that an exported program can contain by itself."""
    try:
        Encoder(_Names()).encode(value)
    except NotEncodable:
        return False
    return True


# ---------------------------------------------------------------- from bytes


def decoded(data: bytes) -> ExportedProgram:
    """The program of bytes that `exported` gave.

    ValueError for other bytes, or those of another version; ImportError where a class that it needs is not loaded.
    """
    content = unsealed(_MAGIC, data)
    if content is None:
        whole = data.startswith(_MAGIC)
        raise ValueError("the exported program is damaged" if whole else "this is no exported program")
    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(zlib.decompress(content[8 : 8 + size]))
        version, source = header["version"], header["source"]
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise ValueError("this is no exported program") from error
    if (version, source) != (__version__, source_digest()):
        build = f"{version}, and this is {__version__}" if version != __version__ else f"another {version}"
        raise ValueError(f"the program was exported by pystage {build}: export it again")
    try:
        with deep_recursion():
            names = _Names(_arrays(header["arrays"], memoryview(content)[8 + size :]))
            decoder = Decoder(names)
            decoder.decode(header["rows"])
            found = decoder.objects[header["program"]]
            names.variables.update({name: decoder.objects[n] for name, n in header["variables"].items()})
            _show(header["lines"])
    except (NotFound, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no exported program: {error}") from error
    if not isinstance(found, ExportedProgram):
        raise ValueError("this is no exported program")
    return found


def _arrays(
    types: Sequence[tuple[Any, list[int], bool]], data: memoryview[Any]
) -> list[np.ndarray[Any, Any]]:
    made: list[np.ndarray[Any, Any]] = []
    start = 0
    for name, shape, uniform in types:
        dtype = dtype_of(name)
        count = 1 if uniform else int(np.prod(shape, dtype=np.int64))
        stored = np.frombuffer(data, dtype, count, start)
        array = np.full(shape, stored[0], dtype) if uniform else stored.reshape(shape).copy()  # aligned
        array.flags.writeable = False
        made.append(array)
        start += count * dtype.itemsize
    return made


def _show(table: dict[str, dict[str, str]]) -> None:
    """Lets tracebacks show the lines of files that are missing here."""
    for file, lines in table.items():
        if lines and not os.path.exists(file) and file not in linecache.cache:
            numbered = {int(number): text for number, text in lines.items()}
            text = [numbered.get(number, "\n") for number in range(1, max(numbered) + 1)]
            linecache.cache[file] = (sum(map(len, text)), None, text, file)
