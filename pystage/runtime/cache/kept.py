"""Programs in the cache folder: one process stages them, others find them.

A program is kept under the key of its request (`keys.py`), with its guards first. They are what makes the key complete:
all that inference read of the environment stands in them. A guard by identity says of its object what must be equal in
another process (`fingerprints.py`): the program is found where the object at the guard's path has that fingerprint, and
holds from then on for this object. What cannot be named or encoded is not kept, and in case of doubt nothing is found;
why, `PYSTAGE_LOG=cache` tells. XLA's executables stand beside the programs (`executables.py`).
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from ...compiler.hash_order import HashOrder
from ...compiler.hlo.types import ArrayType
from ...compiler.pipeline import Request, Staged
from ...compiler.recursion import deep_recursion
from ...compiler.values.boundary import Form, Guard, GuardKind, HiddenInput, Path
from ...compiler.values.capacity import AllocationSite
from ...compiler.values.lattice import same_constant
from ...records import dataclass
from ..arguments.inputs import is_key, key_data_type, type_key
from ..arguments.signature import Signature
from ..guards.environment import Reader, layout_of, resolve
from ..reports.messages import Topic, tell
from . import store
from .encoding import Decoder, Encoder, NotEncodable, NotFound
from .keys import process_key, request_key
from .names import OutsideNames

MOST = 8
"""How many programs of one key are looked at, and kept."""
_MISSING = (KeyError, IndexError, AttributeError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Kept:
    """A program of the cache, and what was known of its calls when it was made."""

    staged: Staged
    capacities: Mapping[AllocationSite, int]
    changing: tuple[Path, ...]
    skips_writes: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A call that needs a program: its request, the numbers that must be constants, and how to read the environment."""

    request: Request
    static: Mapping[int, Any]
    x64: bool
    signature: Signature
    args: Sequence[Any]
    kwargs: dict[str, Any]

    def at(self, path: Path) -> Any:
        """The object at a path now. `NotFound` if there is none."""
        try:
            return resolve(path, self.signature)(self.args, self.kwargs)
        except _MISSING as error:
            raise NotFound(f"nothing stands at {path}") from error

    def constant(self, leaf: int) -> Any:
        """The value of an argument leaf, if it can be known."""
        return self.static[leaf] if leaf in self.static else self.request.value_of(leaf)


def find(call: Call) -> Kept | None:
    """The program for a call that was kept, and whose guards hold; None if there is none."""
    request = call.request
    where = store.folder()
    if where is None or request.traced:
        return None
    try:
        key, _ = request_key(request, call.x64)
    except NotEncodable as error:
        tell(Topic.CACHE, f"`{request.name}` is not looked for: {error}")
        return None
    for file in _files(where, key):
        data = store.read(file)
        if data is None:
            continue
        try:
            with deep_recursion():
                found = _decoded(call, json.loads(zlib.decompress(data)))
        except (NotFound, ValueError, zlib.error) as error:
            tell(Topic.CACHE, f"a program of `{request.name}` does not fit: {error}")
            continue
        tell(Topic.CACHE, f"`{request.name}` is found in {file.name}")
        return found
    tell(Topic.CACHE, f"`{request.name}` is not found")
    return None


def keep(call: Call, staged: Staged) -> None:
    """Keeps the program that was made for a call."""
    request = call.request
    where = store.folder()
    if where is None or request.traced:
        return
    try:
        with deep_recursion():
            key, names = request_key(request, call.x64)
            data = zlib.compress(json.dumps(_encoded(names, staged, request)).encode(), 1)
    except (NotEncodable, RecursionError) as error:
        tell(Topic.CACHE, f"`{request.name}` is not kept: {error or 'it is nested too deeply'}")
        return
    file = _folder(where) / f"{key}-{hashlib.sha256(data).hexdigest()[:16]}"
    if store.write(file, data):
        tell(Topic.CACHE, f"`{request.name}` is kept in {file.name}, {len(data)} bytes")
        for old in list(_files(where, key, MOST))[MOST:]:
            store.remove(old)


def _folder(where: File) -> File:
    return where / process_key() / "programs"


def _files(where: File, key: str, most: int | None = None) -> Iterator[File]:
    folder = _folder(where)
    for name in store.names(folder, f"{key}-")[:most]:
        yield folder / name


# ---------------------------------------------------------------- what stands in a file


def _encoded(names: OutsideNames, staged: Staged, asked: Request) -> dict[str, Any]:
    program = staged.program
    if staged.hash_order is HashOrder.OF_ADDRESSES:
        raise NotEncodable("the order of a set depends on addresses")
    encoder = Encoder(names)
    guards = _encoded_guards(names, encoder, program.guards)
    rest = replace(staged, program=replace(program, guards=()))
    parts = (rest, dict(asked.capacities), tuple(asked.changing.values()), asked.skips_writes)
    return {
        "static": encoder.encode(dict(staged.static)),
        "parts": encoder.all(parts),
        "guards": guards,
        "pattern": names.pattern,
        "order": order_of_this_process() if staged.hash_order is HashOrder.OF_TEXTS else None,
        "rows": encoder.rows,
    }


def order_of_this_process() -> int:
    """A key, equal in two processes that order sets of strings alike."""
    return hash("pystage")


