"""`docs/support.md` says what is true: of every function of the known namespaces whether it is staged."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

SCRIPT = Path(__file__).parents[1] / "docs" / "generate_support.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_support", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written_anew() -> str:
    """The page as a process of its own makes it: IPython, which other tests run, adds `display` to the builtins."""
    program = f"import runpy; print(runpy.run_path({str(SCRIPT)!r})['page'](), end='')"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return made.stdout


def test_the_page_is_up_to_date() -> None:
    """`python docs/generate_support.py` writes it anew.

    At which line a meaning is declared may have changed since. With other versions of NumPy or JAX than the page was made
    with, functions may be missing or new.
    """
    support = load()
    text = support.PAGE.read_text()
    if support.versions() in text:
        assert without_lines(text).splitlines() == without_lines(written_anew()).splitlines()
        return
    now, then = support.statuses(), support.written(text)
    differing = {name for name in now.keys() & then.keys() if now[name][0] != then[name]}
    assert not differing


def without_lines(text: str) -> str:
    return re.sub(r"(`\w+`) \d+", r"\1", text)


TABLES = {
    "infer/transforms/public.py": "an object of jax.custom_jvp: its source and its rule",
    "library/jax/type_limits.py": "classes of JAX that tell of an element type",
    "library/jax/lax/elementwise.py": "a row for each function of jax.lax that is one operation",
    "library/jax/lax/reduce.py": "a row for each reduction of jax.lax",
    "library/jax/functions/nn.py": "other names of functions",
    "library/numpy/fourier.py": "a row for each transform",
    "library/numpy/take_and_put.py": "functions whose result has a size that the values decide: called while compiling",
    "library/numpy/type_queries.py": "functions of element types, which are called while compiling",
    "library/numpy/linalg/array_api.py": "products of stacked vectors and matrices",
    "library/numpy/linalg/matrices.py": "functions that make constants, which are called while compiling",
    "library/numpy/rounding.py": "a row for each sign of infinity",
    "library/numpy/random/generators.py": "NumPy's own lists of methods of generators",
    "library/numpy/creation.py": "`zeros_like` and `ones_like`",
    "library/numpy/reductions/quantiles.py": "`quantile` and `percentile`",
    "library/numpy/reductions/scans.py": "a row for each running sum and product",
    "library/numpy/reductions/extrema.py": "a row for each extremum, and for `any` and `all`",
    "library/numpy/own_source.py": "a row for each function that is staged from its source",
    "library/numpy/reductions/sums.py": "a row for each sum, product, variance and standard deviation",
    "library/numpy/selection.py": "`np_clip` and `jnp_clip`, which differ; functions of element types",
    "library/numpy/ufuncs/ufuncs.py": "a row for each ufunc of NumPy and its twins in jax.numpy",
    "library/python/builtins.py": "functions of texts and numbers, which are called while compiling",
    "library/python/mathlib.py": "a row for each function of math",
    "library/python/constant_calls.py": "functions that are called while compiling",
    "library/python/numbers/scalars.py": "the classes of all element types, which convert",
    "library/scipy/twins.py": "a row for each function that JAX has too",
}
"""Files that declare meanings by tables of names, beside functions, and what stands in them."""


def test_functions_are_found_by_their_name() -> None:
    """Where a meaning is declared stands `def name`, or a row of a table that has the name."""
    support = load()
    texts = {path: path.read_text() for path in support.COMPILER.rglob("*.py")}
    defined = {name for text in texts.values() for name in re.findall(r"def _?(\w+?)_?\(", text)}
    missing = []
    for module, table in support.places().items():
        for name, (file, line) in table.items():
            assert 0 < line <= texts[support.COMPILER / file].count("\n")
            own = getattr(getattr(pkgutil.resolve_name(module), name), "__name__", name)
            if not {name, own} & defined and file not in TABLES:
                missing.append((f"{module}.{name}", file, line))
    assert not missing


def test_what_is_written_is_read_back() -> None:
    support = load()
    now = {name: kind for name, (kind, _) in support.statuses().items()}
    assert support.written(support.page()) == now
    assert now["numpy.sum"] == support.STAGED
    assert now["jax.numpy.linalg.qr"] == support.THROUGH_JAX
    assert now["numpy.roots"] == support.NOT
    assert support.status(np.roots)[1]
