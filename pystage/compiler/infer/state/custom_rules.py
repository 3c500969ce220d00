"""Custom derivative rules of the program that are open or already inferred."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from ....records import dataclass
from ...ops import VjpRule
from ...speculation import Balanced, Declarations, Grows
from ...values.lattice import Meaning


@dataclass(slots=True, eq=False)
class CustomRules:
    """The rules of `pystage.custom_vjp` by the key of their calls; `open` are those that are being inferred.

    `pulled` are, by id of a `jax.custom_jvp` object of the program, the rules for reverse mode that its rule comes to.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "open": Balanced(),
            "pulled": Grows("it is about objects of JAX, which do not change"),
        }
    )

    open: dict[object, VjpRule] = field(default_factory=dict)
    pulled: dict[int, tuple[Meaning, Meaning]] = field(default_factory=dict)
