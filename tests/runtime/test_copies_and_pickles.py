"""Copies and pickles of compiled functions, of their methods and of what holds one: as of plain functions."""

from __future__ import annotations

import copy
import dataclasses
import functools
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import equinox as eqx
import flax.serialization
import jax
import jax.numpy as jnp
import joblib
import numpy as np
import pytest
from flax import nnx
from sklearn.base import BaseEstimator, RegressorMixin, clone

import pystage


@pystage.compile
def doubled(x: Any) -> Any:
    return x * 2


def increased(x: Any) -> Any:
    return x + 1


compiled = pystage.compile(increased, fallback="error")


@dataclasses.dataclass
class Layer:
    """Holds a compiled function, and has compiled methods."""

    function: Any
    weight: float

    @pystage.compile
    def scaled(self, x: Any) -> Any:
        return self.weight * x

    @staticmethod
    @pystage.compile
    def tripled(x: Any) -> Any:
        return x * 3


LAYER = Layer(doubled, 1.5)


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_function_is_its_copy(copied: Any) -> None:
    assert copied(doubled) is doubled
    assert copied([doubled])[0] is doubled
    assert copied(Layer.tripled) is Layer.tripled
    assert copied(functools.partial(doubled, 3)).func is doubled
    assert copied(LAYER) == LAYER


def test_a_function_of_another_name_is_compiled_again() -> None:
    again = pickled(compiled)
    assert again.__wrapped__ is increased and again.fallback == "error" and again(2) == 3
    assert copy.deepcopy(compiled) is compiled


def test_a_function_without_a_name_has_no_pickle() -> None:
    def inner(x: Any) -> Any:
        return x

    with pytest.raises(AttributeError, match="Can't pickle local object"):
        pickle.dumps(pystage.compile(inner))


def test_fields_of_dataclasses() -> None:
    assert dataclasses.asdict(LAYER) == {"function": doubled, "weight": 1.5}
    assert dataclasses.astuple(LAYER) == (doubled, 1.5)
    assert dataclasses.replace(LAYER, weight=2.0).function is doubled


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_methods_are_those_of_a_copy(copied: Any) -> None:
    method = copied(LAYER.scaled)
    assert method.__self__ == LAYER and method.__self__ is not LAYER
    assert method(2.0) == 3.0


def test_methods_of_one_object_are_equal() -> None:
    other = copy.copy(LAYER)
    assert LAYER.scaled == LAYER.scaled == copy.copy(LAYER.scaled)
    assert len({LAYER.scaled, LAYER.scaled, other.scaled}) == 2
    assert LAYER.scaled != other.scaled


def cubed(x: Any) -> Any:
    return x**3


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, pickled, lambda f: cloudpickle.loads(cloudpickle.dumps(f))]
)
def test_transforms_are_made_again(copied: Any) -> None:
    assert copied(pystage.grad(cubed))(2.0) == 12.0
    assert copied(pystage.value_and_grad(cubed, argnums=(0,)))(2.0) == (8.0, (12.0,))
    assert copied(pystage.vmap(cubed)).__name__ == pystage.vmap(cubed).__name__


def by_value(function: Any) -> Any:
    return cloudpickle.loads(cloudpickle.dumps(function))


def test_cloudpickle_takes_functions_without_a_name_by_value() -> None:
    factor = 3.0

    @pystage.compile(fallback="error", tier="compiled")
    def scaled(x: Any) -> Any:
        return x * factor

    again = by_value(scaled)
    assert again is not scaled and again(2.0) == 6.0 and again.fallback == "error"
    assert by_value(again)(2.0) == 6.0
    assert by_value(pystage.grad(scaled))(2.0) == 3.0
    assert by_value(doubled) is doubled


def test_attributes_go_along() -> None:
    def scaled(x: Any) -> Any:
        return x * 3.0

    scaled.kind, scaled.unit = "gain", "m"  # type: ignore[attr-defined]
    staged: Any = pystage.compile(scaled, tier="compiled")
    staged.note, staged.itself, staged.unit, staged.__doc__ = [3], staged, "km", "Three times as much."
    again = by_value(staged)
    assert (again.note, again.kind, again.unit, again.__doc__) == ([3], "gain", "km", "Three times as much.")
    assert again.itself is again and again(2.0) == 6.0 and again.__wrapped__.unit == "m"
    gradient: Any = pystage.grad(staged)
    gradient.note = 4
    assert by_value(gradient).note == 4 and by_value(gradient)(2.0) == 3.0


