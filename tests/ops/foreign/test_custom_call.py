"""`CustomCall` beyond its samples: what is emitted, side effects, targets that only the device knows."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Region
from pystage.compiler.hlo.types import FLOAT32, ArrayType
from pystage.compiler.ops import CustomCall

from ..running import application, stablehlo

THREE = ArrayType(FLOAT32, (3,))


def test_attributes_are_emitted() -> None:
    call = CustomCall("f", (THREE, THREE), "text", has_side_effect=True)
    text = stablehlo(application(call, THREE))
    assert "@f" in text and 'backend_config = "text"' in text and "has_side_effect = true" in text
    typed = CustomCall("g", (THREE,), "{n = 3 : i64}", api_version=4)
    text = stablehlo(application(typed, THREE))
    assert "@g" in text and "n = 3 : i64" in text and "api_version = 4" in text


@pytest.mark.parametrize("effect", [False, True])
def test_a_call_with_a_side_effect_is_not_shared(effect: bool) -> None:
    body = Region((THREE,))
    b = Builder(body)
    call = CustomCall("f", (THREE,), has_side_effect=effect)
    assert call.pure is not effect
    first, second = (b.op(call, *body.params) for _ in range(2))
    assert (first is second) is not effect


def test_the_interpreter_does_not_invent_results() -> None:
    with pytest.raises(NotImplementedError, match="custom call of f: only the device knows"):
        CustomCall("f", (THREE,)).reference(np.zeros(3, np.float32))
