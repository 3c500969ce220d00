"""Steps whose arguments and results are dataclasses and plain objects: models, optimisers, trees."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import pystage
from lazy.stepping import compare
from pystage import lazy


@dataclass
class Layer:
    w: Any
    b: Any

    def __call__(self, x: Any) -> Any:
        return np.tanh(x @ self.w + self.b)


@dataclass
class Mean:
    """Running statistics, as of a batch norm."""

    mean: Any
    momentum: float = 0.9
    steps: int = 0
    name: str = "mean"

    def __call__(self, x: Any) -> Any:
        batch = x.mean(axis=0)
        self.mean = self.momentum * self.mean + (1 - self.momentum) * batch
        self.steps += 1
        return x - batch


class Net:
    """Layers, and one that is at two places."""

    def __init__(self, layers: list[Layer], norm: Mean) -> None:
        self.layers, self.norm, self.first = layers, norm, layers[0]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any


class Slotted:
    __slots__ = ("empty", "held", "x")

    def __init__(self, x: Any) -> None:
        self.x, self.held = x, [x]


class Node:
    """A tree whose nodes know their parents."""

    def __init__(self, value: Any) -> None:
        self.parent: Node | None = None
        self.value, self.children = value, []

    def add(self, child: Node) -> None:
        child.parent = self
        self.children.append(child)


RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((5, 3)), RNG.standard_normal(5)


def lazily(value: Any) -> Any:
    """A copy with lazy tensors in place of ndarrays."""
    made = copy.deepcopy(value)
    seen: set[int] = set()

    def fill(each: Any) -> Any:
        if type(each) is np.ndarray:
            return tensors.setdefault(id(each), (each, lazy.asarray(each)))[1]
        if id(each) in seen or isinstance(each, str):
            return each
        seen.add(id(each))
        if isinstance(each, list):
            each[:] = [fill(child) for child in each]
        elif hasattr(each, "__dict__") or hasattr(type(each), "__slots__"):
            for name in [*getattr(each, "__dict__", ()), *getattr(type(each), "__slots__", ())]:
                if hasattr(each, name):
                    object.__setattr__(each, name, fill(getattr(each, name)))
        return each

    tensors: dict[int, tuple[Any, Any]] = {}
    return fill(made)


def net() -> Net:
    layers = [
        Layer(RNG.standard_normal((3, 4)), np.zeros(4)),
        Layer(RNG.standard_normal((4, 2)), np.zeros(2)),
    ]
    return Net(layers, Mean(np.zeros(2)))


def state(model: Net) -> list[Any]:
    return [*[a for layer in model.layers for a in (layer.w, layer.b)], model.norm.mean, model.norm.steps]


def train(model: Any, x: Any, y: Any, rate: Any) -> Any:
    def loss(model: Any) -> Any:
        return np.mean((model(x)[:, 0] - y) ** 2)

    value, slope = pystage.value_and_grad(loss)(model)
    for layer, by in zip(model.layers, slope.layers, strict=True):
        layer.w -= rate * by.w
        layer.b = layer.b - rate * by.b
    return value, model.norm


def test_training_changes_the_model() -> None:
    stepped, plain = lazily(net()), None
    plain = copy.deepcopy(stepped)
    step = lazy.step(train)
    lazy.reset_metrics()
    for _ in range(4):
        x, y = lazy.asarray(X), lazy.asarray(Y)
        (ours, norm), (theirs, _) = step(stepped, x, y, 0.1), train(plain, x, y, 0.1)
        assert norm is stepped.norm and stepped.first is stepped.layers[0]
        compare([theirs, *state(plain)], [ours, *state(stepped)])
    assert lazy.metrics().recorded.total() == 2 and lazy.metrics().steps.total() == 4


def moved(p: Any, by: Any) -> Any:
    return replace(p, x=p.x + by), Point(p.y, [p.x * 2, p]), p


def test_results_are_new_objects() -> None:
    step, p = lazy.step(moved), lazily(Point(X, Y))
    for _ in range(4):
        first, second, same = step(p, 1.5)
        assert same is p and second.y[1] is p and type(first) is Point and second.x is p.y
        compare([X + 1.5, Y, X * 2], [first.x, first.y, second.y[0]])


def swap(a: Any, b: Any) -> None:
    a.x, b.x = b.x * 2, a.x
    a.held.append(1) if len(a.held) > 5 else None
    b.empty = a.x.sum()


def test_slots_and_attributes_that_are_new() -> None:
    step = lazy.step(swap)
    for _ in range(4):
        ours = [lazily(Slotted(X)), lazily(Slotted(Y))]
        before = ours[0].x
        step(*ours)
        assert ours[1].x is before and ours[0].held[0] is before
        compare([Y * 2, X, (Y * 2).sum()], [ours[0].x, ours[1].x, ours[1].empty])


def test_trees_with_parents() -> None:
    def scaled(root: Any) -> Any:
        for child in root.children:
            child.value = child.value * root.value.sum() + child.parent.value
        return root.children[1]

    step = lazy.step(scaled)
    for size in (3, 3, 3, 4):
        plain = Node(np.arange(float(size)))
        for k in (1.0, 2.0):
            plain.add(Node(np.full(size, k)))
        ours = lazily(plain)
        last = step(ours)
        scaled(plain)
        assert last is ours.children[1] and last.parent is ours
        compare([c.value for c in plain.children], [c.value for c in ours.children])


def test_what_changes_between_calls() -> None:
    """Numbers in attributes are parameters, others are part of the key, and so are attributes of the class."""

    class Scale:
        factor = 2.0

        def __init__(self, x: Any) -> None:
            self.x, self.rate, self.twice = x, 1, False

    def scaled(s: Any) -> Any:
        y = s.x * s.rate * s.factor
        return y * 2 if s.twice else y

    step, s = lazy.step(scaled), lazily(Scale(X))
    for rate, twice, factor in [
        (1, False, 2.0),
        (2, False, 2.0),
        (3, True, 2.0),
        (4, True, 3.0),
        (5, True, 3.0),
    ]:
        s.rate, s.twice, Scale.factor = rate, twice, factor
        compare(X * rate * factor * (1 + twice), step(s))


def test_one_that_raises_changes_what_it_changed_before() -> None:
    def fails(p: Any) -> None:
        p.mean = p.mean + 1
        p.steps += 1
        if p.steps > 2:
            raise ValueError(p.name)

    step, m = lazy.step(fails), lazily(Mean(Y))
    for count in (1, 2, 3, 4):
        if count > 2:
            with pytest.raises(ValueError, match="mean"):
                step(m)
        else:
            step(m)
        compare([Y + count, count], [m.mean, m.steps])


def test_attributes_that_are_deleted_are_refused() -> None:
    def forgets(m: Any) -> None:
        del m.momentum

    with pytest.raises(lazy.StepError, match="deletes an attribute"):
        lazy.step(forgets)(lazily(Mean(Y)))
