"""Programs as bytes: what is loaded does as the plain function, also in a process that does not have the function."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
import traceback
import zlib
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check
from collected_cases import programs
from sampling import ALL

import pystage
from pystage.runtime.cache import exported
from tests.runtime.cache import exportable

EACH = 10 if ALL else 600
"""Of so many programs of the contract one is exported."""
FLOATS = jax.ShapeDtypeStruct((3,), np.float32)

CONTRACT = [
    param
    for name, param in programs("contract")
    if zlib.crc32(f"{name}:{param.id}:exported".encode()) % EACH == 1
    and not dict(param.values[2]).keys() & {"refused", "staged", "raises"}
]


@pytest.mark.parametrize("function, args, options", CONTRACT)
def test_programs_of_the_contract(function, args, options):
    compiled, keywords = pystage.compile(function, fallback="error"), options.get("kwargs", {})
    try:
        compiled(*copy.deepcopy(args), **copy.deepcopy(keywords))  # by it the capacities are known
        loaded = pystage.load(compiled.export(*args, **keywords))
    except pystage.StagingError as error:
        if error.diagnostics[0].code != "PS817":
            raise
        return
    check(function, *args, **{**options, "staged": loaded, "runs": 1, "interpreted": False})


def particle(hits: int = 1) -> exportable.Particle:
    return exportable.Particle(np.array([1.0, 2.0]), hits)


STEP = exportable.step.export(particle(), [1.0], exportable.Mode.FAST)


def test_results_and_changes_are_those_of_the_plain_function() -> None:
    plain = exportable.step.__wrapped__
    check(plain, particle(), [1.0], exportable.Mode.FAST, staged=pystage.load(STEP), interpreted=False)
    check(
        plain,
        particle(10),
        [1.0],
        exportable.Mode.FAST,
        staged=pystage.load(STEP),
        interpreted=False,
        raises=exportable.TooMany,
    )


@pytest.mark.parametrize(
    "args, words",
    [
        ((particle(), [1.0], exportable.Mode.SLOW), "mode is <Mode.SLOW: 2>, not <Mode.FAST: 1>"),
        ((particle(), [1.0, 2.0], exportable.Mode.FAST), "seen has the length 2, not the length 1"),
        ((particle(), [1], exportable.Mode.FAST), r"seen\[0\] is int, not float"),
        ((particle(), (1.0,), exportable.Mode.FAST), "seen is of the class tuple, not list"),
        ((exportable.Particle(jnp.ones(2), 1), [1.0], exportable.Mode.FAST), "x'] is jax float32"),
        (
            (exportable.Particle(np.ones(3), 1), [1.0], exportable.Mode.FAST),
            r"float64\[3\], not float64\[2\]",
        ),
        ((particle(), [1.0]), r"step\(\) missing 1 required positional argument: 'mode'"),
    ],
)
def test_other_arguments_are_a_type_error(args: Any, words: str) -> None:
    before = copy.deepcopy(args)
    with pytest.raises(TypeError, match=words):
        pystage.load(STEP)(*args)
    assert repr(args) == repr(before)


def test_constants_are_compared() -> None:
    loaded = pystage.load(exportable.repeated.export(np.ones(2), 3))
    assert loaded(np.ones(2), n=3).tolist() == [1.5, 3.5, 5.5]
    with pytest.raises(TypeError, match="n is 4, not 3"):
        loaded(np.ones(2), 4)
    with pytest.raises(TypeError, match=r"\(x, n, start\), not \(x, n\)"):
        loaded(np.ones(2), 3, start=2.0)


def test_what_is_captured_has_the_values_of_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = pystage.load(exportable.noisy.export(jnp.ones(3)))
    before = exportable.noisy(jnp.ones(3))
    monkeypatch.setattr(exportable, "JAX_WEIGHTS", jnp.zeros(3))
    assert (loaded(jnp.ones(3)) == before).all() and isinstance(loaded(jnp.ones(3)), jax.Array)


def test_transformations_of_jax() -> None:
    loaded = pystage.load(exportable.loss.export(FLOATS, FLOATS))
    x = jnp.arange(3.0)
    plain = exportable.loss.__wrapped__
    np.testing.assert_allclose(jax.grad(loaded)(x, x), jax.grad(exportable.loss)(x, x), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(loaded)(x[None], x[None]), plain(x, x)[None], rtol=1e-6)
    np.testing.assert_allclose(jax.jit(loaded)(x, x), plain(x, x), rtol=1e-6)
    gradient = pystage.load(pystage.grad(exportable.loss).export(x, x))
    np.testing.assert_allclose(gradient(x, x), jax.grad(exportable.loss)(x, x), rtol=1e-6)


def test_draws_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    loaded = pystage.load(exportable.drawn.export(np.random.default_rng(0), 1.0))
    assert capsys.readouterr().out == ""
    plain = exportable.drawn.__wrapped__(np.random.default_rng(5), 2.0)
    assert (loaded(np.random.default_rng(5), 2.0) == plain).all()
    assert capsys.readouterr().out == "x is 2.0\n" * 2


def test_methods_are_exported_with_their_object() -> None:
    model = exportable.Model()
    loaded = pystage.load(model.run.export(np.ones(2)))
    assert [loaded(np.ones(2)), loaded(np.ones(2))] == [2.0, 4.0]
    assert model.calls == 0


def test_objects_that_a_method_holds_need_no_class() -> None:
    held = exportable.Held()
    loaded = pystage.load(held.run.export(1.0))
    assert [loaded(1.0), loaded(1.0)] == [held.run(1.0), held.run(1.0)] == [8.0, 9.0]
    assert pystage.load(
        pystage.compile(functools.partial(exportable.repeated.__wrapped__, np.ones(2))).export(2)
    )(2).tolist() == [1.5, 3.5]
    with pytest.raises(pystage.StagingError, match=r"PS817.*gives back `self`"):
        held.itself.export()
    held.rng = np.random.default_rng(0)
    with pytest.raises(pystage.StagingError, match=r"PS817.*holds a Generator, which draws"):
        held.rolled.export()


def test_arguments_that_a_partial_holds_by_name() -> None:
    out = np.zeros(3)
    held = functools.partial(exportable.step_into.__wrapped__, out=out, scale=3.0)
    loaded = pystage.load(pystage.compile(held, fallback="error").export(np.arange(3.0)))
    assert loaded(np.arange(3.0)) == 9.0 == held(np.arange(3.0))
    assert loaded(np.arange(3.0), out=np.ones(3)) == 12.0 == held(np.arange(3.0), out=np.ones(3))


def test_arguments_that_a_partial_holds_in_a_tuple() -> None:
    with pytest.raises(pystage.StagingError, match=r"PS817.*a tuple of any length"):
        pystage.compile(functools.partial(lambda *args: args[0], [1.0])).export(2.0)


def test_a_layer_of_a_package_built_on_jax() -> None:
    layer = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    loaded = pystage.load(pystage.compile(lambda layer, x: layer(x) * 2).export(layer, jnp.ones(3)))
    np.testing.assert_allclose(loaded(layer, jnp.ones(3)), layer(jnp.ones(3)) * 2, rtol=1e-6)


def test_a_function_that_is_an_argument_is_one_of_a_library() -> None:
    loaded = pystage.load(exportable.applied.export(jnp.tanh, jnp.ones(3)))
    np.testing.assert_allclose(loaded(jnp.tanh, jnp.ones(3)), np.tanh(np.ones(3, np.float32)), rtol=1e-6)
    with pytest.raises(TypeError, match="exported for other arguments: function is"):
        loaded(jnp.sin, jnp.ones(3))
    with pytest.raises(pystage.StagingError, match=r"PS817.*the function particle"):
        exportable.applied.export(particle, 1)


RECORDS = [
    np.dtype([("n", "i4"), ("x", "f8", (2,)), ("p", [("c", "c8"), ("b", "?")])]),
    np.dtype([("n", "i2"), ("x", "f8", (2,))], align=True),
    np.dtype({"names": ["x", "n"], "formats": [("f8", (2,)), "i4"], "offsets": [4, 24], "itemsize": 32}),
]


@pytest.mark.parametrize("dtype, kind", [*[(d, np.ndarray) for d in RECORDS], (RECORDS[1], np.recarray)])
def test_records(dtype: np.dtype[Any], kind: Any) -> None:
    def function(a: Any, by: Any) -> Any:
        a["n"] += by
        a["x"][1] *= 2.0
        return a[a["n"] > 2], a[0], a["x"]

    made = np.zeros(3, dtype).view(kind)
    made["n"] = [3, 1, 2]
    made["x"] = np.arange(6.0).reshape(3, 2)
    loaded = pystage.load(pystage.compile(function, fallback="error").export(made, 1))
    check(function, made, 1, staged=loaded, interpreted=False)
    with pytest.raises(TypeError, match="exported for other arguments"):
        loaded(made[["n"]], 1)


HELD = np.zeros(4, RECORDS[0])
HELD["n"] = [3, 1, 2, 5]
HELD_BY_ATTRIBUTE = np.ones(2, RECORDS[1]).view(np.recarray)
EVEN = np.zeros(3, RECORDS[2])[::2]


def with_captured_records(x: Any) -> Any:
    parts = HELD[HELD["n"] > 2], HELD[1], HELD["p"]["c"], EVEN["n"]
    return HELD["n"].sum() + x, parts, HELD_BY_ATTRIBUTE.n + x, HELD_BY_ATTRIBUTE[:1]


def test_captured_records() -> None:
    loaded = pystage.load(pystage.compile(with_captured_records, fallback="error").export(2))
    check(with_captured_records, 2, staged=loaded, interpreted=False)


def test_what_changes_the_environment_is_not_exported() -> None:
    with pytest.raises(pystage.StagingError, match=r"PS817.*changes `LOG`"):
        exportable.logged.export(1.0)
    assert exportable.LOG == []


def test_capacities_are_those_that_calls_needed() -> None:
    with pytest.raises(pystage.StagingError, match=r"PS815.*an exported program"):
        pystage.load(exportable.collected.export(3))(5000)
    exportable.collected(5000)
    assert pystage.load(exportable.collected.export(3))(5000) == [2 * k for k in range(5000)]


def test_other_bytes_are_refused() -> None:
    for data in (b"", b"x" * 500, pickle.dumps(1)):
        with pytest.raises(ValueError, match="this is no exported program"):
            pystage.load(data)
    for at in (20, 60, len(STEP) // 2, len(STEP) - 1):
        with pytest.raises(ValueError, match="damaged"):
            pystage.load(STEP[:at] + bytes([STEP[at] ^ 1]) + STEP[at + 1 :])
    with pytest.raises(ValueError, match="damaged"):
        pystage.load(STEP[:-10])


def test_programs_of_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"by pystage .*, and this is 99\.0"):
        pystage.load(STEP)


def test_a_program_that_names_what_no_program_may_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = exported._Names()
    for name in (["named", "mine", "run", None], ["named", "os", "nothing"], ["variable"]):
        with pytest.raises(exported.NotFound):
            names.object(name)


def test_pickles_of_what_is_loaded() -> None:
    loaded = pickle.loads(pickle.dumps(pystage.load(exportable.repeated.export(np.ones(2), 3))))
    assert loaded(np.ones(2), 3).tolist() == [1.5, 3.5, 5.5]
    assert repr(loaded) == "<pystage.load of tests.runtime.cache.exportable.repeated>"


def test_what_is_loaded_has_no_source() -> None:
    loaded = pystage.load(exportable.repeated.export(np.ones(2), 3))
    for ask in (loaded.explain, loaded.residual):
        with pytest.raises(TypeError, match="`repeated` was loaded, and has no source"):
            ask(np.ones(2), 3)
    assert loaded.export() == loaded.export(np.ones(2), 3)
    assert str(loaded.lower(np.ones(2), 3).staged) == loaded.signatures()[0]


def test_in_staged_source_it_is_refused() -> None:
    loaded = pystage.load(exportable.repeated.export(np.ones(2), 3))
    with pytest.raises(pystage.StagingError, match="PS101"):
        pystage.compile(lambda x: loaded(x, 3), fallback="error")(np.ones(2))


def test_jax_exports_a_compiled_function() -> None:
    made = jax.export.export(exportable.loss)(FLOATS, FLOATS)
    x = jnp.arange(3.0)
    np.testing.assert_allclose(made.call(x, x), exportable.loss(x, x), rtol=1e-6)
    assert isinstance(exportable.loss, jax.stages.Wrapped)
    method = exportable.Scaled().run
    assert jax.export.export(method)(FLOATS).call(x).tolist() == method(x).tolist() == [0.0, 2.0, 4.0]


SOURCE = """
import numpy as np
import pystage

