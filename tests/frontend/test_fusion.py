"""Generators fused with loops: all temporaries of an instruction are known."""

from __future__ import annotations

import dataclasses

from pystage.compiler.frontend.fusion import OF_TEMPORARIES
from pystage.compiler.stage import ir


def test_every_field_that_holds_temporaries_is_known() -> None:
    kinds = [kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, ir.Instr)]
    types = {str(field.type) for kind in kinds for field in dataclasses.fields(kind)}
    assert {
        each for each in types if any(name in each for name in ("Temp", "Arg,", "Item"))
    } == OF_TEMPORARIES
