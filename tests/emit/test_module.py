"""The module that `lower` emits holds the operations of the module that JAX compiles."""

from __future__ import annotations

import re

import jax.numpy as jnp
import numpy as np
import pytest

import pystage


def _double(x):
    return x * 2.0


def branches(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0.0:
            total += _double(x[i])
        else:
            x[i] = _double(total)
    return total


def through_jax(x):
    return jnp.linalg.qr(x)[0]


def _operations(text: str) -> list[str]:
    return re.findall(r"(?:stablehlo|func|chlo)\.\w+", re.sub(r'#loc.*|loc\(.*?\)|"[^"]*"', "", text))


@pytest.mark.parametrize(
    ("function", "args"), [(branches, (np.ones(3), 2)), (through_jax, (jnp.ones((3, 3)),))]
)
def test_the_text_of_lower_is_the_program_that_runs(function, args) -> None:
    lowered = pystage.compile(function).lower(*args)
    ours, bound = lowered.as_text(), lowered.bind().as_text()
    assert _operations(ours) == _operations(bound)
    assert len(_operations(ours)) > 3
    assert re.search(rf"module @jit_{function.__name__}\b", ours)


def test_many_modules_share_few_contexts() -> None:
    texts = {pystage.compile(_double).lower(np.ones(n)).as_text() for n in range(1, 140)}
    assert len(texts) == 139


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(ValueError, match="dialect"):
        pystage.compile(_double).lower(np.ones(2)).as_text("none")
