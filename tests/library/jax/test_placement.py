"""What JAX does besides computing arrays (it lays them out, calls the host, sets itself up) is refused, not dropped."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check
from jax.experimental.layout import Layout, with_layout_constraint
from jax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

import pystage

X = jnp.arange(4.0)
MESH = Mesh(np.array(jax.devices()[:1]), ("rows",))
ROWS = NamedSharding(MESH, P("rows"))
ALIAS = jax.lax.with_sharding_constraint
DEVICE = jax.devices()[0]
INSIDE = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, ROWS))


def _in_a_branch(x: Any) -> Any:
    return jax.lax.with_sharding_constraint(x, ROWS) if x[0] > 0 else x


@pytest.mark.parametrize(
    "program",
    [
        lambda x: jax.device_put(x, DEVICE),
        lambda x: jax.device_put(x, ROWS, donate=True),
        lambda x: jax.lax.with_sharding_constraint(x, SingleDeviceSharding(DEVICE)),
        lambda x: with_layout_constraint(x, Layout((0,))),
        lambda x: x + jnp.eye(4, device=DEVICE)[0],
    ],
    ids=["device", "donate", "one device", "layout", "device="],
)
def test_placing_is_refused(program: Callable[[Any], Any]) -> None:
    with pytest.raises(pystage.StagingError, match=r"PS60[46]"):
        pystage.compile(program)(X)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: jax.shard_map(jnp.sin, mesh=MESH, in_specs=P("rows"), out_specs=P("rows"))(x),
        lambda x: jax.lax.with_sharding_constraint(x, ROWS),
        lambda x: ALIAS({"a": x, "b": (x * 2, x)}, {"a": ROWS, "b": ROWS}),
        lambda x: jax.device_put(x, ROWS) * 2,
        lambda x: INSIDE(x),
        lambda x: jax.grad(lambda x: jax.lax.with_sharding_constraint(x**2, ROWS).sum())(x),
        lambda x: jax.vmap(lambda x: jax.lax.with_sharding_constraint(x**2, ROWS))(jnp.stack([x, x])),
        _in_a_branch,
        lambda x: jax.device_put(x),
        lambda x: jax.lax.optimization_barrier(x),
        lambda x: x.block_until_ready(),
    ],
    ids=[
        "shard_map",
        "constraint",
        "alias",
        "put",
        "inside",
        "grad",
        "vmap",
        "branch",
        "device_put",
        "barrier",
        "block",
    ],
)
def test_what_is_staged(program: Callable[[Any], Any]) -> None:
    check(program, X)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: jax.debug.print("{}", x) or x,
        lambda x: jax.debug.callback(print, x) or x,
        lambda x: jax.debug.visualize_array_sharding(x) or x,
    ],
    ids=["print", "callback", "visualize"],
)
def test_calling_the_host_is_refused(program: Callable[[Any], Any]) -> None:
    with pytest.raises(pystage.StagingError, match=r"PS606.*calls the host"):
        pystage.compile(program)(X)


def test_what_gives_nothing_is_refused() -> None:
    """It would happen once, while compiling, and never again."""
    with pytest.raises(pystage.StagingError, match=r"PS657.*gives nothing"):
        pystage.compile(lambda x: jax.effects_barrier() or x)(X)


@pytest.mark.parametrize(
    "setting",
    [
        lambda: jax.default_device(DEVICE),
        lambda: jax.debug_nans(True),
        lambda: jax.numpy_rank_promotion("raise"),
    ],
    ids=["device", "nans", "rank"],
)
def test_settings_that_the_compiler_does_not_read_are_refused(setting: Callable[[], Any]) -> None:
    manager = setting()

    def program(x: Any) -> Any:
        with manager:
            return x + 1.0

    with pytest.raises(pystage.StagingError, match=r"PS308.*JAX's setting"):
        pystage.compile(program)(X)


def test_methods_about_devices_are_there_and_refused() -> None:
    with pytest.raises(pystage.StagingError, match="PS603"):
        pystage.compile(lambda x: x.devices())(X)
    check(lambda x: hasattr(x, "no_such_method"), X)


MESHES = """
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import pystage

    def program(x):
        return nn.with_logical_constraint(x * 2, ("a",), rules=(("a", "rows"),))

    staged, x = pystage.compile(program, fallback="error"), jnp.ones(4)
    assert len(staged(x).devices()) == len(program(x).devices()) == 1
    mesh = jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    with jax.set_mesh(mesh):
        assert len(program(x).devices()) == 2
        try:
            staged(x)
        except pystage.StagingError as error:
            assert "PS606" in str(error)
        else:
            raise AssertionError("the mesh had no effect")
    assert len(staged(x).devices()) == 1
"""


def test_a_mesh_that_is_set_later_counts(tmp_path: Path) -> None:
    """A constraint by name means nothing without a mesh: the program that was made then does not serve under one."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    script = tmp_path / "meshes.py"
    script.write_text(textwrap.dedent(MESHES))
    subprocess.run([sys.executable, script], env=environment, check=True, timeout=120)
