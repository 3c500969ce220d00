"""Refusals that are remembered, so that a call that cannot be staged is not inferred again each time.

As a program does, a refusal holds under guards for what was read of the environment, for the values of arguments that
inference asked for, and under JAX's settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax

from ...compiler.diagnostics.codes_constant import ProgramTooLarge
from ...compiler.diagnostics.errors import StagingError
from ...compiler.values.boundary import Guard, HiddenInput
from ...config import config
from ..arguments.inputs import TypeKey, type_key, value_key
from ..arguments.signature import Signature
from ..guards.environment import Reader, guard_key
from .specialisation import settings

MAX_REFUSALS = 4
"""How many states of the environment are remembered in which one kind of call was refused."""
MAX_REFUSED_KINDS = 256
"""How many kinds of refused calls are remembered that differ in the types of their arguments; each takes some 4 kB."""


class Refusal:
    """Why calls with arguments of the same types are refused, whatever else is different."""

    def __init__(self, error: StagingError) -> None:
        self._diagnostics = error.diagnostics
        self._limit = config.program_limit

    @property
    def error(self) -> StagingError:
        """The error for another call."""
        return StagingError(self._diagnostics)

    @property
    def is_outdated(self) -> bool:
        """True where the program was too large for a limit that has changed."""
        about_size = any(isinstance(each, ProgramTooLarge) for each in self._diagnostics)
        return about_size and self._limit != config.program_limit

    def holds(
        self, leaves: Sequence[Any], pattern: Sequence[int], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> bool:
        """True if a call with arguments of the same types is refused for this reason; `pattern`: see `GuardedRefusal`."""
        return not self.is_outdated


class GuardedRefusal(Refusal):
    """Why one call was refused, and what that depends on besides the types of its arguments.

    `read` is what inference read of the environment, `leaves` are the values of arguments that it asked for, and `pattern`
    says which containers of the arguments are the same objects.
    """

    def __init__(
        self,
        error: StagingError,
        read: Sequence[Guard | HiddenInput],
        leaves: Mapping[int, Any],
        pattern: Sequence[int],
        signature: Signature,
    ) -> None:
        super().__init__(error)
        guards = {guard_key(each): each for each in read if isinstance(each, Guard)}
        hidden = {each.path.key: each for each in read if isinstance(each, HiddenInput)}
        groups = [(number,) for number in range(len(hidden))]
        self.reader = Reader(guards.values(), tuple(hidden.values()), groups, signature)
        self._forms = [each.form for each in hidden.values()]
        self._leaves = {leaf: value_key(value) for leaf, value in leaves.items()}
        self._pattern = pattern
        self._settings = _settings()
        self._types: list[TypeKey] | None = None

    def holds(
        self, leaves: Sequence[Any], pattern: Sequence[int], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> bool:
        """True if a call with arguments of the same types is refused for this reason."""
        if self._pattern != pattern or self._settings != _settings() or self.is_outdated:
            return False
        if any(value_key(leaves[leaf]) != key for leaf, key in self._leaves.items()):
            return False
        types = self._hidden_types(args, kwargs)
        return types is not None and types == self._types

    def note_types(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Records the types of what was read for this call; False if it has changed meanwhile."""
        self._types = self._hidden_types(args, kwargs)
        return self._types is not None

    def _hidden_types(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[TypeKey] | None:
        values = self.reader.read(args, kwargs)
        return None if values is None else [type_key(v, f) for v, f in zip(values, self._forms, strict=True)]


def _settings() -> tuple[Any, ...]:
    return settings(bool(jax.config.jax_enable_x64))
