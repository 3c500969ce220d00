"""Programs that serve many sizes: the results of the plain run at each size, and one program for each bucket."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

RNG = np.random.default_rng(0)
SIZES = (2, 7, 8, 11)


def same(ours: Any, theirs: Any) -> None:
    """The same classes, types, shapes and numbers."""
    assert type(ours) is type(theirs)
    if theirs is None:
        return
    if isinstance(theirs, tuple | list):
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    else:
        if isinstance(theirs, np.ndarray | jax.Array):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5 if isinstance(theirs, jax.Array) else 1e-12)


def reductions(x: Any, y: Any) -> Any:
    return (
        x.sum(axis=0),
        x.mean(),
        x.std(axis=0),
        y.max(),
        y.argmin(),
        (y > 0).sum(),
        x.T @ x,
        len(x),
        x.shape,
    )


def elements(x: Any, y: Any) -> Any:
    z = x * y[:, None] + 1.0
    return z, np.sort(y), np.cumsum(y), y[-1] + 0.0, np.concatenate([y, y]), y[y > 0], np.ones(len(y)), z[1:]


def loops(x: Any, y: Any) -> Any:
    total, seen = 0.0, np.zeros(3)
    for i in range(len(y)):
        if y[i] > 0:
            total += y[i]
            seen += x[i]
    return total, seen


def training(x: Any, y: Any) -> Any:
    w = np.zeros(3)
    losses = []
    for _ in range(3):
        value, slope = pystage.value_and_grad(lambda w: np.mean((np.tanh(x @ w) - y) ** 2))(w)
        w = w - 0.1 * slope
        losses.append(value)
    return w, losses


def slopes(x: Any, y: Any) -> Any:
    """Derivatives by what is in the bucket."""
    return pystage.grad(lambda x: np.sum(np.tanh(x) * y[:, None]))(x)


@pytest.mark.parametrize("program", [reductions, elements, loops, training, slopes])
def test_the_results_are_those_of_the_plain_run(program: Callable[..., Any]) -> None:
    staged = pystage.compile(program, bucket={"x": {0: "pow2"}, "y": {0: "pow2"}}, fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in SIZES:
            x, y = RNG.standard_normal((size, 3)), RNG.standard_normal(size)
            same(staged(x, y=y) if size == 7 else staged(x, y), program(x, y))
    buckets = {text.split("float64[")[1].split(",")[0] for text in staged.signatures()}
    assert buckets == {"2", "8", "16"} and all(text.endswith(" in buckets") for text in staged.signatures())


def test_arrays_of_jax() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        scores = jax.nn.log_softmax(jax.nn.gelu(x @ w))
        return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(y, 4), axis=1))

    def program(w: Any, x: Any, y: Any) -> Any:
        value, slope = pystage.value_and_grad(loss)(w, x, y)
        return value, w - slope, jax.nn.softmax(x, axis=0), jax.nn.relu(x).sum(), x.shape[0]

    staged = pystage.compile(program, bucket={"x": {0: 16}, "y": {0: 16}}, fallback="error")
    w = jnp.ones((3, 4)).at[1, 2].set(0.5)
    for size in (3, 16, 7):
        x = jnp.asarray(RNG.standard_normal((size, 3)), jnp.float32)
        y = jnp.asarray(RNG.integers(0, 4, size))
        found = staged(w, x, y)
        same(found, program(w, x, y))
        value, slope = jax.value_and_grad(loss)(w, x, y)
        np.testing.assert_allclose(found[0], value, rtol=1e-5)
        np.testing.assert_allclose(found[1], w - slope, rtol=1e-5)
    assert staged.programs == 1
    assert jax.jit(lambda *args: staged(*args)[0])(w, x, y) == pytest.approx(
        float(value), rel=1e-5
    )  # a trace has one size


def test_two_axes_and_sizes_that_are_listed() -> None:
    def program(x: Any) -> Any:
        return x.sum(axis=0), x.sum(axis=1), x.T @ x, (x * x).max()

    staged = pystage.compile(program, bucket={"x": {0: (10, 20), 1: 5}}, fallback="error")
    for shape in ((2, 3), (10, 5), (20, 4), (11, 7), (4, 4), (25, 3)):
        x = RNG.standard_normal(shape)
        same(staged(x), program(x))
    assert (
        sum("float64[25,3]" in text.replace(" ", "") for text in staged.signatures()) == 1
    )  # larger than all


def test_what_tells_the_copy_from_the_array_has_a_program_for_each_size() -> None:
    kept: list[Any] = []

    def stores(x: Any) -> Any:
        x[0] = 7.0
        return x.sum()

    def gives(x: Any) -> Any:
        return x

    def gives_a_view(x: Any) -> Any:
        return [x[1:]]

    def keeps(x: Any, into: list[Any]) -> Any:
        into.append(x)

    for function in (stores, gives, gives_a_view, keeps):
        args = (kept,) if function is keeps else ()
        staged = pystage.compile(function, bucket={"x": {0: 8}}, fallback="error")
        with pytest.warns(
            pystage.SpecialisationWarning, match="is compiled for each size, not for buckets: it "
        ):
            x, y = np.arange(5.0), np.arange(5.0)
            found, wanted = staged(x, *args), function(y, *args)
        same(found, wanted)
        same(x, y)
        if function is gives:
            assert found is x
        if function is gives_a_view:
            assert found[0].base is x
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            staged(np.arange(6.0), *args)
    assert np.shares_memory(kept[0], kept[0]) and len(kept) == 3


def test_arguments_that_share_memory_are_taken_as_they_are() -> None:
    def program(x: Any, y: Any) -> Any:
        y[:] = 1.0
        return x.sum(), x is y

    staged = pystage.compile(program, bucket={"x": {0: 8}}, fallback="error")
    x, a = np.zeros(6), np.zeros(6)
    with pytest.raises(pystage.StagingError, match="`y` shares memory with `x`"):
        staged(x, x[2:])
    same(staged(x, x), program(a, a))
    y, b = np.zeros(3), np.zeros(3)
    same(staged(x, y), program(a, b))
    same(y, b)


def test_what_it_raises_has_the_lines_of_the_user() -> None:
    @pystage.compile(bucket={"x": {0: 8}}, fallback="error")
    def checked(x: Any) -> Any:
        if x.sum() > 3:
            raise ValueError("too much")
        return x.sum()

    assert checked(np.ones(3)) == 3.0
    with pytest.raises(ValueError, match="too much") as caught:
        checked(np.ones(4))
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files == [__file__, __file__]


def test_the_plain_tier_has_no_buckets() -> None:
    staged = pystage.compile(lambda x: x, bucket={"x": {0: 8}})
    x = np.ones(3)
    with pystage.plain():
        assert staged(x) is x
    assert staged.programs == 0


@pytest.mark.parametrize(
    "bucket, text",
    [
        ({"z": {0: 8}}, "no parameter `z`"),
        ({"x": {-1: 8}}, "counted from 0, not -1"),
        ({"x": {0: "pow3"}}, "not 'pow3'"),
        ({"x": {0: ()}}, r"not \(\)"),
        ({"x": {0: 0}}, "not 0"),
    ],
)
def test_wrong_buckets_are_refused(bucket: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        pystage.compile(lambda x: x, bucket=bucket)


def test_buckets_have_no_layouts() -> None:
    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    with pytest.raises(ValueError, match="go with no `in_shardings`"):
        pystage.compile(lambda x: x, bucket={"x": {0: 8}}, in_shardings=place)


Rows = Annotated[np.ndarray, pystage.Bucket({0: "pow2"}), "f64[n, 3]"]


def test_annotations_ask_for_buckets() -> None:
    def program(x: Rows, y: Annotated[np.ndarray, pystage.Bucket({0: 4})], w: f64[3]) -> Rows:  # type: ignore # noqa: F821
        return x.sum() + y.mean() + w.sum()

    staged = pystage.compile(program, fallback="error")
    overridden = pystage.compile(program, bucket={"x": {0: 6}}, fallback="error")
    for size in (5, 6, 7, 8):
        args = RNG.standard_normal((size, 3)), RNG.standard_normal(size), np.ones(3)
        same(staged(*args), program(*args))
        same(overridden(*args), program(*args))
    (text,) = staged.signatures()
    assert "float64[8, 3], float64[8], float64[3]" in text
    assert [t.count("float64[6, 3], float64[8]") for t in overridden.signatures()] == [1, 0]
    with pytest.raises(ValueError, match="go with no `in_shardings`"):
        pystage.compile(program, in_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0]))


class Model:
    """State that a method in buckets changes."""

    def __init__(self) -> None:
        self.weights, self.calls = np.ones(3), 0

    def step(self, x: Any, *rest: Any, scale: Any = 2.0, **more: Any) -> Any:
        self.weights = self.weights - 0.1 * scale * x.mean(axis=0)
        self.calls += 1
        return (x @ self.weights).sum() + sum(rest) + more.get("bias", 0.0)

    staged = pystage.compile(step, bucket={"x": {0: "pow2"}}, fallback="error")


def test_methods_and_all_kinds_of_arguments() -> None:
    ours, theirs = Model(), Model()
    for size in (5, 8, 7):
        x = RNG.standard_normal((size, 3))
        calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
            ((x,), {}),
            ((x, 1.0, 2.0), {}),
            ((), {"x": x}),
            ((x,), {"scale": 3.0, "bias": 1.5}),
        ]
        for args, kwargs in calls:
            same(ours.staged(*args, **kwargs), theirs.step(*args, **kwargs))
            same(ours.weights, theirs.weights)
            assert ours.calls == theirs.calls
    assert Model.staged.programs == 3


def test_keywords_of_any_name() -> None:
    def program(x: Any, *, s: Any, function: Any = 2.0) -> Any:
        return x.sum() * s - function

    staged = pystage.compile(program, bucket={"x": {0: 4}}, fallback="error")
    for more in ({}, {"function": 0.5}):
        same(staged(np.ones(3), s=3.0, **more), program(np.ones(3), s=3.0, **more))
    assert staged.programs == 2


def test_sizes_that_keep_changing_suggest_buckets() -> None:
    staged = pystage.compile(lambda w, x: (x @ w).sum(), fallback="error")
    with pytest.warns(pystage.SpecialisationWarning) as told:
        for size in range(2, 14):
            staged(np.ones(3), np.ones((size, 3)))
    (warning,) = told
    assert "`pystage.compile(bucket={'x': {0: 'pow2'}})` lets sizes share programs" in str(warning.message)
    assert warning.filename == __file__


def test_programs_are_compiled_ahead(capfd: pytest.CaptureFixture[str]) -> None:
    ran: list[int] = []

    def program(x: Any, y: Any = 1.0) -> Any:
        print("it runs")
        return np.tanh(x).sum() * y

    staged = pystage.compile(program, bucket={"x": {0: "pow2"}}, fallback="error")
    staged.warm_up([pystage.spec(f"f64[{size}]") for size in (4, 8)], threads=2)
    staged.warm_up([{"x": np.ones(3), "y": 2.0}, (jax.ShapeDtypeStruct((4,), np.float32), 1.0)])
    count = staged.programs
    assert count == 4 and not ran
    assert capfd.readouterr() == ("", "")  # no program has run, and there is no bar without a terminal
    for args in ((np.ones(3),), (np.ones(7),), (jnp.ones(3, jnp.float32), 1.0)):
        assert staged(*args) == pytest.approx(program(*args), rel=1e-6)
    assert staged.programs == count
    with pytest.raises(pystage.StagingError):
        pystage.compile(lambda x: eval("x"), fallback="error").warm_up([np.ones(3)])
