"""A function that is differentiated prints once, what it prints in plain Python: what runs again says nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

X = np.array([2.0, 0.75])


def in_a_known_loop(x: Any) -> Any:
    for i in range(3):
        x = np.sin(x)
        print("trip", i, len(x))
    return np.sum(x)


def in_loops_of_unknown_length(x: Any) -> Any:
    total = np.sum(x) * 0.0
    while np.sum(x) > 0.5:
        x = x * 0.8
        part = np.sum(x)
        while part > 0.9:
            part = part * 0.5
            print("inner", int(part * 1000))
        total = total + part * part
        print("outer", int(total * 1000))
    return total


def chatty(x: Any) -> Any:
    print("chatty", x.shape)
    return np.sin(x) * x


def in_checkpoints_and_branches(x: Any) -> Any:
    while np.sum(x) > 1.0:
        x = pystage.checkpoint(chatty)(x) * 0.6
        if x[0] > 0.5:
            print("large", int(x[0] * 1000))
    return np.sum(x * x)


def in_a_rule(x: Any) -> Any:
    def loud(y: Any) -> Any:
        print("loud", int(np.sum(y) * 1000))
        return y * 3.0

    f = pystage.custom_vjp(loud)
    f.defvjp(lambda y: (y * 3.0, None), lambda kept, ct: (ct * 5.0,))
    while np.sum(x) < 30.0:
        x = f(x)
    return np.sum(x)


PROGRAMS = [in_a_known_loop, in_loops_of_unknown_length, in_checkpoints_and_branches, in_a_rule]
DERIVATIVES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "grad": pystage.grad,
    "value_and_grad": pystage.value_and_grad,
    "vjp": lambda f: pystage.compile(lambda x: pystage.vjp(f, x)[1](1.0)),
    "twice": lambda f: pystage.grad(lambda x: np.sum(pystage.grad(f)(x) ** 2)),
    "jvp": lambda f: lambda x: pystage.jvp(f, (x,), (x,)),
    "jacobian": pystage.jacobian,
    "hessian": pystage.hessian,
    "jax.grad": lambda f: lambda x: jax.grad(pystage.compile(f))(jnp.asarray(x)),
    "jax.jit": lambda f: lambda x: jax.jit(jax.grad(pystage.compile(f)))(jnp.asarray(x)),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_printed_once(name: str, program: Any, capsys: Any) -> None:
    if program is in_a_rule and name in ("jvp", "jacobian"):
        pytest.skip("a rule for reverse mode only")
    with jax.enable_x64(True):
        program(X.copy())
        wanted = capsys.readouterr().out
        assert wanted.count("\n") > 2
        jax.block_until_ready(DERIVATIVES[name](program)(X.copy()))
    jax.effects_barrier()
    assert capsys.readouterr().out == wanted


def test_what_is_mapped_prints_nothing() -> None:
    with pytest.raises(pystage.StagingError, match=r"PS606.*print"):
        pystage.vmap(chatty)(np.ones((2, 3)))
