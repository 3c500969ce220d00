"""What the program depends on in its environment: JAX's settings and axes, classes, inputs."""

from __future__ import annotations

import abc
from typing import Any

from ...hlo.ir import Value
from ...ops.foreign.named_axes import NamedAxes
from ...values.lattice import Array


class Environment(abc.ABC):
    """What the program depends on in its environment: JAX's settings and axes, classes, inputs."""

    x64: bool
    """The user's `jax_enable_x64`: the rules of `jax.numpy` depend on it."""
    jax_loops: dict[tuple[object, object], Any]
    """By function and kinds of operand: the types that JAX computes with under the settings at hand."""

    @abc.abstractmethod
    def named_axes(self) -> NamedAxes:
        """The named axes that are bound here; the program holds only while JAX has bound the same ones around it."""

    @abc.abstractmethod
    def is_traced(self) -> bool:
        """True if JAX traces the call."""

    @abc.abstractmethod
    def checks_bounds(self) -> bool:
        """Whether the user wants indices checked (`pystage.config.check_bounds`)."""

    @abc.abstractmethod
    def input_of(self, value: Array) -> Value | None:
        """`value` if it is an input of the program as it came, else None."""

    @abc.abstractmethod
    def depends_on_identity(self) -> None:
        """Notes that the program depends on two objects of the caller's not being one."""

    @abc.abstractmethod
    def is_subclass(self, cls: type, wanted: Any) -> bool:
        """`issubclass(cls, wanted)`; the program holds only while this is so."""
