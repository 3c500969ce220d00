"""The caller's random generators: a number where the host draws; states as inputs where the program draws.

Which of them have their states in the program an earlier pass of inference has found out (`StatesInProgram`). Generators
that share a bit generator share its state.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ....records import dataclass
from ...hlo.ir import Op, Region, Value
from ...ops.host.draw import HANDLE, Draw
from ...values.boundary import Form, HiddenInput, Path, PathKey
from ...values.generators import WORDS, generator_cell, stateful_cell
from ...values.lattice import ArrayCell, ObjectCell, Ref
from ...values.state import State
from .retry import GeneratorKey, Retry, StatesInProgram


@dataclass(slots=True, eq=False)
class CallersGenerators:
    """`handles` are the numbers of those for which the host draws, `keys` their bit generators, of those whose states the
    program could have; `bits` all bit generators by identity, `states` the arrays of the words of those whose states it has.
    `in_program` says which these are, and why; None for those that must be with the host. `legacy` are the bit generators
    of `RandomState`s, for which only the host draws.
    """

    root: Region
    state: State
    hidden: list[tuple[HiddenInput, Value]]
    initial: dict[int, tuple[Path, Any]]
    in_program: Mapping[GeneratorKey, str | None] = field(default_factory=dict)
    handles: list[tuple[Path, Value]] = field(default_factory=list)
    keys: dict[Value, PathKey] = field(default_factory=dict)
    bits: dict[Hashable, Path] = field(default_factory=dict)
    states: dict[PathKey, Ref] = field(default_factory=dict)
    legacy: set[PathKey] = field(default_factory=set)

    def cell(self, cls: type, path: Path, bits: type, identity: Hashable) -> ObjectCell:
        """The contents of the cell of a generator, whose bit generator has this class and identity."""
        first = self.bits.setdefault(identity, bits_path(cls, path))
        if cls is np.random.RandomState:
            if first.key in self.states:
                raise Retry(StatesInProgram(dict.fromkeys(self.in_program)))
            self.legacy.add(first.key)
        can = bits is np.random.PCG64 and first.key not in self.legacy
        if can and self.keeps(first.key) is not None:
            if first.key not in self.states:
                self.states[first.key] = self._state_at(first.state)
            return stateful_cell(cls, self.states[first.key])
        handle = self.root.add_param(HANDLE)
        self.handles.append((path, handle))
        if can:
            self.keys[handle] = first.key
        return generator_cell(cls, handle)

    def key_of(self, handle: Value, operands: Mapping[Value, Value]) -> tuple[GeneratorKey] | None:
        """The bit generator of the generator with this number; None if the program cannot have its state.

        `operands` are those of calls by the parameters of callees.
        """
        while handle in operands:
            handle = operands[handle]
        if handle in self.keys:
            return (self.keys[handle],)
        owner = handle.owner
        if isinstance(owner, Op) and isinstance(owner.kind, Draw):
            function = owner.kind.action.function
            given = owner.operands[0] if owner.operands and owner.operands[0].type == HANDLE else None
            if given is None or _makes(given, np.random.SeedSequence):
                return (owner.span,) if function in (np.random.default_rng, np.random.PCG64) else None
            return (
                self.key_of(given, operands)
                if function in (np.random.default_rng, np.random.Generator)
                else None
            )
        return None if any(handle is value for _, value in self.handles) else (None,)

    def new(self, found: Mapping[GeneratorKey, str]) -> dict[GeneratorKey, str | None]:
        """Those of these bit generators for which no earlier pass has decided where their states must be."""
        return {
            key: why
            for key, why in found.items()
            if key not in self.in_program and None not in self.in_program
        }

    def keeps(self, key: GeneratorKey) -> str | None:
        """The reason why a bit generator's state is in the program; None if it is not."""
        return self.in_program.get(key, self.in_program.get(None))

    def _state_at(self, path: Path) -> Ref:
        value = self.root.add_param(WORDS)
        self.hidden.append((HiddenInput(path, WORDS, Form.NDARRAY, False, None), value))
        number = self.state.cell_number()
        content = ArrayCell(value)
        self.state.define(number, content)
        self.initial[number] = (path, content)
        return Ref(number)

    @property
    def shared(self) -> tuple[Path, ...]:
        """The bit generators that must be different, since the program has the state of one of them."""
        return tuple(self.bits.values()) if self.states and len(self.bits) > 1 else ()


def bits_path(cls: type, path: Path) -> Path:
    """The path of the bit generator of a generator."""
    if cls is np.random.RandomState:
        return path.attribute("_bit_generator")
    return path.attribute("bit_generator") if cls is np.random.Generator else path


def _makes(handle: Value, cls: type) -> bool:
    """True if this is the number of an object that the program makes by calling `cls`."""
    owner = handle.owner
    return isinstance(owner, Op) and isinstance(owner.kind, Draw) and owner.kind.action.function is cls
