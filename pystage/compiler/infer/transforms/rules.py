"""The rules of derivatives that the program gives its own functions."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ops import Rule
from ...values.lattice import Meaning


@dataclass(slots=True, eq=False)
class CustomRules:
    """`open` are the rules of `pystage.custom_vjp` that are being made, by what tells calls apart.

    `pulled` are, by id of a `jax.custom_jvp` object of the program, the rules for reverse mode that its rule comes to.
    """

    open: dict[object, Rule] = field(default_factory=dict)
    pulled: dict[int, tuple[Meaning, Meaning]] = field(default_factory=dict)
