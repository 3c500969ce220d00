"""Whole models (`examples/models/`): steps of training, plain, compiled and on lazy tensors, and their gradients."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

sys.path.append(str(Path(__file__).parents[2] / "examples" / "models"))  # its modules import each other

import resnet50
import roberta
import running
import vgg19
from layers import arrays_of, with_arrays

MODELS: dict[str, tuple[ModuleType, Callable[[], Any]]] = {
    "resnet50": (resnet50, resnet50.small),
    "roberta": (roberta, roberta.small),
    "vgg19": (vgg19, vgg19.small_step),
}
STEPS = {**MODELS, "roberta with dropout": (roberta, roberta.small_with_dropout)}
PROGRAMS = [
    pytest.param(function, make, id=f"{name}-{function.__name__}-{i}")
    for name, (module, _) in MODELS.items()
    for i, (function, make) in enumerate(module.PROGRAMS)
    if function is not module.train_step
]
"""Those of the models but their steps, which `test_training` runs."""


@pytest.mark.parametrize("function, make", PROGRAMS)
def test_programs(function: Any, make: Any) -> None:
    check(function, *make(), tolerance=1e-4, interpreted=False, runs=1)


def contents(*models: Any) -> list[Any]:
    """All arrays of models and optimisers, running means and sums among them."""
    return [np.asarray(getattr(*place)) for model in models for place in arrays_of(model, state=True)]


@pytest.mark.parametrize("name", STEPS)
def test_training(name: str) -> None:
    """Two steps, plain, compiled and on lazy tensors: the same losses, the second one less, and the same arrays then."""
    module, make = STEPS[name]
    arguments = make()
    before = contents(arguments[0])
    staged = pystage.compile(module.train_step, fallback="error")
    found = {}
    for way, step, given in (
        ("plain", module.train_step, copy.deepcopy(arguments)),
        ("compiled", staged, copy.deepcopy(arguments)),
        ("lazy", module.train_step, running.on_lazy_tensors(arguments)),
    ):
        losses = [float(step(*given)) for _ in range(2)]
        assert losses[1] < losses[0]
        found[way] = losses, contents(*given[:2])
    losses, after = found.pop("plain")
    assert all(np.any(new != old) for new, old in zip(after, before))  # those of the model, which come first
    for others, arrays in found.values():
        np.testing.assert_allclose(others, losses, rtol=1e-4)
        for ours, plain in zip(arrays, after, strict=True):
            assert ours.dtype == plain.dtype
            np.testing.assert_allclose(ours, plain, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_slopes(name: str) -> None:
    """Of the loss, in one direction, in 64 bits."""
    module, make = MODELS[name]
    with jax.enable_x64(True):
        model, _, *rest = [
            each
            if isinstance(each, float)
            else with_arrays(each, lambda x: x.astype(jnp.float64))
            if not isinstance(each, jax.Array)
            else each.astype(jnp.float64 if each.dtype == jnp.float32 else each.dtype)
            for each in make()
        ]
        batch = rest[:-1]
        rng = np.random.default_rng(0)
        direction = with_arrays(model, lambda x: jnp.asarray(rng.standard_normal(x.shape)))

        def at(step: float) -> float:
            moved = copy.deepcopy(model)
            for (layer, name), (along, _) in zip(arrays_of(moved), arrays_of(direction), strict=True):
                setattr(layer, name, getattr(layer, name) + step * getattr(along, name))
            return float(module.loss(moved, *batch))

        gradient = pystage.grad(module.loss)(copy.deepcopy(model), *batch)
        places = zip(arrays_of(gradient), arrays_of(direction), strict=True)
        slope = sum([float(jnp.sum(getattr(*g) * getattr(*d))) for g, d in places])
        h = 1e-6
        assert slope == pytest.approx((at(h) - at(-h)) / (2 * h), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "count"), [("resnet50", 25_557_032), ("roberta", 124_695_129), ("vgg19", 143_667_240)]
)
def test_full_sizes(name: str, count: int) -> None:
    """The numbers that learn are those of the papers; the step is lowered, and nothing runs."""
    module, _ = MODELS[name]
    arguments = module.make_step(seed=None)
    assert running.count(arguments[0]) == count
    pystage.compile(module.train_step, fallback="error").lower(*arguments)


def test_batch_norm_predicts_by_its_running_means() -> None:
    model, _, images, *_ = resnet50.small()
    kept = contents(model)
    plain = model(images)
    assert all(map(np.array_equal, kept, contents(model)))
    resnet50.loss(model, *resnet50.small()[2:4])
    assert not np.array_equal(plain, model(images))


def test_the_gradient_of_vgg19_is_that_of_jax() -> None:
    """Of a sum that is not one whatever the weights: weighted, in 64 bits."""
    with jax.enable_x64(True):
        narrow, images = vgg19.small()
        model, images = with_arrays(narrow, lambda x: x.astype(jnp.float64)), images.astype(jnp.float64)
        rates = jnp.linspace(0.5, 1.5, 10)

        def weighted(model: Any, images: Any) -> Any:
            return jnp.sum(vgg19.forward(model, images) * rates)

        def of_arrays(arrays: Any) -> Any:
            following = iter(arrays)
            return weighted(with_arrays(model, lambda _: next(following)), images)

        found = vgg19.weights(pystage.grad(weighted)(model, images))
        wanted = jax.jit(jax.grad(of_arrays))(vgg19.weights(model))
        assert len(found) == 38
        for ours, theirs in zip(found, wanted, strict=True):
            assert np.any(theirs != 0)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-15)
