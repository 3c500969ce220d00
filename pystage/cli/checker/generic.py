"""Checks one function for general sizes: infers it with two assignments and reports its problems with names."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from ...compiler.diagnostics.diagnostic import Diagnostic, Note
from ...records import dataclass
from . import naming
from .inference import Inference
from .naming import Naming
from .probing import Probing, by_key


@dataclass(frozen=True)
class Generic:
    """Checks one function. `fixed` are the sizes that the user gives, `mentioned` are integers of the program."""

    inference: Inference
    fixed: Mapping[str, int]
    mentioned: Set[int]

    def problems(self) -> list[Diagnostic]:
        """What is wrong with the function. `NotChecked` where it cannot be checked."""
        a = naming.first(self.fixed, self.mentioned)
        with_a = by_key(self.inference.diagnostics(a))
        if len(a) == len(self.fixed):
            return list(with_a.values())
        b = naming.second(self.fixed, self.mentioned, a)
        with_b = by_key(self.inference.diagnostics(b))
        probing = Probing(self.inference, self.fixed, a, with_a.keys() | with_b.keys())
        found: list[Diagnostic] = []
        for key in {**with_a, **with_b}:
            if key in with_a and key in with_b:
                names = Naming(a, b, self.fixed.keys())
                one = names.diagnostic(with_a[key], with_b[key])
                said = probing.says(key, names)
                notes = [said] if said is not None else []
                if names.unnamed:
                    notes.append(f"the sizes are those with {_sizes_text(names.a)}")
            else:
                only, other, of = (a, b, with_a) if key in with_a else (b, a, with_b)
                names = Naming(only, other, self.fixed.keys())
                one = names.diagnostic(of[key], None)
                notes = [
                    f"it depends on sizes: so with {_sizes_text(names.a)}, not with {_sizes_text(names.b)}"
                ]
            found.append(replace(one, notes=(*map(Note, notes), *one.notes)))
        return found


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return ", ".join([f"{name} = {size}" for name, size in sizes.items()])
