"""Which options a program is compiled with: those of XLA, of pystage, of the user."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage.runtime.executables import compiler_options
from pystage.runtime.executables.compiler_options import OLDER_EMITTERS, WITHOUT_LIBRARY, best

LIBRARY = "xla_cpu_experimental_ynn_fusion_type"
EMITTERS = "xla_cpu_use_fusion_emitters"


def layer(x, w):
    return np.maximum(x @ w, 0)


def inputs(rows=8, inner=2048, columns=4096, dtype=np.float32):
    return np.ones((rows, inner), dtype), np.ones((inner, columns), dtype)


def options(f, *args, of=LIBRARY):
    chosen = best(pystage.compile(f).lower(*args).staged.function)
    return {option: value for option, value in chosen.items() if option == of}


def in_library(compiled):
    return "__ynn_fusion" in compiled.as_text()


def with_sums(x, w):
    return (x @ w).sum(), np.ones((1, 1), np.float32) + np.sort(x, axis=0)


def sums_of_much(x, w, much):
    return x @ w, much.sum()


def convolved(x, w):
    return (
        jax.lax.conv_general_dilated(x.reshape(1, 1, *x.shape), jnp.ones((1, 1, 3, 3)), (1, 1), "SAME")[0, 0]
        @ w
    )


def slope(x, w):
    return pystage.grad(lambda w: ((np.maximum(x @ w, 0) @ w.T) ** 2).mean())(w)


def repeated(x, w):
    for _ in range(100):
        x = np.tanh(x @ w.T @ w)
    return x


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (layer, inputs(), WITHOUT_LIBRARY),
        (layer, inputs(1), {}),
        (layer, inputs(8, 100, 100), {}),
        (layer, inputs(8, 784, 4096), {}),
        (layer, inputs(dtype=np.float64), {}),
        (lambda x, w: x @ w.T, (inputs()[0], inputs()[1].T.copy()), {}),
        (with_sums, inputs(), WITHOUT_LIBRARY),
        (sums_of_much, (*inputs(), np.ones((2000, 2000), np.float32)), {}),
        (slope, inputs(), {}),
        (convolved, tuple(map(jnp.asarray, inputs())), {}),
        (repeated, (np.ones((8, 4096), np.float32), inputs()[1]), {}),
    ],
)
def test_options_follow_what_the_program_multiplies(f, args, expected):
    assert options(f, *args) == expected


def bisection(target):
    low, high = 0.0, 100.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle * middle < target:
            low = middle
        else:
            high = middle
    return low


def recurrent(xs, w, u):
    h = np.zeros(64, np.float32)
    for x in xs:
        h = np.tanh(x @ w + h @ u)
    return h


def relaxation(grid):
    for _ in range(200):
        grid = 0.5 * grid + 0.25
    return grid


RECURRENT = np.ones((20, 8), np.float32), np.ones((8, 64), np.float32), np.ones((64, 64), np.float32)


@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="XLA has no other emitters")
@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (lambda x: x * 2 + 1, (np.ones(3),), OLDER_EMITTERS),
        (bisection, (2.0,), OLDER_EMITTERS),
        (lambda x: x @ x, (np.ones((30, 30)),), OLDER_EMITTERS),
        (np.exp, (np.ones(1_000_000),), {}),
        (np.cbrt, (np.ones(3),), {}),
        (recurrent, RECURRENT, {}),
        (relaxation, (np.ones(10),), OLDER_EMITTERS),
        (relaxation, (np.ones((300, 300)),), {}),
    ],
)
def test_programs_with_little_work_on_vectors_have_the_emitters_that_compile_faster(f, args, expected):
    assert options(f, *args, of=EMITTERS) == expected


@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="XLA has no other emitters")
def test_the_emitters_are_chosen_for_calls_unless_the_user_has_chosen(monkeypatch):
    program = pystage.compile(bisection).lower(2.0).staged.function
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=true")
    assert compiler_options.options_for(program) == {}
    monkeypatch.delenv("XLA_FLAGS")
    assert compiler_options.options_for(program) == OLDER_EMITTERS
    asked = []
    jit = jax.jit
    monkeypatch.setattr(jax, "jit", lambda f, **kw: asked.append(kw.get("compiler_options")) or jit(f, **kw))
    assert pystage.compile(bisection)(2.0) == bisection(2.0)
    assert dict(OLDER_EMITTERS) in asked


@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="XLA has no other emitters")
def test_a_program_with_options_runs_at_once_where_jax_traces(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS")
    root = pystage.compile(bisection)
    assert jax.jit(lambda x: x + root(2.0))(1.0) == np.float32(1 + bisection(2.0))


def test_a_loop_counts_as_often_as_it_runs():
    def f(x, w, y):
        for _ in range(1000):
            x = x + np.sin(y).sum()
        return x @ w

    x, w = inputs()
    assert options(f, x, w, np.ones(1000, np.float32)) == {}


def test_large_weights_are_not_packed():
    compiled = pystage.compile(layer).lower(*inputs()).compile()
    by_default = pystage.compile(layer).lower(*inputs()).compile
    assert not in_library(compiled)
    assert in_library(by_default({LIBRARY: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}))
    small = pystage.compile(layer).lower(*inputs(64, 300, 300)).compile()
    assert in_library(small)


def test_calls_use_the_options(monkeypatch):
    asked = []
    jit = jax.jit
    monkeypatch.setattr(jax, "jit", lambda f, **kw: asked.append(kw.get("compiler_options")) or jit(f, **kw))
    x, w = inputs()
    np.testing.assert_allclose(pystage.compile(layer)(x, w), layer(x, w))
    assert dict(WITHOUT_LIBRARY) in asked
    asked.clear()
    pystage.compile(layer)(*inputs(64, 300, 300))
    assert asked == [None]


def test_another_size_gets_its_own_options():
    f = pystage.compile(layer)
    for args in (inputs(8, 64, 64), inputs(), inputs(8, 64, 64), inputs()):
        np.testing.assert_allclose(f(*args), layer(*args))
    assert {tuple(s.run_options) for s in specialisations(f)} == {(), (LIBRARY,)}


def specialisations(f):
    return [made[-1] for made in f._short.values()] + [
        s
        for group in f._dispatcher.groups.values()
        for entry in group.entries.values()
        for family in [entry.shared, *(entry.by_types or {}).values()]
        for found in family.by_value.values()
        for s in found
    ]


def test_the_users_own_options_come_first(monkeypatch):
    monkeypatch.setattr(pystage.config, "_compiler_options", {})
    assert in_library(pystage.compile(layer).lower(*inputs()).compile())
    pystage.config.compiler_options = {LIBRARY: ""}
    assert not in_library(pystage.compile(layer).lower(*inputs(64, 300, 300)).compile())
    with pytest.raises(TypeError, match="compiler_options must be None or options"):
        pystage.config.compiler_options = "-O3"  # type: ignore[assignment]
    monkeypatch.setattr(pystage.config, "_compiler_options", None)
    monkeypatch.setenv("XLA_FLAGS", f"--{LIBRARY}=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT")
    assert LIBRARY not in compiler_options.options_for(
        pystage.compile(layer).lower(*inputs()).staged.function
    )


def test_flags_in_a_file_come_first(monkeypatch, tmp_path):
    flags = tmp_path / "flags"
    flags.write_text(f"--{LIBRARY}=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT\n")
    monkeypatch.setenv("XLA_FLAGS", str(flags))
    assert LIBRARY not in compiler_options.options_for(
        pystage.compile(layer).lower(*inputs()).staged.function
    )


def test_an_option_that_xla_does_not_know_is_not_given(monkeypatch):
    unknown = {"xla_cpu_no_such_option": True}
    monkeypatch.setattr(compiler_options, "WITHOUT_LIBRARY", unknown)
    compiler_options.known.cache_clear()
    try:
        np.testing.assert_allclose(pystage.compile(layer)(*inputs()), layer(*inputs()))
        pystage.compile(layer)(*inputs(16))
        assert compiler_options.known.cache_info().misses == 1
    finally:
        compiler_options.known.cache_clear()


def test_calls_inside_of_jax_transformations():
    x, w = inputs()
    f, on_device = pystage.compile(layer), (jnp.asarray(x), jnp.asarray(w))
    np.testing.assert_allclose(jax.jit(lambda x: f(x, on_device[1]))(on_device[0]), layer(x, w))
    np.testing.assert_allclose(jax.jit(lambda y: y + f(*on_device))(1.0), layer(x, w) + 1)
    with jax.disable_jit():
        np.testing.assert_allclose(f(*on_device), layer(x, w))
    assert jax.vmap(lambda x: f(x, on_device[1]))(on_device[0][None]).shape == (1, 8, 4096)


def test_importing_compiles_nothing():
    code = "import pystage, jax._src.xla_bridge as b; assert not b.backends_are_initialized()"
    subprocess.run([sys.executable, "-c", code], check=True)
