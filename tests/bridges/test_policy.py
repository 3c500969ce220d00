"""Which code is a library's, and that the packages with a bridge are the versions that it is tested with."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import types

import equinox
import jax
import numpy as np
import optax
import pytest
import scipy.special

from pystage.compiler import policy
from pystage.compiler.bridges import BRIDGES
from pystage.compiler.policy import Package, Policy

TESTED = [bridge for bridge in BRIDGES if bridge.tested]


@pytest.mark.parametrize("bridge", TESTED, ids=lambda b: b.package.name)
def test_the_packages_are_those_that_the_bridges_are_tested_with(bridge):
    version = importlib.metadata.version(bridge.package.name)
    assert version.startswith(bridge.tested + ".")


def test_the_compiler_imports_no_package_that_has_a_bridge_and_no_meaning_of_one():
    code = "import pystage.runtime.dispatch.dispatch, pystage.compiler.infer.entry, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {bridge.package.name for bridge in BRIDGES} & set(loaded)
    meanings = {place.partition(":")[0] for bridge in BRIDGES for place in bridge.meanings.values()}
    theirs = {f"pystage.compiler.{name}" for name in meanings if name.startswith("bridges.")}
    assert theirs and not theirs & set(loaded)


@pytest.mark.parametrize(
    ("thing", "name", "kind"),
    [
        (np.sum, "numpy", Policy.SOURCE),
        (np.float32(1.0), "numpy", Policy.SOURCE),
        (jax.grad, "jax", Policy.JAX),
        (optax.adam, "optax", Policy.TRACED),
        (equinox.Module, "equinox", Policy.TRACED),
        (scipy.special.softmax, "scipy", Policy.OPAQUE),
        (subprocess.run, "subprocess", Policy.SOURCE),
        (len, "builtins", Policy.SOURCE),
    ],
)
def test_the_row_of_a_thing_is_that_of_its_package(thing, name, kind):
    row = policy.package_of(thing)
    assert row.name == name and row.policy is kind and policy.is_library(thing)


def test_what_has_no_row_is_the_users():
    assert policy.package_of(test_what_has_no_row_is_the_users) is policy.USER
    assert policy.USER.policy is Policy.SOURCE and not (policy.USER.constants or policy.USER.fixed)


@pytest.mark.parametrize("name", ["queue", "torch"])
def test_a_module_of_the_user_may_have_the_name_of_a_library(name, tmp_path, monkeypatch):
    module = types.ModuleType(name)
    module.__file__ = str(tmp_path / f"{name}.py")
    monkeypatch.setitem(sys.modules, name, module)
    policy._package_of_module.cache_clear()
    try:
        assert policy.package_of_module(name) is policy.USER
    finally:
        policy._package_of_module.cache_clear()


def test_a_package_has_one_row():
    with pytest.raises(TypeError, match="numpy has two rows"):
        policy.declare(Package("numpy"))