def _decoded(call: Call, data: Any) -> Kept:
    """The program of a file. `NotFound` where it does not fit the call."""
    rows = data["rows"]
    if data["order"] not in (None, order_of_this_process()):
        raise NotFound("the order of sets of texts is another one in this process")
    _, names = request_key(call.request, call.x64)
    decoder = Decoder(names)
    guards = _decoded_guards(call, names, decoder, data["guards"], rows)
    if names.pattern != data["pattern"]:
        raise NotFound("other objects are identical")
    decoder.decode(rows[len(decoder.objects) :])
    rest, capacities, changing, skips_writes = [decoder.objects[n] for n in data["parts"]]
    static = decoder.objects[data["static"]]
    if not all(same_constant(call.constant(leaf), value) for leaf, value in static.items()):
        raise NotFound("an argument that is a constant has another value")
    request = call.request
    if any(capacities.get(site, -1) < size for site, size in request.capacities.items()):
        raise NotFound("its capacities are too small")
    if request.skips_writes and not skips_writes:
        raise NotFound("it cannot be executed again")
    if any(g.kind is GuardKind.EQUAL and g.path.key in request.changing for g in guards):
        raise NotFound("it holds for one value of what changes")
    program = replace(rest.program, guards=guards)
    hidden = Reader(guards, program.hidden, program.groups, call.signature).read(call.args, call.kwargs)
    if hidden is None:
        raise NotFound("a guard fails")
    for group, value in zip(program.groups, hidden, strict=True):
        if len(group) == 1 and _type(value, program.hidden[group[0]].form) != _type_of(
            program.hidden[group[0]]
        ):
            raise NotFound(f"{program.hidden[group[0]].path} has another type")
    return Kept(replace(rest, program=program), capacities, changing, skips_writes)


def _type(value: Any, form: Form) -> tuple[ArrayType, bool]:
    """The type of a hidden input that is read, and whether it is weak."""
    shape, dtype, weak = type_key(value, form)
    return key_data_type(shape, dtype) if is_key(dtype) else ArrayType(dtype, shape), weak


def _type_of(hidden: HiddenInput) -> tuple[ArrayType, bool]:
    return hidden.type, hidden.weak


# ---------------------------------------------------------------- guards


def _encoded_guards(names: OutsideNames, encoder: Encoder, guards: Sequence[Guard]) -> list[list[Any]]:
    """Guards in an order in which earlier ones name the objects of later ones: the number of rows before, and the row."""
    found: list[list[Any]] = []
    pending = list(guards)
    while pending:
        later: list[Guard] = []
        reason: NotEncodable | None = None
        for guard in pending:
            try:
                path = encoder.encode(guard.path)
                parts: list[int | str] = [encoder.encode(guard.kind), path, encoder.encode(guard.span)]
                if guard.kind in _ENCODED:
                    parts.append(encoder.encode(guard.expected))
                else:
                    parts.append(_FINGERPRINTS[guard.kind](names, guard.expected))
            except NotEncodable as error:
                reason, later = NotEncodable(f"{guard.path} is {error}"), [*later, guard]
                continue
            found.append([len(encoder.rows), *parts])
            _meet(names, guard)
        if len(later) == len(pending):
            assert reason is not None
            raise reason
        pending = later
    return found


def _decoded_guards(
    call: Call, names: OutsideNames, decoder: Decoder, guards: list[list[Any]], rows: list[list[Any]]
) -> tuple[Guard, ...]:
    found: list[Guard] = []
    for end, *numbers, last in guards:
        decoder.decode(rows[len(decoder.objects) : end])
        kind, path, span = [decoder.objects[n] for n in numbers]
        if kind in _ENCODED:
            expected = decoder.objects[last]
        else:
            value = call.at(path)
            expected = _expected(kind, value)
            try:
                same = _FINGERPRINTS[kind](names, expected) == last
            except NotEncodable as error:
                raise NotFound(str(error)) from error
            if not same:
                raise NotFound(f"{path} is another one")
        guard = Guard(kind, path, expected, span)
        _meet(names, guard)
        found.append(guard)
    return tuple(found)


_ENCODED = (GuardKind.EQUAL, GuardKind.ABSENT, GuardKind.SAME, GuardKind.DISTINCT, GuardKind.WRITABLE)
"""Guards whose `expected` is a value, or paths."""


def _meet(names: OutsideNames, guard: Guard) -> None:
    """Names the object of a guard for later guards."""
    if guard.kind is GuardKind.IS:
        names.meet(guard.expected)
    elif guard.kind is GuardKind.LAYOUT:
        names.meet(type(guard.expected))


def _expected(kind: GuardKind, value: Any) -> Any:
    """The expectation of a guard of this kind for an object."""
    return (len(vars(value)), value.__mro__) if kind is GuardKind.NAMES else value


def _names_of_class(names: OutsideNames, expected: tuple[int, tuple[type, ...]]) -> str:
    count, order = expected
    return f"{count} {names.fingerprints.all(order)}"


def _layout(names: OutsideNames, value: Any) -> str:
    return names.fingerprints.of(layout_of(value))


def _identity(names: OutsideNames, value: Any) -> str:
    return names.fingerprints.of(value)


_FINGERPRINTS: dict[GuardKind, Callable[[OutsideNames, Any], str]] = {
    GuardKind.IS: _identity,
    GuardKind.LAYOUT: _layout,
    GuardKind.NAMES: _names_of_class,
}
