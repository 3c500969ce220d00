"""What stands for an argument, by its annotation."""

# ruff: noqa: F821, UP037
from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ForwardRef, NamedTuple

import jax
import numpy as np
import pytest
from jaxtyping import Array, Float, Float32, Int, Key, Shaped

import pystage
from pystage.cli.annotations import NotAnArgument, Sizes, UnknownSize, argument_of, array_annotation, array_of

SIZES = {"n": 5, "m": 3}


class Weights(NamedTuple):
    w: "f32[n, m]"
    b: "f32[m]"


@dataclass
class Layer:
    w: "f32[n, m]"
    scale: float
    name: str = "layer"

    def __init__(self) -> None:
        raise AssertionError("no code of the class runs")


@dataclass
class Nested:
    first: Layer
    weights: Weights


@dataclass
class Computed:
    w: "f32[n]"

    def __post_init__(self) -> None:
        self.size = len(self.w)


class Annotated_:
    w: "f32[n]"


@dataclass
class Pair:
    first: Layer
    weights: Weights
    more: tuple[Layer, float]


@dataclass
class Chain:
    w: "f32[n]"
    next: "Chain"


TYPES: dict[str, tuple[Any, str]] = {
    "text": ("f32[n, 784]", "f32[5,784]"),
    "no axes": ("f64[]", "f64[]"),
    "comma at the end": ("f32[n,]", "f32[5]"),
    "a name of NumPy": ("float32[n]", "f32[5]"),
    "bool": ("bool[n]", "pred[5]"),
    "i32": ("i32[n]", "s32[5]"),
    "sums and products": ("f32[2*n+1, n*m, n//2, m-1]", "f32[11,15,2,2]"),
    "in a tuple": (ForwardRef("f32[n]"), "f32[5]"),
    "Annotated": (Annotated[np.ndarray, "weights of the layer", "f32[n]"], "f32[5]"),
}


@pytest.mark.parametrize("name", TYPES)
def test_texts(name: str) -> None:
    annotation, spec = TYPES[name]
    assert argument_of(annotation, SIZES) == pystage.spec(spec)


JAXTYPING: dict[str, tuple[Any, str, str]] = {
    "names": (Float32[Array, "n m"], "f32[5,3]", "jax"),
    "several element types": (Float[Array, "n"], "f32[5]", "jax"),
    "of NumPy": (Float[np.ndarray, "n"], "f64[5]", "ndarray"),
    "integers": (Int[Array, "n"], "s32[5]", "jax"),
    "no axes": (Float32[Array, ""], "f32[]", "jax"),
    "a number with a name": (Float32[Array, "rows=4 n"], "f32[4,5]", "jax"),
    "broadcasting": (Float32[Array, "#n m"], "f32[5,3]", "jax"),
    "an expression": (Float32[Array, "n+1"], "f32[6]", "jax"),
    "one of two": (Float32[Array, "n"] | Float32[np.ndarray, "n"], "f32[5]", "jax"),
}


@pytest.mark.parametrize("name", JAXTYPING)
def test_jaxtyping(name: str) -> None:
    annotation, spec, form = JAXTYPING[name]
    assert argument_of(annotation, SIZES) == pystage.spec(spec, form)


def test_numbers() -> None:
    assert argument_of(float, {}) == pystage.spec("f64[]", "python")
    assert argument_of(int, {}) == pystage.spec("s64[]", "python")
    assert argument_of(complex, {}) == pystage.spec("c128[]", "python")


def test_structures() -> None:
    w, b = pystage.spec("f32[5,3]"), pystage.spec("f32[3]")
    assert argument_of(tuple[Annotated[Any, "f32[n, m]"], float], SIZES)[0] == w
    assert argument_of(Weights, SIZES) == Weights(w, b)
    made = argument_of(Nested, SIZES)
    assert type(made) is Nested and type(made.first) is Layer
    assert (made.first.w, made.first.name, made.weights.b) == (w, "layer", b)
    assert argument_of(Annotated_, SIZES).w == pystage.spec("f32[5]")


REFUSED: dict[str, tuple[Any, str]] = {
    "no array": ("float", r"'float' is not a type such as 'f32\[n, 784\]'"),
    "no element type": ("q7[n]", r"'q7\[n\]' is not a type"),
    "not closed": ("f32[n", r"'f32\[n' is not a type"),
    "no dimension": ("f32[n!]", r"'n!' in 'f32\[n!\]' is neither a number nor the name"),
    "a call": ("f32[len(x)]", r"'len\(x\)' in"),
    "empty": ("f32[n,,m]", "'' in"),
    "division by zero": ("f32[n//0]", "'n//0' in"),
    "negative": ("f32[m-5]", "'m-5' in 'f32.m-5.' is negative"),
    "ndarray": (np.ndarray, "`ndarray` says no shape and no element type"),
    "jax.Array": (jax.Array, "`Array` says no shape"),
    "list": (list[float], r"`list\[float\]` is no annotation that says shape and element type"),
    "any number of parts": (tuple[float, ...], "is no annotation"),
    "any element type": (Shaped[Array, "n"], "says no element type"),
    "keys": (Key[Array, "n"], "says no element type"),
    "no fields": (str, "`str` says no shape and no element type, and has no annotated fields"),
    "computed fields": (Computed, "`Computed` computes fields in `__post_init__`"),
    "several layers": (Pair, "`Pair` holds several `Layer`, whose dimensions may differ"),
    "a chain": (Chain, "`Chain` holds several `Chain`"),
    "None": (None, "`None` is no annotation"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_says_too_little(name: str) -> None:
    annotation, text = REFUSED[name]
    with pytest.raises(NotAnArgument, match=text):
        argument_of(annotation, SIZES)


def test_a_size_that_is_not_given_is_named() -> None:
    with pytest.raises(UnknownSize, match="the size of the dimension `k` is not given") as error:
        array_of("f32[n, 2*k]", SIZES)
    assert error.value.name == "k"
    with pytest.raises(UnknownSize, match="`m` is not given"):
        argument_of(Nested, {"n": 3})


def test_fresh_sizes_for_all_names() -> None:
    sizes = Sizes({"n": 2}, itertools.count(100))
    assert array_of("f32[n, a, b, a]", sizes).shape == (2, 100, 101, 100)
    assert argument_of(Float32[Array, "_ _ a"], sizes).shape == (102, 103, 100)
    assert argument_of(Float32[Array, "... a"], sizes).shape == (104, 105, 100)
    assert argument_of(Float32[Array, "*batch a"], sizes).shape == (106, 107, 100)
    assert (sizes["batch_1"], sizes["_1"]) == (106, 102)


def test_what_is_said_of_an_array() -> None:
    said = array_annotation(Float[Array, "... n"])
    assert said is not None
    assert said.dims == ("...", "n") and {"f32", "f64", "bf16"} <= set(said.dtypes)
    assert said.text == "Float[Array, '... n']"
    nothing: Mapping[str, Any] = {"float": float, "None": None, "str": "float"}
    assert [array_annotation(annotation) for annotation in nothing.values()] == [None, None, None]