SCRIPT = """
import cloudpickle, functools, sys
import numpy as np
import pystage

OFFSET = np.arange(3.0)

def helper(x):
    return x * 2

class Layer:
    def __init__(self):
        self.weight = 3.0
        self.act = named

    @pystage.compile(fallback="error")
    def __call__(self, x):
        return self.act(x) * self.weight

@pystage.compile(fallback="error")
def named(x):
    if x.sum() > 100:
        raise ValueError("large")
    return helper(x) + OFFSET

unnamed = pystage.compile(lambda x: helper(x) + 1, fallback="error")
held = [named, unnamed, Layer(), functools.partial(named, np.ones(3)), pystage.grad(lambda x: (x * x).sum())]
sys.stdout.buffer.write(cloudpickle.dumps(held))
"""

LOADER = """
import pickle, sys
import numpy as np
named, unnamed, layer, partial, gradient = pickle.load(sys.stdin.buffer)
x = np.ones(3)
print(named(x), unnamed(x), layer(x), partial(), gradient(x))
print(named.lower(x).staged)
"""


def test_another_process_has_no_main_module_like_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    data = subprocess.run([sys.executable, str(script)], check=True, capture_output=True).stdout
    script.unlink()
    found = subprocess.run([sys.executable, "-c", LOADER], input=data, capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()
    first, second = found.stdout.decode().splitlines()
    assert first == "[2. 3. 4.] [3. 3. 3.] [ 6.  9. 12.] [2. 3. 4.] [2. 2. 2.]"
    assert second == "named(float64[3], float64[3]) -> float64[3]"


class Ridge(RegressorMixin, BaseEstimator):
    """Holds a compiled function as a parameter, and has a compiled method."""

    def __init__(self, alpha: float = 1.0, feature: Any = doubled) -> None:
        self.alpha = alpha
        self.feature = feature

    @pystage.compile(fallback="error")
    def solved(self, x: Any, y: Any) -> Any:
        x = self.feature(x)
        return np.linalg.solve(x.T @ x + self.alpha * np.eye(x.shape[1]), x.T @ y)

    def fit(self, x: Any, y: Any) -> Ridge:
        self.coef_ = self.solved(x, y)
        return self

    def predict(self, x: Any) -> Any:
        return self.feature(x) @ self.coef_


def test_estimators_of_scikit_learn(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(20, 3))
    y = x @ np.array([1.0, 2.0, 3.0])
    fitted = Ridge(0.1).fit(x, y)
    assert clone(fitted).get_params() == {"alpha": 0.1, "feature": doubled}
    joblib.dump(fitted, tmp_path / "ridge")
    again = joblib.load(tmp_path / "ridge")
    np.testing.assert_array_equal(again.predict(x), fitted.predict(x))
    np.testing.assert_array_equal(pystage.load(fitted.solved.export(x, y))(x, y), fitted.coef_)


class Net(eqx.Module):
    linear: eqx.nn.Linear
    activation: Any

    def __init__(self, seed: int) -> None:
        self.linear = eqx.nn.Linear(3, 2, key=jax.random.key(seed))
        self.activation = doubled

    @pystage.compile(fallback="error")
    def __call__(self, x: Any) -> Any:
        return self.activation(self.linear(x))


def test_modules_of_equinox() -> None:
    net, x = Net(0), jnp.arange(3.0)
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, net)
    file.seek(0)
    for again in (eqx.tree_deserialise_leaves(file, Net(1)), pickled(net)):
        assert (again(x) == net(x)).all() and again.activation is doubled
    np.testing.assert_array_equal(pystage.load(net.__call__.export(x))(x), net(x))


class NnxNet(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 2, rngs=rngs)
        self.activation = doubled

    def __call__(self, x: Any) -> Any:
        return self.activation(self.linear(x))


def test_modules_of_flax() -> None:
    net, x = NnxNet(nnx.Rngs(0)), jnp.arange(3.0)
    graph, state = nnx.split(net)
    held = nnx.to_pure_dict(state)
    nnx.replace_by_pure_dict(state, flax.serialization.from_bytes(held, flax.serialization.to_bytes(held)))
    for again in (nnx.merge(graph, state), pickled(net)):
        assert (again(x) == net(x)).all() and again.activation is doubled
