"""`Bridge`: the data that describe one package to the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...deferred import deferred
from ...records import dataclass
from .. import policy
from ..library.registry import late_meanings
from ..library.rules import foreign
from ..library.rules.foreign import Advice


@dataclass(frozen=True, slots=True)
class Bridge:
    """One package: its row of the policy table, and what is declared of it.

    `tested` is the version that the tests run with. `meanings` names, by module of the package, the function that declares
    what its functions mean, as `module:function` of the compiler: it is imported once the program has imported the module.
    `advice` says, by name, what to do about calls that are refused.
    """

    package: policy.Package
    tested: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, Advice] = field(default_factory=dict)

    def register(self) -> None:
        """Tells the tables of the compiler."""
        policy.declare(self.package)
        for module, place in self.meanings.items():
            home, _, name = place.partition(":")
            late_meanings(module)(deferred(f"pystage.compiler.{home}", name))
        foreign.advise(self.advice)