class Wrong(Exception):
    pass

@pystage.compile(fallback="error")
def halves(x, out):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"negative: {x[i]}")  # here
        out[i] = x[i] / 2
    return out.sum(), [float(x[0])]

@pystage.compile(fallback="error")
def wrong(x):
    if x > 0:
        raise Wrong(x)
    return x
"""


def test_another_process_needs_no_source(tmp_path: Path) -> None:
    source = tmp_path / "gone.py"
    source.write_text(SOURCE)
    run = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport gone, numpy as np\n"
    run += f"open({str(tmp_path / 'halves')!r}, 'wb').write(gone.halves.export(np.ones(2), np.zeros(2)))\n"
    run += f"open({str(tmp_path / 'wrong')!r}, 'wb').write(gone.wrong.export(1.0))\n"
    subprocess.run([sys.executable, "-c", run], check=True)
    source.unlink()
    loaded = pystage.load(tmp_path / "halves")
    out = np.zeros(2)
    total, first = loaded(np.array([1.0, 3.0]), out)
    assert (total, first, out.tolist()) == (2.0, [1.0], [0.5, 1.5]) and type(total) is np.float64
    with pytest.raises(ValueError, match=r"negative: -1\.0") as caught:
        loaded(np.array([5.0, -1.0]), out)
    assert out.tolist() == [2.5, 1.5]
    shown = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError(f"negative: {x[i]}")  # here' in shown and "line 12, in halves" in shown
    with pytest.raises(ImportError, match=r"needs `gone\.Wrong`: import its module"):
        pystage.load(tmp_path / "wrong")
